"""Random schedules with cancels, failures and expiries: every submission ends exactly once, with its own rows or none."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from entailgrid.errors import ModelError
from entailgrid.inference.cost import CostModel
from entailgrid.inference.metrics import Metrics
from entailgrid.inference.runner import Runner
from entailgrid.inference.scheduler import Lane, Scheduler, SchedulingLimits, Sequence1d, Submission

BUDGET = 32
METRICS = Metrics(BUDGET)


class World:
    """A clock and a device, both driven by one seed. A row is (value, length); value 13 fails now and then."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.largest = 0

    def clock(self) -> float:
        return self.now

    def forward(self, ids: NDArray[np.int64], edges: NDArray[np.int64], types: NDArray[np.int64] | None) -> NDArray[np.float32]:
        rows = [ids[a:b] for a, b in pairwise(edges)]
        if len(rows) > 1:
            self.largest = max(self.largest, len(rows) * max(map(len, rows)))
        self.now += 0.01 * len(rows)
        if any(row[0] == 13 for row in rows) and self.random.random() < 0.5:
            raise RuntimeError("the device failed")
        return np.array([[row[0], len(row)] for row in rows], np.float32)


def run(seed: int) -> None:
    world = World(seed)
    costs: dict[Lane, CostModel] = {"embed": CostModel(), "classify": CostModel()}
    scheduler = Scheduler(SchedulingLimits(token_budget=BUDGET, ageing=0.1), costs)
    runner = Runner({"embed": world.forward, "classify": world.forward}, scheduler, costs, METRICS, world.clock)
    choose = random.Random(seed + 1)
    made: list[tuple[Submission, list[int], list[int]]] = []
    answers: list[int] = []
    for number in range(choose.randint(1, 8)):
        values = [choose.randint(0, 20) for _ in range(choose.randint(1, 6))]
        lengths = [1 + value % 7 if value else 40 for value in values]
        submission = runner.submit(
            choose.choice(("embed", "classify")),
            [Sequence1d(np.full(n, v, np.int64), np.zeros(n, np.int64)) for v, n in zip(values, lengths, strict=True)],
            keys=[value if value % 3 else None for value in values],
            priority=choose.randint(0, 2),
            deadline=choose.choice((math.inf, world.now + choose.uniform(0, 0.3))),
        )
        submission.future.add_done_callback(lambda _, number=number: answers.append(number))  # type: ignore[misc]
        made.append((submission, values, lengths))
        if choose.random() < 0.2:
            runner.cancel(choose.choice(made)[0])
    runner.close()
    assert sorted(answers) == list(range(len(made)))
    assert world.largest <= BUDGET
    assert not list(scheduler.waiting())
    assert runner.queued_items == runner.queued_tokens == 0
    assert not runner._inflight
    for submission, values, lengths in made:
        if error := submission.future.exception():
            assert isinstance(error, ModelError)
            continue
        scores = submission.future.result()
        for row, done, value, length in zip(scores.values, scores.scored, values, lengths, strict=True):
            assert not done or row.tolist() == [value, length]


@pytest.mark.parametrize("first", range(0, 10_000, 1000))
def test_ten_thousand_schedules(first: int) -> None:
    for seed in range(first, first + 1000):
        run(seed)
