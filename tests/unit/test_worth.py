"""Which sentences hold a checkable fact: greetings, questions and hedges do not, and a courtesy hides no fact."""

from __future__ import annotations

from pathlib import Path

import pytest

from entailgrid.claims.decompose import claims_of

DATA = Path(__file__).parent.parent / "data"
FACTUAL = (DATA / "factual.txt").read_text("utf-8").splitlines()
NO_CLAIM = (DATA / "no_claim.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("sentence", FACTUAL)
def test_a_sentence_with_a_fact_is_never_skipped(sentence: str) -> None:
    claims = claims_of(sentence)
    assert any(claim.skip is None for claim in claims), claims


@pytest.mark.parametrize("sentence", NO_CLAIM)
def test_a_sentence_without_a_fact_is_skipped(sentence: str) -> None:
    claims = claims_of(sentence)
    assert all(claim.skip for claim in claims), claims


def test_a_greeting_does_not_hide_the_facts_beside_it() -> None:
    answer = "Hello Anna! The refund window is 30 days. Is there anything else?"
    claims = claims_of(answer)
    assert [(answer[c.start : c.end], c.skip is None) for c in claims] == [
        ("Hello Anna!", False),
        ("The refund window is 30 days.", True),
        ("Is there anything else?", False),
    ]
