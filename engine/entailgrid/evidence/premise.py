"""The nouns of evidence: a segment is one premise of one source, a field one named value in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from entailgrid.language import words

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


def words_of(key: str) -> str:
    return " ".join(words(key)) or key


def short_title(parts: Sequence[str]) -> str:
    kept: list[str] = []
    for part in parts:
        if part and part not in kept:
            kept.append(part)
    return ", ".join(kept)[-160:]
