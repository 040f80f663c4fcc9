"""The device thread: every submission is answered exactly once, whatever happens."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, wait
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from entailgrid.errors import EngineStopped, ModelError
from entailgrid.inference.cost import CostModel
from entailgrid.inference.metrics import Metrics
from entailgrid.inference.runner import Forward, Runner
from entailgrid.inference.scheduler import Lane, Scheduler, SchedulingLimits, Scores, Sequence1d

Array = NDArray[np.int64]


def sequence(value: int, length: int = 4) -> Sequence1d:
    return Sequence1d(np.full(length, value, np.int64), np.zeros(length, np.int64))


class Device:
    """A forward that waits at a gate; records the batches that it saw as lists of (value, length)."""

    def __init__(self, *, open_: bool = True) -> None:
        self.gate, self.entered = threading.Event(), threading.Event()
        self.batches: list[list[tuple[int, int]]] = []
        self.fail_on: dict[int, BaseException] = {}
        self.output: float | None = None
        if open_:
            self.gate.set()

    def __call__(self, ids: Array, edges: Array, types: Array | None) -> NDArray[np.float32]:
        rows = [ids[a:b] for a, b in pairwise(edges)]
        self.batches.append([(int(row[0]), len(row)) for row in rows])
        self.entered.set()
        assert self.gate.wait(20)
        for row in rows:
            if error := self.fail_on.get(int(row[0])):
                raise error
        return np.array([[row[0] if self.output is None else self.output, len(row)] for row in rows], np.float32)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def runner(device: Forward, budget: int = 16, clock: Clock | None = None) -> Runner:
    costs: dict[Lane, CostModel] = {"embed": CostModel(), "classify": CostModel()}
    scheduler = Scheduler(SchedulingLimits(token_budget=budget), costs)
    return Runner(
        {"embed": device, "classify": device}, scheduler, costs, Metrics(budget), **({"clock": clock} if clock else {})
    )


def held(budget: int = 16, clock: Clock | None = None) -> tuple[Device, Runner, Future[Scores]]:
    """A runner whose device is busy with one lone sequence: what is submitted now waits in the queue."""
    device = Device(open_=False)
    made = runner(device, budget, clock)
    first = made.submit("classify", [sequence(99)]).future
    assert device.entered.wait(20)
    return device, made, first


def test_rows_come_back_in_order() -> None:
    made = runner(Device())
    scores = made.submit("classify", [sequence(value, 1 + value % 5) for value in range(40)]).future.result(20)
    assert scores.values[:, 0].tolist() == list(range(40))
    assert scores.values[:, 1].tolist() == [1 + value % 5 for value in range(40)]
    assert scores.scored.all()
    made.close()


def test_nothing_submitted_is_answered_at_once() -> None:
    made = runner(Device())
    assert len(made.submit("embed", []).future.result(0).values) == 0
    made.close()


def test_the_budget_holds_but_for_a_lone_sequence() -> None:
    device, made, first = held(budget=16)
    futures = [
        made.submit("classify", [sequence(value, length)]).future for value, length in enumerate([3, 40, 8, 1, 8, 5, 16, 2])
    ]
    device.gate.set()
    wait([first, *futures], 20)
    for batch in device.batches:
        assert len(batch) == 1 or len(batch) * max(length for _, length in batch) <= 16
    assert sum(map(len, device.batches)) == 9
    made.close()


def test_lanes_are_never_mixed() -> None:
    device, made, _ = held()
    futures = [made.submit("embed" if value % 2 else "classify", [sequence(value)]).future for value in range(8)]
    device.gate.set()
    wait(futures, 20)
    assert all(len({value % 2 for value, _ in batch}) == 1 for batch in device.batches[1:])
    made.close()


def test_the_urgent_run_first() -> None:
    device, made, _ = held(budget=4)
    late_by = time.monotonic() + 1000
    low = made.submit("classify", [sequence(3)], priority=2).future
    late = made.submit("classify", [sequence(2)], priority=1, deadline=late_by).future
    soon = made.submit("classify", [sequence(1)], priority=1, deadline=late_by - 1).future
    high = made.submit("classify", [sequence(0)], priority=0).future
    device.gate.set()
    wait([low, late, soon, high], 20)
    assert [batch[0][0] for batch in device.batches[1:]] == [0, 1, 2, 3]
    made.close()


def test_expired_work_is_dropped_and_said_so() -> None:
    clock = Clock()
    device, made, first = held(budget=4, clock=clock)
    gone = made.submit("classify", [sequence(1), sequence(2)], deadline=5).future
    kept = made.submit("classify", [sequence(3)], deadline=50).future
    clock.now = 10.0
    device.gate.set()
    assert not gone.result(20).scored.any()
    assert kept.result(20).scored.all()
    assert first.result(20).scored.all()
    assert [batch for batch in device.batches[1:] if batch] == [[(3, 4)]]
    made.close()


@pytest.mark.parametrize("error", [RuntimeError("out of memory"), ModelError("bad"), MemoryError()])
def test_a_failed_batch_answers_every_submission_in_it(error: Exception) -> None:
    device, made, first = held(budget=16)
    device.fail_on = {1: error}
    many = made.submit("classify", [sequence(1), sequence(2, 4), *(sequence(5, 3) for _ in range(30))]).future
    beside = made.submit("classify", [sequence(2, 4)]).future
    device.gate.set()
    for future in (many, beside):
        if future is many or future.exception(20) is not None:
            with pytest.raises(ModelError):
                future.result(20)
    assert first.result(20).scored.all()
    device.fail_on = {}
    assert made.alive
    assert made.submit("classify", [sequence(7)]).future.result(20).scored.all()
    made.close()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_an_error(value: float) -> None:
    device = Device()
    device.output = value
    made = runner(device)
    with pytest.raises(ModelError, match="finite"):
        made.submit("classify", [sequence(1)]).future.result(20)
    made.close()


def test_a_forward_that_returns_too_few_rows_is_an_error() -> None:
    made = runner(lambda ids, edges, types: np.zeros((0, 3), np.float32))
    with pytest.raises((ModelError, EngineStopped)):
        made.submit("classify", [sequence(1)]).future.result(20)
    made.close()


def test_close_finishes_what_was_submitted() -> None:
    device, made, first = held(budget=4)
    futures = [made.submit("classify", [sequence(value)]).future for value in range(10)]
    closing = threading.Thread(target=made.close)
    closing.start()
    device.gate.set()
    closing.join(20)
    assert all(future.done() and future.result().scored.all() for future in [first, *futures])
    assert not made.alive
    with pytest.raises(EngineStopped):
        made.submit("classify", [sequence(1)])
    made.close()


class Death(BaseException):
    """Not an Exception: it kills the device thread."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_thread_fails_fast() -> None:
    device, made, first = held(budget=4)
    device.fail_on = {99: Death()}
    waiting = [made.submit("classify", [sequence(value)]).future for value in range(5)]
    device.gate.set()
    for future in [first, *waiting]:
        with pytest.raises(EngineStopped):
            future.result(20)
    with pytest.raises(EngineStopped):
        made.submit("classify", [sequence(1)])
    made.close()
    assert not made.alive


def test_many_threads_get_their_own_rows() -> None:
    device = Device()
    made = runner(device, budget=64)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for _ in range(30):
            values = generator.integers(0, 10_000, generator.integers(1, 12)).tolist()
            rows = [sequence(value, 1 + value % 20) for value in values]
            scores = made.submit("embed" if seed % 2 else "classify", rows, priority=seed % 3).future.result(20)
            if scores.values[:, 0].tolist() != values or not scores.scored.all():
                wrong.append(values)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not wrong
    assert all(len(batch) == 1 or len(batch) * max(length for _, length in batch) <= 64 for batch in device.batches)
    made.close()


def test_a_cancelled_future_harms_nobody() -> None:
    device, made, first = held(budget=16)
    gone = made.submit("classify", [sequence(1)]).future
    kept = made.submit("classify", [sequence(2)]).future
    gone.cancel()
    device.gate.set()
    assert kept.result(20).values[0, 0] == 2
    assert first.result(20).scored.all()
    assert made.submit("classify", [sequence(3)]).future.result(20).scored.all()
    made.close()


def test_equal_keys_in_flight_are_computed_once() -> None:
    device, made, _ = held(budget=16)
    first = made.submit("classify", [sequence(1), sequence(2)], keys=["a", "b"], priority=2)
    second = made.submit("classify", [sequence(1), sequence(3), sequence(1)], keys=["a", None, "a"], priority=0)
    other_lane = made.submit("embed", [sequence(1)], keys=["a"])
    device.gate.set()
    assert first.future.result(20).values[:, 0].tolist() == [1, 2]
    assert second.future.result(20).values[:, 0].tolist() == [1, 3, 1]
    assert other_lane.future.result(20).scored.all()
    seen = [value for batch in device.batches for value, _ in batch]
    assert seen.count(1) == 2  # once in each lane
    assert made.submit("classify", [sequence(1)], keys=["a"]).future.result(20).scored.all()
    assert [value for batch in device.batches for value, _ in batch].count(1) == 3  # no longer in flight
    made.close()


def test_a_shared_input_outlives_the_one_who_asked_first() -> None:
    device, made, _ = held(budget=4)
    gone = made.submit("classify", [sequence(1), sequence(2)], keys=["a", "b"])
    kept = made.submit("classify", [sequence(1)], keys=["a"])
    made.cancel(gone)
    assert not gone.future.result(20).scored.any()
    device.gate.set()
    assert kept.future.result(20).values[0, 0] == 1
    assert 2 not in [value for batch in device.batches for value, _ in batch]
    made.close()


def test_a_submission_that_only_waits_for_others_inputs_expires_too() -> None:
    clock = Clock()
    device, made, first = held(budget=4, clock=clock)
    running = made.submit("classify", [sequence(99)], keys=["x"])
    late = made.submit("classify", [sequence(99)], keys=["x"], deadline=5)
    clock.now = 6.0
    device.gate.set()
    assert not late.future.result(20).scored.any()
    assert running.future.result(20).scored.all()
    assert first.result(20).scored.all()
    made.close()
