"""From routed candidates and cross-encoder probabilities to weighed premises."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from entailgrid.claims.actions import recipients
from entailgrid.claims.literals import Literal as ClaimLiteral
from entailgrid.claims.literals import compare, extract
from entailgrid.claims.worth import no_claim
from entailgrid.evidence.route import Candidate, Lexicon, stems_of
from entailgrid.evidence.segment import Segment
from entailgrid.language import stem, words
from entailgrid.types import USER_MESSAGE, Source
from entailgrid.verdict.calibrate import Calibration
from entailgrid.verdict.fields import agreement, denied_fields, keyed, lacks_value, misplaced_values, stated_values
from entailgrid.verdict.literal_check import LiteralOutcome, SourceValues, check_literals, names_in
from entailgrid.verdict.weigh import PremiseVerdict, Signals, weigh
from entailgrid.verdict.wording import holds_antonym, names_another_bearer, negated

_MAX_VALUES = 60
_DENIAL = 0.6
"""Probability of a contradiction from which a denied verb counts as the opposite of what the premise states."""
_MAIN = re.compile(r",|\b(?:which|because|since|that)\b")
_DENYING = re.compile(r"\b(?:is|are|was|were|do|does|did|has|have|had|will|can|could)(?: not|n['’]t)\b", re.IGNORECASE)
_SAME_THING = 0.4
"""Share of the claim's words from which one sentence speaks of the same thing."""
_BARE_COVERAGE = 0.6
"""Stands for the shared words of a result that is a bare value, like a calculator's."""


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source as the verdicts see it: its context and values, and the stems that occur anywhere in it.

    What users say of themselves may support a claim ("you asked for 26 May"); it contradicts none.
    """

    values: SourceValues
    stems: frozenset[str]
    tool: str | None
    is_user: bool = False

    @property
    def is_tool_result(self) -> bool:
        return self.tool is not None


def view_of(source: Source, segments: Sequence[Segment]) -> SourceView:
    context = source_context(source)
    stems = frozenset().union(*(stems_of(segment.text) for segment in segments)) if segments else frozenset()
    values: list[ClaimLiteral] = []
    for segment in segments:
        if segment.fields:
            values.extend(literal for literal in extract(segment.text) if literal.kind not in ("identifier", "quotation"))
        if len(values) >= _MAX_VALUES:
            break
    if not values and len(segments) <= 12:
        values = [literal for segment in segments for literal in extract(segment.text)]
    counts = tuple(segment.count for segment in segments if segment.count is not None)
    return SourceView(
        SourceValues(context, tuple(values[:_MAX_VALUES]), counts),
        stems | stems_of(context),
        source.tool,
        source.name == USER_MESSAGE,
    )


def source_context(source: Source) -> str:
    """The call that fetched a source: tool, name and arguments as `key: value` text."""
    parts = [" ".join(words(source.tool))] if source.tool else []
    parts += [source.name] if source.name else []
    parts += [f"{' '.join(words(key)) or key}: {value}" for key, value in _flat(source.arguments or {})]
    return " | ".join(parts)[:4000]


def _flat(value: Any, key: str = "", depth: int = 0) -> list[tuple[str, str]]:
    if isinstance(value, Mapping) and depth < 6:
        return [item for name, inner in value.items() for item in _flat(inner, str(name), depth + 1)]
    if isinstance(value, list | tuple) and depth < 6:
        return [item for inner in value for item in _flat(inner, key, depth + 1)]
    return [(key, str(value))] if value is not None else []


_ABSENCE = re.compile(
    r"\b(?:no|not any|none|zero|n['’]t any|without any)\b.{0,80}\b(?:available|found|options?|results?|"
    r"records?|match\w*|flights?|"
    r"exist\w*|listed|data|entries|items?)\b|\b(?:could(?:n['’]t| not)|unable to|can(?:not|['’]t)|did(?:n['’]t| not)) find\b|"
    r"\bnot? (?:available|found|listed)\b|\bthere (?:are|is|were|was) no\b",
    re.IGNORECASE,
)


def states_absence(claim: str) -> bool:
    """Whether a claim says that something was not found."""
    return bool(_ABSENCE.search(claim))


def _shows_absence(
    candidate: Candidate, literals: Sequence[LiteralOutcome], segments: Sequence[Segment], *, is_lookup: bool
) -> bool:
    """An empty result of a call about the same things; or a lookup whose closest record is another one."""
    if any(literal.kind == "identifier" and literal.status != "match" for literal in literals):
        return False
    if any(segments[index].count == 0 for index in candidate.segments):
        return True
    strong = [literal for literal in literals if not literal.weak]
    structured = any(segments[index].fields for index in candidate.segments)
    return is_lookup and structured and bool(strong) and all(literal.status != "match" for literal in strong)


_RULE = re.compile(
    r"\b(?:if|unless|should|must|may|can|cannot|could|would|will|each|every|any|all|only|otherwise|whenever|"
    r"at (?:most|least))\b|n['’]t\b",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:if|unless|should|must|may|can|cannot|always|never|all|every|only|possible|allowed)\b|n['’]t\b", re.IGNORECASE
)


def is_rule_beside_case(claim: str, premise: str) -> bool:
    """Whether a prose premise is a general rule and the claim speaks of one case: the rule alone contradicts nothing."""
    return bool(_RULE.search(premise)) and not _MODAL.search(claim)


def weigh_premise(
    claim: str,
    candidate: Candidate,
    probabilities: tuple[float, float, float] | None,
    segments: Sequence[Segment],
    views: Mapping[int, SourceView],
    calibration: Calibration,
    lexicon: Lexicon,
    *,
    is_action_result: bool,
) -> PremiseVerdict:
    """The verdict on one premise. `probabilities` (entailment, neutral, contradiction) are `None` where the claim is in a
    language that the model does not cover: then literals, words and routing decide."""
    view = views[candidate.source]
    entailment, _, contradiction = probabilities or (0.5, 0.5, 0.0)
    if _is_verbatim(claim, candidate, segments):
        entailment, contradiction = max(entailment, 0.95), min(contradiction, 0.02)
    literals = check_literals(claim, candidate.text, view.values)
    if states_absence(claim) and _shows_absence(candidate, literals, segments, is_lookup=view.is_tool_result):
        entailment, contradiction = max(entailment, 0.9), min(contradiction, 0.05)
        candidate = replace(candidate, coverage=max(candidate.coverage, 0.7))
        literals = tuple(replace(literal, weak=True) for literal in literals)
    candidate = replace(candidate, coverage=_coverage(claim, candidate, literals, lexicon))
    bare = not any(word.isalpha() for word in stems_of(candidate.text))
    if bare:
        candidate = replace(candidate, coverage=max(candidate.coverage, _BARE_COVERAGE))
    names = {stem(name) for name in names_in(claim)}
    here = stems_of(candidate.text) | stems_of(view.values.context)
    missing = {name for name in names if name not in here}
    elsewhere = {name for name in missing if any(name in v.stems for s, v in views.items() if s != candidate.source)}
    elsewhere = {name for name in elsewhere if name not in view.stems}
    structured = any(segments[index].fields for index in candidate.segments)
    siblings = {
        name for name in elsewhere if any(name in v.stems for v in views.values() if v is not view and v.tool == view.tool)
    }
    own = _own_text(candidate, segments)
    rule = is_rule_beside_case(claim, own)
    signals = Signals(
        candidate,
        entailment,
        contradiction,
        literals,
        names_missing=len(missing - elsewhere),
        names_elsewhere=len(elsewhere),
        is_action_result=is_action_result and not negated(claim) and not missing & {stem(name) for name in recipients(claim)},
        another_bearer=_crosswise(claim, candidate, segments)
        or (bool(siblings) and view.tool is not None)
        or (not structured and names_another_bearer(claim, own)),
        antonym=any(_opposes(claim, segments[index], lexicon) for index in candidate.segments)
        or (bool(literals) and all(one.status == "match" for one in literals) and _denies(claim, own, contradiction)),
        is_structured=structured,
        is_bare_value=bare,
        asserts_nothing=view.is_user or (not structured and (rule or no_claim(own) is not None)),
        value_missing=lacks_value(claim, here) or (rule and not structured and bool(keyed(claim))),
        is_fragment=bool(keyed(claim)) and not structured,
        values_misplaced=sum(misplaced_values(claim, segments[index]) for index in candidate.segments),
        fields_matched=sum(agreement(claim, segments[index]) for index in candidate.segments),
        fields_denied=sum(denied_fields(claim, segments[index]) for index in candidate.segments),
        values_stated=sum(stated_values(claim, segments[index]) for index in candidate.segments),
    )
    return weigh(signals, calibration)


def _opposes(claim: str, segment: Segment, lexicon: Lexicon) -> bool:
    """Whether one part of the premise says the opposite of the claim about the same thing."""
    shared = lexicon.coverage(stems_of(claim), stems_of(segment.text))
    return shared >= _SAME_THING and holds_antonym(claim, segment.text)


def _crosswise(claim: str, candidate: Candidate, segments: Sequence[Segment]) -> bool:
    """Whether a joined premise holds the claim's values only crosswise: one part has the first and another value
    for the second, another part the reverse (2022: 5 and 2023: 7 do not give 2023: 5)."""
    if len(candidate.segments) < 2:
        return False
    strong = [literal for literal in extract(claim) if not literal.weak and literal.kind != "quotation"]
    parts = [segments[index].text for index in candidate.segments]
    held = [[compare(literal, extract(part), part).status for literal in strong] for part in parts]
    if any(all(status != "mismatch" for status in row) and "match" in row for row in held):
        return False
    pairs = itertools.combinations(range(len(strong)), 2)
    return any(
        {("match", "mismatch"), ("mismatch", "match")} <= {(row[first], row[second]) for row in held}
        for first, second in pairs
        if strong[first].kind != strong[second].kind  # several of a kind are an enumeration
    )


def _is_verbatim(claim: str, candidate: Candidate, segments: Sequence[Segment]) -> bool:
    """Whether a segment is the claim word for word: the small cross-encoder calls some such pairs a contradiction."""
    said = _folded(claim)
    return bool(said) and any(_folded(segments[index].text) == said for index in candidate.segments)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .!")


def _denies(claim: str, own: str, contradiction: float) -> bool:
    """Whether the claim denies with its verb what the premise states, and the cross-encoder sees it too."""
    if states_absence(claim):
        return False
    return contradiction >= _DENIAL and bool(_DENYING.search(_MAIN.split(claim, 1)[0])) and not negated(own)


def _coverage(claim: str, candidate: Candidate, literals: Sequence[LiteralOutcome], lexicon: Lexicon) -> float:
    """Share of the claim's words in the premise, the words of matched literals counted as there: `12 months` is in `1 year`."""
    matched = frozenset().union(*(stems_of(literal.text) for literal in literals if literal.status == "match"))
    held = stems_of(candidate.text) | matched
    return max(candidate.coverage, lexicon.coverage(stems_of(claim), held)) if matched else candidate.coverage


def _own_text(candidate: Candidate, segments: Sequence[Segment]) -> str:
    """The premise without the heading that was put before it."""
    if len(candidate.segments) > 1:
        return candidate.text
    return candidate.text.removeprefix(f"{segments[candidate.segments[0]].record}: ")
