"""Files of traces: every bad line is its own error, in its place, and never stops the others."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from entailgrid.errors import InvalidTrace, PayloadTooLarge
from entailgrid.provenance.reading import Document, read_documents, read_gold, read_traces
from entailgrid.types import InputFormat, Trace

GOOD = b'{"answer": "a", "sources": []}'
CHAT = {
    "messages": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
        {"role": "assistant", "content": "first"},
        {"role": "assistant", "content": "second"},
    ]
}
LOG = [
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f"}},
    {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "r"}]}},
    {"answer": "done"},
]


def outcome(items: Any, folder: Path | None = None) -> list[str]:
    """The ids of what was read, and the errors as text, in order, without the folder's name."""
    found = []
    for item in items:
        assert isinstance(item, Trace | InvalidTrace)
        found.append(str(item.id) if isinstance(item, Trace) else f"! {item}")
    return [text.replace(f"{folder}/", "") for text in found] if folder else found


def read(folder: Path, name: str, data: bytes, **options: Any) -> list[str]:
    path = folder / name
    path.write_bytes(data)
    return outcome(read_traces(path, **options), folder)


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


LINES = [
    ("one bad line among good ones", GOOD + b"\n{bad}\n" + GOOD,
     ["t:1", "! t.jsonl:2: not JSON: Expecting property name", "t:3"]),
    ("a truncated last line", GOOD + b"\n" + GOOD[:20], ["t:1", "! t.jsonl:2: not JSON: Unterminated string"]),
    ("a field", GOOD + b'\n{"answer": "a", "sources": [{"id": ""}]}\n',
     ["t:1", "! t.jsonl:2: sources[0].id: expected text"]),
    ("CRLF, blank lines and a BOM", b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n  \n" + GOOD + b"\r\n", ["t:1", "t:4"]),
    ("a binary line", GOOD + b"\n\x00\x01\x02\n" + GOOD,
     ["t:1", "! t.jsonl:2: binary data; expected JSON text", "t:3"]),
    ("lone surrogates", rb'{"answer": "\ud800", "sources": []}' + b"\n" + GOOD,
     ["! t.jsonl:1: answer: holds a lone surrogate", "t:2"]),
    ("not a trace", b"5\n" + GOOD, ["! t.jsonl:1: fits no known format, found 5; expected one of contract", "t:2"]),
    ("ids of their own", b'{"id": "x", "answer": "a", "sources": []}\n' + GOOD, ["x", "t:2"]),
    ("an empty file", b"", ["! t.jsonl: holds no answer"]),
    ("a file of blank lines", b"\n\n", ["! t.jsonl: holds no answer"]),
    ("a conversation, then a trace", lines(CHAT) + GOOD, ["t:1/3", "t:1/4", "t:2"]),
    ("a conversation without answer", lines({"messages": CHAT["messages"][:2]}, CHAT), ["t:2/3", "t:2/4"]),
    ("no conversation with an answer", lines({"messages": CHAT["messages"][:2]}), ["! t.jsonl: holds no answer"]),
    ("a log is the whole file", lines(*LOG), ["t:1"]),
    ("a log with a broken line", lines(*LOG[:1]) + b"{\n" + lines(*LOG[1:]),
     ["! t.jsonl:2: not JSON: Expecting property"]),
    ("a log with a broken field", lines(LOG[0], {"jsonrpc": "2.0", "id": 1, "result": {"content": 5}}, LOG[2]),
     ["! t.jsonl:2: result.content: expected a list, found 5"]),
    ("a log without answer", lines(*LOG[:2]), ["! t.jsonl: has no answer; expected a last line"]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in LINES], ids=[case[0] for case in LINES])
@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_lines(tmp_path: Path, name: str, data: bytes, expected: list[str]) -> None:
    found = read(tmp_path, name, gzip.compress(data) if name.endswith(".gz") else data)
    assert len(found) == len(expected)
    for text, start in zip(found, expected, strict=True):
        assert text.startswith(start.replace("t.jsonl", name)), found


DOCUMENTS = [
    ("a trace", json.dumps(json.loads(GOOD), indent=2).encode(), ["t:1"]),
    ("a conversation", json.dumps(CHAT).encode(), ["t:1/3", "t:1/4"]),
    ("a log", json.dumps(LOG).encode(), ["t:1"]),
    ("two documents", GOOD + b"\n" + GOOD, ["! t.json: more than one JSON document (from line 2 column 1)"]),
    ("a field", b'{"answer": 5, "sources": []}', ["! t.json: answer: expected a valid string, found 5"]),
    ("an empty file", b"", ["! t.json: empty; expected a JSON document"]),
    ("a binary file", b"\x89PNG\r\n\x1a\n\0", ["! t.json: binary data; expected JSON text in UTF-8"]),
]


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in DOCUMENTS], ids=[case[0] for case in DOCUMENTS])
@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_one_document(tmp_path: Path, name: str, data: bytes, expected: list[str]) -> None:
    found = read(tmp_path, name, gzip.compress(data) if name.endswith(".gz") else data)
    for text, start in zip(found, expected, strict=True):
        assert text.startswith(start.replace("t.json", name)), found


STANDARD_INPUT = [
    ("lines", GOOD + b"\n" + GOOD, ["stdin:1", "stdin:2"]),
    ("lines after blank ones", b"\n\n" + GOOD + b"\n" + GOOD, ["stdin:3", "stdin:4"]),
    ("a bad first line", GOOD[:9] + b"\n" + GOOD, ["! stdin:1: not JSON", "stdin:2"]),
    ("one document over many lines", json.dumps(json.loads(GOOD), indent=1).encode(), ["stdin:1"]),
    ("a broken document over many lines", b'{\n "answer": "a",\n "sources": [}\n',
     ["! stdin: not JSON: Expecting value at line 3"]),
    ("a list over many lines", b"[\n" + b",\n".join(json.dumps(m).encode() for m in LOG) + b"\n]\n", ["stdin:1"]),
    ("a log", lines(*LOG), ["stdin:1"]),
    ("nothing", b"", ["! stdin: holds no answer"]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in STANDARD_INPUT], ids=[case[0] for case in STANDARD_INPUT])
def test_standard_input(data: bytes, expected: list[str]) -> None:
    found = outcome(read_traces("-", stdin=io.BytesIO(data)))
    assert len(found) == len(expected)
    assert all(text.startswith(start) for text, start in zip(found, expected, strict=True)), found


def test_a_pretty_printed_log_and_a_log_of_lines_under_any_name(tmp_path: Path) -> None:
    pretty = json.dumps(LOG, indent=2).encode()
    for name, data in [("l.json", pretty), ("l.json", lines(*LOG)), ("l.log", pretty), ("l.log", lines(*LOG))]:
        assert read(tmp_path, name, data, format="mcp") == ["l:1"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    expected = {
        "missing.jsonl": "missing.jsonl: no such file",
        "folder.jsonl": "folder.jsonl: is a directory; expected a file",
        "x" * 300: f"{'x' * 300}: cannot be read: File name too long",
        "nul\0.json": "nul\0.json: cannot be read: embedded null byte",
    }
    for name, message in expected.items():
        assert outcome(read_traces(tmp_path / name), tmp_path) == [f"! {message}"]


def test_damaged_gzip_keeps_what_came_before(tmp_path: Path) -> None:
    whole = gzip.compress(lines(*[json.loads(GOOD)] * 3))
    assert read(tmp_path, "t.jsonl.gz", whole[:-9])[-1] == "! t.jsonl.gz: cannot be read: the gzip data ends early"
    assert read(tmp_path, "t.json.gz", GOOD) == [
        "! t.json.gz: cannot be read: the gzip data is damaged (Not a gzipped file (b'{\"'))"
    ]
    flipped = bytearray(gzip.compress(bytes(range(256)) * 40))
    flipped[20] ^= 0xFF
    (error,) = read(tmp_path, "t.jsonl.gz", bytes(flipped))
    assert error.startswith("! t.jsonl.gz: cannot be read: the gzip data is damaged")


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_a_line_above_the_limit_is_refused_without_being_held(tmp_path: Path, name: str) -> None:
    data = GOOD + b"\n" + b'{"answer": "' + b"x" * 40_000_000 + b'", "sources": []}\n' + GOOD + b"\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
    del data
    tracemalloc.start()
    found = outcome(read_traces(path, max_trace_bytes=1000), tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["t:1", f"! {name}:2: larger than the limit of 1000 bytes", "t:3"]
    assert peak < 5_000_000


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_limit_is_exact_and_leaves_line_ends_and_mark_out(tmp_path: Path, ending: bytes, mark: bytes) -> None:
    data = mark + GOOD + ending
    assert read(tmp_path, "t.jsonl", data, max_trace_bytes=len(GOOD)) == ["t:1"]
    assert read(tmp_path, "t.jsonl", data + GOOD if ending else data, max_trace_bytes=len(GOOD) - 1)[0].startswith(
        "! t.jsonl:1: larger"
    )


def test_documents_above_the_limit(tmp_path: Path) -> None:
    limit = len(GOOD)
    assert read(tmp_path, "t.json", GOOD, max_trace_bytes=limit) == ["t:1"]
    assert read(tmp_path, "t.json", GOOD + b" ", max_trace_bytes=limit) == [f"! t.json: larger than the limit of {limit} bytes"]
    (error,) = read_traces(tmp_path / "t.json", max_trace_bytes=limit)
    assert isinstance(error, PayloadTooLarge)
    long_log = lines(LOG[0], *[{"jsonrpc": "2.0", "method": "notifications/progress"}] * 50, *LOG[1:])
    size = sum(len(line) for line in long_log.splitlines())
    assert read(tmp_path, "l.jsonl", long_log, max_trace_bytes=size) == ["l:1"]
    assert read(tmp_path, "l.jsonl", long_log, max_trace_bytes=size - 1)[0].startswith("! l.jsonl:53: larger")
    (text,) = read(tmp_path, "l.jsonl", long_log, max_trace_bytes=1000)
    assert text.startswith("! l.jsonl:")
    assert text.endswith("larger than the limit of 1000 bytes")


@pytest.mark.parametrize(
    ("format", "expected"), [("contract", ["! t.jsonl:1: messages: unknown key"]), ("openai", ["t:1/3", "t:1/4"])]
)
def test_the_given_format_counts(tmp_path: Path, format: InputFormat, expected: list[str]) -> None:
    document = CHAT if format == "openai" else {**CHAT, "answer": "a", "sources": []}
    found = read(tmp_path, "t.jsonl", lines(document), format=format)
    assert all(text.startswith(start) for text, start in zip(found, expected, strict=True)), found


def test_answer_file(tmp_path: Path) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_bytes("Zoë says done.\r\n".encode())
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines(*LOG[:2]))
    (trace,) = read_traces(path, answer_file=answer)
    assert isinstance(trace, Trace)
    assert (trace.id, trace.answer) == ("log:1", "Zoë says done.")
    assert outcome(read_traces(path, answer_file=tmp_path / "none.txt"), tmp_path) == ["! none.txt: no such file"]
    answer.write_bytes(b"\xff")
    assert outcome(read_traces(path, answer_file=answer), tmp_path)[0].startswith("! answer.txt: not UTF-8 text")


def test_carriage_returns_do_not_hide_a_line_above_the_limit(tmp_path: Path) -> None:
    line = GOOD + b"\r" * 100 + b"x\n"
    (text, good) = read(tmp_path, "t.jsonl", line + GOOD, max_trace_bytes=len(GOOD))
    assert (text[:23], good) == ("! t.jsonl:1: larger tha", "t:2")


def test_lines_are_read_as_they_are_asked_for() -> None:
    stream = io.BytesIO(lines(*[json.loads(GOOD)] * 1000))
    items = read_traces("-", stdin=stream)
    next(items)
    assert stream.tell() < 200


GOLD_ANSWER = "Prices rose."
GOLD = [
    ({"decision": "block", "claims": [{"start": 0, "end": 12, "support": "supported"}], "tags": ["x"]}, None),
    ({"claims": [{"start": 0, "end": 13}]}, "gold.claims[0].end: expected an offset after 0 and up to 12, found 13"),
    ({"claims": [{"start": 3, "end": 3}]}, "gold.claims[0].end: expected an offset after 3 and up to 12, found 3"),
    (
        {"claims": [{"start": 12, "end": 13}]},
        "gold.claims[0].start: expected an offset of the answer (0..12), found 12",
    ),
    ({"claims": [{"start": -1, "end": 3}]}, "gold.claims[0].start: expected an offset of the answer (0..12), found -1"),
    ({"claims": [{"start": "0", "end": 3}]}, 'gold.claims[0].start: expected a valid integer, found "0"'),
    ({"claims": [{"end": 3}]}, "gold.claims[0].start: missing; it is required"),
    ({"decisoin": "allow"}, 'gold.decisoin: unknown key "decisoin"; did you mean "decision"?'),
    ([], "gold: expected an object, found a list"),
]


@pytest.mark.parametrize(("gold", "problem"), GOLD)
def test_gold_labels(tmp_path: Path, gold: Any, problem: str | None) -> None:
    path = tmp_path / "g.jsonl"
    path.write_bytes(lines({"answer": GOLD_ANSWER, "sources": [], "gold": gold}))
    (document,) = read_documents(path)
    assert isinstance(document, Document)
    if problem is None:
        labels = read_gold(document)
        assert labels is not None
        assert (labels.decision, labels.claims[0].end, labels.tags) == ("block", 12, ("x",))
        return
    with pytest.raises(InvalidTrace) as caught:
        read_gold(document)
    assert str(caught.value) == f"{path}:1: {problem}"


def test_gold_beside_a_conversation_labels_none_of_its_answers() -> None:
    for document in read_documents("-", stdin=io.BytesIO(lines({**CHAT, "gold": {"decision": "allow"}}))):
        assert isinstance(document, Document)
        assert document.gold_raw is None


def test_a_trace_without_gold_has_no_labels() -> None:
    (document,) = read_documents("-", stdin=io.BytesIO(GOOD))
    assert isinstance(document, Document)
    assert read_gold(document) is None
