"""Sentences with exact offsets; the language check of rule 16."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from entailgrid.language import Span, content_words, is_english, sentences, stem, trim, words
from strategies import TEXTS


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


SPLITS = [
    ["Philips N.V. sold the division.", "The fee is 3.5 percent."],
    ["See approx. 20 items.", "Fig. 3 shows the trend."],
    ["Dr. Smith gave 0.5 mg.", "He left at once."],
    ["Mrs. Lee and Mr. Jones paid.", "Prof. Kim did not."],
    ["Use fruit, e.g. apples.", "The rest, i.e. pears, is out."],
    ["The U.S. economy grew.", "Acme Inc. filed the report."],
    ["Version v1.2.3 is out.", "It needs Python 3.11."],
    ["Order A.17.b was shipped.", "It weighs 1.25 kg."],
    ["No. 5 is open.", "The answer is final."],
    ["The plan costs $1,200.00.", "It renews on 2026-10-02."],
    ["It ends at 192.168.0.1.", "Nothing else answers."],
    ["See https://example.com/a.b?c=d.e for more.", "It is public."],
    ["Does it work?", "Yes!", "It works."],
    ["It costs 5 EUR [1].", "It ships today [2]."],
    ["It costs 5 EUR. [1]", "It ships today. [2]"],
    ["東京は晴れ。", "大阪は雨。"],
    ["J. K. Rowling wrote the book.", "It sold well."],
    ["She lives in St. Louis.", "He lives in Mt. Vernon."],
    ["Jan. 5 is free.", "Feb. 6 is not."],
    ["Compare Smith vs. Jones.", "The ruling stands."],
    ["The file is at C:\\temp\\a.txt.", "It is empty."],
    ["Ph.D. students pay less.", "Others pay more."],
    ["It holds at least 3 GB of RAM.", "The CPU is old."],
]


@pytest.mark.parametrize("parts", SPLITS, ids=lambda parts: parts[0][:30])
def test_sentences_end_where_they_end(parts: list[str]) -> None:
    assert cut(" ".join(parts)) == parts


def test_line_breaks_end_a_sentence() -> None:
    assert cut("one two\nthree four\r\n\r\nfive\u2028six") == ["one two", "three four", "five", "six"]


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_sentences_are_trimmed_ordered_and_lose_nothing(text: str) -> None:
    spans = sentences(text)
    position, kept = 0, []
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        kept.append(text[position:start])
        position = end
    assert not "".join([*kept, text[position:]]).strip()


@given(TEXTS, TEXTS)
@settings(max_examples=100, deadline=None)
def test_lines_are_cut_independently(left: str, right: str) -> None:
    shift = len(left) + 1
    assert sentences(f"{left}\n{right}") == [
        *sentences(left),
        *(Span(a + shift, b + shift) for a, b in sentences(right)),
    ]


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_trim_is_strip(text: str) -> None:
    start, end = trim(text, Span(0, len(text)))
    assert text[start:end] == text.strip()


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_words_and_stems_never_raise_and_are_lower_case(text: str) -> None:
    assert all(word == word.lower() for word in words(text))
    assert all(isinstance(word, str) for word in content_words(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("refund_window_days", ["refund", "window", "days"]),
        ("refundWindow", ["refund", "window"]),
        ("2026-10-02T14:05", ["2026", "10", "02", "14", "05"]),
        ("The customer’s plan", ["the", "customer's", "plan"]),
        ("Überraschung für Ëmma", ["überraschung", "für", "ëmma"]),
    ],
)
def test_words_come_apart(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_stems_join_the_forms_of_a_word() -> None:
    assert stem("cancelled") == stem("cancel") == stem("cancels")
    assert stem("a17") == "a17"


ENGLISH = [
    "The refund window is 30 days.",
    "Order A-17 was shipped to Berlin.",
    "Plan: Premium.",
    "HAT069",
    "12.5%",
    "",
    "Café Müller in São Paulo is open.",
    "Angela Merkel was born in Hamburg.",
    "La La Land won six awards.",
    "Los Angeles and San Francisco are in California.",
    "The Den Haag office is closed.",
]
FOREIGN = [
    "Le délai de remboursement est de 30 jours pour les clients.",
    "La política de reembolso es de 30 días para los clientes.",
    "Die Rückgabefrist ist für den Kunden auf 30 Tage begrenzt.",
    "Il periodo di rimborso è di 30 giorni per il cliente.",
    "A janela de reembolso é de 30 dias para os clientes.",
    "返金期間は30日です。",
    "Срок возврата составляет 30 дней.",
    "فترة استرداد الأموال 30 يومًا.",
    "환불 기간은 30일입니다.",
    "Η περίοδος επιστροφής είναι 30 ημέρες.",
    "De terugbetalingstermijn is voor de klant 30 dagen.",
]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_names_and_codes_count_as_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize("text", FOREIGN)
def test_other_languages_are_told_apart(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize("mark", ["**", "*", '"', "”", "’", "`", ")", "]", ".**"])
def test_a_closing_mark_stays_with_its_sentence(mark: str) -> None:
    first, second = f"The window is 30 days.{mark}", "It starts today."
    assert cut(f"{first} {second}") == [first, second]
