"""The errors that entailgrid raises.

EntailgridError
|- InvalidTrace       the input is not what the contract asks for (`where` names file, line or field)
|- PayloadTooLarge    a trace above the configured limit
|- Overloaded         not admitted; try again after `retry_after` seconds
|- DeadlineExceeded   the budget was already spent on arrival
|- ModelError         a model file is missing, altered or failed
|- CacheUnavailable   a cache store that was asked to delete or check its entries is out of reach
`- EngineStopped      the verifier was closed or its device thread died
"""

from __future__ import annotations


class EntailgridError(Exception):
    """Base of every error that entailgrid raises on purpose."""


class InvalidTrace(EntailgridError):
    """Input that does not follow the contract.

    `where` names the place (`traces.jsonl:7`, `sources[2].id`), `problem` says what is wrong and what was expected.
    """

    def __init__(self, problem: str, where: str = "") -> None:
        self.problem = problem
        self.where = where
        super().__init__(f"{where}: {problem}" if where else problem)

    def at(self, place: str) -> InvalidTrace:
        """The same error with `place` before its position."""
        return InvalidTrace(self.problem, f"{place}: {self.where}" if self.where else place)


class PayloadTooLarge(InvalidTrace):
    """A trace above `max_trace_bytes`."""

    def at(self, place: str) -> PayloadTooLarge:
        return PayloadTooLarge(self.problem, f"{place}: {self.where}" if self.where else place)


class Overloaded(EntailgridError):
    """The request was not admitted; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class DeadlineExceeded(EntailgridError):
    """The latency budget was spent before the request arrived."""


class ModelError(EntailgridError):
    """A model could not be loaded, or a forward pass failed."""


class CacheUnavailable(EntailgridError):
    """The store behind the cache cannot be reached or written; what was asked of it has not been done."""


class EngineStopped(EntailgridError):
    """The engine no longer accepts or finishes work."""
