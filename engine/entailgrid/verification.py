"""The life of one request: trace -> sources, claims, citations -> routing -> pairs -> verdicts -> report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from entailgrid.claims.actions import is_action, performing_sources, reports_failure
from entailgrid.claims.citations import Citation, citations_of
from entailgrid.claims.decompose import Claim, claims_of
from entailgrid.claims.reach import covering, marks_of
from entailgrid.evidence.route import Lexicon, Routed, RoutingLimits, route
from entailgrid.evidence.segment import Segment, segments_of
from entailgrid.evidence.sources import inspect, result_data
from entailgrid.inference.engine import Engine, Origin, Outcome, Ranked
from entailgrid.language import Span, is_english
from entailgrid.types import (
    CitationReport,
    ClaimReport,
    Coverage,
    ModelReport,
    Report,
    SourceReport,
    Timing,
    Trace,
)
from entailgrid.verdict.calibrate import Calibration
from entailgrid.verdict.claim import ClaimVerdict, Question, SourceFacts, decide_claim, stances_of
from entailgrid.verdict.decide import decide_answer
from entailgrid.verdict.fields import FieldConflict, field_conflict
from entailgrid.verdict.literal_check import LiteralOutcome, rederived
from entailgrid.verdict.policy import Policy
from entailgrid.verdict.premises import SourceView, view_of, weigh_premise
from entailgrid.verdict.reporting import claim_report, skipped_report
from entailgrid.verdict.weigh import PremiseVerdict


@dataclass(slots=True)
class _Scored:
    """What the models said: probabilities by (premise, claim), `None` where time ran out."""

    routed: list[Routed] = field(default_factory=list)
    pairs: dict[tuple[str, str], tuple[float, float, float] | None] = field(default_factory=dict)
    unscored_tokens: int = 0
    skipped: int = 0
    cached: int = 0
    queue_seconds: float = 0.0
    inference_seconds: float = 0.0

    def add_time(self, outcome: Outcome) -> None:
        self.queue_seconds += outcome.queue_seconds
        self.inference_seconds += outcome.inference_seconds


class Verification:
    """One trace on its way to its report. `arrived` is on the monotonic clock."""

    def __init__(
        self, trace: Trace, engine: Engine, calibration: Calibration, policy: Policy, arrived: float, rank: Ranked
    ) -> None:
        self._trace, self._engine = trace, engine
        self._calibration, self._policy = calibration, policy
        self._arrived, self._rank = arrived, rank
        self._index = {source.id: number for number, source in enumerate(trace.sources)}
        self._sources: list[SourceReport] = [inspect(source, trace.answered_at) for source in trace.sources]
        self._facts = {
            number: SourceFacts(report.status, policy.tier_of(source))
            for number, (report, source) in enumerate(zip(self._sources, trace.sources, strict=True))
        }
        self._citations: list[Citation] = citations_of(trace)
        self._claims: list[Claim] = claims_of(trace.answer, marks_of(self._citations))
        self._segments: list[Segment] = []
        self._members: dict[int, list[int]] = {}
        for number, source in enumerate(trace.sources):
            if self._facts[number].usable and any(claim.skip is None for claim in self._claims):
                found = segments_of(source, number)
                self._members[number] = list(range(len(self._segments), len(self._segments) + len(found)))
                self._segments.extend(found)

        self._lexicon = Lexicon(self._segments)

    def report(self) -> Report:
        factual = [claim for claim in self._claims if claim.skip is None]
        scored = self._score(factual)
        views = {
            number: view_of(self._trace.sources[number], [self._segments[i] for i in members])
            for number, members in self._members.items()
        }
        reports: list[ClaimReport] = []
        verdicts: list[tuple[str, ClaimVerdict]] = []
        rows = iter(range(len(factual)))
        for number, claim in enumerate(self._claims, start=1):
            name = f"clm_{number}"
            if claim.skip is not None:
                reports.append(skipped_report(name, claim))
                continue
            row = next(rows)
            report, verdict = self._decide(name, claim, scored, row, views)
            reports.append(report)
            verdicts.append((name, verdict))
        decision, reasons = decide_answer(verdicts)
        return self._assemble(decision, reasons, reports, scored)

    # --- models -----------------------------------------------------------------------------------------------------

    def _score(self, claims: Sequence[Claim]) -> _Scored:
        """Routing, then one stream of pairs for the whole trace."""
        if not claims or not self._segments:
            return _Scored(routed=[Routed((), 0) for _ in claims])
        texts = [claim.text for claim in claims]
        origins = {segment.text: self._origin((number,)) for number, segment in enumerate(self._segments)}
        vectors = self._engine.embed([*texts, *(segment.text for segment in self._segments)], self._rank, origins)
        scored = _Scored()
        scored.add_time(vectors)
        if not vectors.scored.all():
            scored.routed = [Routed((), len(self._segments)) for _ in claims]
            scored.unscored_tokens = max(1, int(vectors.tokens[len(texts) :][~vectors.scored[len(texts) :]].sum()))
            return scored
        scored.routed = route(
            texts,
            self._segments,
            self._lexicon,
            vectors.values[: len(texts)],
            vectors.values[len(texts) :],
            RoutingLimits(),
            [frozenset(self._cited(claim)) for claim in claims],
        )
        scored.skipped = sum(routed.skipped for routed in scored.routed)
        self._score_pairs(texts, scored)
        return scored

    def _score_pairs(self, texts: Sequence[str], scored: _Scored) -> None:
        wanted: dict[tuple[str, str], tuple[int, ...]] = {}
        for text, routed in zip(texts, scored.routed, strict=True):
            for candidate in routed.candidates if is_english(text) else ():
                wanted.setdefault((candidate.text, text), candidate.segments)
        pairs = list(wanted)
        outcome = self._engine.score(pairs, self._rank, [self._origin(segments) for segments in wanted.values()])
        scored.add_time(outcome)
        scored.cached = int(outcome.cached.sum())
        for pair, values, done, tokens in zip(pairs, outcome.values.tolist(), outcome.scored, outcome.tokens, strict=True):
            scored.pairs[pair] = (values[0], values[1], values[2]) if done else None
            scored.unscored_tokens += 0 if done else max(1, int(tokens))

    def _origin(self, segments: Sequence[int]) -> Origin:
        """Of a premise made of these segments, all of one source."""
        parts = [self._segments[index] for index in segments]
        span = ";".join(f"{part.block},{part.start},{part.end},{part.pointer}" for part in parts)
        return Origin(self._sources[parts[0].source].sha256, span)

    def _reaching(self, claim: Claim) -> list[Citation]:
        return covering(self._citations, Span(claim.start, claim.end), claim.sentence, claim.lead_in, self._trace.answer)

    def _cited(self, claim: Claim) -> tuple[int, ...]:
        """Indices of the sources that the claim cites, each once."""
        ids = (name for citation in self._reaching(claim) for name in citation.source_ids)
        return tuple(dict.fromkeys(self._index[name] for name in ids if name in self._index))

    # --- verdicts ---------------------------------------------------------------------------------------------------

    def _decide(
        self, name: str, claim: Claim, scored: _Scored, row: int, views: dict[int, SourceView]
    ) -> tuple[ClaimReport, ClaimVerdict]:
        reached, cited = self._reaching(claim), self._cited(claim)
        performed = performing_sources(claim.text, self._trace.sources) if is_action(claim.text) else []
        done = {
            index
            for index in performed
            if self._facts[index].usable and not reports_failure(result_data(self._trace.sources[index]))
        }
        english = is_english(claim.text)
        weighed = self._weigh(claim.text, scored, row, views, done, english=english)
        complete = bool(scored.routed[row].candidates) or not self._segments
        complete = complete and len(weighed) == len(scored.routed[row].candidates)
        stances = stances_of(weighed)
        conflict = self._field_conflict(claim.text, weighed)
        question = Question(
            text=claim.text,
            cited=cited,
            phantom=any(citation.status == "phantom" for citation in reached),
            named_in_prose=frozenset(self._index[i] for c in reached if c.form == "prose" for i in c.source_ids),
            stances=stances,
            facts=self._facts,
            complete=complete,
            failed_action=bool(performed) and not done,
            ambiguous_field=conflict is not None,
            unknown_language=not english and not _settled_by_literals(weighed),
        )

        def rederive(first: int, second: int, outcomes: tuple[LiteralOutcome, ...]) -> tuple[LiteralOutcome, ...]:
            return rederived(claim.text, outcomes, views[first].values, views[second].values)

        verdict = decide_claim(question, self._calibration, self._policy, rederive)
        ids = [source.id for source in self._trace.sources]
        report = claim_report(name, claim, verdict, [ids[index] for index in cited], ids, self._segments, conflict)
        return report, verdict

    def _weigh(
        self, text: str, scored: _Scored, row: int, views: dict[int, SourceView], done: set[int], *, english: bool
    ) -> list[PremiseVerdict]:
        weighed = []
        for candidate in scored.routed[row].candidates:
            probabilities = scored.pairs.get((candidate.text, text)) if english else None
            if english and probabilities is None:
                continue
            weighed.append(
                weigh_premise(
                    text,
                    candidate,
                    probabilities,
                    self._segments,
                    views,
                    self._calibration,
                    self._lexicon,
                    is_action_result=candidate.source in done,
                )
            )
        return weighed

    def _field_conflict(self, text: str, weighed: Sequence[PremiseVerdict]) -> FieldConflict | None:
        best = max(weighed, key=lambda verdict: verdict.support, default=None)
        if best is None or best.support < self._calibration.support:
            return None
        candidate = best.signals.candidate
        return field_conflict(text, candidate, self._segments, self._members[candidate.source])

    # --- report -----------------------------------------------------------------------------------------------------

    def _assemble(self, decision: str, reasons: list[str], claims: list[ClaimReport], scored: _Scored) -> Report:
        unread = [f"answer[{c.start}:{c.end}]: citation not understood" for c in self._citations if c.status == "unparsed"]
        unscored = scored.unscored_tokens if decision == "abstain" else 0
        left_out = sum(value is None for value in scored.pairs.values()) if decision != "abstain" else 0
        done = sum(value is not None for value in scored.pairs.values())
        return Report.model_validate(
            {
                "trace_id": self._trace.id or "trace:1",
                "decision": decision,
                "reasons": [*reasons, *unread],
                "claims": claims,
                "citations": [
                    CitationReport(start=c.start, end=c.end, form=c.form, source_ids=c.source_ids, status=c.status)
                    for c in self._citations
                ],
                "sources": self._sources,
                "coverage": Coverage(
                    pairs_scored=done - scored.cached,
                    pairs_from_cache=scored.cached,
                    pairs_skipped=scored.skipped + left_out,
                    tokens_unscored=unscored,
                ),
                "timing_ms": Timing(
                    total=(time.monotonic() - self._arrived) * 1000,
                    queue=scored.queue_seconds * 1000,
                    inference=scored.inference_seconds * 1000,
                ),
                "model": ModelReport(
                    router=f"{self._engine.router.name}@{self._engine.router.fingerprint}",
                    nli=f"{self._engine.nli.name}@{self._engine.nli.fingerprint}",
                    calibration=self._calibration.version,
                    profile=self._calibration.profile,
                ),
            }
        )


def _settled_by_literals(weighed: Sequence[PremiseVerdict]) -> bool:
    """Whether the literals of a claim decide it without the cross-encoder: all there, or one that differs."""
    for verdict in weighed:
        strong = [literal for literal in verdict.signals.literals if not literal.weak]
        if strong and all(literal.status == "match" for literal in strong):
            return True
    return any(literal.status == "mismatch" for verdict in weighed for literal in verdict.signals.literals)
