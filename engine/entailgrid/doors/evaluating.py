"""The command `eval`: labelled traces in, metrics out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

from rich.text import Text

from entailgrid.doors.cli import ALLOWED, FAILED
from entailgrid.doors.console import Ticker, console_on, report_problem
from entailgrid.doors.stream import Failed
from entailgrid.doors.verifying import documents_in, outcomes_of
from entailgrid.errors import InvalidTrace
from entailgrid.evaluation.metrics import Rate, Tally, counts, rates, tally
from entailgrid.provenance.reading import Document, read_gold


class _Labelled:
    """The documents that carry labels; the others are counted."""

    def __init__(self, documents: Iterator[Document | InvalidTrace]) -> None:
        self._documents = documents
        self.without_gold = 0

    def __iter__(self) -> Iterator[Document | InvalidTrace]:
        for item in self._documents:
            if isinstance(item, InvalidTrace):
                yield item
                continue
            try:
                gold = read_gold(item)
            except InvalidTrace as error:
                yield error
                continue
            if gold is None:
                self.without_gold += 1
            else:
                yield item


def run_eval(paths: Sequence[str], options: Mapping[str, Any], *, as_json: bool) -> int:
    """Verifies the labelled traces and prints the metrics; the exit status."""
    documents = _Labelled(documents_in(paths, options))
    total, failed = Tally(), 0
    with (
        ExitStack() as stack,
        Ticker("evaluating", sys.stderr) as ticker,
        closing(outcomes_of(documents, options, stack)) as outcomes,
    ):
        for outcome in outcomes:
            if isinstance(outcome, Failed):
                failed += 1
                with ticker.aside():
                    report_problem(outcome.problem)
            elif gold := read_gold(outcome.document):
                total += tally(gold, outcome.report)
            ticker.advance()
    if not total.answers:
        if not failed:
            report_problem(f"{', '.join(paths)}: no trace carries labels; expected a key gold in at least one")
        return FAILED
    numbers = {**counts(total), "without_gold": documents.without_gold, "failed": failed}
    if as_json:
        metrics = {name: rate.as_json() for name, rate in rates(total).items()}
        print(json.dumps({"counts": numbers, "rates": metrics}))
    else:
        _print_metrics(numbers, rates(total))
    return FAILED if failed else ALLOWED


def _print_metrics(numbers: Mapping[str, int], metrics: Mapping[str, Rate]) -> None:
    console = console_on(sys.stdout)
    for name, rate in metrics.items():
        shown = "     -" if rate.value is None else f"{rate.value:6.3f}"
        console.print(Text.assemble(f"{name.replace('_', ' '):<24}", (shown, "bold"), (f"  {rate.hits} of {rate.of}", "dim")))
    console.print()
    for name, number in numbers.items():
        console.print(Text.assemble(f"{name.replace('_', ' '):<24}", f"{number:6d}"))
