"""The device thread: sequences of all requests in, model outputs out, in token-budget batches."""

from __future__ import annotations

import heapq
import threading
import time
from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from entailgrid.errors import EngineStopped, EntailgridError, ModelError
from entailgrid.inference.batch import pack

Lane = Literal["embed", "classify"]
Forward = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None], NDArray[np.float32]]
"""`(input_ids[total], cu_seqlens[n + 1], token_type_ids[total]) -> [n, width]`."""


@dataclass(frozen=True, slots=True)
class Sequence1d:
    """One tokenised model input: `input_ids[length]` and `token_type_ids[length]`."""

    input_ids: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.input_ids)


@dataclass(frozen=True, slots=True)
class Scores:
    """Outputs of one submission: `values[n, width]`, valid where `scored[n]`; seconds in the queue and in the model."""

    values: NDArray[np.float32]
    scored: NDArray[np.bool_]
    queue_seconds: float
    inference_seconds: float


@dataclass(slots=True)
class _Ticket:
    """One submission and what is still missing of it."""

    lane: Lane
    priority: int
    deadline: float
    submitted: float
    rows: list[NDArray[np.float32] | None]
    missing: int
    future: Future[Scores] = field(default_factory=Future)
    started: float | None = None
    inference: float = 0.0


@dataclass(slots=True)
class _Item:
    ticket: _Ticket
    row: int
    sequence: Sequence1d
    order: int
    done: bool = False


class Runner:
    """One queue for all requests, one thread that asks for work when the device is free.

    `submit` may be called from any thread. Expired work is dropped before it is batched; a failed batch answers every
    submission that had a row in it.
    """

    def __init__(
        self, forwards: Mapping[Lane, Forward], token_budget: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._forwards = forwards
        self._token_budget = token_budget
        self._clock = clock
        self._lock = threading.Condition()
        self._urgent: list[tuple[int, float, int, _Item]] = []
        self._by_length: dict[Lane, list[tuple[int, int, _Item]]] = {"embed": [], "classify": []}
        self._orders = 0
        self._running: list[_Item] = []
        self._stopped: EngineStopped | None = None
        self._thread = threading.Thread(target=self._run, name="entailgrid-device", daemon=True)
        self._thread.start()

    def submit(
        self, lane: Lane, sequences: Sequence[Sequence1d], *, priority: int = 1, deadline: float = float("inf")
    ) -> Future[Scores]:
        """Queue `sequences`; the future holds `Scores` or a typed error. A lower `priority` runs first."""
        now = self._clock()
        ticket = _Ticket(lane, priority, deadline, now, [None] * len(sequences), len(sequences))
        if not sequences:
            ticket.future.set_result(Scores(np.zeros((0, 0), np.float32), np.zeros(0, np.bool_), 0.0, 0.0))
            return ticket.future
        with self._lock:
            if self._stopped:
                raise self._stopped
            for row, sequence in enumerate(sequences):
                self._orders += 1
                item = _Item(ticket, row, sequence, self._orders)
                heapq.heappush(self._urgent, (priority, deadline, item.order, item))
                insort(self._by_length[lane], (len(sequence), item.order, item))
            self._lock.notify()
        return ticket.future

    @property
    def alive(self) -> bool:
        return self._stopped is None and self._thread.is_alive()

    def close(self) -> None:
        """Finish what is queued, then stop."""
        with self._lock:
            self._stopped = self._stopped or EngineStopped("the verifier is closed")
            self._lock.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        try:
            while self._wait_for_work():
                self.step()
        finally:
            self._fail_all(EngineStopped("the device thread stopped"))

    def _wait_for_work(self) -> bool:
        with self._lock:
            while not self._urgent and not self._stopped:
                self._lock.wait()
            return bool(self._urgent)

    def step(self) -> None:
        """Take one batch, run it, hand out its rows."""
        batch = self._next_batch()
        if not batch:
            return
        lane = batch[0].ticket.lane
        began = self._clock()
        try:
            input_ids, cu_seqlens = pack([item.sequence.input_ids for item in batch])
            type_ids, _ = pack([item.sequence.token_type_ids for item in batch])
            output = self._forwards[lane](input_ids, cu_seqlens, type_ids)
            if len(output) != len(batch):
                raise ModelError(f"the model gave {len(output)} rows for {len(batch)} inputs")
            if not np.isfinite(output).all():
                raise ModelError("the model's output is not finite")
        except Exception as error:  # noqa: BLE001 - the one broad except: every caller of the batch gets the error
            self._answer_error(batch, error)
            return
        self._answer(batch, output, began, self._clock() - began)

    def _next_batch(self) -> list[_Item]:
        """The most urgent item and those of its lane whose length is nearest below, within the token budget."""
        with self._lock:
            head = self._pop_head()
            if head is None:
                return []
            lane = self._by_length[head.ticket.lane]
            rows = max(1, self._token_budget // len(head.sequence))
            at = _position(lane, head)
            taken = lane[max(0, at + 1 - rows) : at + 1]
            del lane[max(0, at + 1 - rows) : at + 1]
            self._running = [item for _, _, item in taken]
            for item in self._running:
                item.done = True
        now = self._clock()
        live = [item for _, _, item in taken if now <= item.ticket.deadline]
        self._expire([item for _, _, item in taken if now > item.ticket.deadline])
        return live

    def _pop_head(self) -> _Item | None:
        while self._urgent:
            item = heapq.heappop(self._urgent)[3]
            if not item.done:
                return item
        return None

    def _answer(self, batch: Sequence[_Item], output: NDArray[np.float32], began: float, seconds: float) -> None:
        tickets = {id(item.ticket): item.ticket for item in batch}
        for ticket in tickets.values():
            ticket.started = began if ticket.started is None else ticket.started
            ticket.inference += seconds
        for item, row in zip(batch, output, strict=True):
            item.ticket.rows[item.row] = row
            item.ticket.missing -= 1
        for ticket in tickets.values():
            self._finish(ticket)

    def _expire(self, items: Sequence[_Item]) -> None:
        for item in items:
            item.ticket.missing -= 1
        for ticket in {id(item.ticket): item.ticket for item in items}.values():
            self._finish(ticket)

    def _finish(self, ticket: _Ticket) -> None:
        if ticket.missing or ticket.future.done():
            return
        width = next((len(row) for row in ticket.rows if row is not None), 0)
        scored = np.array([row is not None for row in ticket.rows])
        values = np.zeros((len(ticket.rows), width), np.float32)
        for index, row in enumerate(ticket.rows):
            if row is not None:
                values[index] = row
        waited = (ticket.started if ticket.started is not None else self._clock()) - ticket.submitted
        _resolve(ticket.future, Scores(values, scored, waited, ticket.inference))

    def _answer_error(self, batch: Sequence[_Item], error: Exception) -> None:
        if not isinstance(error, EntailgridError):
            error = ModelError(f"the forward pass failed: {type(error).__name__}: {error}")
        failed = {id(item.ticket) for item in batch}
        with self._lock:
            for lane in self._by_length.values():
                for entry in [entry for entry in lane if id(entry[2].ticket) in failed]:
                    entry[2].done = True
                    lane.remove(entry)
        for item in batch:
            _reject(item.ticket.future, error)

    def _fail_all(self, error: EngineStopped) -> None:
        with self._lock:
            self._stopped = self._stopped or error
            waiting = [*self._running, *(entry[2] for lane in self._by_length.values() for entry in lane)]
            self._urgent.clear()
            for lane in self._by_length.values():
                lane.clear()
        for item in waiting:
            _reject(item.ticket.future, error)


def _position(lane: list[tuple[int, int, _Item]], item: _Item) -> int:
    from bisect import bisect_left

    return bisect_left(lane, (len(item.sequence), item.order))


def _resolve(future: Future[Scores], scores: Scores) -> None:
    if not future.done():
        future.set_result(scores)


def _reject(future: Future[Scores], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
