"""Labelled pairs, their tokens, and length-sorted token-budget batches through an OnnxModel."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from entailgrid.inference.batch import plan_batches
from entailgrid_models.onnx import OnnxModel

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Rows:
    """`pairs` are (premise, hypothesis); `labels` one of the label names of the data's README."""

    pairs: list[tuple[str, str]]
    labels: list[str]


def read_rows(data: Path, name: str) -> Rows:
    """Rows of DATA/nli/dev/NAME.jsonl.gz."""
    with gzip.open(data / "nli" / "dev" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return Rows([(row["premise"], row["hypothesis"]) for row in rows], [row["label"] for row in rows])


def predict(model: OnnxModel, pairs: list[tuple[str, str]], token_budget: int) -> FloatArray:
    """Logits [n, labels] in the order of `pairs`, tokenization included; nothing is truncated."""
    encodings = model.tokenizer().encode_batch_fast(pairs)
    ids = [np.array(encoding.ids) for encoding in encodings]
    types = [np.array(encoding.type_ids) for encoding in encodings]
    lengths = np.array([len(row) for row in ids])
    logits = np.empty((len(pairs), len(model.labels or ())), np.float32)
    for batch in plan_batches(lengths, token_budget):
        offsets = np.concatenate([[0], np.cumsum(lengths[batch])])
        packed = np.concatenate([ids[i] for i in batch]), offsets, np.concatenate([types[i] for i in batch])
        logits[batch] = model.forward(*packed)
    return logits


def embed(model: OnnxModel, texts: list[str], token_budget: int) -> FloatArray:
    """Embeddings [n, hidden] in the order of `texts`, each cut at the model's `max_tokens`."""
    ids = [np.array(encoding.ids[: model.max_tokens]) for encoding in model.tokenizer().encode_batch_fast(texts)]
    lengths = np.array([len(row) for row in ids])
    embeddings = np.empty((len(texts), model.manifest.hidden_size), np.float32)
    for batch in plan_batches(lengths, token_budget):
        offsets = np.concatenate([[0], np.cumsum(lengths[batch])])
        embeddings[batch] = model.forward(np.concatenate([ids[i] for i in batch]), offsets)
    return embeddings
