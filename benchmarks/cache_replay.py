"""Airline conversations replayed turn by turn: answers/s with the cache off, cold and warm, and how much of the work repeats.

python benchmarks/cache_replay.py --data DIR [--answers 150]

Turn by turn: an answer is verified when the one before it is done, as an agent's conversation goes. The same answers, in order,
are verified without a cache, then twice with one. Reports of all three passes must be equal.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from environment import write_results

from entailgrid import Report, Trace, Verifier
from entailgrid.provenance.reading import read_traces


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--answers", type=int, default=150)
    arguments = parser.parse_args()
    read = read_traces(arguments.data / "traces" / "airline-agent.jsonl.gz")
    traces = [trace for trace in read if isinstance(trace, Trace)][: arguments.answers]
    with Verifier(cache=None) as verifier:
        verifier.verify(traces[0])
        off, off_seconds = replay(verifier, traces)
    with Verifier() as verifier:
        verifier.verify(Trace.model_validate({"answer": "Warm.", "sources": [{"id": "a", "text": "It is warm."}]}))
        cold, cold_seconds = replay(verifier, traces)
        warm, warm_seconds = replay(verifier, traces)
    equal = all(a.same_as(b) and a.same_as(c) for a, b, c in zip(off, cold, warm, strict=True))
    if not equal:
        raise SystemExit("the reports differ with the cache")
    scored = {name: pairs(reports) for name, reports in (("off", off), ("cold", cold), ("warm", warm))}
    results: dict[str, Any] = {
        "answers": len(traces),
        "reports_equal": equal,
        "answers_per_second": {
            "off": round(len(traces) / off_seconds, 2),
            "cold": round(len(traces) / cold_seconds, 2),
            "warm": round(len(traces) / warm_seconds, 2),
        },
        "pairs_scored": scored,
        "share_of_pairs_from_cache_on_the_first_pass": round(1 - scored["cold"] / scored["off"], 4),
        "first_pass_over_off": round(off_seconds / cold_seconds, 3),
        "warm_over_cold": round(cold_seconds / warm_seconds, 2),
    }
    print(results)
    print(write_results("cache_replay", ["numpy", "onnxruntime", "tokenizers"], results))


def replay(verifier: Verifier, traces: list[Trace]) -> tuple[list[Report], float]:
    began = time.perf_counter()
    return [verifier.verify(trace) for trace in traces], time.perf_counter() - began


def pairs(reports: list[Report]) -> int:
    return sum(report.coverage.pairs_scored for report in reports)


if __name__ == "__main__":
    main()
