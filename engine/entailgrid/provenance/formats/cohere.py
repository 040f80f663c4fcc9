"""Cohere Chat, API v2 (messages, documents, citations with sources) and v1 (text, documents, document_ids).

https://docs.cohere.com/reference/chat
"""

from __future__ import annotations

import re
from typing import Any

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.formats.conversation import Citation, Conversation
from entailgrid.provenance.formats.shape import (
    as_index,
    as_list,
    as_object,
    as_text,
    blocks_of,
    joined_text,
    objects,
    require_one,
    text_of,
    web_address,
)
from entailgrid.provenance.json_text import describe, quote

_BODY_KEYS = ("text", "snippet", "content")


def read(document: object, conversation: Conversation) -> None:
    """Read a v2 conversation, a v2 response (`message` an object), or a v1 request and response in one object."""
    reader = _Reader(conversation)
    if not isinstance(document, dict):
        reader.messages(document, "")
    elif isinstance(document.get("text"), str):
        reader.version_1(document)
    else:
        require_one(document, "messages", "message")
        reader.documents(document.get("documents"), "documents")
        reader.messages(document.get("messages"), "messages")
        if document.get("message") is not None:
            reader.message(as_object(document["message"], "message"), reader.count, "message")


class _Reader:
    """Reads messages in order; `_cited_as` maps the ids that citations use to ids of sources."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.count = 0
        self._cited_as: dict[str, list[str]] = {}

    def documents(self, documents: object, where: str) -> None:
        """Documents of the request; Cohere calls one without an id `doc:<its index>`."""
        for number, item in enumerate(as_list([] if documents is None else documents, where)):
            self._document(item, f"{where}[{number}]", f"doc:{number}")

    def messages(self, messages: object, where: str) -> None:
        for message, path in objects(messages, where):
            self.message(message, self.count, path)
            self.count += 1

    def message(self, message: dict[str, Any], index: int, path: str) -> None:
        role = message.get("role")
        if role == "assistant":
            self._assistant(message, index, path)
        elif role == "tool":
            self._tool(message, path)
        elif role in ("system", "developer"):
            self.conversation.system(blocks_of(message.get("content"), f"{path}.content"), path)
        elif role == "user":
            self.conversation.user(blocks_of(message.get("content"), f"{path}.content"), path)
        else:
            expected = "expected one of system, user, assistant, tool"
            raise InvalidTrace(f"{expected}, found {describe(role)}", f"{path}.role")

    def version_1(self, document: dict[str, Any]) -> None:
        """One answer (`text`) with its documents, tool results and `chat_history`."""
        self.conversation.system(blocks_of(document.get("preamble"), "preamble"), "preamble")
        turns = list(objects(document.get("chat_history"), "chat_history"))
        if turns and turns[-1][0].get("role") == "CHATBOT" and turns[-1][0].get("message") == document["text"]:
            turns.pop()  # a response's history ends with the reply itself
        asked = text_of(document.get("message"))
        if asked and not (turns and turns[-1][0].get("role") == "USER" and turns[-1][0].get("message") == asked):
            turns.append(({"role": "USER", "message": asked}, "message"))
        self.documents(document.get("documents"), "documents")
        self._tool_results(document.get("tool_results"), "tool_results")
        for turn, path in turns:
            content = blocks_of(turn.get("message"), f"{path}.message")
            role = str(turn.get("role")).upper()
            if role == "USER":
                self.conversation.user(content, path)
            elif role == "SYSTEM":
                self.conversation.system(content, path)
        citations = self._citations(document.get("citations"), document["text"], [0], "citations")
        self.conversation.answer(len(turns), document["text"], citations)

    def _assistant(self, message: dict[str, Any], index: int, path: str) -> None:
        blocks = blocks_of(message.get("content"), f"{path}.content")
        text = joined_text(blocks, "")
        offsets = [len(joined_text(blocks[:number], "")) for number in range(len(blocks))]
        citations = self._citations(message.get("citations"), text, offsets, f"{path}.citations")
        self.conversation.answer(index, text, citations)
        for call, place in objects(message.get("tool_calls"), f"{path}.tool_calls"):
            body = as_object(call.get("function"), f"{place}.function")
            self.conversation.call(as_text(call.get("id"), f"{place}.id"), text_of(body.get("name")), body.get("arguments"))

    def _tool(self, message: dict[str, Any], path: str) -> None:
        """A tool message: each document is a source of its own (`<call id>:<index>`), as citations name them."""
        call_id = as_text(message.get("tool_call_id"), f"{path}.tool_call_id")
        parts = blocks_of(message.get("content"), f"{path}.content")
        own, ids = [], []
        for number, part in enumerate(parts):
            if part["type"] == "document":
                place = f"{path}.content[{number}].document"
                ids.append(self._document(part.get("document"), place, f"{call_id}:{number}", call_id))
            else:
                own.append(part)
        if own or not ids:
            ids.append(self.conversation.reply(call_id, own, path).id)
        self._cited_as[call_id] = ids
        for number, part in enumerate(parts or [{}]):
            if part.get("type") != "document":
                self._cited_as[f"{call_id}:{number}"] = [ids[-1]]

    def _document(self, item: object, path: str, default: str, call_id: str | None = None) -> str:
        """Add one document: a string, `{"id"?, "data": object or string}`, or (v1) an object of strings."""
        if isinstance(item, str):
            item = {"data": item}
        body = as_object(item, path)
        name = text_of(body.get("id"))
        data = body["data"] if "data" in body else {k: v for k, v in body.items() if k != "id"}
        content, fields = _document_fields(data, path)
        if call_id is None:
            entry = self.conversation.result(name or default, content, path, **fields)
        else:
            entry = self.conversation.reply(call_id, content, path, id=name or default, **fields)
        for alias in filter(None, (default, name)):
            self._cited_as[alias] = [entry.id]
        return entry.id

    def _tool_results(self, results: object, where: str) -> None:
        """Tool results of v1; citations call them `<tool>:<index of the call>:<index of the output>`."""
        for number, (result, path) in enumerate(objects(results, where)):
            call = as_object(result.get("call"), f"{path}.call")
            name = as_text(call.get("name"), f"{path}.call.name")
            call_id = f"{name}:{number}"
            self.conversation.call(call_id, name, call.get("parameters"))
            for index, (output, place) in enumerate(objects(result.get("outputs"), f"{path}.outputs")):
                if f"{call_id}:{index}" not in self._cited_as:
                    self._document({"data": output}, place, f"{call_id}:{index}", call_id)

    def _citations(self, citations: object, text: str, offsets: list[int], where: str) -> list[Citation]:
        found = []
        for citation, place in objects(citations, where):
            if citation.get("type") in ("PLAN", "THINKING_CONTENT"):
                continue
            ids = [self._resolve(id, {}, place) for id in as_list(citation.get("document_ids") or [], f"{place}.document_ids")]
            for source, path in objects(citation.get("sources"), f"{place}.sources"):
                ids.append(self._resolve(source.get("id"), source, path))
            block = citation.get("content_index")
            base = offsets[block] if isinstance(block, int) and 0 <= block < len(offsets) else 0
            span = _span(citation, text, base, place)
            found.append((*span, list(dict.fromkeys(id for group in ids for id in group))))
        return [item for item in found if item[2]]

    def _resolve(self, id: object, source: dict[str, Any], path: str) -> list[str]:
        """Ids of the sources that a citation names. A response alone carries them inside its citations."""
        name = as_text(id, f"{path}.id")
        if name not in self._cited_as:
            kind = "document" if source.get("type") == "document" else "tool_output"
            if isinstance(source.get(kind), dict):
                data = {key: value for key, value in source[kind].items() if key != "id"}
                self._document({"id": name, "data": data}, f"{path}.{kind}", name)
        return self._cited_as.get(name, [name])


def _document_fields(data: object, path: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Content and source fields of a document's data: its running text as a text block, all else structured."""
    if isinstance(data, str):
        return blocks_of(data, path), {}
    body = as_object(data, f"{path}.data")
    texts = [body[key] for key in _BODY_KEYS if text_of(body.get(key))]
    rest = {key: value for key, value in body.items() if not (key in _BODY_KEYS and text_of(value))}
    fields = {
        "structured_content": rest or None,
        "name": text_of(body.get("title")),
        "url": web_address(body.get("url")),
        "tool": text_of(body.get("tool_name")),
    }
    return [{"type": "text", "text": text} for text in texts], fields


def _span(citation: dict[str, Any], text: str, base: int, place: str) -> tuple[int, int]:
    """Where the cited words stand: at the given offsets or, where those are off, the nearest occurrence."""
    start = base + as_index(citation.get("start"), f"{place}.start")
    end = base + as_index(citation.get("end"), f"{place}.end")
    words = text_of(citation.get("text"))
    if words is None or text[start:end] == words:
        if not start < end <= len(text):
            raise InvalidTrace(f"offsets {start}..{end} are not a span of the text (0..{len(text)})", place)
        return start, end
    found = [match.start() for match in re.finditer(re.escape(words), text)]
    if not found:
        raise InvalidTrace(f"the text has no {quote(words)} at {start}..{end} or elsewhere", place)
    nearest = min(found, key=lambda at: abs(at - start))
    return nearest, nearest + len(words)
