"""Answers that once passed and must not: each a minimal trace from a hostile review, beside a right twin where one exists."""

from __future__ import annotations

from typing import Any

import pytest

from entailgrid import Verifier

ACCOUNT = {"id": "acc", "tool": "get_account", "name": "account record", "text": "Account A-17. Plan: Premium. Seats: 12."}
POLICY = {"id": "pol", "tool": "get_refund_policy", "name": "refund policy",
          "text": "Premium plans include a refund window of 30 days."}  # fmt: skip
CLAIM = "Premium plans include a refund window of 30 days"
FLIGHTS = {"id": "f", "tool": "search", "text": '[{"flight":"HAT001","departs":"07:00"},{"flight":"HAT002","departs":"09:00"}]'}
CHARTS = [
    {"id": "c1", "tool": "get_chart", "text": '{"patient":"Smith","drug":"lisinopril","dose":"10 mg"}'},
    {"id": "c2", "tool": "get_chart", "text": '{"patient":"Jones","drug":"lisinopril","dose":"20 mg"}'},
]
PARTS = [
    {"id": "x", "tier": "T0", "text": "Dana Fox account A balance is $20."},
    {"id": "y", "tier": "T3", "text": "Dana Fox account B balance is $50."},
]
REVENUE = {"id": "r", "text": "Revenue in 2022 was $5 million. Revenue in 2023 was $7 million."}
WINDOW = {"id": "w", "tool": "search_policy", "arguments": {"window_days": 30}, "text": "The refund window is 14 days."}
MAIL = {"id": "m", "tool": "send_email", "arguments": {"to": "Ms. Lee"}, "text": '{"status": "failed", "to": "Ms. Lee"}'}
CASES: list[tuple[str, str, list[dict[str, Any]], str]] = [
    ("empty result cited", f"{CLAIM} [1].", [{**ACCOUNT, "text": " "}, POLICY], "block"),
    ("another query of the URL", f"{CLAIM} (https://a.example/d?id=1).", [{**POLICY, "url": "https://a.example/d?id=2"}],
     "block"),
    ("the same URL", f"{CLAIM} (https://a.example/d?id=2).", [{**POLICY, "url": "https://a.example/d?id=2"}], "allow"),
    ("T3 carries half", "Dana Fox has a balance of $70 in total across A and B [1][2].", PARTS, "block"),
    ("the value of another record", "Patient Smith takes 20 mg of lisinopril.", CHARTS, "block"),
    ("crosswise rows", "Flight HAT001 departs at 09:00 [1].", [FLIGHTS], "block"),
    ("straight rows", "Flight HAT002 departs at 09:00 [1].", [FLIGHTS], "allow"),
    ("crosswise sentences", "Revenue in 2023 was $5 million [1].", [REVENUE], "block"),
    ("what was asked is no result", "The refund window is 30 days [1].", [WINDOW], "block"),
    ("denied", "The warranty does not last 12 months [1].", [{"id": "a", "text": "The warranty lasts 1 year."}], "block"),
    ("a strict bound", "Premium plans include a refund window of more than 30 days [1].", [POLICY], "block"),
    ("the action failed", "I have sent the email to Ms. Lee.", [MAIL], "block"),
    ("in an apology", "My apologies, the refund window is 90 days [1].", [POLICY], "block"),
    ("in a request", "Please be aware that the refund window is 90 days [1].", [POLICY], "block"),
    ("in a condition", "If you cancel within 90 days, you can get a full refund [1].", [POLICY], "block"),
    ("in a heading", f"## The refund window is 90 days\n\n{CLAIM} [1].", [POLICY], "block"),
    ("above a list", f"Your refund is $900.\n\n- {CLAIM} [1]", [POLICY], "block"),
    ("in a fence", "```\nThe refund window is 90 days.\n```", [POLICY], "block"),
    ("checked where it is not", "I checked your account record and found a 30-day refund window.", [ACCOUNT, POLICY],
     "block"),
    ("an imperative from T2", "According to the refund policy, take 500 mg of aspirin daily.",
     [{**POLICY, "tier": "T2", "text": "Take 500 mg of aspirin daily."}], "block"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_decision(verifier: Verifier, case: tuple[str, str, list[dict[str, Any]], str]) -> None:
    _, answer, sources, decision = case
    assert verifier.verify({"answer": answer, "sources": sources}).decision == decision


def test_an_explicit_citation_covers_all_that_it_spans(verifier: Verifier) -> None:
    answer = f"According to the account record, account A-17 has 12 seats. {CLAIM}."
    given = [{"start": 0, "end": len(answer), "source_ids": ["acc"]}]
    report = verifier.verify({"answer": answer, "sources": [ACCOUNT, POLICY], "citations": given})
    assert [claim.attribution for claim in report.claims] == ["correct", "wrong_source"]


@pytest.mark.parametrize(
    "text", ["The cancellation fee for platinum members is $417.", "The fee for platinum members is $417."]
)
def test_a_sentence_supports_itself(verifier: Verifier, text: str) -> None:
    assert verifier.verify({"answer": f"{text[:-1]} [1].", "sources": [{"id": "a", "text": text}]}).decision == "allow"
