"""From a text to its literals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import replace

from entailgrid.claims.literal import calendar, codes, measures
from entailgrid.claims.literal.masking import blank, is_structured, mask_markup
from entailgrid.claims.literal.model import Literal
from entailgrid.claims.literal.nesting import add_parents
from entailgrid.language import remembered

_PASSES: tuple[Callable[[str], Iterable[Literal]], ...] = (
    codes.find_strong_identifiers,
    measures.find_durations,
    calendar.find_dates,
    calendar.find_times,
    codes.find_versions,
    codes.find_identifiers,
    measures.find_measures,
)
"""From the forms that only one kind can have to those that are left over; each pass hides what it took."""


@remembered(16384)
def extract(text: str) -> tuple[Literal, ...]:
    """The literals of a text, in order and without overlap.

    Offsets are code points of `text`, and `text[start:end] == literal.text`. URLs, citation markers, list numbers and
    emphasis yield none. In prose a quotation of three words or more is one literal, with the literals inside it in
    `inner`; in JSON, double quotes are syntax. Never raises, linear in the length of the text.
    """
    masked = mask_markup(text)
    if is_structured(text):
        return _exact(text, add_parents(text, _simple(masked)))
    quotations = _disjoint(codes.find_quotations(masked))
    if not quotations:
        return _exact(text, _simple(masked))
    outside = _simple(blank(masked, [(item.start, item.end) for item in quotations]))
    whole = _exact(text, _simple(masked))
    filled = [replace(item, name=text[item.start + 1 : item.end - 1], inner=_within(whole, item)) for item in quotations]
    return _exact(text, sorted((*filled, *outside), key=lambda literal: literal.start))


def _within(literals: tuple[Literal, ...], quotation: Literal) -> tuple[Literal, ...]:
    starts = [literal.start for literal in literals]
    inside = literals[bisect_left(starts, quotation.start) : bisect_left(starts, quotation.end)]
    return tuple(literal for literal in inside if literal.end <= quotation.end)


def _simple(text: str) -> list[Literal]:
    found: list[Literal] = []
    for find in _PASSES:
        taken = _disjoint(find(text))
        found += taken
        text = blank(text, [(literal.start, literal.end) for literal in taken])
    return sorted(found, key=lambda literal: literal.start)


def _disjoint(literals: Iterable[Literal]) -> list[Literal]:
    """The literals without those that overlap an earlier find, in text order."""
    kept: list[Literal] = []
    starts: list[int] = []
    for literal in literals:
        index = bisect_left(starts, literal.start)
        free_before = index == 0 or kept[index - 1].end <= literal.start
        if free_before and (index == len(kept) or literal.end <= starts[index]):
            kept.insert(index, literal)
            starts.insert(index, literal.start)
    return kept


def _exact(text: str, literals: Iterable[Literal]) -> tuple[Literal, ...]:
    """The literals with their text as it stands in the original, emphasis included."""
    return tuple(
        literal
        if literal.text == text[literal.start : literal.end]
        else replace(literal, text=text[literal.start : literal.end])
        for literal in literals
    )
