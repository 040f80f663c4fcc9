"""The models behind one queue: texts to unit vectors, (premise, hypothesis) pairs to probabilities."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from entailgrid.errors import ModelError
from entailgrid.inference.admission import Admission, Reservation
from entailgrid.inference.cache import EntailmentCache, Entry, Kind, key_of
from entailgrid.inference.cost import CostModel
from entailgrid.inference.encode import Encoder
from entailgrid.inference.metrics import Metrics
from entailgrid.inference.runner import Forward, Runner
from entailgrid.inference.scheduler import BatchPolicy, Lane, Scheduler, SchedulingLimits, Scores, Sequence1d
from entailgrid_models.onnx import OnnxModel, pair_probabilities

RULES_VERSION = "1"
"""Of what turns a pair into a cached value: templates, windows, the choice among windows. Raise it when they change."""

IntArray = NDArray[np.int64]
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Limits:
    """`pair_tokens`: longest pair; longer premises are windowed. `claim_vectors`: how many vectors of claims are kept (1.5 KB
    each). `memory_bytes`: of the entailment cache in this process. `queue_tokens`: beyond which requests are refused."""

    scheduling: SchedulingLimits = field(default_factory=SchedulingLimits)
    pair_tokens: int = 256
    claim_vectors: int = 4_000
    memory_bytes: int = 256 << 20
    queue_tokens: int = 4_000_000


@dataclass(frozen=True, slots=True)
class Ranked:
    """Urgency: lower `priority` first, `deadline` in seconds of the monotonic clock; `reservation`: the room held for it."""

    priority: int = 1
    deadline: float = float("inf")
    reservation: Reservation | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a premise stands: the tool output's SHA-256, and the segments' place in it. What is computed from a premise with
    an origin is cached under that output."""

    sha256: str
    span: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """`values[n, width]`, valid where `scored[n]`; `cached[n]` did not need the model, `tokens[n]` are the lengths of the texts
    that did; seconds queued and in the model."""

    values: NDArray[np.float32]
    scored: NDArray[np.bool_]
    cached: NDArray[np.bool_]
    tokens: IntArray
    queue_seconds: float = 0.0
    inference_seconds: float = 0.0


class Engine:
    """Router and cross-encoder on one device thread. All methods may be called from any thread."""

    def __init__(
        self,
        router: OnnxModel,
        nli: OnnxModel,
        limits: Limits,
        cache: EntailmentCache | None = None,
        policy: BatchPolicy | None = None,
    ) -> None:
        if nli.labels is None:
            raise ModelError(f"{nli.name}: not a cross-encoder (its manifest names no labels)")
        self.router, self.nli, self.cache = router, nli, cache
        self._labels = nli.labels
        self._router_encoder = Encoder(router.tokenizer, router.max_tokens)
        self._nli_encoder = Encoder(nli.tokenizer, min(nli.max_tokens, limits.pair_tokens))
        self._claims = _Vectors(limits.claim_vectors if cache is not None else 0)
        if cache is not None:
            cache.on_forget(self._claims.clear)
        self.costs: Mapping[Lane, CostModel] = {"embed": CostModel(), "classify": CostModel()}
        self.metrics = Metrics(limits.scheduling.token_budget)
        scheduler = policy if policy is not None else Scheduler(limits.scheduling, self.costs)
        forwards: dict[Lane, Forward] = {"embed": router.forward, "classify": nli.forward}
        self._runner = Runner(forwards, scheduler, self.costs, self.metrics)
        self.admission = Admission(
            self._runner.waiting, self.costs["classify"], limits.scheduling.token_budget, limits.queue_tokens, self.metrics
        )

    @property
    def alive(self) -> bool:
        return self._runner.alive

    def close(self) -> None:
        self._runner.close()
        if self.cache is not None:
            self.cache.close()

    def embed(self, texts: Sequence[str], rank: Ranked = Ranked(), origins: Mapping[str, Origin] | None = None) -> Outcome:
        """Unit vectors `[n, dim]`; a text longer than the model takes is the mean of its windows. `origins` by text: those
        texts are segments, the others claims."""
        unique = list(dict.fromkeys(texts))
        keys = {text: self._key("embedding", at, text) for text, at in (origins or {}).items()} if self.cache else {}
        generation = self.cache.generation if self.cache else 0
        known = {text: np.frombuffer(value, np.float32) for text, value in self._cached(keys).items()}
        known.update(self._claims.get([text for text in unique if text not in keys]))
        missing = [text for text in unique if text not in known]
        ids = self._token_ids(self._router_encoder, missing)
        inputs = [self._router_encoder.singles(ids[text]) for text in missing]
        scores, spans = self._run("embed", inputs, [(text,) for text in missing], rank)
        fresh = {}
        for text, (start, end) in zip(missing, spans, strict=True):
            if scores.scored[start:end].all():
                mean = scores.values[start:end].mean(axis=0)
                fresh[text] = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        self._put([(keys[text], vector.tobytes()) for text, vector in fresh.items() if text in keys], generation)
        self._claims.put({text: vector for text, vector in fresh.items() if text not in keys})
        known.update(fresh)
        values = np.zeros((len(texts), len(next(iter(known.values()))) if known else 0), np.float32)
        scored = np.array([text in known for text in texts], dtype=np.bool_)
        for row, text in enumerate(texts):
            if scored[row]:
                values[row] = known[text]
        cached = np.array([text in known and text not in fresh for text in texts], dtype=np.bool_)
        tokens = np.array([len(ids.get(text, ())) for text in texts], dtype=np.int64)
        return Outcome(values, scored, cached, tokens, scores.queue_seconds, scores.inference_seconds)

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        rank: Ranked = Ranked(),
        origins: Sequence[Origin] | None = None,
        first: int = 0,
    ) -> Outcome:
        """Probabilities `[n, 3]`: entailment, neutral, contradiction. `origins` of the premises: with them, the entailment
        cache is used. `first`: the number of the first pair in the caller's list, for the message of an error.

        Of a premise in windows the one with the largest max(entailment, contradiction) counts. Raises ValueError naming the
        pair whose hypothesis does not fit.
        """
        use = self.cache is not None and origins is not None
        keys = {p: self._key("pair", at, *p) for p, at in zip(pairs, origins or (), strict=True)} if use else {}
        generation = self.cache.generation if self.cache else 0
        known = self._cached(keys)
        missing = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        outputs = {pair[0]: at for pair, at in zip(pairs, origins or (), strict=use)} if use else {}
        ids = self._token_ids(self._nli_encoder, list(dict.fromkeys(chain(*missing))), outputs, generation)
        scores, spans = self._run("classify", self._pair_inputs(pairs, missing, ids, first), missing, rank)
        fresh = self._strongest(missing, scores, spans)
        self._put([(keys[pair], value.tobytes()) for pair, value in fresh.items() if use], generation)
        values = np.zeros((len(pairs), 3), np.float32)
        scored, cached = np.zeros(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_)
        for row, pair in enumerate(pairs):
            cached[row] = pair in known
            scored[row] = cached[row] or pair in fresh
            if scored[row]:
                values[row] = np.frombuffer(known[pair], np.float32) if cached[row] else fresh[pair]
        tokens = np.array([len(ids.get(premise, ())) for premise, _ in pairs], dtype=np.int64)
        return Outcome(values, scored, cached, tokens, scores.queue_seconds, scores.inference_seconds)

    def _pair_inputs(
        self, pairs: Sequence[tuple[str, str]], missing: Sequence[tuple[str, str]], ids: Mapping[str, IntArray], first: int
    ) -> list[list[Sequence1d]]:
        inputs = []
        for premise, hypothesis in missing:
            try:
                inputs.append(self._nli_encoder.pairs(ids[premise], ids[hypothesis]))
            except ValueError as error:
                raise ValueError(f"pairs[{first + pairs.index((premise, hypothesis))}]: {error}") from error
        return inputs

    def _strongest(
        self, pairs: Sequence[tuple[str, str]], scores: Scores, spans: Sequence[tuple[int, int]]
    ) -> dict[tuple[str, str], NDArray[np.float32]]:
        if not scores.scored.any():
            return {}
        probabilities = pair_probabilities(scores.values, self._labels)
        fresh = {}
        for pair, (start, end) in zip(pairs, spans, strict=True):
            if scores.scored[start:end].all():
                strongest = np.maximum(probabilities[start:end, 0], probabilities[start:end, 2]).argmax()
                fresh[pair] = probabilities[start + int(strongest)]
        return fresh

    def _key(self, kind: Kind, origin: Origin, *texts: str) -> bytes:
        model = self.router if kind == "embedding" else self.nli
        windows = str(self._nli_encoder.max_tokens)
        return key_of(origin.sha256, kind, origin.span, *texts, model.fingerprint, windows, RULES_VERSION)

    def _cached(self, keys: Mapping[K, bytes]) -> dict[K, bytes]:
        if self.cache is None or not keys:
            return {}
        values = self.cache.get_many(list(keys.values()))
        return {name: value for name, value in zip(keys, values, strict=True) if value is not None}

    def _put(self, entries: Sequence[Entry], generation: int) -> None:
        if self.cache is not None and entries:
            self.cache.put_many(entries, generation)
            self.metrics.cache_degraded.set(self.cache.degraded)

    def _token_ids(
        self, encoder: Encoder, texts: Sequence[str], origins: Mapping[str, Origin] | None = None, generation: int = 0
    ) -> dict[str, IntArray]:
        """Ids by text; those of premises come from the cache where it holds them."""
        began = time.monotonic()
        keys = {text: self._key("tokens", origins[text], text) for text in texts if origins and text in origins}
        known = {text: np.frombuffer(value, np.int32).astype(np.int64) for text, value in self._cached(keys).items()}
        missing = [text for text in texts if text not in known]
        fresh = dict(zip(missing, encoder.token_ids(missing), strict=True)) if missing else {}
        self._put([(keys[text], ids.astype(np.int32).tobytes()) for text, ids in fresh.items() if text in keys], generation)
        self.metrics.stage("tokenize", time.monotonic() - began)
        return known | fresh

    def _run(
        self, lane: Lane, inputs: Sequence[Sequence[Sequence1d]], names: Sequence[tuple[str, ...]], rank: Ranked
    ) -> tuple[Scores, list[tuple[int, int]]]:
        """Scores of all inputs, and for each text or pair the range of its windows among them. Equal names are equal inputs."""
        spans: list[tuple[int, int]] = []
        flat: list[Sequence1d] = []
        keys: list[tuple[object, ...]] = []
        for group, name in zip(inputs, names, strict=True):
            spans.append((len(flat), len(flat) + len(group)))
            flat.extend(group)
            keys.extend((*name, number) for number in range(len(group)))
        submission = self._runner.submit(lane, flat, keys=keys, priority=rank.priority, deadline=rank.deadline)
        if rank.reservation is not None:
            rank.reservation.submitted(submission)
            if rank.reservation.cancelled:
                self._runner.cancel(submission)
        return submission.future.result(), spans

    def cancel(self, reservation: Reservation) -> None:
        """Nobody waits for this request any more: what it queued is dropped, and what it will queue."""
        reservation.cancelled = True
        if reservation.queued is not None:
            self._runner.cancel(reservation.queued)


class _Vectors:
    """Vectors of claims, least recently used first out; in memory only."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def get(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._lock:
            found = {text: self._vectors[text] for text in texts if text in self._vectors}
            for text in found:
                self._vectors.move_to_end(text)
        return found

    def put(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        with self._lock:
            self._vectors.update(vectors)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._vectors.clear()
