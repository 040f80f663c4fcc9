"""The readable report: exact answers, marks that need no colour, harmless text, narrow terminals."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from entailgrid.doors.console import console_on, one_line, visible
from entailgrid.doors.marking import ASCII, UNICODE, marked_answer, signs_for
from entailgrid.doors.report import print_report
from entailgrid.types import ClaimReport, Report, Trace

TRACE = Trace.model_validate(
    {
        "id": "t",
        "question": "Refund?",
        "answer": "Hello! The plan has a 30-day window [9]. It costs $12.",
        "sources": [
            {"id": "acc", "tool": "get_account", "server": "crm", "name": "account record", "text": "Seats: 12."},
            {"id": "pol", "name": "refund policy", "text": "The plan has a window of 14 days."},
            {"id": "err", "tool": "get_price", "text": "boom", "is_error": True},
        ],
    }
)


def claim(number: int, start: int, end: int, verdict: str, **fields: Any) -> ClaimReport:
    values = {"support": None, "attribution": None, "quadrant": None, "probability": None, "text": "c", **fields}
    return ClaimReport.model_validate({"id": f"clm_{number}", "start": start, "end": end, "verdict": verdict, **values})


def report(claims: list[ClaimReport], **fields: Any) -> Report:
    values = {
        "trace_id": "t",
        "decision": "block",
        "reasons": (),
        "citations": (),
        "sources": (),
        "coverage": {"pairs_scored": 3, "pairs_from_cache": 0, "pairs_skipped": 0, "tokens_unscored": 0},
        "timing_ms": {"total": 41.2, "queue": 0.4, "inference": 33.0},
        "model": {"router": "r", "nli": "n", "calibration": "c", "profile": "balanced"},
        **fields,
    }
    return Report.model_validate({**values, "claims": claims})


BLOCKED = claim(
    2, 7, 35, "block", text="The plan has a 30-day window.", support="contradicted", attribution="phantom_source",
    quadrant="fact_wrong_source_wrong", probability=0.02,
    contradicted_by=[
        {"source_id": "pol", "block": 0, "start": 0, "end": 33, "probability": 0.9,
         "text": "The plan has a window of 14 days."}
    ],
    literals=[{"text": "30-day", "kind": "duration", "status": "mismatch", "source_id": "pol", "found": "14 days"}],
)  # fmt: skip
WRONG = claim(
    3, 41, 54, "block", text="It costs $12.", support="supported", attribution="wrong_source", cited=["acc"],
    quadrant="fact_right_source_wrong", probability=0.01,
    supported_by=[{"source_id": "pol", "pointer": "/price", "text": "price: 12", "probability": 0.9}],
    literals=[{"text": "$12", "kind": "amount", "status": "match", "source_id": "pol", "found": "5 + 7 = 12"}],
)  # fmt: skip
FULL = report(
    [claim(1, 0, 6, "skip", reason="greeting"), BLOCKED, WRONG],
    reasons=["clm_2: phantom_source", "clm_3: wrong_source"],
    citations=[{"start": 36, "end": 39, "form": "bracket", "source_ids": [], "status": "phantom"}],
    sources=[
        {"id": "acc", "sha256": "0", "status": "ok"},
        {"id": "err", "sha256": "0", "status": "error", "reason": "the call failed"},
    ],
)


def printed(trace: Trace, result: Report, width: int = 100, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = console_on(stream)
    console.width = width
    print_report(console, trace, result)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined, no-any-return]


def test_the_report_says_where_the_truth_stands() -> None:
    text = printed(TRACE, FULL)
    for expected in (
        "✗ BLOCK  2 of 2 claims fail.",
        "  ✗ claim 2: it cites a call that the agent never made (phantom_source)",
        "Hello! ⟦2✗ The plan has a 30-day window⟧ [9]. ⟦3✗ It costs $12.⟧",
        "  verdict      block: wrong fact, wrong source (probability 0.02)",
        "  support      contradicted: the sources say otherwise",
        "  cited        “[9]”, not in the trace",
        "  against      “The plan has a window of 14 days.”\n               [pol] block 0, characters 0-33",
        "  values       ✗ 30-day: [pol] has 14 days",
        "  attribution  wrong_source: the cited source does not say so, another one does",
        "  cited        account record, get_account at crm [acc]",
        "  true source  refund policy [pol]",
        "  evidence     “price: 12”\n               [pol] at /price",
        "  values       ✓ $12 (= 5 + 7 = 12)",
        "Citation “[9]” (bracket): phantom, matches no source of the trace",
        "Source get_price [err] (error): the call failed",
        "Not checked, since they state no fact: 1 greeting",
        "3 pairs, 41 ms",
    ):
        assert expected in text


def test_the_true_source_is_named_only_where_the_cited_one_does_not_support() -> None:
    right = WRONG.model_copy(update={"cited": ("pol",), "attribution": "correct", "verdict": "pass"})
    text = printed(TRACE, report([right], decision="allow"))
    assert "true source" not in text
    assert "✓ ALLOW  1 claim checked, none fails." in text
    uncited = printed(TRACE, report([right.model_copy(update={"cited": (), "attribution": "uncited"})]))
    assert "  cited        nothing\n  found in     refund policy [pol]" in uncited


def test_reasons_in_the_same_words_stand_together() -> None:
    text = printed(TRACE, report([BLOCKED, WRONG], reasons=["clm_2: contradicted", "clm_3: contradicted", "clm_2: new"]))
    assert "✗ claims 2, 3: a source says otherwise (contradicted)" in text
    assert "✗ claim 2: new" in text


def test_an_answer_without_claims_says_so() -> None:
    text = printed(TRACE, report([claim(1, 0, 6, "skip", reason="greeting")], decision="allow"))
    assert "The answer states no fact that needs a source." in text
    assert "⟦" not in text


def test_an_abstaining_report_is_no_allow() -> None:
    open_claim = claim(1, 7, 35, "abstain", support="not_enough_evidence", reason="no usable source", probability=0.0)
    text = printed(TRACE, report([open_claim], decision="abstain", reasons=["clm_1: no usable source"]))
    assert "? ABSTAIN  No claim fails, but 1 of 1 claim could not be verified." in text
    assert "? claim 1: no source could be used (no usable source)" in text


def test_much_evidence_is_counted_not_dumped() -> None:
    many = [{"source_id": "pol", "text": f"e{number} " + "x" * 400, "probability": 0.9} for number in range(5)]
    text = printed(TRACE, report([claim(1, 7, 35, "pass", support="supported", attribution="uncited", supported_by=many)]))
    assert "e1" in text
    assert "e2" not in text
    assert "and 3 more" in text
    assert re.search(r"… \(83 more\s+characters\)", text)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_is_wider_than_the_terminal_and_none_ends_in_a_space(width: int) -> None:
    lines = printed(TRACE, FULL, width).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_a_terminal_without_unicode_gets_ascii_marks() -> None:
    text = printed(TRACE, FULL, encoding="ascii")
    assert "{{2x The plan has a 30-day window}} [9]." in text
    assert "\\u201c" in text
    assert signs_for("UTF-8") is UNICODE
    assert signs_for("ascii") is ASCII


def test_escapes_in_any_text_are_shown_not_obeyed() -> None:
    evil = "\x1b]0;x\x07\x9b2J\u202e[red]"
    trace = Trace.model_validate(
        {
            "answer": f"It costs {evil}.",
            "question": evil,
            "sources": [{"id": evil, "name": evil, "tool": evil, "server": evil, "text": "x"}],
        }
    )
    evidence = [{"source_id": evil, "pointer": evil, "text": evil, "probability": 0.9}]
    literals = [{"text": evil, "kind": "identifier", "status": status, "source_id": evil, "found": evil}
                for status in ("match", "mismatch", "cannot_check")]  # fmt: skip
    found = claim(
        1, 0, len(trace.answer), "block", text=evil, support="supported", attribution="wrong_source", cited=[evil],
        supported_by=evidence, contradicted_by=evidence, literals=literals, reason=evil,
    )  # fmt: skip
    text = printed(
        trace,
        report(
            [found, claim(2, 0, 1, "skip", reason=evil)],
            trace_id=evil,
            reasons=[f"clm_1: {evil}"],
            sources=[{"id": evil, "sha256": "", "status": "error", "reason": evil}],
            citations=[{"start": 9, "end": 9 + len(evil), "form": "unknown", "source_ids": [], "status": "unparsed"}],
        ),
    )
    assert not set(text) & set("\x1b\x07\x9b\u202e")
    assert text.count("␛") >= 12
    assert text.count("[red]") >= 12


TEXT = st.text(st.sampled_from("ab .\n|-#*⟦✓🚇日本語e\u0301👩\u200d🚀\t[]1"), max_size=60)


@given(TEXT, st.data())
def test_without_its_marks_the_answer_is_the_answer(answer: str, data: st.DataObject) -> None:
    claims = []
    for number in range(1, data.draw(st.integers(0, 4)) + 1) if answer else ():
        start = data.draw(st.integers(0, len(answer) - 1))
        end = data.draw(st.integers(start + 1, len(answer)))
        claims.append(claim(number, start, end, data.draw(st.sampled_from(["pass", "block", "abstain", "skip"]))))
    text = marked_answer(answer, claims, MARKS).plain
    assert re.sub("\x02[0-9]+[\x04-\x07] |\x03", "", text) == answer
    factual = [one for one in claims if one.verdict != "skip"]
    assert text.count("\x02") == text.count("\x03") == len(factual)
    for one in factual:
        opened = text.index(f"\x02{one.id[4:]}{MARKS.verdicts[one.verdict]} ")
        assert re.sub("\x02[0-9]+[\x04-\x07] |\x03", "", text[:opened]) == answer[: one.start]


MARKS = type(UNICODE)("\x02", "\x03", {"pass": "\x04", "block": "\x05", "abstain": "\x06", "skip": "\x07"})


def test_colour_marks_the_gravest_verdict() -> None:
    text = marked_answer("abcd", [claim(1, 0, 4, "pass"), claim(2, 2, 4, "block")], UNICODE)
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert styles["ab"] == "green"
    assert styles["cd"] == "bold red"


def test_visible_keeps_text_and_shows_controls() -> None:
    assert visible("a\r\nb\tc\n日本🚇") == "a\nb\tc\n日本🚇"
    assert visible("\x00\x1b\x7f\x9b\u2028\u202e\ud800\r") == "␀␛\\x7f\\x9b\\u2028\\u202e\\ud800␍"
    assert one_line(" a\n b\x1b ") == "a b␛"


def test_only_a_terminal_is_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert console_on(Terminal()).color_system
    monkeypatch.setenv("NO_COLOR", "1")
    plain = console_on(Terminal())
    plain.print("x", style="red")
    assert "\x1b[31m" not in plain.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(plain, Console)
