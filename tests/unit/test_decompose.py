"""Answers as claims: nothing factual is lost, offsets are exact, nothing is cut in the wrong place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from entailgrid.claims.citations import citations_of
from entailgrid.claims.decompose import MAX_CHARS, Claim, claims_of
from entailgrid.claims.reach import marks_of
from entailgrid.types import Trace
from strategies import TEXTS


def factual(answer: str) -> list[Claim]:
    return [claim for claim in claims_of(answer) if claim.skip is None]


def spans(answer: str) -> list[str]:
    return [answer[claim.start : claim.end] for claim in factual(answer)]


WHOLE = [
    "Philips N.V. sold the lighting division to a Dutch fund.",
    "Dr. Smith gave the patient 0.5 mg of the drug.",
    "The fee is 3.5 percent of the total.",
    "Order A-17.b was shipped to St. Louis on Jan. 5.",
    "Version v1.2.3 requires Python 3.11.",
    "The plan costs $1,200.00 (approx. 1,100 euros).",
    "The file is stored at https://example.com/a.b/c?d=e.",
    "The host 10.0.0.1 answers on port 8,080.",
    "Yahoo! was founded in 1994.",
    "The U.S. team won the final.",
    "Acme Inc. and Foo Ltd. merged in 2020.",
    "The address is 12 Main St. in Springfield.",
    "Use the dose of e.g. 5 mg or 10 mg.",
    "Salt and pepper are sold separately.",
    "The hotel offers breakfast, lunch and dinner.",
    'The CEO said "we grew and we will hire" in May.',
    "The train leaves at 7 p.m. from platform 3.",
    "The score was 3:2 after extra time.",
    "The ratio is 1;2 in the old notation.",
    "J. K. Rowling wrote seven books.",
]


@pytest.mark.parametrize("answer", WHOLE)
def test_one_statement_is_one_claim(answer: str) -> None:
    assert spans(answer) == [answer]
    assert factual(answer)[0].text == answer


CLAUSES = [
    ("The fee is $5 and the window is 30 days.", ["The fee is $5", "the window is 30 days."]),
    ("The plan includes 12 seats, but it has no support.", ["The plan includes 12 seats", "it has no support."]),
    ("Anna lives in Berlin while Ben lives in Rome; both are members.", ["Anna lives in Berlin", "Ben lives in Rome",
                                                                     "both are members."]),
    ("The store opens at 9 [1] and closes at 17 [2].", ["The store opens at 9", "closes at 17"]),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "parts"), CLAUSES)
def test_coordinated_clauses_are_claims_of_their_own(answer: str, parts: list[str]) -> None:
    trace = Trace.model_validate({"answer": answer, "sources": [{"id": "a", "text": ""}, {"id": "b", "text": ""}]})
    found = claims_of(answer, marks_of(citations_of(trace)))
    pieces = [answer[claim.start : claim.end].strip(" ,;") for claim in found]
    assert len(pieces) == len(parts), pieces
    assert all(part in piece or piece in part for piece, part in zip(pieces, parts, strict=True)), pieces


LAYOUTS = [
    ("list", "The plan includes:\n- 12 seats\n- phone support\n* 5 GB of storage", ["12 seats", "phone support",
     "5 GB of storage"]),
    ("numbered", "1. The fee is $5.\n2) The window is 30 days.\n", ["The fee is $5.", "The window is 30 days."]),
    ("nested", "- Flight HAT069\n  - Departs at 07:00\n  - Costs $120\n", ["Departs at 07:00", "Costs $120"]),
    ("table", "| Plan | Price |\n|---|---|\n| Basic | $5 |\n| Pro | $9 |\n", ["| Basic | $5 |", "| Pro | $9 |"]),
    ("heading", "## Refund policy\nThe window is 30 days.\n", ["The window is 30 days."]),
    ("code", "Run this:\n```python\nx = 30  # The window is 30 days.\n```\nIt takes 5 seconds.",
     ["It takes 5 seconds."]),
    ("quote", "> The window is 30 days.\n", ["The window is 30 days."]),
    ("bold", "**The window is 30 days.** It starts *today*.", ["**The window is 30 days.**", "It starts *today*."]),
    ("emoji", "🙂🙂 The window is 30 days. 👩‍👩‍👧‍👦 It starts in May.", ["🙂🙂 The window is 30 days.",
     "👩‍👩‍👧‍👦 It starts in May."]),
    ("CJK", "返金期間は30日です。料金は500円です。", ["返金期間は30日です。", "料金は500円です。"]),
    ("lines", "The fee is $5.\r\nThe window is 30 days.\u2028It starts in May.", ["The fee is $5.",
     "The window is 30 days.",
                                                                          "It starts in May."]),
    ("references", "The window is 30 days [1].\n\nSources:\n[1] Refund policy, updated 2024\n",
     ["The window is 30 days [1]."]),
    ("repeat", "The fee is $5. The fee is $5.", ["The fee is $5.", "The fee is $5."]),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "parts"), [case[1:] for case in LAYOUTS], ids=[case[0] for case in LAYOUTS])
def test_layout(answer: str, parts: list[str]) -> None:
    assert spans(answer) == parts


def test_repeated_sentences_have_their_own_offsets() -> None:
    first, second = factual("The fee is $5. The fee is $5.")
    assert (first.start, second.start) == (0, 15)


def test_a_row_is_read_with_its_columns_and_an_item_with_its_lead_in() -> None:
    (row,) = factual("| Plan | Price |\n|---|---|\n| Basic | $5 |\n")
    assert row.text == "Plan: Basic, Price: $5"
    answer = "The Premium plan costs:\n- Monthly: $5\n- Yearly: $50\n"
    items = factual(answer)
    assert len(items) == 2
    for item in items:
        assert item.lead_in is not None
        assert answer[slice(*item.lead_in)] == "The Premium plan costs:"
    nested = factual("- Flight HAT069\n  - Departs at 07:00\n")[-1]
    assert "HAT069" in nested.text


def test_a_list_below_a_question_is_a_form_not_facts() -> None:
    assert factual("Could you please provide:\n- your user id\n- the flight number\n") == []


def test_headings_and_code_make_no_claim() -> None:
    assert factual("# Refund windows\n") == []
    assert [claim.text for claim in factual("# The window is 30 days\n")] == ["The window is 30 days"]  # a figure is no title
    assert factual("```python\nThe window is 30 days.\n```\n```\npip install x\n```") == []
    assert len(factual("```\nunclosed\n```\nThe window is 30 days.")) == 1


def test_a_very_long_sentence_is_cut_not_shortened() -> None:
    answer = "The list holds " + ", ".join(f"item {number}" for number in range(400)) + "."
    found = factual(answer)
    assert all(len(claim.text) <= MAX_CHARS for claim in found)
    shown = " ".join(claim.text for claim in found).lower()
    assert all(f"item {number}" in shown for number in range(400))


@pytest.mark.parametrize("width", [700, 5000])
def test_a_long_table_row_keeps_every_cell(width: int) -> None:
    row = f"| Basic | {'long words here ' * (width // 16)} | THE-END |"
    found = factual(f"| Plan | Note | Code |\n|---|---|---|\n{row}\n")
    assert all(len(claim.text) <= MAX_CHARS + 102 for claim in found)
    assert any("THE-END" in claim.text for claim in found)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_claims_are_ordered_inside_their_sentence_and_bounded(answer: str) -> None:
    trace = Trace.model_validate({"answer": answer, "sources": [{"id": "req_1", "text": "a", "name": "refund policy"}]})
    position = 0
    for claim in claims_of(answer, marks_of(citations_of(trace))):
        assert 0 <= claim.sentence.start <= claim.start < claim.end <= claim.sentence.end <= len(answer)
        assert claim.start >= position or claim.sentence.end > position
        assert answer[claim.start : claim.end].strip() == answer[claim.start : claim.end]
        assert len(claim.text) <= MAX_CHARS + 102
        if claim.skip is None:
            assert any(char.isalnum() for char in claim.text)
        position = claim.start


@given(TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_plain_factual_line_survives_any_neighbour(answer: str) -> None:
    if "```" in answer or "~~~" in answer or "Sources:" in answer:
        return
    fact = "The refund window is 30 days."
    whole = f"{answer}\n\n{fact}"
    assert spans(whole)[-1:] == [fact]


@pytest.mark.parametrize(
    "answer", ["", " \n\t", "___", "***", "---", "_", "…", "🙂", "| | |\n|---|---|\n| | |", "![](a.png)", "\u200d"]
)
def test_what_holds_no_word_is_no_claim(answer: str) -> None:
    assert factual(answer) == []
