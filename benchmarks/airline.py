"""Verify every answer of the airline conversations: answers, pairs, seconds, share allowed, resident memory.

python benchmarks/airline.py --data DIR [--reports FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import Counter, deque
from concurrent.futures import Future
from pathlib import Path

from environment import write_results

from entailgrid import EntailgridError, Report, Trace, Verifier
from entailgrid.provenance.reading import read_traces

IN_FLIGHT = 32


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reports", type=Path, help="write the reports here, one a line")
    arguments = parser.parse_args()
    read = list(read_traces(arguments.data / "traces" / "airline-agent.jsonl.gz"))
    traces = [trace for trace in read if isinstance(trace, Trace)]
    decisions: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    pairs, failures, lines = 0, len(read) - len(traces), []
    began = time.perf_counter()
    with Verifier() as verifier:
        running: deque[Future[Report]] = deque()
        for number in range(len(traces) + IN_FLIGHT):
            if number < len(traces):
                running.append(verifier.submit(traces[number]))
            if number < IN_FLIGHT:
                continue
            try:
                report = running.popleft().result()
            except EntailgridError as error:
                failures += 1
                print(error)
                continue
            decisions[report.decision] += 1
            verdicts.update(claim.verdict for claim in report.claims)
            pairs += report.coverage.pairs_scored
            lines.append(report.model_dump_json())
    seconds = time.perf_counter() - began
    if arguments.reports:
        arguments.reports.write_text("\n".join(lines) + "\n", "utf-8")
    results = {
        "answers": len(traces),
        "failures": failures,
        "decisions": dict(decisions),
        "share_allowed": round(decisions["allow"] / len(traces), 4),
        "claim_verdicts": dict(verdicts),
        "pairs": pairs,
        "seconds": round(seconds, 1),
        "answers_per_second": round(len(traces) / seconds, 2),
        "pairs_per_second": round(pairs / seconds, 1),
        "resident_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    print(json.dumps(results, indent=1))
    print(write_results("airline", ["numpy", "onnxruntime", "tokenizers", "pydantic"], results))


if __name__ == "__main__":
    main()
