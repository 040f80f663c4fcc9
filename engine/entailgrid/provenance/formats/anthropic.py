"""Anthropic Messages: tool_use and tool_result blocks, documents, search results and citation objects.

https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from typing import Any

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.formats.conversation import Citation, Conversation, Entry
from entailgrid.provenance.formats.shape import (
    as_index,
    as_object,
    as_text,
    blocks_of,
    objects,
    require_one,
    text_of,
    web_address,
)
from entailgrid.provenance.json_text import describe

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_CITABLE = ("document", "search_result", "web_search_result", "web_fetch_result")


def read(document: object, conversation: Conversation) -> None:
    """Read `{"system"?, "messages": [...]}`, a bare list of messages, or one response message."""
    reader = _Reader(conversation)
    if not isinstance(document, dict):
        reader.messages(document, "")
        return
    require_one(document, "messages", "content")
    conversation.system(blocks_of(document.get("system"), "system"), "system")
    if document.get("messages") is not None:
        reader.messages(document["messages"], "messages")
    else:
        reader.message(document, 0, "")


class _Reader:
    """Reads messages in order; numbers documents and search results as citations count them."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._documents: list[Entry] = []
        self._search_results: list[Entry] = []

    def messages(self, messages: object, where: str) -> None:
        for index, (message, path) in enumerate(objects(messages, where)):
            self.message(message, index, path)

    def message(self, message: dict[str, Any], index: int, path: str) -> None:
        role = message.get("role")
        place = f"{path}.content".removeprefix(".")
        content = blocks_of(message.get("content"), place)
        if not isinstance(message.get("content"), str):
            content = list(message.get("content") or [])  # checked above; text blocks keep their citations
        if role == "user":
            self._user(content, place, path)
        elif role == "assistant":
            self._assistant(content, index, place)
        elif role == "system":
            self.conversation.system(content, path)
        else:
            raise InvalidTrace(f"expected user or assistant, found {describe(role)}", f"{path}.role".removeprefix("."))

    def _user(self, content: list[dict[str, Any]], where: str, path: str) -> None:
        own = []
        for number, block in enumerate(content):
            place = f"{where}[{number}]"
            if block["type"].endswith("tool_result"):
                self._tool_result(block, place)
            elif block["type"] == "document":
                self._add(block, place, f"document_{len(self._documents) + 1}")
            elif block["type"] == "search_result":
                self._add(block, place, f"search_result_{len(self._search_results) + 1}")
            else:
                own.append(block)
        if own or not content:
            self.conversation.user(own, path)

    def _assistant(self, content: list[dict[str, Any]], index: int, where: str) -> None:
        """The answer is the text after the conversation's first result; a blank line stands for calls in between."""
        answer, citations, apart = "", list[Citation](), False
        for number, block in enumerate(content):
            place = f"{where}[{number}]"
            if block["type"] == "text":
                if self.conversation.results and block["text"]:
                    answer += "\n\n" if apart and answer else ""
                    if ids := self._cited(block.get("citations"), f"{place}.citations"):
                        citations.append((len(answer), len(answer) + len(block["text"]), ids))
                    answer += block["text"]
                    apart = False
            elif block["type"] in _CALLS:
                name, server = text_of(block.get("name")), text_of(block.get("server_name"))
                self.conversation.call(as_text(block.get("id"), f"{place}.id"), name, block.get("input"), server)
                apart = True
            elif block["type"].endswith("tool_result"):
                self._tool_result(block, place)
                apart = True
        self.conversation.answer(index, answer, citations)

    def _cited(self, citations: object, where: str) -> list[str]:
        """Ids of the cited sources; one that is not in the conversation keeps a name, so that it shows as phantom."""
        ids: dict[str, None] = {}
        for citation, place in objects(citations, where):
            kind = citation.get("type")
            if kind == "web_search_result_location":
                url = as_text(citation.get("url"), f"{place}.url")
                found = [entry for entry in self.conversation.results if entry.url == url][-1:]
                missing = url
            elif kind == "search_result_location":
                number = as_index(citation.get("search_result_index"), f"{place}.search_result_index")
                found, missing = self._search_results[number : number + 1], f"search_result_{number + 1}"
            elif kind in ("char_location", "page_location", "content_block_location"):
                number = as_index(citation.get("document_index"), f"{place}.document_index")
                found, missing = self._documents[number : number + 1], f"document_{number + 1}"
            else:
                continue
            for entry in found:
                if excerpt := text_of(citation.get("cited_text")):
                    entry.quote(excerpt)
            ids.update(dict.fromkeys([entry.id for entry in found] or [missing]))
        return list(ids)

    def _tool_result(self, block: dict[str, Any], path: str) -> None:
        call_id = as_text(block.get("tool_use_id"), f"{path}.tool_use_id")
        content, where = block.get("content"), f"{path}.content"
        if isinstance(content, dict):
            self._server_result(call_id, content, where)
            return
        own, citable = [], 0
        for number, part in enumerate(blocks_of(content, where)):
            if part["type"] in _CITABLE:
                self._add(part, f"{where}[{number}]", f"{call_id}:{number}", call_id)
                citable += 1
            else:
                own.append(part)
        if own or not citable:
            self.conversation.reply(call_id, own, path, is_error=block.get("is_error"))

    def _server_result(self, call_id: str, content: dict[str, Any], where: str) -> None:
        """A result that is one object: a fetched page, the output of executed code, or an error with its code."""
        reply = self.conversation.reply
        if error := text_of(content.get("error_code")):
            reply(call_id, [{"type": "text", "text": error}], where, is_error=True)
        elif content.get("type") in _CITABLE:
            self._add(content, where, call_id, call_id)
        elif isinstance(content.get("stdout"), str):
            streams = [content["stdout"], text_of(content.get("stderr"))]
            failed = content.get("return_code") not in (0, None)
            reply(call_id, [{"type": "text", "text": text} for text in streams if text], where, is_error=failed)
        else:
            reply(call_id, [], where, structured_content=content)

    def _add(self, block: dict[str, Any], path: str, id: str, call_id: str | None = None) -> None:
        """Add a block that citations can name on its own, counted as they count it."""
        kind, fetched = block["type"], {}
        if kind == "web_fetch_result":
            fetched = {"url": web_address(block.get("url")), "fetched_at": text_of(block.get("retrieved_at"))}
            block, path = as_object(block.get("content"), f"{path}.content"), f"{path}.content"
            kind = "document"
        fields: dict[str, Any] = {"name": text_of(block.get("title")), **fetched}
        if kind == "document":
            content = self._document_content(block, path, fields)
        elif kind == "search_result":
            content = blocks_of(block.get("content"), f"{path}.content")
            fields["url"] = web_address(block.get("source"))
            fields["name"] = fields["name"] or text_of(block.get("source"))
        else:
            content, fields["url"] = [], text_of(block.get("url"))
        if call_id is None:
            entry = self.conversation.result(id, content, path, **fields)
        else:
            entry = self.conversation.reply(call_id, content, path, id=id, **fields)
        if kind != "web_search_result":
            (self._documents if kind == "document" else self._search_results).append(entry)

    def _document_content(self, block: dict[str, Any], path: str, fields: dict[str, Any]) -> list[dict[str, Any]]:
        """The text of a document; PDFs, images and files have none here, only what citations quote of them."""
        source = as_object(block.get("source"), f"{path}.source")
        if source.get("type") == "text":
            return blocks_of(as_text(source.get("data"), f"{path}.source.data"), path)
        if source.get("type") == "content":
            return blocks_of(source.get("content"), f"{path}.source.content")
        fields["url"] = fields.get("url") or web_address(source.get("url"))
        return []
