"""The nouns of the literal check."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal as OneOf

from entailgrid.types import LiteralKind, LiteralStatus

Bound = OneOf["exact", "about", "over", "under"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One reading of a numeric literal: a closed interval, `low == high` for a single value."""

    low: Decimal
    high: Decimal

    @property
    def is_range(self) -> bool:
        return self.low != self.high


@dataclass(frozen=True, slots=True)
class Day:
    """One reading of a date; a field that the text does not state is `None`. Weekdays count from Monday = 0."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None
    weekday: int | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day: its possible seconds since midnight, and its zone where one is stated.

    `offsets` are the minutes east of UTC that the zone may stand for (ET: two), empty if none or unknown.
    """

    seconds: tuple[int, ...]
    to_the_second: bool
    zone: str = ""
    offsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Literal:
    """One literal of a text; `text == given[start:end]` in code points.

    Numeric kinds carry `measures` (in the base unit of `unit`) and `figures` (as written, before unit conversion); what
    can be read in two ways ("1.200") has two of each. Dates carry `days`, times `clock`, the other kinds `name`.
    """

    text: str
    kind: LiteralKind
    start: int
    end: int
    unit: str = ""
    """Currency of an amount ("" if open), dimension of a quantity or duration, `percent` or `point` of a percentage."""
    measures: tuple[Measure, ...] = ()
    figures: tuple[Measure, ...] = ()
    days: tuple[Day, ...] = ()
    clock: Clock | None = None
    name: str = ""
    bound: Bound = "exact"
    strict: bool = False
    """Whether the bound leaves its own value out (`more than 30`, `less than 30`; not `at least 30`)."""
    key: str = ""
    """The field name or label right before the value ("refund_window_days"), or ""."""
    isolated: bool = True
    """No counted noun follows: the value stands alone, as in a field or cell."""
    weak: bool = False
    """A small number word or an ordinal: its absence from a source says nothing."""
    inner: tuple[Literal, ...] = ()
    """The literals inside a quotation, with offsets of the same text."""

    @property
    def value(self) -> tuple[Measure, ...] | tuple[Day, ...] | Clock | str:
        """The normalised value; numbers are exact decimals."""
        return self.measures or self.days or self.clock or self.name


@dataclass(frozen=True, slots=True)
class Check:
    """What a premise says about one literal of a claim.

    `found` is the equal literal (match; `None` if the text itself was found) or the most comparable one (mismatch).
    """

    literal: Literal
    status: LiteralStatus
    found: Literal | None = None


@dataclass(frozen=True, slots=True)
class Derivation:
    """A claim's value recomputed from values of the premise: `expression` reads "152 + 103 = 255"."""

    operation: OneOf["sum", "difference", "product", "count", "average", "share", "change", "magnitude", "elapsed"]
    expression: str
    operands: tuple[Literal, ...] = ()
