"""BERT in plain torch: the reference that exported graphs are compared with. Never imported by the serving path."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from entailgrid_models.checkpoint import BertConfig, Checkpoint


class Layer(nn.Module):
    """One encoder layer with a fused query, key, value product."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        hidden = config.hidden_size
        self.heads = config.heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.attention_out = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, config.layer_norm_eps)
        self.inner = nn.Linear(hidden, config.intermediate_size)
        self.outer = nn.Linear(config.intermediate_size, hidden)
        self.outer_norm = nn.LayerNorm(hidden, config.layer_norm_eps)

    def forward(self, states: Tensor, visible: Tensor) -> Tensor:
        batch, length, hidden = states.shape
        qkv = self.qkv(states).view(batch, length, 3, self.heads, hidden // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=visible)
        mixed = mixed.transpose(1, 2).reshape(batch, length, hidden)
        states = self.attention_norm(states + self.attention_out(mixed))
        normed: Tensor = self.outer_norm(states + self.outer(functional.gelu(self.inner(states))))
        return normed


class Encoder(nn.Module):
    """input_ids, attention_mask, token_type_ids [batch, sequence] -> states [batch, sequence, hidden]."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Embedding(config.max_positions, config.hidden_size)
        self.types = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        states = self.words(input_ids) + self.positions.weight[: input_ids.shape[1]] + self.types(token_type_ids)
        states = self.norm(states)
        visible = attention_mask[:, None, None, :].bool()
        for layer in self.layers:
            states = layer(states, visible)
        normed: Tensor = states
        return normed


class CrossEncoder(nn.Module):
    """Pooler and classifier on the first token: -> logits [batch, labels] in the checkpoint's own label order."""

    def __init__(self, config: BertConfig, labels: int) -> None:
        super().__init__()
        self.encoder = Encoder(config)
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)
        self.classifier = nn.Linear(config.hidden_size, labels)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        first = self.encoder(input_ids, attention_mask, token_type_ids)[:, 0]
        logits: Tensor = self.classifier(torch.tanh(self.pooler(first)))
        return logits


class BiEncoder(nn.Module):
    """Mean of the visible tokens, scaled to length 1: -> embeddings [batch, hidden]."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.encoder = Encoder(config)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        states = self.encoder(input_ids, attention_mask, token_type_ids)
        mask = attention_mask[:, :, None].to(states.dtype)
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1.0)
        return functional.normalize(mean, dim=1)


def cross_encoder(checkpoint: Checkpoint) -> CrossEncoder:
    """The checkpoint's classifier in evaluation mode, float32. Needs a checkpoint with labels."""
    if checkpoint.labels is None:
        raise ValueError(f"{checkpoint.name} has no classification head")
    model = CrossEncoder(checkpoint.config, len(checkpoint.labels))
    _fill_encoder(model.encoder, checkpoint)
    _fill(model.pooler, checkpoint, "pooler.dense")
    _fill(model.classifier, checkpoint, "classifier")
    return model.eval()


def bi_encoder(checkpoint: Checkpoint) -> BiEncoder:
    """The checkpoint's encoder with mean pooling, in evaluation mode, float32."""
    model = BiEncoder(checkpoint.config)
    _fill_encoder(model.encoder, checkpoint)
    return model.eval()


def _fill(module: nn.Linear | nn.LayerNorm, checkpoint: Checkpoint, *names: str) -> None:
    """Copies weight and bias; several names are stacked along the output dimension."""
    with torch.no_grad():
        for kind in ("weight", "bias"):
            stacked = np.concatenate([checkpoint.weights[f"{name}.{kind}"] for name in names])
            getattr(module, kind).copy_(torch.from_numpy(stacked))


def _fill_encoder(encoder: Encoder, checkpoint: Checkpoint) -> None:
    with torch.no_grad():
        for table, name in ((encoder.words, "word"), (encoder.positions, "position"), (encoder.types, "token_type")):
            table.weight.copy_(torch.from_numpy(checkpoint.weights[f"embeddings.{name}_embeddings.weight"]))
    _fill(encoder.norm, checkpoint, "embeddings.LayerNorm")
    for i, layer in enumerate(encoder.layers):
        assert isinstance(layer, Layer)
        prefix = f"encoder.layer.{i}."
        _fill(layer.qkv, checkpoint, *(f"{prefix}attention.self.{part}" for part in ("query", "key", "value")))
        _fill(layer.attention_out, checkpoint, prefix + "attention.output.dense")
        _fill(layer.attention_norm, checkpoint, prefix + "attention.output.LayerNorm")
        _fill(layer.inner, checkpoint, prefix + "intermediate.dense")
        _fill(layer.outer, checkpoint, prefix + "output.dense")
        _fill(layer.outer_norm, checkpoint, prefix + "output.LayerNorm")
