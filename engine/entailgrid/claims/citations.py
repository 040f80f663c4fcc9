"""Citations of an answer: every form in use, what each resolves to, and which claims each one covers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from entailgrid.claims.attribution_phrases import phrases
from entailgrid.claims.names import Names
from entailgrid.language import Span, sentences
from entailgrid.types import CitationForm, CitationStatus, Source, Trace


@dataclass(frozen=True, slots=True)
class Citation:
    """One citation: where it stands, its form, the sources (ids) that it names, and whether they exist."""

    start: int
    end: int
    form: CitationForm
    source_ids: tuple[str, ...]
    status: CitationStatus
    explicit: bool = False
    detachable: bool = True
    given: tuple[Span, ...] = ()
    """Spans of the trace's explicit citations that this one stands for."""

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def is_marker(self) -> bool:
        """Whether it stands for itself (`[1]`) and is no part of the sentence's wording."""
        return self.form not in ("prose", "explicit")


@dataclass(frozen=True, slots=True)
class _References:
    """The answer's own reference list: label -> target text."""

    targets: dict[str, str]
    spans: tuple[Span, ...]

    def numbers(self, footnotes: bool) -> bool:
        """Whether the list itself says what `[n]` (or `[^n]`) stands for."""
        return any(key.lstrip("^").isdigit() and key.startswith("^") == footnotes for key in self.targets)


def citations_of(trace: Trace) -> list[Citation]:
    """All citations of the answer in order. Explicit ones come from the trace; one that holds a readable citation of the same
    sources is reported in that form, at that place."""
    names = Names.of(trace.sources)
    read = sorted(_read(trace.answer, trace.sources, names), key=lambda citation: citation.start)
    known = {source.id for source in trace.sources}
    result = list(read)
    for given in trace.citations:
        ids = tuple(given.source_ids)
        inside = [n for n, c in enumerate(read) if given.start <= c.start and c.end <= given.end and c.source_ids == ids]
        if inside:
            first = result[inside[0]]
            result[inside[0]] = replace(first, given=(*first.given, Span(given.start, given.end)))
        else:
            status: CitationStatus = "resolved" if ids and known.issuperset(ids) else "phantom"
            result.append(Citation(given.start, given.end, "explicit", ids, status, explicit=True, detachable=False))
    return sorted(result, key=lambda citation: (citation.start, citation.end))


_BRACKET = re.compile(r"\[\[?([^\[\]\n]{1,120})\]?\](?!\()|【([^】\n]{1,120})】|［([^］\n]{1,120})］")
_LINK = re.compile(
    r"(!?)\[([^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?:\s+\"[^\"]*\")?\s*\)"
)
_URL = re.compile(r"<?\bhttps?://[^\s<>\"'`\]）】]+", re.IGNORECASE)
_DEFINITION = re.compile(r"^\s{0,3}\[(\^?[^\]\n]{1,40})\]:\s*(.+?)\s*$", re.MULTILINE)
_LIST_HEAD = re.compile(
    r"^[ \t#*_]{0,20}(?:sources?|references?|citations?|footnotes?)[ \t*_]{0,9}:?[ \t*_]{0,9}$", re.IGNORECASE | re.MULTILINE
)
_LIST_ENTRY = re.compile(r"^\s*(?:\[(\^?\w{1,12})\]|(\d{1,3})[.)]|[-*])\s*(.+?)\s*$")
_AUTHOR_DATE = re.compile(
    r"\(((?:[A-Z][\w'’-]+(?:,? (?:&|and) [A-Z][\w'’-]+| et al\.?)?),? (?:19|20)\d\d[a-z]?"
    r"(?:; ?[A-Z][^();]{1,40} (?:19|20)\d\d[a-z]?)*)\)|"
    r"\b([A-Z][\w'’-]+(?: (?:&|and) [A-Z][\w'’-]+| et al\.?)?) \(((?:19|20)\d\d[a-z]?)\)"
)
_SUPERSCRIPT = re.compile(r"(?<=[\w.,;)\"”])([¹²³⁴⁵⁶⁷⁸⁹][⁰¹²³⁴⁵⁶⁷⁸⁹]*)|<sup>\s*\[?(\d{1,3})\]?\s*</sup>")
_SOURCE_NOTE = re.compile(r"[(\[]\s*(?:source|sources|ref|via|from)\s*:\s*([^()\[\]\n]{1,120})[)\]]", re.IGNORECASE)
_IDS_IN_PARENTHESES = re.compile(r"\((?:see|cf\.?|ref\.?|id:?)? ?([^()\[\]\s][^()\[\]\n]{1,120})\)", re.IGNORECASE)
_NO_CITATION = re.compile(r"```.*?```|!\[[^\]\n]{0,400}\]\([^()\s]{0,2000}\)", re.DOTALL)
_LOOK_BACK = 300
"""How far before a bracket its line is read."""
_SUPER_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def _read(answer: str, sources: Sequence[Source], names: Names) -> Iterator[Citation]:
    references = _reference_list(answer)
    taken = bytearray(len(answer))
    for start, end in (*references.spans, *(match.span() for match in _NO_CITATION.finditer(answer))):
        taken[start:end] = b"\1" * (end - start)
    readers = (_links, _source_notes, _parenthesised, _brackets, _superscripts, _author_dates, _urls)
    for reader in readers:
        for citation in reader(answer, sources, names, references):
            if not any(taken[citation.start : citation.end]):
                taken[citation.start : citation.end] = b"\1" * (citation.end - citation.start)
                yield citation
    for phrase in phrases(answer, names):
        if not any(taken[phrase.start : phrase.end]):
            status: CitationStatus = "resolved" if phrase.source_ids else "phantom"
            yield Citation(phrase.start, phrase.end, "prose", phrase.source_ids, status, detachable=phrase.detachable)


def _reference_list(answer: str) -> _References:
    targets: dict[str, str] = {}
    spans = []
    for match in _DEFINITION.finditer(answer):
        targets[match.group(1).lower()] = match.group(2)
        spans.append(Span(*match.span()))
    for head in _LIST_HEAD.finditer(answer):
        at, number, end = head.end(), 0, head.end()
        for line in answer[at:].splitlines(keepends=True):
            entry = _LIST_ENTRY.match(line)
            if entry:
                number += 1
                targets.setdefault((entry.group(1) or entry.group(2) or str(number)).lower(), entry.group(3))
                end = at + len(line)
            elif line.strip():
                break
            at += len(line)
        if number:
            spans.append(Span(head.start(), end))
    return _References(targets, tuple(spans))


def _links(answer: str, sources: Sequence[Source], names: Names, references: _References) -> Iterator[Citation]:
    for match in _LINK.finditer(answer):
        if match.group(1) == "!":
            continue
        target = match.group(3)
        ids = names.by_url(target) or names.by_id(target.removeprefix("#")) or names.by_id(match.group(2).strip("^[]"))
        if ids or not names.mentions(target):
            yield _resolved(match.span(), "markdown_link", ids)


def _urls(answer: str, sources: Sequence[Source], names: Names, references: _References) -> Iterator[Citation]:
    for match in _URL.finditer(answer):
        url = match.group().lstrip("<").rstrip(".,;:!?)*_")
        start = match.start() + (match.group().startswith("<"))
        ids = names.by_url(url)
        if ids or not names.mentions(url):
            yield _resolved((start, start + len(url)), "url", ids)


def _source_notes(answer: str, sources: Sequence[Source], names: Names, references: _References) -> Iterator[Citation]:
    for match in _SOURCE_NOTE.finditer(answer):
        ids: list[str] = []
        missing = False
        for part in re.split(r"[,;]|\band\b", match.group(1)):
            found = names.by_id(part.strip()) or names.by_url(part.strip()) or names.in_text(part)
            missing = missing or not found
            ids.extend(found)
        form: CitationForm = "prose" if match.group().startswith("(") else "bracket"
        if ids or names.is_tool_shaped(match.group(1).strip()):
            yield Citation(*match.span(), form, _unique(ids), "phantom" if missing else "resolved")


def _parenthesised(answer: str, sources: Sequence[Source], names: Names, references: _References) -> Iterator[Citation]:
    """`(req_8843)`, `(see req_8842, req_8843)`: nothing but ids of the trace, each with a digit or underscore."""
    for match in _IDS_IN_PARENTHESES.finditer(answer):
        parts = [part.strip("` ") for part in re.split(r"[,;]", match.group(1))]
        if all(re.search(r"[^\W\d_].*[\d_]", part) and names.by_id(part) for part in parts):
            yield Citation(*match.span(), "bracket", _unique([i for part in parts for i in names.by_id(part)]), "resolved")


def _brackets(answer: str, sources: Sequence[Source], names: Names, references: _References) -> Iterator[Citation]:
    spans = sentences(answer) if _BRACKET.search(answer) else []
    for match in _BRACKET.finditer(answer):
        content = next(group for group in match.groups() if group)
        sentence = next((answer[a:b] for a, b in spans if a <= match.start() < b), "")
        citation = _bracket(match.span(), content, names, references, sentence)
        if citation and not _is_prose_bracket(answer, match):
            yield citation


def _is_prose_bracket(answer: str, match: re.Match[str]) -> bool:
    """`list[0]`, `[x]` of a check list, or a bracket inside code are no citations."""
    line = answer.rfind("\n", max(0, match.start() - _LOOK_BACK), match.start()) + 1
    before = answer[max(line, match.start() - _LOOK_BACK) : match.start()]
    if (
        before[-1:].isalnum()
        and match.group(1)
        and match.group(1).isdigit()
        and re.search(r"\b[a-z_]\w*$", before)
        and "`" in before
    ):
        return True
    if before.count("`") % 2 == 1:
        return True
    return bool(re.fullmatch(r"[ xX]", match.group(1) or "")) and bool(re.search(r"[-*]\s$", before))


def _bracket(span: tuple[int, int], content: str, names: Names, references: _References, sentence: str) -> Citation | None:
    """The citation that a bracket's content is, or `None` where it is ordinary text in brackets."""
    ids: list[str] = []
    missing, unknown, form = False, False, None
    for part in _bracket_parts(content, names):
        found, part_form = _bracket_target(part, names, references, sentence)
        if part_form is None:
            unknown = True
            continue
        form = form or part_form
        missing = missing or not found
        ids.extend(found)
    if form is None:
        return Citation(*span, "unknown", (), "unparsed") if _looks_like_citation(content) else None
    if unknown and not ids:
        return None
    return Citation(*span, form, _unique(ids), "phantom" if missing else "resolved")


def _bracket_parts(content: str, names: Names) -> list[str]:
    if names.by_id(content.strip()):
        return [content.strip()]
    parts: list[str] = []
    for part in re.split(r"\s*[,;]\s*|\s+and\s+|\s*&\s*|(?<=\w)\]\s*\[(?=\w)", content.strip()):
        span = re.fullmatch(r"(\d{1,3})\s*[-–]\s*(\d{1,3})", part)
        if span and 0 < int(span.group(2)) - int(span.group(1)) < 50:
            parts.extend(str(n) for n in range(int(span.group(1)), int(span.group(2)) + 1))
        elif part:
            parts.append(part)
    return parts


_SHORT_ID = re.compile(r"S[0-9a-f]{6,12}")
_ID_SHAPED = re.compile(r"(?=[^\s]*[\d_])[A-Za-z][\w.:#/-]{2,63}")
_TOOL_MARK = re.compile(r"(?:tool|call|mcp|function)\s*:\s*([\w./-]+)(?:\(\))?", re.IGNORECASE)


def _bracket_target(
    part: str, names: Names, references: _References, sentence: str
) -> tuple[tuple[str, ...], CitationForm | None]:
    """What one member of a bracket names, and the form it has; `(…, None)` where it is no citation."""
    part = re.split(r"[†‡]", part)[0].strip().strip("`*")
    part = re.sub(r"(?:source[ _])?id\s*[:=]\s*", "", part, count=1, flags=re.IGNORECASE)
    if part.startswith("^"):
        label = part[1:]
        return _reference(part.lower(), label, names, references), "footnote"
    if match := _TOOL_MARK.fullmatch(part):
        return names.by_id(match.group(1)) or names.narrowed(names.by_tool(match.group(1)), sentence), "tool"
    if ids := names.by_id(part):
        return ids, "short_id" if _SHORT_ID.fullmatch(part) else "bracket"
    if re.match(r"https?://", part):
        return names.by_url(part), "url"
    if re.fullmatch(r"(?:source|ref|doc|document|src)?[\s#:]*\d{1,3}", part, re.IGNORECASE):
        digits = re.sub(r"\D", "", part)
        return _reference(digits, digits, names, references), "bracket"
    if _SHORT_ID.fullmatch(part):
        return names.by_short_id(part), "short_id"
    if ids := names.by_tool(part) or names.exactly(part):
        return names.narrowed(ids, sentence), "tool" if names.by_tool(part) else "bracket"
    if _ID_SHAPED.fullmatch(part) and names.shaped_like_ids(part):
        return (), "bracket"
    if names.is_tool_shaped(part) and not _looks_like_citation(part):
        return (), "tool"
    return (), None


def _reference(key: str, number: str, names: Names, references: _References) -> tuple[str, ...]:
    """The sources behind a number: by id, by the answer's own list, else by position in the trace (from 1)."""
    if ids := names.by_id(number):
        return ids
    target = references.targets.get(key) or references.targets.get(number.lower())
    if target is not None:
        url = _URL.search(target)
        return (
            (names.by_url(url.group().rstrip(".,;)>")) if url else ())
            or names.by_id(target.strip("[]` "))
            or names.in_text(target)
        )
    return names.by_position(int(number)) if number.isdigit() and not references.numbers(key.startswith("^")) else ()


def _looks_like_citation(content: str) -> bool:
    return bool(
        re.fullmatch(
            r"(?i)(?:cite|citation|cit|source|ref|reference|turn\d+\w*|doc)[\s:_#-]*[\w:.-]{1,40}|\?+|citation needed",
            content.strip(),
        )
    )


def _superscripts(answer: str, sources: Sequence[Source], names: Names, references: _References) -> Iterator[Citation]:
    for match in _SUPERSCRIPT.finditer(answer):
        digits = (match.group(1) or match.group(2)).translate(_SUPER_DIGITS)
        unit = match.group(1) in ("²", "³") and re.search(
            r"\b(?:[kcm]?m|ft|in|km|mi|x|n|r)$", answer[max(0, match.start() - 4) : match.start()]
        )
        if not unit:
            yield _resolved(match.span(), "footnote", _reference(digits, digits, names, references))


def _author_dates(answer: str, sources: Sequence[Source], names: Names, references: _References) -> Iterator[Citation]:
    for match in _AUTHOR_DATE.finditer(answer):
        text = match.group(1) or f"{match.group(2)} {match.group(3)}"
        ids: list[str] = []
        missing = False
        for part in text.split(";"):
            author, year = re.match(r"\s*([^\d,]+?),?\s+(\d{4})", part).groups()  # type: ignore[union-attr]
            found = names.by_author_date(author, year)
            missing = missing or not found
            ids.extend(found)
        if ids:
            yield Citation(*match.span(), "author_date", _unique(ids), "phantom" if missing else "resolved")
        elif match.group(1):
            yield Citation(*match.span(), "author_date", (), "phantom")


def _resolved(span: tuple[int, int], form: CitationForm, ids: tuple[str, ...]) -> Citation:
    return Citation(span[0], span[1], form, ids, "resolved" if ids else "phantom")


def _unique(ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))
