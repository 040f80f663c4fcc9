"""Each foreign format, read from a sample: ids, sources, questions and citations as its documentation means them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.formats.conversation import Conversation, marker_reach
from entailgrid.provenance.ingest import detect, traces_from
from entailgrid.types import InputFormat, Source, Trace

SAMPLES = Path(__file__).parent.parent / "data" / "formats"
FORMAT_OF: dict[str, InputFormat] = {
    "anthropic": "anthropic",
    "cohere": "cohere",
    "cohere-v1": "cohere",
    "contract": "contract",
    "mcp": "mcp",
    "openai": "openai",
    "openai-legacy": "openai",
    "openai-responses": "openai-responses",
}


def sample(name: str) -> Any:
    return json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))


def traces(name: str) -> list[Trace]:
    return traces_from(sample(name), FORMAT_OF[name], default_id=f"{name}:1")


def by_id(trace: Trace) -> dict[str, Source]:
    return {source.id: source for source in trace.sources}


def cited(trace: Trace) -> list[tuple[str, tuple[str, ...]]]:
    return [(trace.answer[c.start : c.end], c.source_ids) for c in trace.citations]


def texts(source: Source) -> list[str]:
    return [block.body for block in source.blocks]


@pytest.mark.parametrize("name", FORMAT_OF)
def test_samples_are_detected(name: str) -> None:
    assert detect(sample(name)) == FORMAT_OF[name]
    assert traces_from(sample(name), None, default_id="x:1") == traces_from(
        sample(name), FORMAT_OF[name], default_id="x:1"
    )


def test_every_sample_is_covered() -> None:
    assert sorted(path.stem for path in SAMPLES.glob("*.json")) == sorted(FORMAT_OF)


def test_openai_answers_follow_the_first_result() -> None:
    found = traces("openai")
    assert [trace.id for trace in found] == ["chat-1/6", "chat-1/11", "chat-1/13"]
    assert [trace.question for trace in found] == ["Look at this 🧾.", "And shipping?", "And shipping?"]
    assert found[0].answer == "Order W7 costs $12.50. One moment."
    assert found[2].answer == "I cannot help with that."


def test_openai_sources_are_results_then_messages_so_far() -> None:
    first, second, _ = traces("openai")
    assert [source.id for source in first.sources] == ["call_1", "call_2", "user_1", "system", "system_2"]
    ids = ["call_1", "call_2", "call_1#2", "call_3", "user_1", "user_2", "system", "system_2"]
    assert [source.id for source in second.sources] == ids


def test_openai_results_carry_the_latest_call_of_their_id() -> None:
    sources = by_id(traces("openai")[1])
    assert (sources["call_1"].tool, sources["call_1"].arguments) == ("get_order", {"order_id": "W7"})
    assert texts(sources["call_1"]) == ['{"order_id":  "W7", "total": 12.50}']
    assert (sources["call_2"].tool, sources["call_2"].arguments) == ("run_sql", {"_raw": "SELECT 1"})
    assert texts(sources["call_2"]) == ["1", "row"]
    assert (sources["call_1#2"].tool, sources["call_1#2"].url) == ("fetch_page", "https://shop.example/terms")
    assert (sources["call_3"].arguments, sources["call_3"].blocks) == ({"_raw": "{not json"}, ())
    assert [block.type for block in sources["user_1"].blocks] == ["text", "image_url"]
    assert sources["user_1"].name == "user message"
    assert (sources["system"].blocks[0].text, sources["system"].name) == ("Refunds take 30 days.", "system prompt")


def test_openai_url_citation_on_a_link_cites_the_sentence_before_it() -> None:
    link = "([shop](https://shop.example/terms/?utm_source=openai))"
    assert cited(traces("openai")[1]) == [(f"Shipping is free {link}", ("call_1#2",))]


def test_openai_function_call_of_the_retired_api() -> None:
    (trace,) = traces("openai-legacy")
    assert (trace.id, trace.question) == ("openai-legacy:1/3", "Weather in Bern?")
    assert [source.id for source in trace.sources] == ["result_1", "user_1"]
    assert (trace.sources[0].tool, trace.sources[0].arguments) == ("get_weather", {"city": "Bern"})


def test_responses_items_become_sources() -> None:
    (trace,) = traces("openai-responses")
    assert (trace.id, trace.question) == ("resp_1/9", "Who runs Acme?")
    ids = ["call_a", "mcp_1", "mcp_2", "ws_1:0", "ws_1:1", "fs_1:0", "fs_1:1", "ci_1", "user_1", "system"]
    assert [source.id for source in trace.sources] == ids
    sources = by_id(trace)
    assert (sources["call_a"].tool, texts(sources["call_a"])) == ("lookup", ["Acme: CEO Ada Byron"])
    assert (sources["mcp_1"].server, sources["mcp_1"].arguments, sources["mcp_1"].is_error) == ("crm", {"id": 7}, False)
    assert (texts(sources["mcp_2"]), sources["mcp_2"].is_error) == (["Service Unavailable"], True)
    assert (sources["ws_1:0"].url, sources["ws_1:0"].blocks) == ("https://acme.example/about", ())
    assert (sources["fs_1:0"].name, sources["fs_1:0"].structured_content) == ("staff.pdf", {"year": 2025})
    assert texts(sources["ci_1"]) == ["80\n"]


def test_responses_annotations_become_citations() -> None:
    (trace,) = traces("openai-responses")
    assert cited(trace) == [
        ("It has 40 staff ([acme.example](https://acme.example/about))", ("ws_1:0",)),
        ("Staff: 40", ("fs_1:0",)),
    ]


def test_anthropic_documents_and_cited_text_blocks() -> None:
    first = traces("anthropic")[0]
    assert first.id == "anthropic:1/1"
    assert first.answer == "Green, the grass is green, as page 2 says: lawns are mown weekly"
    assert cited(first) == [
        ("the grass is green", ("document_1",)),
        ("lawns are mown weekly", ("document_2", "search_result_1")),
    ]
    sources = by_id(first)
    assert list(sources) == ["document_1", "document_2", "search_result_1", "user_1", "system"]
    assert (texts(sources["document_1"]), sources["document_1"].name) == (
        ["The grass is green. The sky is blue."],
        "Handbook",
    )
    assert texts(sources["document_2"]) == ["Lawns are mown weekly."]
    assert (texts(sources["search_result_1"]), sources["search_result_1"].url) == (
        ["Step one.", "Step two."],
        "https://docs.example/a",
    )
    assert texts(sources["user_1"]) == ["What colour is the grass?"]


def test_anthropic_tool_results_of_every_kind() -> None:
    second = traces("anthropic")[1]
    sources = by_id(second)
    results = ["toolu_1", "toolu_2:1", "toolu_2:2", "toolu_2", "srv_1:0", "srv_1:1", "mcp_1"]
    assert list(sources)[3:-2] == results
    assert (sources["toolu_1"].is_error, texts(sources["toolu_1"])) == (True, ["timeout"])
    assert sources["toolu_2:1"].tool == sources["toolu_2"].tool == "search_notes"
    assert texts(sources["toolu_2:2"]) == ["dry", "wet"]
    assert texts(sources["srv_1:0"]) == ["Monday: 12 mm of rain"]
    assert (sources["srv_1:1"].blocks, sources["srv_1:1"].arguments) == ((), {"query": "rain bern"})
    assert (sources["mcp_1"].server, sources["mcp_1"].tool, sources["mcp_1"].is_error) == ("demo", "echo", False)


def test_anthropic_answer_joins_text_around_calls_and_keeps_phantoms() -> None:
    second = traces("anthropic")[1]
    assert second.answer == "I will check the web.\n\nIt rained on Monday and it was wet. Lost."
    assert cited(second) == [
        ("It rained on Monday", ("srv_1:0", "toolu_2:1")),
        ("wet", ("toolu_2:2",)),
        (" Lost.", ("document_10",)),
    ]


def test_cohere_citations_name_tool_documents() -> None:
    (trace,) = traces("cohere")
    assert trace.id == "c-1/5"
    assert [source.id for source in trace.sources] == ["doc:0", "doc-b", "w_1:0", "extra", "w_2", "user_1", "system"]
    assert cited(trace) == [
        ("24°C", ("w_1:0",)),
        ("28°C", ("w_2", "doc-b")),
        ("warm", ("extra", "doc:0", "gone:3")),
    ]
    sources = by_id(trace)
    assert texts(sources["w_1:0"]) == ['{"temperature": {"madrid": "24°C"}}']
    assert (sources["w_1:0"].tool, sources["w_1:0"].arguments) == ("get_weather", {"location": "Madrid"})
    assert sources["extra"].structured_content == {"note": "sunny"}
    assert (texts(sources["doc-b"]), sources["doc-b"].name) == (["Brasilia is hot."], "Beta")


def test_cohere_version_1() -> None:
    (trace,) = traces("cohere-v1")
    assert (trace.id, trace.question) == ("cohere-v1:1/3", "Which penguins are tallest?")
    assert [source.id for source in trace.sources] == ["doc_0", "count:0:0", "user_1", "user_2", "system"]
    assert cited(trace) == [("emperor penguins", ("doc_0", "count:0:0"))]
    assert (trace.sources[0].url, texts(trace.sources[0])) == (
        "https://birds.example/1",
        ["Emperor penguins are the tallest."],
    )
    assert (trace.sources[1].tool, trace.sources[1].structured_content) == ("count", {"total": 18})


def test_cohere_response_alone_brings_its_sources_in_citations() -> None:
    source = {"type": "tool", "id": "t:0", "tool_output": {"price": "5"}}
    message = {"role": "assistant", "content": [{"type": "text", "text": "It costs 5."}]}
    message["citations"] = [{"start": 9, "end": 10, "text": "5", "sources": [source]}]  # type: ignore[assignment]
    (trace,) = traces_from({"id": "r", "message": message}, None, default_id="x")
    assert (trace.id, cited(trace)) == ("r/0", [("5", ("t:0",))])
    assert trace.sources[0].structured_content == {"price": "5"}


def test_mcp_pairs_results_with_calls() -> None:
    (trace,) = traces("mcp")
    assert (trace.id, trace.question, trace.answer) == ("mcp:1", "Which plan?", "The plan is Premium.")
    assert [source.id for source in trace.sources] == ["call_2", "r-3", "call_4", "call_5", "call_6"]
    account, ping, delete, help_page, slow = trace.sources
    assert (account.server, account.tool, account.arguments) == ("crm", "get_account", {"account_id": "A-17"})
    assert account.structured_content == {"plan": "Premium"}
    assert account.output_schema == {"type": "object", "required": ["plan"]}
    assert texts(account) == ['{"plan": "Premium"}', "Seats: 12"]
    assert (ping.is_error, texts(ping), ping.output_schema) == (True, ["no such host"], None)
    assert (delete.is_error, texts(delete)) == (True, ["JSON-RPC error -32602: Unknown tool: delete"])
    assert (help_page.url, help_page.tool, texts(help_page)) == ("https://crm.example/help", None, ["Help is free."])
    assert (slow.is_error, texts(slow)) == (True, ["No result was received for this call."])


def test_an_answer_beside_the_log() -> None:
    log = sample("mcp")[:-1]
    (trace,) = traces_from(log, None, default_id="log:1", answer="Premium.")
    assert (trace.id, trace.answer, len(trace.sources)) == ("log:1", "Premium.", 5)
    with pytest.raises(InvalidTrace, match=r"has no answer; expected a last line"):
        traces_from(log, "mcp", default_id="log:1")
    with pytest.raises(InvalidTrace, match=r"\[16\]: the log carries an answer"):
        traces_from(sample("mcp"), "mcp", default_id="log:1", answer="Premium.")


def test_an_answer_beside_a_conversation_rests_on_all_of_it() -> None:
    (trace,) = traces_from(sample("openai"), None, default_id="x", answer="Free shipping.")
    assert (trace.id, trace.answer, trace.citations) == ("chat-1", "Free shipping.", ())
    assert len(trace.sources) == 8


REUSED_IDS = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "a", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "1"},
    {"role": "tool", "tool_call_id": "c#2", "content": "a real id of that shape"},
    {"role": "tool", "tool_call_id": "c", "content": "2"},
    {"role": "tool", "tool_call_id": "user_1", "content": "an impostor"},
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": "done"},
]


def test_ids_stay_unique_whatever_the_conversation_calls_them() -> None:
    (trace,) = traces_from(REUSED_IDS, "openai", default_id="x")
    assert [source.id for source in trace.sources] == ["c", "c#2", "c#3", "user_1", "user_1#2"]
    assert [source.tool for source in trace.sources[:3]] == ["a", None, "a"]


TOOL = {"role": "tool", "tool_call_id": "c", "content": "r"}
NOTE = {"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 9, "url": "u", "title": "t"}}
BROKEN: list[tuple[InputFormat, Any, str, str]] = [
    ("openai", {"messages": [TOOL, {"role": "bot"}]}, "messages[1].role", "expected one of system, developer, user"),
    ("openai", {"messages": 3}, "messages", "expected a list, found 3"),
    ("openai", [{"role": "tool", "content": "r"}], "[0].tool_call_id", "expected a string, found null"),
    ("openai", [{"role": "user", "content": [{"type": "text", "text": 1}]}], "[0].content[0].text", "found 1"),
    ("openai", [TOOL, {"role": "assistant", "content": "short", "annotations": [NOTE]}],
     "[1].annotations[0].url_citation", "offsets 0..9 are not a span of the text (0..5)"),
    ("openai", {"id": 7, "messages": []}, "id", "expected a string, found 7"),
    ("openai-responses", [{"type": "function_call_output", "output": "x"}], "[0].call_id", "found null"),
    ("anthropic", [{"role": "user", "content": [{"type": "tool_result"}]}], "[0].content[0].tool_use_id", "found null"),
    ("anthropic", [{"role": "user", "content": [{"text": "x"}]}], "[0].content[0].type", "expected a string"),
    ("cohere", {"message": {"role": "assistant", "content": "abc", "citations": [
        {"start": 0, "end": 2, "text": "zz", "document_ids": ["d"]}]}}, "message.citations[0]", 'the text has no "zz"'),
    ("mcp", [{"answer": "a"}, {"answer": "b"}], "[0]", "expected a JSON-RPC message"),
    ("mcp", [{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, {"answer": "b"}], "[0].params.name", "found null"),
    ("mcp", [{"answer": "b", "answr": 1}], "[0].answr", 'unknown key "answr"'),
    ("mcp", [{"answer": "b", "sources": []}], "[0].sources", "expected no sources"),
    ("contract", {"messages": []}, "answer", "missing; it is required (and 2 more problems)"),
    ("openai", {}, "", "needs messages"),
    ("anthropic", [{"role": "tool"}], "[0].role", 'expected user or assistant, found "tool"'),
    ("cohere", [{"role": "bot"}], "[0].role", "expected one of system, user, assistant, tool"),
    ("cohere", {"message": {"role": "assistant", "content": "abc", "citations": [{"start": 1, "end": 9}]}},
     "message.citations[0]", "offsets 1..9 are not a span of the text (0..3)"),
    ("mcp", [{"jsonrpc": "2.0", "id": True, "method": "ping"}, {"answer": "b"}], "[0].id", "found true"),
    ("contract", {"answer": "a", "sources": [], "citations": 1}, "citations", "expected a list, found 1"),
    ("openai-responses", {"id": "r"}, "", "needs input or output"),
    ("anthropic", {"system": "s"}, "", "needs messages or content"),
    ("cohere", {"documents": []}, "", "needs messages or message"),
    ("openai", "text", "", "expected a conversation (openai)"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "document", "where", "problem"), BROKEN)
def test_broken_input_is_named(format: InputFormat, document: Any, where: str, problem: str) -> None:
    with pytest.raises(InvalidTrace) as caught:
        traces_from(document, format, default_id="x")
    assert caught.value.where == where
    assert problem in caught.value.problem


UNKNOWN = [
    (None, "null"),
    (5, "5"),
    ("text", '"text"'),
    ([], "an empty list"),
    ([5], "a list"),
    ([["a"]], "a list"),
    ([[{}]], "a list"),
    ({}, "an empty object"),
    ({"id": "x", "b": 1}, 'an object with the keys "id", "b"'),
    ({"messages": []}, 'an object with the keys "messages"'),
    ({"text": "only"}, 'an object with the keys "text"'),
    ({"citations": []}, 'an object with the keys "citations"'),
    ({"role": "user", "content": []}, 'an object with the keys "role", "content"'),
    ({"role": "assistant", "content": "x"}, 'an object with the keys "role", "content"'),
    ({"input": "x", "documents": []}, 'an object with the keys "input", "documents"'),
]


@pytest.mark.parametrize(("document", "found"), UNKNOWN)
def test_unknown_documents_name_what_was_found_and_the_known_formats(document: Any, found: str) -> None:
    with pytest.raises(InvalidTrace) as caught:
        detect(document)
    expected = "expected one of contract, openai, openai-responses, anthropic, cohere, mcp"
    assert caught.value.problem == f"fits no known format, found {found}; {expected}"


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
    (trace,) = traces_from(
        [tool, {"role": "assistant", "content": text, "citations": [note]}], "cohere", default_id="x"
    )
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
    (items,) = traces_from(
        [{"role": "developer", "content": "rule"}, output, answer], "openai-responses", default_id="x"
    )
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
