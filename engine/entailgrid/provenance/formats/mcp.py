"""A JSON-RPC log of the Model Context Protocol: `tools/call` and `resources/read` with their results.

https://modelcontextprotocol.io/specification
"""

from __future__ import annotations

from typing import Any

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.formats.conversation import NO_RESULT, Conversation
from entailgrid.provenance.formats.shape import as_list, as_object, as_text, objects, text_of, web_address
from entailgrid.provenance.json_text import describe
from entailgrid.provenance.validation import validate
from entailgrid.types import Source, Trace

_FROM_SERVER = ("sampling/createMessage", "elicitation/create", "roots/list")
_NO_ANSWER = 'has no answer; expected a last line {"answer": "..."} or an answer file'


def read_log(document: object, default_id: str, answer: str | None = None) -> Trace:
    """The trace of a log: messages, one a list element (batches too), then perhaps `{"answer": ...}`.

    That last object may also carry `id`, `question`, `answered_at` and `citations`. Numeric request ids become
    `call_<number>`. A call without a result by the end is an error source that says so.
    """
    messages = list(_messages(document, ""))
    closing: dict[str, Any] = {}
    if messages and "jsonrpc" not in messages[-1][0] and "answer" in messages[-1][0]:
        closing, where = messages.pop()
        if answer is not None:
            raise InvalidTrace("the log carries an answer; expected none beside an answer file", where)
        if "sources" in closing:
            raise InvalidTrace("expected no sources beside the answer of a log", f"{where}.sources")
    elif answer is None:
        raise InvalidTrace(_NO_ANSWER)
    else:
        closing, where = {"answer": answer}, ""
    log = _Log(Conversation(default_id))
    for message, path in messages:
        log.message(message, path)
    trace = validate(Trace, {**closing, "sources": log.sources()}, where)
    return trace if trace.id is not None else trace.model_copy(update={"id": default_id})


def _messages(document: object, where: str) -> list[tuple[dict[str, Any], str]]:
    found: list[tuple[dict[str, Any], str]] = []
    for number, item in enumerate([document] if isinstance(document, dict) else as_list(document, where)):
        path = f"{where}[{number}]"
        if isinstance(item, list) and not where:
            found.extend(objects(item, path))
        else:
            found.append((as_object(item, path), path))
    return found


class _Log:
    """Pairs responses with requests; the order of the sources is that of the requests."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._open: dict[str | int, tuple[str, dict[str, Any], int, str]] = {}
        self._from_server: set[str | int] = set()
        self._done: dict[int, tuple[str, dict[str, Any]]] = {}
        self._schemas: dict[str, dict[str, Any]] = {}
        self._server: str | None = None
        self._requests = 0

    def message(self, message: dict[str, Any], path: str) -> None:
        if "jsonrpc" not in message:
            raise InvalidTrace("expected a JSON-RPC message with jsonrpc; an answer goes last", path)
        id = message.get("id")
        if id is None:
            return
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise InvalidTrace(f"expected a string or an integer, found {describe(id)}", f"{path}.id")
        if "method" in message:
            self._request(id, message, path)
        elif "result" in message or "error" in message:
            self._response(id, message, path)

    def sources(self) -> tuple[Source, ...]:
        """One source a call, in order."""
        for id, (method, params, number, path) in self._open.items():
            if method in ("tools/call", "resources/read"):
                self._done[number] = (path, self._failed(method, id, params, NO_RESULT))
        for number in sorted(self._done):
            path, fields = self._done[number]
            schema = self._schemas.get(fields.get("tool") or "")
            content = as_list(fields.pop("content"), f"{path}.content")
            self.conversation.result(fields.pop("id"), content, path, output_schema=schema, **fields)
        return self.conversation.sources()

    def _request(self, id: str | int, message: dict[str, Any], path: str) -> None:
        method = as_text(message["method"], f"{path}.method")
        params = as_object({} if message.get("params") is None else message["params"], f"{path}.params")
        if method in _FROM_SERVER:
            self._from_server.add(id)
            return
        if method == "tools/call":
            as_text(params.get("name"), f"{path}.params.name")
        self._requests += 1
        replaced = self._open.pop(id, None)
        if replaced and replaced[0] in ("tools/call", "resources/read"):
            self._done[replaced[2]] = (replaced[3], self._failed(replaced[0], id, replaced[1], NO_RESULT))
        self._open[id] = (method, params, self._requests, path)

    def _response(self, id: str | int, message: dict[str, Any], path: str) -> None:
        """Take the result of an open request. Client and server number their requests apart, so an id may be both's."""
        result = message.get("result")
        if id in self._from_server and (id not in self._open or not _answers_call(message)):
            self._from_server.discard(id)
            return
        if id not in self._open:
            return
        method, params, number, _ = self._open.pop(id)
        if method in ("tools/call", "resources/read"):
            if message.get("error") is not None:
                self._done[number] = (f"{path}.error", self._failed(method, id, params, _error_text(message["error"])))
            else:
                fields = self._succeeded(method, id, params, as_object(result, f"{path}.result"), f"{path}.result")
                self._done[number] = (f"{path}.result", fields)
        elif method == "tools/list" and isinstance(result, dict):
            for tool, place in objects(result.get("tools"), f"{path}.result.tools"):
                if isinstance(tool.get("outputSchema"), dict):
                    self._schemas[as_text(tool.get("name"), f"{place}.name")] = tool["outputSchema"]
        elif method == "initialize" and isinstance(result, dict):
            info = result.get("serverInfo")
            self._server = text_of(info.get("name")) if isinstance(info, dict) else None

    def _succeeded(
        self, method: str, id: str | int, params: dict[str, Any], result: dict[str, Any], path: str
    ) -> dict[str, Any]:
        fields = self._asked(method, id, params)
        if method == "resources/read":
            resources = [resource for resource, _ in objects(result.get("contents"), f"{path}.contents")]
            fields["content"] = [{"type": "resource", "resource": resource} for resource in resources]
        else:
            fields["content"] = [] if result.get("content") is None else result["content"]
            fields["structured_content"] = result.get("structuredContent")
            fields["is_error"] = result.get("isError")
        return fields

    def _failed(self, method: str, id: str | int, params: dict[str, Any], problem: str) -> dict[str, Any]:
        return {**self._asked(method, id, params), "content": [{"type": "text", "text": problem}], "is_error": True}

    def _asked(self, method: str, id: str | int, params: dict[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = {"id": id if isinstance(id, str) else f"call_{id}", "server": self._server}
        if method == "resources/read":
            return {**fields, "url": text_of(params.get("uri"))}
        arguments = params.get("arguments")
        url = web_address(arguments.get("url")) if isinstance(arguments, dict) else None
        return {**fields, "tool": params["name"], "arguments": arguments, "url": url}


def _answers_call(message: dict[str, Any]) -> bool:
    """Whether a response has the shape of a tool result; that of a sampling request holds one block, not a list."""
    result = message.get("result")
    return isinstance(result, dict) and (isinstance(result.get("content"), list) or "contents" in result)


def _error_text(error: object) -> str:
    """The words of a JSON-RPC error object."""
    body = error if isinstance(error, dict) else {"message": error}
    code, text = body.get("code"), body.get("message")
    return f"JSON-RPC error {describe(code)}: {text}" if code is not None else f"JSON-RPC error: {text}"
