"""The device thread and its feeder: inputs of all requests in, model outputs out, in token-budget batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import InvalidStateError
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from entailgrid.errors import EngineStopped, EntailgridError, ModelError
from entailgrid.inference.batch import pack
from entailgrid.inference.cost import CostModel
from entailgrid.inference.metrics import Metrics
from entailgrid.inference.scheduler import Batch, BatchPolicy, Item, Lane, Scores, Sequence1d, Submission

Forward = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None], NDArray[np.float32]]
"""`(input_ids[total], cu_seqlens[n + 1], token_type_ids[total]) -> [n, width]`."""

_PREFETCH = 0.005
"""Seconds before the expected end of a batch at which the next is chosen: late, so that what is urgent and new is in it."""
_LONGEST_WAIT = 3600.0


@dataclass(slots=True)
class _Packed:
    """A batch ready to run, and how it went."""

    lane: Lane
    items: Sequence[Item]
    input_ids: NDArray[np.int64]
    cu_seqlens: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]
    output: NDArray[np.float32] | None = None
    error: Exception | None = None
    began: float = 0.0
    seconds: float = 0.0

    @property
    def padded(self) -> int:
        return len(self.items) * int(np.diff(self.cu_seqlens).max())


class Runner:
    """One queue for all requests; one thread that runs batches, one that packs the next and hands out the last.

    `submit` and `cancel` may be called from any thread. A failed batch answers every submission that had an input in it; when
    either thread dies, all that waits and all that comes fails with EngineStopped.
    """

    def __init__(
        self,
        forwards: Mapping[Lane, Forward],
        policy: BatchPolicy,
        costs: Mapping[Lane, CostModel],
        metrics: Metrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._forwards, self._policy, self._costs, self._metrics = forwards, policy, costs, metrics
        self._clock = clock
        self._lock = threading.Condition()
        self._inflight: dict[tuple[Lane, Hashable], Item] = {}
        self._ready: _Packed | None = None
        self._running: _Packed | None = None
        self._finished: list[_Packed] = []
        self._busy_until = 0.0
        self._orders = 0
        self.queued_items = 0
        self.queued_tokens = 0
        self._stopped: EngineStopped | None = None
        self._dead = False
        self._threads = [
            threading.Thread(target=self._guarded, args=(loop,), name=f"entailgrid-{name}", daemon=True)
            for name, loop in (("device", self._drive), ("feeder", self._feed))
        ]
        for thread in self._threads:
            thread.start()

    # --- callers ----------------------------------------------------------------------------------------------------

    def submit(
        self,
        lane: Lane,
        sequences: Sequence[Sequence1d],
        *,
        keys: Sequence[Hashable | None] | None = None,
        priority: int = 1,
        deadline: float = float("inf"),
    ) -> Submission:
        """Queue `sequences`; the submission's future holds `Scores` or a typed error. A lower `priority` runs first.

        Inputs with the same key are computed once while they are in flight, for whoever submitted them.
        """
        submission = Submission(lane, priority, deadline, self._clock(), [])
        if not sequences:
            submission.future.set_result(Scores(np.zeros((0, 0), np.float32), np.zeros(0, np.bool_), 0.0, 0.0))
            return submission
        with self._lock:
            if self._stopped:
                raise self._stopped
            self._orders += 1
            submission.order = self._orders
            for sequence, key in zip(sequences, keys or [None] * len(sequences), strict=True):
                submission.items.append(self._item(lane, sequence, key, submission))
            submission.missing = len(sequences)
            submission.tokens_missing = sum(map(len, sequences))
            self._policy.add(submission)
            self._metrics.queue_tokens.set(self.queued_tokens)
            self._lock.notify_all()
        return submission

    def _item(self, lane: Lane, sequence: Sequence1d, key: Hashable | None, submission: Submission) -> Item:
        known = self._inflight.get((lane, key)) if key is not None else None
        if known is not None:
            self._metrics.coalesced(lane)
            known.waiters.append(submission)
            return known
        item = Item(lane, sequence, key, [submission])
        self.queued_items += 1
        self.queued_tokens += len(item)
        if key is not None:
            self._inflight[lane, key] = item
        return item

    def _unqueue(self, item: Item) -> None:
        item.queued = False
        self.queued_items -= 1
        self.queued_tokens -= len(item)

    def cancel(self, submission: Submission) -> None:
        """Drop what is queued for `submission` alone; its future ends with what was scored so far."""
        with self._lock:
            self._retire([submission])
        self._answer(submission)

    def waiting(self) -> list[Submission]:
        """What is queued or running."""
        with self._lock:
            return list(self._policy.waiting())

    @property
    def alive(self) -> bool:
        return self._stopped is None

    def close(self) -> None:
        """Finish what is queued, then stop."""
        with self._lock:
            self._stopped = self._stopped or EngineStopped("the verifier is closed")
            self._lock.notify_all()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()

    # --- the device thread ------------------------------------------------------------------------------------------

    def _drive(self) -> None:
        while self._take():
            self.step()

    def _take(self) -> bool:
        with self._lock:
            while self._ready is None and not self._drained():
                self._lock.wait()
            self._running, self._ready = self._ready, None
            if self._running is not None:
                cost = self._costs[self._running.lane]
                self._busy_until = self._clock() + cost.seconds(self._running.padded, len(self._running.items))
            self._lock.notify_all()
            return self._running is not None

    def step(self) -> None:
        """Run the batch that is ready; the feeder hands out its rows and packs the next meanwhile."""
        batch = self._running
        assert batch is not None
        batch.began = self._clock()
        try:
            output = self._forwards[batch.lane](batch.input_ids, batch.cu_seqlens, batch.token_type_ids)
            if len(output) != len(batch.items):
                raise ModelError(f"the model gave {len(output)} rows for {len(batch.items)} inputs")
            if not np.isfinite(output).all():
                raise ModelError("the model's output is not finite")
            batch.output = output
        except Exception as error:  # noqa: BLE001 - handed to every submission of the batch
            batch.error = error
        batch.seconds = self._clock() - batch.began
        with self._lock:
            self._finished.append(batch)
            self._running = None
            self._lock.notify_all()

    # --- the feeder -------------------------------------------------------------------------------------------------

    def _feed(self) -> None:
        while self._await_turn():
            with self._lock:
                now = self._clock()
                finished, self._finished = self._finished, []
                expired = [one for one in self._policy.waiting() if now >= one.deadline]
                self._retire(expired)
                free = self._ready is None and self.queued_items
                chosen = self._policy.next_batch(now) if free and self._early() <= 0 else Batch()
                for item in chosen.items:
                    self._unqueue(item)
                self._metrics.queue_tokens.set(self.queued_tokens)
            if chosen.items:
                packed = _pack(chosen.items)
                with self._lock:
                    self._ready = packed
                    self._lock.notify_all()
            for batch in finished:
                self._hand_out(batch)
            for submission in expired:
                self._answer(submission)
            if chosen.wait:
                with self._lock:
                    self._lock.wait(chosen.wait)

    def _await_turn(self) -> bool:
        """Until a batch has finished, a deadline has passed, or it is time to choose a batch; False when all is done."""
        with self._lock:
            while not self._finished:
                if self._drained():
                    self._lock.notify_all()
                    return False
                now = self._clock()
                wait = min((one.deadline for one in self._policy.waiting()), default=float("inf")) - now
                if self._ready is None and self.queued_items:
                    wait = min(wait, self._early())
                if wait <= 0:
                    return True
                self._lock.wait(min(wait, _LONGEST_WAIT) if wait < float("inf") else None)
            return True

    def _early(self) -> float:
        """Seconds until the next batch should be chosen."""
        return self._busy_until - _PREFETCH - self._clock() if self._running else 0.0

    def _drained(self) -> bool:
        if self._dead:
            return True
        idle = self._ready is None and self._running is None and not self._finished
        return self._stopped is not None and idle and not any(True for _ in self._policy.waiting())

    def _hand_out(self, batch: _Packed) -> None:
        if batch.error is not None or batch.output is None:
            self._reject(batch)
            return
        self._costs[batch.lane].observe(batch.padded, len(batch.items), batch.seconds)
        self._metrics.ran(batch.lane, len(batch.items), len(batch.input_ids), batch.padded, batch.seconds)
        with self._lock:
            touched: dict[Submission, None] = {}
            for item, row in zip(batch.items, batch.output, strict=True):
                item.row = row
                self._forget(item)
                for submission in item.waiters:
                    touched[submission] = None
                    submission.missing -= 1
                    submission.tokens_missing -= len(item)
            for submission in touched:
                submission.started = batch.began if submission.started is None else submission.started
                submission.inference += batch.seconds
            complete = [submission for submission in touched if not submission.missing]
            for submission in complete:
                self._policy.discard(submission)
        for submission in complete:
            self._answer(submission)

    def _answer(self, submission: Submission) -> None:
        rows = [item.row for item in submission.items]
        width = next((len(row) for row in rows if row is not None), 0)
        values = np.zeros((len(rows), width), np.float32)
        for index, row in enumerate(rows):
            if row is not None:
                values[index] = row
        scored = np.array([row is not None for row in rows], np.bool_)
        waited = (submission.started if submission.started is not None else self._clock()) - submission.arrived
        with suppress(InvalidStateError):  # cancelled by its owner meanwhile
            submission.future.set_result(Scores(values, scored, waited, submission.inference))

    def _reject(self, batch: _Packed) -> None:
        error = batch.error
        if not isinstance(error, EntailgridError):
            error = ModelError(f"the forward pass failed: {type(error).__name__}: {error}")
        with self._lock:
            failed = list(dict.fromkeys(submission for item in batch.items for submission in item.waiters))
            for item in batch.items:
                self._forget(item)
            self._retire(failed)
        for submission in failed:
            with suppress(InvalidStateError):
                submission.future.set_exception(error)

    def _retire(self, submissions: Sequence[Submission]) -> None:
        """Take submissions out of the queue, and with them the inputs that nobody else waits for."""
        for submission in submissions:
            self._policy.discard(submission)
            for item in submission.items:
                if submission in item.waiters:
                    item.waiters.remove(submission)
                if item.queued and not item.waiters:
                    self._unqueue(item)
                    self._forget(item)
        if submissions:
            self._lock.notify_all()

    def _forget(self, item: Item) -> None:
        if item.key is not None and self._inflight.get((item.lane, item.key)) is item:
            del self._inflight[item.lane, item.key]

    # --- the end ----------------------------------------------------------------------------------------------------

    def _guarded(self, loop: Callable[[], None]) -> None:
        clean = False
        try:
            loop()
            clean = self._stopped is not None and not self._dead
        finally:
            if not clean:
                self._fail_all(EngineStopped("the device thread stopped"))

    def _fail_all(self, error: EngineStopped) -> None:
        with self._lock:
            self._dead, self._stopped = True, error
            batches = [batch for batch in (self._ready, self._running, *self._finished) if batch is not None]
            pending = dict.fromkeys(self._policy.waiting())
            pending.update(dict.fromkeys(one for batch in batches for item in batch.items for one in item.waiters))
            for submission in pending:
                self._policy.discard(submission)
            self._inflight.clear()
            self._lock.notify_all()
        for submission in pending:
            with suppress(InvalidStateError):
                submission.future.set_exception(error)


def _pack(items: Sequence[Item]) -> _Packed:
    input_ids, cu_seqlens = pack([item.sequence.input_ids for item in items])
    type_ids, _ = pack([item.sequence.token_type_ids for item in items])
    return _Packed(items[0].lane, items, input_ids, cu_seqlens, type_ids)
