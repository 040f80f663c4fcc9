"""Fixtures that several test modules share."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from entailgrid import Verifier
from redis_server import start_redis

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


@pytest.fixture
def redis_port(tmp_path: Path) -> Iterator[int]:
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    server = start_redis(port, tmp_path)
    yield port
    server.terminate()
    server.wait(20)
