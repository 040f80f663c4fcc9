"""Tiny seeded BERT checkpoints with a word-piece tokenizer, built in code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from entailgrid_models.checkpoint import BertConfig, expected_shapes

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
# fmt: off
WORDS = (
    "a", "the", "premium", "plan", "includes", "refund", "window", "of", "30", "days", "not", "12", "seats", "price",
    "account", "dose", "mg", "is", "was", "and", "in", "5", ".", ",", "##s",
)
# fmt: on
LABELS = ("contradiction", "entailment", "neutral")


def tiny_config(**changes: Any) -> dict[str, Any]:
    """config.json of a two-layer BERT cross-encoder whose labels are not in the convention's order."""
    config = {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
        "type_vocab_size": 2,
        "vocab_size": len(SPECIAL) + len(WORDS),
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
        "id2label": {str(i): label for i, label in enumerate(LABELS)},
    }
    return config | changes


def write_tiny_checkpoint(folder: Path, *, seed: int = 0, **changes: Any) -> Path:
    """Writes config.json, model.safetensors and tokenizer.json into `folder` and returns it."""
    from safetensors.numpy import save_file

    config = tiny_config(**changes)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    head = config["architectures"] == ["BertForSequenceClassification"]
    weights = _weights(config, seed)
    save_file({_stored(name, head): weight for name, weight in weights.items()}, folder / "model.safetensors")
    (folder / "tokenizer.json").write_text(tiny_tokenizer().to_str(), "utf-8")
    return folder


def tiny_tokenizer() -> Tokenizer:
    """Word pieces over WORDS, `[CLS] a [SEP] b [SEP]`, with truncation and padding switched on, as checkpoints have."""
    vocabulary = {token: i for i, token in enumerate((*SPECIAL, *WORDS))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    return tokenizer


def _weights(config: dict[str, Any], seed: int) -> dict[str, np.ndarray]:
    fields = BertConfig(
        vocab_size=config["vocab_size"],
        hidden_size=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        intermediate_size=config["intermediate_size"],
        max_positions=config["max_position_embeddings"],
        type_vocab_size=config["type_vocab_size"],
        layer_norm_eps=config["layer_norm_eps"],
        pad_token_id=0,
    )
    head = config["architectures"] == ["BertForSequenceClassification"]
    labels = tuple(config["id2label"].values()) if head else None
    generator = np.random.default_rng(seed)
    # A standard deviation of 0.3 keeps attention and GELU far from their linear range.
    return {
        name: (generator.normal(0, 0.3, shape) + name.endswith("LayerNorm.weight")).astype(np.float32)
        for name, shape in expected_shapes(fields, labels).items()
    }


def _stored(name: str, head: bool) -> str:
    return "bert." + name if head and not name.startswith("classifier") else name
