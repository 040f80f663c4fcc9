"""Input of any known format -> traces. Every problem is an `InvalidTrace` with one clear line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.formats import anthropic, cohere, mcp, openai, openai_responses
from entailgrid.provenance.formats.conversation import Conversation
from entailgrid.provenance.json_text import MAX_TRACE_BYTES, check_values, describe, load_json
from entailgrid.provenance.validation import validate
from entailgrid.types import InputFormat, Trace

_READERS: dict[InputFormat, Callable[[object, Conversation], None]] = {
    "openai": openai.read,
    "openai-responses": openai_responses.read,
    "anthropic": anthropic.read,
    "cohere": cohere.read,
}
FORMATS: tuple[InputFormat, ...] = ("contract", *_READERS, "mcp")

_RESPONSES_ITEMS = (
    "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "mcp_call",
    "web_search_call", "file_search_call", "code_interpreter_call", "reasoning", "item_reference", "mcp_list_tools",
)  # fmt: skip
_RESPONSES_PARTS = ("input_text", "output_text", "input_image", "input_file")
_ANTHROPIC_PARTS = ("tool_use", "server_tool_use", "mcp_tool_use", "search_result", "thinking", "redacted_thinking")


def parse_trace(
    data: Trace | dict[str, Any] | str | bytes, *, default_id: str | None = None, max_bytes: int = MAX_TRACE_BYTES
) -> Trace:
    """A trace of the contract from JSON text, UTF-8 bytes, a dict, or a trace (which is checked too).

    `default_id` names a trace that has no id. For text, `max_bytes` bounds its UTF-8 length; for a dict, that of its
    keys and strings. Raises `InvalidTrace`, or its kind `PayloadTooLarge`.
    """
    if isinstance(data, Trace):
        check_values(data, max_bytes)
        trace = data
    else:
        document: object = load_json(data, max_bytes) if isinstance(data, str | bytes) else data
        check_values(document, max_bytes)
        trace = validate(Trace, document)
    return _named(trace, default_id)


def traces_from(document: object, format: InputFormat | None, *, default_id: str, answer: str | None = None) -> list[Trace]:
    """The traces of one parsed JSON document; `format=None` detects it.

    A conversation gives a trace for each assistant text after its first tool result, perhaps none. With `answer`,
    it gives one: that answer over all that the conversation holds. Raises `InvalidTrace`.
    """
    check_values(document)
    if answer is not None:
        check_values(answer)
    kind = format or detect(document)
    if kind == "contract":
        return [_contract(document, default_id, answer)]
    if kind == "mcp":
        return [mcp.read_log(document, default_id, answer)]
    return _conversation(document, kind, default_id, answer)


def detect(document: object) -> InputFormat:
    """The format of one parsed JSON document. Raises `InvalidTrace` when none fits."""
    if isinstance(document, dict):
        found = _detect_object(document)
    elif isinstance(document, list | tuple) and document:
        found = _detect_list(list(document))
    else:
        found = None
    if found is None:
        what = describe(document) if not isinstance(document, list | tuple) or document else "an empty list"
        if isinstance(document, dict):
            keys = ", ".join(map(describe, list(document)[:6]))
            what = f"an object with the keys {keys}" if keys else "an empty object"
        raise InvalidTrace(f"fits no known format, found {what}; expected one of {', '.join(FORMATS)}")
    return found


def _named(trace: Trace, default_id: str | None) -> Trace:
    return trace.model_copy(update={"id": default_id}) if trace.id is None and default_id is not None else trace


def _contract(document: object, default_id: str, answer: str | None) -> Trace:
    if answer is not None and isinstance(document, dict):
        if "answer" in document:
            raise InvalidTrace("the trace carries an answer; expected none beside an answer file", "answer")
        document = {**document, "answer": answer}
    return _named(validate(Trace, document), default_id)


def _conversation(document: object, kind: InputFormat, default_id: str, answer: str | None) -> list[Trace]:
    if not isinstance(document, dict | list | tuple):
        raise InvalidTrace(f"expected a conversation ({kind}), found {describe(document)}")
    id = document.get("id") if isinstance(document, dict) else None
    if id is not None and not isinstance(id, str):
        raise InvalidTrace(f"expected a string, found {describe(id)}", "id")
    conversation = Conversation(id or default_id)
    _READERS[kind](document, conversation)
    if answer is None:
        return conversation.traces
    return [conversation.snapshot(conversation.id, answer, [])]


def _detect_object(document: dict[str, Any]) -> InputFormat | None:
    if "jsonrpc" in document:
        return "mcp"
    if "sources" in document:
        return "contract"
    if document.get("object") == "response" or any(isinstance(document.get(key), list) for key in ("output", "input")):
        return "openai-responses"
    if isinstance(document.get("message"), dict):
        return "cohere"
    if isinstance(document.get("text"), str) and ("citations" in document or "chat_history" in document):
        return "cohere"
    if isinstance(document.get("messages"), list):
        found = "cohere" if isinstance(document.get("documents"), list) else _detect_list(document["messages"])
        return "anthropic" if found == "openai" and "system" in document else found
    if document.get("role") == "assistant" and isinstance(document.get("content"), list):
        return "anthropic"
    return "contract" if "answer" in document else None


def _detect_list(items: list[Any]) -> InputFormat | None:
    """The format of a list of messages or items; the first telling one decides, plain chat messages are `openai`."""
    if any(isinstance(item, list) for item in items) or any("jsonrpc" in item for item in items if isinstance(item, dict)):
        batches = [message for item in items for message in (item if isinstance(item, list) else [item])]
        return "mcp" if any(isinstance(message, dict) and "jsonrpc" in message for message in batches) else None
    messages = [item for item in items if isinstance(item, dict)]
    for message in messages:
        if found := _detect_message(message):
            return found
    return "openai" if any("role" in message for message in messages) else None


def _detect_message(message: dict[str, Any]) -> InputFormat | None:
    """The format that a single message gives away."""
    if message.get("type") in _RESPONSES_ITEMS:
        return "openai-responses"
    if "tool_plan" in message or "citations" in message:
        return "cohere"
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    for part in parts:
        kind = str(part.get("type"))
        if kind in _RESPONSES_PARTS:
            return "openai-responses"
        if kind == "document":
            return "cohere" if "document" in part else "anthropic"
        if kind in _ANTHROPIC_PARTS or kind.endswith("tool_result") or "citations" in part:
            return "anthropic"
    return None
