"""Every kind of bad input: one clear line on standard error, exit status 3, and nothing on standard output."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from entailgrid.provenance.json_text import MAX_TRACE_BYTES
from entailgrid_models.registry import PRESETS

GOOD = {"answer": "Hello!", "sources": []}
SOURCE = {"id": "a", "text": "x"}


def bad(**changes: object) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


FILES = [
    ("not JSON", "t.json", b"{answer: 1}", "t.json: not JSON"),
    ("binary", "t.json", bytes(range(128, 256)) * 20, "t.json: "),
    ("empty file", "t.json", b"", "t.json: "),
    ("unknown key", "t.json", bad(anwser="x"), 't.json: anwser: unknown key "anwser"; did you mean "answer"?'),
    ("unknown key of a source", "t.json", bad(sources=[{**SOURCE, "txt": "y"}]), "t.json: sources[0].txt: unknown key"),
    ("duplicate id", "t.json", bad(sources=[SOURCE, SOURCE]), "t.json: sources[1].id: 'a' is already the id of"),
    (
        "offsets out of range",
        "t.json",
        bad(citations=[{"start": 0, "end": 7, "source_ids": []}]),
        "t.json: citations[0]: offsets 0..7 are not a span of the answer (0..6 code points)",
    ),
    ("lone surrogate", "t.json", b'{"answer": "\\ud800", "sources": []}', "t.json: answer: holds a lone surrogate U+D8"),
    ("missing field", "t.json", b'{"sources": []}', "t.json: "),
    ("escapes in a key", "t.json", bad(**{"\x1b[31mx": 1}), "t.json: "),
    ("line above the limit", "t.jsonl", b'"' + b"x" * (MAX_TRACE_BYTES + 1) + b'"\n', "t.jsonl:1: larger than the"),
]  # fmt: skip


@pytest.mark.usefixtures("no_verifier")
@pytest.mark.parametrize(("name", "data", "expected"), [case[1:] for case in FILES], ids=[case[0] for case in FILES])
def test_a_bad_file_is_one_line_and_status_3(entailgrid, tmp_path: Path, name: str, data: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    run = entailgrid("verify", path, "--json")
    assert (run.status, run.out) == (3, "")
    assert run.err.startswith(f"error: {tmp_path}/{expected}")
    assert run.err.count("\n") == 1
    assert "\x1b" not in run.err


@pytest.mark.usefixtures("no_verifier")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("verify", "missing.json"), "error: missing.json: no such file"),
        (("verify", "."), "error: .: is a directory; expected a file"),
        (("verify",), "error: Missing argument 'TRACE...'"),
        (("verify", "--bogus", "x.json"), "error: No such option '--bogus'"),
        (("verify", "--profile", "lax", "x.json"), "error: Invalid value for '--profile': 'lax' is not one of"),
        (
            ("verify", "--budget-ms", "0", "x.json"),
            "error: Invalid value for '--budget-ms': 0.0 is not in the range x>0",
        ),
        (("verify", "--budget-ms", "-5", "x.json"), "error: Invalid value for '--budget-ms'"),
        (("verify", "--threads", "0", "x.json"), "error: Invalid value for '--threads'"),
        (("verify", "--answer", "missing.txt", "-"), "error: missing.txt: no such file"),
        (("serve",), "error: No such command 'serve'"),
        (("eval", "missing.jsonl"), "error: missing.jsonl: no such file"),
        (("models", "export", "missing", "out"), "error: missing: no such folder"),
    ],
)
def test_bad_arguments_are_one_line_and_status_3(entailgrid, tmp_path, monkeypatch, arguments, expected) -> None:
    monkeypatch.chdir(tmp_path)
    run = entailgrid(*arguments)
    assert (run.status, run.out) == (3, "")
    assert run.err.startswith(expected)
    assert run.err.count("\n") == 1


def test_no_command_prints_the_help_and_is_status_3(entailgrid) -> None:
    run = entailgrid()
    assert (run.status, run.out) == (3, "")
    assert run.err.startswith("Usage: entailgrid")


def trace_file(folder: Path) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps(GOOD))
    return path


def test_an_altered_model_is_refused(entailgrid, tmp_path: Path) -> None:
    folder = shutil.copytree(PRESETS["embedded"].nli, tmp_path / "model")
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text() + " ")
    run = entailgrid("verify", trace_file(tmp_path), "--model", folder)
    assert (run.status, run.out) == (3, "")
    assert run.err.count("\n") == 1
    assert "tokenizer.json" in run.err


def test_an_unknown_model_is_refused(entailgrid, tmp_path: Path) -> None:
    run = entailgrid("verify", trace_file(tmp_path), "--model", "nope")
    assert (run.status, run.out) == (3, "")
    assert run.err.startswith("error: unknown model 'nope'")


@pytest.mark.parametrize("text", ["uncited = 'maybe'", "unknown = 1", "not toml at all"])
def test_a_bad_policy_is_refused(entailgrid, tmp_path: Path, text: str) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(text)
    run = entailgrid("verify", trace_file(tmp_path), "--policy", policy)
    assert (run.status, run.out) == (3, "")
    assert run.err.startswith(f"error: {policy}: ")
    assert run.err.count("\n") == 1
