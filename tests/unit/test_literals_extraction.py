"""What counts as a literal, and where it stands."""

from __future__ import annotations

import time

import pytest

from entailgrid.claims.literals import extract


def _found(text: str) -> list[tuple[str, str]]:
    return [(literal.kind, literal.text) for literal in extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "1. **Flight HAT136 (JFK to ATL)**: 07:00 PM EST, $152",
            [
                ("identifier", "HAT136"),
                ("identifier", "JFK"),
                ("identifier", "ATL"),
                ("time", "07:00 PM EST"),
                ("amount", "$152"),
            ],
        ),
        ("This plan includes a 30-day refund window.", [("duration", "30-day")]),
        ("- **Total Baggages:** 3 (1 non-free)", [("number", "3"), ("number", "1")]),
        (
            "Revenue rose 12.5% to $1.2bn in Q3 2024 [2].",
            [("percentage", "12.5%"), ("amount", "$1.2bn"), ("date", "Q3 2024")],
        ),
        ("Visa card ending in 7447: $55", [("identifier", "7447"), ("amount", "$55")]),
        (
            "At 2024-05-20T14:03:11Z it ran v1.2.3",
            [("date", "2024-05-20"), ("time", "14:03:11Z"), ("version", "v1.2.3")],
        ),
        ("He said “two weeks of leave” twice.", [("quotation", "“two weeks of leave”")]),
        ("Take 500 mg twice, 2.5 ml at noon", [("quantity", "500 mg"), ("quantity", "2.5 ml"), ("time", "noon")]),
        ("Prices: 5, 6 and 7.", [("number", "5"), ("number", "6"), ("number", "7")]),
        ("It takes 30 minutes, 2 hours at most.", [("duration", "30 minutes"), ("duration", "2 hours")]),
        ("", []),
    ],
)
def test_kinds_and_texts(text: str, expected: list[tuple[str, str]]) -> None:
    assert _found(text) == expected


def test_a_quotation_keeps_the_literals_inside_it_with_offsets_of_the_whole_text() -> None:
    text = 'It says "refund within 30 days of May 5" clearly.'
    (quotation,) = extract(text)
    assert [(item.kind, text[item.start : item.end]) for item in quotation.inner] == [
        ("duration", "30 days"),
        ("date", "May 5"),
    ]


def test_emphasis_inside_a_literal_stays_in_its_text() -> None:
    text = "A window of **30** days."
    (literal,) = extract(text)
    assert literal.text == text[literal.start : literal.end] == "30** days"


def test_json_strings_are_not_quotations_and_arrays_are_not_markers() -> None:
    assert _found('{"note": "just plain words", "seats": [12, 14]}') == [("number", "12"), ("number", "14")]


def test_the_field_name_comes_with_its_parent() -> None:
    text = '{"prices": {"economy": 121}, "seats": [12, 14], "refund_window_days": 30}'
    assert [literal.key for literal in extract(text)] == ["prices.economy", "seats", "seats", "refund_window_days"]


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("about 5 km", "about"),
        ("~5 km", "about"),
        ("at least 5 km", "over"),
        ("5 km or more", "over"),
        ("up to 5 km", "under"),
        ("exactly 5 km", "exact"),
        ("the plateau 5 km away", "exact"),
    ],
)
def test_bounds(text: str, bound: str) -> None:
    assert [literal.bound for literal in extract(text)] == [bound]


@pytest.mark.parametrize(
    "unit",
    [
        "1", " ", "1,", "1.1", "a-", "1-", '"', "“a ", "$", "one ", "[1", "(1)", "1 ", "12:", "a_1", "#1", "x",
        "1/", "+1 ",
        "@a.", "1 h ", "\n", "1h", "between 1 and ", "May 1 ", "1 to ", "P1", "v1.", '{"a": ', "May ", "…",
        "1 hundred ",
    ],
)  # fmt: skip
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        extract(text)
        return time.process_time() - start

    seconds(2_000)
    assert seconds(16_000) < 20 * max(seconds(4_000), 0.01)


def test_two_thousand_characters_take_few_milliseconds() -> None:
    text = ("The refund of $1,200.00 for order HAT069 was sent on May 20, 2024 at 07:00 PM EST to the customer. " * 21)[:2000]
    times = []
    for _ in range(5):
        start = time.process_time()
        extract(text)
        times.append(time.process_time() - start)
    assert min(times) < 0.015
