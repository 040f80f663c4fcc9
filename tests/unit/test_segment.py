"""Segments: no character of a source is lost, and every offset or pointer is exact."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entailgrid.evidence.segment import MAX_CHARS
from entailgrid.evidence.structured import is_table_rule
from reading_sources import TITLE_CHARS, resolve, segments, uncovered
from strategies import JSON_CONTAINERS, JSON_VALUES, TEXTS, json_texts

PROSE = st.lists(TEXTS | st.sampled_from(["\n", "\n\n", ". ", "word " * 150, "x" * 900, "a;b," * 200]), max_size=6).map("".join)


@given(PROSE)
@settings(max_examples=200, deadline=None)
def test_no_character_of_a_text_is_lost(text: str) -> None:
    found = segments(text=text)
    has_table = any(is_table_rule(line) for line in text.splitlines())
    if has_table or any(segment.fields for segment in found) or "<" in text:
        return  # structure is tested below: its punctuation belongs to no field
    assert uncovered(text, found) == ""


@given(PROSE | json_texts() | JSON_VALUES.map(str))
@settings(max_examples=200, deadline=None)
def test_no_segment_is_longer_than_its_title_and_a_piece(text: str) -> None:
    for segment in segments(text=text, tool="get_plan", name="n" * 300, arguments={"a": "b" * 40}):
        assert segment.source == 3
        assert len(segment.text) <= MAX_CHARS + TITLE_CHARS


def test_a_source_of_twenty_thousand_words_is_seen_to_its_end() -> None:
    text = " ".join(f"word{number}" + ("." if number % 17 == 0 else "") for number in range(20_000)) + " The code is ZX-9981."
    found = segments(text=text)
    assert uncovered(text, found) == ""
    assert "ZX-9981" in found[-1].text
    assert found[-1].end == len(text)


@pytest.mark.parametrize("text", ["x" * 20_000, "あ" * 5_000, "a" * 399 + " " + "b" * 401, "🙂" * 3_000, "a\u0301" * 900])
def test_long_tokens_are_cut_not_dropped(text: str) -> None:
    found = segments(text=text)
    assert uncovered(text, found) == ""
    assert all(len(segment.text) <= MAX_CHARS for segment in found)


def test_cut_pieces_overlap() -> None:
    found = segments(text="word " * 400)
    for before, after in pairwise(found):
        assert before.end is not None
        assert after.start is not None
        assert after.start < before.end


# --- JSON -----------------------------------------------------------------------------------------------------------


def leaves(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        items = [(key.replace("~", "~0").replace("/", "~1"), item) for key, item in value.items()]
    elif isinstance(value, list):
        items = [(str(index), item) for index, item in enumerate(value)]
    else:
        return [(pointer, value)]
    return [leaf for key, item in items for leaf in leaves(item, f"{pointer}/{key}")]


@given(JSON_CONTAINERS)
@settings(max_examples=150, deadline=None)
def test_pointers_resolve_and_every_leaf_is_offered(value: Any) -> None:
    found = segments(structured_content=value)
    offered = {field.pointer for segment in found for field in segment.fields}
    for segment in found:
        assert segment.pointer is not None
        assert segment.start is None
        assert segment.block is None
        resolve(value, segment.pointer)
    for pointer in offered:
        assert pointer is not None
        resolve(value, pointer)
    assert offered == {pointer for pointer, _ in leaves(value)}


@given(JSON_CONTAINERS, st.sampled_from([None, 2]))
@settings(max_examples=150, deadline=None)
def test_spans_of_json_text_hold_the_very_value(value: Any, indent: int | None) -> None:
    text = f" {json.dumps(value, indent=indent, ensure_ascii=False)}\n"
    found = segments(text=text)
    spans = {(field.start, field.end) for segment in found for field in segment.fields}
    values = [json.loads(text[start:end]) for start, end in spans]
    assert sorted(map(repr, values)) == sorted(repr(json.loads(json.dumps(item))) for _, item in leaves(value))
    for segment in found:
        assert segment.start is not None
        assert segment.end is not None
        assert all(segment.start <= (f.start or 0) and (f.end or 0) <= segment.end for f in segment.fields) or len(found) > 1


def test_json_values_are_read_with_their_keys_and_record() -> None:
    value = {"account": {"id": "A-17", "refund_window": 30}, "policy": {"refundWindow": 14}, "a/b": {"m~n": True}}
    found = segments(structured_content=value, tool="get_account")
    by_pointer = {field.pointer: (field, segment) for segment in found for field in segment.fields}
    field, segment = by_pointer["/account/refund_window"]
    assert (field.key, field.value) == ("refund window", "30")
    assert "account" in segment.text
    assert "refund window: 30" in segment.text
    assert by_pointer["/policy/refundWindow"][0].key == "refund window"
    assert by_pointer["/a~1b/m~0n"][0].value == "yes"


def test_deep_json_is_read_without_an_overflow() -> None:
    deep: Any = "THE-END"
    for _ in range(400):
        deep = {"a": [deep]}
    found = segments(structured_content=deep)
    assert any("THE-END" in segment.text for segment in found)
    text = json.dumps(deep)
    found = segments(text=text)
    assert any("THE-END" in segment.text for segment in found)
    assert uncovered(text, found) == ""
    endless = "[" * 100_000 + "1" + "]" * 100_000
    assert uncovered(endless, segments(text=endless)) == ""


@pytest.mark.parametrize("size", [1, 12, 13, 500])
def test_arrays_of_scalars_keep_every_member(size: int) -> None:
    found = segments(structured_content={"codes": [f"code-{number}-{'x' * 60}" for number in range(size)]})
    shown = " ".join(segment.text for segment in found)
    assert all(f"code-{number}-" in shown for number in range(size))


def test_long_values_are_read_to_their_end() -> None:
    body = "First sentence. " * 100 + "The deadline is 2026-11-05."
    for fields in ({"structured_content": {"note": body}}, {"text": json.dumps({"note": body})}):
        found = segments(**fields)
        assert any("2026-11-05" in segment.text for segment in found)
        assert all(len(segment.text) <= MAX_CHARS + TITLE_CHARS for segment in found)
    found = segments(structured_content={"notes": ["short", body]})
    assert any("2026-11-05" in segment.text for segment in found)


@pytest.mark.parametrize("value", [[], {}, {"results": []}, [[]], {"a": {}}])
def test_no_results_are_evidence(value: Any) -> None:
    (segment,) = segments(structured_content=value, tool="search_flights")
    assert segment.count == 0
    assert "none" in segment.text
    assert not leaves(resolve(value, segment.pointer or ""))


def test_text_that_repeats_the_structured_content_is_read_once() -> None:
    value = {"a": 1}
    once = segments(structured_content=value, content=[{"type": "text", "text": json.dumps(value, indent=1)}])
    assert [segment.pointer for segment in once] == ["/a"]
    twice = segments(structured_content=value, content=[{"type": "text", "text": '{"a": 2}'}])
    assert len(twice) == 2


def test_an_empty_object_beside_other_fields_is_evidence() -> None:
    found = segments(structured_content={"id": "A-17", "open_orders": {}, "notes": []})
    assert any("open orders" in segment.text and segment.count == 0 for segment in found)
    assert any("notes" in segment.text and segment.count == 0 for segment in found)
