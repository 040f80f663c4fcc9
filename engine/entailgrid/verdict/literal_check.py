"""The literals of a claim against one premise: found in it, in the call that fetched it, or derived from its values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from entailgrid.claims.literals import Check, Derivation, Literal, compare, derive, extract
from entailgrid.language import remembered
from entailgrid.types import LiteralKind, LiteralStatus


@dataclass(frozen=True, slots=True)
class LiteralOutcome:
    """How one literal of a claim fares. `derivation` says how it was recomputed; `weak` literals weigh nothing if absent; a
    match is `verbatim` where the source writes the value in the same way."""

    text: str
    kind: LiteralKind
    status: LiteralStatus
    weak: bool
    found: str | None = None
    derivation: str | None = None
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class SourceValues:
    """What a source offers beside the premise itself: the call's context, and its values for derivations."""

    context: str
    values: tuple[Literal, ...]
    lists: tuple[int, ...]


def check_literals(claim: str, premise: str, source: SourceValues) -> tuple[LiteralOutcome, ...]:
    """One outcome a literal of `claim`, in order."""
    outcomes = []
    held = extract(premise)
    context = extract(source.context)
    for literal in extract(claim):
        check = compare(literal, held, premise)
        asked_otherwise = check.status == "mismatch" and literal.kind not in ("identifier", "date", "time", "version")
        if check.status != "match" and source.context and not asked_otherwise:
            around = compare(literal, context, source.context)
            check = around if around.status == "match" else check
        outcomes.append(_outcome(literal, check, claim, held, source))
    return tuple(outcomes)


def _outcome(literal: Literal, check: Check, claim: str, held: Sequence[Literal], source: SourceValues) -> LiteralOutcome:
    found = check.found.text if check.found else None
    if check.status != "match":
        derived = _derived(literal, claim, held, source) or derive(literal, claim, source.values, source.lists)
        if derived:
            return LiteralOutcome(literal.text, literal.kind, "match", literal.weak, derivation=derived.expression)
    verbatim = check.status == "match" and (found is None or found.casefold() == literal.text.casefold())
    return LiteralOutcome(literal.text, literal.kind, check.status, literal.weak, found=found, verbatim=verbatim)


_EACH = re.compile(r"\b(?:per|each|apiece|times)\b", re.IGNORECASE)


def _derived(literal: Literal, claim: str, held: Sequence[Literal], source: SourceValues) -> Derivation | None:
    """From the premise alone; but no product with one price where the source has several and the claim names none."""
    derived = derive(literal, claim, held, source.lists)
    if derived and derived.operation == "product" and not _EACH.search(claim):
        prices = {value.value for value in source.values if value.kind == derived.operands[0].kind}
        return derived if len(prices) <= 1 else None
    return derived


def rederived(claim: str, outcomes: Sequence[LiteralOutcome], *sources: SourceValues) -> tuple[LiteralOutcome, ...]:
    """`outcomes` with unmatched literals recomputed from the values of several sources together."""
    values = tuple(literal for source in sources for literal in source.values[:30])
    result = []
    for literal, outcome in zip(extract(claim), outcomes, strict=True):
        derived = derive(literal, claim, values) if outcome.status != "match" else None
        result.append(replace(outcome, status="match", found=None, derivation=derived.expression) if derived else outcome)
    return tuple(result)


_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?:['’][^\W\d_]+)?(?![\w-]*\d)")


@remembered(16384)
def names_in(text: str) -> frozenset[str]:
    """Capitalised words of a claim, lower-case: people, places, products. Not its first word, a key or a code with digits."""
    found = []
    for match in _WORD.finditer(text, text.rfind(": ") + 1):
        word = match.group()
        opens = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in '.:!?"“(|•-'
        if word[0].isupper() and len(word) > 2 and not opens:
            found.append(word.lower().removesuffix("'s").removesuffix("’s"))
    return frozenset(found)
