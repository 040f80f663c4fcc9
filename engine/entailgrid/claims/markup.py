"""The layout of an answer: Markdown lines as blocks (paragraph, list item, table row, heading, code) with exact offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from entailgrid.language import Span, trim

BlockKind = Literal["text", "item", "row", "heading", "code", "reference"]


@dataclass(frozen=True, slots=True)
class Block:
    """One line of an answer. `start`/`end` bound its text without list marker or heading marks. `header`: the column names
    of a row's table, and of the heading that names them."""

    kind: BlockKind
    start: int
    end: int
    indent: int = 0
    cells: tuple[tuple[str, int, int], ...] = ()
    header: tuple[str, ...] = ()


_FENCE = re.compile(r"\s*(```|~~~)")
_PROSE = ("", "text", "txt", "markdown", "md")
_SENTENCE = re.compile(r"\s*[A-Z][\w'’-]* (?:\S+ ){2,}\S*\w[.!]\s*$")
"""A line of a plain fence that reads as a sentence is no code."""
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?=\S)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•–]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]+(?=\S)")
_QUOTE = re.compile(r"\s{0,3}(?:>\s?)+")
_REFERENCE = re.compile(r"\s{0,3}\[\^?[^\]\n]{1,40}\]:\s*\S")
_NUMBERED = re.compile(r"\s*\[\^?\w{1,12}\]\s*\S")
_REFERENCE_HEAD = re.compile(r"[\s#*_]*(?:sources?|references?|citations?|footnotes?)[\s*_]*:?[\s*_]*$", re.IGNORECASE)
_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")


def blocks(text: str) -> list[Block]:
    """The blocks of `text` in order; blank lines part paragraphs but make no block."""
    found: list[Block] = []
    header: tuple[str, ...] = ()
    fenced, prose, listing = False, False, False
    lines = list(_numbered_lines(text))
    for index, (start, end) in enumerate(lines):
        line = text[start:end]
        if _FENCE.match(line):
            fenced = not fenced
            prose = line.strip("`~ \t").lower() in _PROSE
            found.append(Block("code", start, end))
        elif fenced and not (prose and _SENTENCE.match(line)):
            found.append(Block("code", start, end))
        elif line.strip():
            following = text[slice(*lines[index + 1])] if index + 1 < len(lines) else ""
            block, header = _block(text, start, end, following, header)
            entry = block.kind in ("item", "reference") or _NUMBERED.match(line) is not None
            listing = _REFERENCE_HEAD.match(line) is not None or (listing and entry)
            found.append(Block("reference", block.start, block.end) if listing or block.kind == "reference" else block)
        else:
            header = ()
    return [block for block in found if block.start < block.end]


def _numbered_lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in text.splitlines(keepends=True):
        yield at, at + len(line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))
        at += len(line)


def _block(text: str, start: int, end: int, following: str, header: tuple[str, ...]) -> tuple[Block, tuple[str, ...]]:
    line = text[start:end]
    if "|" in line and (header or ("|" in following and _RULE.match(following))):
        return _row(text, start, end, header)
    if match := _REFERENCE.match(line):
        return Block("reference", start, end), ()
    if match := _QUOTE.match(line):
        start += match.end()
        line = text[start:end]
    if match := _HEADING.match(line):
        return Block("heading", start + match.end(), trim(text, Span(start, end)).end), ()
    if match := _ITEM.match(line):
        span = trim(text, Span(start + match.end(), end))
        return Block("item", span.start, span.end, indent=len(match.group(1).expandtabs(4))), ()
    span = trim(text, Span(start, end))
    indent = len(line) - len(line.lstrip())
    return Block("text", span.start, span.end, indent=indent), ()


def _row(text: str, start: int, end: int, header: tuple[str, ...]) -> tuple[Block, tuple[str, ...]]:
    line = text[start:end]
    if _RULE.match(line):
        return Block("heading", start, start), header
    cells = []
    for match in re.finditer(r"(?:\\\||[^|])+", line):
        span = trim(text, Span(start + match.start(), start + match.end()))
        if span.start < span.end:
            cells.append((plain(text[span.start : span.end]), span.start, span.end))
    span = trim(text, Span(start, end))
    if not header:
        names = tuple(cell for cell, _, _ in cells) or ("",)
        return Block("heading", span.start, span.end, header=names), names
    return Block("row", span.start, span.end, cells=tuple(cells), header=header), header


_LINK = re.compile(r"!?\[([^\]\n]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1|(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_CODE = re.compile(r"`+([^`\n]+?)`+")


def plain(text: str) -> str:
    """`text` without inline Markdown: emphasis, code marks, link targets."""
    text = _LINK.sub(r"\1", text)
    text = _CODE.sub(r"\1", text)
    for _ in range(3):
        text, changes = _EMPHASIS.subn(lambda match: match.group(2) or match.group(3), text)
        if not changes:
            break
    return re.sub(r"[ \t]+", " ", text).strip()
