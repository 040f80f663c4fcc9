"""Which requests are let in: those whose estimated finish lies before their deadline, while the queue has room."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from entailgrid.errors import Overloaded
from entailgrid.inference.cost import CostModel
from entailgrid.inference.metrics import Metrics
from entailgrid.inference.scheduler import Lane, Submission

_LEARNING = 0.1
"""Weight of the last request in the moving averages."""
_SHORTEST_RETRY = 0.05


@dataclass(frozen=True, slots=True)
class Size:
    """What is known of a request before any work on it: characters of its answer and of its sources, number of sources."""

    answer: int
    text: int
    sources: int


@dataclass(slots=True, eq=False)
class Reservation:
    """Room held for one request. `embed` and `classify`: tokens that it has not brought to the queue yet, as estimated.
    `queued`: what it waits for now; `cancelled`: nobody waits for it any more."""

    priority: int
    deadline: float
    size: Size
    embed: float
    classify: float
    queued: Submission | None = None
    cancelled: bool = False
    brought: dict[Lane, int] = field(default_factory=lambda: {"embed": 0, "classify": 0})

    def submitted(self, submission: Submission) -> None:
        lane, tokens = submission.lane, submission.tokens_missing
        self.queued = submission
        self.brought[lane] += tokens
        self.embed = 0.0
        if lane == "classify":
            self.classify = 0.0


class Admission:
    """Estimates from what stands in the queue, what admitted requests will still bring, and the cost model.

    A request brings tokens in proportion to its characters (router) and to answer characters times sources (cross-encoder);
    both factors are moving averages over the requests that ended, cache hits included.

    A request that would be late even on an idle device is let in where it delays nobody: waiting would not help it, and what
    can be scored in its time may decide it. The scheduler serves it after those that can still finish.
    """

    def __init__(
        self,
        waiting: Callable[[], Iterable[Submission]],
        cost: CostModel,
        token_budget: int,
        queue_tokens: int,
        metrics: Metrics,
    ) -> None:
        self._waiting, self._cost, self._metrics = waiting, cost, metrics
        self._token_budget, self._queue_tokens = token_budget, queue_tokens
        self._lock = threading.Lock()
        self._open: dict[Reservation, None] = {}
        self._per_character, self._per_product = 0.3, 1.5
        self._overhead = 0.01
        self._completed = 0

    def admit(self, size: Size, priority: int, deadline: float, now: float) -> Reservation:
        """Raises Overloaded, with the seconds after which the same request would fit."""
        with self._lock:
            embed, classify = self._per_character * (size.answer + size.text), self._per_product * size.answer * size.sources
            new = Reservation(priority, deadline, size, embed, classify)
            load = self._load()
            total = sum(tokens for _, _, tokens in load)
            if total + embed + classify > self._queue_tokens and total > 0:
                self._metrics.refused("queue_full")
                excess = total + embed + classify - self._queue_tokens
                raise Overloaded(
                    f"the queue holds {total:.0f} tokens of at most {self._queue_tokens}", self._retry(self._seconds(excess))
                )
            if late := self._late(new, load, now):
                self._metrics.refused("deadline")
                raise Overloaded(f"would miss the deadline by {late:.3f} s behind {total:.0f} queued tokens", self._retry(late))
            self._open[new] = None
            return new

    def end(self, reservation: Reservation, *, overhead: float | None = None) -> None:
        """The request is over. `overhead`: its seconds outside queue and model, where it ran to its end."""
        with self._lock:
            self._open.pop(reservation, None)
            if overhead is None:
                return
            self._completed += 1
            weight = max(_LEARNING, 1 / self._completed)
            size, brought = reservation.size, reservation.brought
            self._overhead += weight * (overhead - self._overhead)
            self._per_character += weight * (brought["embed"] / max(1, size.answer + size.text) - self._per_character)
            self._per_product += weight * (brought["classify"] / max(1, size.answer * size.sources) - self._per_product)

    def _load(self) -> list[tuple[int, float, float]]:
        """(priority, deadline, tokens) of all that is queued or still to come."""
        queued = [(one.priority, one.deadline, float(one.tokens_missing)) for one in self._waiting()]
        return queued + [(one.priority, one.deadline, one.embed + one.classify) for one in self._open]

    def _late(self, new: Reservation, load: list[tuple[int, float, float]], now: float) -> float:
        """Seconds by which `new`, or the first that it would delay too long, misses its deadline; 0 where none does."""
        own = (new.priority, new.deadline)
        ahead = sum(tokens for priority, deadline, tokens in load if (priority, deadline) <= own)
        done = ahead + new.embed + new.classify
        late = 0.0
        if now + self._seconds(new.embed + new.classify) + self._overhead <= new.deadline:
            late = max(0.0, now + self._seconds(done) + self._overhead - new.deadline)
        for _, deadline, tokens in sorted(entry for entry in load if entry[:2] > own):
            before = now + self._seconds(done - new.embed - new.classify + tokens)
            done += tokens
            if before <= deadline < now + self._seconds(done):  # in time without the new one, late with it
                late = max(late, now + self._seconds(done) - deadline)
        return late

    def _seconds(self, tokens: float) -> float:
        return self._cost.work(tokens, 0, self._token_budget)

    @staticmethod
    def _retry(seconds: float) -> float:
        return max(_SHORTEST_RETRY, seconds)
