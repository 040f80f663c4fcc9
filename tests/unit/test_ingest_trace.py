"""`parse_trace`: what it accepts, and the one clear line for what it does not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from entailgrid.errors import InvalidTrace, PayloadTooLarge
from entailgrid.provenance.ingest import parse_trace
from entailgrid.types import Source, Trace

SOURCE = {"id": "a", "text": "Price: 5 euros."}
TRACE: dict[str, Any] = {"answer": "It costs 5 euros.", "sources": [SOURCE]}


def test_text_bytes_dict_and_trace_agree() -> None:
    text = json.dumps(TRACE)
    expected = Trace(answer="It costs 5 euros.", sources=(Source(id="a", text="Price: 5 euros."),), id="t:1")
    forms = [text, text.encode(), b"\xef\xbb\xbf" + text.encode(), "\ufeff" + text, TRACE, Trace.model_validate(TRACE)]
    for form in forms:
        assert parse_trace(form, default_id="t:1") == expected


def test_a_trace_keeps_its_own_id() -> None:
    assert parse_trace({**TRACE, "id": "own"}, default_id="other").id == "own"
    assert parse_trace(TRACE).id is None


def test_mcp_spellings_and_ignored_keys() -> None:
    blocks = [{"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "x"}, "_meta": {}}]
    source = {
        "id": "a",
        "content": blocks,
        "isError": True,
        "structuredContent": {"k": 1},
        "outputSchema": {"type": "object"},
    }
    trace = parse_trace({"answer": "", "sources": [{**source, "_meta": 1, "gold": 2}], "_meta": {}, "gold": {}})
    (read,) = trace.sources
    assert (read.is_error, read.structured_content, read.output_schema) == (True, {"k": 1}, {"type": "object"})
    assert read.content[0].resource is not None
    assert (read.content[0].resource.mime_type, read.content[0].body) == ("text/plain", "x")


def test_python_times_are_accepted_where_times_stand() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    trace = parse_trace({**TRACE, "answered_at": now, "sources": [{**SOURCE, "fetched_at": now}]})
    assert (trace.answered_at, trace.sources[0].fetched_at) == (now, now)
    with pytest.raises(InvalidTrace, match=r"^sources\[0\]\.arguments\.at: expected a JSON value"):
        parse_trace({**TRACE, "sources": [{**SOURCE, "arguments": {"at": now}}]})


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def with_source(**fields: Any) -> dict[str, Any]:
    return {**TRACE, "sources": [SOURCE, {"id": "b", "text": "x", **fields}]}


FIELDS = [
    (with_source(fetched_at="yesterday"),
     "sources[1].fetched_at", 'expected a valid datetime or date, input is too short, found "yesterday"'),
    (with_source(tool=3), "sources[1].tool", "expected a valid string, found 3"),
    (with_source(isError="no"), "sources[1].isError", 'expected a valid boolean, found "no"'),
    (with_source(is_error=False, isError=True), "sources[1].isError", 'given twice, also as "is_error"'),
    (with_source(id=""), "sources[1].id", 'expected text that is not empty, found ""'),
    (with_source(id="a"), "sources[1].id", "'a' is already the id of sources[0]"),
    (with_source(tekst="x"), "sources[1].tekst", 'unknown key "tekst"; did you mean "text"?'),
    (with_source(content=[{"type": "text", "text": "x"}]), "sources[1]", "has both text and content; give one of them"),
    (with_source(confidence=[1]), "sources[1].confidence", "expected a valid number, found a list"),
    (with_source(ttl_seconds=-1), "sources[1].ttl_seconds", "expected greater than or equal to 0, found -1"),
    (with_source(**{"a b": 1}), 'sources[1]["a b"]', "unknown key \"a b\"; known keys: id, text, content"),
    ({"answer": "a", "sources": [{"id": "a"}]}, "sources[0]", "needs one of text, content, structured_content"),
    ({"answer": "a", "sources": [{"id": "a", "content": "x"}]}, "sources[0].content", 'expected a list, found "x"'),
    ({"answer": "a", "sources": [{"id": "a", "content": [{"text": "x"}]}]},
     "sources[0].content[0].type", "missing; it is required"),
    ({"answer": "a", "sources": [{"id": "a", "content": [{"type": "resource", "resource": {"mimeType": 1}}]}]},
     "sources[0].content[0].resource.mimeType", "expected a valid string, found 1"),
    ({"answer": "a", "sources": {}}, "sources", "expected a list, found an object"),
    ({"answer": "a"}, "sources", "missing; it is required"),
    ({"answer": None, "sources": [], "x": 1}, "answer", "expected a valid string, found null (and 1 more problem)"),
    ({"answer": "a", "sources": 1, "x": 1, "y": 1}, "sources", "expected a list, found 1 (and 2 more problems)"),
    ({**TRACE, "sourcse": []}, "sourcse", 'unknown key "sourcse"; did you mean "sources"?'),
    ({**TRACE, "citations": [{"start": 3, "end": 18, "source_ids": []}]},
     "citations[0]", "offsets 3..18 are not a span of the answer (0..17 code points)"),
    ({**TRACE, "citations": [{"start": 3, "end": 3, "source_ids": []}]}, "citations[0]", "offsets 3..3 are not a span"),
    ({**TRACE, "citations": [{"start": -1, "end": 3, "source_ids": []}]},
     "citations[0].start", "expected greater than or equal to 0, found -1"),
    ({**TRACE, "citations": [{"start": 0, "end": 3}]}, "citations[0].source_ids", "missing; it is required"),
    ([], "", "expected an object, found a list"),
    (5, "", "expected an object, found 5"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "where", "problem"), FIELDS)
@pytest.mark.parametrize("as_text", [True, False])
def test_fields_are_refused_with_their_path(data: Any, where: str, problem: str, as_text: bool) -> None:
    with pytest.raises(InvalidTrace) as caught:
        parse_trace(json.dumps(data) if as_text else data)
    assert caught.value.where == where
    assert caught.value.problem.startswith(problem)
    assert "\n" not in str(caught.value)


TEXTS = [
    (b'{"answer": "a", "answer": "b", "sources": []}', "answer", "this key appears twice in one object"),
    (b'{"answer": "a", "sources": [{"id": "a", "text": "", "arguments": {"j": 1, "k": 1, "k": 1}}]}',
     "sources[0].arguments.k", "this key appears twice"),
    (b'{"answer": "a", "sources": [{"id": "a", "structured_content": {"x": [1, NaN]}}]}',
     "sources[0].structured_content.x[1]", "expected a finite number, found NaN"),
    (b'{"answer": -Infinity, "sources": []}', "answer", "expected a finite number, found -Infinity"),
    (b'{"answer": "a", "sources": [], "x": 1e999}', "x", "expected a finite number, found Infinity"),
    (rb'{"answer": "ab\ud83d", "sources": []}', "answer", "holds a lone surrogate U+D83D at offset 2"),
    (rb'{"answer": "a", "sources": [{"id": "a", "content": [{"type": "text", "text": "x", "k": ["\udc00"]}]}]}',
     "sources[0].content[0].k[0]", "holds a lone surrogate U+DC00 at offset 0"),
    (rb'{"answer": "a", "sources": [], "\ud800": 1}', '["\\ud800"]', "holds a lone surrogate U+D800"),
    (b"", "", "empty; expected a JSON document"),
    (b" \n", "", "empty; expected a JSON document"),
    (b'{"answer": "a", "sour', "", "not JSON: Unterminated string starting at column 17; the text ends early"),
    (b'{"answer": "a"', "", "not JSON: Expecting ',' delimiter at column 15; the text ends early"),
    (b'{"answer" "a"}', "", "not JSON: Expecting ':' delimiter at column 11"),
    (b"{}\n{}", "", "more than one JSON document (from line 2 column 1)"),
    (b"\xff\xfe{\0}\0", "", "UTF-16 text; expected JSON in UTF-8"),
    (b"PK\x03\x04\0\0", "", "binary data; expected JSON text in UTF-8"),
    (b'{"answer": "caf\xe9"}', "", "not UTF-8 text (byte 0xe9 at offset 15)"),
    (b"[" * 100_000, "", "nested more than 200 levels deep"),
    (b"[" * 100_000 + b"]" * 100_000, "", "nested more than 200 levels deep"),
    (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", "a" + "[0]" * 66 + "…", "nested more than 200 levels deep"),
    (b"1" * 5000, "", "not JSON that can be read"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "where", "problem"), TEXTS)
def test_text_that_is_no_trace_is_refused(data: bytes, where: str, problem: str) -> None:
    with pytest.raises(InvalidTrace) as caught:
        parse_trace(data)
    assert caught.value.where == where
    assert caught.value.problem.startswith(problem)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(("depth", "accepted"), [(196, True), (197, True), (198, False), (5000, False)])
def test_depth_limit_holds_for_python_values(depth: int, accepted: bool) -> None:
    data = {"answer": "a", "sources": [{"id": "a", "structured_content": nested(depth)}]}
    if accepted:
        assert parse_trace(data).sources[0].structured_content == nested(depth)
        return
    with pytest.raises(InvalidTrace, match="nested more than 200 levels deep"):
        parse_trace(data)


def test_a_structure_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InvalidTrace, match="nested more than 200 levels deep"):
        parse_trace({"answer": "a", "sources": loop})


def test_python_values_that_json_cannot_carry_are_refused() -> None:
    for value, found in [
        ({1, 2}, "a Python set"),
        (b"x", "a Python bytes"),
        ({1: 2}, "expected keys that are strings"),
    ]:
        with pytest.raises(InvalidTrace, match=found):
            parse_trace({"answer": "a", "sources": [{"id": "a", "structured_content": value}]})


def test_lone_surrogates_in_a_trace_object_are_refused() -> None:
    trace = Trace(answer="a\ud800", sources=())
    with pytest.raises(InvalidTrace, match=r"^answer: holds a lone surrogate U\+D800 at offset 1"):
        parse_trace(trace)


def test_size_limit_counts_utf8_bytes() -> None:
    text = '{"answer": "é", "sources": []}'
    size = len(text.encode())
    assert size == len(text) + 1
    for data in (text, text.encode()):
        assert parse_trace(data, max_bytes=size).answer == "é"
        with pytest.raises(PayloadTooLarge, match=f"larger than the limit of {size - 1} bytes"):
            parse_trace(data, max_bytes=size - 1)
    strings = len("answer") + 2 + len("sources")
    assert parse_trace({"answer": "é", "sources": []}, max_bytes=strings).answer == "é"
    with pytest.raises(PayloadTooLarge):
        parse_trace({"answer": "é", "sources": []}, max_bytes=strings - 1)


def test_messages_stay_short() -> None:
    sources = [{"id": "x" * 100_000, "text": ""}] * 2
    with pytest.raises(InvalidTrace) as caught:
        parse_trace({"answer": "a", "sources": sources})
    assert len(str(caught.value)) < 400
