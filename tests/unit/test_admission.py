"""Admission: what cannot finish in time is refused at once, and only that."""

from __future__ import annotations

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entailgrid.errors import Overloaded
from entailgrid.inference.admission import Admission, Reservation, Size
from entailgrid.inference.cost import CostModel
from entailgrid.inference.metrics import Metrics
from entailgrid.inference.scheduler import Lane, Submission

METRICS = Metrics(1024)
SIZE = Size(answer=100, text=1000, sources=2)


def admission(waiting: list[Submission] | None = None, queue_tokens: int = 10**9) -> Admission:
    return Admission(lambda: waiting or [], CostModel(), 1024, queue_tokens, METRICS)


def brought(lane: Lane, tokens: int) -> Submission:
    return Submission(lane, 1, math.inf, 0.0, [], tokens_missing=tokens)


def work(count: int = 1) -> float:
    """Seconds of `count` requests of SIZE before anything was learned."""
    return CostModel().work(count * (0.3 * 1100 + 1.5 * 200), 0, 1024)


def test_a_request_that_fits_is_let_in_and_one_that_does_not_is_told_when() -> None:
    made = admission()
    made.admit(SIZE, 1, work() + 0.02, 0.0)
    with pytest.raises(Overloaded) as refusal:
        made.admit(SIZE, 1, work() + 0.02, 0.0)
    made.admit(SIZE, 1, work() + 0.02 + refusal.value.retry_after, 0.0)


def test_what_is_less_urgent_is_no_obstacle() -> None:
    made = admission()
    for _ in range(50):
        made.admit(SIZE, 2, math.inf, 0.0)
    made.admit(SIZE, 1, work() + 0.02, 0.0)


def test_what_would_be_late_even_alone_may_try() -> None:
    made = admission()
    made.admit(SIZE, 1, work() / 2, 0.0)


def test_nobody_is_let_in_at_the_cost_of_one_who_was() -> None:
    made = admission()
    made.admit(SIZE, 1, work() + 0.02, 0.0)
    with pytest.raises(Overloaded):
        made.admit(SIZE, 0, 10.0, 0.0)


def test_the_queue_is_bounded() -> None:
    made = admission(queue_tokens=2000)
    first = made.admit(SIZE, 1, math.inf, 0.0)
    for _ in range(2):
        made.admit(SIZE, 1, math.inf, 0.0)
    with pytest.raises(Overloaded, match="at most 2000"):
        made.admit(SIZE, 1, math.inf, 0.0)
    made.end(first)
    made.admit(SIZE, 1, math.inf, 0.0)


def test_one_request_alone_is_never_too_large_for_the_queue() -> None:
    admission(queue_tokens=10).admit(SIZE, 1, math.inf, 0.0)


def test_what_was_brought_to_the_queue_is_not_counted_twice() -> None:
    submission = brought("classify", 300)
    waiting: list[Submission] = []
    made = admission(waiting, queue_tokens=1200)
    room = made.admit(SIZE, 1, math.inf, 0.0)
    waiting.append(submission)
    room.submitted(submission)
    made.admit(SIZE, 1, math.inf, 0.0)


def test_it_learns_what_requests_bring() -> None:
    made = admission()
    for _ in range(200):
        room = made.admit(SIZE, 1, math.inf, 0.0)
        room.submitted(brought("embed", 11))
        room.submitted(brought("classify", 20))
        made.end(room, overhead=0.001)
    made.admit(SIZE, 1, CostModel().work(31, 0, 1024) * 1.2 + 0.001, 0.0)
    with pytest.raises(Overloaded):
        made.admit(SIZE, 1, CostModel().work(31, 0, 1024) * 1.2 + 0.001, 0.0)


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0.001, 5.0)), max_size=30))
def test_all_who_are_let_in_can_finish_in_time(arrivals: list[tuple[int, float]]) -> None:
    """In the order in which the scheduler serves them, by the same cost model."""
    made, admitted = admission(), list[Reservation]()
    for priority, deadline in arrivals:
        with suppress(Overloaded):
            admitted.append(made.admit(SIZE, priority, deadline, 0.0))
    admitted = [one for one in admitted if one.deadline >= work() + 0.01]  # the others get what is left over
    admitted.sort(key=lambda one: (one.priority, one.deadline))
    for number, one in enumerate(admitted, start=1):
        assert work(number) <= one.deadline + 1e-9
