"""The commands on good input: reports, exit statuses, streams."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest

from entailgrid import InvalidTrace, __version__
from entailgrid.doors import stream, verifying
from entailgrid.provenance.reading import Document, read_documents
from entailgrid.types import Report

OPEN_VERIFIER = verifying.open_verifier
EXAMPLES = Path(__file__).parents[2] / "examples"
ALLOWED = {"answer": "Hello!", "sources": []}
BLOCKED = json.loads((EXAMPLES / "refund-window.json").read_text())
ABSTAINED = {"answer": "The warranty ends on 31 December 2028.", "sources": []}
EVIL = "\x1b[31mred\x1b[0m \x9b2J [bold]not bold[/bold] :smile: \u202eesrever"


def jsonl(*traces: object) -> bytes:
    return b"".join((trace if isinstance(trace, bytes) else json.dumps(trace).encode()) + b"\n" for trace in traces)


pytestmark = pytest.mark.usefixtures("shared_verifier")


@pytest.mark.parametrize(
    ("traces", "status"),
    [
        ([ALLOWED], 0),
        ([ALLOWED, BLOCKED, ABSTAINED], 1),
        ([ALLOWED, ABSTAINED], 2),
        ([ALLOWED, BLOCKED, b"{"], 3),
        ([{"answer": "", "sources": []}], 0),
    ],
)
def test_exit_status(entailgrid, traces: list[object], status: int) -> None:
    assert entailgrid("verify", "-", stdin=jsonl(*traces)).status == status


def test_the_contract_example_is_blocked_and_allowed_with_the_right_source(entailgrid, tmp_path: Path) -> None:
    run = entailgrid("verify", EXAMPLES / "refund-window.json", "--json")
    claim = json.loads(run.out)["claims"][0]
    assert (run.status, claim["attribution"], claim["supported_by"][0]["source_id"]) == (1, "wrong_source", "req_8843")
    right = tmp_path / "right.json"
    right.write_text(json.dumps({**BLOCKED, "answer": BLOCKED["answer"].replace("account record", "refund policy")}))
    assert entailgrid("verify", right).status == 0


def test_a_bad_line_7_stops_no_other(entailgrid, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(jsonl(*[ALLOWED] * 6, b'{"answer": "Hel', ALLOWED, ALLOWED))
    run = entailgrid("verify", path, "--json")
    assert run.status == 3
    assert run.err.startswith(f"error: {path}:7: not JSON")
    assert run.err.count("\n") == 1
    assert [json.loads(line)["trace_id"] for line in run.out.splitlines()] == [
        f"traces:{number}" for number in (1, 2, 3, 4, 5, 6, 8, 9)
    ]


def test_reports_keep_the_order_of_files_and_lines(entailgrid, tmp_path: Path) -> None:
    paths = []
    for number in range(2):
        traces = [{**(BLOCKED if at % 5 == 0 else ALLOWED), "id": f"{number}/{at}"} for at in range(40)]
        paths.append(tmp_path / f"{number}.jsonl.gz")
        paths[-1].write_bytes(gzip.compress(jsonl(*traces)))
    run = entailgrid("verify", *paths, "--json")
    found = [json.loads(line)["trace_id"] for line in run.out.splitlines()]
    assert found == [f"{number}/{at}" for number in range(2) for at in range(40)]


def test_json_is_one_line_a_report_and_validates(entailgrid) -> None:
    trace = {**BLOCKED, "id": "a\u2028b\x85c\nd"}
    run = entailgrid("verify", "-", "--json", stdin=jsonl(trace, ALLOWED))
    assert run.err == ""
    assert len(run.out.splitlines()) == 2
    assert Report.model_validate_json(run.out.splitlines()[0]).trace_id == trace["id"]


def test_text_of_a_trace_commands_no_terminal(entailgrid) -> None:
    trace = {
        "id": EVIL,
        "question": EVIL,
        "answer": f"The plan costs $12 {EVIL}.",
        "sources": [{"id": f"s{EVIL}", "name": EVIL, "text": f"The plan costs $12 {EVIL}."}],
    }
    for flags in ((), ("--json",)):
        out = entailgrid("verify", "-", *flags, stdin=jsonl(trace)).out
        assert not set(out) & {"\x1b", "\x9b"}
        assert "[bold]not bold[/bold] :smile:" in " ".join(out.split())
    assert "\u202e" not in entailgrid("verify", "-", stdin=jsonl(trace)).out


def test_no_colour_where_there_is_no_terminal(entailgrid, monkeypatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    run = entailgrid("verify", "-", stdin=jsonl(BLOCKED, b"{"))
    assert run.err
    assert "\x1b" not in run.out + run.err


def test_several_answers_end_in_a_summary(entailgrid) -> None:
    run = entailgrid("verify", "-", stdin=jsonl(ALLOWED, BLOCKED, ABSTAINED, b"{"))
    assert run.out.splitlines()[-1].startswith("4 answers: 1 allowed, 1 blocked, 1 abstained, 1 failed; ")


def test_a_policy_is_followed(entailgrid, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(verifying, "open_verifier", OPEN_VERIFIER)
    trace = {"answer": "The plan costs $12.", "sources": [{"id": "a", "text": "The plan costs $12."}]}
    policy = tmp_path / "policy.toml"
    policy.write_text('uncited = "block"')
    assert entailgrid("verify", "-", stdin=jsonl(trace)).status == 0
    assert entailgrid("verify", "-", "--policy", policy, stdin=jsonl(trace)).status == 1


def test_the_input_format_and_an_answer_file(entailgrid, tmp_path: Path) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text("The plan costs $12.\n")
    log = jsonl(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_plan", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "The plan costs $12."}]}},
    )
    run = entailgrid("verify", "-", "--from", "mcp", "--answer", answer, "--json", stdin=log)
    assert (run.status, json.loads(run.out)["decision"]) == (0, "allow")


def test_a_number_of_verifications_in_flight_is_bounded(verifier) -> None:
    read = 0

    def documents():
        nonlocal read
        for document in read_documents(EXAMPLES / "refund-window.json"):
            for _ in range(200):
                read += 1
                yield document

    outcomes = stream.verified(documents(), lambda: verifier)
    next(outcomes)
    assert read <= stream.IN_FLIGHT
    outcomes.close()


def test_an_unexpected_error_is_the_failure_of_its_trace_alone(verifier, monkeypatch) -> None:
    good = next(read_documents(EXAMPLES / "non-answer.json"))
    assert isinstance(good, Document)
    submit = verifier.submit
    numbers = iter(range(3))

    def failing(trace, **options):
        future = submit(trace, **options)
        if next(numbers) == 1:
            future = Future()
            future.set_exception(IndexError("list index out of range"))
        return future

    monkeypatch.setattr(verifier, "submit", failing)
    outcomes = list(stream.verified([good, good, InvalidTrace("bad", "x"), good], lambda: verifier))
    assert [type(outcome).__name__ for outcome in outcomes] == ["Verified", "Failed", "Failed", "Verified"]
    assert isinstance(outcomes[1], stream.Failed)
    assert "non-answer: internal error: IndexError" in outcomes[1].problem


def test_an_interrupt_is_130(entailgrid, monkeypatch) -> None:
    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(verifying, "run_verify", interrupted)
    assert entailgrid("verify", "-").status == 130


def test_models_list(entailgrid) -> None:
    models = json.loads(entailgrid("models", "list", "--json").out)
    assert [(model["preset"], model["role"]) for model in models] == [("embedded", "router"), ("embedded", "nli")]
    assert all(model["size_bytes"] > 1_000_000 and model["licence"] for model in models)
    assert "embedded/nli" in entailgrid("models", "list").out


def test_a_missing_extra_names_its_install_command(entailgrid, tmp_path, monkeypatch) -> None:
    def missing(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'onnx'", name="onnx")

    from entailgrid.doors import modelling

    monkeypatch.setattr(modelling, "export", missing)
    run = entailgrid("models", "export", tmp_path, tmp_path / "out")
    assert (run.status, run.err) == (3, "error: export needs onnx: pip install 'entailgrid[export]'\n")


def test_version(entailgrid) -> None:
    assert entailgrid("--version").out == f"entailgrid {__version__}\n"


def spawn(*arguments: str, **options: object) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "entailgrid", *arguments]
    return subprocess.Popen(command, env=environment, **options)  # type: ignore[call-overload, no-any-return]


def test_python_dash_m_and_a_reader_that_leaves(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(jsonl(*[ALLOWED] * 200))
    process = spawn("verify", str(path), "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (141, b"")


def test_help_loads_no_engine(tmp_path: Path) -> None:
    heavy = "'numpy', 'onnxruntime', 'tokenizers', 'rich'"
    probe = f"import sys, entailgrid.doors.cli; print([name for name in ({heavy}) if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    found = subprocess.run([sys.executable, "-c", probe], env=environment, capture_output=True, check=True, text=True)
    assert found.stdout == "[]\n"
