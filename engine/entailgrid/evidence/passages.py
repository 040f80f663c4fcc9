"""Prose by sentence under its heading, tables by row, HTML by block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from entailgrid.evidence.premise import MAX_CHARS, Field, Segment, words_of
from entailgrid.evidence.structured import HtmlBlock, Row, html_blocks, is_table_rule, markdown_table
from entailgrid.language import Span, sentences, trim

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_PRONOUN = re.compile(r"(?:It|They|This|These|That|Those|He|She|Its|Their|Otherwise|However|Such)\b")


def row_segment(row: Row, title: str) -> Segment:
    body = " | ".join(f"{column}: {cell}" if column else cell for column, cell in row.cells if cell)
    fields = tuple(Field(words_of(column), cell, None, row.start, row.end) for column, cell in row.cells if cell)
    return Segment(-1, f"{title}. {body}" if title else body, start=row.start, end=row.end, fields=fields, record=title)


def markdown_segments(text: str, title: str) -> Iterator[Segment]:
    """Sentences of prose under their heading; tables by row."""
    lines = []
    at = 0
    for line in text.splitlines(keepends=True):
        lines.append((at, line))
        at += len(line)
    heading, number = "", 0
    while number < len(lines):
        offset, line = lines[number]
        last = _table_end(lines, number)
        if last > number:
            yield from prose(text, [trim(text, Span(offset, offset + len(line)))], heading)
            for row in markdown_table(lines[number : last + 1]):
                yield from bounded_row(text, row, heading or title)
        else:
            if match := _HEADING.match(line):
                heading = match.group(2)[:100]
            yield from prose(text, sentences_at(text, offset, offset + len(line)), "" if match else heading)
        number = last + 1


def _table_end(lines: Sequence[tuple[int, str]], number: int) -> int:
    """The last line of the table that starts at line `number` (header, rule, at least one row), or `number` itself."""
    piped = ["|" in line for _, line in lines[number : number + 3]]
    if piped != [True] * 3 or not is_table_rule(lines[number + 1][1]) or not lines[number + 2][1].strip("| \t\r\n"):
        return number
    last = number + 2
    while last + 1 < len(lines) and "|" in lines[last + 1][1]:
        last += 1
    return last


def bounded_row(text: str, row: Row, title: str) -> Iterator[Segment]:
    segment = row_segment(row, title)
    if row.end - row.start <= MAX_CHARS and len(segment.text) <= 2 * MAX_CHARS:
        yield segment
    else:
        yield from prose(text, [Span(row.start, row.end)], title)


def sentences_at(text: str, start: int, end: int) -> list[Span]:
    return [Span(start + span.start, start + span.end) for span in sentences(text[start:end])]


def prose(text: str, spans: Sequence[Span], heading: str) -> Iterator[Segment]:
    before: Span | None = None
    for span in bounded(text, spans):
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
    return (Field(words_of(match.group(1)), match.group(2), None, span.start, span.end),)


def bounded(text: str, spans: Sequence[Span]) -> Iterator[Span]:
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


def html_segments(text: str) -> Iterator[Segment]:
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
    return row_segment(Row(start, end, tuple(zip(names, cells, strict=False))), heading)


def _html_prose(block: HtmlBlock, heading: str) -> Iterator[Segment]:
    text = block.text.replace("\n", " ").replace("\r", " ")
    for piece in prose(text, sentences(text), heading):
        start, end = piece.start or 0, piece.end or 0
        if start < end:
            clean = re.sub(r"\s+", " ", piece.text)
            yield replace(piece, text=clean, start=block.map[start], end=block.ends[end - 1])
