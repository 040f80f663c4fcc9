"""Rules 3-9, 11, 13 and 14 on hand-made stances: the decision without any model."""

from __future__ import annotations

from typing import Any

import pytest

from entailgrid.evidence.route import Candidate
from entailgrid.types import SourceStatus, Tier
from entailgrid.verdict.calibrate import Calibration
from entailgrid.verdict.claim import ClaimVerdict, Question, SourceFacts, Stance, decide_claim
from entailgrid.verdict.decide import decide_answer
from entailgrid.verdict.policy import Policy
from entailgrid.verdict.weigh import PremiseVerdict, Signals

YES, NO, MUTE = (0.95, 0.02), (0.05, 0.9), (0.1, 0.1)
"""(support, contradiction) of a source that supports, contradicts, or says nothing."""


def stance(source: int, support: float, contradiction: float) -> Stance:
    signals = Signals(Candidate(source, (source,), "premise", 0.5, 0.9), support, contradiction, ())
    verdict = PremiseVerdict(signals, support, contradiction)
    return Stance(source, verdict, verdict)


def decide(
    stances: list[tuple[float, float]],
    cited: tuple[int, ...] = (),
    status: dict[int, SourceStatus] | None = None,
    tiers: dict[int, Tier] | None = None,
    policy: Policy | None = None,
    calibration: Calibration | None = None,
    **known: Any,
) -> ClaimVerdict:
    """Sources 0, 1, ... with these stances; a source that is not usable has none."""
    statuses: dict[int, SourceStatus] = dict.fromkeys(range(len(stances)), "ok") | (status or {})
    facts = {index: SourceFacts(statuses[index], (tiers or {}).get(index)) for index in statuses}
    question = Question(
        text=known.pop("text", "The refund window is 30 days."),
        cited=cited,
        phantom=known.pop("phantom", False),
        named_in_prose=known.pop("named_in_prose", frozenset()),
        stances=tuple(stance(i, *s) for i, s in enumerate(stances) if facts[i].usable),
        facts=facts,
        **known,
    )
    return decide_claim(question, calibration or Calibration(), policy or Policy(), lambda a, b, outcomes: outcomes)


def shown(verdict: ClaimVerdict) -> tuple[str, str | None, str]:
    return verdict.support, verdict.attribution, verdict.verdict


S, C, N = "supported", "contradicted", "not_enough_evidence"
TABLE: dict[str, tuple[dict[str, Any], tuple[str, str | None, str]]] = {
    "cited supports": ({"stances": [YES], "cited": (0,)}, (S, "correct", "pass")),
    "rule 3: one of several cited supports": ({"stances": [MUTE, YES], "cited": (0, 1)}, (S, "correct", "pass")),
    "rule 3: one supports, one contradicts": ({"stances": [NO, YES], "cited": (0, 1)}, (S, "correct", "pass")),
    "rule 4: stale supports": ({"stances": [YES], "cited": (0,), "status": {0: "stale"}}, (S, "stale_source", "block")),
    "rule 4: T3 supports": ({"stances": [YES], "cited": (0,), "tiers": {0: "T3"}}, (S, "below_tier", "block")),
    "rule 5: conflict without tiers": ({"stances": [YES, NO], "cited": (0,)}, (S, "correct", "pass")),
    "rule 5: a higher tier says otherwise": (
        {"stances": [YES, NO], "cited": (0,), "tiers": {0: "T1", 1: "T0"}}, (S, "correct", "block")),
    "rule 5: an equal tier says otherwise": (
        {"stances": [YES, NO], "cited": (0,), "tiers": {0: "T1", 1: "T1"}}, (S, "correct", "pass")),
    "rule 5: a lower tier says otherwise": (
        {"stances": [YES, NO], "cited": (0,), "tiers": {0: "T0", 1: "T1"}}, (S, "correct", "pass")),
    "rule 5: cited contradicts, another supports": ({"stances": [NO, YES], "cited": (0,)}, (S, "wrong_source", "block")),
    "rule 6: wrong source": ({"stances": [MUTE, YES], "cited": (0,)}, (S, "wrong_source", "block")),
    "rule 6: contradicted by the cited": ({"stances": [NO], "cited": (0,)}, (C, "correct", "block")),
    "rule 6: contradicted by another": ({"stances": [MUTE, NO], "cited": (0,)}, (C, None, "block")),
    "rule 6: unsupported": ({"stances": [MUTE, MUTE], "cited": (0,)}, (N, None, "block")),
    "rule 6: cited is empty": ({"stances": [MUTE, MUTE], "cited": (0,), "status": {0: "empty"}}, (N, None, "block")),
    "rule 6: unsupported phantom": ({"stances": [MUTE], "phantom": True}, (N, "phantom_source", "block")),
    "rule 7: phantom though supported": ({"stances": [YES], "phantom": True}, (S, "phantom_source", "block")),
    "rule 7: error": ({"stances": [MUTE], "cited": (0,), "status": {0: "error"}}, (N, "error_source", "abstain|block")),
    "rule 7: schema": (
        {"stances": [MUTE, YES], "cited": (0,), "status": {0: "schema_mismatch"}}, (S, "error_source", "block")),
    "rule 7: phantom before error": (
        {"stances": [MUTE, YES], "cited": (0,), "status": {0: "error"}, "phantom": True}, (S, "phantom_source", "block")),
    "rule 7: tier before age": (
        {"stances": [YES], "cited": (0,), "status": {0: "stale"}, "tiers": {0: "T3"}}, (S, "below_tier", "block")),
    "rule 7: stale although a fresh one agrees": (
        {"stances": [YES, YES], "cited": (0,), "status": {0: "stale"}}, (S, "stale_source", "block")),
    "rule 9: T2 named in prose": (
        {"stances": [YES], "cited": (0,), "tiers": {0: "T2"}, "named_in_prose": frozenset({0})}, (S, "correct", "pass")),
    "rule 9: T2 in a bracket": ({"stances": [YES], "cited": (0,), "tiers": {0: "T2"}}, (S, "below_tier", "block")),
    "rule 9: T2 recommendation": (
        {"stances": [YES], "cited": (0,), "tiers": {0: "T2"}, "named_in_prose": frozenset({0}),
         "text": "You should take 20 mg daily."}, (S, "below_tier", "block")),
    "rule 9: T1 needs no prose": ({"stances": [YES], "cited": (0,), "tiers": {0: "T1"}}, (S, "correct", "pass")),
    "rule 9: uncited, best source T3": ({"stances": [YES], "tiers": {0: "T3"}}, (S, "below_tier", "block")),
    "rule 9: uncited, best source T2": ({"stances": [YES], "tiers": {0: "T2"}}, (S, "below_tier", "block")),
    "rule 9: uncited, best source stale": ({"stances": [YES], "status": {0: "stale"}}, (S, "stale_source", "block")),
    "rule 9: uncited, best source fine": (
        {"stances": [YES, (0.8, 0.0)], "tiers": {0: "T0", 1: "T3"}}, (S, "uncited", "pass")),
    "rule 11: uncited": ({"stances": [YES]}, (S, "uncited", "pass")),
    "rule 11: uncited without evidence": ({"stances": [MUTE]}, (N, None, "block")),
    "rule 11: no source": ({"stances": []}, (N, None, "abstain")),
    "rule 11: no usable source": ({"stances": [MUTE], "status": {0: "error"}}, (N, None, "abstain")),
    "rule 11: left unscored": ({"stances": [MUTE], "complete": False}, (N, None, "abstain")),
    "rule 14: failed action, uncited": (
        {"stances": [MUTE, YES], "status": {0: "error"}, "failed_action": True}, (N, "error_source", "block")),
    "rule 14: failed action, cited": (
        {"stances": [MUTE], "cited": (0,), "status": {0: "error"}, "failed_action": True}, (N, "error_source", "block")),
    "rule 16: language": ({"stances": [MUTE], "unknown_language": True}, (N, None, "abstain")),
    "rule 16: contradicted by literals": ({"stances": [NO], "cited": (0,), "unknown_language": True}, (C, "correct", "block")),
}  # fmt: skip


@pytest.mark.parametrize(("known", "expected"), TABLE.values(), ids=TABLE.keys())
def test_table(known: dict[str, Any], expected: tuple[str, str | None, str]) -> None:
    support, attribution, verdict = shown(decide(**known))
    assert (support, attribution) == expected[:2]
    assert verdict in expected[2].split("|")


@pytest.mark.parametrize(("known", "expected"), TABLE.values(), ids=TABLE.keys())
def test_rule_8_quadrants(known: dict[str, Any], expected: tuple[str, str | None, str]) -> None:
    support, attribution, _ = expected
    half = {"correct": "right", "ambiguous": "right", "uncited": None, None: None}.get(attribution, "wrong")
    fact = "right" if support == S else "wrong"
    assert decide(**known).quadrant == (f"fact_{fact}_source_{half}" if half else None)


def test_rule_7_names_the_other_failures_in_the_reasons() -> None:
    verdict = decide([YES], (0,), {0: "stale"}, {0: "T3"}, phantom=True)
    assert verdict.attribution == "phantom_source"
    assert [reason for reason in verdict.reasons if reason in ("below_tier", "stale_source")] == [
        "below_tier",
        "stale_source",
    ]


def test_rule_7_a_near_tie_is_ambiguous_passes_and_is_named() -> None:
    verdict = decide([(0.48, 0.0), (0.52, 0.0)], (0,))
    assert shown(verdict) == (S, "ambiguous", "pass")
    assert "ambiguous" in verdict.reasons
    assert shown(decide([(0.30, 0.0), (0.95, 0.0)], (0,)))[1] == "wrong_source"


def test_rule_5_names_the_conflict_and_lists_the_other() -> None:
    verdict = decide([YES, NO], (0,))
    assert [stance.source for stance in verdict.contradicting] == [1]
    assert any("conflict" in reason for reason in verdict.reasons)


def test_rule_16_evidence_is_best_first() -> None:
    verdict = decide([(0.7, 0.0), (0.95, 0.0), (0.8, 0.0)], (0,))
    assert [stance.source for stance in verdict.supporting] == [1, 2, 0]


@pytest.mark.parametrize(("rule", "expected"), [("pass", "pass"), ("flag", "pass"), ("block", "block")])
def test_rule_11_the_policy_on_uncited_claims(rule: Any, expected: str) -> None:
    verdict = decide([YES], policy=Policy(uncited=rule))
    assert shown(verdict) == (S, "uncited", expected)
    decision, reasons = decide_answer([("clm_1", verdict)])
    assert decision == ("block" if expected == "block" else "allow")
    assert bool(reasons) == (rule != "pass"), "a flagged claim is reported, a passed one is not"


def test_rule_11_one_failing_claim_blocks_and_else_one_unverified_abstains() -> None:
    good, bad, unknown = decide([YES], (0,)), decide([MUTE], (0,)), decide([])
    cases = [([], "allow"), ([good], "allow"), ([good, unknown], "abstain"), ([unknown, bad, good], "block")]
    for verdicts, expected in cases:
        decision, reasons = decide_answer([(f"clm_{number}", verdict) for number, verdict in enumerate(verdicts, 1)])
        assert decision == expected
        assert bool(reasons) == (expected != "allow")


def test_rule_11_the_abstain_band() -> None:
    banded = Calibration(abstain_band=(0.4, 0.6))
    assert decide([(0.55, 0.0)], (0,), calibration=banded).verdict == "abstain"
    assert decide([(0.95, 0.0)], (0,), calibration=banded).verdict == "pass"
    assert decide([(0.1, 0.0)], (0,), calibration=banded).verdict == "block"


@pytest.mark.parametrize("attribution", ["phantom", "wrong", "stale", "tier"])
def test_probability_says_true_and_rightly_attributed(attribution: str) -> None:
    known: dict[str, Any] = {
        "phantom": {"stances": [YES], "phantom": True},
        "wrong": {"stances": [MUTE, YES], "cited": (0,)},
        "stale": {"stances": [YES], "cited": (0,), "status": {0: "stale"}},
        "tier": {"stances": [YES], "cited": (0,), "tiers": {0: "T3"}},
    }[attribution]
    assert decide(**known).probability < 0.2
    assert decide([YES], (0,)).probability > 0.9
