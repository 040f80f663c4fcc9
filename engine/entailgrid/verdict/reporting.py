"""Claim verdicts as the wire format shows them: evidence spans, literals, texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from entailgrid.claims.decompose import Claim
from entailgrid.evidence.segment import Field, Segment
from entailgrid.types import ClaimReport, Evidence, LiteralReport
from entailgrid.verdict.claim import ClaimVerdict, Stance
from entailgrid.verdict.fields import FieldConflict, matched_fields
from entailgrid.verdict.weigh import PremiseVerdict

_DIGITS = 6


def skipped_report(name: str, claim: Claim) -> ClaimReport:
    """A sentence without a checkable fact."""
    return ClaimReport(
        id=name,
        text=claim.text,
        start=claim.start,
        end=claim.end,
        support=None,
        attribution=None,
        quadrant=None,
        verdict="skip",
        probability=None,
        reason=claim.skip,
    )


def claim_report(
    name: str,
    claim: Claim,
    verdict: ClaimVerdict,
    cited: Sequence[str],
    ids: Sequence[str],
    segments: Sequence[Segment],
    conflict: FieldConflict | None,
) -> ClaimReport:
    """The claim's part of the report; evidence best first."""
    contradicted = [
        item
        for stance in verdict.contradicting
        for item in _evidence(claim.text, stance.contradiction, stance.contradiction.contradict, ids, segments)
    ]
    if conflict is not None and verdict.support == "supported":
        contradicted.append(_conflicting(conflict, ids, segments))
    return ClaimReport(
        id=name,
        text=claim.text,
        start=claim.start,
        end=claim.end,
        support=verdict.support,
        attribution=verdict.attribution,
        quadrant=verdict.quadrant,
        verdict=verdict.verdict,
        probability=round(verdict.probability, _DIGITS),
        cited=tuple(cited),
        supported_by=tuple(
            item
            for stance in verdict.supporting
            for item in _evidence(claim.text, stance.support, stance.support.support, ids, segments)
        ),
        contradicted_by=tuple(contradicted),
        literals=_literals(verdict, ids),
        reason=verdict.reason,
    )


def _evidence(
    claim: str, verdict: PremiseVerdict, probability: float, ids: Sequence[str], segments: Sequence[Segment]
) -> Iterator[Evidence]:
    """One entry a segment of the premise, narrowed to a field where the claim's value is exactly that field."""
    for index in verdict.signals.candidate.segments:
        segment = segments[index]
        fields = matched_fields(claim, segment)
        narrowed = fields[0] if len({(f.pointer, f.start) for f in fields}) == 1 else None
        yield _at(segment, narrowed, probability, ids)


def _at(segment: Segment, field: Field | None, probability: float, ids: Sequence[str]) -> Evidence:
    place = field or segment
    structured = place.pointer is not None
    return Evidence(
        source_id=ids[segment.source],
        block=None if structured else segment.block,
        start=None if structured else place.start,
        end=None if structured else place.end,
        pointer=place.pointer,
        text=segment.text,
        probability=round(probability, _DIGITS),
    )


def _conflicting(conflict: FieldConflict, ids: Sequence[str], segments: Sequence[Segment]) -> Evidence:
    return _at(segments[conflict.other_segment], conflict.other, 0.5, ids)


def _literals(verdict: ClaimVerdict, ids: Sequence[str]) -> tuple[LiteralReport, ...]:
    """Literals as the best supporting source has them, else as the closest source has them."""
    stance: Stance | None = next(iter((*verdict.supporting, *verdict.closest)), None)
    if stance is None:
        return ()
    return tuple(
        LiteralReport(
            text=literal.text,
            kind=literal.kind,
            status=literal.status,
            source_id=ids[stance.source] if literal.status != "cannot_check" else None,
            found=literal.derivation or (literal.found if literal.status == "mismatch" else None),
        )
        for literal in stance.support.signals.literals
    )
