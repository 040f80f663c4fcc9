"""The codes of a report in words that a newcomer understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from entailgrid.types import Attribution, CitationForm, ClaimReport, Decision, Quadrant, Report, Support, Verdict

DECISION: Mapping[Decision, str] = {"allow": "ALLOW", "block": "BLOCK", "abstain": "ABSTAIN"}

VERDICT: Mapping[Verdict, str] = {
    "pass": "pass",
    "block": "block",
    "abstain": "abstain (could not be verified)",
    "skip": "skip",
}

SUPPORT: Mapping[Support, str] = {
    "supported": "supported: the sources say so",
    "contradicted": "contradicted: the sources say otherwise",
    "not_enough_evidence": "not_enough_evidence: no source says so",
}

ATTRIBUTION: Mapping[Attribution, str] = {
    "correct": "the cited source speaks to it",
    "wrong_source": "the cited source does not say so, another one does",
    "ambiguous": "more than one place could be its source, too close to call",
    "uncited": "it names no source",
    "phantom_source": "it cites a call that the agent never made",
    "error_source": "the result that it rests on is an error, not data",
    "stale_source": "the cited result was too old when the answer was given",
    "below_tier": "the cited source is not trusted enough for this claim",
}

QUADRANT: Mapping[Quadrant, str] = {
    "fact_right_source_right": "right fact, right source",
    "fact_right_source_wrong": "right fact, wrong source",
    "fact_wrong_source_right": "wrong fact, right source",
    "fact_wrong_source_wrong": "wrong fact, wrong source",
}

FORM: Mapping[CitationForm, str] = {
    "explicit": "given with the trace",
    "bracket": "bracket",
    "short_id": "short id",
    "tool": "tool name",
    "markdown_link": "Markdown link",
    "url": "URL",
    "footnote": "footnote",
    "author_date": "author and date",
    "prose": "prose",
    "unknown": "unknown form",
}

_REASONS: Mapping[str, str] = {
    "supported": "it is supported, but the policy refuses it",
    "contradicted": "a source says otherwise",
    "not_enough_evidence": "no source says so",
    "conflict": "another source says otherwise",
    "ambiguous field": "a second field of the same source has the same name and another value",
    "no usable source": "no source could be used",
    "language": "its language is not one that the models cover",
} | {str(code): words for code, words in ATTRIBUTION.items()}


def reasons_in_words(report: Report) -> list[tuple[Verdict, str]]:
    """The reasons of a report, those that share their words together, with the gravest verdict of their claims."""
    verdicts = {claim.id: claim.verdict for claim in report.claims}
    groups: dict[tuple[Verdict, str], list[str]] = {}
    for entry in report.reasons:
        name, _, code = entry.partition(": ")
        words = _REASONS.get(code)
        groups.setdefault((verdicts.get(name, "pass"), f"{words} ({code})" if words else code or entry), []).append(name)
    order: Sequence[Verdict] = ("block", "abstain", "pass", "skip")
    return [
        (verdict, f"claim{'' if len(names) == 1 else 's'} {', '.join(map(number_of, names))}: {words}")
        for (verdict, words), names in sorted(groups.items(), key=lambda group: order.index(group[0][0]))
    ]


def number_of(claim_id: str) -> str:
    """`3` of `clm_3`."""
    return claim_id.removeprefix("clm_")


def decision_in_words(decision: Decision, claims: Sequence[ClaimReport]) -> str:
    """What the decision says about the answer."""
    factual = [claim for claim in claims if claim.verdict != "skip"]
    if not factual:
        return "The answer states no fact that needs a source."
    if decision == "allow":
        return f"{counted(len(factual), 'claim')} checked, none fails."
    if decision == "abstain":
        open_claims = sum(claim.verdict == "abstain" for claim in factual)
        return f"No claim fails, but {open_claims} of {counted(len(factual), 'claim')} could not be verified."
    failing = sum(claim.verdict == "block" for claim in factual)
    return f"{failing} of {counted(len(factual), 'claim')} {'fails' if failing == 1 else 'fail'}."


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
