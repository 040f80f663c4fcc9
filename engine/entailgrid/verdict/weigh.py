"""Signals of one premise, and the probabilities that it supports or contradicts the claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from entailgrid.evidence.route import Candidate
from entailgrid.verdict.calibrate import Calibration, ContradictionWeights, SupportWeights, sigmoid
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
    is_structured: bool = False
    fields_matched: int = 0
    fields_denied: int = 0
    values_stated: int = 0
    values_misplaced: int = 0
    is_fragment: bool = False
    is_bare_value: bool = False
    asserts_nothing: bool = False
    value_missing: bool = False
    another_bearer: bool = False
    antonym: bool = False

    @property
    def holds_all_literals(self) -> bool:
        """Whether the claim has literals that count and the premise holds each."""
        strong = [literal for literal in self.literals if not literal.weak]
        return bool(strong) and all(literal.status == "match" for literal in strong)

    @property
    def is_restated(self) -> bool:
        """Whether the premise holds the claim's literals in another form (`1 year` for `12 months`, a sum): there the
        cross-encoder, which compares numerals, is no judge."""
        return self.holds_all_literals and any(not literal.verbatim for literal in self.literals if not literal.weak)

    @property
    def is_about_another(self) -> bool:
        """Whether an identifier or name of the claim is missing here: the premise speaks of another record."""
        return (
            self.another_bearer
            or bool(self.names_elsewhere)
            or any(literal.kind == "identifier" and literal.status != "match" for literal in self.literals)
        )


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


def _scale(signals: Signals, weights: SupportWeights | ContradictionWeights) -> float:
    """How much the cross-encoder says on this premise."""
    if signals.antonym:
        return weights.beside_antonym
    if signals.is_restated:
        return weights.restated
    return weights.structured if signals.is_structured else 1.0


def _support(signals: Signals, calibration: Calibration) -> float:
    weights = calibration.support_weights
    matched, mismatched, absent = _counts(signals.literals)
    scale = _scale(signals, weights)
    odds = weights.bias
    odds += scale * (weights.entailment * signals.entailment + weights.contradiction * signals.contradiction)
    odds += weights.cosine * signals.candidate.cosine + weights.coverage * signals.candidate.coverage
    odds += weights.field_match * min(signals.fields_matched, 2) + weights.value_stated * min(signals.values_stated, 2)
    odds += weights.field_denied * min(signals.fields_denied, 1)
    if matched and not mismatched and not absent:
        odds += weights.literals_matched + weights.further_literal * min(matched - 1, 3)
    odds += weights.literal_mismatch * min(mismatched, 2) + weights.literal_missing * min(absent, 2)
    odds += weights.name_missing * min(signals.names_missing, 2) + weights.name_elsewhere * min(signals.names_elsewhere, 2)
    odds += weights.value_misplaced * min(signals.values_misplaced, 1)
    odds += weights.fragment if signals.is_fragment and not signals.is_bare_value else 0.0
    if signals.is_bare_value and signals.holds_all_literals:
        odds += weights.bare_value
    value_unseen = signals.value_missing and not (matched or signals.fields_matched)
    odds += weights.action if signals.is_action_result else 0.0
    odds += weights.antonym if signals.antonym else 0.0
    limited = mismatched or absent or value_unseen or signals.another_bearer
    return min(odds, weights.literal_ceiling) if limited else odds


def _contradiction(signals: Signals, calibration: Calibration) -> float:
    weights = calibration.contradiction_weights
    matched, mismatched, _ = _counts(signals.literals)
    scale = _scale(signals, weights)
    odds = weights.bias
    odds += scale * (weights.contradiction * signals.contradiction + weights.entailment * signals.entailment)
    odds += weights.coverage * signals.candidate.coverage + weights.field_match * min(signals.fields_matched, 2)
    odds += weights.literal_mismatch * min(mismatched, 1) + weights.field_denied * min(signals.fields_denied, 1)
    odds += weights.value_misplaced * min(signals.values_misplaced, 1) + (weights.fragment if signals.is_fragment else 0.0)
    odds += weights.antonym if signals.antonym else 0.0
    if matched and not mismatched:
        odds += weights.literals_matched * matched
    if signals.candidate.coverage < calibration.contradiction_coverage or signals.is_about_another or signals.asserts_nothing:
        odds = min(odds, -0.5)
    return odds
