"""The contract's rules 1-17, each on a tiny trace through the shipped models."""

from __future__ import annotations

from typing import Any

import pytest

from entailgrid import DeadlineExceeded, Policy, Report, Verifier
from entailgrid.types import ClaimReport

ACCOUNT = {"id": "req_8842", "server": "crm-mcp.internal", "tool": "get_account", "name": "account record",
           "text": "Account A-17. Plan: Premium. Seats: 12."}  # fmt: skip
POLICY = {"id": "req_8843", "server": "docs-mcp.internal", "tool": "get_refund_policy", "name": "refund policy",
          "text": "Premium plans include a refund window of 30 days."}  # fmt: skip
FAQ = {
    "id": "req_8844",
    "tool": "get_faq",
    "name": "help page",
    "text": "Premium plans include a refund window of 14 days.",
}
CLAIM = "Premium plans include a refund window of 30 days"
TIMES = {"fetched_at": "2026-10-02T14:00:00Z", "ttl_seconds": 60}


def verify(verifier: Verifier, answer: str, *sources: dict[str, Any], **fields: Any) -> Report:
    return verifier.verify({"answer": answer, "sources": list(sources), **fields})


def only(report: Report) -> ClaimReport:
    (claim,) = [claim for claim in report.claims if claim.verdict != "skip"]
    return claim


EXAMPLE = "According to the account record, this plan includes a 30-day refund window."


def test_the_contracts_example(verifier: Verifier) -> None:
    for explicit in ([{"start": 0, "end": 75, "source_ids": ["req_8842"]}], []):
        report = verify(verifier, EXAMPLE, ACCOUNT, POLICY, id="trace-001", citations=explicit,
                        question="Can I still get my money back?", answered_at="2026-10-02T14:05:00Z")  # fmt: skip
        claim = only(report)
        assert (report.trace_id, report.decision, report.reasons[0]) == ("trace-001", "block", "clm_1: wrong_source")
        assert (claim.support, claim.attribution, claim.quadrant) == (
            "supported",
            "wrong_source",
            "fact_right_source_wrong",
        )
        assert (claim.text, claim.start, claim.end) == ("This plan includes a 30-day refund window.", 0, 75)
        assert claim.cited == ("req_8842",)
        assert [evidence.source_id for evidence in claim.supported_by] == ["req_8843"]
        assert POLICY["text"][claim.supported_by[0].start : claim.supported_by[0].end] == POLICY["text"]
        assert [(literal.text, literal.kind, literal.status) for literal in claim.literals] == [("30-day", "duration", "match")]
        assert (claim.probability or 0) < 0.5
        (citation,) = report.citations
        assert (citation.start, citation.end, citation.form, citation.status) == (0, 31, "prose", "resolved")


def test_its_right_twin_is_allowed(verifier: Verifier) -> None:
    report = verify(verifier, EXAMPLE.replace("account record", "refund policy"), ACCOUNT, POLICY)
    claim = only(report)
    assert (report.decision, claim.attribution, claim.quadrant) == ("allow", "correct", "fact_right_source_right")


S, C, N = "supported", "contradicted", "not_enough_evidence"
Rule = tuple[str, str, list[dict[str, Any]], dict[str, Any], str, str | None, str]
RULES: list[Rule] = [
    ("1: by position", f"{CLAIM} [2].", [ACCOUNT, POLICY], {}, S, "correct", "allow"),
    ("1: wrong position", f"{CLAIM} [1].", [ACCOUNT, POLICY], {}, S, "wrong_source", "block"),
    ("1: an id first", f"{CLAIM} [1].", [ACCOUNT, {**POLICY, "id": "1"}], {}, S, "correct", "allow"),
    ("1: own list", f"{CLAIM} [1].\n\nSources:\n[1] refund policy", [ACCOUNT, POLICY], {}, S, "correct", "allow"),
    ("3: one of several", f"{CLAIM} [1][2].", [ACCOUNT, POLICY], {}, S, "correct", "allow"),
    ("3: a name of several", f"According to the refund policy, {CLAIM}.", [{**POLICY, "id": "a"}, {**ACCOUNT,
     "name": "refund policy"}],
     {}, S, "correct", "allow"),
    ("4: a stale source still supports", f"{CLAIM} [1].", [{**POLICY, **TIMES}],
     {"answered_at": "2026-10-02T15:00:00Z"}, S,
     "stale_source", "block"),
    ("5: conflict", f"{CLAIM} [1].", [POLICY, FAQ], {}, S, "correct", "allow"),
    ("5: a higher tier says otherwise", f"{CLAIM} [1].", [{**POLICY, "tier": "T1"}, {**FAQ, "tier": "T0"}], {}, S,
     "correct", "block"),
    ("5: the cited contradicts", f"{CLAIM} [1].", [FAQ, POLICY], {}, S, "wrong_source", "block"),
    ("5: another entity", "Basic plans include a refund window of 30 days [1].", [POLICY], {}, N, None, "block"),
    ("6: contradicted by the cited", f"{CLAIM} [1].", [FAQ], {}, C, "correct", "block"),
    ("6: unsupported", "The plan was discontinued in Norway [1].", [ACCOUNT, POLICY], {}, N, None, "block"),
    ("6: empty", f"{CLAIM} [1].", [{**ACCOUNT, "text": ""}, ACCOUNT | {"id": "b"}], {}, N, None, "block"),
    ("7: phantom", f"{CLAIM} [req_9999].", [POLICY], {}, S, "phantom_source", "block"),
    ("7: error", f"{CLAIM} [1].", [{**ACCOUNT, "text": "timeout", "is_error": True}, POLICY], {}, S, "error_source",
     "block"),
    ("7: schema", f"{CLAIM} [1].", [{**POLICY, "output_schema": {"type": "object"}}, POLICY | {"id": "b"}], {}, S,
     "error_source",
     "block"),
    ("7: fresh one agrees", f"{CLAIM} [1].", [{**POLICY, **TIMES}, POLICY | {"id": "b"}],
     {"answered_at": "2026-10-02T15:00:00Z"}, S,
     "stale_source", "block"),
    ("9: T3", f"According to the refund policy, {CLAIM}.", [{**POLICY, "tier": "T3"}], {}, S, "below_tier", "block"),
    ("9: T2 in prose", f"According to the refund policy, {CLAIM}.", [{**POLICY, "tier": "T2"}], {}, S, "correct",
     "allow"),
    ("9: T2 in a bracket", f"{CLAIM} [1].", [{**POLICY, "tier": "T2"}], {}, S, "below_tier", "block"),
    ("9: uncited T3", f"{CLAIM}.", [{**POLICY, "tier": "T3"}], {}, S, "below_tier", "block"),
    ("10: exactly at the TTL", f"{CLAIM} [1].", [{**POLICY, **TIMES}], {"answered_at": "2026-10-02T14:01:00Z"}, S,
     "correct", "allow"),
    ("10: no answered_at", f"{CLAIM} [1].", [{**POLICY, **TIMES}], {}, S, "correct", "allow"),
    ("11: no source", f"{CLAIM}.", [], {}, N, None, "abstain"),
    ("11: no usable source", f"{CLAIM}.", [{**POLICY, "is_error": True}], {}, N, None, "abstain"),
    ("11: no evidence", "The plan was discontinued in Norway.", [POLICY], {}, N, None, "block"),
    ("11: uncited", f"{CLAIM}.", [POLICY], {}, S, "uncited", "allow"),
    ("12: error body", f"{CLAIM} [1].", [{**ACCOUNT, "text": '{"ok": false, "error": "timeout"}'}, POLICY], {}, S,
     "error_source",
     "block"),
    ("13: tool-shaped", f"According to get_weather, {CLAIM}.", [POLICY], {}, S, "phantom_source", "block"),
    ("13: other prose", f"According to the WHO, {CLAIM}.", [POLICY], {}, S, "uncited", "allow"),
    ("13: a URL of a source's text", "The form is at https://a.example/form.",
     [{"id": "a", "text": "The form is at https://a.example/form."}], {}, S, "uncited", "allow"),
    ("14: done", "I have sent the email to Ms. Lee.", [{"id": "a", "tool": "send_email", "arguments": {"to": "Ms. Lee"},
     "text": '{"status": "sent", "to": "Ms. Lee"}'}], {}, S, "uncited", "allow"),
    ("14: failed", "I have sent the email to Ms. Lee.", [{"id": "a", "tool": "send_email", "text": "SMTP down",
     "is_error": True}, POLICY],
     {}, N, "error_source", "block"),
    ("15: sum", "The two items cost $45 in total [1].", [{"id": "a",
     "text": "Item A costs $20. Item B costs $25."}], {}, S, "correct",
     "allow"),
    ("15: count", "There are 3 flights [1].", [{"id": "a", "tool": "search_flights",
     "text": '{"flights": ["A1", "B2", "C3"]}'}], {}, S,
     "correct", "allow"),
    ("15: wrong sum", "The two items cost $50 in total [1].", [{"id": "a",
     "text": "Item A costs $20. Item B costs $25."}], {}, "not " + S,
     "*", "block"),
    ("15: 12 months", "The warranty lasts 12 months [1].", [{"id": "a", "text": "The warranty lasts 1 year."}], {},
     S, "correct", "allow"),
    ("15: 1 month", "The window is 1 month [1].", [{"id": "a", "text": "The window is 30 days."}], {}, "not " + S,
     "*", "block"),
    ("15: 1.2M", "Revenue was 1,200,000 dollars [1].", [{"id": "a", "text": "Revenue was $1.2M."}], {}, S,
     "correct", "allow"),
    ("15: 1.2bn", "Revenue was $1.2bn [1].", [{"id": "a", "text": "Revenue was $1.2M."}], {}, "not " + S, "*", "block"),
    ("16: language", "Das Konto ist für den Kunden nicht mit einer Frist versehen.", [POLICY], {}, N, None, "abstain"),
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=[rule[0] for rule in RULES])
def test_rule(verifier: Verifier, rule: Rule) -> None:
    _, answer, sources, fields, support, attribution, decision = rule
    report = verify(verifier, answer, *sources, **fields)
    claim = only(report)
    assert (claim.support == support) if not support.startswith("not ") else (claim.support != S), claim
    assert attribution in (claim.attribution, "*"), claim
    assert report.decision == decision, claim
    assert report.decision == "allow" or report.reasons


def test_rule_2_a_marker_does_not_reach_the_next_sentence(verifier: Verifier) -> None:
    report = verify(verifier, f"The account has 12 seats [1]. {CLAIM} [2].", ACCOUNT, POLICY)
    assert [(claim.cited, claim.attribution) for claim in report.claims] == [
        (("req_8842",), "correct"),
        (("req_8843",), "correct"),
    ]
    report = verify(verifier, f"{CLAIM} [2]. The account has 12 seats.", ACCOUNT, POLICY)
    assert [claim.attribution for claim in report.claims] == ["correct", "uncited"]


def test_rule_5_both_sides_of_a_conflict_are_shown(verifier: Verifier) -> None:
    report = verify(verifier, f"{CLAIM} [1].", POLICY, FAQ)
    claim = only(report)
    assert [evidence.source_id for evidence in claim.supported_by] == ["req_8843"]
    assert [evidence.source_id for evidence in claim.contradicted_by] == ["req_8844"]
    assert any("conflict" in reason for reason in report.reasons)


def test_rule_7_further_failures_are_reasons(verifier: Verifier) -> None:
    source = {**POLICY, **TIMES, "tier": "T3"}
    report = verify(verifier, f"{CLAIM} [1].", source, answered_at="2026-10-02T15:00:00Z")
    assert only(report).attribution == "below_tier"
    assert list(report.reasons) == ["clm_1: below_tier", "clm_1: stale_source"]


@pytest.mark.parametrize(("uncited", "decision"), [("pass", "allow"), ("flag", "allow"), ("block", "block")])
def test_rule_11_uncited(uncited: Any, decision: str) -> None:
    with Verifier(threads=1, policy=Policy(uncited=uncited)) as strict:
        assert verify(strict, f"{CLAIM}.", POLICY).decision == decision


def test_rule_11_an_answer_without_claims_is_allowed(verifier: Verifier) -> None:
    for answer in ("", "Hello!", "Is there anything else?", "---"):
        for sources in ([], [POLICY]):
            report = verify(verifier, answer, *sources)
            assert (report.decision, report.reasons) == ("allow", ())
    assert verify(verifier, f"Hello! {CLAIM} [1]. Anything else?", POLICY).decision == "allow"


def test_rule_11_one_failing_claim_blocks(verifier: Verifier) -> None:
    report = verify(verifier, f"{CLAIM} [1]. The plan was discontinued in Norway [1].", POLICY)
    assert [claim.verdict for claim in report.claims] == ["pass", "block"]
    assert report.decision == "block"


def test_rule_16_literals_decide_in_a_language_without_a_model(verifier: Verifier) -> None:
    report = verify(verifier, "Das Fenster für die Erstattung ist auf 99 Tage begrenzt und nicht mehr [1].", POLICY)
    assert report.decision in ("abstain", "block")
    claim = only(verify(verifier, "Das Konto ist nicht für die Kunden.", POLICY))
    assert (claim.verdict, claim.reason) == ("abstain", "language")


def test_rule_17(verifier: Verifier) -> None:
    trace = {"answer": f"{CLAIM} [1].", "sources": [POLICY]}
    with pytest.raises(DeadlineExceeded):
        verifier.verify(trace, budget_ms=0)
    fresh = {"answer": f"{CLAIM} number 77 [1].", "sources": [{**POLICY, "text": "Seats cost $3 each. " * 900}]}
    report = verifier.verify(fresh, budget_ms=0.001)
    assert report.decision == "abstain"


def test_evidence_at_the_end_of_a_long_source_is_found(verifier: Verifier) -> None:
    filler = " ".join(f"Section {n} says that item {n} is stored in room {n % 97} on floor {n % 7}." for n in range(1500))
    source = {"id": "handbook", "text": f"{filler} The annual maintenance of pump P-77 falls in October."}
    assert len(str(source["text"]).split()) > 20_000
    right = verifier.verify({"answer": "The annual maintenance of pump P-77 falls in October [1].", "sources": [source]})
    wrong = verifier.verify({"answer": "The annual maintenance of pump P-77 falls in March [1].", "sources": [source]})
    assert (right.decision, wrong.decision) == ("allow", "block")
    evidence = right.claims[0].supported_by[0]
    assert str(source["text"])[evidence.start : evidence.end] == "The annual maintenance of pump P-77 falls in October."
    assert right.coverage.tokens_unscored == 0
