"""The command `verify`: documents in, reports out, one exit status."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import cache
from itertools import chain
from typing import Any

import click

from entailgrid.doors.cli import ABSTAINED, ALLOWED, BLOCKED, FAILED
from entailgrid.doors.console import Ticker, console_on, report_problem
from entailgrid.doors.report import print_report, print_summary
from entailgrid.doors.stream import Failed, Outcome, Verified, verified
from entailgrid.errors import InvalidTrace
from entailgrid.provenance.reading import Document, read_documents
from entailgrid.types import Report
from entailgrid.verifier import Verifier

_LINE_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029]")


def open_verifier(options: Mapping[str, Any]) -> Verifier:
    """The verifier that the flags ask for."""
    try:
        return Verifier(
            model=options["model"],
            backend=options["backend"],
            threads=options["threads"],
            cache=None if options["cache"] == "none" else options["cache"],
            policy=options["policy"],
            profile=options["profile"],
        )
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def documents_in(paths: Sequence[str], options: Mapping[str, Any]) -> Iterator[Document | InvalidTrace]:
    """All documents of all files, in order."""
    return chain.from_iterable(
        read_documents(path, format=options["format"], answer_file=options["answer_file"]) for path in paths
    )


def outcomes_of(
    documents: Iterable[Document | InvalidTrace], options: Mapping[str, Any], stack: ExitStack
) -> Generator[Outcome]:
    """One outcome a document; the verifier is opened at the first that can be read and closed with `stack`."""

    @cache
    def verifier() -> Verifier:
        return stack.enter_context(open_verifier(options))

    return verified(documents, verifier, budget_ms=options["budget_ms"], stakes=options["stakes"])


def run_verify(paths: Sequence[str], options: Mapping[str, Any], *, as_json: bool) -> int:
    """Verifies and prints; the exit status."""
    began = time.monotonic()
    counts: Counter[str] = Counter()
    pairs = 0
    writer = _json_writer if as_json else _readable_writer
    show = writer()
    with (
        ExitStack() as stack,
        Ticker("verifying", sys.stderr) as ticker,
        closing(outcomes_of(documents_in(paths, options), options, stack)) as outcomes,
    ):
        for outcome in outcomes:
            with ticker.aside():
                show(outcome)
            counts[outcome.report.decision if isinstance(outcome, Verified) else "failed"] += 1
            pairs += outcome.report.coverage.pairs_scored if isinstance(outcome, Verified) else 0
            ticker.advance(f"{counts['block']} blocked")
    if not as_json and sum(counts.values()) > 1:
        print_summary(console_on(sys.stdout), counts, pairs, time.monotonic() - began)
    return _status(counts)


def _status(counts: Counter[str]) -> int:
    if counts["failed"]:
        return FAILED
    return BLOCKED if counts["block"] else ABSTAINED if counts["abstain"] else ALLOWED


def _json_writer() -> Callable[[Outcome], None]:
    stream = sys.stdout.buffer

    def write(outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            report_problem(outcome.problem)
            return
        stream.write(json_line(outcome.report).encode())
        stream.flush()

    return write


def json_line(report: Report) -> str:
    """The report as one line; what a terminal or a line reader would obey is escaped."""
    return _LINE_BREAKS.sub(lambda found: f"\\u{ord(found.group()):04x}", report.model_dump_json()) + "\n"


def _readable_writer() -> Callable[[Outcome], None]:
    console = console_on(sys.stdout)

    def write(outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            report_problem(outcome.problem)
        else:
            print_report(console, outcome.document.trace, outcome.report)

    return write
