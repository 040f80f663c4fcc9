"""Verify every answer of the airline conversations: answers, pairs, seconds, share allowed, resident memory.

python benchmarks/airline.py --data DIR [--reports FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import Counter
from pathlib import Path

from environment import write_results

from entailgrid import Verifier
from entailgrid.doors.stream import Failed, verified
from entailgrid.provenance.reading import read_documents


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reports", type=Path, help="write the reports here, one a line")
    arguments = parser.parse_args()
    documents = list(read_documents(str(arguments.data / "traces" / "airline-agent.jsonl.gz")))
    decisions: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    pairs, failures, lines = 0, 0, []
    began = time.perf_counter()
    with Verifier() as verifier:
        for outcome in verified(documents, lambda: verifier):
            if isinstance(outcome, Failed):
                failures += 1
                print(outcome.problem)
                continue
            report = outcome.report
            decisions[report.decision] += 1
            verdicts.update(claim.verdict for claim in report.claims)
            pairs += report.coverage.pairs_scored
            lines.append(report.model_dump_json())
    seconds = time.perf_counter() - began
    if arguments.reports:
        arguments.reports.write_text("\n".join(lines) + "\n", "utf-8")
    results = {
        "answers": len(documents),
        "failures": failures,
        "decisions": dict(decisions),
        "share_allowed": round(decisions["allow"] / len(documents), 4),
        "claim_verdicts": dict(verdicts),
        "pairs": pairs,
        "seconds": round(seconds, 1),
        "answers_per_second": round(len(documents) / seconds, 2),
        "pairs_per_second": round(pairs / seconds, 1),
        "resident_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    print(json.dumps(results, indent=1))
    print(write_results("airline", ["numpy", "onnxruntime", "tokenizers", "pydantic"], results))


if __name__ == "__main__":
    main()
