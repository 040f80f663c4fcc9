"""Signals of one premise, and the probabilities that it supports or contradicts the claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from entailgrid.evidence.route import Candidate
from entailgrid.verdict.calibrate import Calibration, sigmoid
from entailgrid.verdict.literal_check import LiteralOutcome


@dataclass(frozen=True, slots=True)
class Signals:
    """What was seen of a claim beside one premise. Probabilities are the cross-encoder's, in [0, 1]."""

    candidate: Candidate
    entailment: float
    contradiction: float
    literals: tuple[LiteralOutcome, ...]
    names_missing: int = 0
    names_elsewhere: int = 0
    is_action_result: bool = False


@dataclass(frozen=True, slots=True)
class PremiseVerdict:
    """`support` and `contradict`: probabilities for this premise alone."""

    signals: Signals
    support: float
    contradict: float


def weigh(signals: Signals, calibration: Calibration) -> PremiseVerdict:
    """Log-odds as weighted sums of the signals; the weights and where they come from stand in `calibrate`."""
    return PremiseVerdict(signals, sigmoid(_support(signals, calibration)), sigmoid(_contradiction(signals, calibration)))


def _counts(literals: Sequence[LiteralOutcome]) -> tuple[int, int, int]:
    """(matched, mismatched, not there) of the literals that count."""
    matched = sum(literal.status == "match" for literal in literals)
    strong = [literal for literal in literals if not literal.weak]
    mismatched = sum(literal.status == "mismatch" for literal in strong)
    return matched, mismatched, sum(literal.status == "cannot_check" for literal in strong)


def _support(signals: Signals, calibration: Calibration) -> float:
    weights = calibration.support_weights
    matched, mismatched, absent = _counts(signals.literals)
    odds = weights.bias
    odds += weights.entailment * signals.entailment + weights.contradiction * signals.contradiction
    odds += weights.cosine * signals.candidate.cosine + weights.coverage * signals.candidate.coverage
    if matched and not mismatched and not absent:
        odds += weights.literals_matched
    odds += weights.literal_mismatch * min(mismatched, 2) + weights.literal_missing * min(absent, 2)
    odds += weights.name_missing * min(signals.names_missing, 2) + weights.name_elsewhere * min(signals.names_elsewhere, 2)
    return odds + (weights.action if signals.is_action_result else 0.0)


def _contradiction(signals: Signals, calibration: Calibration) -> float:
    weights = calibration.contradiction_weights
    matched, mismatched, _ = _counts(signals.literals)
    odds = weights.bias
    odds += weights.contradiction * signals.contradiction + weights.entailment * signals.entailment
    odds += weights.coverage * signals.candidate.coverage
    odds += weights.literal_mismatch * min(mismatched, 1)
    if matched and not mismatched:
        odds += weights.literals_matched * matched
    if signals.candidate.coverage < calibration.contradiction_coverage or signals.names_elsewhere:
        odds = min(odds, -0.5)
    return odds
