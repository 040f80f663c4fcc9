"""Laws of ingestion: any input ends in traces or `InvalidTrace`, ids are unique, citations index the answer."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.ingest import FORMATS, detect, parse_trace, traces_from
from entailgrid.provenance.reading import read_traces
from entailgrid.types import InputFormat, Trace

SAMPLES = [
    json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent.parent / "data" / "formats").glob("*.json"))
]


def nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, child in items:
        yield value, key
        yield from nodes(child)


KEYS = sorted({key for sample in SAMPLES for _, key in nodes(sample) if isinstance(key, str)})
WORDS = sorted({box[key] for sample in SAMPLES for box, key in nodes(sample) if isinstance(box[key], str)})
SCALARS = st.none() | st.booleans() | st.integers(-3, 40) | st.floats() | st.sampled_from(WORDS) | st.text(max_size=8)


def containers(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(KEYS) | st.text(max_size=3)
    return st.lists(children, max_size=4) | st.dictionaries(keys, children, max_size=7)


@contextmanager
def refusals() -> Iterator[None]:
    """Nothing but an `InvalidTrace` of one printable line may be raised."""
    try:
        yield
    except InvalidTrace as error:
        message, problem = str(error), error.problem
    else:
        return
    assert problem
    assert message.isprintable()


JSON = st.recursive(SCALARS | st.text(st.characters(), max_size=4), containers, max_leaves=30)


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_any_value_is_a_trace_or_refused(value: Any) -> None:
    for data in (value, json.dumps(value)):
        with refusals():
            check(parse_trace(data, default_id="x:1"))


@settings(max_examples=100, deadline=None)
@given(JSON, st.sampled_from(FORMATS), st.none() | st.text(max_size=5))
def test_any_document_gives_traces_or_is_refused(value: Any, format: InputFormat, answer: str | None) -> None:
    for kind in (format, None):
        with refusals():
            for trace in traces_from(value, kind, default_id="x:1", answer=answer):
                check(trace)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SAMPLES), st.lists(st.tuples(st.integers(0), st.integers(0, 3), JSON), min_size=1, max_size=3))
def test_any_change_to_a_sample_gives_traces_or_is_refused(sample: Any, changes: list[tuple[int, int, Any]]) -> None:
    document, kind = copy.deepcopy(sample), detect(sample)
    for at, change, value in changes:
        places = list(nodes(document))
        if not places:
            break
        container, key = places[at % len(places)]
        if change == 0:
            del container[key]
        elif change == 1 and isinstance(container, list):
            container.append(container[key])
        else:
            container[key] = value
    for format in (kind, None):
        with refusals():
            for trace in traces_from(document, format, default_id="x:1"):
                check(trace)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60) | st.lists(JSON).map(lambda values: b"\n".join(json.dumps(v).encode() for v in values)))
def test_any_bytes_on_standard_input_give_an_outcome(data: bytes) -> None:
    found = list(read_traces("-", stdin=io.BytesIO(data), max_trace_bytes=300))
    assert found
    assert all(isinstance(item, Trace | InvalidTrace) for item in found)


def check(trace: Trace) -> None:
    ids = [source.id for source in trace.sources]
    assert len(set(ids)) == len(ids)
    assert trace.id
    for citation in trace.citations:
        assert trace.answer[citation.start : citation.end] != ""
        assert citation.end <= len(trace.answer)
    assert parse_trace(trace) == trace
    assert parse_trace(trace.model_dump_json()) == trace


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ROLE = st.sampled_from(["user", "assistant", "tool", "system"])


def chat_message(index: int, role: str, text: str, call: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": text}
    if role == "assistant":
        body = {"name": f"tool{index}", "arguments": json.dumps({"at": index})}
        message["tool_calls"] = [{"id": f"c{call}", "type": "function", "function": body}]
    elif role == "tool":
        message["tool_call_id"] = f"c{call}"
    return message


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(ROLE, TEXT, st.integers(0, 1)), max_size=14))
def test_chat_answers_rest_on_what_came_before(turns: list[tuple[str, str, int]]) -> None:
    messages = [chat_message(index, *turn) for index, turn in enumerate(turns)]
    found = {trace.id: trace for trace in traces_from(messages, "openai", default_id="x")}
    roles = [role for role, _, _ in turns]
    expected = [n for n, (role, text, _) in enumerate(turns) if role == "assistant" and text.strip() and "tool" in roles[:n]]
    assert list(found) == [f"x/{index}" for index in expected]
    for index in expected:
        trace, before = found[f"x/{index}"], turns[:index]
        results = [(n, text, call) for n, (role, text, call) in enumerate(before) if role == "tool"]
        assert [source.blocks[0].text for source in trace.sources[: len(results)]] == [text for _, text, _ in results]
        for source, (at, _, call) in zip(trace.sources, results, strict=False):
            calls = [n for n in range(at) if turns[n][0] == "assistant" and turns[n][2] == call]
            assert source.arguments == ({"at": calls[-1]} if calls else None)
        check(trace)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(TEXT, st.booleans(), st.booleans()), min_size=1, max_size=8))
def test_anthropic_cited_blocks_are_the_cited_spans(parts: list[tuple[str, bool, bool]]) -> None:
    location = {"type": "char_location", "document_index": 0, "cited_text": "d", "document_title": None}
    blocks: list[dict[str, Any]] = []
    for number, (text, is_cited, call_after) in enumerate(parts):
        blocks.append({"type": "text", "text": text, "citations": [location] if is_cited else None})
        if call_after:
            blocks.append({"type": "tool_use", "id": f"t{number}", "name": "f", "input": {}})
    source = {"type": "text", "media_type": "text/plain", "data": "d"}
    user = {"role": "user", "content": [{"type": "document", "source": source}]}
    found = traces_from([user, {"role": "assistant", "content": blocks}], "anthropic", default_id="x")
    if not "".join(text for text, _, _ in parts).strip():
        assert found == []
        return
    (trace,) = found
    spans = [trace.answer[c.start : c.end] for c in trace.citations]
    assert spans == [text for text, is_cited, _ in parts if is_cited and text]
    assert trace.answer.replace("\n", "") == "".join(text for text, _, _ in parts).replace("\n", "")
