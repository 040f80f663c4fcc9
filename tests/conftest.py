"""Fixtures that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from entailgrid import Verifier

settings.register_profile("repeatable", derandomize=True)  # a run that passes here passes there
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def verifier() -> Iterator[Verifier]:
    """One verifier on the shipped models for the whole session."""
    with Verifier() as shared:
        yield shared


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--data", type=Path, help="folder of the development data, for the tests that need it")


@pytest.fixture(scope="session")
def data(request: pytest.FixtureRequest) -> Path:
    """The development data; a test that asks for it is skipped by name without `--data DIR`."""
    folder: Path | None = request.config.getoption("--data")
    if folder is None:
        pytest.skip("needs --data DIR")
    return folder
