"""Which values of a premise may be operands of a claim's value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import permutations

from entailgrid.claims.literal.currencies import same_currency
from entailgrid.claims.literal.model import Literal, Measure
from entailgrid.claims.literal.units import unit_of_key

MAX_VALUES = 60
"""Values of one field, and values of all fields together, that are looked at."""
FEW = 6
"""Up to so many values may be paired freely; beyond, the claim must state one of the two."""


@dataclass(frozen=True, slots=True)
class Operands:
    """A premise's values in the dimension of `claim`; `stated` are the other values that the claim's own text holds."""

    claim: Literal
    premise: tuple[Literal, ...]
    stated: tuple[Literal, ...]
    lists: tuple[int, ...]
    values: tuple[Literal, ...]

    def targets(self) -> tuple[Decimal, ...]:
        """The readings of the claim's value."""
        return tuple(measure.low for measure in self.claim.measures)

    def groups(self) -> Iterator[tuple[Literal, ...]]:
        """Values that may be added: those of one field; those that carry the unit themselves."""
        fields: dict[str, list[Literal]] = {}
        for literal in self.values:
            fields.setdefault(literal.key.casefold(), []).append(literal)
        bare = fields.pop("", [])
        yield from (tuple(group[:MAX_VALUES]) for group in fields.values())
        explicit = tuple(literal for literal in self.values if literal.kind != "number")[:MAX_VALUES]
        yield explicit
        if self.claim.kind == "amount" or len(bare) <= FEW:
            yield tuple(bare[:MAX_VALUES])

    def stated_in_premise(self) -> tuple[Literal, ...]:
        """The claim's other values of its own dimension, where the premise holds them."""
        known = {value_of(literal) for literal in self.values}
        return tuple(item for item in self.stated if is_operand(self.claim, item) and value_of(item) in known)

    def pairs(self, values: Sequence[Literal], few: int = FEW) -> Iterator[tuple[Literal, Literal]]:
        """Ordered pairs of the values: any of a few, else those with one (a plain number: both) in the claim."""
        named = {value_of(literal) for literal in self.stated if is_single(literal)}
        needed = 0 if len(values) <= few else 2 if self.claim.kind in ("number", "percentage") else 1
        candidates = values if len(values) <= MAX_VALUES else [item for item in values if value_of(item) in named]
        for left, right in permutations(candidates[:MAX_VALUES], 2):
            if (value_of(left) in named) + (value_of(right) in named) >= needed:
                yield left, right


def read_operands(claim: Literal, stated: Sequence[Literal], premise: Sequence[Literal], lists: Sequence[int]) -> Operands:
    """The operands for `claim`, whose own text holds the literals `stated`."""
    flat = tuple(end for literal in premise for item in (literal.inner or (literal,)) for end in _ends(item))
    values = tuple(literal for literal in flat if is_operand(claim, literal))
    others = tuple(item for item in stated if (item.text, item.kind) != (claim.text, claim.kind))
    return Operands(claim, flat, others, tuple(lists), values)


def _ends(literal: Literal) -> tuple[Literal, ...]:
    """A range as its two ends ("from $80 to $100"), any other literal as it is."""
    if not literal.measures or not literal.measures[0].is_range:
        return (literal,)
    low, high = literal.measures[0].low, literal.measures[0].high
    return tuple(replace(literal, measures=(Measure(value, value),)) for value in (low, high))


def is_operand(claim: Literal, literal: Literal) -> bool:
    """Whether the literal has, or may have, the claim's dimension; counted things ("2 bags") are no amounts."""
    if not is_single(literal) or literal.weak:
        return False
    if literal.kind == "number" and claim.kind in ("number", "amount"):
        unit = unit_of_key(literal.key) if literal.key else None
        if claim.kind == "number":
            return unit is None
        open_unit = unit is None and (bool(literal.key) or literal.isolated)
        return open_unit or (unit is not None and unit.kind == "amount" and same_currency(unit.dimension, claim.unit))
    if literal.kind == "amount":
        return claim.kind == "number" or (claim.kind == "amount" and same_currency(claim.unit, literal.unit))
    return literal.kind == claim.kind and literal.unit == claim.unit


def is_single(literal: Literal) -> bool:
    """Whether the literal is one number, not a range."""
    return bool(literal.measures) and not literal.measures[0].is_range


def value_of(literal: Literal) -> Decimal:
    """The literal's first reading."""
    return literal.measures[0].low
