"""What looks like a literal but is markup: list numbers, citation markers, URLs, emphasis. Blanked, offsets kept."""

from __future__ import annotations

import re
from collections.abc import Iterable

FILLER = "\x00"
"""Stands where something was blanked out: neither a word character nor a space: no pattern reaches across it."""

_STRUCTURED = re.compile(r'"[ \t]?:|\A\s{0,20}(?:\{|\[\s{0,20}(?:[\[{"]|-?\d+(?:\.\d+)?\s{0,20},))')
_MARKER = re.compile(
    r"(?<![:=\w])(?<![:=] )\[(?:\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3}){0,8}|\^[\w-]{1,40}|[A-Za-z]\w{0,30}:[\w./-]{1,80}"
    r"|(?=[\w.-]{0,80}\d)[A-Za-z][\w.-]{1,80})\](?!\()|【[^】\n]{0,80}】"
)
_URL = re.compile(r"\b(?:https?|ftp)://[^\s<>\"'|]+|\bwww\.[^\s<>\"'|]+")
_LIST_NUMBER = re.compile(
    r"^[ \t>]{0,12}\(?(?:\d{1,3}|[A-Za-z])(?:[.)](?=[ \t\u00a0])|\.\d{1,2}\.?(?=[ \t][A-Z*]))", re.MULTILINE
)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}(?=[ \t])", re.MULTILINE)
_SET_PHRASE = re.compile(r"(?<![\w./])24/7(?![\w/])")
_DECADE = re.compile(r"(?<!\w)['’]?(?:1[5-9]|20)?\d0s(?!\w)")
_EMPHASIS = str.maketrans("*`", "  ")


def is_structured(text: str) -> bool:
    """Whether the text is JSON rather than prose: its double quotes are syntax and its brackets are arrays."""
    return _STRUCTURED.search(text) is not None


def blank(text: str, spans: Iterable[tuple[int, int]], filler: str = FILLER) -> str:
    """The text with ordered, disjoint spans overwritten; its length stays."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces += (text[position:start], filler * (end - start))
        position = end
    return "".join((*pieces, text[position:]))


def mask_markup(text: str) -> str:
    """The text without URLs, citation markers, list numbers and emphasis, of the same length."""
    patterns = [_URL, _HEADING, _LIST_NUMBER, _DECADE, _SET_PHRASE]
    if not is_structured(text):
        patterns.append(_MARKER)
    for pattern in patterns:
        text = blank(text, (match.span() for match in pattern.finditer(text)))
    return text.translate(_EMPHASIS)
