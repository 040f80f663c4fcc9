"""Every way in which the sources of a trace can be named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from entailgrid.language import stem, words
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
        return tuple(s.id for s in self.sources if s.url and _same_page(_normal_url(s.url), wanted))

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


def _same_page(one: str, other: str) -> bool:
    """Whether two URLs name one page: a fragment never matters, a query only where both have one (`?id=1` is not `?id=2`)."""
    (base, _, query), (other_base, _, other_query) = (url.partition("#")[0].partition("?") for url in (one, other))
    return base == other_base and (not query or not other_query or query == other_query)


def _contains(tokens: Sequence[str], phrase: Sequence[str]) -> bool:
    return position(tokens, phrase) is not None


def position(tokens: Sequence[str], phrase: Sequence[str]) -> int | None:
    for at in range(len(tokens) - len(phrase) + 1):
        if tuple(tokens[at : at + len(phrase)]) == tuple(phrase):
            return at
    return None
