"""Real agent conversations: every answer ends in one report, and the spans are exact."""

from __future__ import annotations

from pathlib import Path

from entailgrid import Trace, Verifier
from entailgrid.provenance.reading import read_traces


def test_answers_of_real_conversations_are_verified(verifier: Verifier, data: Path) -> None:
    traces = list(read_traces(data / "traces" / "airline-agent.jsonl.gz"))
    assert len(traces) == 536
    assert all(isinstance(trace, Trace) for trace in traces)
    sample = [trace for trace in traces[::45] if isinstance(trace, Trace)]
    for trace, report in zip(sample, verifier.verify_many(sample), strict=True):
        assert report.trace_id == trace.id
        assert report.coverage.tokens_unscored == 0
        assert report.decision in ("allow", "block")
        blocks = {source.id: source.blocks for source in trace.sources}
        for claim in report.claims:
            assert trace.answer[claim.start : claim.end].strip()
            for evidence in (*claim.supported_by, *claim.contradicted_by):
                assert evidence.block is not None
                assert blocks[evidence.source_id][evidence.block].body[evidence.start : evidence.end].strip()
