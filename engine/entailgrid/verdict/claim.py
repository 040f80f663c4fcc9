"""One claim: which sources support or contradict it, and whether the cited one is among them (rules 3-9, 13, 14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from entailgrid.types import Attribution, Quadrant, SourceStatus, Support, Tier, Verdict
from entailgrid.verdict.calibrate import Calibration
from entailgrid.verdict.literal_check import LiteralOutcome
from entailgrid.verdict.policy import Policy, may_back
from entailgrid.verdict.weigh import PremiseVerdict, Signals, weigh


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What the source axis asks of a source."""

    status: SourceStatus
    tier: Tier | None

    @property
    def usable(self) -> bool:
        return self.status in ("ok", "stale")


@dataclass(frozen=True, slots=True)
class Stance:
    """The best supporting and the best contradicting premise of one source."""

    source: int
    support: PremiseVerdict
    contradiction: PremiseVerdict

    def supports(self, calibration: Calibration) -> bool:
        """The stronger side wins within one source."""
        return self.support.support >= calibration.support and self.support.support >= self.contradiction.contradict

    def contradicts(self, calibration: Calibration) -> bool:
        return self.contradiction.contradict >= calibration.contradiction and not self.supports(calibration)


@dataclass(frozen=True, slots=True)
class Question:
    """All that is known of a claim when it is decided. `failed_action`: the tool that should have done it failed."""

    text: str
    cited: tuple[int, ...]
    phantom: bool
    named_in_prose: frozenset[int]
    stances: tuple[Stance, ...]
    facts: Mapping[int, SourceFacts]
    complete: bool = True
    failed_action: bool = False
    ambiguous_field: bool = False
    unknown_language: bool = False


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    support: Support
    attribution: Attribution | None
    quadrant: Quadrant | None
    verdict: Verdict
    probability: float
    supporting: tuple[Stance, ...]
    contradicting: tuple[Stance, ...]
    closest: tuple[Stance, ...]
    reasons: tuple[str, ...]
    reason: str | None = None


def stances_of(verdicts: Sequence[PremiseVerdict]) -> tuple[Stance, ...]:
    """One stance a source, from the verdicts on its premises."""
    by_source: dict[int, list[PremiseVerdict]] = {}
    for verdict in verdicts:
        by_source.setdefault(verdict.signals.candidate.source, []).append(verdict)
    return tuple(_stance(source, group) for source, group in sorted(by_source.items()))


def _stance(source: int, group: Sequence[PremiseVerdict]) -> Stance:
    """Where a premise that supports the claim holds all of its literals, one that lacks some is about something else and
    contradicts nothing."""
    support = max(group, key=lambda verdict: verdict.support)
    if support.support >= 0.5 and support.signals.holds_all_literals:
        group = [verdict for verdict in group if verdict.signals.holds_all_literals]
    return Stance(source, support, max(group, key=lambda verdict: verdict.contradict))


Rederive = Callable[[int, int, tuple[LiteralOutcome, ...]], tuple[LiteralOutcome, ...]]
"""`(first source, second source, outcomes) -> outcomes` with literals recomputed from the values of both sources."""


def joint_stance(stances: Sequence[Stance], calibration: Calibration, rederive: Rederive) -> tuple[Stance, Stance] | None:
    """Two sources that support a claim together, neither alone (rule 3): the second holds literals that the first lacks, or
    a value that follows from both."""
    ranked = sorted(stances, key=lambda stance: -stance.support.support)[:4]
    best: tuple[float, Stance, Stance] | None = None
    for first in ranked:
        for second in stances:
            if first.source == second.source:
                continue
            merged = _merged(first, second, rederive)
            if merged is None:
                continue
            verdict = weigh(merged, calibration)
            if verdict.support >= calibration.support and (best is None or verdict.support > best[0]):
                second_verdict = replace(second.support, support=verdict.support)
                best = (verdict.support, replace(first, support=verdict), replace(second, support=second_verdict))
    return (best[1], best[2]) if best else None


def _lends(own: LiteralOutcome, theirs: LiteralOutcome) -> bool:
    """Whether a second source may supply a literal: no identifier, date or time where the first one has another."""
    if own.weak or own.status == "match" or theirs.status != "match":
        return False
    return own.kind not in ("identifier", "date", "time") or own.status == "cannot_check"


def _merged(first: Stance, second: Stance, rederive: Rederive) -> Signals | None:
    """The first's signals with the literals that the second adds; `None` where it adds none."""
    mine, other = first.support.signals, second.support.signals
    if other.is_about_another and not mine.is_about_another:
        return None  # the value of another record
    merged = tuple(theirs if _lends(own, theirs) else own for own, theirs in zip(mine.literals, other.literals, strict=True))
    if any(literal.status != "match" and not literal.weak for literal in merged):
        merged = rederive(first.source, second.source, merged)
    if merged == mine.literals:
        return None
    low, high = sorted((mine.candidate.coverage, other.candidate.coverage))
    coverage = min(0.9, high + low / 2)
    return replace(
        mine,
        candidate=replace(mine.candidate, coverage=coverage),
        literals=merged,
        contradiction=min(mine.contradiction, other.contradiction),
        fields_matched=max(mine.fields_matched, other.fields_matched),
    )


def decide_claim(question: Question, calibration: Calibration, policy: Policy, rederive: Rederive) -> ClaimVerdict:
    """The verdict on one claim. Contradiction is looked at before entailment within a source, cited sources before others."""
    usable = [stance for stance in question.stances if question.facts[stance.source].usable]
    cited = [stance for stance in usable if stance.source in question.cited]
    supporting = _best_first([stance for stance in usable if stance.supports(calibration)])
    contradicting = sorted(
        (stance for stance in usable if stance.contradicts(calibration)), key=lambda s: -s.contradiction.contradict
    )
    joint = False
    if not any(stance.source in question.cited for stance in supporting) and not question.failed_action:
        pool = cited if question.cited else usable
        if (question.cited or not supporting) and (pair := joint_stance(pool, calibration, rederive)):
            supporting = [*pair, *supporting]
            joint = True
            together = {stance.source for stance in pair}
            contradicting = [stance for stance in contradicting if stance.source not in together]
    if not question.cited and supporting and contradicting:
        supporting = _unopposed(supporting, contradicting)
    support = _support(question, supporting, contradicting)
    if support != "supported":
        supporting = []
    attributions, reasons = _attributions(question, support, supporting, contradicting, calibration, joint=joint)
    attribution = attributions[0] if attributions else None
    verdict, reason = _verdict(question, support, attribution, supporting, contradicting, policy, reasons)
    probability = _probability(question, supporting, usable, attribution)
    if verdict in ("pass", "block") and calibration.abstain_band and support != "contradicted":
        low, high = calibration.abstain_band
        if low <= probability <= high and attribution not in ("phantom_source", "error_source"):
            verdict, reason = "abstain", "probability in the abstain band"
    return ClaimVerdict(
        support,
        attribution,
        _quadrant(support, attribution),
        verdict,
        probability,
        tuple(supporting),
        tuple(contradicting),
        tuple(_best_first(cited or usable)[:1]),
        tuple(reasons),
        reason,
    )


def _unopposed(supporting: Sequence[Stance], contradicting: Sequence[Stance]) -> list[Stance]:
    """Where nothing is cited and sources disagree, the stronger side decides. A premise that lacks a literal which the
    supporting one holds speaks of something else."""
    best = supporting[0].support
    against = [s.contradiction for s in contradicting]
    if best.signals.holds_all_literals:
        against = [verdict for verdict in against if verdict.signals.holds_all_literals]
    strongest = max((verdict.contradict for verdict in against), default=0.0)
    return list(supporting) if best.support >= strongest else []


def _best_first(stances: Sequence[Stance]) -> list[Stance]:
    return sorted(stances, key=lambda stance: (-round(stance.support.support, 6), stance.source))


def _support(question: Question, supporting: Sequence[Stance], contradicting: Sequence[Stance]) -> Support:
    if question.failed_action:
        return "not_enough_evidence"
    if supporting:
        return "supported"
    return "contradicted" if contradicting else "not_enough_evidence"


def _attributions(
    question: Question,
    support: Support,
    supporting: Sequence[Stance],
    contradicting: Sequence[Stance],
    calibration: Calibration,
    *,
    joint: bool,
) -> tuple[list[Attribution], list[str]]:
    """Failing attributions in the order of rule 7 (the first is reported), else the passing one; and further reasons.

    `joint`: the first two supporting sources carry the claim only together, so each must be one that may back it.
    """
    cited_support = [stance for stance in supporting if stance.source in question.cited]
    failing: list[Attribution] = ["phantom_source"] if question.phantom else []
    broken = [index for index in question.cited if question.facts[index].status in ("error", "schema_mismatch")]
    if (broken and not cited_support) or (question.failed_action and not question.cited):
        failing.append("error_source")
    named = bool(question.cited)
    backing = list(cited_support) if named else list(supporting[: 2 if joint else 1])
    if named and supporting and not cited_support and any(question.facts[i].usable for i in question.cited):
        tie = _tied(question, supporting, calibration)
        failing.extend(() if tie else ("wrong_source",))
        backing = [tie] if tie else []
    enough = all if joint else any
    if backing and not enough(_may_back(question, stance) for stance in backing):
        failing.append("below_tier")
    if any(question.facts[stance.source].status == "stale" for stance in backing):
        failing.append("stale_source")
    if failing and "stale_source" not in failing and any(question.facts[i].status == "stale" for i in question.cited):
        failing.append("stale_source")
    if failing:
        return failing, list(failing[1:])
    return _passing(question, support, bool(cited_support), contradicting), []


def _tied(question: Question, supporting: Sequence[Stance], calibration: Calibration) -> Stance | None:
    """The cited source that falls short of support by less than the tie margin, where several others support too closely."""
    best = supporting[0].support.support
    for stance in question.stances:
        if stance.source in question.cited and question.facts[stance.source].usable:
            close = best - stance.support.support <= calibration.tie and not stance.contradicts(calibration)
            if close:
                return stance
    return None


def _passing(question: Question, support: Support, cited_supports: bool, contradicting: Sequence[Stance]) -> list[Attribution]:
    if support == "supported":
        if not question.cited:
            return ["uncited"]
        if not any(question.facts[index].usable for index in question.cited):
            return []  # only empty results are cited
        return ["correct"] if cited_supports and not question.ambiguous_field else ["ambiguous"]
    if support == "contradicted" and any(stance.source in question.cited for stance in contradicting):
        return ["correct"]
    return []


def _may_back(question: Question, stance: Stance) -> bool:
    tier = question.facts[stance.source].tier
    return may_back(tier, question.text, named_in_prose=stance.source in question.named_in_prose)


_RIGHT = ("correct", "ambiguous")
_CERTAIN = ("phantom_source", "error_source", "below_tier", "stale_source")
"""Failures that no further evidence undoes."""
_WRONG = ("phantom_source", "error_source", "wrong_source", "below_tier", "stale_source")


def _quadrant(support: Support, attribution: Attribution | None) -> Quadrant | None:
    if attribution in _RIGHT:
        return "fact_right_source_right" if support == "supported" else "fact_wrong_source_right"
    if attribution in _WRONG:
        return "fact_right_source_wrong" if support == "supported" else "fact_wrong_source_wrong"
    return None


def _verdict(
    question: Question,
    support: Support,
    attribution: Attribution | None,
    supporting: Sequence[Stance],
    contradicting: Sequence[Stance],
    policy: Policy,
    reasons: list[str],
) -> tuple[Verdict, str | None]:
    if not question.complete and attribution not in _CERTAIN:
        return "abstain", "out of time before all of its evidence was scored"
    if attribution in _WRONG:
        return "block", None
    if support == "supported":
        if attribution is None:
            return "block", "the cited source is empty"
        if question.ambiguous_field:
            reasons.append("ambiguous field")
        elif attribution == "ambiguous":
            reasons.append("ambiguous")
        if attribution == "uncited" and policy.uncited == "block":
            return "block", None
        if attribution == "uncited" and policy.uncited == "flag":
            reasons.append("uncited")
        return _conflict(question, supporting, contradicting, reasons)
    if not any(facts.usable for facts in question.facts.values()):
        return "abstain", "no usable source"
    if question.unknown_language and support != "contradicted":
        return "abstain", "language"
    return "block", None


def _conflict(
    question: Question, supporting: Sequence[Stance], contradicting: Sequence[Stance], reasons: list[str]
) -> tuple[Verdict, str | None]:
    """Rule 5: another source says otherwise; it blocks where its tier is the higher one."""
    if not contradicting:
        return "pass", None
    backing = [s for s in supporting if s.source in question.cited] or list(supporting[:1])
    tiers = [question.facts[stance.source].tier for stance in backing]
    mine = min((tier for tier in tiers if tier), default=None)
    higher = [stance for stance in contradicting if mine and (tier := question.facts[stance.source].tier) and tier < mine]
    reasons.append("conflict")
    return ("block", "a source of a higher tier says otherwise") if higher else ("pass", None)


def _probability(
    question: Question, supporting: Sequence[Stance], usable: Sequence[Stance], attribution: Attribution | None
) -> float:
    """That the claim is true and rightly attributed: the support of the cited sources, or of the best one if none is cited."""
    pool = [s for s in (*supporting, *usable) if not question.cited or s.source in question.cited]
    best = max((stance.support.support for stance in pool), default=0.0)
    return best * 0.05 if attribution in ("phantom_source", "error_source", "below_tier", "stale_source") else best
