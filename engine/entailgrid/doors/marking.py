"""The answer with each claim marked in place; without the marks it is the answer, character by character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from entailgrid.doors.console import visible
from entailgrid.doors.wording import number_of
from entailgrid.types import ClaimReport, Verdict

STYLE: Mapping[Verdict, str] = {"pass": "green", "block": "bold red", "abstain": "yellow", "skip": "dim"}
_SEVERITY: Mapping[Verdict, int] = {"skip": 0, "pass": 1, "abstain": 2, "block": 3}


@dataclass(frozen=True, slots=True)
class Signs:
    """Brackets around a claim, and the sign of each verdict."""

    opening: str
    closing: str
    verdicts: Mapping[Verdict, str]


UNICODE = Signs("⟦", "⟧", {"pass": "✓", "block": "✗", "abstain": "?", "skip": "·"})
ASCII = Signs("{{", "}}", {"pass": "+", "block": "x", "abstain": "?", "skip": "."})


def signs_for(encoding: str) -> Signs:
    return UNICODE if encoding.lower().startswith("utf") else ASCII


def marked_answer(answer: str, claims: Sequence[ClaimReport], signs: Signs) -> Text:
    """`answer` with `⟦1✓ ...⟧` around each claim (half-open code point offsets); skipped text is dim and not marked."""
    factual = [claim for claim in claims if claim.verdict != "skip"]
    edges = sorted({0, len(answer), *(offset for claim in claims for offset in (claim.start, claim.end))})
    text = Text()
    for number, at in enumerate(edges):
        for claim in factual:
            if claim.end == at:
                text.append(signs.closing, STYLE[claim.verdict])
        for claim in factual:
            if claim.start == at:
                label = f"{signs.opening}{number_of(claim.id)}{signs.verdicts[claim.verdict]} "
                text.append(label, STYLE[claim.verdict])
        if number + 1 < len(edges):
            text.append(visible(answer[at : edges[number + 1]]), _style_at(at, claims))
    return text


def _style_at(offset: int, claims: Sequence[ClaimReport]) -> str:
    """The style of the most severe verdict among the claims that cover `offset`."""
    covering = [claim.verdict for claim in claims if claim.start <= offset < claim.end]
    return STYLE[max(covering, key=_SEVERITY.__getitem__)] if covering else ""
