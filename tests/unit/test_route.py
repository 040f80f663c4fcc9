"""Routing: the best few segments of every source, never of the pool."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from entailgrid.evidence.route import Candidate, Lexicon, RoutingLimits, route, stems_of
from entailgrid.evidence.segment import Segment, segments_of
from entailgrid.types import Source

WORDS = [
    "refund",
    "window",
    "thirty",
    "days",
    "premium",
    "plan",
    "basic",
    "flight",
    "berlin",
    "price",
    "seat",
    "cancel",
]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
POOL = st.lists(st.lists(TEXT, max_size=5), min_size=1, max_size=4)
LIMITS = RoutingLimits()


def vectors(count: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def segments(pool: list[list[str]]) -> list[Segment]:
    return [Segment(source, text, block=0, start=0, end=1) for source, texts in enumerate(pool) for text in texts]


def routed(
    claims: list[str], pool: list[list[str]], cited: frozenset[int] = frozenset(), seed: int = 0
) -> list[list[Candidate]]:
    found = segments(pool)
    made = route(
        claims,
        found,
        Lexicon(found),
        vectors(len(claims), seed),
        vectors(len(found), seed + 1),
        LIMITS,
        [cited] * len(claims),
    )
    return [list(one.candidates) for one in made]


@given(st.lists(TEXT, min_size=1, max_size=3), POOL, st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_every_source_offers_a_premise_for_every_claim(claims: list[str], pool: list[list[str]], seed: int) -> None:
    found = segments(pool)
    for candidates in routed(claims, pool, seed=seed):
        assert {candidate.source for candidate in candidates} == {index for index, texts in enumerate(pool) if texts}
        for candidate in candidates:
            assert {found[index].source for index in candidate.segments} == {candidate.source}
            assert list(candidate.segments) == sorted(candidate.segments)
            assert all(found[index].text in candidate.text for index in candidate.segments)
            assert len(candidate.segments) <= LIMITS.join
            assert 0 <= candidate.coverage <= 1.0001


@given(TEXT, POOL, st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_what_is_left_out_is_counted(claim: str, pool: list[list[str]], seed: int) -> None:
    found = segments(pool)
    (one,) = route([claim], found, Lexicon(found), vectors(1, seed), vectors(len(found), seed + 1), LIMITS, [frozenset()])
    seen = {index for candidate in one.candidates for index in candidate.segments}
    assert one.skipped == len(found) - len(seen)


@given(TEXT, TEXT, POOL)
@settings(max_examples=60, deadline=None)
def test_a_claim_is_routed_alike_alone_and_among_others(claim: str, other: str, pool: list[list[str]]) -> None:
    found, embedded = segments(pool), vectors(2, 0)
    known = vectors(len(found), 1)
    alone = route([claim], found, Lexicon(found), embedded[:1], known, LIMITS, [frozenset()])[0]
    together = route([claim, other], found, Lexicon(found), embedded, known, LIMITS, [frozenset(), frozenset()])[0]
    assert [(c.source, c.segments) for c in alone.candidates] == [(c.source, c.segments) for c in together.candidates]


def test_the_segment_with_the_claims_words_is_found_among_many() -> None:
    text = " ".join(f"Plan {number} costs {number} dollars." for number in range(500)) + " The refund window is thirty days."
    found = segments_of(Source(id="s", text=text), 0)
    flat = np.zeros((len(found), 8), np.float32)
    (one,) = route(["The refund window is thirty days."], found, Lexicon(found), flat[:1], flat, LIMITS, [frozenset()])
    assert any("refund window" in candidate.text for candidate in one.candidates)


def test_no_segments_give_no_candidates() -> None:
    assert routed(["a claim"], [[]]) == [[]]
    assert routed([], [["a text"]]) == []


def test_coverage_is_a_share_of_weighted_words() -> None:
    lexicon = Lexicon(segments([["refund window", "refund plan", "refund price"]]))
    assert lexicon.weight("window") > lexicon.weight("refund")
    claim = stems_of("refund window")
    assert lexicon.coverage(claim, claim) == 1
    assert lexicon.coverage(claim, frozenset()) == 0
    assert lexicon.coverage(claim, stems_of("window")) > lexicon.coverage(claim, stems_of("refund"))
    assert lexicon.coverage(frozenset(), claim) == 1


def test_a_far_source_offers_its_best_segment_alone_unless_it_is_cited() -> None:
    near = ["refund window thirty days", "refund premium plan"]
    far = ["flight seat", "berlin price", "cancel flight berlin"]
    found = segments([near, far])
    towards = np.array([[1, 0]], np.float32)
    known = np.array([[1, 0]] * 2 + [[0, 1]] * 3, np.float32)
    counts = []
    for cited in (frozenset[int](), frozenset({1})):
        (one,) = route(["refund window thirty days"], found, Lexicon(found), towards, known, LIMITS, [cited])
        counts.append([sum(candidate.source == source for candidate in one.candidates) for source in (0, 1)])
    assert counts[0][1] == 1
    assert counts[1][1] > 1
    assert counts[0][0] == counts[1][0] > 1
