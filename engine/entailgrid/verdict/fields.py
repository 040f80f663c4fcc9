"""Fields of records: which one a claim states, which one says otherwise, and which two it does not tell apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from entailgrid.claims.literals import Literal as ClaimLiteral
from entailgrid.claims.literals import compare, extract
from entailgrid.evidence.route import Candidate, stems_of
from entailgrid.evidence.segment import Field, Segment
from entailgrid.language import remembered, words
from entailgrid.verdict.wording import negated


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """Two fields of one source that the claim's words do not tell apart, with different values."""

    matched: Field
    segment: int
    other: Field
    other_segment: int


def field_conflict(
    claim: str, candidate: Candidate, segments: Sequence[Segment], members: Sequence[int]
) -> FieldConflict | None:
    """Which field does the claim mean? Looks among the source's segments (`members`) for a field of the same name as the one
    that the claim's value matches, in another record, with another value, that nothing in the claim rules out."""
    said = stems_of(claim)
    for index in candidate.segments:
        for matched in matched_fields(claim, segments[index]):
            mine = stems_of(segments[index].text)
            for other_index in members:
                other = segments[other_index]
                if other_index in candidate.segments or other.record == segments[index].record:
                    continue
                for field in other.fields:
                    if field.key != matched.key or field.value == matched.value:
                        continue
                    if not (mine - stems_of(other.text) - stems_of(field.value) - stems_of(matched.value)) & said:
                        return FieldConflict(matched, index, field, other_index)
    return None


@remembered(16384)
def matched_fields(claim: str, segment: Segment) -> tuple[Field, ...]:
    """Fields of `segment` whose name and value the claim states: the value as a literal or word for word, the name at least by
    half (by one word where the value is telling). A yes/no field matches by the claim's polarity."""
    return tuple(field for field in segment.fields if _states_field(claim, field) == "same")


def agreement(claim: str, segment: Segment) -> int:
    """How many fields the claim states; a yes/no field that it states counts twice, since its value has no words to share."""
    return sum(1 + (field.value.lower() in _YES | _NO) for field in matched_fields(claim, segment))


def denied_fields(claim: str, segment: Segment) -> int:
    """How many yes/no fields of `segment` say the opposite of the claim."""
    return sum(_states_field(claim, field) == "opposite" for field in segment.fields)


_KEYED = re.compile(r"(?:^|[:,] )([^:,]{1,40}): (?=[^:]*$)")


@remembered(16384)
def keyed(claim: str) -> frozenset[str]:
    """Stems of the key where a claim reads `key: value` and holds no verb's worth of words; empty otherwise."""
    match = _KEYED.search(claim)
    if match is None or len(claim[match.end() :].split()) > 6:
        return frozenset()
    return stems_of(match.group(1))


def misplaced_values(claim: str, segment: Segment) -> int:
    """Values of the claim that stand in a field which it does not name, while the field that it names holds another."""
    said = stems_of(claim)
    values = [literal for literal in extract(claim) if not literal.weak and literal.kind not in ("identifier", "quotation")]
    count = 0
    for literal in values:
        named = [f for f in segment.fields if (key := stems_of(f.key)) and key <= said]
        holders = [field for field in segment.fields if _same_value(literal, field)]
        if holders and named and not any(field in named for field in holders):
            rivals = [f for f in named if _comparable(literal, f) and not any(_same_value(v, f) for v in values)]
            count += bool(rivals) and not any(stems_of(field.key) & said for field in holders)
    return count


@remembered(16384)
def _comparable(literal: ClaimLiteral, field: Field) -> bool:
    text = f"{field.key}: {field.value}"
    return compare(literal, extract(text), text).status == "mismatch"


def stated_values(claim: str, segment: Segment) -> int:
    """Fields whose value of several words the claim holds although it does not name the field."""
    spoken = frozenset(words(claim))
    return sum(
        len(value) > 1 and value <= spoken and _states_field(claim, field) is None
        for field in segment.fields
        for value in (frozenset(words(field.value)),)
    )


_DENIED = re.compile(
    r"(?:\b(?:does|do|did|is|are|was|were|has|have|will|can) not\b|n['’]t\b|\bnot\b)[^.;:,]{0,24}$", re.IGNORECASE
)
"""A negation right before a value: it is the value that the claim denies."""
_YES = frozenset(("yes", "true", "y", "on", "enabled", "included"))
_NO = frozenset(("no", "false", "n", "off", "disabled", "none", "0"))


@remembered(65536)
def _states_field(claim: str, field: Field) -> Literal["same", "opposite"] | None:
    said = stems_of(claim)
    key = stems_of(field.key)
    shared = sum(_said(word, said) for word in key) / len(key) if key else 0.0
    if not shared:
        return None
    value = field.value.lower()
    same = [item for item in extract(claim) if not item.weak and _same_value(item, field)]
    literal = bool(same)
    if any(_DENIED.search(claim[max(0, item.start - 30) : item.start]) for item in same):
        return "opposite"
    wording = frozenset(words(field.value))
    worded = bool(wording) and wording <= frozenset(words(claim))
    if literal or worded:
        return "same" if shared >= 0.5 or (literal and len(value) > 2) else None
    if value in _YES | _NO and shared >= 0.5:
        return "same" if (value in _NO) == negated(claim) else "opposite"
    if shared == 1.0 and any(_comparable(item, field) for item in extract(claim) if not item.weak):
        return "opposite"
    return "opposite" if key and key <= keyed(claim) and len(wording) <= 4 else None


def _said(word: str, said: frozenset[str]) -> bool:
    """Whether the claim uses the word, or one that grew from it ('member' and 'membership')."""
    if word in said or len(word) < 5:
        return word in said
    return any(len(other) >= 5 and (word.startswith(other) or other.startswith(word)) for other in said)


@remembered(16384)
def _same_value(literal: ClaimLiteral, field: Field) -> bool:
    text = f"{field.key}: {field.value}"
    return compare(literal, extract(text), text).status == "match"


def lacks_value(claim: str, premise: frozenset[str]) -> bool:
    """Whether a `key: value` claim shares no word of its value with the premise (its stems)."""
    match = _KEYED.search(claim)
    value = stems_of(claim[match.end() :]) if match and keyed(claim) else frozenset()
    return bool(value) and not value & (_YES | _NO) and not value & premise
