"""Laws of the literal check on generated text."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from entailgrid.claims.literals import compare, derive, extract

FRAGMENTS = st.sampled_from(
    [
        "$1,200.00", "30-day", "May 20, 2024", "2024-05-20T14:03:11Z", "07:00 PM EST", "HAT069", "credit_card_4421486",
        "v1.2.3",
        "5 to 7 business days", "12.5%", "500 mg", "98.6°F", '"refund within 30 days"', "“a b c 5 km”", "[1]", "**",
        "\n1. ", "`",
        "twenty-three", "1.2M", "about", "ending in 7447", "#12345", "Q3 2024", "½", "1/2", "-5", "(JFK)", "£50",
        "P30D", "2h 30m",
        "mia@example.com", "http://x.y/1", "{", "}", '"key": ', "total", "и", "中文", "🙂", "\u200d", "é", "٣٤",
        "\ud7ff", "\x00",
        "1 hour and 30 minutes", "between 3 and 5", ",", ".", " ", ":", "1e999", "9" * 45, "0.1e-300",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS | st.text(max_size=8), max_size=12).map(" ".join) | st.text(max_size=200)
DATES = st.dates(date(1000, 1, 1), date(2999, 12, 31))
AMOUNTS = st.decimals(min_value=0, max_value=10**12, places=2, allow_nan=False, allow_infinity=False)


def _flatten(text: str) -> list[str]:
    return [item.text for literal in extract(text) for item in (literal, *literal.inner)]


@given(TEXTS)
@settings(max_examples=250, deadline=None)
def test_offsets_are_exact_ordered_and_disjoint(text: str) -> None:
    position = 0
    for literal in extract(text):
        assert position <= literal.start < literal.end <= len(text)
        assert text[literal.start : literal.end] == literal.text
        position = literal.end
        for item in literal.inner:
            assert literal.start <= item.start < item.end <= literal.end
            assert text[item.start : item.end] == item.text


@given(TEXTS)
@settings(max_examples=250, deadline=None)
def test_a_text_supports_its_own_literals(text: str) -> None:
    literals = extract(text)
    for literal in literals:
        assert compare(literal, literals, text).status == "match", literal


@given(TEXTS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_comparing_and_deriving_never_raise(claim: str, premise: str) -> None:
    known = extract(premise)
    for literal in extract(claim):
        check = compare(literal, known, premise)
        assert check.status in ("match", "mismatch", "cannot_check")
        assert check.found is None or check.status != "cannot_check"
        derive(literal, f"{claim} total difference each average of up refund takes", known, (2, 3))


def _european(value: Decimal) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def _formats(value: Decimal) -> list[str]:
    grouped = f"{value:,.2f}"
    return [f"{value:f}", grouped, _european(value), grouped.replace(",", "\u2009"), grouped.replace(",", "'")]


@given(AMOUNTS, st.integers(0, 4), st.integers(0, 4), st.sampled_from(["${}", "USD {}", "{} dollars", "{}"]))
@settings(max_examples=150, deadline=None)
def test_formats_of_one_amount_match(value: Decimal, left: int, right: int, frame: str) -> None:
    claim, premise = f"It costs {frame.format(_formats(value)[left])}.", f'"cost": {_formats(value)[right]}'
    (literal,) = extract(claim)
    assert compare(literal, extract(premise), premise).status == "match"


@given(AMOUNTS, AMOUNTS, st.integers(0, 4), st.integers(0, 4))
@settings(max_examples=150, deadline=None)
def test_different_amounts_mismatch(one: Decimal, other: Decimal, left: int, right: int) -> None:
    claim, premise = f"It costs ${_formats(one)[left]}.", f'"cost": {_formats(other)[right]}'
    (literal,) = extract(claim)
    assert compare(literal, extract(premise), premise).status == ("match" if one == other else "mismatch")


@given(st.integers(1, 9999), st.integers(1, 9999), st.sampled_from(["mg", "km", "hours", "days", "GB", "%", "months"]))
@settings(max_examples=150, deadline=None)
def test_integers_with_a_unit_match_exactly_when_equal(one: int, other: int, unit: str) -> None:
    premise = f"The value is {other} {unit}."
    (literal,) = extract(f"It is {one:,} {unit}.")
    (known,) = extract(premise)
    assert known.kind == literal.kind
    ambiguous = one >= 1000 and Decimal(one) / 1000 == other
    assert (compare(literal, (known,), premise).status == "match") == (one == other or ambiguous)


@given(DATES, DATES)
@settings(max_examples=150, deadline=None)
def test_dates_match_exactly_when_equal(one: date, other: date) -> None:
    premise = f'"date": "{other:%Y-%m-%d}"'
    claims = [
        f"on {one:%B} {one.day}, {one.year}",
        f"on {one.day} {one:%b} {one.year}",
        f"am {one.day}.{one.month}.{one.year}",
    ]
    for claim in claims[:2]:
        (literal,) = extract(claim)
        assert (compare(literal, extract(premise), premise).status == "match") == (one == other)
    (literal,) = extract(claims[2])
    swapped = (one.year, one.day, one.month) == (other.year, other.month, other.day)
    assert (compare(literal, extract(premise), premise).status == "match") == (one == other or swapped)
