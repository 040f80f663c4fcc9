"""An answer as claims: sentences, coordinated clauses, list items and table rows, each with its exact offsets."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from entailgrid.claims.markup import Block, blocks, plain
from entailgrid.claims.worth import asks_for_input, is_lead_in, no_claim, strip_filler
from entailgrid.language import Span, sentences, trim, words

MAX_CHARS = 600
"""Longest claim, about 120 tokens; a longer sentence is cut at a clause or word boundary."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer.

    `start`/`end` index the answer; `text` is the statement as it is scored, with the context that a list item or clause needs.
    `skip` says why it holds no checkable fact. `sentence` is the whole sentence, row or item; `lead_in` the sentence that
    introduces the list or table; both matter for the reach of citations. `context` is the added text alone.
    """

    start: int
    end: int
    text: str
    sentence: Span
    lead_in: Span | None = None
    skip: str | None = None
    context: str = ""


@dataclass(frozen=True, slots=True)
class _Intro:
    """What stands above a list item: a lead-in sentence, or a parent item."""

    indent: int
    span: Span
    text: str
    asks: bool
    is_item: bool


@dataclass(frozen=True, slots=True)
class Marks:
    """Where the citations of an answer stand: `markers` (`[1]`) and detachable attribution `phrases`."""

    markers: tuple[Span, ...] = ()
    phrases: tuple[Span, ...] = ()

    @property
    def all(self) -> tuple[Span, ...]:
        return self.markers + self.phrases


def claims_of(answer: str, marks: Marks = Marks()) -> list[Claim]:
    """The claims of `answer` in order, skipped ones included.

    Markers and attribution phrases are part of no claim's text; a marker in the middle of a sentence ends a clause.
    """
    found: list[Claim] = []
    above: list[_Intro] = []
    layout = [block for block in blocks(answer) if not (block.kind == "heading" and block.header)]
    for number, block in enumerate(layout):
        following = layout[number + 1] if number + 1 < len(layout) else None
        above = [intro for intro in above if _covers(intro, block)]
        if block.kind == "code":
            _add_code(found, answer, block)
            continue
        if block.kind == "reference":
            continue
        if block.kind == "heading":
            if _states_figure(plain(answer[block.start : block.end])):
                found.extend(_block_claims(answer, block, None, above, marks))
            above = (
                [*above, _intro(answer, block, Span(block.start, block.end), asks=False)] if block.start < block.end else above
            )
        elif block.kind == "row":
            found.extend(_row_claims(block, above))
        else:
            found.extend(_block_claims(answer, block, following, above, marks))
            above = _with_intro(answer, block, following, above)
    return found


def _add_code(found: list[Claim], answer: str, block: Block) -> None:
    """A line of a code fence: one skipped piece a fence, so that the report says what was not checked."""
    last = found[-1] if found else None
    if last and last.skip == "code" and not answer[last.end : block.start].strip():
        block = Block("code", last.start, block.end)
        found.pop()
    span = trim(answer, Span(block.start, block.end))
    if span.start < span.end:
        found.append(Claim(span.start, span.end, answer[span.start : span.end][:80], span, skip="code"))


def _covers(intro: _Intro, block: Block) -> bool:
    if block.kind in ("item", "row"):
        return not intro.is_item or intro.indent < block.indent or block.kind == "row"
    return intro.is_item and block.kind == "text" and block.indent > intro.indent


def _intro(answer: str, block: Block, span: Span, *, asks: bool) -> _Intro:
    label = plain(answer[span.start : span.end]).rstrip(": ")
    inside = block.kind == "text" and block.indent > 0
    indent = block.indent - 1 if inside else block.indent  # the list below an indented line may stand as deep as the line
    return _Intro(indent, span, label, asks, block.kind == "item" or inside)


def _with_intro(answer: str, block: Block, following: Block | None, above: list[_Intro]) -> list[_Intro]:
    """`above` and the block itself where the blocks that follow stand under it."""
    if following is None:
        return above
    last = _sentences(answer, block)[-1]
    text = answer[last.start : last.end]
    nested = block.kind == "item" and following.indent > block.indent
    if nested or (following.kind in ("item", "row") and block.kind == "text"):
        return [*above, _intro(answer, block, last, asks=asks_for_input(plain(text)))]
    return above


def _sentences(answer: str, block: Block) -> list[Span]:
    spans = [Span(block.start + s, block.start + e) for s, e in sentences(answer[block.start : block.end])]
    return spans or [Span(block.start, block.end)]


def _row_claims(block: Block, above: Sequence[_Intro]) -> Iterator[Claim]:
    """The row as one claim; where that is too long, its cells one by one, each beside the first."""
    lead = next((intro.span for intro in reversed(above) if not intro.is_item), None)
    names = [*block.header, *[""] * len(block.cells)]
    named = [f"{column}: {cell}" if column else cell for column, (cell, _, _) in zip(names, block.cells, strict=False)]
    body, span = ", ".join(named), Span(block.start, block.end)
    skip = None if re.search(r"[^\W_]", body) else "no words"
    if len(body) <= MAX_CHARS:
        yield Claim(block.start, block.end, body, span, lead_in=lead, skip=skip)
        return
    key = named[0] if len(named[0]) <= 100 else ""
    for text, (_, start, end) in zip(named, block.cells, strict=True):
        for piece in _bounded(text, Span(0, len(text))):
            scored = text[piece.start : piece.end]
            yield Claim(start, end, f"{key}, {scored}" if key and text != key else scored, span, lead_in=lead, context=key)


def _block_claims(answer: str, block: Block, following: Block | None, above: Sequence[_Intro], marks: Marks) -> Iterator[Claim]:
    lead = next((intro.span for intro in reversed(above) if not intro.is_item), None)
    asked = bool(above) and above[-1].asks
    opens = (
        following is not None
        and following.kind in ("item", "row")
        and (following.indent > block.indent or block.kind != "item")
    )
    spans = _sentences(answer, block)
    label = _label(answer, block)
    for index, span in enumerate(spans):
        clean = plain(_without(answer, span, marks.all))
        context = _context(above, clean)
        last = opens and index == len(spans) - 1
        skip = _skip_reason(clean, asked=asked, opens=last, is_item=block.kind == "item", has_context=bool(context))
        if skip:
            yield Claim(span.start, span.end, _tidy(clean), span, lead_in=lead, skip=skip)
            continue
        first = True
        for clause in (piece for cut in _clauses(answer, span, marks) for piece in _bounded(answer, cut)):
            labels = context if first and index == 0 else ", ".join(part for part in (context, label) if part)
            yield from _clause_claim(answer, clause, span, lead, labels, marks)
            first = False


def _clause_claim(answer: str, clause: Span, sentence: Span, lead: Span | None, context: str, marks: Marks) -> Iterator[Claim]:
    text = strip_filler(_tidy(plain(_without(answer, clause, marks.all))))
    span = _without_trailing(answer, clause, marks.markers)
    if not re.search(r"[^\W_]", text) or span.start >= span.end:
        return
    skip = no_claim(text)
    if skip or len(context) + len(text) > MAX_CHARS:
        context = ""
    scored = f"{context}: {text}" if context else text
    yield Claim(span.start, span.end, scored, sentence, lead_in=lead, skip=skip, context=context)


def _skip_reason(text: str, *, asked: bool, opens: bool, is_item: bool, has_context: bool) -> str | None:
    if asked:
        return "request"
    reason = no_claim(text)
    if reason:
        return reason
    label = text.rstrip(": ")
    short = len(label.split()) <= 5 and len(label) <= 100
    if opens and not is_lead_in(text) and not text.endswith(":") and _states_figure(text):
        return None
    if re.match(r"(?:just )?to (?:confirm|summari[sz]e|recap)\b", text, re.IGNORECASE) and _states_figure(text):
        return None
    if opens and (is_lead_in(text) or is_lead_in(strip_filler(text)) or short or (is_item and ": " not in label)):
        return "heading"
    if text.endswith(":") and (short or is_lead_in(text)):
        return "heading"
    if is_item and not has_context and len(label.split()) <= 1 and not re.search(r"\d", label):
        return "fragment"
    return None


def _states_figure(text: str) -> bool:
    """Whether a heading or lead-in itself states a figure: with a verb, or as `key: value`."""
    return bool(re.search(r"\d", text) and _HAS_VERB.search(text)) or bool(re.search(r": .*\d", text))


_LABEL = re.compile(r"\W{0,3}([^:.!?\n]{2,60}?)\W{0,3}:\W{0,3}\s")


def _label(answer: str, block: Block) -> str:
    """The label that opens a list item (`**Reservation X**: ...`): the subject of all that the item says."""
    match = _LABEL.match(answer, block.start, block.end) if block.kind == "item" else None
    label = plain(match.group(1)) if match else ""
    return label if 0 < len(label.split()) <= 6 else ""


def _context(above: Sequence[_Intro], text: str) -> str:
    """The labels of the items above, innermost last; of a lead-in what it announces, where `text` is a bare value."""
    parts = []
    bare = ": " not in text and not _HAS_VERB.search(text)
    inner: set[str] = set()
    for intro in reversed(above):
        codes = {re.sub(r"\d", "0", code) for code in _CODE.findall(intro.text)}
        if codes & inner:
            continue  # another record of the same kind stands nearer
        inner |= codes
        if intro.is_item:
            text = re.sub(r"^(?:option|step) \d+$", "", intro.text, flags=re.IGNORECASE)
        else:
            text = _announced(intro.text) if bare else ""
        if text and len(text.split()) <= (14 if intro.is_item else 8):
            parts.append(text)
    return ", ".join(reversed(parts[:3]))


_CODE = re.compile(r"\b(?=\w*\d)(?=\w*[A-Z])\w{4,}\b")
_ANNOUNCE = re.compile(
    r"^.*?\b(?:here (?:is|are)|here(?:'|’)s|below (?:is|are)|following|includes?|are|is|were|was|as follows)\b[\s,:]*",
    re.IGNORECASE,
)
_EMPTY = frozenset(
    """as follows the details your our their some these those following available option options information summary of a
an is are""".split()
)


def _announced(lead_in: str) -> str:
    """What a lead-in announces: of 'Here are your upcoming reservations', the words 'upcoming reservations'."""
    rest = _ANNOUNCE.sub("", lead_in, count=1)
    rest = re.sub(r"^(?:the |your |our |some |all )+", "", rest, flags=re.IGNORECASE)
    return rest if any(word not in _EMPTY for word in words(rest)) else ""


# --- clauses --------------------------------------------------------------------------------------------------------

_SUBJECT = (
    r"(?:it|they|he|she|you|we|this|that|these|those|there|the|your|our|his|her|its|their|each|all|no|both|an?|any|"
    r"[A-Z][\w-]*|\d[\w,.]*)"
)
_VERB = (
    r"(?:is|are|was|were|has|have|had|will|would|can|cannot|can't|could|must|may|does|do|did|costs?|includes?|requires?|applies|"
    r"departs?|arrives?|leaves?|starts?|ends?|offers?|provides?|takes?|shows?|allows?|supports?|needs?|gets?|remains?|comes?|"
    r"expires?|covers?|lives?|works?|runs?|holds?|contains?|opens?|closes?|serves?|sells?|makes?|gives?|pays?|uses?|weighs?|lasts?|"
    r"means?|belongs?|causes?|treats?|owns?|sits?|stays?|states?|says?|lists?|indicates?|confirms?|reports?|notes?|apply|\w{3,}ed)\b"
)
_COORDINATED = re.compile(
    rf"(?:;\s+|,?\s+(?:and|but|while|whereas|although|though)\s+|,\s+so\s+)(?={_SUBJECT}(?:\s+[\w'’$%.-]+){{0,6}}?\s+{_VERB})"
)
_REASON = re.compile(r"(?:\w+,\s+)?(?:since|because|as|given that|although|though|while)\s+(.+?),\s+(?=\S)", re.IGNORECASE)
_HAS_VERB = re.compile(rf"\b{_VERB}")


def _clauses(answer: str, span: Span, marks: Marks) -> list[Span]:
    """The coordinated clauses of a sentence; a citation marker inside it also ends one."""
    text = answer[span.start : span.end]
    cuts: list[tuple[int, int]] = []
    if reason := _REASON.match(text):
        cuts.append((reason.end(), reason.end()))
    for match in _COORDINATED.finditer(text):
        head = text[: match.start()]
        apart = match.group().startswith(";") or _HAS_VERB.search(head)
        if apart and not _inside_quotes(head) and head.count("(") == head.count(")"):
            cuts.append((match.end(), match.end()))
    for marker in marks.markers:
        at = marker.end - span.start
        rest = text[at:] if 0 < at < len(text) else ""
        if re.match(r"[,;]?\s+(?:and|but|while|whereas)\s+\w", rest) and marker.start > span.start:
            cuts.append((at, at))
    edges = sorted({0, len(text), *(cut for cut, _ in cuts)})
    pieces = [trim(answer, Span(span.start + a, span.start + b)) for a, b in itertools.pairwise(edges)]
    return _with_words(answer, pieces, marks.all) or [span]


def _with_words(answer: str, pieces: Sequence[Span], citations: Sequence[Span]) -> list[Span]:
    """`pieces` with those that hold fewer than two words of their own joined to their neighbour."""
    joined: list[Span] = []
    for piece in pieces:
        short = len(words(_without(answer, piece, citations))) < 2
        if joined and (short or len(words(_without(answer, joined[-1], citations))) < 2):
            joined[-1] = Span(joined[-1].start, piece.end)
        elif piece.start < piece.end:
            joined.append(piece)
    return joined


def _inside_quotes(head: str) -> bool:
    return head.count('"') % 2 == 1 or head.count("“") > head.count("”")


_LEADING = re.compile(r"^(?:[\s,;:.)\]-]|(?:and|but|while|whereas|although|though|since|because|given that)\s)+", re.IGNORECASE)
_TRAILING = re.compile(r"(?:[\s,;:]|\s(?:and|but|while|whereas|so))+$", re.IGNORECASE)


def _tidy(text: str) -> str:
    text = _LEADING.sub("", text)
    text = _TRAILING.sub("", text)
    text = re.sub(r"\(\s*[,;]?\s*\)", "", text)
    text = re.sub(r"[\s,;:]+(?=[.!?]+$)", "", text)
    text = re.sub(r"\s+([,.;:!?])", r"\1", text)
    return text.strip()


def _without(answer: str, span: Span, citations: Sequence[Span]) -> str:
    """The text of `span` without the citations in it."""
    parts, at = [], span.start
    for citation in sorted(citations):
        if citation.end > at and citation.start < span.end and citation.end <= span.end:
            parts.append(answer[at : max(at, citation.start)])
            at = max(at, citation.end)
    parts.append(answer[at : span.end])
    return "".join(parts)


def _without_trailing(answer: str, span: Span, citations: Sequence[Span]) -> Span:
    """`span` without the markers at its end: they are no part of the claim."""
    start, end = span
    changed = True
    while changed:
        changed = False
        for citation in citations:
            tail = answer[citation.end : end] if citation.end <= end else ""
            if start < citation.start < end and citation.end <= end and not re.search(r"\w", tail):
                end = trim(answer, Span(start, citation.start)).end
                changed = True
    while end > start and answer[end - 1] in " ,;([":
        end -= 1
    return Span(start, end)


def _bounded(text: str, span: Span) -> list[Span]:
    """`span`, cut at clause or word boundaries where it is longer than a model reads at once."""
    pieces = []
    start, end = span
    while end - start > MAX_CHARS:
        window = text[start : start + MAX_CHARS]
        at = next((at for at in (window.rfind(mark) for mark in (";", ",", " ")) if at > MAX_CHARS // 2), MAX_CHARS - 1)
        pieces.append(trim(text, Span(start, start + at + 1)))
        start += at + 1
    return [*pieces, trim(text, Span(start, end))]
