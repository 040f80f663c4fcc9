"""Derived values: is a claim's number a sum, difference, product, count, mean or percentage of the premise's values?

A word of the claim must announce the operation, values must share a dimension, and results must be exactly equal
(percentages and means: to the digits that the claim shows). Otherwise any number could be reached by accident.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from itertools import combinations, permutations

from entailgrid.claims.literal.currencies import same_currency
from entailgrid.claims.literal.extraction import extract
from entailgrid.claims.literal.model import Derivation, Literal
from entailgrid.claims.literal.numerals import CONTEXT
from entailgrid.claims.literal.units import unit_of_key

MAX_VALUES = 60
MAX_RUN = 12
"""Longest run of neighbouring values that is tried as a sum."""
FEW_VALUES = 8
"""Up to so many values a difference or share may take any pair; beyond, the claim must state one of the two."""


def _cues(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_SUM = _cues(
    r"total\w*|sum|altogether|combined|both|overall|in all|together|plus|refund\w*|cost|costs|comes? to|amounts? to|bring\w*"
)
_DIFFERENCE = _cues(
    r"differen\w+|remain\w*|remainder|balance|left|sav\w+|more|less|fewer|increas\w*|decreas\w*|rise|rose|drop\w*|fell|refund\w*|"
    r"chang\w+|additional|extra|cheaper|higher|lower|longer|shorter|discount\w*|gap|grew|growth|lost|gain\w*|owe\w*|due|net"
)
_PRODUCT = _cues(r"per|each|apiece|total\w*|times|altogether|for (?:all|both)|combined|sum|in all|overall")
_AVERAGE = _cues(r"average\w*|mean|on average|per|each")
_CHANGE = _cues(
    r"increas\w*|decreas\w*|rise|rose|risen|drop\w*|fell|fallen|grew|grow\w*|chang\w+|up|down|more|less|higher|lower|cheaper|"
    r"discount\w*|off|gain\w*|lost|sav\w+|reduc\w+|declin\w+|jump\w*"
)
_SHARE = _cues(
    r"of|share|portion|proportion|percent\w*|makes? up|account\w* for|represent\w*|rate|ratio|utili[sz]ation|used|complete\w*"
)
_MAGNITUDE = _cues(
    r"refund\w*|credit\w*|loss\w*|lost|decreas\w*|declin\w*|fell|drop\w*|down|below|owe\w*|deduct\w*|debit\w*"
)
_ELAPSED = _cues(
    r"duration|layover|takes?|last\w*|long|between|later|earlier|after|before|apart|total|wait|flight time|travel time|delay\w*|elapsed|stay"
)
_COUNT_KEY = re.compile(
    r"count|qty|quantity|number|num_|passengers|seats|nights|guests|units|people|items|baggages|bags", re.IGNORECASE
)


def derive(claim: Literal, claim_text: str, premise: Sequence[Literal], lists: Sequence[int] = ()) -> Derivation | None:
    """The claim's value recomputed from the premise's, or `None`.

    `claim_text` is the whole claim: its words decide which operations are tried. `lists` are the lengths of the lists and
    tables in the evidence. At most `MAX_VALUES` values of the claim's dimension are looked at.
    """
    if claim.clock or len(claim.measures) == 0 or all(measure.is_range for measure in claim.measures):
        return None
    stated = extract(claim_text)
    for attempt in _ATTEMPTS.get(claim.kind, _ATTEMPTS["number"]):
        found = attempt(claim, claim_text, stated, _Values(claim, premise, lists))
        if found is not None:
            return found
    return None


class _Values:
    """The premise's values that may be operands for a claim, in the claim's unit."""

    def __init__(self, claim: Literal, premise: Sequence[Literal], lists: Sequence[int]) -> None:
        self.premise = [item for literal in premise for item in (literal.inner or (literal,))]
        self.lists = lists
        self.operands = [literal for literal in self.premise if _is_operand(claim, literal)][:MAX_VALUES]

    def amounts(self) -> Iterator[list[Literal]]:
        """Operands by field name, in order; then all of them."""
        groups: dict[str, list[Literal]] = {}
        for literal in self.operands:
            groups.setdefault(literal.key.casefold(), []).append(literal)
        yield from groups.values()
        if len(groups) > 1:
            yield self.operands

    def numbers(self) -> list[Literal]:
        return [
            literal
            for literal in self.premise
            if literal.kind in ("number", "amount", "quantity", "duration") and _single(literal)
        ]


def _is_operand(claim: Literal, literal: Literal) -> bool:
    if not _single(literal) or literal.weak:
        return False
    if literal.kind == "number":
        unit = unit_of_key(literal.key) if literal.key else None
        if claim.kind == "number":
            return unit is None
        if claim.kind == "amount":
            return unit is None or (unit.kind == "amount" and same_currency(unit.dimension, claim.unit))
        return False
    if claim.kind == "amount" and literal.kind == "amount":
        return same_currency(claim.unit, literal.unit)
    if claim.kind == "number" and literal.kind == "amount":
        return True
    return literal.kind == claim.kind and literal.unit == claim.unit


def _single(literal: Literal) -> bool:
    return bool(literal.measures) and not literal.measures[0].is_range


def _value(literal: Literal) -> Decimal:
    return literal.measures[0].low


def _targets(claim: Literal) -> tuple[Decimal, ...]:
    return tuple(measure.low for measure in claim.measures)


def _sum(claim: Literal, text: str, stated: Sequence[Literal], values: _Values) -> Derivation | None:
    if not _SUM.search(text):
        return None
    targets = _targets(claim)
    for group in values.amounts():
        for start in range(len(group)):
            total = _value(group[start])
            for end in range(start + 1, min(start + MAX_RUN, len(group))):
                total = CONTEXT.add(total, _value(group[end]))
                if total in targets and all(_value(item) for item in group[start : end + 1]):
                    return _derivation("sum", " + ", group[start : end + 1], total)
    for group in values.amounts():
        if len(group) <= FEW_VALUES:
            for pair in combinations(group, 2):
                total = CONTEXT.add(_value(pair[0]), _value(pair[1]))
                if total in targets and all(map(_value, pair)):
                    return _derivation("sum", " + ", pair, total)
    return None


def _difference(claim: Literal, text: str, stated: Sequence[Literal], values: _Values) -> Derivation | None:
    if not _DIFFERENCE.search(text):
        return None
    for left, right in _pairs(values.operands, stated):
        result = CONTEXT.subtract(_value(left), _value(right))
        if result > 0 and _value(right) > 0 and result in _targets(claim):
            return _derivation("difference", " - ", (left, right), result)
    return None


def _pairs(operands: Sequence[Literal], stated: Sequence[Literal]) -> Iterator[tuple[Literal, Literal]]:
    """Ordered pairs of different values: any of a few, else those of which the claim states one."""
    few = len(operands) <= FEW_VALUES
    named = {_value(literal) for literal in stated if _single(literal)}
    for left, right in permutations(operands, 2):
        if few or _value(left) in named or _value(right) in named:
            yield left, right


def _product(claim: Literal, text: str, stated: Sequence[Literal], values: _Values) -> Derivation | None:
    if not _PRODUCT.search(text):
        return None
    keyed = [
        _value(item) for item in values.numbers() if item.kind == "number" and item.key and _COUNT_KEY.search(item.key)
    ]
    said = [_value(item) for item in stated if item.kind == "number" and _single(item) and item.text != claim.text]
    counts = {
        count for count in (*said, *keyed, *map(Decimal, values.lists)) if 2 <= count <= 99 and count == int(count)
    }
    for price in values.operands:
        for count in sorted(counts):
            result = CONTEXT.multiply(count, _value(price))
            if result in _targets(claim) and _value(price) not in (0, 1):
                return Derivation("product", f"{_plain(count)} × {_plain(_value(price))} = {_plain(result)}", (price,))
    return None


def _count(claim: Literal, text: str, stated: Sequence[Literal], values: _Values) -> Derivation | None:
    for target in _targets(claim):
        if target == target.to_integral_value() and 0 <= target <= 10**6 and int(target) in values.lists:
            return Derivation("count", f"count of items = {_plain(target)}")
    return None


def _average(claim: Literal, text: str, stated: Sequence[Literal], values: _Values) -> Derivation | None:
    if not _AVERAGE.search(text):
        return None
    for group in values.amounts():
        if len(group) < 2:
            continue
        total = sum(map(_value, group), Decimal(0))
        if _rounds_to(CONTEXT.divide(total, Decimal(len(group))), claim):
            terms = " + ".join(_plain(_value(item)) for item in group)
            return Derivation("average", f"({terms}) / {len(group)} = {claim.text}", tuple(group))
    return None


def _percentage(claim: Literal, text: str, stated: Sequence[Literal], values: _Values) -> Derivation | None:
    if claim.unit != "percent":
        return None
    numbers = values.numbers()[:MAX_VALUES]
    change, share = _CHANGE.search(text) is not None, _SHARE.search(text) is not None
    for left, right in _pairs(numbers, [item for item in stated if item.kind != "percentage"]):
        below = _value(right)
        if below <= 0 or _value(left) < 0 or _value(left) == below or not _same_dimension(left, right):
            continue
        ratio = CONTEXT.divide(_value(left), below)
        if change and _rounds_to(abs(CONTEXT.multiply(ratio - 1, Decimal(100))), claim):
            return _percent(
                "change", f"({_plain(_value(left))} - {_plain(below)}) / {_plain(below)}", claim, left, right
            )
        if share and ratio < 1 and _rounds_to(CONTEXT.multiply(ratio, Decimal(100)), claim):
            return _percent("share", f"{_plain(_value(left))} / {_plain(below)}", claim, left, right)
    return None


def _percent(operation: str, expression: str, claim: Literal, left: Literal, right: Literal) -> Derivation:
    kind = "change" if operation == "change" else "share"
    return Derivation(kind, f"{expression} = {claim.text}", (left, right))  # type: ignore[arg-type]


def _same_dimension(left: Literal, right: Literal) -> bool:
    return left.kind == right.kind and (
        left.unit == right.unit or (left.kind == "amount" and same_currency(left.unit, right.unit))
    )


def _rounds_to(value: Decimal, claim: Literal) -> bool:
    """Whether the value, rounded to the digits that the claim shows, is the claim's."""
    for target in _targets(claim):
        exponent = target.as_tuple().exponent
        step = Decimal(1).scaleb(min(int(exponent), 0))
        if any(value.quantize(step, rounding, CONTEXT) == target for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)):
            return True
    return False


def _magnitude(claim: Literal, text: str, stated: Sequence[Literal], values: _Values) -> Derivation | None:
    if _MAGNITUDE.search(text):
        for literal in values.operands:
            if _value(literal) < 0 and -_value(literal) in _targets(claim):
                return Derivation("magnitude", f"|{_plain(_value(literal))}| = {_plain(-_value(literal))}", (literal,))
    return None


def _elapsed(claim: Literal, text: str, stated: Sequence[Literal], values: _Values) -> Derivation | None:
    """A duration between two times of day or two full dates of the premise."""
    if claim.unit != "time" or not _ELAPSED.search(text):
        return None
    clocks = [literal for literal in values.premise if literal.clock and len(literal.clock.seconds) == 1][:20]
    for left, right in permutations(clocks, 2):
        if left.clock and right.clock and left.clock.zone == right.clock.zone:
            seconds = (right.clock.seconds[0] - left.clock.seconds[0]) % 86400
            if seconds and Decimal(seconds) in _targets(claim):
                return Derivation("elapsed", f"{right.text} - {left.text} = {claim.text}", (left, right))
    return _elapsed_days(claim, [literal for literal in values.premise if literal.kind == "date"][:20])


def _elapsed_days(claim: Literal, dates: list[Literal]) -> Derivation | None:
    for left, right in combinations(dates, 2):
        ends = [_ordinal(literal) for literal in (left, right)]
        if ends[0] is not None and ends[1] is not None and Decimal(abs(ends[1] - ends[0]) * 86400) in _targets(claim):
            late, early = (right, left) if ends[1] > ends[0] else (left, right)
            return Derivation("elapsed", f"{late.text} - {early.text} = {claim.text}", (left, right))
    return None


def _ordinal(literal: Literal) -> int | None:
    """The Julian day number of a full, unambiguous date (Fliegel and Van Flandern, 1968)."""
    day = literal.days[0]
    if len(literal.days) != 1 or day.year is None or day.month is None or day.day is None:
        return None
    shift = (14 - day.month) // 12
    year, month = day.year + 4800 - shift, day.month + 12 * shift - 3
    return day.day + (153 * month + 2) // 5 + 365 * year + year // 4 - year // 100 + year // 400


def _derivation(operation: str, sign: str, operands: Sequence[Literal], result: Decimal) -> Derivation:
    kind = "sum" if operation == "sum" else "difference"
    terms = sign.join(_plain(_value(item)) for item in operands)
    return Derivation(kind, f"{terms} = {_plain(result)}", tuple(operands))  # type: ignore[arg-type]


def _plain(value: Decimal) -> str:
    """Without an exponent and without trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_Attempt = Callable[[Literal, str, Sequence[Literal], _Values], Derivation | None]
_ATTEMPTS: dict[str, tuple[_Attempt, ...]] = {
    "number": (_count, _sum, _difference, _product, _average, _magnitude),
    "amount": (_sum, _difference, _product, _average, _magnitude),
    "quantity": (_sum, _difference, _product, _average),
    "duration": (_sum, _difference, _product, _elapsed, _average),
    "percentage": (_percentage, _difference),
}
