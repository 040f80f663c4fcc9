"""A report for people: the answer with its claims marked, the decision, and for each claim where the truth stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from entailgrid.doors import wording
from entailgrid.doors.console import Hanging, one_line, visible
from entailgrid.doors.marking import STYLE, Signs, marked_answer, signs_for
from entailgrid.types import ClaimReport, Decision, Evidence, LiteralReport, Report, Source, Trace, Verdict

MOST_EVIDENCE = 2
"""Pieces of evidence shown a claim and side; the rest is counted."""

LONGEST_QUOTE = 320
"""Characters of one piece of evidence; the rest is counted."""

_OF_DECISION: Mapping[Decision, Verdict] = {"allow": "pass", "block": "block", "abstain": "abstain"}
_MEANING: Mapping[Verdict, str] = {"pass": "passes", "block": "blocks", "abstain": "could not be verified"}


def print_report(console: Console, trace: Trace, report: Report) -> None:
    """Writes the readable form of `report` on `trace`."""
    console.print(ReadableReport(trace, report, signs_for(console.encoding)).render())


@dataclass(frozen=True)
class ReadableReport:
    """The readable form of one report; all text of the trace is shown as harmless data."""

    trace: Trace
    report: Report
    signs: Signs

    def render(self) -> RenderableType:
        factual = [claim for claim in self.report.claims if claim.verdict != "skip"]
        return Group(
            Rule(Text(one_line(self.report.trace_id), "bold"), align="left", style="dim", characters=self._line()),
            *self._decision(),
            Text(),
            *self._question(),
            *self._answer(factual),
            *(part for claim in factual for part in (Text(), self._claim(claim))),
            *self._footer(),
            Text(),
        )

    def _line(self) -> str:
        return "─" if self.signs.opening == "⟦" else "-"

    def _decision(self) -> Iterator[RenderableType]:
        verdict = _OF_DECISION[self.report.decision]
        title = f"{self.signs.verdicts[verdict]} {wording.DECISION[self.report.decision]}  "
        words = wording.decision_in_words(self.report.decision, self.report.claims)
        yield Hanging(Text(words), first=title, style=f"bold {STYLE[verdict]}")
        for grade, words in wording.reasons_in_words(self.report):
            sign = self.signs.verdicts[grade] if grade in ("block", "abstain") else "-"
            yield Hanging(Text(one_line(words)), first=f"  {sign} ", style=STYLE[grade] if sign != "-" else "")

    def _question(self) -> Iterator[RenderableType]:
        if self.trace.question:
            yield Text("Question", "bold")
            yield Hanging(Text(visible(self.trace.question)), first="  ")
            yield Text()

    def _answer(self, factual: Sequence[ClaimReport]) -> Iterator[RenderableType]:
        yield Text("Answer", "bold")
        marked = marked_answer(self.trace.answer, self.report.claims, self.signs)
        yield Hanging(marked if self.trace.answer else Text("(empty)", "dim"), first="  ")
        present = [verdict for verdict in _MEANING if any(claim.verdict == verdict for claim in factual)]
        if present:
            words = ", ".join(f"{self.signs.verdicts[verdict]} {_MEANING[verdict]}" for verdict in present)
            key = f"{self.signs.opening}n …{self.signs.closing} claim n: {words}"
            yield Hanging(Text(key, "dim"), first="  ")

    # --- one claim --------------------------------------------------------------------------------------------------

    def _claim(self, claim: ClaimReport) -> RenderableType:
        sign = f"{self.signs.verdicts[claim.verdict]} Claim {wording.number_of(claim.id)}  "
        rows = (Hanging(value, first=f"  {label:<13}", style="dim") for label, value in self._rows(claim))
        return Group(Hanging(Text(one_line(claim.text), "bold"), first=sign, style=STYLE[claim.verdict]), *rows)

    def _rows(self, claim: ClaimReport) -> Iterator[tuple[str, Text]]:
        yield "verdict", _verdict_line(claim)
        if claim.verdict == "pass" and claim.attribution:
            yield "support", Text(f"{claim.support}, {claim.attribution}: {wording.ATTRIBUTION[claim.attribution]}")
        else:
            if claim.support:
                yield "support", Text(wording.SUPPORT[claim.support])
            if claim.attribution:
                yield "attribution", Text(f"{claim.attribution}: {wording.ATTRIBUTION[claim.attribution]}")
        yield "cited", self._sources(claim.cited, self._phantom(claim) or "nothing")
        supporting = dict.fromkeys(evidence.source_id for evidence in claim.supported_by)
        if supporting and not set(supporting) & set(claim.cited):
            yield ("true source" if claim.cited else "found in"), self._sources(supporting, "")
        yield from self._evidence_rows("evidence", claim.supported_by, "green")
        yield from self._evidence_rows("against", claim.contradicted_by, "red")
        if claim.literals:
            yield "values", self._literals(claim.literals)

    def _phantom(self, claim: ClaimReport) -> str | None:
        """The citation of a claim whose source is not in the trace: the first at or after the claim's start."""
        if claim.attribution != "phantom_source":
            return None
        found = (c for c in self.report.citations if c.status == "phantom" and c.end > claim.start)
        first = min(found, key=lambda citation: citation.start, default=None)
        return f"“{one_line(self.trace.answer[first.start : first.end])}”, not in the trace" if first else None

    def _sources(self, ids: Iterable[str], none: str) -> Text:
        names = [self._source(source_id) for source_id in ids]
        return Text("\n".join(names) if names else none)

    def _source(self, source_id: str) -> str:
        """`refund policy, get_refund_policy at docs-mcp.internal [req_8843]`"""
        source = next((source for source in self.trace.sources if source.id == source_id), None)
        name = _source_name(source) if source else ""
        status = next((item.status for item in self.report.sources if item.id == source_id), "ok")
        shown = one_line(f"{name} [{source_id}]" if name else f"[{source_id}]")
        return shown if status == "ok" else f"{shown} ({status})"

    def _evidence_rows(self, label: str, found: Sequence[Evidence], style: str) -> Iterator[tuple[str, Text]]:
        for number, evidence in enumerate(found[:MOST_EVIDENCE]):
            quote = Text.assemble((f"“{_shortened(one_line(evidence.text))}”", style))
            quote.append(f"\n[{one_line(evidence.source_id)}] {_place(evidence)}", "dim")
            yield ("" if number else label), quote
        if len(found) > MOST_EVIDENCE:
            yield "", Text(f"and {len(found) - MOST_EVIDENCE} more", "dim")

    def _literals(self, literals: Sequence[LiteralReport]) -> Text:
        """Offending values first; those that the source has too in one line."""
        lines = [self._offending(literal) for literal in literals if literal.status == "mismatch"]
        lines += [
            Text(f"? {one_line(literal.text)}: nothing in the evidence to compare it with", "yellow")
            for literal in literals
            if literal.status == "cannot_check"
        ]
        matching = [
            one_line(literal.text) + (f" (= {one_line(literal.found)})" if literal.found else "")
            for literal in literals
            if literal.status == "match"
        ]
        if matching:
            lines.append(Text(f"{self.signs.verdicts['pass']} {', '.join(matching)}", "green"))
        return Text("\n").join(lines)

    def _offending(self, literal: LiteralReport) -> Text:
        where = f"[{one_line(literal.source_id)}]" if literal.source_id else "the source"
        other = f"{where} has {one_line(literal.found)}" if literal.found else f"{where} has another {literal.kind}"
        return Text(f"{self.signs.verdicts['block']} {one_line(literal.text)}: {other}", "red")

    # --- below the claims -------------------------------------------------------------------------------------------

    def _footer(self) -> Iterator[RenderableType]:
        yield Text()
        for note in (*self._citation_notes(), *self._source_notes(), *self._skipped()):
            yield Hanging(note, first="")
        coverage = self.report.coverage
        unscored = f", {coverage.tokens_unscored} tokens unscored" if coverage.tokens_unscored else ""
        yield Text(f"{wording.counted(coverage.pairs_scored, 'pair')}, {self.report.timing_ms.total:.0f} ms{unscored}", "dim")

    def _citation_notes(self) -> Iterator[Text]:
        meaning = {
            "phantom": "matches no source of the trace",
            "unparsed": "looks like a citation, but in no known form",
        }
        for citation in self.report.citations:
            if citation.status != "resolved":
                quoted = one_line(self.trace.answer[citation.start : citation.end])
                form = wording.FORM[citation.form]
                yield Text(f"Citation “{quoted}” ({form}): {citation.status}, {meaning[citation.status]}", "yellow")

    def _source_notes(self) -> Iterator[Text]:
        for source in self.report.sources:
            if source.status != "ok":
                why = f": {_shortened(one_line(source.reason))}" if source.reason else ""
                yield Text(f"Source {self._source(source.id)}{why}", "yellow")

    def _skipped(self) -> Iterator[Text]:
        reasons = Counter(claim.reason or "no fact" for claim in self.report.claims if claim.verdict == "skip")
        if reasons:
            parts = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
            yield Text(f"Not checked, since they state no fact: {one_line(parts)}", "dim")


def _verdict_line(claim: ClaimReport) -> Text:
    parts = [wording.QUADRANT[claim.quadrant]] if claim.quadrant else []
    if claim.reason:
        parts.append(one_line(claim.reason))
    words = ": ".join((wording.VERDICT[claim.verdict], ", ".join(parts))) if parts else wording.VERDICT[claim.verdict]
    probability = "" if claim.probability is None else f" (probability {claim.probability:.2f})"
    return Text(words + probability, STYLE[claim.verdict])


def _source_name(source: Source) -> str:
    """How people call the source, and the call behind it."""
    call = " at ".join(part for part in (source.tool, source.server) if part)
    return ", ".join(part for part in (source.name, call) if part)


def _place(evidence: Evidence) -> str:
    if evidence.pointer is not None:
        return f"at {one_line(evidence.pointer) or 'the root'}"
    if evidence.start is None or evidence.end is None:
        return ""
    return f"block {evidence.block}, characters {evidence.start}-{evidence.end}"


def _shortened(text: str) -> str:
    left = len(text) - LONGEST_QUOTE
    return text if left <= 0 else f"{text[:LONGEST_QUOTE]}… ({left} more characters)"


def print_summary(console: Console, counts: Mapping[str, int], pairs: int, seconds: float) -> None:
    """One line on a run over several answers."""
    total = sum(counts.values())
    parts = [("allow", "allowed"), ("block", "blocked"), ("abstain", "abstained"), ("failed", "failed")]
    words = ", ".join(f"{counts.get(key, 0)} {word}" for key, word in parts)
    console.print(
        Hanging(Text(f"{total} answers: {words}; {wording.counted(pairs, 'pair')} in {seconds:.1f} s", "bold"), first="")
    )
