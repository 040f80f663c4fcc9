"""The examples against their gold labels, which were written from the contract's rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entailgrid import Verifier
from entailgrid.evaluation.metrics import align
from entailgrid.provenance.reading import Document, read_documents, read_gold

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.json"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_gets_the_outcome_of_the_rules(verifier: Verifier, path: Path) -> None:
    (document,) = read_documents(path)
    assert isinstance(document, Document)
    gold = read_gold(document)
    assert gold is not None
    report = verifier.verify(document.trace)
    found = []
    for claim in gold.claims:
        assert document.trace.answer[claim.start : claim.end] == claim.text
        prediction = align(claim, report.claims)
        found.append((prediction.support, prediction.attribution) if prediction else None)
    assert found == [(claim.support, claim.attribution) for claim in gold.claims]
    assert report.decision == gold.decision
    assert all(align(claim, report.claims) for claim in gold.claims)


def test_each_example_is_named_after_its_file_and_described() -> None:
    described = (EXAMPLES[0].parent / "README.md").read_text()
    assert len(EXAMPLES) >= 8
    for path in EXAMPLES:
        assert json.loads(path.read_text())["id"] == path.stem
        assert f"[{path.stem}]({path.name})" in described


@pytest.mark.usefixtures("shared_verifier")
def test_eval_measures_the_examples(entailgrid) -> None:
    run = entailgrid("eval", *EXAMPLES, "--json")
    metrics = json.loads(run.out)
    assert run.status == 0
    assert metrics["counts"]["answers"] == len(EXAMPLES)
    assert metrics["rates"]["decision_accuracy"]["of"] == len(EXAMPLES)
    assert metrics["rates"]["wrong_source_recall"] == {"value": 1.0, "hits": 2, "of": 2}
    assert "decision accuracy" in entailgrid("eval", *EXAMPLES).out


@pytest.mark.usefixtures("shared_verifier")
def test_eval_reports_bad_gold_and_goes_on(entailgrid, tmp_path: Path) -> None:
    good = {"answer": "Hi!", "sources": [], "gold": {"decision": "allow"}}
    bad = {**good, "gold": {"claims": [{"start": 0, "end": 9}]}}
    path = tmp_path / "gold.jsonl"
    unlabelled = {"answer": "Hi!", "sources": []}
    path.write_text("".join(json.dumps(trace) + "\n" for trace in (bad, good, unlabelled)))
    run = entailgrid("eval", path, "--json")
    metrics = json.loads(run.out)
    assert run.status == 3
    assert run.err.startswith(f"error: {path}:1: gold.claims[0].end: expected an offset")
    assert (metrics["counts"]["answers"], metrics["counts"]["without_gold"], metrics["counts"]["failed"]) == (1, 1, 1)
    assert metrics["rates"]["block_recall"]["value"] is None


@pytest.mark.usefixtures("no_verifier")
def test_eval_without_any_gold_is_status_3(entailgrid, tmp_path: Path) -> None:
    path = tmp_path / "plain.json"
    path.write_text('{"answer": "Hi!", "sources": []}')
    run = entailgrid("eval", path, "--json")
    assert (run.status, run.out) == (3, "")
    assert run.err == f"error: {path}: no trace carries labels; expected a key gold in at least one\n"
