"""The graph that an import writes, and what all kinds of nodes ask of the model."""
from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
import onnx

from .._graph import ELEMENTS, ONE_ELEMENT, Graph, Node, Tensor, check_sums, output_shape
from .values import Constant, Failed, FloatInput, Function, Integers, Pending, Quantization, Refused

_value_of: Callable[[Any], Any] = onnx.helper.get_attribute_value
_INTEGERS = {np.dtype(np.int8): "int8", np.dtype(np.uint8): "uint8"}


def label(node: Any) -> str:
    """How sentences name a node of ONNX."""
    return f"{node.name or node.output[0]} ({node.op_type})"


class Importer:
    """The state of an import: the values that are known and the graph as far as it is written."""

    def __init__(self, name: str) -> None:
        self.graph = Graph(name)
        self.values: dict[str, Any] = {}
        self.batch: int | None = None  # what the model's inputs say, None if it is free
        self.opsets: list[tuple[str, int]] = []
        self.written: dict[str, Integers] = {}  # functions that became tensors without a QuantizeLinear, by the name of their last value
        self.waiting: dict[str, Pending] = {}  # functions of which floats are read, by their names
        self.read: set[str] = set()  # the values that nodes read, and the outputs of the model
        self.scaled: set[str] = set()  # inputs of integers of which a node has said the scale

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators."""
        return max((version for domain, version in self.opsets if domain in ("", "ai.onnx")), default=1)

    # What a node of ONNX reads.

    def attributes(self, node: Any, **defaults: Any) -> dict[str, Any]:
        """The attributes of a node, with defaults, whose types they have; an attribute that has none here is refused.

        The default None is of an attribute that is left out, of several integers or of the one integer `axis`.
        """
        found = dict(defaults)
        for attribute in node.attribute:
            if attribute.name not in defaults:
                raise Refused(f"its attribute {attribute.name} is not known here; {', '.join(defaults) or 'none'} would be")
            default = defaults[attribute.name]
            expected = int if attribute.name == "axis" else list if default is None else type(default)
            value: Any = attribute.s.decode(errors="replace") if attribute.type == attribute.STRING else _value_of(attribute)
            if not isinstance(value, expected) or (isinstance(value, list) and any(not isinstance(v, int) for v in value)):
                raise Refused(f"its attribute {attribute.name} is {value}, of another type than ONNX has")
            found[attribute.name] = value
        return found

    def value(self, node: Any, at: int, *kinds: type) -> Any:
        """The input at a place. kinds: what it may be."""
        if not self.has(node, at):
            raise Refused(f"its input {at} is left out")
        value = self.values.get(node.input[at])
        if value is None:
            raise Refused(f"it reads {node.input[at]}, which nothing writes")
        if kinds and not isinstance(value, kinds):
            raise Refused(self._mismatch(node.input[at], value, kinds))
        return value

    @staticmethod
    def has(node: Any, at: int) -> bool:
        """Whether an input is there."""
        return at < len(node.input) and bool(node.input[at])

    @staticmethod
    def _mismatch(name: str, value: Any, kinds: tuple[type, ...]) -> str:
        if isinstance(value, Pending):
            return f"it reads the floats of {value.name}, behind which there is no QuantizeLinear"
        if isinstance(value, Function):
            return f"it reads floats, {name}, which are computed between DequantizeLinear and QuantizeLinear by more than functions of one element"
        if isinstance(value, FloatInput):
            return f"it reads the floats of input {name}, behind which there is no QuantizeLinear"
        if isinstance(value, Constant):
            return f"its input {name} is a constant, and no tensor that the model computes"
        if kinds == (Constant,):
            return f"its input {name} is computed by the model, and must be a constant"
        return f"its input {name} is of integers, which it cannot read here"

    def constant(self, node: Any, at: int) -> Any:
        """The array of a constant input that was not dequantized."""
        value = self.value(node, at, Constant)
        if value.scale is not None:
            raise Refused(f"its input {node.input[at]} has a DequantizeLinear before it, where a plain constant is expected")
        return value.array

    def optional(self, node: Any, at: int, default: Any = None) -> Any:
        """The same, or default if it is left out."""
        return self.constant(node, at) if self.has(node, at) else default

    def scalar(self, node: Any, at: int) -> np.ndarray:
        """A constant of one element, as an array without dimensions."""
        array = self.constant(node, at)
        if array.size != 1:
            raise Refused(f"its input {at} is of {array.size} numbers, and one number is expected: a tensor has one scale and one zero point")
        return array.reshape(())

    def quantization(self, node: Any, scale: int, zero_point: int, element: str = "uint8") -> Quantization:
        """Scale and zero point that stand at two places. element: the type of the integers if there is no zero point."""
        given = self.scalar(node, scale)
        if given.dtype != np.float32:
            raise Refused(f"its scale {node.input[scale]} is of {given.dtype}, and must be of float32")
        s = float(given)
        if not (math.isfinite(s) and s > 0):
            raise Refused(f"its scale {node.input[scale]} is {s}, and must be finite and above 0")
        if not self.has(node, zero_point):
            return Quantization(element, s, 0)
        z = self.scalar(node, zero_point)
        if z.dtype not in _INTEGERS:
            raise Refused(f"its integers are of {z.dtype}, and int8 and uint8 are known here")
        return Quantization(_INTEGERS[z.dtype], s, int(z))

    def integers(self, node: Any, x: int, scale: int, zero_point: int) -> tuple[Integers, Quantization]:
        """A tensor of integers, and the scale and zero point with which the node reads it: those with which it was written."""
        value = self.value(node, x, Integers)
        tensor = self.graph.tensors[value.tensor]
        read = self.quantization(node, scale, zero_point, tensor.element)
        if value.tensor in self.graph.inputs and value.tensor not in self.scaled:
            tensor.scale, tensor.zero_point = read.scale, read.zero_point  # nobody else says them of an input
            self.scaled.add(value.tensor)
        written = self.quantization_of(value)
        if read != written:
            raise Refused(f"it reads {node.input[x]} as {read}, and it was written as {written}")
        return value, read

    def quantization_of(self, value: Integers) -> Quantization:
        """Of a tensor as it was written."""
        tensor = self.graph.tensors[value.tensor]
        return Quantization(tensor.element, tensor.scale, tensor.zero_point)

    def image(self, value: Integers) -> tuple[int, int, int]:
        """(c, h, w) of what a node reads that moves over images."""
        shape = self.unchanged(value)
        if len(value.shape) != 3:
            raise Refused(f"it reads a tensor of {len(value.shape)} dimensions behind the batch, not of 3, channels, rows and columns")
        return shape

    def unchanged(self, value: Integers) -> tuple[int, int, int]:
        """The same of a vector as well. Refuses a Reshape before the node that is more than a Flatten of one pixel."""
        shape = self.graph.tensors[value.tensor].shape
        if value.shape != shape and not (shape[1:] == (1, 1) and value.shape == shape[:1]):
            raise Refused(f"it reads {value.shape} behind the batch, a Reshape of {shape}; only fully connected layers read a reshaped tensor")
        return shape

    # What a node of ONNX writes.

    def emit(self, node: Node, inputs: list[Integers], name: str, quantization: Quantization | None, shape: tuple[int, ...] | None = None) -> Integers:
        """Puts a node into the graph, and the tensor that it writes. quantization: None of floats. shape: what the model sees of it."""
        try:
            made = output_shape(node, [self.graph.tensors[value.tensor].shape for value in inputs])
            if node.filter is not None:
                check_sums(node)
        except ValueError as error:
            raise Refused(str(error)) from None
        element = "float" if quantization is None else quantization.element
        elements = {self.graph.tensors[value.tensor].element for value in inputs} | {element}
        if node.kind in ONE_ELEMENT and len(elements) > 1:
            raise Refused(f"{node.name} reads and writes int8 and uint8 at once; one of them is expected")
        node.inputs, node.output = [value.tensor for value in inputs], self.new_tensor(name, element, made)
        if quantization is not None:
            tensor = self.graph.tensors[node.output]
            tensor.scale, tensor.zero_point = quantization.scale, quantization.zero_point
        self.put(node)
        return Integers(node.output, made if shape is None else shape)

    def put(self, node: Node) -> None:
        """Puts a node behind the others, with a name that none of them has."""
        node.name = _unused(node.name, {n.name for n in self.graph.nodes})
        self.graph.nodes.append(node)

    def new_tensor(self, name: str, element: str, shape: tuple[int, int, int]) -> str:
        """The name of a tensor that is put into the graph."""
        assert element in ELEMENTS
        name = _unused(name, self.graph.tensors)
        self.graph.tensors[name] = Tensor(name, element, shape)
        return name

    def failed(self, node: Any) -> bool:
        """Whether a node reads what another that cannot run would have written."""
        return any(isinstance(self.values.get(name), Failed) for name in node.input if name)


def _unused(name: str, taken: Any) -> str:
    number, made = 1, name
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    return made
