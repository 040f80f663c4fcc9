"""Sources: canonical hashes and whether a result can be cited."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from entailgrid.types import ContentBlock, Source, SourceReport, SourceStatus

_MAX_EXACT = 2**53 - 1


def canonical_sha256(value: Any) -> str:
    """SHA-256 (hex) of the RFC 8785 canonical JSON of `value`.

    Integers outside +-(2**53 - 1) have no RFC 8785 form; they are hashed as their decimal digits, so that two different
    64-bit ids never share a hash.
    """
    import rfc8785

    return hashlib.sha256(rfc8785.dumps(_exact(value))).hexdigest()


def _exact(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) > _MAX_EXACT:
        return str(value)
    if isinstance(value, Mapping):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(item) for item in value]
    return value


def source_sha256(source: Source) -> str:
    """The hash that names a tool output: of `{content, structured_content, is_error}`."""
    content = [block.model_dump(mode="json", exclude_unset=True, exclude_none=True) for block in source.blocks]
    return canonical_sha256({"content": content, "structured_content": source.structured_content, "is_error": source.is_error})


def arguments_sha256(source: Source) -> str | None:
    """The hash of a call's arguments, or `None` where the trace has none."""
    return None if source.arguments is None else canonical_sha256(source.arguments)


def inspect(source: Source, answered_at: datetime | None) -> SourceReport:
    """Status and hash of a source. Order: error, schema_mismatch, empty, stale, ok."""
    status, reason = _status(source, answered_at)
    return SourceReport(id=source.id, sha256=source_sha256(source), status=status, reason=reason)


def _status(source: Source, answered_at: datetime | None) -> tuple[SourceStatus, str | None]:
    if source.is_error:
        return "error", "the call failed"
    data = result_data(source)
    if problem := error_in_body(source.blocks, data):
        return "error", problem
    if source.output_schema is not None and (problem := schema_problem(source.output_schema, data)):
        return "schema_mismatch", problem
    if data is None and not any(block.body.strip() for block in source.blocks):
        return "empty", "no text and no structured content"
    if _is_stale(source, answered_at):
        return "stale", f"older than its {source.ttl_seconds:g} s when the answer was given"
    return "ok", None


def _is_stale(source: Source, answered_at: datetime | None) -> bool:
    if answered_at is None or source.fetched_at is None or source.ttl_seconds is None:
        return False
    return (answered_at - source.fetched_at).total_seconds() > source.ttl_seconds


def result_data(source: Source) -> Any:
    """The structured result: `structured_content`, else the JSON that a lone text block holds, else `None`."""
    if source.structured_content is not None:
        return source.structured_content
    bodies = [block.body for block in source.blocks if block.body.strip()]
    return parsed_json(bodies[0]) if len(bodies) == 1 else None


def parsed_json(text: str) -> Any:
    """The object or array that `text` is the JSON of, or `None`."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_EXCEPTION_TEXT = re.compile(
    r"\s*(?:Traceback \(most recent call last\)|(?:[\w.]+(?:Error|Exception)|(?:Fatal |Internal |"
    r"Server )?Error|Exception)\b\s*[:(]"
    r"|error (?:calling|executing) tool\b|HTTP(?:/[\d.]+)? ?(?:4|5)\d\d\b|(?:4|5)\d\d (?:Bad Request|"
    r"Unauthorized|Forbidden|Not Found|"
    r"Method Not Allowed|Request Timeout|Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable|"
    r"Gateway Time-?out)\b)",
    re.IGNORECASE,
)
_HTML_START = re.compile(r"\s*(?:<!doctype html|<html\b)", re.IGNORECASE)
_HTML_ERROR = re.compile(
    r"<(?:title|h1)[^>]*>\s*(?:[^<]{0,60}[-–—|:·!]\s*)?(?:"
    r"(?:HTTP (?:Status )?)?(?:Error )?(?:4|5)\d\d(?=\s*(?:[-–—|:·.<]|Error|Bad|Unauthorized|Forbidden|Not Found|Method|Request"
    r"|Too Many|Internal|Service|Gateway))"
    r"|(?:(?:internal )?server |application )?error(?=\s*(?:[-–—|:·!.<]|\d{3}\b|page\b|occurred\b))"
    r"|(?:(?:the |this )?(?:page|file|resource|url|site) )?(?:was |is )?not found\b"
    r"|(?:forbidden|access denied|bad gateway|service unavailable|internal server error)\b"
    r"|(?:please )?(?:log ?in|sign ?in)(?=\s*(?:[-–—|:·.<]|to\b|page\b|required\b)))",
    re.IGNORECASE,
)
_DATA_KEYS = ("data", "result", "results", "items", "rows", "records", "value", "content", "output", "payload")


def error_in_body(blocks: Sequence[ContentBlock], data: Any) -> str | None:
    """What shows that a result is an error although the call succeeded, or `None`."""
    if isinstance(data, Mapping) and (problem := _error_object(data)):
        return problem
    text = "\n".join(block.body for block in blocks)
    if _HTML_START.match(text):
        return "an HTML error or login page" if _HTML_ERROR.search(text[:4000]) else None
    if data is None and text.lstrip()[:1] in ("{", "[") and _is_truncated_json(text):
        return "truncated JSON"
    return "exception text" if _EXCEPTION_TEXT.match(text) else None


def _error_object(data: Mapping[str, Any]) -> str | None:
    has_data = any(data.get(key) not in (None, "", [], {}) for key in _DATA_KEYS)
    for key in ("ok", "success"):
        if data.get(key) is False and not has_data:
            return f"{key} is false"
    for key in ("error", "errors", "exception"):
        value = data.get(key)
        if value and value not in ("none", "None", "null") and not has_data and _is_error_value(value, data, key):
            return f"{key} is set and there is no data"
    for key in ("status", "status_code", "statusCode", "code"):
        value = data.get(key)
        code = isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599
        word = isinstance(value, str) and value.lower() in ("error", "failed", "failure") and key == "status"
        if (code or word) and not has_data and any(name in data for name in ("message", "detail", "error", "title")):
            return f"{key} is {value}"
    return None


def _is_error_value(value: Any, data: Mapping[str, Any], key: str) -> bool:
    """An error text or object, or a bare `true`, beside nothing but its own description."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return False
    described = {"message", "detail", "details", "code", "status", "status_code", "ok", "success", "request_id", "type"}
    filled = {name for name, item in data.items() if item not in (None, "", [], {})}
    return not (filled - described - {key, "id", "jsonrpc", "timestamp", "trace_id", "hint"})


def _is_truncated_json(text: str) -> bool:
    """Whether `text` starts as JSON and breaks off at its very end."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        begins = re.match(r'\s*(?:\{\s*"(?:[^"\\]|\\.)*"\s*:|\[\s*(?:[{"\[]|-?\d))', text)
        unterminated = error.msg.startswith("Unterminated string")
        return bool(begins) and (unterminated or error.pos >= len(text.rstrip()) - 1)
    except RecursionError:
        return False
    return False


def schema_problem(schema: Mapping[str, Any], data: Any) -> str | None:
    """The first way in which `data` breaks the tool's output schema, or `None`. Remote references are never fetched."""
    from jsonschema import exceptions, validators
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if data is None:
        return "no structured result although the tool declares an output schema"
    validator = validators.validator_for(schema, default=validators.Draft202012Validator)
    try:
        validator.check_schema(schema)
        error = exceptions.best_match(validator(schema, registry=Registry()).iter_errors(data))
    except exceptions.SchemaError as problem:
        return f"output_schema is no valid JSON Schema: {problem.message[:120]}"
    except Unresolvable as problem:
        return f"output_schema refers to what cannot be resolved: {problem.ref}"
    except RecursionError:
        return "output_schema recurses without end"
    if error is None:
        return None
    return f"{error.json_path}: {error.message[:160]}"
