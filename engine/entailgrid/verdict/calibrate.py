"""Every threshold and weight of the verdicts, in one place.

The weights were set by hand on development data (SNLI, InfoTabs, SciFact development rows and unlabelled agent
traces), not fitted: `version` says so and is written into every report.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

Profile = Literal["strict", "balanced", "precise"]


@dataclass(frozen=True, slots=True)
class SupportWeights:
    """log-odds that a premise supports a claim, from what was seen of the pair.

    `structured` scales the cross-encoder's part beside records and tables, which it was hardly trained on; there a field of the
    same name and value (`field_match`, up to two) says more. `restated` scales it where the values stand in another
    form, `beside_antonym` where the premise holds the opposite of a word of the claim (`antonym`).
    `further_literal`: each matched literal beyond the first. `literal_ceiling`: the most that a premise reaches which lacks a
    literal of the claim or speaks of another bearer. `value_misplaced`: the value stands in another field than the one that
    the claim names. `fragment`: a `key: value` claim beside prose. `bare_value`: a calculator's result is the claim's value.
    """

    bias: float = -3.2
    entailment: float = 3.4
    contradiction: float = -3.0
    structured: float = 0.5
    restated: float = 0.2
    antonym: float = -4.0
    beside_antonym: float = 0.0
    field_match: float = 1.6
    value_stated: float = 0.8
    value_misplaced: float = -6.0
    fragment: float = -1.0
    bare_value: float = 1.6
    field_denied: float = -2.5
    cosine: float = 1.2
    coverage: float = 3.2
    literals_matched: float = 1.4
    further_literal: float = 0.5
    literal_missing: float = -2.6
    literal_mismatch: float = -3.6
    literal_ceiling: float = -0.4
    name_missing: float = -0.3
    name_elsewhere: float = -1.5
    action: float = 2.4


@dataclass(frozen=True, slots=True)
class ContradictionWeights:
    """log-odds that a premise contradicts a claim."""

    bias: float = -4.4
    entailment: float = -2.5
    contradiction: float = 4.2
    structured: float = 0.45
    restated: float = 0.2
    antonym: float = 3.5
    beside_antonym: float = 0.3
    fragment: float = -1.5
    field_match: float = -1.5
    field_denied: float = 2.5
    value_misplaced: float = 3.0
    coverage: float = 3.0
    literal_mismatch: float = 2.0
    literals_matched: float = -0.4


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights and thresholds of one profile.

    `support` / `contradiction`: probability from which a source supports / contradicts a claim. `tie`: two sources whose
    probabilities differ by less are too close to call. `contradiction_coverage`: a premise that shares less of the claim's
    words is about something else and contradicts nothing. `abstain_band`: probabilities that are left undecided.
    """

    version: str = "hand-set-1"
    profile: Profile = "balanced"
    support: float = 0.5
    contradiction: float = 0.5
    tie: float = 0.08
    contradiction_coverage: float = 0.55
    abstain_band: tuple[float, float] | None = None
    support_weights: SupportWeights = field(default_factory=SupportWeights)
    contradiction_weights: ContradictionWeights = field(default_factory=ContradictionWeights)


PROFILES: dict[Profile, Calibration] = {
    "strict": Calibration(profile="strict", support=0.7, contradiction=0.4),
    "balanced": Calibration(),
    "precise": Calibration(profile="precise", support=0.3, contradiction=0.7),
}


def sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, value))))
