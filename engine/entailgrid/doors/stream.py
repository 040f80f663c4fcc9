"""Many traces through one verifier: a bounded number in flight, outcomes in the order of the input."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from dataclasses import dataclass

from entailgrid.errors import EntailgridError, InvalidTrace
from entailgrid.provenance.reading import Document
from entailgrid.types import Report, Stakes
from entailgrid.verifier import IN_FLIGHT, Verifier


@dataclass(frozen=True, slots=True)
class Verified:
    """A document with its report."""

    document: Document
    report: Report


@dataclass(frozen=True, slots=True)
class Failed:
    """A document that could not be read or verified, as one line."""

    problem: str


Outcome = Verified | Failed


@dataclass(frozen=True, slots=True)
class _Pending:
    document: Document
    future: Future[Report]

    def outcome(self) -> Outcome:
        error = self.future.exception()
        if error is None:
            return Verified(self.document, self.future.result())
        known = isinstance(error, EntailgridError)
        problem = str(error) if known else f"internal error: {type(error).__name__}: {error}"
        return Failed(f"{self.document.where}: {self.document.trace.id}: {problem}")


def verified(
    documents: Iterable[Document | InvalidTrace],
    verifier: Callable[[], Verifier],
    *,
    budget_ms: float | None = None,
    stakes: Stakes = "normal",
) -> Generator[Outcome]:
    """One outcome a document, in order. `verifier` is called at the first document that can be read.

    Raises what `verifier` raises; whatever goes wrong with one document is its `Failed` and stops no other.
    """
    waiting: deque[_Pending | Failed] = deque()
    try:
        for item in documents:
            waiting.append(_submitted(item, verifier, budget_ms, stakes))
            while waiting and (len(waiting) >= IN_FLIGHT or _ready(waiting[0])):
                yield _outcome(waiting.popleft())
        while waiting:
            yield _outcome(waiting.popleft())
    finally:
        for entry in waiting:
            if isinstance(entry, _Pending):
                entry.future.cancel()


def _submitted(
    item: Document | InvalidTrace, verifier: Callable[[], Verifier], budget_ms: float | None, stakes: Stakes
) -> _Pending | Failed:
    if isinstance(item, InvalidTrace):
        return Failed(str(item))
    running = verifier()
    try:
        return _Pending(item, running.submit(item.trace, budget_ms=budget_ms, stakes=stakes))
    except EntailgridError as error:
        return Failed(f"{item.where}: {item.trace.id}: {error}")


def _ready(entry: _Pending | Failed) -> bool:
    return isinstance(entry, Failed) or entry.future.done()


def _outcome(entry: _Pending | Failed) -> Outcome:
    return entry if isinstance(entry, Failed) else entry.outcome()
