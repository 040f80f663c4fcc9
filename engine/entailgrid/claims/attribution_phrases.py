"""Names of sources, and the attributions in prose that use them ("according to the account record")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import SplitResult, unquote, urlsplit

from entailgrid.language import sentences, stem, words
from entailgrid.types import Source

_GENERIC = frozenset(
    stem(word)
    for word in """the a an your our their his her its my this that these tool tools call calls result results response
responses output outputs server mcp api data info information document documents doc docs page pages file files source
internal service com org net www http https html md pdf customer user""".split()
)
_WEAK = frozenset(
    stem(word)
    for word in """detail details record records list status history summary note notes report item items value values message
content text context number name time date think calculate update create send book cancel""".split()
)
_TOOL_VERBS = frozenset(
    """get fetch list search find lookup look read query retrieve load describe show check up by for of""".split()
)


def _key(text: str) -> tuple[str, ...]:
    """The stems of a name, without articles and words that any source may carry."""
    return tuple(token for token in (stem(word) for word in words(text)) if token not in _GENERIC)


def _tool_key(tool: str) -> tuple[str, ...]:
    parts = words(re.split(r"[./:]", tool)[-1])
    while len(parts) > 1 and parts[0] in _TOOL_VERBS:
        parts = parts[1:]
    return tuple(stem(word) for word in parts)


@dataclass(frozen=True)
class _Named:
    id: str
    phrases: tuple[tuple[str, ...], ...]
    hints: frozenset[str]


@dataclass(frozen=True)
class Names:
    """Every way in which the sources of a trace can be named."""

    sources: tuple[Source, ...]
    named: tuple[_Named, ...]

    @classmethod
    def of(cls, sources: Sequence[Source]) -> Names:
        return cls(tuple(sources), tuple(_named(source) for source in sources))

    def by_id(self, text: str) -> tuple[str, ...]:
        exact = tuple(source.id for source in self.sources if source.id == text)
        return exact or tuple(source.id for source in self.sources if source.id.lower() == text.lower())

    def by_position(self, number: int) -> tuple[str, ...]:
        return (self.sources[number - 1].id,) if 1 <= number <= len(self.sources) else ()

    def by_short_id(self, text: str) -> tuple[str, ...]:
        """Sources whose text carries the short id as a chunk marker (`[S3fa21c]`)."""
        mark = f"[{text}]"
        return tuple(s.id for s in self.sources if any(mark in block.body for block in s.blocks))

    def by_tool(self, text: str) -> tuple[str, ...]:
        wanted = text.lower().removesuffix("()")
        found = []
        for source in self.sources:
            tool = (source.tool or "").lower()
            if tool and wanted in (
                tool,
                f"{(source.server or '').lower()}/{tool}",
                f"{(source.server or '').lower()}.{tool}",
            ):
                found.append(source.id)
        return tuple(found)

    def exactly(self, text: str) -> tuple[str, ...]:
        wanted = _key(text)
        return tuple(named.id for named in self.named if wanted and wanted in named.phrases)

    def by_url(self, url: str) -> tuple[str, ...]:
        wanted = _normal_url(url)
        exact = tuple(s.id for s in self.sources if s.url and _normal_url(s.url) == wanted)
        if exact or not wanted:
            return exact
        base = wanted.partition("#")[0].partition("?")[0]
        return tuple(s.id for s in self.sources if s.url and _normal_url(s.url).partition("#")[0].partition("?")[0] == base)

    def mentions(self, url: str) -> bool:
        """Whether a source's own text holds this URL: then it is content, not a citation."""
        bare = url.rstrip("/")
        return any(bare in block.body for s in self.sources for block in s.blocks) or any(
            bare in str(s.structured_content) for s in self.sources if s.structured_content is not None
        )

    def by_author_date(self, author: str, year: str) -> tuple[str, ...]:
        first = re.split(r"\s+(?:&|and\b|et\b)", author)[0].strip().lower()
        found = []
        for source in self.sources:
            text = " ".join([source.name or "", source.id, source.url or "", *(b.body[:2000] for b in source.blocks)]).lower()
            if re.search(rf"\b{re.escape(first)}\b", text.replace("_", " ").replace("-", " ")) and year[:4] in text:
                found.append(source.id)
        return tuple(found)

    def in_text(self, text: str) -> tuple[str, ...]:
        """Sources named somewhere in a short text, the most specific name first kept."""
        tokens = tuple(stem(word) for word in words(text))
        best: dict[int, list[str]] = {}
        for named in self.named:
            length = max((len(p) for p in named.phrases if _contains(tokens, p)), default=0)
            if length:
                best.setdefault(length, []).append(named.id)
        return tuple(best[max(best)]) if best else ()

    def is_tool_shaped(self, text: str) -> bool:
        return bool(re.fullmatch(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?:\(\))?", text))

    def shaped_like_ids(self, text: str) -> bool:
        """Whether `text` has the letter-digit pattern of this trace's source ids (`req_8899` beside `req_8842`)."""
        shapes = {_shape(source.id) for source in self.sources}
        return _shape(text) in shapes or bool(
            re.match(r"(?i)(?:req|call|toolu|src|doc|source|result|msg|chunk|res)[_-]?\w*\d", text)
        )

    def narrowed(self, ids: Sequence[str], sentence: str) -> tuple[str, ...]:
        """Of several sources with one name, those whose arguments or id occur in the sentence (rule 3)."""
        if len(ids) < 2:
            return tuple(ids)
        tokens = set(words(sentence)) | {token.lower() for token in re.findall(r"[\w-]+", sentence)}
        kept = tuple(named.id for named in self.named if named.id in ids and named.hints & tokens)
        return kept or tuple(ids)


def _shape(text: str) -> str:
    return re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", re.sub(r"\d+", "0", text)))


def _named(source: Source) -> _Named:
    phrases = [_key(source.name)] if source.name else []
    if source.tool:
        phrases.append(_tool_key(source.tool))
        phrases.append(tuple(stem(word) for word in words(source.tool)))
    if source.server:
        phrases.append(_key(re.split(r"[.:/]", re.sub(r"^https?://", "", source.server))[0]))
    if not re.fullmatch(r"\d+|user_\d+|system(?:_\d+)?", source.id):
        phrases.append(_key(source.id))
    if source.url:
        stem_of_path = unquote(_split(source.url).path.rstrip("/").rpartition("/")[2]).rsplit(".", 1)[0]
        phrases.append(_key(stem_of_path.replace("-", " ")))
        host = (_split(source.url).hostname or "").removeprefix("www.")
        phrases.append(tuple(stem(word) for word in words(host)))
    hints = {source.id.lower()}
    for value in (source.arguments or {}).values():
        if isinstance(value, str | int) and not isinstance(value, bool):
            hints.update(token.lower() for token in re.findall(r"[\w-]+", str(value)) if len(token) > 1)
    return _Named(source.id, tuple(dict.fromkeys(p for p in phrases if _telling(p))), frozenset(hints))


def _telling(phrase: tuple[str, ...]) -> bool:
    """Whether a name says which source is meant: 'details' alone does not."""
    return any(len(token) > 1 and token not in _WEAK for token in phrase) or len(phrase) > 1


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # e.g. an unclosed bracket of an IPv6 host
        return SplitResult("", "", "", "", "")


def _normal_url(url: str) -> str:
    parts = _split(url.strip())
    host = (parts.hostname or "").removeprefix("www.")
    tail = f"?{parts.query}" if parts.query else ""
    tail += f"#{parts.fragment}" if parts.fragment else ""
    return f"{host}{unquote(parts.path).rstrip('/')}{tail}" if host else ""


def _contains(tokens: Sequence[str], phrase: Sequence[str]) -> bool:
    return _position(tokens, phrase) is not None


def _position(tokens: Sequence[str], phrase: Sequence[str]) -> int | None:
    for at in range(len(tokens) - len(phrase) + 1):
        if tuple(tokens[at : at + len(phrase)]) == tuple(phrase):
            return at
    return None


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
    r"this|its|their|his|her)\b))"
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
    rest = text[match.end() :]
    stop = _STOPPERS.search(rest)
    window = rest[: stop.start()] if stop else rest
    spans = list(_WORD.finditer(_spaced(window)))[:9]
    tokens = [stem(m.group().lower()) for m in spans]
    strong = bool(_STRONG.match(match.group()))
    best: tuple[int, int, list[str]] | None = None
    for named in names.named:
        for phrase in named.phrases:
            at = _position(tokens, phrase)
            if at is None or at > (4 if strong else 2) or (not strong and len(phrase) < 2):
                continue
            at + len(phrase)
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
    spaced = _spaced(text)
    spans = list(_WORD.finditer(spaced, clause))[:14]
    tokens = [stem(m.group().lower()) for m in spans]
    best: tuple[int, int, int, list[str]] | None = None
    for named in names.named:
        for phrase in named.phrases:
            at = _position(tokens, phrase)
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
    match = re.search(r"(?:^|(?<=\s))(?:the|your|our|my|this|its|their)\s+$", text[: start - offset], re.IGNORECASE)
    return start - (len(match.group()) if match else 0)


@lru_cache(maxsize=1)
def _reporting_verb() -> re.Pattern[str]:
    return re.compile(rf"['’]?s?\s+{_REPORTING}\b", re.IGNORECASE)
