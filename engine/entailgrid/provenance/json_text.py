"""JSON as the contract reads it: UTF-8, no repeated keys, no NaN, no lone surrogates, bounded depth and size."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from entailgrid.errors import InvalidTrace, PayloadTooLarge

MAX_TRACE_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 200

_Place = tuple[Any, "str | int"] | None
"""A position in a document: (place of the container, key or index); None is the document itself."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]{0,60}")
_TIME_FIELD = re.compile(r"answered_at|sources\[\d+\]\.fetched_at")
_QUOTED_LENGTH = 40
_PATH_LENGTH = 200


class _Repeated(dict[str, Any]):
    """An object that had a key twice; it is refused when the walk reaches it, where its path is known."""

    repeated_key: str


def load_json(data: str | bytes, max_bytes: int = MAX_TRACE_BYTES) -> object:
    """Parse one JSON document. `check_values` must see the result before it is used.

    Raises `InvalidTrace` for text that is not JSON in UTF-8, `PayloadTooLarge` above `max_bytes`.
    """
    if len(data) > max_bytes or (isinstance(data, str) and len(data.encode("utf-8", "surrogatepass")) > max_bytes):
        raise too_large(max_bytes)
    text = decode(data) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    if not text.strip():
        raise InvalidTrace("empty; expected a JSON document")
    try:
        document: object = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise InvalidTrace(_describe_syntax(error, text)) from None
    except RecursionError:
        raise _too_deep("") from None
    except ValueError as error:  # an integer with more digits than Python converts
        raise InvalidTrace(f"not JSON that can be read: {error}") from None
    return document


def decode(data: bytes) -> str:
    """UTF-8 bytes, with or without a byte order mark, as text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidTrace("UTF-16 text; expected JSON in UTF-8")
    if b"\0" in data:
        raise InvalidTrace("binary data; expected JSON text in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidTrace(
            f"not UTF-8 text (byte 0x{error.object[error.start]:02x} at offset {error.start}); expected JSON in UTF-8"
        ) from None


def check_values(document: object, max_bytes: int | None = None) -> None:
    """Refuse, with its path, whatever JSON cannot carry, or what is nested deeper than `MAX_DEPTH`.

    `max_bytes` bounds the UTF-8 bytes of all keys and strings. Raises `InvalidTrace` or `PayloadTooLarge`.
    """
    pending: list[tuple[object, _Place, int]] = [(document, None, 0)]
    size = 0
    while pending:
        value, place, depth = pending.pop()
        if isinstance(value, str):
            size += _utf8_length(value, place)
        elif isinstance(value, dict | list | tuple | BaseModel):
            if depth >= MAX_DEPTH:
                raise _too_deep(render(place))
            children = list(_children(value, place))
            size += sum(_utf8_length(key, (place, key)) for key, _ in children if isinstance(key, str))
            pending.extend((child, (place, key), depth + 1) for key, child in reversed(children))
        else:
            _check_leaf(value, place)
        if max_bytes is not None and size > max_bytes:
            raise too_large(max_bytes)


def render(place: _Place) -> str:
    """A position as text: `sources[2].content[0].text`; keys that are no plain names are quoted."""
    parts: list[str] = []
    while place is not None:
        place, key = place
        parts.append(_step(key))
    return _shorten("".join(reversed(parts)).removeprefix("."))


def join_path(parts: list[str | int]) -> str:
    """Keys and indices, outermost first, as text."""
    return _shorten("".join(map(_step, parts)).removeprefix("."))


def quote(text: str) -> str:
    """A short printable form of any text, for messages."""
    short = text if len(text) <= _QUOTED_LENGTH else text[: _QUOTED_LENGTH - 1] + "…"
    return json.dumps(short, ensure_ascii=not short.isprintable())


def describe(value: object) -> str:
    """What was found, in a few words, for messages."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool | float):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**18 else "a very large integer"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    return f"a Python {type(value).__name__}"


def too_large(max_bytes: int) -> PayloadTooLarge:
    """The refusal of anything above `max_bytes`."""
    return PayloadTooLarge(f"larger than the limit of {max_bytes} bytes")


def parse_arguments(text: object) -> dict[str, Any]:
    """Tool arguments as an object; what is not the text of a JSON object is kept under `_raw`."""
    if isinstance(text, dict):
        return text
    if text is None or (isinstance(text, str) and not text.strip()):
        return {}
    if not isinstance(text, str):
        return {"_raw": text}
    try:
        arguments = load_json(text)
        check_values(arguments)
    except InvalidTrace:
        return {"_raw": text}
    return arguments if isinstance(arguments, dict) else {"_raw": text}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    items = dict(pairs)
    if len(items) == len(pairs):
        return items
    seen: set[str] = set()
    repeated = _Repeated(items)
    repeated.repeated_key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return repeated


def _children(value: object, place: _Place) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, BaseModel):
        yield from value.model_dump(exclude_unset=True).items()
    elif isinstance(value, dict):
        if isinstance(value, _Repeated):
            raise InvalidTrace("this key appears twice in one object", render((place, value.repeated_key)))
        for key in value:
            if not isinstance(key, str):
                raise InvalidTrace(f"expected keys that are strings, found {describe(key)}", render(place))
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def _check_leaf(value: object, place: _Place) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidTrace(f"expected a finite number, found {describe(value)}", render(place))
    if value is None or isinstance(value, bool | int | float):
        return
    if isinstance(value, datetime) and _TIME_FIELD.fullmatch(render(place)):
        return
    raise InvalidTrace(f"expected a JSON value, found {describe(value)}", render(place))


def _utf8_length(text: str, place: _Place) -> int:
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidTrace(
            f"holds a lone surrogate U+{ord(text[error.start]):04X} at offset {error.start}; expected Unicode text",
            render(place),
        ) from None


def _describe_syntax(error: json.JSONDecodeError, text: str) -> str:
    if error.msg == "Extra data":
        return f"more than one JSON document (from {_position(error)}); one a line goes in a .jsonl file"
    ended = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    cut = "; the text ends early, is it truncated?" if ended else ""
    return f"not JSON: {error.msg.removesuffix(' at')} at {_position(error)}{cut}"


def _position(error: json.JSONDecodeError) -> str:
    return f"line {error.lineno} column {error.colno}" if error.lineno > 1 else f"column {error.colno}"


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _PLAIN_KEY.fullmatch(key) and key.isascii() else f"[{quote(key)}]"


def _too_deep(where: str) -> InvalidTrace:
    return InvalidTrace(f"nested more than {MAX_DEPTH} levels deep", where)


def _shorten(where: str) -> str:
    return where if len(where) <= _PATH_LENGTH else where[: _PATH_LENGTH - 1] + "…"
