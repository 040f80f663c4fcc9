"""Reports against gold labels. Counts add up over traces; a rate over nothing is null, never 0 or 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from entailgrid.types import Attribution, ClaimReport, Gold, GoldClaim, Report, Support

FAILING: frozenset[Attribution] = frozenset(("wrong_source", "phantom_source", "error_source", "stale_source", "below_tier"))
"""The attributions of rule 7: each blocks its claim."""

_GRAVITY: Sequence[Support | None] = ("contradicted", "not_enough_evidence", "supported", None)


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits / of`; its value is None where `of` is 0."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None

    def as_json(self) -> dict[str, float | int | None]:
        return {"value": self.value, "hits": self.hits, "of": self.of}


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over answers and their gold claims; `tally + tally` adds them."""

    answers: int = 0
    decisions: int = 0
    decisions_right: int = 0
    gold_claims: int = 0
    unaligned: int = 0
    unlabelled_claims: int = 0
    abstained: int = 0
    blocked_rightly: int = 0
    blocked_falsely: int = 0
    missed: int = 0
    passed_rightly: int = 0
    supports: int = 0
    supports_right: int = 0
    attributions: int = 0
    attributions_right: int = 0
    located: int = 0
    located_right: int = 0
    aligned: int = 0
    called_wrong_source: int = 0
    called_wrong_source_scored: int = 0
    wrong_source: int = 0
    wrong_source_found: int = 0
    citations: int = 0
    citations_right: int = 0
    sourced_claims: int = 0
    sourced_claims_cited: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the reported claims under one gold claim say together: the gravest of them counts."""

    claims: tuple[ClaimReport, ...]

    @property
    def blocked(self) -> bool:
        return any(claim.verdict == "block" for claim in self.claims)

    @property
    def abstained(self) -> bool:
        return not self.blocked and any(claim.verdict == "abstain" for claim in self.claims)

    @property
    def support(self) -> Support | None:
        return min((claim.support for claim in self.claims), key=_GRAVITY.index)

    @property
    def attribution(self) -> Attribution | None:
        """The first failing attribution, else that of the claim with the largest overlap."""
        failing = (claim.attribution for claim in self.claims if claim.attribution in FAILING)
        return next(failing, self.claims[0].attribution)

    @property
    def best_source(self) -> str | None:
        evidence = next((claim.supported_by for claim in self.claims if claim.supported_by), ())
        return evidence[0].source_id if evidence else None

    @property
    def cited(self) -> frozenset[str]:
        return frozenset(source_id for claim in self.claims for source_id in claim.cited)


def overlap(left: GoldClaim | ClaimReport, right: GoldClaim | ClaimReport) -> int:
    """Characters of the answer that both spans hold: `max(0, min(ends) - max(starts))`."""
    return max(0, min(left.end, right.end) - max(left.start, right.start))


def align(gold: GoldClaim, claims: Sequence[ClaimReport]) -> Prediction | None:
    """The checked claims that share with `gold` at least half of the shorter of both spans, largest overlap first.

    A gold claim that the pipeline split has several; one that the pipeline skipped or did not see has none (`None`).
    """
    shared = [
        (overlap(gold, claim), claim)
        for claim in claims
        if claim.verdict != "skip" and 2 * overlap(gold, claim) >= min(gold.end - gold.start, claim.end - claim.start)
    ]
    shared = [(size, claim) for size, claim in shared if size]
    return Prediction(tuple(claim for _, claim in sorted(shared, key=lambda pair: -pair[0]))) if shared else None


def should_block(gold: GoldClaim) -> bool | None:
    """True where the attribution is a failing one or the support is not `supported`; None where it is unlabelled."""
    if gold.attribution in FAILING:
        return True
    return None if gold.support is None else gold.support != "supported"


def tally(gold: Gold, report: Report) -> Tally:
    """The counts of one answer. A field of `gold` that is None is counted nowhere."""
    predictions = [align(claim, report.claims) for claim in gold.claims]
    labelled = {claim.id for prediction in predictions if prediction for claim in prediction.claims}
    checked = [claim for claim in report.claims if claim.verdict != "skip"]
    total = Tally(
        answers=1,
        decisions=int(gold.decision is not None),
        decisions_right=int(gold.decision == report.decision),
        gold_claims=len(gold.claims),
        unaligned=sum(prediction is None for prediction in predictions),
        unlabelled_claims=sum(claim.id not in labelled for claim in checked),
    )
    for claim, prediction in zip(gold.claims, predictions, strict=True):
        total += _blocking(claim, prediction) + Tally(wrong_source=int(claim.attribution == "wrong_source"))
        if prediction is not None:
            total += _labels(claim, prediction) + _wrong_source(claim, prediction) + _citations(claim, prediction)
    return total


def _blocking(gold: GoldClaim, prediction: Prediction | None) -> Tally:
    """An unaligned claim was not blocked."""
    wanted, blocked = should_block(gold), prediction is not None and prediction.blocked
    if wanted is None:
        return Tally()
    return Tally(
        blocked_rightly=int(wanted and blocked),
        blocked_falsely=int(not wanted and blocked),
        missed=int(wanted and not blocked),
        passed_rightly=int(not wanted and not blocked),
    )


def _labels(gold: GoldClaim, prediction: Prediction) -> Tally:
    scored_source = bool(gold.source_ids)
    return Tally(
        aligned=1,
        abstained=int(prediction.abstained),
        supports=int(gold.support is not None),
        supports_right=int(gold.support is not None and gold.support == prediction.support),
        attributions=int(gold.attribution is not None),
        attributions_right=int(gold.attribution is not None and gold.attribution == prediction.attribution),
        located=int(scored_source),
        located_right=int(scored_source and prediction.best_source in (gold.source_ids or ())),
    )


def _wrong_source(gold: GoldClaim, prediction: Prediction) -> Tally:
    called, wanted = prediction.attribution == "wrong_source", gold.attribution == "wrong_source"
    return Tally(
        called_wrong_source=int(called),
        called_wrong_source_scored=int(called and gold.attribution is not None),
        wrong_source_found=int(wanted and called),
    )


def _citations(gold: GoldClaim, prediction: Prediction) -> Tally:
    if gold.source_ids is None:
        return Tally()
    true = frozenset(gold.source_ids)
    return Tally(
        citations=len(prediction.cited),
        citations_right=len(prediction.cited & true),
        sourced_claims=int(bool(true)),
        sourced_claims_cited=int(bool(prediction.cited & true)),
    )


def rates(total: Tally) -> dict[str, Rate]:
    """All rates. With tp, fp, fn, tn the gold claims blocked rightly, blocked falsely, missed, passed rightly:

    - `block_precision` tp / (tp + fp), `block_recall` tp / (tp + fn), `block_f1` 2 tp / (2 tp + fp + fn)
    - `false_block_rate` fp / (fp + tn): of the claims that are right, those that were blocked
    - `support_accuracy`, `attribution_accuracy`: aligned gold claims with that label that are reported alike
    - `source_accuracy`: aligned gold claims with sources whose best reported evidence lies in one of these
    - `wrong_source_rate`: aligned claims reported as `wrong_source`; `wrong_source_precision`: those of them (with that
      label) that gold calls so; `wrong_source_recall`: gold claims of `wrong_source` that are reported so
    - `citation_precision`: (claim, cited source) pairs whose source supports the claim by gold; `citation_recall`:
      claims with gold sources that cite one of them. Both judge the answers, as their citations were read.
    - `decision_accuracy`: answers with a gold decision that got it
    """
    tp, fp, fn, tn = total.blocked_rightly, total.blocked_falsely, total.missed, total.passed_rightly
    return {
        "decision_accuracy": Rate(total.decisions_right, total.decisions),
        "block_precision": Rate(tp, tp + fp),
        "block_recall": Rate(tp, tp + fn),
        "block_f1": Rate(2 * tp, 2 * tp + fp + fn),
        "false_block_rate": Rate(fp, fp + tn),
        "support_accuracy": Rate(total.supports_right, total.supports),
        "attribution_accuracy": Rate(total.attributions_right, total.attributions),
        "source_accuracy": Rate(total.located_right, total.located),
        "wrong_source_rate": Rate(total.called_wrong_source, total.aligned),
        "wrong_source_precision": Rate(total.wrong_source_found, total.called_wrong_source_scored),
        "wrong_source_recall": Rate(total.wrong_source_found, total.wrong_source),
        "citation_precision": Rate(total.citations_right, total.citations),
        "citation_recall": Rate(total.sourced_claims_cited, total.sourced_claims),
    }


def counts(total: Tally) -> dict[str, int]:
    """What the rates rest on. `unaligned_claims`: gold claims without a checked claim; `unlabelled_claims`: the
    reverse."""
    return {
        "answers": total.answers,
        "gold_claims": total.gold_claims,
        "unaligned_claims": total.unaligned,
        "unlabelled_claims": total.unlabelled_claims,
        "abstained_claims": total.abstained,
        "blocked_rightly": total.blocked_rightly,
        "blocked_falsely": total.blocked_falsely,
        "missed": total.missed,
        "passed_rightly": total.passed_rightly,
    }
