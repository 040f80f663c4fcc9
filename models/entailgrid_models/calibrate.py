"""Fixed uint8 scales of the tensors that enter integer products, from the range that each takes on sample texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from entailgrid_models.bert_graph import ranges_graph
from entailgrid_models.calibration_pairs import PAIRS
from entailgrid_models.checkpoint import Checkpoint
from entailgrid_models.errors import CheckpointError
from entailgrid_models.graph import Scale

Pairs = Sequence[tuple[str, str]]


def calibrate(checkpoint: Checkpoint, pairs: Pairs | None, *, classify: bool) -> dict[str, Scale]:
    """One scale a tensor, wide enough for every value of `pairs` (None: the pairs that ship with the package).

    A classifier reads (premise, hypothesis), an encoder each text alone; input beyond `max_tokens` is left out. Texts run
    one at a time in float32, so neither order nor padding plays a part. The range is the extremes over all texts:
    narrower ones, at the 99.99th percentile, cost the embedded model two points of accuracy.
    Raises CheckpointError where there is no text or a range is not finite.
    """
    pairs = PAIRS if pairs is None else pairs
    texts: list[tuple[str, ...]] = list(pairs) if classify else [(text,) for pair in pairs for text in pair]
    if not texts:
        raise CheckpointError("calibration needs at least one pair of texts")
    ranges, names = _ranges(checkpoint, texts, classify=classify)
    if not np.isfinite(ranges).all():
        raise CheckpointError(f"{checkpoint.name}: the forward pass gave values that are not finite")
    low, high = ranges[:, :, 0].min(axis=0), ranges[:, :, 1].max(axis=0)
    return {name: covering_scale(float(a), float(b)) for name, a, b in zip(names, low, high, strict=True)}


def covering_scale(low: float, high: float) -> Scale:
    """The uint8 scale that covers `low`, `high` and 0, cut to four digits so that rounding noise does not show in it."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = float(f"{(high - low) / 255:.4g}") or 1.0
    return Scale(scale, int(np.clip(round(-low / scale), 0, 255)))


def _ranges(
    checkpoint: Checkpoint, texts: Sequence[tuple[str, ...]], *, classify: bool
) -> tuple[npt.NDArray[np.float32], list[str]]:
    """Minimum and maximum [texts, tensors, 2] and the names of the tensors."""
    import onnxruntime
    from tokenizers import Tokenizer

    model, names = ranges_graph(checkpoint, classify=classify)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = [value.name for value in model.graph.input]
    tokenizer = Tokenizer.from_str(checkpoint.tokenizer_json)
    rows = []
    for text in texts:
        encoding = tokenizer.encode(*text)
        columns = (encoding.ids, encoding.attention_mask, encoding.type_ids)
        feeds = {name: np.array([column[: checkpoint.max_tokens]]) for name, column in zip(inputs, columns, strict=False)}
        rows.append(session.run(["ranges"], feeds)[0])
    return np.concatenate(rows).reshape(len(texts), len(names), 2), names
