"""What the device does next: pure decisions over the submissions that wait, `now` among the arguments."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from entailgrid.inference.cost import CostModel

Lane = Literal["embed", "classify"]


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


@dataclass(slots=True, eq=False)
class Item:
    """One model input and every submission that waits for it: equal keys in flight share one item."""

    lane: Lane
    sequence: Sequence1d
    key: Hashable | None = None
    waiters: list[Submission] = field(default_factory=list)
    queued: bool = True
    row: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.sequence)


@dataclass(slots=True, eq=False)
class Submission:
    """Inputs that one request waits for. `deadline` and `arrived` in seconds of the monotonic clock; `order` breaks ties."""

    lane: Lane
    priority: int
    deadline: float
    arrived: float
    items: list[Item]
    order: int = 0
    future: Future[Scores] = field(default_factory=Future)
    missing: int = 0
    tokens_missing: int = 0
    started: float | None = None
    inference: float = 0.0

    @property
    def queued(self) -> list[Item]:
        return [item for item in self.items if item.queued]


@dataclass(frozen=True, slots=True)
class Batch:
    """Items of one lane for one forward pass, or none; `wait`: seconds that a policy with a timer wants to pass before it is
    asked again (ours has none)."""

    items: tuple[Item, ...] = ()
    wait: float = 0.0


class BatchPolicy(Protocol):
    """Chooses batches for the runner, which calls it under its lock and takes what it chose out of the queue."""

    def add(self, submission: Submission) -> None: ...

    def discard(self, submission: Submission) -> None: ...

    def next_batch(self, now: float) -> Batch: ...

    def waiting(self) -> Iterable[Submission]: ...


@dataclass(frozen=True, slots=True)
class SchedulingLimits:
    """`token_budget`: tokens of a batch, padding counted. `ageing`: seconds of waiting after which a submission rises one
    priority. `patience`: seconds after which one without a deadline counts as due. `window`: batches' worth of the most urgent
    tokens among which lengths are matched."""

    token_budget: int = 1024
    ageing: float = 5.0
    patience: float = 30.0
    window: int = 4


class Scheduler:
    """Earliest deadline first within priority, lengths matched within a window of the most urgent.

    - A submission rises one priority for every `ageing` seconds that it waits, so none starves.
    - One that can no longer finish in time by the cost model uses only what the others of its priority leave.
    - A batch is led by the longest input of the most urgent submission. Others join up to the token budget, of its priority
      first, and no more of them than leave the leader's submission its latest safe start.
    """

    def __init__(self, limits: SchedulingLimits, costs: Mapping[Lane, CostModel]) -> None:
        self.limits = limits
        self._costs = costs
        self._waiting: dict[Submission, None] = {}

    def add(self, submission: Submission) -> None:
        self._waiting[submission] = None

    def discard(self, submission: Submission) -> None:
        self._waiting.pop(submission, None)

    def waiting(self) -> Iterable[Submission]:
        return self._waiting

    def level(self, submission: Submission, now: float) -> int:
        """Priority after ageing; 0 is served first."""
        return max(0, submission.priority - int((now - submission.arrived) / self.limits.ageing))

    def due(self, submission: Submission) -> float:
        return submission.deadline if submission.deadline < float("inf") else submission.arrived + self.limits.patience

    def next_batch(self, now: float) -> Batch:
        ranked = self._ranked(now)
        if not ranked:
            return Batch()
        head = ranked[0][1]
        return Batch(self._fill(head, [(level, one) for (level, *_), one in ranked if one.lane == head.lane], now))

    def _ranked(self, now: float) -> list[tuple[tuple[int, bool, float, int], Submission]]:
        ranked = []
        for one in self._waiting:
            if any(item.queued for item in one.items):
                doomed = one.deadline < float("inf") and now + self._work(one) > one.deadline
                ranked.append(((self.level(one, now), doomed, self.due(one), one.order), one))
        ranked.sort(key=lambda entry: entry[0])
        return ranked

    def _work(self, submission: Submission) -> float:
        cost = self._costs[submission.lane]
        return cost.work(submission.tokens_missing, submission.missing, self.limits.token_budget)

    def _fill(self, head: Submission, ranked: Sequence[tuple[int, Submission]], now: float) -> tuple[Item, ...]:
        lead = max(head.queued, key=len)
        chosen: dict[Item, None] = {lead: None}
        rows = max(1, self.limits.token_budget // len(lead))
        guests = self._guests(head, len(lead), now)
        for _, group in itertools.groupby(ranked, key=lambda entry: entry[0]):
            for item in self._window((one for _, one in group), len(lead)):
                if len(chosen) == rows:
                    break
                if item in chosen:
                    continue
                own = head in item.waiters
                if own or guests >= 1:
                    chosen[item] = None
                    guests -= 0 if own else 1
        return tuple(chosen)

    def _guests(self, head: Submission, length: int, now: float) -> float:
        """How many inputs of others fit before the latest safe start of the head's own work."""
        slack = head.deadline - now - self._work(head)
        if slack == float("inf") or slack < 0:
            return float("inf")  # no deadline, or none that could still be met
        _, b, c = self._costs[head.lane].coefficients
        return slack / (b * length + c)

    def _window(self, submissions: Iterable[Submission], longest: int) -> list[Item]:
        """The most urgent inputs no longer than `longest`, longest first."""
        found: dict[Item, None] = {}
        tokens = 0
        for submission in submissions:
            for item in submission.queued:
                if item not in found and len(item) <= longest:
                    found[item] = None
                    tokens += len(item)
            if tokens >= self.limits.window * self.limits.token_budget:
                break
        return sorted(found, key=len, reverse=True)
