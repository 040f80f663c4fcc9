"""The one path from a trace to a report; every door calls it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from entailgrid.errors import DeadlineExceeded, EngineStopped, InvalidTrace, ModelError
from entailgrid.inference.admission import Size
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
IN_FLIGHT = 32
"""Verifications of one caller's list or stream at once: enough to fill the model's batches, few enough for any length."""
_SLICE = 4096
"""Pairs of one `score` in the queue at once: lengths sort well among so many, and memory stays flat."""
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
        try:
            return self._cache.forget(tool_output_sha256) if self._cache is not None else 0
        finally:
            forget_texts()

    def metrics(self) -> str:
        """Counters and histograms of this verifier in the Prometheus text format."""
        return self._engine.metrics.text()

    @property
    def alive(self) -> bool:
        """Whether the verifier takes work and its device thread runs."""
        return not self._closed and self._engine.alive

    def submit(self, trace: TraceInput, *, budget_ms: float | None = None, stakes: Stakes = "normal") -> Future[Report]:
        """Start a verification; the future ends in one report or one typed error. Cancelling it drops its queued work.

        `budget_ms` counts from this call. Raises InvalidTrace for a trace that does not follow the contract,
        DeadlineExceeded where the budget is already spent, Overloaded where it would not be met or the queue is full,
        EngineStopped after `close`.
        """
        arrived = time.monotonic()
        _check_choice("stakes", stakes, tuple(_PRIORITY))
        if self._closed:
            raise EngineStopped("the verifier is closed")
        if budget_ms is not None and not budget_ms > 0:
            raise DeadlineExceeded(f"budget_ms is {budget_ms:g}: spent before the request arrived")
        parsed = parse_trace(trace, default_id="trace:1")
        deadline = arrived + budget_ms / 1000 if budget_ms is not None else float("inf")
        priority = _PRIORITY[stakes]
        room = self._engine.admission.admit(_size(parsed), priority, deadline, time.monotonic())
        promised: Future[Report] = Future()
        promised.add_done_callback(lambda done: self._engine.cancel(room) if done.cancelled() else None)
        running = self._pool.submit(self._verify, parsed, arrived, Ranked(priority, deadline, room))
        running.add_done_callback(lambda done: _keep(promised, done))
        return promised

    def verify(self, trace: TraceInput, *, budget_ms: float | None = None, stakes: Stakes = "normal") -> Report:
        """The report on one trace: `submit(...).result()`."""
        return self.submit(trace, budget_ms=budget_ms, stakes=stakes).result()

    async def averify(self, trace: TraceInput, *, budget_ms: float | None = None, stakes: Stakes = "normal") -> Report:
        """`verify` for asyncio; the event loop is never blocked."""
        return await asyncio.wrap_future(self.submit(trace, budget_ms=budget_ms, stakes=stakes))

    def verify_many(
        self, traces: Iterable[TraceInput], *, budget_ms: float | None = None, stakes: Stakes = "normal"
    ) -> list[Report]:
        """Reports in the order of `traces`, their pairs batched together.

        `budget_ms` holds for each, from when it is submitted: a few dozen are in flight at once.
        """
        parsed = [_numbered(trace, number) for number, trace in enumerate(traces, start=1)]
        running: deque[Future[Report]] = deque()
        reports: list[Report] = []
        for trace in parsed:
            if len(running) == IN_FLIGHT:
                reports.append(running.popleft().result())
            running.append(self.submit(trace, budget_ms=budget_ms, stakes=stakes))
        return reports + [future.result() for future in running]

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The raw engine: float32 `[n, 3]` (entailment, neutral, contradiction) of (premise, hypothesis) pairs.

        Long premises are windowed; the window with the largest max(entailment, contradiction) counts. Raises ValueError
        naming the pair whose hypothesis does not fit, EngineStopped after `close`.
        """
        if self._closed:
            raise EngineStopped("the verifier is closed")
        if not pairs:
            return np.zeros((0, 3), np.float32)
        parts = [self._engine.score(pairs[at : at + _SLICE], first=at).values for at in range(0, len(pairs), _SLICE)]
        return np.concatenate(parts)

    def _verify(self, trace: Trace, arrived: float, rank: Ranked) -> Report:
        from entailgrid.verification import Verification

        overhead, outcome = None, "error"
        try:
            report = Verification(trace, self._engine, self._calibration, self._policy, arrived, rank).report()
            outcome, spent = report.decision, report.timing_ms
            overhead = max(0.0, spent.total - spent.queue - spent.inference) / 1000
            self._measure(report)
            return report
        finally:
            if rank.reservation is not None:
                self._engine.admission.end(rank.reservation, overhead=overhead)
            in_time = time.monotonic() <= rank.deadline if rank.deadline < float("inf") else None
            self._engine.metrics.ended(outcome, in_time)

    def _measure(self, report: Report) -> None:
        metrics, counts, spent = self._engine.metrics, report.coverage, report.timing_ms
        metrics.pairs(scored=counts.pairs_scored, cached=counts.pairs_from_cache, skipped=counts.pairs_skipped)
        metrics.stage("queue", spent.queue / 1000)
        metrics.stage("inference", spent.inference / 1000)
        metrics.stage("total", spent.total / 1000)


def _keep(promised: Future[Report], done: Future[Report]) -> None:
    """Hand on how a verification ended, unless its caller has cancelled it."""
    if not promised.set_running_or_notify_cancel():
        return
    if error := done.exception():
        promised.set_exception(error)
    else:
        promised.set_result(done.result())


def _size(trace: Trace) -> Size:
    text = sum(len(block.body) for source in trace.sources for block in source.blocks)
    return Size(len(trace.answer), text, len(trace.sources))


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
