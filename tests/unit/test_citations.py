"""Every form of citation, what it resolves to, and what it reaches (rules 1, 2, 3 and 13)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from entailgrid.claims.citations import citations_of
from entailgrid.claims.decompose import claims_of
from entailgrid.claims.reach import covering, marks_of
from entailgrid.language import Span
from entailgrid.types import Trace
from strategies import traces

DATA = Path(__file__).parent.parent / "data"
SOURCES: list[dict[str, Any]] = [
    {"id": "req_8842", "server": "crm-mcp.internal", "tool": "get_account", "name": "account record",
     "arguments": {"account_id": "A-17"}, "text": "Account A-17. Plan: Premium. See https://intra.example/x for more."},
    {"id": "req_8843", "server": "docs-mcp.internal", "tool": "get_refund_policy", "name": "refund policy",
     "url": "https://docs.example.com/refunds", "text": "Premium plans include a refund window of 30 days."},
    {"id": "S3fa21c", "tool": "search_studies", "name": "Smith 2020 study", "url": "https://example.org/p/smith-2020.pdf",
     "text": "Smith, J. and Lee, K. (2020). Aspirin reduces fever. [S9be01d] More."},
]  # fmt: skip
CASES = [line.split("\t") for line in (DATA / "citations.tsv").read_text("utf-8").splitlines()]
NONE = (DATA / "no_citation.txt").read_text("utf-8").splitlines()


def trace(answer: str, sources: list[dict[str, Any]] = SOURCES, **fields: Any) -> Trace:
    return Trace.model_validate({"answer": answer, "sources": sources, **fields})


def reach(answer: str, sources: list[dict[str, Any]] = SOURCES, **fields: Any) -> list[tuple[str, list[str]]]:
    """(where each factual claim stands, the ids that reach it)."""
    made = trace(answer, sources, **fields)
    found = citations_of(made)
    result = []
    for claim in claims_of(answer, marks_of(found)):
        if claim.skip is None:
            reached = covering(found, Span(claim.start, claim.end), claim.sentence, claim.lead_in, answer)
            ids = sorted({name for citation in reached for name in citation.source_ids})
            result.append((answer[claim.start : claim.end], ids))
    return result


@pytest.mark.parametrize(("line", "form", "ids", "status"), CASES, ids=[case[0][-40:] for case in CASES])
def test_every_form_is_read(line: str, form: str, ids: str, status: str) -> None:
    (citation,) = citations_of(trace(line.replace("\\n", "\n")))
    assert (citation.form, citation.source_ids, citation.status) == (form, tuple(ids.split()), status)


@pytest.mark.parametrize("line", NONE)
def test_what_is_no_citation(line: str) -> None:
    assert citations_of(trace(line)) == []


def test_offsets_are_code_points() -> None:
    answer = "👩‍👩‍👧‍👦 It is 30 days [2]. 🙂 According to the account record, it is Premium."
    found = citations_of(trace(answer))
    assert [answer[c.start : c.end] for c in found] == ["[2]", "According to the account record"]


# --- rule 1: positions ----------------------------------------------------------------------------------------------


def test_a_source_whose_id_is_the_number_comes_first() -> None:
    sources = [{"id": "7", "text": "a"}, {"id": "1", "text": "b"}]
    (citation,) = citations_of(trace("The fee is $5 [1].", sources))
    assert citation.source_ids == ("1",)
    (citation,) = citations_of(trace("The fee is $5 [2].", sources))
    assert citation.source_ids == ("1",)


# --- rule 2: reach --------------------------------------------------------------------------------------------------

A, R = "req_8842", "req_8843"
REACH = [
    ("The plan is Premium [1]. The window is 30 days [2].", [[A], [R]]),
    ("The plan is Premium. [1] The window is 30 days. [2]", [[A], [R]]),
    ("The plan is Premium. The window is 30 days [2].", [[], [R]]),
    ("The plan is Premium [1]. The window is 30 days.", [[A], []]),
    ("The plan is Premium [1] and the window is 30 days [2].", [[A], [R]]),
    ("The plan is Premium [1], and the window is 30 days.", [[A], []]),
    ("The plan is Premium [1][2].", [[A, R]]),
    ("The plan is Premium [1] [2].", [[A, R]]),
    ("According to the account record, the plan is Premium. The window is 30 days.", [[A], []]),
    ("The plan is Premium, according to the account record. The window is 30 days.", [[A], []]),
    ("The plan is Premium. According to the refund policy, the window is 30 days.", [[], [R]]),
    ("According to the account record, the plan is Premium and the window is 30 days.", [[A], [A]]),
    ("The account record shows the plan is Premium and the refund policy says the window is 30 days.", [[A], [R]]),
    ("According to the account record:\n- The plan is Premium.\n- The price is $5.\n", [[A], [A]]),
    ("According to the account record:\n- The plan is Premium.\n\nThe window is 30 days.", [[A], []]),
    ("According to the account record:\n\n| Plan | Price |\n|---|---|\n| Basic | $5 |\n| Pro | $9 |\n", [[A], [A]]),
    ("- The plan is Premium [1]\n- The window is 30 days [2]\n", [[A], [R]]),
    ("- The plan is Premium [1]\n- The window is 30 days\n", [[A], []]),
    ("| Plan | Price |\n|---|---|\n| Basic | $5 [1] |\n| Pro | $9 |\n", [[A], []]),
    ("The plan is Premium [1].\nThe window is 30 days.", [[A], []]),
    ("[1] The plan is Premium.\n[2] The window is 30 days.", [[A], [R]]),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "expected"), REACH)
def test_reach(answer: str, expected: list[list[str]]) -> None:
    assert [ids for _, ids in reach(answer)] == expected


def test_explicit_citations_reach_what_they_overlap() -> None:
    answer = "The plan is Premium. The window is 30 days. The fee is $5."
    given_citations = [
        {"start": 0, "end": 20, "source_ids": [A]},
        {"start": 25, "end": 30, "source_ids": [R, "nowhere"]},
    ]
    assert [ids for _, ids in reach(answer, citations=given_citations)] == [[A], sorted([R, "nowhere"]), []]
    statuses = [(c.form, c.status) for c in citations_of(trace(answer, citations=given_citations))]
    assert statuses == [("explicit", "resolved"), ("explicit", "phantom")]


def test_explicit_citations_are_counted_in_code_points() -> None:
    answer = "🙂🙂🙂 It is Premium. It is 30 days."
    assert answer[4:18] == "It is Premium."
    assert reach(answer, citations=[{"start": 4, "end": 18, "source_ids": [A]}])[1][1] == []


# --- rule 3: names that fit several sources -------------------------------------------------------------------------

TWINS = [
    {"id": "call_1", "tool": "get_weather", "arguments": {"city": "Paris"}, "text": "18 degrees"},
    {"id": "call_2", "tool": "get_weather", "arguments": {"city": "Rome"}, "text": "25 degrees"},
]


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ("According to get_weather, it is 18 degrees.", ["call_1", "call_2"]),
        ("According to get_weather, it is 18 degrees in Paris.", ["call_1"]),
        ("According to get_weather, it is 25 degrees in Rome.", ["call_2"]),
        ("According to get_weather, it is 18 degrees in Paris and 25 in Rome.", ["call_1", "call_2"]),
        ("It is 18 degrees [tool:get_weather].", ["call_1", "call_2"]),
        ("It is 18 degrees in Paris [tool:get_weather].", ["call_1"]),
    ],
)
def test_a_name_of_several_sources_is_narrowed_by_the_sentence(answer: str, ids: list[str]) -> None:
    assert reach(answer, TWINS)[0][1] == ids


# --- claims keep their wording --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("The window is 30 days [2].", "The window is 30 days."),
        ("The window is [2] 30 days.", "The window is 30 days."),
        ("According to the refund policy, the window is 30 days.", "The window is 30 days."),
        ("The window is 30 days, according to the refund policy.", "The window is 30 days."),
        ("According to `get_account`, the plan is Premium.", "The plan is Premium."),
        ("According to the crm-mcp server, the plan is Premium.", "The plan is Premium."),
        ("According to docs.example.com, the window is 30 days.", "The window is 30 days."),
        ("The refund policy states that the window is 30 days.", "The window is 30 days."),
        ("The window is 30 days ([2]).", "The window is 30 days."),
        ("The window is 30 days (source: refund policy).", "The window is 30 days."),
        ("The window is 30 days [the policy](https://docs.example.com/refunds).", "The window is 30 days."),
    ],
)
def test_a_claim_is_scored_without_its_citation(answer: str, text: str) -> None:
    found = citations_of(trace(answer))
    (claim,) = claims_of(answer, marks_of(found))
    assert claim.text == text


@given(traces())
@settings(max_examples=300, deadline=None)
def test_citations_are_spans_of_the_answer_and_name_known_sources(fields: dict[str, Any]) -> None:
    made = Trace.model_validate(fields)
    known = {source.id for source in made.sources}
    position = 0
    for citation in citations_of(made):
        assert position <= citation.start < citation.end <= len(made.answer)
        position = citation.start
        if citation.status == "resolved":
            assert citation.source_ids
            assert known.issuperset(citation.source_ids)
        assert citation.form != "unknown" or citation.status == "unparsed"
