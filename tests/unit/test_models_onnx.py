"""The serving path on the shipped weights: loading checks, packed input, probabilities, names."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from entailgrid_models.errors import CheckpointError, ModelForwardError
from entailgrid_models.manifest import read_manifest
from entailgrid_models.onnx import OnnxModel, pair_probabilities, physical_cores
from entailgrid_models.registry import list_models, resolve


@pytest.fixture(scope="module")
def nli() -> OnnxModel:
    return OnnxModel.load(resolve("embedded").nli)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(resolve("embedded").nli, tmp_path / "copy"))


def test_an_altered_file_is_refused_with_both_checksums(copy: Path) -> None:
    expected = read_manifest(copy).files["tokenizer.json"]
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(CheckpointError, match=rf"tokenizer\.json: checksum [0-9a-f]{{64}}, expected {expected}"):
        OnnxModel.load(copy)


def test_a_missing_file_is_refused(copy: Path) -> None:
    (copy / "model.onnx").unlink()
    with pytest.raises(CheckpointError, match=r"model\.onnx: file is missing"):
        OnnxModel.load(copy)
    (copy / "manifest.json").unlink()
    with pytest.raises(CheckpointError, match=r"no manifest\.json"):
        OnnxModel.load(copy)


def test_a_file_that_is_no_model_is_refused(copy: Path) -> None:
    import hashlib

    (copy / "model.onnx").write_bytes(b"no model")
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"]["model.onnx"] = hashlib.sha256(b"no model").hexdigest()
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError, match="not an ONNX model"):
        OnnxModel.load(copy)


@pytest.mark.parametrize("text", ["[]", "{}", "{", '{"format": 2}'])
def test_a_manifest_of_another_kind_is_refused(copy: Path, text: str) -> None:
    (copy / "manifest.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"manifest\.json: (not JSON|expected a manifest)"):
        OnnxModel.load(copy)


@pytest.mark.parametrize("offsets", [[0], [0, 2], [1, 3], [0, 0, 3], [0, 2, 1, 3], []])
def test_offsets_that_do_not_fit_the_tokens_are_refused(nli: OnnxModel, offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="cu_seqlens"):
        nli.forward(np.array([101, 2000, 102]), np.array(offsets, np.int64), None)


def test_a_sequence_that_is_too_long_is_refused_not_cut(nli: OnnxModel) -> None:
    ids = np.full(nli.max_tokens + 1, 2000)
    with pytest.raises(ValueError, match="at most 512"):
        nli.forward(ids, np.array([0, len(ids)]), None)


def test_a_token_outside_the_vocabulary_is_a_forward_error(nli: OnnxModel) -> None:
    with pytest.raises(ModelForwardError, match=nli.name):
        nli.forward(np.array([101, 10**6, 102]), np.array([0, 3]), None)


def test_values_that_are_not_finite_are_a_forward_error(nli: OnnxModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nli, "_run", lambda feeds: np.array([[np.nan, 0, 0]], np.float32))
    with pytest.raises(ModelForwardError, match="not finite"):
        nli.forward(np.array([101, 102]), np.array([0, 2]), None)


def test_no_sequences_give_no_rows(nli: OnnxModel) -> None:
    assert nli.forward(np.zeros(0, np.int64), np.array([0]), None).shape == (0, 3)


def test_each_thread_has_its_own_tokenizer_without_truncation_or_padding(nli: OnnxModel) -> None:
    seen = []
    thread = threading.Thread(target=lambda: seen.append(nli.tokenizer()))
    thread.start()
    thread.join()
    assert seen[0] is not nli.tokenizer()
    assert nli.tokenizer() is nli.tokenizer()
    assert len(seen[0].encode("word " * 700, "word").ids) == 704
    assert seen[0].padding is None


def test_probabilities_stand_in_the_order_of_the_convention() -> None:
    logits = np.log(np.array([[0.1, 0.7, 0.2]], np.float32))
    ordered = pair_probabilities(logits, ("contradiction", "entailment", "neutral"))
    assert np.allclose(ordered, [[0.7, 0.2, 0.1]])
    assert ordered.dtype == np.float32
    two = pair_probabilities(np.log(np.array([[0.2, 0.8]], np.float32)), ("not_entailment", "entailment"))
    assert np.allclose(two, [[0.8, 0, 0.2]])
    with pytest.raises(ValueError, match="convention"):
        pair_probabilities(logits, ("a", "b", "c"))


def test_probabilities_survive_large_logits() -> None:
    assert np.allclose(
        pair_probabilities(np.array([[1e4, -1e4, 0]], np.float32), ("entailment", "neutral", "contradiction")),
        [[1, 0, 0]],
    )


def test_registry_lists_what_ships_within_50_megabytes() -> None:
    entries = list_models()
    assert [(entry.role, entry.manifest.task) for entry in entries] == [
        ("router", "embedding"),
        ("nli", "classification"),
    ]
    assert all(entry.manifest.licence and entry.manifest.origin for entry in entries)
    assert sum(entry.size for entry in entries) <= 50_000_000


def test_registry_takes_local_folders_and_names_what_it_knows(copy: Path) -> None:
    assert resolve(str(copy)).nli == copy
    assert resolve(str(copy)).router == resolve("embedded").router
    with pytest.raises(CheckpointError, match="unknown model 'nope'; known: embedded"):
        resolve("nope")
    with pytest.raises(CheckpointError, match="embedding model"):
        resolve(str(resolve("embedded").router))


def test_the_serving_path_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from entailgrid_models.onnx import OnnxModel; from entailgrid_models.registry import resolve\n"
        "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules), 'eager import'\n"
        "OnnxModel.load(resolve('embedded').nli)\n"
        "assert not {'torch', 'transformers', 'optimum', 'onnx', 'safetensors'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_there_is_at_least_one_core() -> None:
    assert physical_cores() >= 1
