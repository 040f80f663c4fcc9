"""Reports do not depend on the cache: off, cold, warm, LMDB, Redis; and forgetting leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from entailgrid import Report, Verifier
from entailgrid.doors.cli import cli
from entailgrid.inference.lmdb_store import LmdbStore

EXAMPLES = [json.loads(path.read_text()) for path in sorted((Path(__file__).parents[2] / "examples").glob("*.json"))]


def reports(cache: str | None, passes: int = 1) -> list[list[Report]]:
    with Verifier(cache=cache) as verifier:
        return [verifier.verify_many(EXAMPLES) for _ in range(passes)]


@pytest.fixture(scope="module")
def plain() -> list[Report]:
    return reports(None)[0]


def check(plain: list[Report], found: list[Report], *, cached: bool) -> None:
    for expected, report in zip(plain, found, strict=True):
        assert report.same_as(expected)
        work = expected.coverage.pairs_scored
        assert report.coverage.pairs_scored + report.coverage.pairs_from_cache == work
        if cached:
            assert report.coverage.pairs_scored == 0


def test_memory_cold_and_warm(plain: list[Report]) -> None:
    cold, warm = reports("memory", 2)
    check(plain, cold, cached=False)
    check(plain, warm, cached=True)


def test_lmdb_across_processes_lives(plain: list[Report], tmp_path: Path) -> None:
    check(plain, reports(f"lmdb:{tmp_path}")[0], cached=False)
    check(plain, reports(f"lmdb:{tmp_path}")[0], cached=True)


def test_redis_across_lives(plain: list[Report], redis_port: int) -> None:
    check(plain, reports(f"redis://127.0.0.1:{redis_port}/0")[0], cached=False)
    check(plain, reports(f"redis://127.0.0.1:{redis_port}/0")[0], cached=True)


def test_forgetting_an_output_forgets_all_of_it(tmp_path: Path) -> None:
    with Verifier(cache=f"lmdb:{tmp_path}") as verifier:
        first, second = verifier.verify(EXAMPLES[0]), verifier.verify(EXAMPLES[0])
        assert second.coverage.pairs_from_cache == first.coverage.pairs_scored > 0
        for source in first.sources:
            verifier.forget(source.sha256)
        third = verifier.verify(EXAMPLES[0])
        assert third.coverage.pairs_from_cache == 0
        assert third.same_as(first)
        for source in first.sources:
            assert verifier.forget(source.sha256) > 0
    store = LmdbStore(tmp_path)
    assert store.size() is not None
    assert store.size()[0] == 0  # type: ignore[index]
    store.close()


def test_metrics_say_what_was_done() -> None:
    with Verifier() as verifier:
        verifier.verify_many(EXAMPLES[:3])
        text = verifier.metrics()
    assert 'entailgrid_inputs_total{lane="classify",outcome="run"}' in text
    assert "entailgrid_queue_tokens 0.0" in text


def test_the_commands_of_the_store(tmp_path: Path) -> None:
    trace, spec = tmp_path / "trace.json", f"lmdb:{tmp_path / 'cache'}"
    trace.write_text(json.dumps(next(example for example in EXAMPLES if len(example["sources"]) > 1)))
    run = CliRunner().invoke
    report = json.loads(run(cli, ["verify", str(trace), "--json", "--cache", spec]).stdout)
    stats = json.loads(run(cli, ["cache", "stats", "--cache", spec, "--json"]).stdout)
    assert stats["entries"] > report["coverage"]["pairs_scored"]
    assert run(cli, ["cache", "verify", "--cache", spec]).exit_code == 0
    gone = json.loads(run(cli, ["cache", "forget", report["sources"][0]["sha256"], "--cache", spec, "--json"]).stdout)
    assert gone["removed"][report["sources"][0]["sha256"]] > 0
    assert json.loads(run(cli, ["cache", "clear", "--cache", spec, "--json"]).stdout)["removed"] > 0
    bad = run(cli, ["cache", "forget", "abc", "--cache", spec])
    assert bad.exit_code != 0
    assert "64 hexadecimal" in bad.output
    assert "ends with its process" in run(cli, ["cache", "stats", "--cache", "memory"]).output


def test_an_unknown_cache_is_one_line(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(EXAMPLES[0]))
    result = CliRunner().invoke(cli, ["verify", str(trace), "--cache", "disk"])
    assert result.exit_code != 0
    assert "expected 'memory', 'lmdb:PATH'" in result.output
