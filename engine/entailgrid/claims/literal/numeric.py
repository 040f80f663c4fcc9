"""How two numeric literals stand to each other: equal, different, or not comparable."""

from __future__ import annotations

import re
from decimal import Decimal
from enum import IntEnum

from entailgrid.claims.literal.currencies import same_currency
from entailgrid.claims.literal.model import Literal, Measure
from entailgrid.claims.literal.numerals import CONTEXT
from entailgrid.claims.literal.units import Unit, unit_of_key

TOLERANCE = Decimal("0.05")
"""How far "about 100" may be off, relative."""
_SECONDS = {"business_day": Decimal(86400), "calendar": Decimal(2629746)}
"""About how long the base unit of a duration's dimension is, to tell which durations are of the same order."""
REACH = Decimal("1.5")
"""How far a value may lie beyond the bound that a claim states ("over 100": 100 to 150), as a factor."""

_TIME_KEY = re.compile(
    r"window|period|duration|ttl|timeout|\bage\b|term|delay|expir|trial|notice|warranty|retention|validity|elapsed|interval|"
    r"lead.?time|eta|length|lifetime",
    re.IGNORECASE,
)
_RATE_KEY = re.compile(
    r"percent|pct|rate|ratio|share|discount|tax|vat|fee|margin|growth|yield|change|interest|apr|%", re.IGNORECASE
)


class Relation(IntEnum):
    """From nothing in common to equal; LOOSE is equal by value where the unit is only implied."""

    NONE = 0
    FAR = 1
    DIFFERENT = 2
    UNCLEAR = 3
    LOOSE = 4
    EQUAL = 5


def relate_measures(claim: Literal, known: Literal) -> tuple[Relation, Decimal]:
    """The relation of a premise's value to a claim's, and their relative distance."""
    gap = _distance(claim.measures, known.measures)
    if claim.kind == known.kind:
        relation = _same_kind(claim, known)
        if relation is Relation.DIFFERENT and not _are_alike(claim, known):
            relation = Relation.NONE
        elif relation is Relation.DIFFERENT and _is_beyond_bound(claim, known):
            relation = Relation.UNCLEAR
        return relation, gap
    if known.kind == "number":
        return _to_bare_number(claim, known), _distance(claim.figures, known.figures)
    if claim.kind == "number":
        if agrees(claim, claim.figures, known, known.figures):
            return Relation.LOOSE, gap
        return (Relation.FAR if known.kind == "amount" and not is_year(claim) else Relation.NONE), gap
    return Relation.NONE, gap


def is_year(literal: Literal) -> bool:
    """Whether a bare number may be a year."""
    return literal.kind == "number" and len(literal.text) == 4 and literal.text.isdigit() and literal.text[:2] in ("19", "20")


def _are_alike(claim: Literal, known: Literal) -> bool:
    """Whether two differing values of one kind are about the same sort of thing, so that the difference says something.

    A year is not held against a small number, nor an ordinal against a cardinal, nor months against minutes.
    """
    if claim.kind == "number":
        if "ordinal" in (claim.unit, known.unit):
            return claim.unit == known.unit
        return not is_year(claim) or known.measures[0].high >= 1000
    if claim.kind == "duration" and claim.unit != known.unit:
        left, right = (_SECONDS.get(item.unit, Decimal(1)) * item.measures[0].high for item in (claim, known))
        return left <= right * 10 and right <= left * 10
    return True


def _is_beyond_bound(claim: Literal, known: Literal) -> bool:
    """Whether the value keeps the claim's "over" or "under", only too far off to be what the claim speaks of."""
    if claim.unit != known.unit and claim.kind != "amount":
        return False
    want, have = claim.measures[0], known.measures[0]
    return (claim.bound == "over" and have.low > want.high) or (claim.bound == "under" and have.high < want.low)


def _same_kind(claim: Literal, known: Literal) -> Relation:
    if claim.kind == "quantity" and claim.unit != known.unit:
        return Relation.NONE
    same_unit = claim.kind == "number" or claim.unit == known.unit
    if claim.kind == "amount":
        same_unit = same_currency(claim.unit, known.unit)
    if same_unit and agrees(claim, claim.measures, known, known.measures):
        return Relation.EQUAL
    return Relation.DIFFERENT


def _to_bare_number(claim: Literal, known: Literal) -> Relation:
    """A value with a unit against a number whose unit is at best in its field's name."""
    unit = unit_of_key(known.key) if known.key else None
    if unit is not None:
        return _to_keyed_number(claim, known, unit)
    equal = agrees(claim, claim.figures, known, known.figures)
    if claim.kind == "amount":
        if claim.figures and claim.figures != claim.measures:
            equal = equal or agrees(claim, claim.measures, known, known.figures)
        return (
            Relation.LOOSE if equal else Relation.DIFFERENT if known.key else Relation.FAR if known.isolated else Relation.NONE
        )
    if claim.kind == "percentage":
        return _to_rate(claim, known, equal)
    if claim.kind == "duration" and known.key and _TIME_KEY.search(known.key):
        return Relation.LOOSE if equal else Relation.DIFFERENT
    return Relation.LOOSE if equal and known.isolated else Relation.NONE


def _to_keyed_number(claim: Literal, known: Literal, unit: Unit) -> Relation:
    if unit.kind != claim.kind:
        return Relation.NONE
    measures = tuple(Measure(unit.convert(item.low), unit.convert(item.high)) for item in known.figures)
    view = Literal(known.text, unit.kind, known.start, known.end, unit=unit.dimension, measures=measures, bound=known.bound)
    relation = _same_kind(claim, view)
    if relation is Relation.DIFFERENT and claim.kind == "percentage" and claim.unit == unit.dimension:
        return Relation.LOOSE if _is_fraction_of(claim, known) else relation
    return relation


def _to_rate(claim: Literal, known: Literal, equal: bool) -> Relation:
    """5% against `rate: 5` or `0.05`; a bare 5 that no rate's name announces is not a percentage."""
    if claim.unit != "percent":
        return Relation.NONE
    named = bool(known.key and _RATE_KEY.search(known.key))
    if _is_fraction_of(claim, known) or (equal and named):
        return Relation.LOOSE
    fraction = all(abs(item.high) < 1 for item in known.figures) and "." in known.text
    return Relation.DIFFERENT if named else Relation.FAR if fraction else Relation.NONE


def _is_fraction_of(claim: Literal, known: Literal) -> bool:
    shares = tuple(
        Measure(CONTEXT.multiply(item.low, Decimal(100)), CONTEXT.multiply(item.high, Decimal(100))) for item in known.figures
    )
    return all(abs(item.high) <= 1 for item in known.figures) and agrees(claim, claim.figures, known, shares)


def agrees(claim: Literal, stated: tuple[Measure, ...], known: Literal, values: tuple[Measure, ...]) -> bool:
    """Whether some reading of the premise's value fits some reading of the claim's, under the claim's bound."""
    return any(_fits(claim, want, known, have) for want in stated for have in values)


def _fits(claim: Literal, want: Measure, known: Literal, have: Measure) -> bool:
    if want == have:
        return not claim.strict or known.bound != "exact"
    if want.is_range:
        return False
    if have.is_range:
        at_edge = (claim.bound == "under" and want.low == have.high) or (claim.bound == "over" and want.low == have.low)
        return at_edge or (claim.bound == "about" and have.low <= want.low <= have.high)
    if claim.bound == "about" or known.bound == "about":
        return abs(want.low - have.low) <= TOLERANCE * max(abs(want.low), abs(have.low))
    if claim.bound == "over" and known.bound == "exact":
        return want.low < have.low <= want.low * REACH
    if claim.bound == "under" and known.bound == "exact":
        return want.low > have.low >= want.low / REACH > 0
    return False


def _distance(left: tuple[Measure, ...], right: tuple[Measure, ...]) -> Decimal:
    """The smallest relative difference of two sets of readings."""
    gaps = [CONTEXT.divide(abs(a.low - b.low), max(abs(a.low), abs(b.low), Decimal("1e-30"))) for a in left for b in right]
    return min(gaps, default=Decimal(10))
