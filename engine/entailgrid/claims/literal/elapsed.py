"""Durations between two times of day or two dates."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations, permutations

from entailgrid.claims.literal.model import Derivation, Literal

MAX_POINTS = 20
"""Times, and dates, that are looked at."""


def between_times(claim: Literal, premise: Sequence[Literal]) -> Derivation | None:
    """The claim's duration as the time from one clock of the premise to another, midnight crossed at most once."""
    clocks = [literal for literal in premise if literal.clock and len(literal.clock.seconds) == 1][:MAX_POINTS]
    for left, right in permutations(clocks, 2):
        if left.clock and right.clock and left.clock.zone == right.clock.zone:
            seconds = (right.clock.seconds[0] - left.clock.seconds[0]) % 86400
            if seconds and any(measure.low == seconds for measure in claim.measures):
                return Derivation("elapsed", f"{right.text} - {left.text} = {claim.text}", (left, right))
    return None


def between_dates(claim: Literal, premise: Sequence[Literal]) -> Derivation | None:
    """The claim's duration as the days from one full date of the premise to another."""
    dates = [(number, literal) for literal in premise if (number := _day_number(literal)) is not None][:MAX_POINTS]
    for (first, left), (second, right) in combinations(dates, 2):
        seconds = Decimal(abs(second - first) * 86400)
        if seconds and any(measure.low == seconds for measure in claim.measures):
            late, early = (right, left) if second > first else (left, right)
            return Derivation("elapsed", f"{late.text} - {early.text} = {claim.text}", (left, right))
    return None


def _day_number(literal: Literal) -> int | None:
    """The Julian day number of a full, unambiguous date (Fliegel and Van Flandern, 1968)."""
    if len(literal.days) != 1:
        return None
    day = literal.days[0]
    if day.year is None or day.month is None or day.day is None:
        return None
    shift = (14 - day.month) // 12
    year, month = day.year + 4800 - shift, day.month + 12 * shift - 3
    return day.day + (153 * month + 2) // 5 + 365 * year + year // 4 - year // 100 + year // 400
