"""The metrics against counts made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entailgrid.evaluation.metrics import Rate, Tally, align, counts, overlap, rates, should_block, tally
from entailgrid.types import (
    ClaimReport,
    Coverage,
    Evidence,
    Gold,
    GoldClaim,
    ModelReport,
    Report,
    Timing,
)


def claim(number: int, start: int, end: int, verdict: str = "pass", **fields: object) -> ClaimReport:
    values = {"support": "supported", "attribution": "correct", "quadrant": None, "probability": 0.9, **fields}
    if verdict == "skip":
        values |= {"support": None, "attribution": None, "probability": None}
    return ClaimReport.model_validate(
        {"id": f"clm_{number}", "text": "c", "start": start, "end": end, "verdict": verdict, **values}
    )


def evidence(source_id: str) -> Evidence:
    return Evidence(source_id=source_id, text="e", probability=0.9)


def report(*claims: ClaimReport, decision: str = "block") -> Report:
    return Report(
        trace_id="t",
        decision=decision,  # type: ignore[arg-type]
        reasons=(),
        claims=claims,
        citations=(),
        sources=(),
        coverage=Coverage(pairs_scored=0, pairs_from_cache=0, pairs_skipped=0, tokens_unscored=0),
        timing_ms=Timing(total=0, queue=0, inference=0),
        model=ModelReport(router="r", nli="n", calibration="c", profile="balanced"),
    )


def gold(start: int, end: int, **fields: object) -> GoldClaim:
    return GoldClaim.model_validate({"start": start, "end": end, **fields})


@pytest.mark.parametrize(
    ("left", "right", "shared"),
    [
        ((0, 10), (0, 10), 10),
        ((0, 10), (10, 20), 0),
        ((0, 10), (9, 20), 1),
        ((0, 10), (15, 20), 0),
        ((0, 30), (5, 9), 4),
    ],
)
def test_overlap(left: tuple[int, int], right: tuple[int, int], shared: int) -> None:
    assert overlap(gold(*left), claim(1, *right)) == overlap(gold(*right), claim(1, *left)) == shared


def test_alignment_takes_what_shares_half_of_the_shorter_span_largest_first() -> None:
    claims = [claim(1, 0, 4), claim(2, 4, 20), claim(3, 18, 40), claim(4, 4, 20, "skip")]
    found = align(gold(0, 20), claims)
    assert found is not None
    assert [item.id for item in found.claims] == ["clm_2", "clm_1"]
    assert align(gold(40, 50), claims) is None
    half = align(gold(0, 8), [claim(1, 4, 30)])
    assert half is not None
    assert align(gold(0, 8), [claim(1, 5, 30)]) is None


def test_a_split_gold_claim_takes_the_gravest_of_its_parts() -> None:
    found = align(
        gold(0, 20),
        [
            claim(1, 0, 12),
            claim(2, 12, 20, "block", support="contradicted", attribution="stale_source", cited=("b",)),
        ],
    )
    assert found is not None
    assert (found.blocked, found.support, found.attribution) == (True, "contradicted", "stale_source")
    assert found.cited == {"b"}


@pytest.mark.parametrize(
    ("support", "attribution", "expected"),
    [
        ("supported", "correct", False),
        ("supported", "uncited", False),
        ("supported", "ambiguous", False),
        ("supported", None, False),
        ("supported", "wrong_source", True),
        ("supported", "phantom_source", True),
        ("supported", "error_source", True),
        ("supported", "below_tier", True),
        ("supported", "stale_source", True),
        ("contradicted", "correct", True),
        ("not_enough_evidence", None, True),
        (None, "correct", None),
        (None, None, None),
        (None, "wrong_source", True),
    ],
)
def test_should_block(support: str | None, attribution: str | None, expected: bool | None) -> None:
    assert should_block(gold(0, 1, support=support, attribution=attribution)) is expected


def test_rates_of_one_answer_counted_by_hand() -> None:
    labels = Gold(
        decision="block",
        claims=(
            gold(0, 10, support="supported", attribution="correct", source_ids=["a"]),  # right
            gold(10, 20, support="supported", attribution="wrong_source", source_ids=["b"]),  # found
            gold(20, 30, support="supported", attribution="wrong_source", source_ids=["b"]),  # missed
            gold(30, 40, support="supported", attribution="uncited", source_ids=["b", "c"]),  # blocked falsely
            gold(40, 50, support="contradicted", source_ids=[]),  # not seen: missed
            gold(50, 60),  # unlabelled
        ),
    )
    found = report(
        claim(1, 0, 10, supported_by=(evidence("a"),), cited=("a", "z")),
        claim(2, 10, 20, "block", attribution="wrong_source", supported_by=(evidence("b"), evidence("a")), cited=("a",)),
        claim(3, 20, 30, supported_by=(evidence("a"),), cited=("a",)),
        claim(4, 30, 40, "block", support="not_enough_evidence", attribution=None),
        claim(5, 50, 60, "abstain", support="not_enough_evidence", attribution=None),
        claim(6, 60, 70),
        claim(7, 40, 50, "skip"),
    )
    total = tally(labels, found)
    assert {name: (rate.hits, rate.of) for name, rate in rates(total).items()} == {
        "decision_accuracy": (1, 1),
        "block_precision": (1, 2),
        "block_recall": (1, 3),
        "block_f1": (2, 5),
        "false_block_rate": (1, 2),
        "support_accuracy": (3, 4),
        "attribution_accuracy": (2, 4),
        "source_accuracy": (2, 4),
        "wrong_source_rate": (1, 5),
        "wrong_source_precision": (1, 1),
        "wrong_source_recall": (1, 2),
        "citation_precision": (1, 4),
        "citation_recall": (1, 4),
    }
    assert counts(total) == {
        "answers": 1,
        "gold_claims": 6,
        "unaligned_claims": 1,
        "unlabelled_claims": 1,
        "abstained_claims": 1,
        "blocked_rightly": 1,
        "blocked_falsely": 1,
        "missed": 2,
        "passed_rightly": 1,
    }


def test_a_rate_over_nothing_is_null() -> None:
    assert all(rate.value is None for rate in rates(Tally()).values())
    assert Rate(0, 0).as_json() == {"value": None, "hits": 0, "of": 0}
    assert Rate(1, 4).as_json() == {"value": 0.25, "hits": 1, "of": 4}


def test_null_fields_are_scored_nowhere() -> None:
    total = tally(Gold(claims=(gold(0, 10),)), report(claim(1, 0, 10, "block", cited=("a",))))
    assert (total.gold_claims, total.aligned) == (1, 1)
    scored = {name: rate for name, rate in rates(total).items() if rate.of}
    assert scored == {"wrong_source_rate": Rate(0, 1)}


def test_a_wrong_decision_counts_as_wrong() -> None:
    total = tally(Gold(decision="allow"), report()) + tally(Gold(decision="block"), report())
    assert rates(total)["decision_accuracy"] == Rate(1, 2)


@given(st.lists(st.sampled_from(["supported", "contradicted", "not_enough_evidence"]), min_size=1, max_size=8))
def test_a_report_that_equals_the_gold_is_perfect(supports: list[str]) -> None:
    spans = [(10 * at, 10 * at + 10) for at in range(len(supports))]
    labels = Gold(claims=tuple(gold(*span, support=s) for span, s in zip(spans, supports, strict=True)))
    found = [
        claim(at, *span, "pass" if s == "supported" else "block", support=s)
        for at, (span, s) in enumerate(zip(spans, supports, strict=True))
    ]
    metrics = rates(tally(labels, report(*found)))
    perfect = ("block_precision", "block_recall", "block_f1", "support_accuracy")
    assert all(metrics[name].value in (1.0, None) for name in perfect)
    assert metrics["false_block_rate"].value in (0.0, None)
