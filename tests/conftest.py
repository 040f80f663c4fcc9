"""Fixtures that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from entailgrid import Verifier


@pytest.fixture(scope="session")
def verifier() -> Iterator[Verifier]:
    """One verifier on the shipped models for the whole session."""
    with Verifier() as shared:
        yield shared
