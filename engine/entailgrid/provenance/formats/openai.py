"""OpenAI Chat Completions messages: https://platform.openai.com/docs/api-reference/chat"""

from __future__ import annotations

from typing import Any

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.formats.conversation import Citation, Conversation, marker_reach, sentence_start
from entailgrid.provenance.formats.shape import (
    as_index,
    as_object,
    as_text,
    blocks_of,
    joined_text,
    objects,
    require_one,
    text_of,
)
from entailgrid.provenance.json_text import describe

ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def read(document: object, conversation: Conversation) -> None:
    """Read `{"messages": [...]}` or a bare list of messages into `conversation`."""
    messages, where = document, ""
    if isinstance(document, dict):
        require_one(document, "messages")
        messages, where = document["messages"], "messages"
    for index, (message, path) in enumerate(objects(messages, where)):
        role = message.get("role")
        if role in ("system", "developer"):
            conversation.system(blocks_of(message.get("content"), f"{path}.content"), path)
        elif role == "user":
            conversation.user(blocks_of(message.get("content"), f"{path}.content"), path)
        elif role == "assistant":
            _assistant(message, index, path, conversation)
        elif role in ("tool", "function"):
            _result(message, path, conversation)
        else:
            raise InvalidTrace(f"expected one of {', '.join(ROLES)}, found {describe(role)}", f"{path}.role")


def _assistant(message: dict[str, Any], index: int, path: str, conversation: Conversation) -> None:
    text = _assistant_text(message, path)
    conversation.answer(index, text, _citations(message, text, path, conversation))
    for call, place in objects(message.get("tool_calls"), f"{path}.tool_calls"):
        kind = "custom" if call.get("type") == "custom" else "function"
        body = as_object(call.get(kind), f"{place}.{kind}")
        arguments = body.get("arguments" if kind == "function" else "input")
        conversation.call(as_text(call.get("id"), f"{place}.id"), text_of(body.get("name")), arguments)
    if message.get("function_call") is not None:
        body = as_object(message["function_call"], f"{path}.function_call")
        name = as_text(body.get("name"), f"{path}.function_call.name")
        conversation.call(_legacy_id(name), name, body.get("arguments"))


def _assistant_text(message: dict[str, Any], path: str) -> str:
    parts = blocks_of(message.get("content"), f"{path}.content")
    for number, part in enumerate(parts):
        if part.get("type") == "refusal":
            refusal = as_text(part.get("refusal"), f"{path}.content[{number}].refusal")
            parts[number] = {"type": "text", "text": refusal}
    return joined_text(parts, "") or text_of(message.get("refusal")) or ""


def _citations(message: dict[str, Any], text: str, path: str, conversation: Conversation) -> list[Citation]:
    citations = []
    for annotation, place in objects(message.get("annotations"), f"{path}.annotations"):
        if annotation.get("type") != "url_citation":
            continue
        place = f"{place}.url_citation"
        body = as_object(annotation.get("url_citation"), place)
        span = annotated_span(body, text, place)
        if ids := conversation.with_url(as_text(body.get("url"), f"{place}.url")):
            citations.append((*span, ids))
    return citations


def annotated_span(annotation: dict[str, Any], text: str, place: str) -> tuple[int, int]:
    """What a `url_citation` covers: `start_index` and `end_index` are half-open offsets of `text`.

    Some gateways give an empty span: the sentence that ends there is meant, at 0 the whole text.
    """
    start = as_index(annotation.get("start_index"), f"{place}.start_index")
    end = as_index(annotation.get("end_index"), f"{place}.end_index")
    if start == end <= len(text) and text:
        return (sentence_start(text, end), end) if end else (0, len(text))
    if not start < end <= len(text):
        raise InvalidTrace(f"offsets {start}..{end} are not a span of the text (0..{len(text)})", place)
    return marker_reach(text, start, end)


def _result(message: dict[str, Any], path: str, conversation: Conversation) -> None:
    content = blocks_of(message.get("content"), f"{path}.content")
    name = text_of(message.get("name"))
    if message["role"] == "function" and name:
        conversation.reply(_legacy_id(name), content, path, id=f"result_{len(conversation.results) + 1}", tool=name)
        return
    call_id = as_text(message.get("tool_call_id"), f"{path}.tool_call_id")
    tool = None if conversation.called(call_id).tool else name
    conversation.reply(call_id, content, path, tool=tool)


def _legacy_id(name: str) -> str:
    """Calls of the retired `function_call` have no id; a name stands in, apart from every real id."""
    return f"\0{name}"
