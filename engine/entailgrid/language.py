"""Sentences, words and stems of a text, with exact code-point offsets.

Sentence boundaries come from `sentencex` (Wikimedia); the repairs below are for what tool results and answers hold beyond
prose: abbreviations before numbers, line structure, full-width stops.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
_REMEMBERING: list[Callable[[], None]] = []


def remembered(maxsize: int) -> Callable[[F], F]:
    """`lru_cache` for functions of texts, emptied by `forget_texts`."""

    def decorate(function: F) -> F:
        cached = lru_cache(maxsize=maxsize)(function)
        _REMEMBERING.append(cached.cache_clear)
        return cast(F, cached)

    return decorate


def forget_texts() -> None:
    """Empty every cache that holds texts: what is forgotten must not linger there."""
    for clear in _REMEMBERING:
        clear()


class Span(NamedTuple):
    """A half-open range of code points."""

    start: int
    end: int


_ABBREVIATION = re.compile(r"(?:^|[\s(\[\"'“‘])(?:St|Mr|Mrs|Ms|Dr|Prof|e\.g|i\.e|vs|cf|approx|incl|excl|resp)\.$")
_BEFORE_NUMBER = re.compile(
    r"(?:^|[\s(\[\"'“‘])(?:approx|ca|max|min|avg|no|nos|vol|figs?|sec|art|ref|eq|pp?|ext|ch|par)\.$", re.IGNORECASE
)
_FULL_STOP = re.compile(r"[。！？](?=[^\s」』”])")
_CLOSING = re.compile(r"[*_~`\"”’)\]]+(?=\s|$)")
_MARKER_ONLY = re.compile(r"\s*(?:\[[^\]\n]{1,80}\]|【[^】\n]{1,80}】|\(\d{1,3}\))+[.!?]?\s*$")


def sentences(text: str) -> list[Span]:
    """Sentence spans of `text`, trimmed of white space, in order; line breaks always end a sentence."""
    spans: list[Span] = []
    for line in _lines(text):
        spans.extend(_line_sentences(text, line))
    return spans


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.splitlines(keepends=True):
        span = trim(text, Span(start, start + len(line)))
        if span.start < span.end:
            yield span
        start += len(line)


def _line_sentences(text: str, line: Span) -> list[Span]:
    from sentencex import get_sentence_boundaries

    spans: list[Span] = []
    for boundary in get_sentence_boundaries("en", text[line.start : line.end]):
        begin, end = line.start + boundary["start_index"], line.start + boundary["end_index"]
        for piece in _full_width(text, begin, end):
            if spans and (closing := _CLOSING.match(text, piece.start, piece.end)) and not text[piece.start - 1].isspace():
                spans[-1], piece = Span(spans[-1].start, closing.end()), Span(closing.end(), piece.end)
            if piece.start == piece.end:
                continue
            if spans and _joins(text, spans[-1], piece):
                spans[-1] = Span(spans[-1].start, piece.end)
            else:
                spans.append(piece)
    return [span for span in (trim(text, span) for span in spans) if span.start < span.end]


def _full_width(text: str, start: int, end: int) -> list[Span]:
    cuts = [start, *(match.end() for match in _FULL_STOP.finditer(text, start, end)), end]
    return [Span(left, right) for left, right in pairwise(cuts) if left < right]


def _joins(text: str, before: Span, after: Span) -> bool:
    """Whether a boundary found between the two is none: an abbreviation, a lower-case or a bare marker follows."""
    left, right = text[before.start : before.end].rstrip(), text[after.start : after.end].lstrip()
    if not right:
        return True
    if _MARKER_ONLY.match(right):
        return True
    if left.endswith("."):
        tail = left[-12:]
        return right[0].islower() or bool(_ABBREVIATION.search(tail) or (right[0].isdigit() and _BEFORE_NUMBER.search(tail)))
    return left[-1:] not in "!?…。！？\"”')]" and right[0].islower()


def trim(text: str, span: Span) -> Span:
    """`span` without the white space at its ends."""
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "but",
        "of",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "there",
        "here",
        "he",
        "she",
        "they",
        "them",
        "his",
        "her",
        "their",
        "we",
        "our",
        "us",
        "you",
        "your",
        "i",
        "me",
        "my",
        "will",
        "would",
        "shall",
        "should",
        "can",
        "could",
        "may",
        "might",
        "must",
        "do",
        "does",
        "did",
        "done",
        "has",
        "have",
        "had",
        "having",
        "not",
        "no",
        "nor",
        "so",
        "than",
        "then",
        "too",
        "very",
        "just",
        "also",
        "only",
        "own",
        "same",
        "such",
        "each",
        "any",
        "all",
        "some",
        "into",
        "over",
        "under",
        "out",
        "up",
        "down",
        "about",
        "after",
        "before",
        "during",
        "between",
        "per",
        "via",
        "which",
        "who",
        "whom",
        "whose",
        "what",
        "when",
        "where",
        "why",
        "how",
        "if",
        "while",
        "because",
        "since",
        "until",
        "both",
        "more",
        "most",
        "other",
        "another",
        "s",
        "t",
        "re",
        "ve",
        "ll",
        "d",
        "m",
        "please",
    ]
)


def words(text: str) -> list[str]:
    """Lower-case words of `text`; snake_case, camelCase and ISO date-times come apart."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(_JOINED.sub(r"\1\3 \2\4", text))]


_JOINED = re.compile(r"([a-z])([A-Z])|(\d)T(\d)")


def content_words(text: str) -> list[str]:
    """Stems of the words of `text` that carry content."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


@remembered(65536)
def stem(word: str) -> str:
    """The Snowball (Porter 2) stem of an English word; tokens with digits are left alone."""
    return str(_stemmer().stemWord(word)) if word.isalpha() else word.removesuffix("'s")


_LOCAL = threading.local()


def _stemmer() -> Any:
    """The calling thread's own stemmer: the object keeps the word that it works on."""
    if not hasattr(_LOCAL, "stemmer"):
        import snowballstemmer

        _LOCAL.stemmer = snowballstemmer.stemmer("english")
    return _LOCAL.stemmer


# The commonest function words: enough to tell languages apart by counting, for the languages met most in Latin script.
_FUNCTION_WORDS = {
    "en": "the of and to in is that for it with as was on are be this by not or an at from has have you your will can no",
    "es": "de la que el en los se del las un por con una su para es al lo como más pero sus le ha este está sin",
    "fr": "le les des et la un une du est que dans qui pour pas sur au avec ce il sont plus par vous votre être nous ne",
    "de": "der die das und ist nicht von mit ein eine den dem zu auf für im sich werden auch als nach bei sie ihr wird",
    "it": "il di che la è per un in non sono una del con della si da le alla ha più dei gli nel anche come",
    "pt": "de que não uma os para com em do da é um por mais as dos como mas ao ele das tem seu sua são",
    "nl": "de het een en van is dat op te in zijn met voor niet aan er om ook als bij naar uit wordt deze",
    "pl": "nie na się jest że do to jak za od po ale przez dla są było być który oraz przed",
    "sv": "och att det som är på en av för med den till inte har de om ett var från eller kan",
    "tr": "bir ve bu için ile olarak daha çok da de gibi en kadar sonra olan var değil",
}
_FUNCTION_SETS = {language: frozenset(text.split()) for language, text in _FUNCTION_WORDS.items()}


def is_english(text: str) -> bool:
    """False when `text` is plainly in another language: a foreign script, or more of its function words (each counted once)
    than English ones.

    Doubtful and short texts count as English: names, codes and numbers belong to no language.
    """
    letters = [char for char in text if char.isalpha()]
    if not letters:
        return True
    if sum(char > "\u024f" for char in letters) > len(letters) / 2:
        return False
    tokens = frozenset(words(text))
    counts = {language: len(tokens & known) for language, known in _FUNCTION_SETS.items()}
    english = counts.pop("en")
    best = max(counts.values())
    return best < 2 or best <= english
