"""Corners of the foreign formats: withheld results, failures, offsets, detection, arguments."""

from __future__ import annotations

from typing import Any

import pytest

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.formats.conversation import Conversation, marker_reach
from entailgrid.provenance.ingest import detect, traces_from
from entailgrid.types import InputFormat, Source, Trace


def cited(trace: Trace) -> list[tuple[str, tuple[str, ...]]]:
    return [(trace.answer[c.start : c.end], c.source_ids) for c in trace.citations]


def texts(source: Source) -> list[str]:
    return [block.body for block in source.blocks]


TEXT = "Rain fell. It was 12 mm."


def responses(*output: dict[str, Any], **request: Any) -> Trace:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TEXT}]}
    if "annotations" in request:
        answer["content"][0]["annotations"] = request.pop("annotations")  # type: ignore[index]
    (trace,) = traces_from({"input": "How much?", **request, "output": [*output, answer]}, None, default_id="x")
    return trace


def test_responses_input_as_text_is_the_question() -> None:
    trace = responses({"type": "function_call_output", "call_id": "c", "output": "12 mm"}, instructions="s")
    assert (trace.id, trace.question) == ("x/2", "How much?")
    assert [source.id for source in trace.sources] == ["c", "user_1", "system"]


URL_NOTE = {"type": "url_citation", "start_index": 11, "end_index": 23, "url": "https://a.example", "title": "A"}
FILE_NOTE = {"type": "file_citation", "index": 23, "file_id": "f", "filename": "f.pdf"}
WEB = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "rain"}}
FILES = {"type": "file_search_call", "id": "fs", "status": "completed", "queries": ["rain"], "results": None}
PAGES = {**WEB, "action": {"type": "search", "query": "rain", "sources": [{"type": "url", "url": "https://b.example"}]}}


@pytest.mark.parametrize(
    ("search", "note", "expected"),
    [
        (WEB, URL_NOTE, [("It was 12 mm", ("ws",))]),
        (FILES, FILE_NOTE, [("It was 12 mm", ("fs",))]),
        (FILES, {**FILE_NOTE, "index": 0}, [(TEXT, ("fs",))]),
        (WEB, {**URL_NOTE, "start_index": 0, "end_index": 0}, [(TEXT, ("ws",))]),
        (WEB, {**URL_NOTE, "start_index": 23}, [("It was 12 mm", ("ws",))]),
        (PAGES, URL_NOTE, []),
        (WEB, FILE_NOTE, []),
        (WEB, {"type": "container_file_citation"}, []),
    ],
)
def test_responses_searches_without_listed_hits_are_cited_as_a_whole(
    search: dict[str, Any], note: dict[str, Any], expected: list[Any]
) -> None:
    trace = responses(search, annotations=[note])
    assert cited(trace) == expected
    assert trace.sources[0].blocks == ()


MCP_CALL = {"type": "mcp_call", "id": "m", "server_label": "s", "name": "n", "arguments": "{}"}
RESPONSES_RESULTS = [
    ({**MCP_CALL, "output": None, "error": "boom"}, ["boom"], True),
    (
        {**MCP_CALL, "error": {"type": "mcp_tool_execution_error", "content": [{"text": "é"}]}},
        ['[{"text": "é"}]'],
        True,
    ),
    ({**MCP_CALL, "output": None, "status": "incomplete"}, ["No result was received for this call."], True),
    ({**MCP_CALL, "output": "fine", "status": "failed"}, ["fine"], True),
    ({"type": "local_shell_call_output", "id": "m", "output": "out"}, ["out"], False),
    ({"type": "code_interpreter_call", "id": "m", "code": "x", "outputs": None, "status": "failed"}, [], True),
    ({**WEB, "id": "m", "status": "failed"}, [], True),
]


@pytest.mark.parametrize(("item", "expected", "failed"), RESPONSES_RESULTS)
def test_responses_results_and_failures(item: dict[str, Any], expected: list[str], failed: bool) -> None:
    source = responses(item, {"type": "reasoning", "id": "r"}).sources[0]
    assert (source.id, texts(source), source.is_error) == ("m", expected, failed)


def test_responses_structured_outputs_stay_structured() -> None:
    output = [{"stdout": "12", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    source = responses({"type": "shell_call_output", "call_id": "c", "output": output}).sources[0]
    assert (source.structured_content, source.blocks) == (output, ())


PAGE = {"type": "document", "title": "Page", "source": {"type": "text", "media_type": "text/plain", "data": "12 mm"}}
FETCHED = {
    "type": "web_fetch_result",
    "url": "https://a.example/",
    "retrieved_at": "2026-01-02T03:04:05Z",
    "content": PAGE,
}
SERVER_RESULTS = [
    (FETCHED, ["12 mm"], {"url": "https://a.example/", "name": "Page", "tool": "run", "is_error": False}),
    ({"type": "web_fetch_tool_result_error", "error_code": "url_not_allowed"}, ["url_not_allowed"], {"is_error": True}),
    ({"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0}, ["1"], {"is_error": False}),
    ({"type": "code_execution_result", "stdout": "", "stderr": "no", "return_code": 1}, ["no"], {"is_error": True}),
    ({"type": "other", "k": 1}, [], {"structured_content": {"type": "other", "k": 1}}),
]


@pytest.mark.parametrize(("content", "expected", "fields"), SERVER_RESULTS)
def test_anthropic_server_tools_in_one_response(content: Any, expected: list[str], fields: dict[str, Any]) -> None:
    cite = [{"type": "char_location", "document_index": 0, "cited_text": "12 mm"}]
    blocks = [
        {"type": "text", "text": "Before any result."},
        {"type": "server_tool_use", "id": "s", "name": "run", "input": {}},
        {"type": "web_fetch_tool_result", "tool_use_id": "s", "content": content},
        {"type": "text", "text": TEXT, "citations": cite},
    ]
    response = {"id": "msg_1", "type": "message", "role": "assistant", "content": blocks}
    (trace,) = traces_from(response, None, default_id="x")
    source = trace.sources[0]
    assert (trace.id, trace.answer, source.id, texts(source)) == ("msg_1/0", TEXT, "s", expected)
    assert {name: getattr(source, name) for name in fields} == fields
    assert cited(trace) == [(TEXT, ("s",) if content is FETCHED else ("document_1",))]


def test_cohere_offsets_that_are_off_are_moved_to_the_words() -> None:
    text = "Bern 22, Biel 22."
    tool = {"role": "tool", "tool_call_id": "t", "content": "22"}
    note = {"start": 12, "end": 14, "text": "22", "sources": [{"type": "tool", "id": "t:0"}]}
    (trace,) = traces_from([tool, {"role": "assistant", "content": text, "citations": [note]}], "cohere", default_id="x")
    assert [(c.start, c.end, c.source_ids) for c in trace.citations] == [(14, 16, ("t",))]


def test_conversations_without_results_have_no_answers() -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    for format in ("openai", "openai-responses", "anthropic", "cohere"):
        assert traces_from(messages, format, default_id="x") == []


DETECTED: list[tuple[Any, InputFormat]] = [
    ({"answer": "a"}, "contract"),
    ({"sources": [], "messages": []}, "contract"),
    ({"messages": [{"role": "user", "content": "x"}]}, "openai"),
    ({"system": "s", "messages": [{"role": "user", "content": "x"}]}, "anthropic"),
    ({"messages": [{"role": "user", "content": "x"}], "documents": []}, "cohere"),
    ([{"role": "user", "content": [{"type": "input_text", "text": "x"}]}], "openai-responses"),
    ([{"role": "assistant", "tool_plan": "p"}], "cohere"),
    ({"text": "a", "citations": []}, "cohere"),
    ({"text": "a", "chat_history": []}, "cohere"),
    ([{"role": "tool", "content": [{"type": "document", "document": {}}]}], "cohere"),
    ([{"role": "user", "content": [{"type": "document", "source": {}}]}], "anthropic"),
    ([{"role": "user", "content": [{"type": "tool_result"}]}], "anthropic"),
    ([{"role": "assistant", "content": [{"type": "tool_use"}]}], "anthropic"),
    ([{"role": "assistant", "content": [{"type": "text", "text": "x", "citations": []}]}], "anthropic"),
    ([{"role": "user", "content": [{"type": "text", "text": "x"}]}], "openai"),
    ([{"type": "function_call"}], "openai-responses"),
    ([[{"jsonrpc": "2.0", "id": 1, "method": "ping"}], {"answer": "a"}], "mcp"),
    ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, "mcp"),
]


@pytest.mark.parametrize(("document", "format"), DETECTED)
def test_telling_features(document: Any, format: InputFormat) -> None:
    assert detect(document) == format


def test_an_answer_beside_a_trace_that_has_none() -> None:
    (trace,) = traces_from({"sources": []}, None, default_id="t:1", answer="a")
    assert (trace.id, trace.answer) == ("t:1", "a")
    with pytest.raises(InvalidTrace, match=r"^answer: the trace carries an answer"):
        traces_from({"sources": [], "answer": "b"}, None, default_id="t:1", answer="a")


def test_system_messages_inside_conversations() -> None:
    turns = [{"role": "system", "content": "rule"}, {"role": "tool", "tool_call_id": "c", "content": "r"}]
    answer = {"role": "assistant", "content": "done"}
    (chat,) = traces_from([*turns, answer], "cohere", default_id="x")
    assert [source.id for source in chat.sources] == ["c", "system"]
    used = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]}
    (messages,) = traces_from([turns[0], used, answer], "anthropic", default_id="x")
    assert [source.id for source in messages.sources] == ["c", "system"]
    output = {"type": "function_call_output", "call_id": "c", "output": "r"}
    (items,) = traces_from([{"role": "developer", "content": "rule"}, output, answer], "openai-responses", default_id="x")
    assert [source.id for source in items.sources] == ["c", "system"]
    turn = {"role": "System", "message": "rule"}
    old = {"text": "done", "documents": [{"id": "c", "text": "r"}], "chat_history": [turn], "citations": []}
    (version_1,) = traces_from(old, None, default_id="x")
    assert [source.id for source in version_1.sources] == ["c", "system"]


def test_refusals_are_answers() -> None:
    part = {"type": "refusal", "refusal": "I will not."}
    result = {"role": "tool", "tool_call_id": "c", "content": "r"}
    (chat,) = traces_from([result, {"role": "assistant", "content": [part]}], "openai", default_id="x")
    output = {"type": "function_call_output", "call_id": "c", "output": "r"}
    (items,) = traces_from([output, {"role": "assistant", "content": [part]}], "openai-responses", default_id="x")
    assert chat.answer == items.answer == "I will not."


def test_addresses_match_without_trackers_fragments_and_last_slash() -> None:
    url = "https://A.example/p/?b=1&utm_source=openai#top"
    conversation = Conversation("x")
    for number, address in enumerate(["https://a.example/p?b=1", "https://a.example/p?b=2", "http://[x"]):
        conversation.result(f"r{number}", [], "", url=address)
    assert conversation.with_url(url) == ["r0"]
    assert conversation.with_url("http://[x") == ["r2"]


REACHES = [
    ("One. Two [1](u) three.", (9, 15), "Two [1](u)"),
    ("One! 2.5 mm fell 【1】", (17, 20), "2.5 mm fell 【1】"),
    ("- first\n- second https://u", (17, 26), "second https://u"),
    ("一。二（注）[1]", (6, 9), "二（注）[1]"),
    ("Plain words here.", (6, 11), "words"),
    ("[1] opens", (0, 3), "[1]"),
]


@pytest.mark.parametrize(("text", "span", "expected"), REACHES)
def test_reach_of_an_annotation(text: str, span: tuple[int, int], expected: str) -> None:
    start, end = marker_reach(text, *span)
    assert text[start:end] == expected


def test_mcp_ids_used_again_before_the_result() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f", "arguments": {"n": 1}}}
    result = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "r"}]}}
    stray = {"jsonrpc": "2.0", "id": 7, "result": {}}
    (trace,) = traces_from([call, call, result, stray, {"answer": "a"}], None, default_id="x")
    assert [(source.id, texts(source), source.is_error) for source in trace.sources] == [
        ("call_1", ["No result was received for this call."], True),
        ("call_1#2", ["r"], False),
    ]


def test_mcp_answers_may_carry_the_other_fields_of_a_trace() -> None:
    closing = {
        "id": "own",
        "answer": "abc",
        "question": "q",
        "citations": [{"start": 0, "end": 3, "source_ids": ["r"]}],
    }
    (trace,) = traces_from([{"jsonrpc": "2.0", "method": "note"}, closing], None, default_id="x")
    assert (trace.id, trace.question, cited(trace)) == ("own", "q", [("abc", ("r",))])


ARGUMENTS = [
    ('{"a": 1}', {"a": 1}),
    ("", {}),
    (None, {}),
    ({"a": 1}, {"a": 1}),
    ("[1]", {"_raw": "[1]"}),
    ('{"a": NaN}', {"_raw": '{"a": NaN}'}),
    ('{"a": 1, "a": 2}', {"_raw": '{"a": 1, "a": 2}'}),
    (r'{"a": "\ud800"}', {"_raw": r'{"a": "\ud800"}'}),
    ("[" * 5000, {"_raw": "[" * 5000}),
    (5, {"_raw": 5}),
]


@pytest.mark.parametrize(("arguments", "expected"), ARGUMENTS)
def test_tool_arguments(arguments: Any, expected: dict[str, Any]) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    result = {"role": "tool", "tool_call_id": "c", "content": "r"}
    turns = [{"role": "assistant", "tool_calls": [call]}, result, {"role": "assistant", "content": "a"}]
    (trace,) = traces_from(turns, "openai", default_id="x")
    assert trace.sources[0].arguments == expected


def test_lone_surrogates_in_an_answer_from_elsewhere_are_refused() -> None:
    with pytest.raises(InvalidTrace, match=r"holds a lone surrogate U\+D800"):
        traces_from({"sources": []}, None, default_id="x", answer="\ud800")


def test_a_result_without_its_call_keeps_the_name_it_brings() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "called", "arguments": "{}"}}
    known = {"role": "tool", "tool_call_id": "c", "name": "other", "content": "r"}
    turns = [{"role": "assistant", "tool_calls": [call]}, known, {**known, "tool_call_id": "d"}]
    (trace,) = traces_from([*turns, {"role": "assistant", "content": "a"}], "openai", default_id="x")
    assert [source.tool for source in trace.sources] == ["called", "other"]


def test_anthropic_names_and_addresses_of_documents() -> None:
    blocks = [
        {"type": "document", "source": {"type": "url", "url": "https://a.example/x.pdf"}},
        {"type": "document", "context": "c", "source": {"type": "file", "file_id": "f"}},
        {"type": "search_result", "source": "kb-1", "title": "", "content": [{"type": "text", "text": "x"}]},
        {"type": "search_result", "source": "kb-2", "title": "T", "content": []},
    ]
    turns = [{"role": "user", "content": blocks}, {"role": "assistant", "content": "a"}]
    (trace,) = traces_from(turns, "anthropic", default_id="x")
    found = [(source.id, source.name, source.url) for source in trace.sources]
    assert found == [
        ("document_1", None, "https://a.example/x.pdf"),
        ("document_2", None, None),
        ("search_result_1", "kb-1", None),
        ("search_result_2", "T", None),
    ]
