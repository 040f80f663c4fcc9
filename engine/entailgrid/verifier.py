"""The one path from a trace to a report; every door calls it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from entailgrid.errors import DeadlineExceeded, EngineStopped, InvalidTrace, ModelError
from entailgrid.inference.cache import EntailmentCache, open_cache
from entailgrid.inference.engine import Engine, Limits, Ranked
from entailgrid.language import forget_texts
from entailgrid.provenance.ingest import parse_trace
from entailgrid.types import Report, Stakes, Trace
from entailgrid.verdict.calibrate import PROFILES, Profile
from entailgrid.verdict.policy import Policy, load_policy

if TYPE_CHECKING:
    from types import TracebackType

_PRIORITY: dict[str, int] = {"high": 0, "normal": 1, "low": 2}
TraceInput = Trace | dict[str, Any] | str | bytes


class Verifier:
    """Verifies answers. Thread-safe; use it as a context manager, or call `close`.

    `model`: `embedded` or a folder written by `entailgrid models export` (the router stays the embedded one).
    `backend`: `onnx-cpu`. `threads`: of the model, by default the physical cores. `cache`: `memory`, `lmdb:PATH` or
    `redis://…`: what was computed from a tool output is kept under its SHA-256; `None` keeps nothing, and nothing is persisted
    unless asked. `policy`: a `Policy`, or the path of a TOML file. `profile`: `strict`, `balanced` or `precise`.

    Raises ModelError where a model file is missing, altered or cannot be run, ValueError for a choice that does not exist.
    """

    def __init__(
        self,
        model: str | Path = "embedded",
        backend: Literal["onnx-cpu"] = "onnx-cpu",
        threads: int | None = None,
        cache: str | None = "memory",
        policy: Policy | str | Path | None = None,
        profile: Profile = "balanced",
    ) -> None:
        _check_choice("backend", backend, ("onnx-cpu",))
        _check_choice("profile", profile, tuple(PROFILES))
        self._policy = policy if isinstance(policy, Policy) else load_policy(Path(policy)) if policy else Policy()
        self._calibration = PROFILES[profile]
        limits = Limits()
        self._cache = open_cache(cache, limits.memory_bytes)
        self._engine = _load_engine(model, threads, limits, self._cache)
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="entailgrid-verify")
        self._closed = False

    def __enter__(self) -> Verifier:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Finish what was submitted, then release the models. Later calls raise EngineStopped."""
        self._closed = True
        self._pool.shutdown(wait=True)
        self._engine.close()

    def forget(self, tool_output_sha256: str) -> int:
        """Remove everything derived from a tool output (`sources[].sha256` of a report) from memory and from the store.

        Returns the number of cache entries removed. Raises ValueError for what is no SHA-256, CacheUnavailable where the store
        could not be reached. Reports and answers that the caller holds are the caller's.
        """
        removed = self._cache.forget(tool_output_sha256) if self._cache is not None else 0
        forget_texts()
        return removed

    def metrics(self) -> str:
        """Counters and histograms of this verifier in the Prometheus text format."""
        return self._engine.metrics.text()

    @property
    def alive(self) -> bool:
        """Whether the verifier takes work and its device thread runs."""
        return not self._closed and self._engine.alive

    def submit(self, trace: TraceInput, *, budget_ms: float | None = None, stakes: Stakes = "normal") -> Future[Report]:
        """Start a verification; the future ends in one report or one typed error.

        `budget_ms` counts from this call. Raises InvalidTrace for a trace that does not follow the contract,
        DeadlineExceeded where the budget is already spent, EngineStopped after `close`.
        """
        arrived = time.monotonic()
        _check_choice("stakes", stakes, tuple(_PRIORITY))
        if self._closed:
            raise EngineStopped("the verifier is closed")
        if budget_ms is not None and not budget_ms > 0:
            raise DeadlineExceeded(f"budget_ms is {budget_ms:g}: spent before the request arrived")
        parsed = parse_trace(trace, default_id="trace:1")
        deadline = arrived + budget_ms / 1000 if budget_ms is not None else float("inf")
        return self._pool.submit(self._verify, parsed, arrived, Ranked(_PRIORITY[stakes], deadline))

    def verify(self, trace: TraceInput, *, budget_ms: float | None = None, stakes: Stakes = "normal") -> Report:
        """The report on one trace: `submit(...).result()`."""
        return self.submit(trace, budget_ms=budget_ms, stakes=stakes).result()

    async def averify(self, trace: TraceInput, *, budget_ms: float | None = None, stakes: Stakes = "normal") -> Report:
        """`verify` for asyncio; the event loop is never blocked."""
        return await asyncio.wrap_future(self.submit(trace, budget_ms=budget_ms, stakes=stakes))

    def verify_many(
        self, traces: Iterable[TraceInput], *, budget_ms: float | None = None, stakes: Stakes = "normal"
    ) -> list[Report]:
        """Reports in the order of `traces`, their pairs batched together. `budget_ms` holds for each, from now."""
        parsed = [_numbered(trace, number) for number, trace in enumerate(traces, start=1)]
        futures = [self.submit(trace, budget_ms=budget_ms, stakes=stakes) for trace in parsed]
        return [future.result() for future in futures]

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The raw engine: float32 `[n, 3]` (entailment, neutral, contradiction) of (premise, hypothesis) pairs.

        Long premises are windowed; the window with the largest max(entailment, contradiction) counts. Raises ValueError
        naming the pair whose hypothesis does not fit, EngineStopped after `close`.
        """
        if self._closed:
            raise EngineStopped("the verifier is closed")
        if not pairs:
            return np.zeros((0, 3), np.float32)
        return self._engine.score(pairs).values

    def _verify(self, trace: Trace, arrived: float, rank: Ranked) -> Report:
        from entailgrid.verification import Verification

        return Verification(trace, self._engine, self._calibration, self._policy, arrived, rank).report()


def _numbered(trace: TraceInput, number: int) -> Trace:
    try:
        return parse_trace(trace, default_id=f"trace:{number}")
    except InvalidTrace as error:
        raise error.at(f"traces[{number - 1}]") from error


def _check_choice(name: str, value: object, known: Sequence[object]) -> None:
    if value not in known:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(map(repr, known))}")


def _load_engine(model: str | Path, threads: int | None, limits: Limits, cache: EntailmentCache | None) -> Engine:
    from entailgrid_models.errors import CheckpointError
    from entailgrid_models.onnx import OnnxModel
    from entailgrid_models.registry import resolve

    try:
        preset = resolve(str(model))
        router, nli = (OnnxModel.load(folder, threads=threads) for folder in (preset.router, preset.nli))
        return Engine(router, nli, limits, cache)
    except CheckpointError as error:
        raise ModelError(str(error)) from error
