"""Derived values: is a claim's number a sum, difference, product, count, mean or percentage of the premise's values?

A word of the claim must announce the operation, values must share a dimension, and results must be exactly equal
(percentages and means: to the digits that the claim shows). Otherwise any number could be reached by accident.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import reduce
from itertools import combinations

from entailgrid.claims.literal.currencies import same_currency
from entailgrid.claims.literal.elapsed import between_dates, between_times
from entailgrid.claims.literal.extraction import extract
from entailgrid.claims.literal.model import Derivation, Literal
from entailgrid.claims.literal.numerals import CONTEXT, MAX_DIGITS
from entailgrid.claims.literal.operands import FEW, Operands, is_single, read_operands, value_of

MAX_RUN = 12
"""Longest run of neighbouring values that is tried as a sum."""
FEW_RATIOS = 4
"""Up to so many values may be divided freely: percentages have few digits, so ratios hit them by accident."""
MAX_PRODUCTS = 24
"""Up to so many pairs of count and price are multiplied freely; beyond, the claim must state one of the two."""


def _cues(words: str) -> re.Pattern[str]:
    """A pattern for any of the words; a star is any ending, an underscore a space."""
    names = "|".join(words.split()).replace("*", r"\w*").replace("_", " ")
    return re.compile(rf"\b(?:{names})\b", re.IGNORECASE)


_SUM = _cues(
    """
    total* sum altogether combined both overall in_all together plus refund* cost costs come_to comes_to
    amount_to amounts_to bring brings
    """
)
_DIFFERENCE = _cues(
    """
    differen* remain* balance left sav* more less fewer increas* decreas* rise rose drop* fell refund* chang*
    additional extra cheaper higher lower longer shorter discount* gap grew growth lost gain* owe* due net
    """
)
_PRODUCT = _cues(
    """
    per each apiece total* times altogether for_all for_both combined sum in_all
    """
)
_AVERAGE = _cues(
    """
    average* mean
    """
)
_CHANGE = _cues(
    """
    increas* decreas* rise rose risen drop* fell fallen grew grow* chang* up down more less higher lower cheaper
    discount* off gain* lost sav* reduc* declin* jump*
    """
)
_SHARE = _cues(
    """
    of share portion proportion make_up makes_up account*_for represent* rate ratio utilization utilisation used
    full complete*
    """
)
_MAGNITUDE = _cues(
    """
    refund* credit* loss* lost decreas* declin* fell drop* down owe* deduct* debit*
    """
)
_ELAPSED = _cues(
    """
    duration layover take takes last* long between later earlier after before apart total wait flight_time
    travel_time delay* elapsed stay
    """
)
_ARITHMETIC = re.compile(r"\d\)?\s{0,3}[+−–-]\s{0,3}[$€£¥]?\d.{0,80}=", re.DOTALL)
_EACH = re.compile(r"\b(?:per|each|apiece|times)\b|×", re.IGNORECASE)
_COUNT_KEY = re.compile(r"count|qty|quantity|number|num_|passengers|seats|nights|guests|units|people|items|bag", re.IGNORECASE)


def derive(claim: Literal, claim_text: str, premise: Sequence[Literal], lists: Sequence[int] = ()) -> Derivation | None:
    """The claim's value recomputed from the premise's, or `None`.

    `claim_text` is the whole claim: its words decide which operations are tried, and values that it states itself are
    preferred operands. `lists` are the lengths of the lists and tables in the evidence. The search is bounded.
    """
    if not is_single(claim):
        return None
    operands = read_operands(claim, extract(claim_text), premise, lists)
    for attempt in _ATTEMPTS.get(claim.kind, ()):
        found = attempt(operands, claim_text)
        if found is not None:
            return found
    return None


def _stated(operands: Operands, text: str) -> Derivation | None:
    """Arithmetic on values that the claim spells out and the premise holds: "$137 + $177 = $314"."""
    if not (_ARITHMETIC.search(text) or _SUM.search(text) or _DIFFERENCE.search(text)):
        return None
    values = operands.stated_in_premise()
    if found := _run(operands, values):
        return found
    for left, right in combinations(values, 2):
        high, low = (left, right) if value_of(left) >= value_of(right) else (right, left)
        result = CONTEXT.subtract(value_of(high), value_of(low))
        if result > 0 and result in operands.targets():
            return Derivation("difference", _expression(" - ", (high, low), result), (high, low))
    return None


def _run(operands: Operands, group: Sequence[Literal]) -> Derivation | None:
    """A sum of two or more neighbours in `group`; zeros do not count."""
    values = [literal for literal in group if value_of(literal)]
    for start in range(len(values)):
        total = value_of(values[start])
        for end in range(start + 1, min(start + MAX_RUN, len(values))):
            total = CONTEXT.add(total, value_of(values[end]))
            if total in operands.targets():
                terms = tuple(values[start : end + 1])
                return Derivation("sum", _expression(" + ", terms, total), terms)
    return None


def _sum(operands: Operands, text: str) -> Derivation | None:
    if not _SUM.search(text):
        return None
    for group in operands.groups():
        if found := _run(operands, group):
            return found
        if len(group) > FEW:
            continue
        for pair in combinations(group, 2):
            if found := _run(operands, pair):
                return found
    return None


def _difference(operands: Operands, text: str) -> Derivation | None:
    if not _DIFFERENCE.search(text):
        return None
    for left, right in operands.pairs(operands.values):
        result = CONTEXT.subtract(value_of(left), value_of(right))
        if result > 0 and value_of(right) > 0 and result in operands.targets():
            return Derivation("difference", _expression(" - ", (left, right), result), (left, right))
    return None


def _product(operands: Operands, text: str) -> Derivation | None:
    if not _PRODUCT.search(text):
        return None
    said = {value_of(item) for item in operands.stated if item.kind == "number" and is_single(item)}
    if re.search(r"\bboth\b", text, re.IGNORECASE):
        said.add(Decimal(2))
    keyed = {value_of(item) for item in operands.premise if item.kind == "number" and _COUNT_KEY.search(item.key)}
    known = {value_of(item) for item in operands.stated if is_single(item)}
    prices = {value_of(item): item for item in operands.values if value_of(item) not in (0, 1)}
    counts = {count for count in (*said, *keyed, *map(Decimal, operands.lists)) if 2 <= count <= 99 and is_whole(count)}
    free, few = len(counts) * len(prices) <= MAX_PRODUCTS, len(prices) <= MAX_PRODUCTS
    if len(prices) > 1 and not _EACH.search(text):
        counts -= said - keyed
    for count in sorted(counts):
        for price, literal in prices.items():
            result = CONTEXT.multiply(count, price)
            if result in operands.targets() and (free or price in known or (few and count in said)):
                return Derivation("product", f"{plain(count)} × {plain(price)} = {plain(result)}", (literal,))
    return None


def _count(operands: Operands, text: str) -> Derivation | None:
    for target in operands.targets():
        if is_whole(target) and target in operands.lists:
            return Derivation("count", f"number of items = {plain(target)}")
    return None


def _average(operands: Operands, text: str) -> Derivation | None:
    if not _AVERAGE.search(text):
        return None
    for group in operands.groups():
        if len(group) < 2:
            continue
        total = reduce(CONTEXT.add, map(value_of, group))
        if _rounds_to(CONTEXT.divide(total, Decimal(len(group))), operands):
            terms = " + ".join(plain(value_of(item)) for item in group)
            return Derivation("average", f"({terms}) / {len(group)} = {operands.claim.text}", tuple(group))
    return None


def _percentage(operands: Operands, text: str) -> Derivation | None:
    claim = operands.claim
    if claim.unit != "percent":
        return None
    kinds = ("number", "amount", "quantity", "duration")
    numbers = [item for item in operands.premise if item.kind in kinds and is_single(item) and value_of(item) >= 0]
    change, share = _CHANGE.search(text) is not None, _SHARE.search(text) is not None
    for left, right in operands.pairs(numbers, FEW_RATIOS):
        part, whole = value_of(left), value_of(right)
        if whole == 0 or part == whole or not _same_dimension(left, right):
            continue
        ratio = CONTEXT.divide(part, whole)
        if change and _rounds_to(CONTEXT.multiply(ratio - 1, Decimal(100)).copy_abs(), operands):
            expression = f"({plain(part)} - {plain(whole)}) / {plain(whole)} = {claim.text}"
            return Derivation("change", expression, (left, right))
        if share and ratio < 1 and _rounds_to(CONTEXT.multiply(ratio, Decimal(100)), operands):
            return Derivation("share", f"{plain(part)} / {plain(whole)} = {claim.text}", (left, right))
    return None


def _same_dimension(left: Literal, right: Literal) -> bool:
    if left.kind == right.kind == "amount":
        return same_currency(left.unit, right.unit)
    return left.kind == right.kind and left.unit == right.unit


def _rounds_to(value: Decimal, operands: Operands) -> bool:
    """Whether the value, rounded to the digits that the claim shows, is the claim's."""
    if value.adjusted() > MAX_DIGITS:
        return False
    for target in operands.targets():
        exponent = min(int(target.as_tuple().exponent), 0)
        if exponent < -MAX_DIGITS:
            continue
        step = Decimal(1).scaleb(exponent)
        if any(value.quantize(step, mode, CONTEXT) == target for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN)):
            return True
    return False


def _magnitude(operands: Operands, text: str) -> Derivation | None:
    """A refund or loss that the premise writes as a negative value."""
    if _MAGNITUDE.search(text):
        for literal in operands.values:
            value = value_of(literal)
            if value < 0 and value.copy_negate() in operands.targets():
                return Derivation("magnitude", f"|{plain(value)}| = {plain(value.copy_negate())}", (literal,))
    return None


def _elapsed(operands: Operands, text: str) -> Derivation | None:
    if operands.claim.unit != "time" or not _ELAPSED.search(text):
        return None
    return between_times(operands.claim, operands.premise) or between_dates(operands.claim, operands.premise)


def _expression(sign: str, terms: Sequence[Literal], result: Decimal) -> str:
    return f"{sign.join(plain(value_of(item)) for item in terms)} = {plain(result)}"


def is_whole(value: Decimal) -> bool:
    """Whether the number has no fraction."""
    return value == value.to_integral_value()


def plain(value: Decimal) -> str:
    """The number without an exponent and without trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_ATTEMPTS: dict[str, tuple[Callable[[Operands, str], Derivation | None], ...]] = {
    "number": (_count, _stated, _sum, _difference, _product, _average, _magnitude),
    "amount": (_stated, _sum, _difference, _product, _average, _magnitude),
    "quantity": (_stated, _sum, _difference, _product, _average),
    "duration": (_stated, _sum, _difference, _product, _elapsed, _average),
    "percentage": (_percentage, _difference),
}
