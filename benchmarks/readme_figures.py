"""Writes the README's figures from the JSON files under benchmarks/results.

python benchmarks/readme_figures.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- figures: python benchmarks/readme_figures.py -->\n", "<!-- end of figures -->"


def load(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text("utf-8"))
    return document


def table() -> str:
    """The figures as a Markdown table, each row with the command that measures it."""
    speed, accuracy, start, airline = map(load, ("throughput_cross_encoder", "accuracy_embedded", "startup", "airline"))
    replay, lookups = load("cache_replay"), load("cache_lookups")
    answers, rates = replay["results"]["answers_per_second"], lookups["results"]["lookups_per_second"]
    race, runs, seconds, nli = speed["results"], airline["results"], start["results"], accuracy["results"]["nli"]
    peer, rounds = race["pairs_per_second"]["sentence_transformers"], len(race["ratios"]["entailgrid_float32"])

    def against(name: str) -> str:
        return f"{race['median_ratio'][name]:.2f}x ({race['pairs_per_second'][name]:.0f} against {peer:.0f}; {rounds} rounds)"

    snli, infotabs = nli["snli.test"], nli["infotabs.dev"]
    rows = [
        (
            "pairs/s against sentence-transformers `CrossEncoder.predict(batch_size=32)`, same float32 weights, pairs, threads",
            against("entailgrid_float32"),
            speed,
        ),
        ("the same with the shipped int8 file against float32", against("entailgrid_int8"), speed),
        (
            "accuracy of the shipped int8 file / its float32 original, SNLI test",
            f"{snli['accuracy_int8']:.2f} / {snli['accuracy_float32']:.2f} %",
            accuracy,
        ),
        ("the same, InfoTabs dev", f"{infotabs['accuracy_int8']:.2f} / {infotabs['accuracy_float32']:.2f} %", accuracy),
        ("`import entailgrid`", f"{seconds['import_seconds']:.2f} s", start),
        ("first verdict from a cold process", f"{seconds['first_verdict_seconds']:.2f} s", start),
        (
            f"{runs['answers']} answers of a real airline agent, {runs['pairs']:,} pairs, failures",
            f"{runs['seconds']:.0f} s, {runs['failures']}",
            airline,
        ),
        ("share of them allowed (unlabelled: some deserve to be blocked)", f"{100 * runs['share_allowed']:.0f} %", airline),
        ("resident memory after that run", f"{runs['resident_memory_mb']} MB", airline),
        (
            f"the first {replay['results']['answers']} of them turn by turn: answers/s with the cache off, cold, warm",
            f"{answers['off']:.1f}, {answers['cold']:.1f}, {answers['warm']:.0f}",
            replay,
        ),
        (
            "cache lookups/s in batches of 100, memory, LMDB",
            f"{rates['memory']:,}, {rates['lmdb']:,}",
            lookups,
        ),
    ]
    machine = speed["machine"]
    lines = ["| what | figure | command |", "|---|---|---|"]
    lines += [f"| {what} | {figure} | `{document['command']}` |" for what, figure, document in rows]
    return "\n".join(
        [
            *lines,
            "",
            f"On {machine['cores']} cores ({machine['cpu']}), {machine['memory_gb']:.0f} GB. JSON in `benchmarks/results/`.",
            "",
        ]
    )


def main() -> None:
    readme = ROOT / "README.md"
    text = readme.read_text("utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    readme.write_text(f"{head}{BEGIN}\n{table()}\n{END}{tail}", "utf-8")


if __name__ == "__main__":
    main()
