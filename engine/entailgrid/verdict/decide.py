"""Claim verdicts to the decision on the answer (rule 11)."""

from __future__ import annotations

from collections.abc import Sequence

from entailgrid.types import Decision
from entailgrid.verdict.claim import ClaimVerdict


def decide_answer(verdicts: Sequence[tuple[str, ClaimVerdict]]) -> tuple[Decision, list[str]]:
    """One failing claim blocks; an unverified one makes the answer `abstain`; an answer without claims is allowed."""
    reasons = []
    for name, verdict in verdicts:
        if verdict.verdict == "block":
            reasons.append(f"{name}: {_fault(verdict)}")
        elif verdict.verdict == "abstain":
            reasons.append(f"{name}: {verdict.reason or 'not verified'}")
        reasons.extend(f"{name}: {extra}" for extra in verdict.reasons)
    kinds = {verdict.verdict for _, verdict in verdicts}
    return ("block" if "block" in kinds else "abstain" if "abstain" in kinds else "allow"), reasons


def _fault(verdict: ClaimVerdict) -> str:
    if verdict.reason:
        return verdict.reason
    if verdict.attribution in (None, "correct") and verdict.support != "supported":
        return verdict.support
    return verdict.attribution or verdict.support
