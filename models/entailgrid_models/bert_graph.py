"""The ONNX graph of BERT, for ONNX Runtime.

Choices that were measured on the CPU (two AVX-512 cores, batches of 1-2k tokens):
- `com.microsoft.Attention` with the fused QKV weight is level with the plain operators up to 128 tokens, ahead above;
- Add + LayerNormalization takes a quarter of the time of SkipLayerNormalization, so residuals are left unfused;
- the last layer of a cross-encoder computes only the first token, the only one that its head reads: the same function
  with about 14% fewer products;
- integer products take one uint8 scale a tensor, fixed at export: a scale of the batch would tie a score to its batch
  mates, a scale per row costs passes over the tensor. What follows the last layer's attention stays in float32.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto

from entailgrid_models.checkpoint import Checkpoint
from entailgrid_models.graph import CONTRIB, GraphBuilder, Quantised, Scale

_ATTENTION = ("query", "key", "value")
_QKV = "attention.self.qkv"


def bert_graph(
    checkpoint: Checkpoint, *, classify: bool, int8: bool, scales: Mapping[str, Scale] | None = None
) -> onnx.ModelProto:
    """Inputs input_ids, attention_mask and, if the model has them, token_type_ids; int64 [batch, sequence].

    Output: `logits` [batch, labels] in the checkpoint's order if `classify`, else `embeddings` [batch, hidden] of
    length 1. Padding may stand anywhere; positions count from the left. `int8` stores the weights in int8; `scales`,
    from `calibrate`, makes the products that they name integer products.
    """
    emitter = _BertEmitter(checkpoint, GraphBuilder(int8=int8, scales=scales))
    states = emitter.encoder(classify=classify)
    if classify:
        width = len(checkpoint.labels or ())
        return emitter.graph.model("cross-encoder", emitter.inputs, "logits", emitter.classifier(states), width)
    width = checkpoint.config.hidden_size
    return emitter.graph.model("bi-encoder", emitter.inputs, "embeddings", emitter.mean_pool(states), width)


def ranges_graph(checkpoint: Checkpoint, *, classify: bool) -> tuple[onnx.ModelProto, list[str]]:
    """The float32 encoder with the output `ranges` [batch, 2 n]: minimum and maximum of each tensor that may have a
    scale, padding included; and the n names of the tensors, in that order."""
    emitter = _BertEmitter(checkpoint, GraphBuilder(int8=False))
    emitter.encoder(classify=classify)
    graph, axes = emitter.graph, emitter.graph.constant("int.12", [1, 2])
    extremes = [
        graph.add("Squeeze", graph.add(kind, states, axes), graph.constant("int.2", [2]))
        for states in graph.scalable.values()
        for kind in ("ReduceMin", "ReduceMax")
    ]
    ranges = graph.add("Concat", *extremes, axis=1)
    return graph.model("ranges", emitter.inputs, "ranges", ranges, len(extremes)), list(graph.scalable)


class _BertEmitter:
    def __init__(self, checkpoint: Checkpoint, graph: GraphBuilder) -> None:
        self.graph = graph
        self.inputs = ["input_ids", "attention_mask"]
        if checkpoint.config.type_vocab_size > 1:
            self.inputs.append("token_type_ids")
        self._config = checkpoint.config
        self._weights = checkpoint.weights
        self._mask = graph.add("Cast", "attention_mask", to=TensorProto.INT32)

    def encoder(self, *, classify: bool) -> str:
        """-> states [batch, sequence, hidden], or [batch, 1, hidden] of the first token if `classify`."""
        states = self.embeddings()
        last = self._config.layers - 1
        for i in range(last + 1):
            states = self.layer(f"encoder.layer.{i}.", states, first_only=classify and i == last)
        return states

    def embeddings(self) -> str:
        graph = self.graph
        length = graph.add("Shape", "input_ids", start=1, end=2)
        steps = graph.add("Range", self._scalar(0), graph.add("Squeeze", length), self._scalar(1))
        states = graph.add("Add", self._rows("word", "input_ids"), self._rows("position", steps))
        if "token_type_ids" in self.inputs:
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
        mixed = self._linear(prefix + "attention.output.dense", mixed, scaled=not first_only)
        states = self._norm(prefix + "attention.output.LayerNorm", graph.add("Add", mixed, states))
        inner = self._linear(prefix + "intermediate.dense", states, scaled=not first_only)
        inner = graph.add("Gelu", inner, domain=CONTRIB)
        outer = self._linear(prefix + "output.dense", inner, scaled=not first_only)
        return self._norm(prefix + "output.LayerNorm", graph.add("Add", outer, states))

    def classifier(self, states: str) -> str:
        """[batch, 1, hidden] -> logits [batch, labels]."""
        first = self.graph.add("Squeeze", states, self.graph.constant("int.1", [1]))
        pooled = self.graph.add("Tanh", self._linear("pooler.dense", first, scaled=False))
        return self._linear("classifier", pooled, scaled=False)

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
        graph, name, heads = self.graph, prefix + _QKV, self._config.heads
        weight = np.concatenate([self._weight(f"{prefix}attention.self.{part}") for part in _ATTENTION], axis=1)
        bias, scaled = self._qkv_bias(prefix), graph.quantised(name, states)
        if isinstance(scaled, Quantised):
            stored, scale = graph.integer_weight(name, weight)
            inputs = (scaled.values, stored, bias, scaled.scale, scale, self._mask, scaled.zero_point)
            return graph.add("QAttention", *inputs, domain=CONTRIB, num_heads=heads)
        fused = graph.float_weight(name, weight)
        return graph.add("Attention", states, fused, bias, self._mask, domain=CONTRIB, num_heads=heads)

    def _first_token_attention(self, prefix: str, first: str, states: str) -> str:
        graph = self.graph
        scaled = graph.quantised(prefix + _QKV, states)
        query, key, value = (
            graph.product(f"{prefix}attention.self.{part}", source, self._weight(f"{prefix}attention.self.{part}"))
            for part, source in zip(_ATTENTION, (first, scaled, scaled), strict=True)
        )
        inputs = (query, key, value, self._qkv_bias(prefix), self._mask)
        return graph.add("MultiHeadAttention", *inputs, domain=CONTRIB, num_heads=self._config.heads)

    def _qkv_bias(self, prefix: str) -> str:
        biases = [self._weights[f"{prefix}attention.self.{part}.bias"] for part in _ATTENTION]
        return self.graph.constant(f"{prefix}{_QKV}.bias", np.concatenate(biases))

    def _norm(self, name: str, states: str) -> str:
        weight, bias = self._constant(name + ".weight"), self._constant(name + ".bias")
        return self.graph.add("LayerNormalization", states, weight, bias, axis=-1, epsilon=self._config.layer_norm_eps)

    def _linear(self, name: str, states: str, *, scaled: bool) -> str:
        source = self.graph.quantised(name, states) if scaled else states
        return self.graph.product(name, source, self._weight(name), self._weights[name + ".bias"])

    def _weight(self, name: str) -> npt.NDArray[np.float32]:
        """[in, out]."""
        return self._weights[name + ".weight"].T

    def _rows(self, kind: str, indices: str) -> str:
        name = f"embeddings.{kind}_embeddings.weight"
        return self.graph.rows(name, self._weights[name], indices)

    def _constant(self, name: str) -> str:
        return self.graph.constant(name, self._weights[name])

    def _scalar(self, value: int) -> str:
        return self.graph.constant(f"scalar.{value}", np.array(value, np.int64))
