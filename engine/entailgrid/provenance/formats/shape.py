"""What every reader of a foreign format asks of its input, with the path of what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.json_text import describe


def as_object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidTrace(f"expected an object, found {describe(value)}", where)
    return value


def as_list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidTrace(f"expected a list, found {describe(value)}", where)
    return list(value)


def as_text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidTrace(f"expected a string, found {describe(value)}", where)
    return value


def as_index(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidTrace(f"expected an integer from 0, found {describe(value)}", where)
    return value


def text_of(value: object) -> str | None:
    """`value` if it is text that is not empty."""
    return value if isinstance(value, str) and value else None


def require_one(document: dict[str, Any], *keys: str) -> None:
    """Refuse an object that has none of `keys`."""
    if all(document.get(key) is None for key in keys):
        raise InvalidTrace(f"needs {' or '.join(keys)}")


def objects(value: object, where: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a list with their paths; a missing list has none."""
    for index, item in enumerate(as_list([] if value is None else value, where)):
        path = f"{where}[{index}]"
        yield as_object(item, path), path


def blocks_of(value: object, where: str, text_types: tuple[str, ...] = ("text",)) -> list[dict[str, Any]]:
    """Message content (null, text, or a list of parts) as content blocks; `text_types` become text blocks."""
    if value is None:
        return []
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    blocks = []
    for part, path in objects(value, where):
        kind = as_text(part.get("type"), f"{path}.type")
        if kind in text_types:
            blocks.append({"type": "text", "text": as_text(part.get("text"), f"{path}.text")})
        else:
            blocks.append(part)
    return blocks


def joined_text(blocks: list[dict[str, Any]], separator: str = "\n") -> str:
    """The text of the text blocks."""
    return separator.join(block["text"] for block in blocks if block.get("type") == "text")


def web_address(value: object) -> str | None:
    """`value` if it is an http(s) URL."""
    return value if isinstance(value, str) and value.startswith(("http://", "https://")) else None
