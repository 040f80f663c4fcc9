"""JSON, tables, CSV and HTML as trees whose leaves know where they stand: a span of the text or a JSON Pointer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

MAX_DEPTH = 100


@dataclass(slots=True)
class Node:
    """A JSON value. `start`/`end` index the text it was parsed from; -1 where it came from `structured_content`."""

    pointer: str
    start: int = -1
    end: int = -1
    value: Any = None
    members: list[tuple[str, Node]] | None = None
    is_array: bool = False

    @property
    def is_leaf(self) -> bool:
        return self.members is None


def escape_pointer(key: str) -> str:
    """A reference token of RFC 6901."""
    return key.replace("~", "~0").replace("/", "~1")


def node_of(value: Any, pointer: str = "", depth: int = 0) -> Node:
    """The tree of a parsed JSON value. Below `MAX_DEPTH` levels a value is kept as one leaf, its JSON text."""
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return Node(pointer, value=str(value))
    if isinstance(value, dict):
        members = [(key, node_of(item, f"{pointer}/{escape_pointer(key)}", depth + 1)) for key, item in value.items()]
        return Node(pointer, members=members)
    if isinstance(value, list):
        members = [(str(i), node_of(item, f"{pointer}/{i}", depth + 1)) for i, item in enumerate(value)]
        return Node(pointer, members=members, is_array=True)
    return Node(pointer, value=value)


_SPACE = re.compile(r"[ \t\n\r]*")
_ATOM = re.compile(r"true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_CONSTANTS = {"true": True, "false": False, "null": None}


def parse_json(text: str) -> Node | None:
    """The tree of the JSON object or array that `text` is, with spans into `text`; `None` if it is none."""
    start = _SPACE.match(text, 0).end()  # type: ignore[union-attr]
    if text[start : start + 1] not in ("{", "["):
        return None
    try:
        node = _parse_value(text, start, "", 0)
    except (JSONDecodeError, IndexError):
        return None
    return node if _SPACE.match(text, node.end).end() == len(text) else None  # type: ignore[union-attr]


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _parse_value(text: str, at: int, pointer: str, depth: int) -> Node:
    char = text[at]
    if depth > MAX_DEPTH:
        raise JSONDecodeError("nested too deeply", text, at)
    if char == "{" or char == "[":
        return _parse_container(text, at, pointer, depth, is_array=char == "[")
    if char == '"':
        value, end = scanstring(text, at + 1)
        return Node(pointer, at, end, value)
    match = _ATOM.match(text, at)
    if match is None:
        raise JSONDecodeError("expected a value", text, at)
    atom = match.group()
    return Node(pointer, at, match.end(), _CONSTANTS.get(atom, atom))


def _parse_container(text: str, start: int, pointer: str, depth: int, *, is_array: bool) -> Node:
    members: list[tuple[str, Node]] = []
    close = "]" if is_array else "}"
    at = _skip(text, start + 1)
    while text[at] != close:
        if members:
            if text[at] != ",":
                raise JSONDecodeError("expected a comma", text, at)
            at = _skip(text, at + 1)
        key = str(len(members))
        if not is_array:
            if text[at] != '"':
                raise JSONDecodeError("expected a key", text, at)
            key, at = scanstring(text, at + 1)
            at = _skip(text, at)
            if text[at] != ":":
                raise JSONDecodeError("expected a colon", text, at)
            at = _skip(text, at + 1)
        child = _parse_value(text, at, f"{pointer}/{escape_pointer(key)}", depth + 1)
        members.append((key, child))
        at = _skip(text, child.end)
    return Node(pointer, start, at + 1, members=members, is_array=is_array)


def leaf_text(node: Node) -> str:
    """How a scalar reads in a premise."""
    if node.value is None:
        return "none"
    if isinstance(node.value, bool):
        return "yes" if node.value else "no"
    return str(node.value).strip()


_TABLE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")


@dataclass(frozen=True, slots=True)
class Row:
    """A table row: its span in the text, and (column, cell) pairs."""

    start: int
    end: int
    cells: tuple[tuple[str, str], ...]


def markdown_table(lines: list[tuple[int, str]]) -> list[Row]:
    """Rows of a Markdown table given as (offset, line) with a header and its rule."""
    header = _pipe_cells(lines[0][1])
    rows = []
    for offset, line in lines[2:]:
        cells = _pipe_cells(line)
        names = [*header, *[""] * (len(cells) - len(header))]
        body = line.rstrip()
        lead = len(body) - len(body.lstrip())
        rows.append(Row(offset + lead, offset + len(body), tuple(zip(names, cells, strict=False))))
    return rows


def is_table_rule(line: str) -> bool:
    """Whether `line` is the `|---|---|` under a Markdown table's header."""
    return "-" in line and bool(_TABLE_RULE.match(line))


def _pipe_cells(line: str) -> list[str]:
    body = line.strip().removeprefix("|")
    body = body[:-1] if body.endswith("|") and not body.endswith("\\|") else body
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", body)]


def csv_rows(text: str) -> list[Row] | None:
    """Rows of a CSV or TSV text with a header line, or `None` if it is no such table."""
    for delimiter in (",", "\t", ";"):
        records = list(_csv_records(text, delimiter))
        width = len(records[0][2]) if records else 0
        if len(records) >= 2 and width >= 2 and all(len(cells) == width for _, _, cells in records):
            header = records[0][2]
            short = sum(len(cell) <= 40 for _, _, cells in records for cell in cells)
            plain = all(0 < len(name) <= 40 and name[-1] not in ".!?:" for name in header)
            if len(set(header)) == width and plain and short >= 0.8 * width * len(records):
                return [Row(start, end, tuple(zip(header, cells, strict=True))) for start, end, cells in records[1:]]
    return None


_CSV_FIELD = re.compile(r'"((?:[^"]|"")*)"')


def _csv_records(text: str, delimiter: str) -> Iterator[tuple[int, int, list[str]]]:
    """(start, end, cells) a record, RFC 4180 quoting; the standard reader gives no offsets."""
    at = 0
    while at < len(text):
        start, cells = at, []
        while True:
            quoted = _CSV_FIELD.match(text, at)
            if quoted:
                cells.append(quoted.group(1).replace('""', '"').strip())
                at = quoted.end()
            else:
                end = at
                while end < len(text) and text[end] not in (delimiter, "\n"):
                    end += 1
                cells.append(text[at:end].strip())
                at = end
            if at < len(text) and text[at] == delimiter:
                at += 1
                continue
            break
        while at < len(text) and text[at] not in "\n":
            at += 1
        if any(cells):
            yield start, at, cells
        at += 1


@dataclass(slots=True)
class HtmlBlock:
    """Text of one HTML block element; its i-th character comes from `map[i]` to `ends[i]` of the HTML."""

    kind: str
    parts: list[str] = field(default_factory=list)
    map: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)


_BLOCK_TAGS = frozenset(
    """p div li ul ol table tr h1 h2 h3 h4 h5 h6 section article header footer main aside nav br hr pre blockquote dl dt dd
title body form fieldset figure figcaption option summary details""".split()
)
_SKIPPED_TAGS = frozenset(("script", "style", "noscript", "template"))


class _HtmlText(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self._source = text
        self.blocks: list[HtmlBlock] = [HtmlBlock("text")]
        self._line_starts = [0]
        for match in re.finditer(r"\n", text):
            self._line_starts.append(match.end())
        self._skipping = 0
        self.feed(text)
        self.close()

    def _offset(self) -> int:
        line, column = self.getpos()
        return self._line_starts[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED_TAGS:
            self._skipping += 1
        elif tag in _BLOCK_TAGS:
            self.blocks.append(HtmlBlock(tag))
        elif tag in ("td", "th"):
            self._cell_break(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED_TAGS:
            self._skipping = max(0, self._skipping - 1)
        elif tag in _BLOCK_TAGS:
            self.blocks.append(HtmlBlock("text"))

    def _cell_break(self, tag: str) -> None:
        block = self.blocks[-1]
        block.cells.append(tag)
        if block.parts:
            self._append("\t", [self._offset()], 1)

    def handle_data(self, data: str) -> None:
        offset = self._offset()
        self._append(data, range(offset, offset + len(data)), 1)

    def handle_entityref(self, name: str) -> None:
        self._append_reference(f"&{name}")

    def handle_charref(self, name: str) -> None:
        self._append_reference(f"&#{name}")

    def _append_reference(self, reference: str) -> None:
        offset = self._offset()
        width = len(reference) + self._source.startswith(";", offset + len(reference))
        chars = unescape(f"{reference};")
        self._append(chars, [offset] * len(chars), width)

    def _append(self, chars: str, offsets: Iterable[int], width: int) -> None:
        """Add `chars`, each of which comes from `width` characters of HTML at its offset."""
        if not self._skipping:
            block = self.blocks[-1]
            block.parts.append(chars)
            for offset in offsets:
                block.map.append(offset)
                block.ends.append(offset + width)


def html_blocks(text: str) -> list[HtmlBlock]:
    """The visible blocks of an HTML text; table rows have kind `tr`, their cells parted by tabs."""
    return [block for block in _HtmlText(text).blocks if block.text.strip()]


def is_html(text: str) -> bool:
    """Whether `text` is an HTML document or fragment."""
    head = text[:2000].lstrip().lower()
    if head.startswith(("<!doctype html", "<html", "<body", "<table", "<div", "<p>", "<ul", "<section", "<article")):
        return True
    return len(re.findall(r"</(?:p|div|li|td|tr|h[1-6]|table|ul)>", text[:20000], re.IGNORECASE)) >= 2
