"""Segments: the premises that a source offers. Every character of text lies in some segment; none is longer than
`MAX_CHARS`, so that no model has to cut it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from entailgrid.evidence.sources import parsed_json
from entailgrid.evidence.structured import (
    HtmlBlock,
    Node,
    Row,
    csv_rows,
    html_blocks,
    is_html,
    is_table_rule,
    leaf_text,
    markdown_table,
    node_of,
    parse_json,
)
from entailgrid.language import Span, sentences, trim, words
from entailgrid.types import Source

MAX_CHARS = 400
"""Longest piece of evidence in one segment; about 90 tokens of English."""

MAX_KEY = 100
"""A longer key is a text of its own."""


@dataclass(frozen=True, slots=True)
class Field:
    """A leaf of a structured source: how its key path reads, its value, and where it stands."""

    key: str
    value: str
    pointer: str | None
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Segment:
    """One premise of one source.

    `block`, `start`, `end` say where in the source's text it stands; `pointer` where in its structured content. `text` is the
    premise that the models read: the evidence with what it needs to be understood alone (heading, record identity).
    """

    source: int
    text: str
    block: int | None = None
    start: int | None = None
    end: int | None = None
    pointer: str | None = None
    fields: tuple[Field, ...] = ()
    record: str = ""
    count: int | None = None


def segments_of(source: Source, index: int) -> list[Segment]:
    """All segments of `source`, the `index`-th of its trace, in document order."""
    found: list[Segment] = []
    if source.structured_content is not None:
        found.extend(_tree_segments(node_of(source.structured_content), _call_title(source), None))
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
        return _tree_segments(tree, _call_title(source), text)
    if "html" in mime_type or is_html(text):
        return list(_html_segments(text))
    if ("csv" in mime_type or text.count("\n") >= 2) and (rows := csv_rows(text)):
        title = _call_title(source)
        return [piece for row in rows for piece in _bounded_row(text, row, title)] + list(_plain_header(text, rows))
    return list(_markdown_segments(text, _call_title(source)))


def _plain_header(text: str, rows: Sequence[Row]) -> Iterator[Segment]:
    span = trim(text, Span(0, rows[0].start))
    yield from _prose(text, [span], "")


def _call_title(source: Source) -> str:
    """What was asked of which tool: the context of a record, e.g. `get weather, city: Paris`."""
    parts = [" ".join(words(source.tool))] if source.tool else []
    if source.name and source.name.lower() not in parts:
        parts.insert(0, source.name)
    for key, value in (source.arguments or {}).items():
        if isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) <= 40:
            parts.append(f"{_words_of(key)}: {value}")
    return _short_title(parts[:5])


def _words_of(key: str) -> str:
    return " ".join(words(key)) or key


# --- JSON -----------------------------------------------------------------------------------------------------------

_IDENTITY = re.compile(r"(?:^|_)(?:id|name|number|code|title|key|sku|symbol|slug)$|^(?:date|year|month|quarter|version)$")


def _tree_segments(root: Node, title: str, text: str | None) -> list[Segment]:
    segments = list(_record_segments(root, [], title, text))
    if not segments:
        return [_leafless(root, title, text)]
    return segments


def _leafless(root: Node, title: str, text: str | None) -> Segment:
    """An empty object or array: evidence that there are no results."""
    return _at(Segment(-1, f"{title or 'result'}: no results, none found, empty list", count=0), root, text)


def _at(segment: Segment, node: Node, text: str | None) -> Segment:
    if text is None:
        return replace(segment, pointer=node.pointer)
    return replace(segment, start=node.start, end=node.end)


def _record_segments(node: Node, path: list[str], title: str, text: str | None) -> Iterator[Segment]:
    """One segment an object (its own scalars), then those of its children under its identity."""
    if node.is_leaf:
        yield from _field_groups([(path[-1] if path else "value", node)], path[:-1], title, text)
        return
    members = node.members or []
    scalars = [(key, child) for key, child in members if child.is_leaf]
    nested = [(key, child) for key, child in members if not child.is_leaf]
    if node.is_array:
        yield from _array_segments(node, scalars, nested, path, title, text)
        return
    if path and not members:
        yield _at(Segment(-1, f"{_short_title([title, *path])}: none, empty", count=0, record=title), node, text)
    identity = [f"{_words_of(key)} {leaf_text(child)}" for key, child in scalars if _IDENTITY.search(key)][:3]
    yield from _field_groups(scalars, path, title, text)
    below = _short_title([title, *path] if not identity else [*path, *identity])
    for key, child in nested:
        yield from _record_segments(child, [_words_of(key)], below, text)


def _array_segments(
    node: Node,
    scalars: list[tuple[str, Node]],
    nested: list[tuple[str, Node]],
    path: list[str],
    title: str,
    text: str | None,
) -> Iterator[Segment]:
    name = path[-1][:MAX_KEY] if path else "items"
    yield from _scalar_groups(node, scalars, name, _short_title([title, *path[:-1]]), text)
    if not node.members:
        yield _at(Segment(-1, f"{_short_title([title, *path])}: none, empty list, 0", count=0, record=title), node, text)
    for number, (_, child) in enumerate(nested):
        label = [*path[:-1], f"{name} {number + 1}"] if len(nested) > 1 else path
        yield from _record_segments(child, label, title, text)
    if len(nested) > 1:
        summary = f"{_short_title([title, *path[:-1]])}. {name}: {len(nested)} in total"
        yield _at(Segment(-1, summary, count=len(nested), record=title), node, text)


def _scalar_groups(node: Node, scalars: list[tuple[str, Node]], name: str, head: str, text: str | None) -> Iterator[Segment]:
    """Premises `title. name: value; value` of at most twelve members and `MAX_CHARS`; a long member stands alone."""
    group: list[Node] = []
    length = 0
    for _, child in scalars:
        size = len(leaf_text(child)) + 2
        long = size > MAX_CHARS // 2
        if group and (long or len(group) == 12 or length + size > MAX_CHARS):
            yield _scalar_group(node, group, name, head, text)
            group, length = [], 0
        if long:
            yield from _long_field(name, child, head, text)
        else:
            group.append(child)
            length += size
    if group:
        yield _scalar_group(node, group, name, head, text)


def _scalar_group(node: Node, group: list[Node], name: str, head: str, text: str | None) -> Segment:
    body = f"{name}: {'; '.join(leaf_text(child) for child in group)}"
    fields = tuple(_field(name, child, text) for child in group)
    segment = Segment(-1, f"{head}. {body}" if head else body, fields=fields, record=head, count=len(node.members or []))
    if text is None:
        return replace(segment, pointer=node.pointer)
    return replace(segment, start=group[0].start, end=group[-1].end)


def _short_title(parts: Sequence[str]) -> str:
    kept: list[str] = []
    for part in parts:
        if part and part not in kept:
            kept.append(part)
    return ", ".join(kept)[-160:]


def _field(key: str, node: Node, text: str | None) -> Field:
    if text is None:
        return Field(key, leaf_text(node), node.pointer, None, None)
    return Field(key, leaf_text(node), None, node.start, node.end)


def _field_groups(scalars: list[tuple[str, Node]], path: list[str], title: str, text: str | None) -> Iterator[Segment]:
    """Premises `title. key: value | key: value` of at most `MAX_CHARS`, each repeating the record's identity."""
    identity = [(key, child) for key, child in scalars if _IDENTITY.search(key)][:2]
    head = _short_title([title, *path])
    group: list[tuple[str, Node]] = []
    for key, child in scalars:
        if len(leaf_text(child)) > MAX_CHARS // 2 or len(key) > MAX_KEY:
            yield from _long_field(key, child, head, text)
        elif group and _length([*group, (key, child)]) > MAX_CHARS - min(len(head), 160):
            yield _group_segment(group, head, text)
            group = [*(item for item in identity if item[0] != key), (key, child)]
        else:
            group.append((key, child))
    if group:
        yield _group_segment(group, head, text)


def _length(group: list[tuple[str, Node]]) -> int:
    return sum(len(key) + len(leaf_text(child)) + 5 for key, child in group)


def _group_segment(group: list[tuple[str, Node]], head: str, text: str | None) -> Segment:
    body = " | ".join(f"{_words_of(key)}: {leaf_text(child)}" for key, child in group)
    fields = tuple(_field(_words_of(key), child, text) for key, child in group)
    segment = Segment(-1, f"{head}. {body}" if head else body, fields=fields, record=head)
    if text is None:
        pointer = group[0][1].pointer if len(group) == 1 else group[0][1].pointer.rpartition("/")[0]
        return replace(segment, pointer=pointer)
    spans = [child for _, child in group]
    return replace(segment, start=min(node.start for node in spans), end=max(node.end for node in spans))


def _long_field(key: str, node: Node, head: str, text: str | None) -> Iterator[Segment]:
    """A long text inside a record: its own sentences, under the record's title. Offsets name the whole field."""
    body = leaf_text(node)
    label = f"{_words_of(key)}: " if key else ""
    if len(key) > MAX_KEY:
        body, label = label + body, ""
    field = _field(_words_of(key), node, text)
    for span in _bounded(body, sentences(body)):
        piece = body[span.start : span.end]
        yield _at(Segment(-1, f"{head}. {label}{piece}" if head else label + piece, fields=(field,), record=head), node, text)


# --- prose, tables, HTML --------------------------------------------------------------------------------------------

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_PRONOUN = re.compile(r"(?:It|They|This|These|That|Those|He|She|Its|Their|Otherwise|However|Such)\b")


def _row_segment(row: Row, title: str) -> Segment:
    body = " | ".join(f"{column}: {cell}" if column else cell for column, cell in row.cells if cell)
    fields = tuple(Field(_words_of(column), cell, None, row.start, row.end) for column, cell in row.cells if cell)
    return Segment(-1, f"{title}. {body}" if title else body, start=row.start, end=row.end, fields=fields, record=title)


def _markdown_segments(text: str, title: str) -> Iterator[Segment]:
    """Sentences of prose under their heading; tables by row."""
    lines = []
    at = 0
    for line in text.splitlines(keepends=True):
        lines.append((at, line))
        at += len(line)
    heading, number = "", 0
    while number < len(lines):
        offset, line = lines[number]
        last = number
        if "|" in line and number + 1 < len(lines) and is_table_rule(lines[number + 1][1]) and "|" in lines[number + 1][1]:
            last = number + 1
            while last + 1 < len(lines) and "|" in lines[last + 1][1]:
                last += 1
            yield from _prose(text, [trim(text, Span(offset, offset + len(line)))], heading)
            for row in markdown_table(lines[number : last + 1]):
                yield from _bounded_row(text, row, heading or title)
        else:
            if match := _HEADING.match(line):
                heading = match.group(2)[:100]
            yield from _prose(text, sentences_at(text, offset, offset + len(line)), "" if match else heading)
        number = last + 1


def _bounded_row(text: str, row: Row, title: str) -> Iterator[Segment]:
    segment = _row_segment(row, title)
    if row.end - row.start <= MAX_CHARS and len(segment.text) <= 2 * MAX_CHARS:
        yield segment
    else:
        yield from _prose(text, [Span(row.start, row.end)], title)


def sentences_at(text: str, start: int, end: int) -> list[Span]:
    return [Span(start + span.start, start + span.end) for span in sentences(text[start:end])]


def _prose(text: str, spans: Sequence[Span], heading: str) -> Iterator[Segment]:
    before: Span | None = None
    for span in _bounded(text, spans):
        piece = text[span.start : span.end]
        premise = re.sub(r"^\s*(?:[-*+•]|\d+[.)])\s+", "", piece)
        fields = _line_fields(premise, span)
        if before and _PRONOUN.match(premise):
            premise = f"{text[before.start : before.end]} {premise}"[-MAX_CHARS:]
        if heading:
            premise = f"{heading}: {premise}"
        yield Segment(-1, premise, start=span.start, end=span.end, fields=fields)
        before = span


_KEY_VALUE = re.compile(r"([A-Z][\w /-]{1,40}): (\S[^:]{0,80}?)\.?$")


def _line_fields(premise: str, span: Span) -> tuple[Field, ...]:
    """The field that a line such as `Holder: Priya Raman` is."""
    match = _KEY_VALUE.match(premise)
    if match is None or len(match.group(1).split()) > 4 or len(match.group(2).split()) > 8:
        return ()
    return (Field(_words_of(match.group(1)), match.group(2), None, span.start, span.end),)


def _bounded(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """`spans` with those above `MAX_CHARS` cut at a clause or word boundary, a quarter of overlap between the parts."""
    for span in spans:
        start, end = span
        while end - start > MAX_CHARS:
            cut = _cut_before(text, start, start + MAX_CHARS)
            yield trim(text, Span(start, cut))
            step = _cut_before(text, start + MAX_CHARS // 2, max(start + MAX_CHARS // 2 + 1, cut - MAX_CHARS // 4))
            start = step if step > start else cut
        last = trim(text, Span(start, end))
        if last.start < last.end:
            yield last


def _cut_before(text: str, low: int, high: int) -> int:
    window = text[low:high]
    for marks in (";:,—", " \t\n"):
        at = max((window.rfind(mark) for mark in marks), default=-1)
        if at > len(window) // 2:
            return low + at + 1
    return high


def _html_segments(text: str) -> Iterator[Segment]:
    heading = ""
    header: list[str] = []
    for block in html_blocks(text):
        if block.kind == "table":
            header = []
        if block.kind == "tr" and "\t" in block.text:
            cells = [cell.strip() for cell in block.text.split("\t")]
            if "th" in block.cells and "td" not in block.cells:
                header = cells
                yield from _html_prose(block, heading)
            else:
                row = _html_row(block, header, cells, heading)
                if len(row.text) <= 2 * MAX_CHARS:
                    yield row
                else:
                    yield from _html_prose(block, heading)
            continue
        if block.kind in ("h1", "h2", "h3", "h4", "title"):
            heading = " ".join(block.text.split())[:100]
            yield from _html_prose(block, "")
        else:
            yield from _html_prose(block, heading)


def _html_row(block: HtmlBlock, header: list[str], cells: list[str], heading: str) -> Segment:
    names = [*header, *[""] * (len(cells) - len(header))]
    visible = trim(block.text, Span(0, len(block.text)))
    start, end = block.map[visible.start], block.ends[visible.end - 1]
    return _row_segment(Row(start, end, tuple(zip(names, cells, strict=False))), heading)


def _html_prose(block: HtmlBlock, heading: str) -> Iterator[Segment]:
    text = block.text.replace("\n", " ").replace("\r", " ")
    for piece in _prose(text, sentences(text), heading):
        start, end = piece.start or 0, piece.end or 0
        if start < end:
            clean = re.sub(r"\s+", " ", piece.text)
            yield replace(piece, text=clean, start=block.map[start], end=block.ends[end - 1])
