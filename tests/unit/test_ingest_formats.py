"""Each foreign format, read from a sample: ids, sources, questions and citations as its documentation means them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from entailgrid.errors import InvalidTrace
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
    assert traces_from(sample(name), None, default_id="x:1") == traces_from(sample(name), FORMAT_OF[name], default_id="x:1")


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
    ("contract", {"messages": []}, "messages", 'unknown key "messages"; known keys: answer, sources, '),
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
