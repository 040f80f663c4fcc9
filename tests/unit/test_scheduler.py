"""Which work the device gets next: pure decisions, so every case is a list of submissions and a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entailgrid.inference.cost import CostModel
from entailgrid.inference.scheduler import Item, Lane, Scheduler, SchedulingLimits, Sequence1d, Submission

LIMITS = SchedulingLimits(token_budget=64, ageing=5.0, patience=30.0)


def item(length: int, lane: Lane = "classify") -> Item:
    return Item(lane, Sequence1d(np.ones(length, np.int64), np.zeros(length, np.int64)))


class Queue:
    """A scheduler, and the bookkeeping that the runner does around it."""

    def __init__(self, limits: SchedulingLimits = LIMITS) -> None:
        costs: dict[Lane, CostModel] = {"embed": CostModel(), "classify": CostModel()}
        self.scheduler = Scheduler(limits, costs)
        self.orders = 0

    def add(
        self, *lengths: int, priority: int = 1, deadline: float = math.inf, arrived: float = 0.0, lane: Lane = "classify"
    ) -> Submission:
        self.orders += 1
        made = Submission(lane, priority, deadline, arrived, [item(length, lane) for length in lengths], self.orders)
        made.missing, made.tokens_missing = len(lengths), sum(lengths)
        for one in made.items:
            one.waiters.append(made)
        self.scheduler.add(made)
        return made

    def take(self, now: float = 0.0) -> list[Submission]:
        """Whose inputs the next batch holds, in order of choice."""
        batch = self.scheduler.next_batch(now)
        for one in batch.items:
            one.queued = False
        return [one.waiters[0] for one in batch.items]


def test_priority_then_deadline_then_arrival() -> None:
    queue = Queue()
    low = queue.add(64, priority=2, deadline=100)
    late = queue.add(64, deadline=200)
    soon = queue.add(64, deadline=100)
    first, second = queue.add(64, priority=0), queue.add(64, priority=0)
    assert [queue.take()[0] for _ in range(5)] == [first, second, soon, late, low]
    assert queue.take() == []


def test_waiting_raises_the_priority() -> None:
    queue = Queue()
    old = queue.add(64, priority=2, arrived=0.0)
    new = queue.add(64, priority=1, arrived=9.0)
    assert queue.scheduler.level(old, 4.9) == 2
    assert queue.scheduler.level(old, 5.1) == 1
    assert queue.take(9.5) == [old]
    assert queue.take(9.5) == [new]


def test_a_request_without_a_deadline_becomes_due() -> None:
    queue = Queue()
    patient = queue.add(64, priority=0, arrived=0.0)
    queue.add(64, priority=0, arrived=25.0, deadline=31.0)
    assert queue.take(25.0)[0] is patient


def test_what_cannot_finish_waits_for_what_can() -> None:
    queue = Queue()
    doomed = queue.add(*[64] * 200, deadline=0.01)
    feasible = queue.add(64, deadline=10.0)
    assert queue.take(0.0) == [feasible]
    assert queue.take(0.0) == [doomed]


def test_guests_leave_the_head_its_latest_safe_start() -> None:
    queue = Queue(SchedulingLimits(token_budget=640))
    cost = CostModel()
    tight = queue.add(10, deadline=cost.work(10, 1, 640) + 1e-4)
    queue.add(*[10] * 60, deadline=100.0)
    assert queue.take(0.0) == [tight]
    easy = queue.add(10, deadline=1.0)
    taken = queue.take(0.0)
    assert taken[0] is easy
    assert len(taken) > 1


def test_lower_priorities_fill_what_the_higher_leave() -> None:
    queue = Queue()
    high, low = queue.add(16, priority=0), queue.add(16, 8, 8, 40, priority=2)
    assert queue.take() == [high, low, low, low]
    assert queue.take() == [low]


def test_lanes_share_one_order() -> None:
    queue = Queue()
    pairs, texts = queue.add(8, deadline=9.0), queue.add(8, deadline=5.0, lane="embed")
    assert queue.take() == [texts]
    assert queue.take() == [pairs]


ARRIVALS = st.lists(
    st.tuples(
        st.lists(st.integers(1, 80), min_size=1, max_size=6),
        st.integers(0, 2),
        st.one_of(st.just(math.inf), st.floats(0.1, 60)),
        st.floats(0, 20),
    ),
    min_size=1,
    max_size=12,
)


@given(ARRIVALS, st.floats(0, 40))
def test_batches_respect_budget_and_priority_and_lose_nothing(
    arrivals: list[tuple[list[int], int, float, float]], now: float
) -> None:
    queue = Queue()
    for lengths, priority, deadline, arrived in arrivals:
        queue.add(*lengths, priority=priority, deadline=deadline, arrived=min(arrived, now))
    total = sum(len(lengths) for lengths, *_ in arrivals)
    taken = 0
    while batch := queue.scheduler.next_batch(now).items:
        assert len(batch) == 1 or len(batch) * max(map(len, batch)) <= 64
        waiting = [one for one in queue.scheduler.waiting() if one.queued]
        best = min(queue.scheduler.level(one, now) for one in waiting)
        assert queue.scheduler.level(batch[0].waiters[0], now) == best
        assert len(set(batch)) == len(batch)
        for one in batch:
            assert one.queued
            one.queued = False
        taken += len(batch)
    assert taken == total


@given(st.floats(1e-4, 5e-2), st.floats(1e-6, 1e-3), st.floats(0, 1e-3), st.integers(0, 2**31))
def test_the_cost_model_finds_the_cost(a: float, b: float, c: float, seed: int) -> None:
    generator, model = np.random.default_rng(seed), CostModel()
    for _ in range(400):
        tokens, rows = int(generator.integers(8, 2048)), int(generator.integers(1, 64))
        model.observe(tokens, rows, a + b * tokens + c * rows)
    for tokens, rows in ((64, 2), (1024, 16), (2000, 60)):
        assert model.seconds(tokens, rows) == pytest.approx(a + b * tokens + c * rows, rel=0.05, abs=1e-4)


def test_one_stall_does_not_spoil_the_cost_model() -> None:
    model = CostModel()
    for _ in range(200):
        model.observe(1000, 10, 0.1)
    model.observe(1000, 10, 30.0)
    assert model.seconds(1000, 10) < 0.2
