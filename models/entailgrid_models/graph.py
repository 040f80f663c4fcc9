"""Builds an ONNX graph node by node, with weights stored in float32 or in int8.

Graphs are written directly rather than traced: what is emitted is what runs, without shape arithmetic, and neither
torch nor its exporter takes part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 18
IR_VERSION = 9  # read by every onnxruntime since 1.15
CONTRIB = "com.microsoft"


class GraphBuilder:
    """Collects nodes and constants; every method that adds a node returns the name of its output."""

    def __init__(self, *, int8: bool) -> None:
        self._int8 = int8
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

    def linear_weight(self, name: str, weight: npt.NDArray[np.float32]) -> str:
        """`weight` [in, out] for a product from the right; int8: one scale per output channel.

        The DequantizeLinear has constant inputs, so ONNX Runtime folds it to float32 once, at load.
        """
        if not self._int8:
            return self.constant(name, weight)
        stored, scale = quantise(weight, axis=0)
        inputs = self.constant(name + ".int8", stored), self.constant(name + ".scale", scale[0])
        return self.add("DequantizeLinear", *inputs, axis=1)

    def rows(self, name: str, table: npt.NDArray[np.float32], indices: str) -> str:
        """Rows of `table` [rows, width]; int8: one scale per row, and only the gathered rows become float32."""
        if not self._int8:
            return self.add("Gather", self.constant(name, table), indices)
        stored, scale = quantise(table, axis=1)
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


def quantise(weight: npt.NDArray[np.float32], axis: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Symmetric int8: `weight` ~ stored * scale, the scale being max |weight| / 127 along `axis` (kept as size 1)."""
    scale = np.abs(weight).max(axis=axis, keepdims=True) / np.float32(127)
    scale = np.where(scale == 0, np.float32(1), scale).astype(np.float32)
    return np.clip(np.rint(weight / scale), -127, 127).astype(np.int8), scale
