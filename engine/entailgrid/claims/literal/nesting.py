"""Which field of a JSON text encloses a position, without parsing it: the text may be cut anywhere."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from entailgrid.claims.literal.model import Literal

_BRACKET = re.compile(r'(?:"([^"\n]{1,60})"[ \t]{0,4}:\s{0,8})?([\[{])|[\]}]')


def add_parents(text: str, literals: Iterable[Literal]) -> list[Literal]:
    """The literals with the enclosing field in their key: `prices.economy`, and `seats` for each item of a list."""
    positions, names = _fields(text)
    return [_with_parent(literal, *names[bisect_right(positions, literal.start) - 1]) for literal in literals]


def _fields(text: str) -> tuple[list[int], list[tuple[str, bool]]]:
    """From which position on which (field, is a list) encloses."""
    stack: list[tuple[str, bool]] = []
    positions, names = [0], [("", False)]
    for match in _BRACKET.finditer(text):
        if match[2]:
            stack.append((match[1] or "", match[2] == "["))
        elif stack:
            stack.pop()
        positions.append(match.end())
        names.append(stack[-1] if stack else ("", False))
    return positions, names


def _with_parent(literal: Literal, field: str, is_list: bool) -> Literal:
    if not field:
        return literal
    if is_list:
        return replace(literal, key=field)
    return replace(literal, key=f"{field}.{literal.key}" if literal.key else field)
