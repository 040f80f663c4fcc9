"""The models behind one queue: texts to unit vectors, (premise, hypothesis) pairs to probabilities."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from entailgrid.errors import ModelError
from entailgrid.inference.encode import Encoder
from entailgrid.inference.runner import Lane, Runner, Scores, Sequence1d
from entailgrid_models.onnx import OnnxModel, pair_probabilities


@dataclass(frozen=True, slots=True)
class Limits:
    """`token_budget`: tokens of a batch, padding counted. `pair_tokens`: longest pair; longer premises are windowed.
    `cached_embeddings`: how many segment vectors are kept (1.5 KB each)."""

    token_budget: int = 2048
    pair_tokens: int = 256
    cached_embeddings: int = 20_000


@dataclass(frozen=True, slots=True)
class Ranked:
    """Urgency of a submission: lower `priority` first, `deadline` in seconds of the monotonic clock."""

    priority: int = 1
    deadline: float = float("inf")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`values[n, width]`, valid where `scored[n]`; `tokens[n]` lengths of the texts; seconds queued and in the model."""

    values: NDArray[np.float32]
    scored: NDArray[np.bool_]
    tokens: NDArray[np.int64]
    queue_seconds: float = 0.0
    inference_seconds: float = 0.0


class Engine:
    """Router and cross-encoder on one device thread. All methods may be called from any thread."""

    def __init__(self, router: OnnxModel, nli: OnnxModel, limits: Limits, *, cache: bool = True) -> None:
        if nli.labels is None:
            raise ModelError(f"{nli.name}: not a cross-encoder (its manifest names no labels)")
        self.router, self.nli = router, nli
        self._labels = nli.labels
        self._router_encoder = Encoder(router.tokenizer, router.max_tokens)
        self._nli_encoder = Encoder(nli.tokenizer, min(nli.max_tokens, limits.pair_tokens))
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._vectors_lock = threading.Lock()
        self._capacity = limits.cached_embeddings if cache else 0
        self._runner = Runner({"embed": router.forward, "classify": nli.forward}, limits.token_budget)

    @property
    def alive(self) -> bool:
        return self._runner.alive

    def close(self) -> None:
        self._runner.close()

    def embed(self, texts: Sequence[str], rank: Ranked = Ranked()) -> Outcome:
        """Unit vectors `[n, dim]`; a text longer than the model takes is the mean of its windows."""
        unique = list(dict.fromkeys(texts))
        known = self._known_vectors(unique)
        missing = [text for text in unique if text not in known]
        ids = self._router_encoder.token_ids(missing)
        scores, spans = self._run("embed", [self._router_encoder.singles(one) for one in ids], rank)
        for text, (start, end) in zip(missing, spans, strict=True):
            if scores.scored[start:end].all():
                mean = scores.values[start:end].mean(axis=0)
                known[text] = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        self._remember({text: known[text] for text in missing if text in known})
        lengths = {text: len(one) for text, one in zip(missing, ids, strict=True)}
        width = len(next(iter(known.values()))) if known else 0
        values = np.zeros((len(texts), width), np.float32)
        scored = np.array([text in known for text in texts], dtype=np.bool_)
        for row, text in enumerate(texts):
            if scored[row]:
                values[row] = known[text]
        tokens = np.array([lengths.get(text, 0) for text in texts], dtype=np.int64)
        return Outcome(values, scored, tokens, scores.queue_seconds, scores.inference_seconds)

    def score(self, pairs: Sequence[tuple[str, str]], rank: Ranked = Ranked()) -> Outcome:
        """Probabilities `[n, 3]`: entailment, neutral, contradiction.

        Of a premise in windows the one with the largest max(entailment, contradiction) counts. Raises ValueError naming the
        pair whose hypothesis does not fit.
        """
        ids = self._ids_by_text(pairs)
        inputs = []
        for number, (premise, hypothesis) in enumerate(pairs):
            try:
                inputs.append(self._nli_encoder.pairs(ids[premise], ids[hypothesis]))
            except ValueError as error:
                raise ValueError(f"pairs[{number}]: {error}") from error
        scores, spans = self._run("classify", inputs, rank)
        values = np.zeros((len(pairs), 3), np.float32)
        scored = np.zeros(len(pairs), np.bool_)
        if scores.scored.any():
            probabilities = pair_probabilities(scores.values, self._labels)
            for row, (start, end) in enumerate(spans):
                scored[row] = scores.scored[start:end].all()
                if scored[row]:
                    strongest = np.maximum(probabilities[start:end, 0], probabilities[start:end, 2]).argmax()
                    values[row] = probabilities[start + int(strongest)]
        tokens = np.array([len(ids[premise]) for premise, _ in pairs], dtype=np.int64)
        return Outcome(values, scored, tokens, scores.queue_seconds, scores.inference_seconds)

    def _ids_by_text(self, pairs: Sequence[tuple[str, str]]) -> dict[str, NDArray[np.int64]]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        return dict(zip(texts, self._nli_encoder.token_ids(texts), strict=True)) if texts else {}

    def _run(self, lane: Lane, inputs: Sequence[Sequence[Sequence1d]], rank: Ranked) -> tuple[Scores, list[tuple[int, int]]]:
        """Scores of all inputs, and for each text or pair the range of its windows among them."""
        spans: list[tuple[int, int]] = []
        flat: list[Sequence1d] = []
        for group in inputs:
            spans.append((len(flat), len(flat) + len(group)))
            flat.extend(group)
        future = self._runner.submit(lane, flat, priority=rank.priority, deadline=rank.deadline)
        return future.result(), spans

    def _known_vectors(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._vectors_lock:
            found = {text: self._vectors[text] for text in texts if text in self._vectors}
            for text in found:
                self._vectors.move_to_end(text)
        return found

    def _remember(self, vectors: dict[str, NDArray[np.float32]]) -> None:
        with self._vectors_lock:
            self._vectors.update(vectors)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)
