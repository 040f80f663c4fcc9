"""Segments: the premises that a source offers. Every character of text lies in some segment; none is longer than
`MAX_CHARS`, so that no model has to cut it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from entailgrid.evidence.passages import bounded_row, html_segments, markdown_segments, prose
from entailgrid.evidence.premise import MAX_CHARS, Field, Segment, short_title, words_of
from entailgrid.evidence.records import tree_segments
from entailgrid.evidence.sources import parsed_json
from entailgrid.evidence.structured import Row, csv_rows, is_html, node_of, parse_json
from entailgrid.language import Span, trim, words
from entailgrid.types import Source

__all__ = ["MAX_CHARS", "Field", "Segment", "segments_of"]


def segments_of(source: Source, index: int) -> list[Segment]:
    """All segments of `source`, the `index`-th of its trace, in document order."""
    found: list[Segment] = []
    if source.structured_content is not None:
        found.extend(tree_segments(node_of(source.structured_content), _call_title(source), None))
    for number, block in enumerate(source.blocks):
        if block.body.strip() and not _repeats_structure(source, block.body):
            pieces = _block_segments(block.body, block.mime_type or "", source)
            found.extend(replace(piece, block=number) for piece in pieces)
    return [replace(piece, source=index) for piece in found]


def _repeats_structure(source: Source, body: str) -> bool:
    """MCP servers send structured content again as text for old clients; it is the same evidence."""
    return source.structured_content is not None and parsed_json(body) == source.structured_content


def _block_segments(text: str, mime_type: str, source: Source) -> list[Segment]:
    if (tree := parse_json(text)) is not None:
        return tree_segments(tree, _call_title(source), text)
    if "html" in mime_type or is_html(text):
        return list(html_segments(text))
    if ("csv" in mime_type or text.count("\n") >= 2) and (rows := csv_rows(text)):
        title = _call_title(source)
        return [piece for row in rows for piece in bounded_row(text, row, title)] + list(_plain_header(text, rows))
    return list(markdown_segments(text, _call_title(source)))


def _plain_header(text: str, rows: Sequence[Row]) -> Iterator[Segment]:
    span = trim(text, Span(0, rows[0].start))
    yield from prose(text, [span], "")


def _call_title(source: Source) -> str:
    """What was asked of which tool: the context of a record, e.g. `get weather, city: Paris`."""
    parts = [" ".join(words(source.tool))] if source.tool else []
    if source.name and source.name.lower() not in parts:
        parts.insert(0, source.name)
    for key, value in (source.arguments or {}).items():
        if isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) <= 40:
            parts.append(f"{words_of(key)}: {value}")
    return short_title(parts[:5])
