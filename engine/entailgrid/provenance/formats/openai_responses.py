"""OpenAI Responses: a response's `output` items and a request's `input` items.

https://platform.openai.com/docs/api-reference/responses
"""

from __future__ import annotations

import json
from typing import Any

from entailgrid.provenance.formats.conversation import NO_RESULT, Citation, Conversation, Entry, sentence_start
from entailgrid.provenance.formats.openai import annotated_span
from entailgrid.provenance.formats.shape import as_index, as_text, blocks_of, objects, require_one, text_of

_TEXT_TYPES = ("input_text", "output_text", "text")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_UNFINISHED = ("in_progress", "calling", "searching", "interpreting", "incomplete")


def read(document: object, conversation: Conversation) -> None:
    """Read `{"input": ..., "output": [...]}` or a bare list of items into `conversation`.

    The index of an answer counts the items of `input`, then those of `output`.
    """
    reader = _Reader(conversation)
    if not isinstance(document, dict):
        reader.items(document, "")
        return
    require_one(document, "input", "output")
    conversation.system(blocks_of(document.get("instructions"), "instructions", _TEXT_TYPES), "instructions")
    if isinstance(document.get("input"), str):
        conversation.user(blocks_of(document["input"], "input"), "input")
        reader.index = 1
    else:
        reader.items(document.get("input"), "input")
    reader.items(document.get("output"), "output")


class _Reader:
    """Reads items in order; knows which sources hold which file, and the latest search whose hits were withheld."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.index = 0
        self._files: dict[str, list[str]] = {}
        self._withheld: dict[str, str] = {}

    def items(self, items: object, where: str) -> None:
        for item, path in objects(items, where):
            kind = as_text(item.get("type") or ("message" if "role" in item else ""), f"{path}.type")
            if kind == "message":
                self._message(item, path)
            elif kind in _CALLS:
                call_id = as_text(item.get("call_id"), f"{path}.call_id")
                self.conversation.call(call_id, text_of(item.get("name")), item.get(_CALLS[kind]))
            elif kind == "mcp_call":
                self._mcp_call(item, path)
            elif kind in ("web_search_call", "file_search_call"):
                self._search(kind.removesuffix("_call"), item, path)
            elif kind == "code_interpreter_call":
                self._interpreter(item, path)
            elif kind.endswith("_call_output"):
                self._output(item, path)
            self.index += 1

    def _message(self, item: dict[str, Any], path: str) -> None:
        role = item.get("role")
        content = blocks_of(item.get("content"), f"{path}.content", _TEXT_TYPES)
        if role in ("system", "developer"):
            self.conversation.system(content, path)
        elif role == "user":
            self.conversation.user(content, path)
        elif role == "assistant":
            self._assistant(item, content, path)

    def _assistant(self, item: dict[str, Any], content: list[dict[str, Any]], path: str) -> None:
        answer, citations = "", list[Citation]()
        annotated = item.get("content") if not isinstance(item.get("content"), str) else None
        for number, block in enumerate(content):
            if block.get("type") == "refusal":
                answer += as_text(block.get("refusal"), f"{path}.content[{number}].refusal")
            elif block.get("type") == "text":
                place = f"{path}.content[{number}].annotations"
                notes = annotated[number].get("annotations") if annotated else None
                for start, end, ids in self._citations(notes, block["text"], place):
                    citations.append((len(answer) + start, len(answer) + end, ids))
                answer += block["text"]
        self.conversation.answer(self.index, answer, citations)

    def _citations(self, annotations: object, text: str, where: str) -> list[Citation]:
        citations = []
        for note, place in objects(annotations, where):
            if note.get("type") == "url_citation":
                span = annotated_span(note, text, place)
                ids = self.conversation.with_url(as_text(note.get("url"), f"{place}.url"))
                withheld = self._withheld.get("web_search")
            elif note.get("type") == "file_citation":
                span = self._file_span(note, text, place)
                ids = self._files.get(as_text(note.get("file_id"), f"{place}.file_id"), [])
                withheld = self._withheld.get("file_search")
            else:
                continue
            if ids or withheld:
                citations.append((*span, list(ids) or [str(withheld)]))
        return citations

    def _file_span(self, note: dict[str, Any], text: str, place: str) -> tuple[int, int]:
        """The sentence that ends where a file citation stands.

        `index` is documented as the file's place in a list, and in responses is a position in the text; a value that
        may be a place in the list says nothing about the text, so the whole text is meant.
        """
        index = as_index(note.get("index"), f"{place}.index")
        if len(self._files) < index <= len(text) and text[:index].strip():
            return sentence_start(text, index), index
        return 0, len(text)

    def _output(self, item: dict[str, Any], path: str) -> None:
        call_id = as_text(item.get("call_id") or item.get("id"), f"{path}.call_id")
        output = item.get("output")
        if isinstance(output, str) or (isinstance(output, list) and all(_is_part(part) for part in output)):
            content = blocks_of(output, f"{path}.output", _TEXT_TYPES)
            self.conversation.reply(call_id, content, path)
        else:
            self.conversation.reply(call_id, [], path, structured_content=output)

    def _mcp_call(self, item: dict[str, Any], path: str) -> None:
        call_id = as_text(item.get("id"), f"{path}.id")
        self.conversation.call(call_id, text_of(item.get("name")), item.get("arguments"), text_of(item.get("server_label")))
        output, error = item.get("output"), item.get("error")
        if output is None and error is None:
            output, failed = NO_RESULT, True
        else:
            failed = error is not None or item.get("status") == "failed"
            output = _error_text(error) if output is None else as_text(output, f"{path}.output")
        self.conversation.reply(call_id, [{"type": "text", "text": output}], path, is_error=failed)

    def _search(self, kind: str, item: dict[str, Any], path: str) -> None:
        call_id = as_text(item.get("id"), f"{path}.id")
        action = item.get("action") if kind == "web_search" else {"queries": item.get("queries") or []}
        self.conversation.call(call_id, kind, {k: v for k, v in _dict(action).items() if k != "sources"})
        if kind == "web_search":
            hits = [
                self._page(hit, call_id, n, place)
                for n, (hit, place) in enumerate(objects(_dict(action).get("sources"), f"{path}.action.sources"))
            ]
        else:
            hits = [
                self._chunk(hit, call_id, n, place)
                for n, (hit, place) in enumerate(objects(item.get("results"), f"{path}.results"))
            ]
        if not hits and item.get("status") not in _UNFINISHED:
            entry = self.conversation.reply(call_id, [], path, is_error=item.get("status") == "failed")
            self._withheld[kind] = entry.id

    def _page(self, hit: dict[str, Any], call_id: str, number: int, path: str) -> Entry:
        url = as_text(hit.get("url"), f"{path}.url")
        return self.conversation.reply(call_id, [], path, id=f"{call_id}:{number}", url=url, name=_name(hit, "title"))

    def _chunk(self, hit: dict[str, Any], call_id: str, number: int, path: str) -> Entry:
        content = blocks_of(hit.get("text"), f"{path}.text")
        entry = self.conversation.reply(
            call_id,
            content,
            path,
            id=f"{call_id}:{number}",
            name=_name(hit, "filename"),
            structured_content=hit.get("attributes") or None,
        )
        if file_id := text_of(hit.get("file_id")):
            self._files.setdefault(file_id, []).append(entry.id)
        return entry

    def _interpreter(self, item: dict[str, Any], path: str) -> None:
        if item.get("status") in _UNFINISHED and not item.get("outputs"):
            return
        call_id = as_text(item.get("id"), f"{path}.id")
        self.conversation.call(call_id, "code_interpreter", {"code": item.get("code")})
        content = []
        for output, place in objects(item.get("outputs"), f"{path}.outputs"):
            logs = output.get("logs") if output.get("type") == "logs" else None
            content.append(output if logs is None else {"type": "text", "text": as_text(logs, f"{place}.logs")})
        self.conversation.reply(call_id, content, path, is_error=item.get("status") == "failed")


def _is_part(part: object) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _name(hit: dict[str, Any], key: str) -> str | None:
    return text_of(hit.get(key))


def _error_text(error: object) -> str:
    """The words of a tool error: a string, or an object with a message or content."""
    if isinstance(error, str):
        return error
    body = _dict(error)
    return text_of(body.get("message")) or json.dumps(body.get("content", error), ensure_ascii=False)
