"""Attributions in prose that name a source ("according to the account record")."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from entailgrid.claims.names import Names, position
from entailgrid.language import sentences, stem


@dataclass(frozen=True, slots=True)
class Phrase:
    """An attribution. `detachable`: the claim reads whole without it ("according to ...", "... says that")."""

    start: int
    end: int
    source_ids: tuple[str, ...]
    detachable: bool


_CUE = re.compile(
    r"\b(?:according to|as per|per|based on|as (?:stated|shown|listed|noted|reported|described|recorded|indicated|specified|"
    r"outlined|mentioned|seen|found) (?:in|by|on)|as (?:the|your)\b|citing|as reported by|(?:stated|shown|"
    r"listed|noted|recorded|found|reported|specified|"
    r"documented|indicated|confirmed) (?:in|by|on)|(?:from|in|on|by|via|using|under|with) (?=(?:the|your|our|"
    r"this|its|their|his|her)\b)"
    r"|(?:checked|reviewed|consulted|accessed|pulled up|looked (?:at|up|into)|searched|retrieved) (?=(?:the|your)\b))"
    r"\s*(?=\S)",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"(?:according to|as per|per|based on|as |citing|stated|shown|listed|noted|recorded|reported|specified|"
    r"documented|indicated)",
    re.I,
)
_REPORTING = (
    r"(?:also |clearly |currently |only )?(?:says?|said|states?|stated|shows?|showed|lists?|listed|indicates?|"
    r"indicated|confirms?|confirmed|"
    r"reports?|reported|specif(?:y|ies|ied)|notes?|noted|records?|recorded|mentions?|mentioned|describes?|gives?|gave|reads?|"
    r"has|have|contains?|puts?|sets?|requires?|allows?|covers?|suggests?|finds?|found|provides?|displays?|returned|returns)"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|_")
_STOPPERS = re.compile(r"[,;!?()\[\]\n]|[:.](?!\w)|\s[-–—]\s")


def phrases(answer: str, names: Names) -> Iterator[Phrase]:
    """Attributions in prose, in order. A tool-shaped name that no source has is a phrase without sources (a phantom)."""
    for sentence in sentences(answer):
        text = answer[sentence.start : sentence.end]
        taken_until = 0
        for match in _CUE.finditer(text):
            found = _after_cue(text, match, names) if match.start() >= taken_until else None
            if found:
                end, ids = found
                taken_until = end
                span = sentence.start + match.start(), sentence.start + end
                yield Phrase(*span, names.narrowed(ids, text), bool(_STRONG.match(match.group())))
        if not taken_until:
            yield from _subject_phrases(text, sentence.start, names)


def _after_cue(text: str, match: re.Match[str], names: Names) -> tuple[int, tuple[str, ...]] | None:
    """(end of the phrase, ids) where a source's name follows the cue, within eight words and before any stop."""
    rest = text[match.end() : match.end() + _WINDOW]
    stop = _STOPPERS.search(rest)
    window = rest[: stop.start()] if stop else rest
    spans = list(itertools.islice(_WORD.finditer(_spaced(window)), 9))
    tokens = [stem(m.group().lower()) for m in spans]
    strong = bool(_STRONG.match(match.group()))
    best: tuple[int, int, list[str]] | None = None
    for named in names.named:
        for phrase in named.phrases:
            at = position(tokens, phrase)
            if at is None or at > (4 if strong else 2) or (not strong and len(phrase) < 2):
                continue
            rank = (len(phrase), -at)
            if best is None or rank > (best[0], -best[1]):
                best = (len(phrase), at, [named.id])
            elif rank == (best[0], -best[1]) and named.id not in best[2]:
                best[2].append(named.id)
    if best is not None:
        length, at, ids = best
        return match.end() + _phrase_end(window, spans[at + length - 1].end()), tuple(ids)
    tool = re.match(r"(?:the )?`?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?:\(\))?`?", window)
    if tool and strong:
        return match.end() + tool.end(), ()
    return None


def _phrase_end(window: str, end: int) -> int:
    """A generic noun after the name belongs to the phrase: 'the account record *tool*'."""
    match = re.match(
        r"(?:[-.]\w+)*[`*_]*(?:\s+(?:tool|call|result|results|response|output|server|document|page|record|records|data|details?)\b)?",
        window[end:],
    )
    return end + (match.end() if match else 0)


def _spaced(text: str) -> str:
    """`text` of equal length in which underscores part words and camel case is left alone."""
    return text.replace("_", " ").replace("`", " ").replace("*", " ")


_WINDOW = 240
"""Characters after a cue in which a source's name is looked for; nine words fit."""
_CLAUSE_EDGE = re.compile(r"(?:[,;]\s*)?\b(?:and|but|while|whereas)\s+|;\s+")


def _subject_phrases(text: str, offset: int, names: Names) -> Iterator[Phrase]:
    """'The refund policy says ...': a source's name as the subject of a reporting verb, clause by clause."""
    edges = [0, *(match.end() for match in _CLAUSE_EDGE.finditer(text))]
    found = 0
    for start in edges:
        if start >= found and (phrase := _subject_phrase(text, start, offset, names)):
            found = phrase.end - offset
            yield phrase
    tool = None if found else _UNKNOWN_TOOL.match(text)
    if tool and not names.by_tool(tool.group(1)):
        yield Phrase(offset, offset + tool.end(), (), False)


def _subject_phrase(text: str, clause: int, offset: int, names: Names) -> Phrase | None:
    spaced = _spaced(text[: clause + 2 * _WINDOW])
    spans = list(itertools.islice(_WORD.finditer(spaced, clause), 14))
    tokens = [stem(m.group().lower()) for m in spans]
    best: tuple[int, int, int, list[str]] | None = None
    for named in names.named:
        for phrase in named.phrases:
            at = position(tokens, phrase)
            if at is None or at > 5:
                continue
            end = _phrase_end(spaced, spans[at + len(phrase) - 1].end())
            if not (_SAYS if len(phrase) == 1 else _reporting_verb()).match(spaced, end):
                continue  # "the account has ..." is about an account, "the account record has ..." names a source
            if best is None or len(phrase) > best[0]:
                best = (len(phrase), at, end, [named.id])
            elif len(phrase) == best[0] and at == best[1] and named.id not in best[3]:
                best[3].append(named.id)
    if best is None:
        return None
    _, at, end, ids = best
    says = _SAYS.match(text, end)
    start = _article(text, offset, offset + spans[at].start())
    return Phrase(start, offset + (says.end() if says else end), names.narrowed(ids, text), says is not None)


_SAYS = re.compile(
    r"['’]?s?\s+(?:also |clearly |currently )?(?:says?|said|states?|stated|shows?|showed|indicates?|indicated|"
    r"confirms?|confirmed|"
    r"reports?|reported|notes?|noted|mentions?|mentioned|specif(?:y|ies|ied))(?:\s+that\b|\s*[:,])?",
    re.IGNORECASE,
)
_UNKNOWN_TOOL = re.compile(
    rf"(?:the )?`?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?:\(\))?`?(?: tool| call| result)?(?=\s+{_REPORTING}\b)",
    re.IGNORECASE,
)


def _article(text: str, offset: int, start: int) -> int:
    """`start` moved before the article of the name."""
    match = re.search(
        r"(?:^|(?<=\s))(?:the|your|our|my|this|its|their)\s+$",
        text[max(0, start - offset - 12) : start - offset],
        re.IGNORECASE,
    )
    return start - (len(match.group()) if match else 0)


@lru_cache(maxsize=1)
def _reporting_verb() -> re.Pattern[str]:
    return re.compile(rf"['’]?s?\s+{_REPORTING}\b", re.IGNORECASE)
