"""Reading checkpoints: what is refused, with which words, and how label names are mapped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from entailgrid_models.checkpoint import CheckpointError, read_checkpoint
from entailgrid_models.labels import normalise_labels
from tiny import LABELS, write_tiny_checkpoint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("safetensors")
    return write_tiny_checkpoint(tmp_path / "tiny")


def refusal(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_reads_config_weights_labels_and_tokenizer(folder: Path) -> None:
    checkpoint = read_checkpoint(folder)
    assert (checkpoint.name, checkpoint.labels, checkpoint.max_tokens) == ("tiny", LABELS, 64)
    assert all(weight.dtype == np.float32 for weight in checkpoint.weights.values())
    tokenizer = json.loads(checkpoint.tokenizer_json)
    assert tokenizer["truncation"] is None
    assert tokenizer["padding"] is None


def test_declared_limits_lower_max_tokens(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 48}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 32}')
    assert read_checkpoint(folder).max_tokens == 32


def test_shards_and_half_precision_read_as_float32(folder: Path) -> None:
    from safetensors.numpy import load_file, save_file

    weights = {name: weight.astype(np.float16) for name, weight in load_file(folder / "model.safetensors").items()}
    (folder / "model.safetensors").unlink()
    shards: dict[str, dict[str, np.ndarray]] = {"one.safetensors": {}, "two.safetensors": {}}
    for i, (name, weight) in enumerate(weights.items()):
        shards[sorted(shards)[i % 2]][name] = weight
    for file, part in shards.items():
        save_file(part, folder / file)
    weight_map = {name: file for file, part in shards.items() for name in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    read = read_checkpoint(folder).weights
    assert {name.removeprefix("bert.") for name in weights} == set(read)
    assert read["classifier.weight"].dtype == np.float32
    assert np.array_equal(read["classifier.weight"], weights["classifier.weight"].astype(np.float32))
    (folder / "two.safetensors").unlink()
    assert "two.safetensors: named by model.safetensors.index.json but missing" in refusal(folder)


def test_refuses_missing_parts(folder: Path, tmp_path: Path) -> None:
    assert "no such folder" in refusal(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    assert "config.json is missing" in refusal(tmp_path / "empty")
    (folder / "tokenizer.json").unlink()
    assert "no tokenizer.json" in refusal(folder)
    (folder / "model.safetensors").unlink()
    assert "no model.safetensors" in refusal(folder)


def test_refuses_pickles_for_safety_and_names_the_way_out(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    message = refusal(folder)
    assert "pytorch_model.bin" in message
    assert "safe_serialization=True" in message


def test_refuses_what_is_not_safetensors_or_not_complete(folder: Path) -> None:
    from safetensors.numpy import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["bert.encoder.layer.1.output.dense.bias"]
    save_file(weights, folder / "model.safetensors")
    assert "encoder.layer.1.output.dense.bias is missing" in refusal(folder)
    (folder / "model.safetensors").write_bytes(b"not a model")
    assert "not a safetensors file" in refusal(folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": "gpt2"}, "unsupported architecture 'gpt2'"),
        ({"architectures": ["BertForMaskedLM"]}, "unsupported architecture ['BertForMaskedLM']"),
        ({"hidden_act": "relu"}, "hidden_act 'relu'"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ({"hidden_size": None}, "missing or wrong field"),
        ({"num_attention_heads": 5}, "does not divide into 5 heads"),
        ({"hidden_size": 36}, "has shape"),
        ({"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}, "ambiguous"),
        ({"id2label": None}, "id2label"),
    ],
)
def test_refuses_configs_that_it_cannot_honour(folder: Path, change: dict[str, object], words: str) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    assert words in refusal(folder)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["CONTRADICTION", "Neutral", "entailment"], ("contradiction", "neutral", "entailment")),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], ("entailment", "contradiction", "neutral")),
        (["not_entailment", "entailment"], ("not_entailment", "entailment")),
        (["supported", "unsupported"], ("entailment", "not_entailment")),
    ],
)
def test_label_names_of_any_order_map_to_the_convention(names: list[str], labels: tuple[str, ...]) -> None:
    assert normalise_labels(names) == labels


@pytest.mark.parametrize(
    "names",
    [
        ["LABEL_0", "LABEL_1"],
        ["entailment"],
        ["entailment", "neutral"],
        ["entailment", "supported"],
        ["0", "1", "2"],
        [],
    ],
)
def test_ambiguous_label_names_are_refused(names: list[str]) -> None:
    with pytest.raises(CheckpointError, match="ambiguous"):
        normalise_labels(names)
