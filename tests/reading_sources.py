"""What the tests of segments share."""

from __future__ import annotations

from typing import Any

from entailgrid.evidence.segment import Segment, segments_of
from entailgrid.types import Source

TITLE_CHARS = 270
"""The longest title and key that stand before a piece of evidence, their separators counted."""


def segments(**fields: Any) -> list[Segment]:
    return segments_of(Source.model_validate({"id": "s", **fields}), 3)


def resolve(document: Any, pointer: str) -> Any:
    """RFC 6901, section 4."""
    assert pointer == "" or pointer.startswith("/")
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def uncovered(text: str, found: list[Segment]) -> str:
    """The non-blank characters of `text` outside every segment's span."""
    seen = bytearray(len(text))
    for segment in found:
        assert segment.block == 0
        assert segment.pointer is None
        assert segment.start is not None
        assert segment.end is not None
        assert 0 <= segment.start < segment.end <= len(text)
        seen[segment.start : segment.end] = b"\1" * (segment.end - segment.start)
    return "".join(char for char, known in zip(text, seen, strict=True) if not known and not char.isspace())
