"""Which claims a citation reaches (rule 2 of the contract)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from entailgrid.claims.citations import Citation
from entailgrid.claims.decompose import Marks
from entailgrid.language import Span


def marks_of(citations: Sequence[Citation]) -> Marks:
    """The spans that are no part of a claim's wording."""
    return Marks(
        tuple(c.span for c in citations if c.is_marker),
        tuple(c.span for c in citations if c.form == "prose" and c.detachable),
    )


def covering(citations: Sequence[Citation], claim: Span, sentence: Span, lead_in: Span | None, answer: str) -> list[Citation]:
    """The citations that reach a claim (rule 2 of the contract).

    A marker covers the clause or sentence that it ends, or opens where nothing stands before it on its line; an attribution
    phrase covers its own sentence and the list or table that it introduces; an explicit citation covers what it overlaps.
    """
    reached = []
    for citation in citations:
        if citation.explicit:
            hit = citation.start < claim.end and claim.start < citation.end
        elif not citation.is_marker:
            hit = _phrase_covers(citation, citations, claim, sentence, lead_in)
        else:
            hit = _marker_covers(citation, citations, claim, sentence, answer)
        if hit or any(given.start < claim.end and claim.start < given.end for given in citation.given):
            reached.append(citation)
    return reached


def _phrase_covers(phrase: Citation, citations: Sequence[Citation], claim: Span, sentence: Span, lead_in: Span | None) -> bool:
    if lead_in is not None and _within(phrase.span, lead_in):
        return True
    if not _within(phrase.span, sentence):
        return False
    own = [c for c in citations if not c.is_marker and not c.explicit and _within(c.span, claim)]
    return phrase in own or not own


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _marker_covers(marker: Citation, citations: Sequence[Citation], claim: Span, sentence: Span, answer: str) -> bool:
    if not _within(marker.span, sentence):
        return False
    if _opens(marker, citations, sentence, answer):
        return True
    if marker.end <= claim.start:
        return False
    between = answer[claim.end : marker.start] if marker.start >= claim.end else ""
    later = [c for c in citations if c.is_marker and claim.start < c.start < marker.start and _within(c.span, sentence)]
    earlier_ends = [c for c in later if re.search(r"\w", answer[c.end : marker.start])]
    return not earlier_ends or (marker.start < claim.end and not between)


def _opens(marker: Citation, citations: Sequence[Citation], sentence: Span, answer: str) -> bool:
    """Whether the marker stands at the head of its sentence and no other follows the words."""
    head = answer[sentence.start : marker.start]
    for other in citations:
        if other.is_marker and _within(other.span, sentence) and other.end <= marker.start:
            head = head.replace(answer[other.start : other.end], "")
    return not re.search(r"\w", head)
