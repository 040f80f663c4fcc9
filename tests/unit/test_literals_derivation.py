"""Derived values: what is recomputed, and what must not be reached by accident."""

from __future__ import annotations

import pytest

from entailgrid.claims.literals import Derivation, derive, extract

FLIGHTS = '[{"flight": "HAT136", "price": 152, "seats": 14}, {"flight": "HAT039", "price": 103, "seats": 10}]'
MANY = "[" + ", ".join(f'{{"price": {price}}}' for price in range(101, 300, 7)) + "]"


def _derive(claim: str, premise: str, lists: tuple[int, ...] = (), text: str = "") -> Derivation | None:
    """The derivation of the claim's last numeric literal, or of the one that reads `text`."""
    literals = [item for item in extract(claim) if item.measures and (not text or item.text == text)]
    return derive(literals[-1], claim, extract(premise), lists)


@pytest.mark.parametrize(
    ("claim", "premise", "lists", "expression"),
    [
        ("The total is $255.", FLIGHTS, (), "152 + 103 = 255"),
        ("Together they cost $255.", "Flight A costs $152 and flight B costs $103.", (), "152 + 103 = 255"),
        ("Both have 24 seats combined.", FLIGHTS, (), "14 + 10 = 24"),
        ("The remaining balance is $5.", '{"total": 255.0, "certificate": 250}', (), "255 - 250 = 5"),
        ("The difference is $49.", FLIGHTS, (), "152 - 103 = 49"),
        ("You save $30.", "It was $120 and is now $90.", (), "120 - 90 = 30"),
        ("The total is $90 for 3 passengers.", "Insurance is $30.", (), "3 × 30 = 90"),
        ("The total is $348 ($174 per passenger).", '{"price": 174}', (2,), "2 × 174 = 348"),
        ("The average price is $127.50.", FLIGHTS, (), "(152 + 103) / 2 = $127.50"),
        ("There are 4 flights.", "no number", (4,), "number of items = 4"),
        ("The price rose by 25%.", "The price was $80, now $100.", (), "(100 - 80) / 80 = 25%"),
        ("About 33% of the seats are taken.", '{"seats": {"taken": 4, "all": 12}}', (), "4 / 12 = 33%"),
        ("33.3% of the seats are taken.", '{"seats": {"taken": 4, "all": 12}}', (), "4 / 12 = 33.3%"),
        ("It rose 2 percentage points more.", "From 5 percentage points to 7 percentage points.", (), "7 - 5 = 2"),
        ("A refund of $3,925 was made.", '{"amount": -3925}', (), "|-3925| = 3925"),
        ("The flight takes 5 hours.", '{"departure": "07:00:00", "arrival": "12:00:00"}', (),
         "12:00:00 - 07:00:00 = 5 hours"),
        ("The flight takes 5 hours.", '{"departure": "22:00:00", "arrival": "03:00:00+1"}', (),
         "03:00:00+1 - 22:00:00 = 5 hours"),
        ("The stay is 4 days.", '{"from": "2024-02-27", "to": "2024-03-02"}', (), "2024-03-02 - 2024-02-27 = 4 days"),
        ("In all it takes 3 hours.", "The first leg takes 2 hours, the second 1 hour.", (), "7200 + 3600 = 10800"),
        ("$101 + $108 = $209", MANY, (), "101 + 108 = 209"),
        ("The total dose is 1 g.", "500 mg in the morning and 500 mg at night", (), "0.5 + 0.5 = 1"),
    ],
)  # fmt: skip
def test_is_recomputed(claim: str, premise: str, lists: tuple[int, ...], expression: str) -> None:
    numbers = [item for item in extract(claim) if item.measures]
    texts = [item.text for item in numbers]
    found = next((hit for text in texts if (hit := _derive(claim, premise, lists, text)) is not None), None)
    assert found is not None
    assert found.expression == expression


@pytest.mark.parametrize(
    ("claim", "premise", "lists"),
    [
        ("The price is $255.", FLIGHTS, ()),
        ("The price is $49.", FLIGHTS, ()),
        ("The total is $256.", FLIGHTS, ()),
        ("The total is $166.", FLIGHTS, ()),
        ("The total is €255.", "Flight A costs $152 and flight B costs $103.", ()),
        ("The total is $5.", "You may take 2 free bags and 3 paid bags.", ()),
        ("The difference is $49.", MANY, ()),
        ("The total is 5 km.", "2 kg and 3 kg", ()),
        ("There are 5 flights.", "no number", (4,)),
        ("The price rose by 26%.", "The price was $80, now $100.", ()),
        ("The rate is 20% of it.", MANY, ()),
        ("The fee is 33.4% of it.", '{"seats": {"taken": 4, "all": 12}}', ()),
        ("A charge of $3,925 was made.", '{"amount": -3925}', ()),
        ("The flight takes 6 hours.", '{"departure": "07:00:00", "arrival": "12:00:00"}', ()),
        ("The total is between $200 and $255.", FLIGHTS, ()),
        ("The total is $456.", MANY, (2, 3, 4)),
        ("The total is $202.", MANY, (2, 3)),
        ("The average price is $127.49.", FLIGHTS, ()),
        ("The total is $0.", FLIGHTS, ()),
    ],
)
def test_is_not_reached_by_accident(claim: str, premise: str, lists: tuple[int, ...]) -> None:
    assert _derive(claim, premise, lists) is None


def test_the_operands_are_the_premise_literals() -> None:
    found = _derive("The total is $255.", FLIGHTS)
    assert found is not None
    assert [FLIGHTS[item.start : item.end] for item in found.operands] == ["152", "103"]
    assert found.operation == "sum"
