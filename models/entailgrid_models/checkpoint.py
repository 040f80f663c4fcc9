"""Reads a checkpoint folder (config.json, safetensors, tokenizer) into a typed config and float32 arrays.

Nothing here imports torch or transformers, and no pickle is ever opened.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from entailgrid_models.errors import CheckpointError
from entailgrid_models.labels import normalise_labels

__all__ = ["BertConfig", "Checkpoint", "CheckpointError", "read_checkpoint"]

FloatArray = npt.NDArray[np.float32]

SUPPORTED = ("bert",)
_HEADS = {"BertForSequenceClassification": True, "BertModel": False}
_DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16}


@dataclass(frozen=True)
class BertConfig:
    """The fields of a BERT config.json that the forward pass reads."""

    vocab_size: int
    hidden_size: int
    layers: int
    heads: int
    intermediate_size: int
    max_positions: int
    type_vocab_size: int
    layer_norm_eps: float
    pad_token_id: int


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint in memory.

    `weights` are float32 under the names of `BertModel` (no `bert.` prefix), linear weights as [out, in];
    `labels` is the head's order in the words of the convention, None for an encoder without a head;
    `max_tokens` is the longest input, special tokens included.
    """

    name: str
    architecture: str
    config: BertConfig
    weights: dict[str, FloatArray]
    labels: tuple[str, ...] | None
    max_tokens: int
    tokenizer_json: str


def read_checkpoint(folder: Path) -> Checkpoint:
    """Reads `folder`; raises CheckpointError with one line that names the file and what was expected."""
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: no such folder")
    raw = _read_json(folder / "config.json", "not a model folder: config.json is missing")
    model_type = raw.get("model_type")
    if model_type not in SUPPORTED:
        raise CheckpointError(f"{folder}: unsupported architecture {model_type!r}; supported: {', '.join(SUPPORTED)}")
    config = _bert_config(folder, raw)
    labels = normalise_labels(_label_names(folder, raw)) if _has_head(folder, raw) else None
    weights = _read_weights(folder)
    _check_shapes(folder, config, weights, labels)
    return Checkpoint(
        name=folder.resolve().name,
        architecture=str(model_type),
        config=config,
        weights=weights,
        labels=labels,
        max_tokens=_max_tokens(folder, config),
        tokenizer_json=_read_tokenizer(folder),
    )


def _read_json(path: Path, missing: str) -> dict[str, Any]:
    if not path.is_file():
        raise CheckpointError(f"{path.parent}: {missing}")
    try:
        value = json.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{path}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path}: expected a JSON object")
    return value


def _bert_config(folder: Path, raw: dict[str, Any]) -> BertConfig:
    if raw.get("hidden_act") != "gelu":
        raise CheckpointError(f"{folder}: hidden_act {raw.get('hidden_act')!r} is not supported; expected 'gelu'")
    if raw.get("position_embedding_type", "absolute") != "absolute":
        raise CheckpointError(f"{folder}: position_embedding_type must be 'absolute'")
    try:
        config = BertConfig(
            vocab_size=int(raw["vocab_size"]),
            hidden_size=int(raw["hidden_size"]),
            layers=int(raw["num_hidden_layers"]),
            heads=int(raw["num_attention_heads"]),
            intermediate_size=int(raw["intermediate_size"]),
            max_positions=int(raw["max_position_embeddings"]),
            type_vocab_size=int(raw["type_vocab_size"]),
            layer_norm_eps=float(raw["layer_norm_eps"]),
            pad_token_id=int(raw.get("pad_token_id") or 0),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{folder / 'config.json'}: missing or wrong field: {error}") from error
    if config.heads < 1 or config.hidden_size % config.heads:
        raise CheckpointError(f"{folder}: hidden_size {config.hidden_size} does not divide into {config.heads} heads")
    return config


def _has_head(folder: Path, raw: dict[str, Any]) -> bool:
    names = raw.get("architectures") or []
    if len(names) != 1 or names[0] not in _HEADS:
        raise CheckpointError(f"{folder}: unsupported architecture {names}; supported: {', '.join(_HEADS)}")
    return _HEADS[names[0]]


def _label_names(folder: Path, raw: dict[str, Any]) -> list[str]:
    table = raw.get("id2label")
    if not isinstance(table, dict) or sorted(table) != sorted(str(i) for i in range(len(table))):
        raise CheckpointError(f"{folder}: config.json has no id2label with the ids 0, 1, ...")
    return [str(table[str(i)]) for i in range(len(table))]


def _read_weights(folder: Path) -> dict[str, FloatArray]:
    weights: dict[str, FloatArray] = {}
    for path in _weight_files(folder):
        for name, array in _read_safetensors(path).items():
            weights[name.removeprefix("bert.")] = array
    return weights


def _weight_files(folder: Path) -> list[Path]:
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if index.is_file():
        table = _read_json(index, "")["weight_map"]
        shards = [folder / shard for shard in sorted(set(table.values()))]
        for shard in shards:
            if shard.parent != folder or not shard.is_file():
                raise CheckpointError(f"{shard}: named by {index.name} but missing")
        return shards
    pickles = sorted(path.name for pattern in ("*.bin", "*.pt", "*.pth") for path in folder.glob(pattern))
    if pickles:
        raise CheckpointError(
            f"{folder}: only pickled weights ({pickles[0]}), which can run code when opened; "
            "save them with safe_serialization=True and pass that folder"
        )
    raise CheckpointError(f"{folder}: no model.safetensors")


def _read_safetensors(path: Path) -> dict[str, FloatArray]:
    from safetensors import SafetensorError, deserialize

    try:
        entries = deserialize(path.read_bytes())  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise CheckpointError(f"{path}: not a safetensors file: {error}") from error
    arrays: dict[str, FloatArray] = {}
    for name, entry in entries:
        dtype, data, shape = entry["dtype"], entry["data"], entry["shape"]
        if dtype in _DTYPES:
            arrays[name] = np.frombuffer(data, _DTYPES[dtype]).astype(np.float32).reshape(shape)
        elif dtype == "BF16":  # the upper half of a float32
            upper = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
            arrays[name] = upper.view(np.float32).reshape(shape)
    return arrays


def _check_shapes(folder: Path, config: BertConfig, weights: dict[str, FloatArray], labels: tuple[str, ...] | None) -> None:
    for name, shape in expected_shapes(config, labels).items():
        if name not in weights:
            raise CheckpointError(f"{folder}: weight {name} is missing")
        if weights[name].shape != shape:
            raise CheckpointError(f"{folder}: weight {name} has shape {weights[name].shape}, expected {shape}")


def expected_shapes(config: BertConfig, labels: tuple[str, ...] | None) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight that the forward pass reads (`labels` None: an encoder without a head)."""
    hidden, inner = config.hidden_size, config.intermediate_size
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config.vocab_size, hidden),
        "embeddings.position_embeddings.weight": (config.max_positions, hidden),
        "embeddings.token_type_embeddings.weight": (config.type_vocab_size, hidden),
    }
    linears = {"pooler.dense": (hidden, hidden), "classifier": (len(labels), hidden)} if labels else {}
    norms = ["embeddings.LayerNorm"]
    for layer in (f"encoder.layer.{i}." for i in range(config.layers)):
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            linears[layer + part] = (hidden, hidden)
        linears[layer + "intermediate.dense"] = (inner, hidden)
        linears[layer + "output.dense"] = (hidden, inner)
        norms += [layer + "attention.output.LayerNorm", layer + "output.LayerNorm"]
    for name, shape in linears.items():
        shapes |= {name + ".weight": shape, name + ".bias": shape[:1]}
    for name in norms:
        shapes |= {name + ".weight": (hidden,), name + ".bias": (hidden,)}
    return shapes


def _max_tokens(folder: Path, config: BertConfig) -> int:
    """The smallest of the position table and what the tokenizer or sentence-transformers config declares."""
    limits = [config.max_positions]
    for name, key in (("tokenizer_config.json", "model_max_length"), ("sentence_bert_config.json", "max_seq_length")):
        path = folder / name
        if path.is_file():
            limit = _read_json(path, "").get(key)
            if isinstance(limit, int) and limit > 0:
                limits.append(limit)
    return min(limits)


def _read_tokenizer(folder: Path) -> str:
    """tokenizer.json, compact, with truncation and padding off."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise CheckpointError(
            f"{folder}: no tokenizer.json; save a fast tokenizer (AutoTokenizer.from_pretrained(...).save_pretrained)"
        )
    raw = _read_json(path, "")
    if not isinstance(raw.get("model"), dict):
        raise CheckpointError(f"{path}: not a tokenizer: it has no model")
    raw["truncation"] = raw["padding"] = None
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
