"""Seconds of `import entailgrid`, and from a cold process to the first verdict on the command line.

python benchmarks/startup.py [--rounds 7]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from environment import write_results

EXAMPLE = Path(__file__).parent.parent / "examples" / "refund-window.json"


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    bare = [seconds([sys.executable, "-c", "pass"]) for _ in range(rounds)]
    imported = [seconds([sys.executable, "-c", "import entailgrid"]) for _ in range(rounds)]
    verified = [seconds([sys.executable, "-m", "entailgrid", "verify", str(EXAMPLE)]) for _ in range(rounds)]
    results = {
        "rounds": rounds,
        "import_seconds": round(statistics.median(imported) - statistics.median(bare), 3),
        "first_verdict_seconds": round(statistics.median(verified), 3),
    }
    print(results)
    print(write_results("startup", ["numpy", "onnxruntime", "tokenizers", "pydantic"], results))


if __name__ == "__main__":
    main()
