"""Builds an ONNX graph node by node, with weights stored in float32 or in int8 and products computed in either.

Graphs are written directly rather than traced: what is emitted is what runs, without shape arithmetic, and neither
torch nor its exporter takes part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 18
IR_VERSION = 9  # read by every onnxruntime since 1.15
CONTRIB = "com.microsoft"
PRODUCT_MAX = 64
"""Largest magnitude of a weight in an integer product. Without VNNI instructions the product adds two neighbours in 16
bits, saturating: 2 x 255 x 64 = 32,640 still fits, so every CPU gives the same integers. With 127 the logits of the
embedded model differed by 0.28 between AVX2 and AVX-512 VNNI, with 64 by 2e-7 (measured)."""

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Scale:
    """How a tensor becomes uint8, whatever the input: round(x / scale) + zero_point, clipped to 0..255."""

    scale: float
    zero_point: int


@dataclass(frozen=True)
class Quantised:
    """Names of a uint8 tensor, of its scale and of its zero point."""

    values: str
    scale: str
    zero_point: str


class GraphBuilder:
    """Collects nodes and constants; every method that adds a node returns the name of its output.

    `int8`: weights are stored in int8. `scales`: the tensors that become uint8 before their product, by the name given
    to `quantised`; `scalable` remembers every tensor that could, for the calibration.
    """

    def __init__(self, *, int8: bool, scales: Mapping[str, Scale] | None = None) -> None:
        self.scalable: dict[str, str] = {}
        self._int8 = int8
        self._scales = scales or {}
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: npt.NDArray[Any] | list[int]) -> str:
        """A stored array; a list of int is an int64 vector. A name that exists already keeps its value."""
        if name not in self._constants:
            array = np.array(value, np.int64) if isinstance(value, list) else np.array(value, order="C")
            self._constants[name] = numpy_helper.from_array(array, name)
        return name

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        output = f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def quantised(self, name: str, states: str) -> str | Quantised:
        """`states` in uint8 where there is a scale for `name`, else as they are."""
        self.scalable[name] = states
        if name not in self._scales:
            return states
        scale = self.constant(name + ".input_scale", np.array(self._scales[name].scale, np.float32))
        zero_point = self.constant(name + ".input_zero_point", np.array(self._scales[name].zero_point, np.uint8))
        return Quantised(self.add("QuantizeLinear", states, scale, zero_point), scale, zero_point)

    def product(self, name: str, states: str | Quantised, weight: Array, bias: Array | None = None) -> str:
        """`states` [..., in] x `weight` [in, out] + `bias`, in float32; an integer product where `states` are quantised."""
        biases = () if bias is None else (self.constant(name + ".bias", bias),)
        if isinstance(states, Quantised):
            stored, scale = self.integer_weight(name, weight)
            inputs = (states.values, stored, states.scale, scale, states.zero_point, "")
            return self.add("MatMulIntegerToFloat", *inputs, *biases, domain=CONTRIB)
        output = self.add("MatMul", states, self.float_weight(name, weight))
        return self.add("Add", output, *biases) if biases else output

    def integer_weight(self, name: str, weight: Array) -> tuple[str, str]:
        """`weight` [in, out] in int8 for an integer product, and its scale per output channel."""
        stored, scale = quantise(weight, axis=0, largest=PRODUCT_MAX)
        return self.constant(name + ".int8", stored), self.constant(name + ".scale", scale[0])

    def float_weight(self, name: str, weight: Array) -> str:
        """`weight` [in, out] for a float32 product from the right; stored in int8: one scale per output channel.

        The DequantizeLinear has constant inputs, so ONNX Runtime folds it to float32 once, at load.
        """
        if not self._int8:
            return self.constant(name, weight)
        stored, scale = quantise(weight, axis=0, largest=127)
        inputs = self.constant(name + ".int8", stored), self.constant(name + ".scale", scale[0])
        return self.add("DequantizeLinear", *inputs, axis=1)

    def rows(self, name: str, table: Array, indices: str) -> str:
        """Rows of `table` [rows, width]; int8: one scale per row, and only the gathered rows become float32."""
        if not self._int8:
            return self.add("Gather", self.constant(name, table), indices)
        stored, scale = quantise(table, axis=1, largest=127)
        values = self.add("Gather", self.constant(name + ".int8", stored), indices)
        scales = self.add("Gather", self.constant(name + ".scale", scale), indices)
        return self.add("Mul", self.add("Cast", values, to=TensorProto.FLOAT), scales)

    def model(self, name: str, inputs: list[str], output: str, result: str, width: int) -> onnx.ModelProto:
        """Closes the graph: int64 `inputs` [batch, sequence]; `result` becomes float32 `output` [batch, width]."""
        self._nodes.append(helper.make_node("Identity", [result], [output], name=output))
        graph = helper.make_graph(
            self._nodes,
            name,
            [helper.make_tensor_value_info(i, TensorProto.INT64, ["batch", "sequence"]) for i in inputs],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", width])],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="entailgrid-models")


def quantise(weight: Array, axis: int, largest: int) -> tuple[npt.NDArray[np.int8], Array]:
    """Symmetric int8: `weight` ~ stored * scale, the scale being max |weight| / `largest` along `axis` (kept as size 1)."""
    scale = np.abs(weight).max(axis=axis, keepdims=True) / np.float32(largest)
    scale = np.where(scale == 0, np.float32(1), scale).astype(np.float32)
    return np.clip(np.rint(weight / scale), -largest, largest).astype(np.int8), scale
