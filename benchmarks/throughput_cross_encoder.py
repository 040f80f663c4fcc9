"""Pairs a second of `Verifier.score` against sentence-transformers `CrossEncoder.predict(batch_size=32)`.

    python benchmarks/throughput_cross_encoder.py --data DIR [--pairs 1500] [--rounds 5] [--threads N]

One process, the same weights (DIR/nli-start; float32, and as they ship with int8 products), pairs and threads; every
contender takes its turn in each round, tokenization included, and nothing is truncated on either side (ours reads pairs
above `Limits.pair_tokens` in windows; probabilities are compared on those that fit). Each verifier has its cache off and
takes every pair anew. The ratio is the median over the rounds.

Each round also times a 1024 x 1024 x 1024 float32 MatMul in ONNX Runtime, the best of 10: the matrix peak. The share of
it is the float32 model's own arithmetic (products of `multiply_adds`, no padding) a second, over that peak.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import torch
from environment import write_results
from onnx import TensorProto, helper, numpy_helper
from pairs import read_rows
from sentence_transformers import CrossEncoder

from entailgrid import Verifier
from entailgrid.inference.engine import Limits
from entailgrid_models.export import export
from entailgrid_models.graph import IR_VERSION, OPSET
from entailgrid_models.manifest import Manifest
from entailgrid_models.onnx import OnnxModel, physical_cores

SETS = ("snli.test", "infotabs.dev", "scifact_rationale.dev")
PACKAGES = ["numpy", "onnxruntime", "sentence-transformers", "tokenizers", "torch", "transformers"]
BASELINE = "sentence_transformers"
PEAK_SIZE = 1024
PAUSE = 0.3  # seconds between contenders, for the other side's threads to stop spinning

Pairs = list[tuple[str, str]]
Contender = Callable[[Pairs], npt.NDArray[np.float32]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=physical_cores())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    pairs = sample_pairs(arguments.data, arguments.pairs)
    with TemporaryDirectory() as folder:
        export(arguments.data / "nli-start", Path(folder), "float32", "classification")
        tokenizer = OnnxModel.load(Path(folder), threads=1)
        float32 = Verifier(folder, threads=arguments.threads, cache=None)
    int8 = Verifier(threads=arguments.threads, cache=None)
    peer = CrossEncoder(str(arguments.data / "nli-start"), max_length=512, device="cpu", model_kwargs={"dtype": torch.float32})
    contenders: dict[str, Contender] = {
        BASELINE: lambda batch: peer.predict(batch, batch_size=32, show_progress_bar=False, apply_softmax=True),
        "entailgrid_float32": float32.score,
        "entailgrid_int8": int8.score,
    }
    lengths = [len(encoding.ids) for encoding in tokenizer.tokenizer().encode_batch_fast(pairs)]
    whole = [length <= Limits().pair_tokens for length in lengths]
    work = 2 * sum(multiply_adds(length, tokenizer.manifest) for length in lengths)
    results = {
        "pairs": len(pairs),
        "tokens": token_counts(tokenizer, peer, pairs),
        "threads": arguments.threads,
        "max_probability_difference_float32": agreement(
            contenders, [pair for pair, fits in zip(pairs, whole, strict=True) if fits]
        ),
        "pairs_read_in_windows": whole.count(False),
        **race(contenders, pairs, arguments.rounds, MatrixPeak(arguments.threads), work),
    }
    print(write_results("throughput_cross_encoder", PACKAGES, results))


def sample_pairs(data: Path, count: int) -> Pairs:
    """A third from each set (fewer where a set is smaller), shuffled with a fixed seed."""
    generator = random.Random(7)
    chosen: Pairs = []
    for left, name in zip(range(len(SETS), 0, -1), reversed(SETS), strict=True):
        rows = read_rows(data, name).pairs
        chosen += generator.sample(rows, min(len(rows), (count - len(chosen)) // left))
    generator.shuffle(chosen)
    return chosen


def token_counts(model: OnnxModel, peer: CrossEncoder, pairs: Pairs) -> int:
    """Tokens of all pairs; refuses to measure where the two sides would not see the same ones."""
    ours = [len(encoding.ids) for encoding in model.tokenizer().encode_batch_fast(pairs)]
    encoded = peer.tokenizer([list(pair) for pair in pairs], truncation=True, max_length=512)
    if ours != [len(ids) for ids in encoded["input_ids"]]:
        raise SystemExit("the two sides do not see the same tokens")
    return sum(ours)


class MatrixPeak:
    """Floating-point operations a second of a large float32 MatMul in ONNX Runtime."""

    def __init__(self, threads: int) -> None:
        self._square = np.random.default_rng(0).standard_normal((PEAK_SIZE, PEAK_SIZE), np.float32)
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["a", "b"], ["c"])],
            "peak",
            [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["n", PEAK_SIZE])],
            [helper.make_tensor_value_info("c", TensorProto.FLOAT, ["n", PEAK_SIZE])],
            [numpy_helper.from_array(self._square, "b")],  # constant, as weights are: packed once, at load
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self._session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def measure(self) -> float:
        seconds = []
        for _ in range(10):
            start = time.perf_counter()
            self._session.run(None, {"a": self._square})
            seconds.append(time.perf_counter() - start)
        return 2 * PEAK_SIZE**3 / min(seconds)


def multiply_adds(length: int, manifest: Manifest) -> int:
    """Of one forward pass over `length` tokens; the last layer computes its output for the first token only."""
    hidden = manifest.hidden_size
    square, inner = hidden * hidden, 4 * hidden * hidden
    layer = length * (4 * square + 2 * inner) + 2 * length * length * hidden
    last = length * 2 * square + 2 * square + 2 * inner + 2 * length * hidden
    return (manifest.layers - 1) * layer + last


def agreement(contenders: dict[str, Contender], pairs: Pairs) -> float:
    """Largest difference in probability of the float32 sides; this run also warms every contender up."""
    scores = {name: run(pairs) for name, run in contenders.items()}
    return float(np.abs(scores[BASELINE] - scores["entailgrid_float32"]).max())


def race(contenders: dict[str, Contender], pairs: Pairs, rounds: int, peak: MatrixPeak, work: int) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    peaks = []
    for number in range(rounds):
        time.sleep(PAUSE)
        peaks.append(peak.measure())
        for name, run in contenders.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            run(pairs)
            seconds[name].append(time.perf_counter() - start)
        print(number + 1, {name: round(len(pairs) / times[-1], 1) for name, times in seconds.items()}, flush=True)
    ratios = {
        name: [base / own for base, own in zip(seconds[BASELINE], times, strict=True)]
        for name, times in seconds.items()
        if name != BASELINE
    }
    return {
        "pairs_per_second": {name: round(len(pairs) / statistics.median(times), 1) for name, times in seconds.items()},
        "median_ratio": {name: round(statistics.median(values), 3) for name, values in ratios.items()},
        "matrix_peak_gflops": round(statistics.median(peaks) / 1e9, 1),
        "share_of_peak_float32": round(
            statistics.median(work / own / best for own, best in zip(seconds["entailgrid_float32"], peaks, strict=True)), 3
        ),
        "ratios": {name: [round(value, 3) for value in values] for name, values in ratios.items()},
    }


if __name__ == "__main__":
    main()
