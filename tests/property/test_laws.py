"""The laws of the house, on arbitrary traces and the shipped models."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from entailgrid import DeadlineExceeded, EngineStopped, Report, Verifier
from entailgrid.types import Trace
from strategies import TEXTS, traces

SLOW = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
PASSED = ("correct", "ambiguous", "uncited")
WRONG = ("phantom_source", "error_source", "wrong_source", "below_tier", "stale_source")


def check_report(trace: Trace, report: Report) -> None:
    """What the contract says of every report."""
    for claim in report.claims:
        assert 0 <= claim.start < claim.end <= len(trace.answer)
        assert (claim.verdict == "skip") == (claim.support is None)
        if claim.verdict == "skip":
            continue
        assert claim.probability is not None
        assert 0 <= claim.probability <= 1
        assert (claim.quadrant is None) == (claim.attribution in (None, "uncited"))
        assert bool(claim.supported_by) == (claim.support == "supported")
        assert claim.verdict != "pass" or (claim.support == "supported" and claim.attribution in PASSED)
        assert claim.attribution not in WRONG or claim.verdict in ("block", "abstain")
        for evidence in (claim.supported_by, claim.contradicted_by):
            shown = [item.probability for item in evidence if item.probability != 0.5]
            assert shown == sorted(shown, reverse=True)
            for item in evidence:
                check_evidence(trace, item)
    kinds = {claim.verdict for claim in report.claims}
    assert report.decision == ("block" if "block" in kinds else "abstain" if "abstain" in kinds else "allow")
    assert report.coverage.tokens_unscored == 0 or report.decision == "abstain"
    assert [source.id for source in report.sources] == [source.id for source in trace.sources]
    for citation in report.citations:
        assert 0 <= citation.start < citation.end <= len(trace.answer)
    assert Report.model_validate_json(report.model_dump_json()).same_as(report)


def check_evidence(trace: Trace, item: Any) -> None:
    source = next(source for source in trace.sources if source.id == item.source_id)
    if item.pointer is not None:
        value = source.structured_content
        for token in item.pointer.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]
    else:
        assert 0 <= item.start < item.end <= len(source.blocks[item.block].body)


@given(fields=traces())
@SLOW
def test_every_trace_ends_in_one_sound_report(verifier: Verifier, fields: dict[str, Any]) -> None:
    trace = Trace.model_validate(fields)
    check_report(trace, verifier.verify(trace, budget_ms=60_000))


SENTENCES = st.sampled_from(
    ["The refund window is 30 days", "The plan costs $5", "Aspirin reduces fever",
     "Order A-17 was shipped to Berlin on May 20, 2024",
     "Das Fenster beträgt 30 Tage für die Kunden", "🙂 The fee is 12.5%"]
)  # fmt: skip


@given(parts=st.lists(st.tuples(SENTENCES, st.sampled_from([" [1].", " [2].", ".", " [9]."])), min_size=1, max_size=3),
       bodies=st.lists(SENTENCES | TEXTS, min_size=1, max_size=2))  # fmt: skip
@SLOW
def test_sensible_answers_end_in_sound_reports(verifier: Verifier, parts: list[tuple[str, str]], bodies: list[str]) -> None:
    answer = " ".join(sentence + mark for sentence, mark in parts)
    sources = [{"id": f"req_{number}", "text": body} for number, body in enumerate(bodies)]
    trace = Trace.model_validate({"answer": answer, "sources": sources})
    check_report(trace, verifier.verify(trace))


def mixed_traces(count: int = 16) -> list[dict[str, Any]]:
    """Traces whose texts overlap, with one long source."""
    facts = [
        f"Plan {name} costs ${price} and includes {price * 2} seats."
        for name, price in zip("ABCDEFGH", range(5, 45, 5), strict=True)
    ]
    chance = random.Random(7)
    made = []
    for number in range(count):
        told = chance.sample(facts, 3)
        sources = [{"id": f"s{i}", "text": " ".join(chance.sample(facts, 4)) * (1 + 20 * (number == 3))} for i in range(3)]
        made.append({"id": f"t{number}", "answer": f"{told[0][:-1]} [1]. {told[1]} {told[2][:-1]} [2].", "sources": sources})
    return made


def same(left: list[Report], right: list[Report]) -> bool:
    return len(left) == len(right) and all(a.same_as(b) for a, b in zip(left, right, strict=True))


def test_a_report_is_the_same_alone_among_others_in_any_order_and_from_threads(verifier: Verifier) -> None:
    made = mixed_traces()
    alone = [verifier.verify(trace) for trace in made]
    assert len({report.decision for report in alone}) > 1 or len({str(report.claims) for report in alone}) > 8
    assert same(alone, verifier.verify_many(made))
    assert same(alone, verifier.verify_many(made[::-1])[::-1])
    with ThreadPoolExecutor(6) as pool:
        assert same(alone, list(pool.map(verifier.verify, made)))


def test_a_report_is_the_same_without_cache_and_with_other_threads(verifier: Verifier) -> None:
    made = mixed_traces(6)
    warm = verifier.verify_many(made)
    with Verifier(cache=None, threads=1) as other:
        assert same(warm, other.verify_many(made))


@given(st.permutations(range(12)))
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
def test_scores_do_not_depend_on_the_batch(verifier: Verifier, order: list[int]) -> None:
    pairs = [
        (f"The plan costs ${number} a month. " * (1 + number), f"The plan costs ${number + number % 3}.")
        for number in range(11)
    ]
    pairs.append(("word " * 900 + "The code is ZX-99.", "The code is ZX-99."))
    alone = np.concatenate([verifier.score([pair]) for pair in pairs])
    together = verifier.score([pairs[index] for index in order])
    assert np.abs(alone[order] - together).max() < 1e-5
    assert np.allclose(together.sum(axis=1), 1, atol=1e-5)


def test_the_end_of_a_long_premise_is_seen(verifier: Verifier) -> None:
    hidden = "The sky was grey over the quiet harbour that day. " * 400 + "The refund window of the Premium plan is 30 days."
    short, long = verifier.score([("The refund window of the Premium plan is 30 days.",) * 2,
                                  (hidden, "The refund window of the Premium plan is 30 days.")])  # fmt: skip
    assert short[0] > 0.5
    assert max(long[0], long[2]) > 0.3


def test_a_hypothesis_that_does_not_fit_is_an_error(verifier: Verifier) -> None:
    with pytest.raises(ValueError, match=r"pairs\[1\]"):
        verifier.score([("a", "b"), ("a", "word " * 2000)])


@pytest.mark.parametrize("budget", [1e-6, 0.01, 1.0, 5.0])
def test_a_tiny_budget_never_allows_a_claim(verifier: Verifier, budget: float) -> None:
    text = " ".join(f"Fact {number} of run {budget} says that plan {number} costs ${number}." for number in range(300))
    trace = {"answer": f"Plan 7 costs $7 in run {budget} [1].", "sources": [{"id": "a", "text": text}]}
    try:
        report = verifier.verify(trace, budget_ms=budget)
    except DeadlineExceeded:
        return
    assert report.decision == "abstain"
    assert report.coverage.tokens_unscored > 0


@pytest.mark.parametrize("budget", [0, -1, float("nan")])
def test_a_spent_budget_is_refused_on_arrival(verifier: Verifier, budget: float) -> None:
    with pytest.raises(DeadlineExceeded):
        verifier.verify({"answer": "", "sources": []}, budget_ms=budget)


def test_a_closed_verifier_says_so() -> None:
    shared = Verifier(threads=1)
    future = shared.submit({"answer": "The fee is $5.", "sources": [{"id": "a", "text": "The fee is $5."}]})
    shared.close()
    assert future.result(30).decision == "allow"
    assert not shared.alive
    for call in (lambda: shared.verify({"answer": "", "sources": []}), lambda: shared.score([("a", "b")])):
        with pytest.raises(EngineStopped):
            call()
    shared.close()
