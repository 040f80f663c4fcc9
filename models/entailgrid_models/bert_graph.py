"""The ONNX graph of BERT, for ONNX Runtime.

Choices that were measured on the CPU (two AVX-512 cores, batches of 1-2k tokens):
- `com.microsoft.Attention` with the fused QKV weight is level with the plain operators up to 128 tokens, ahead above;
- Add + LayerNormalization takes a quarter of the time of SkipLayerNormalization, so residuals are left unfused;
- the last layer of a cross-encoder computes only the first token, the only one that its head reads: the same function
  with about 14% fewer products.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto

from entailgrid_models.checkpoint import Checkpoint
from entailgrid_models.graph import CONTRIB, GraphBuilder

_ATTENTION = ("query", "key", "value")


def bert_graph(checkpoint: Checkpoint, *, classify: bool, int8: bool) -> onnx.ModelProto:
    """Inputs input_ids, attention_mask and, if the model has them, token_type_ids; int64 [batch, sequence].

    Output: `logits` [batch, labels] in the checkpoint's order if `classify`, else `embeddings` [batch, hidden] of
    length 1. Padding may stand anywhere; positions count from the left.
    """
    emitter = _BertEmitter(checkpoint, GraphBuilder(int8=int8))
    layers, graph = checkpoint.config.layers, emitter.graph
    states = emitter.embeddings()
    for i in range(layers):
        states = emitter.layer(f"encoder.layer.{i}.", states, first_only=classify and i == layers - 1)
    inputs = ["input_ids", "attention_mask"] + (["token_type_ids"] if emitter.has_types else [])
    if classify:
        width = len(checkpoint.labels or ())
        return graph.model("cross-encoder", inputs, "logits", emitter.classifier(states), width)
    return graph.model("bi-encoder", inputs, "embeddings", emitter.mean_pool(states), checkpoint.config.hidden_size)


class _BertEmitter:
    def __init__(self, checkpoint: Checkpoint, graph: GraphBuilder) -> None:
        self.graph = graph
        self.has_types = checkpoint.config.type_vocab_size > 1
        self._config = checkpoint.config
        self._weights = checkpoint.weights
        self._mask = graph.add("Cast", "attention_mask", to=TensorProto.INT32)

    def embeddings(self) -> str:
        graph = self.graph
        length = graph.add("Shape", "input_ids", start=1, end=2)
        steps = graph.add("Range", self._scalar(0), graph.add("Squeeze", length), self._scalar(1))
        states = graph.add("Add", self._rows("word", "input_ids"), self._rows("position", steps))
        if self.has_types:
            states = graph.add("Add", states, self._rows("token_type", "token_type_ids"))
        else:
            states = graph.add("Add", states, self._constant("embeddings.token_type_embeddings.weight"))
        return self._norm("embeddings.LayerNorm", states)

    def layer(self, prefix: str, states: str, *, first_only: bool) -> str:
        """[batch, sequence, hidden] -> the same, or [batch, 1, hidden] for the first token only."""
        graph = self.graph
        if first_only:
            first = graph.add("Slice", states, *(graph.constant(f"int.{i}", [i]) for i in (0, 1, 1)))
            mixed, states = self._first_token_attention(prefix, first, states), first
        else:
            mixed = self._attention(prefix, states)
        mixed = self._linear(prefix + "attention.output.dense", mixed)
        states = self._norm(prefix + "attention.output.LayerNorm", graph.add("Add", mixed, states))
        inner = self._product(prefix + "intermediate.dense", states)
        inner = graph.add("BiasGelu", inner, self._constant(prefix + "intermediate.dense.bias"), domain=CONTRIB)
        outer = self._linear(prefix + "output.dense", inner)
        return self._norm(prefix + "output.LayerNorm", graph.add("Add", outer, states))

    def classifier(self, states: str) -> str:
        """[batch, 1, hidden] -> logits [batch, labels]."""
        first = self.graph.add("Squeeze", states, self.graph.constant("int.1", [1]))
        pooled = self.graph.add("Tanh", self._linear("pooler.dense", first))
        return self._linear("classifier", pooled)

    def mean_pool(self, states: str) -> str:
        """[batch, sequence, hidden] -> the mean over visible tokens, scaled to length 1 [batch, hidden]."""
        graph = self.graph
        axis = graph.constant("int.1", [1])
        mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
        mask = graph.add("Unsqueeze", mask, graph.constant("int.2", [2]))
        total = graph.add("ReduceSum", graph.add("Mul", states, mask), axis, keepdims=0)
        # The sum points where the mean does, so the division by the number of tokens cancels.
        norm = graph.add("ReduceL2", total, axis, keepdims=1)
        floor = graph.constant("norm_floor", np.array(1e-12, np.float32))
        return graph.add("Div", total, graph.add("Max", norm, floor))

    def _attention(self, prefix: str, states: str) -> str:
        parts = [f"{prefix}attention.self.{part}" for part in _ATTENTION]
        weight = np.concatenate([self._weights[part + ".weight"] for part in parts]).T
        fused = self.graph.linear_weight(f"{prefix}attention.self.qkv", weight)
        bias = self._qkv_bias(prefix)
        heads = self._config.heads
        return self.graph.add("Attention", states, fused, bias, self._mask, domain=CONTRIB, num_heads=heads)

    def _first_token_attention(self, prefix: str, first: str, states: str) -> str:
        graph = self.graph
        query, key, value = (
            self._product(f"{prefix}attention.self.{part}", source)
            for part, source in zip(_ATTENTION, (first, states, states), strict=True)
        )
        inputs = (query, key, value, self._qkv_bias(prefix), self._mask)
        return graph.add("MultiHeadAttention", *inputs, domain=CONTRIB, num_heads=self._config.heads)

    def _qkv_bias(self, prefix: str) -> str:
        biases = [self._weights[f"{prefix}attention.self.{part}.bias"] for part in _ATTENTION]
        return self.graph.constant(f"{prefix}attention.self.qkv.bias", np.concatenate(biases))

    def _norm(self, name: str, states: str) -> str:
        weight, bias = self._constant(name + ".weight"), self._constant(name + ".bias")
        return self.graph.add("LayerNormalization", states, weight, bias, axis=-1, epsilon=self._config.layer_norm_eps)

    def _product(self, name: str, states: str) -> str:
        return self.graph.add("MatMul", states, self.graph.linear_weight(name, self._weights[name + ".weight"].T))

    def _linear(self, name: str, states: str) -> str:
        return self.graph.add("Add", self._product(name, states), self._constant(name + ".bias"))

    def _rows(self, kind: str, indices: str) -> str:
        name = f"embeddings.{kind}_embeddings.weight"
        return self.graph.rows(name, self._weights[name], indices)

    def _constant(self, name: str) -> str:
        return self.graph.constant(name, self._weights[name])

    def _scalar(self, value: int) -> str:
        return self.graph.constant(f"scalar.{value}", np.array(value, np.int64))
