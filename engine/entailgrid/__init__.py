"""Verifies the answers of tool-using agents: is each claim supported, and by the very source that it cites?"""

from typing import TYPE_CHECKING, Any

from entailgrid.errors import (
    DeadlineExceeded,
    EngineStopped,
    EntailgridError,
    InvalidTrace,
    ModelError,
    Overloaded,
    PayloadTooLarge,
)
from entailgrid.types import Report, Source, Trace

if TYPE_CHECKING:
    from entailgrid.verdict.policy import Policy
    from entailgrid.verifier import Verifier

__version__ = "0.1.0"
__all__ = [
    "DeadlineExceeded",
    "EngineStopped",
    "EntailgridError",
    "InvalidTrace",
    "ModelError",
    "Overloaded",
    "PayloadTooLarge",
    "Policy",
    "Report",
    "Source",
    "Trace",
    "Verifier",
]


def __getattr__(name: str) -> Any:
    """`Verifier` and `Policy` on first use: importing the package stays cheap."""
    if name == "Verifier":
        from entailgrid.verifier import Verifier

        return Verifier
    if name == "Policy":
        from entailgrid.verdict.policy import Policy

        return Policy
    raise AttributeError(f"module 'entailgrid' has no attribute {name!r}")
