"""The command line as a function."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from entailgrid.doors import cli, verifying

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Run:
    """How a command ended. `err` and `out` are what it wrote."""

    status: int
    out: str
    err: str


Command = Callable[..., Run]


@pytest.fixture
def entailgrid(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs the command line in this process, with real models."""

    def run(*arguments: str | Path, stdin: bytes = b"") -> Run:
        monkeypatch.setattr(sys, "argv", ["entailgrid", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfd.readouterr()
        return Run(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def shared_verifier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands use the session's verifier instead of loading their own."""
    verifier = request.getfixturevalue("verifier")
    monkeypatch.setattr(verifying, "open_verifier", lambda _: nullcontext(verifier))


@pytest.fixture
def no_verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad input is refused before any model is loaded."""

    def refuse(_: object) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr(verifying, "open_verifier", refuse)
