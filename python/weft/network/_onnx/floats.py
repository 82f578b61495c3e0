"""Nodes between DequantizeLinear and QuantizeLinear (the QDQ format), by the arithmetic of integers that docs/networks.md has."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import helper

from .._graph import Node, extents_of
from . import integers, products, tables, windows
from .importer import Importer
from .values import Constant, FloatInput, Function, Integers, Pending, Quantization, Refused, quantized, unquantized

# Functions of one element, or of several that come from the same one: what is between two quantizations becomes a table.
UNARY = ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Div", "Elu", "Erf", "Exp", "FastGelu",
         "Floor", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Max", "Min", "Mish", "Neg", "PRelu", "Pow", "QuickGelu", "Reciprocal",
         "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Swish", "Tan", "Tanh",
         "ThresholdedRelu")


def dequantized(imp: Importer, x: Integers, output: str) -> Function:
    """The floats for which a tensor stands."""
    q = imp.quantization_of(x)
    scale, zero_point = f"{output}/scale", f"{output}/zero_point"
    node = helper.make_node("DequantizeLinear", [x.tensor, scale, zero_point], [output])
    return Function(x, x.shape, q, [node], {scale: np.array(q.scale, np.float32), zero_point: np.array(q.zero_point, q.element)})


def _dequantize(imp: Importer, onnx_node: Any, name: str) -> Any:
    a = imp.attributes(onnx_node, axis=1, block_size=0, output_dtype=0)
    x = imp.value(onnx_node, 0, Constant, Integers)
    if a["block_size"] or a["output_dtype"] not in (0, 1):
        raise Refused(f"its block_size={a['block_size']} and output_dtype={a['output_dtype']} are not those of one scale and floats")
    if isinstance(x, Constant):
        scale = imp.constant(onnx_node, 1)
        return Constant(x.array, scale, imp.optional(onnx_node, 2), a["axis"] % max(x.array.ndim, 1))
    x, _ = imp.integers(onnx_node, 0, 1, 2)
    return dequantized(imp, x, onnx_node.output[0])


def _quantize(imp: Importer, onnx_node: Any, name: str) -> Any:
    a = imp.attributes(onnx_node, axis=1, block_size=0, output_dtype=0, precision=0, saturate=1)
    x = imp.value(onnx_node, 0, Constant, FloatInput, Function, Pending)
    elements = {0: "uint8", 2: "uint8", 3: "int8"}
    if a["block_size"] or a["output_dtype"] not in elements or a["precision"] not in (0, 1):
        raise Refused(f"its block_size={a['block_size']}, output_dtype={a['output_dtype']} and precision={a['precision']} are not those of one scale and bytes")
    if isinstance(x, Constant):
        return _quantized_constant(imp, onnx_node, x, a["axis"], elements[a["output_dtype"]])
    q = imp.quantization(onnx_node, 1, 2, elements[a["output_dtype"]])
    output = onnx_node.output[0]
    if isinstance(x, FloatInput):
        made = imp.emit(Node("quantize", name, []), [Integers(x.tensor, x.shape)], output, q)
        return Integers(made.tensor, x.shape)
    if isinstance(x, Pending):
        return written(imp, x, output, q)
    if x.only_dequantized and q == x.quantization:
        return Integers(x.source.tensor, x.shape)
    if x.only_dequantized:
        return imp.emit(Node("convert", name, []), [x.source], output, q, x.shape)
    return _table(imp, x, name, output, q)


def _table(imp: Importer, x: Function, name: str, output: str, q: Quantization) -> Integers:
    """What a function makes of each integer. name: the node's if the function has none."""
    node = Node("table", x.nodes[-1].name or name, [], table=tables.quantized_table(x, q, imp.opsets))
    return imp.emit(node, [x.source], output, q, x.shape)


def _quantized_constant(imp: Importer, onnx_node: Any, x: Constant, axis: int, element: str) -> Constant:
    """The integers of weights that are written as floats, as TensorRT's placement has them."""
    if x.scale is not None or x.array.dtype != np.float32:
        raise Refused(f"its input {onnx_node.input[0]} is a constant of {x.array.dtype}, and no floats")
    scale, axis = imp.constant(onnx_node, 1), axis % max(x.array.ndim, 1)
    zero_point = imp.optional(onnx_node, 2, np.zeros(scale.shape, element))
    if zero_point.dtype not in (np.int8, np.uint8):
        raise Refused(f"its integers are of {zero_point.dtype}, and int8 and uint8 are known here")
    if scale.dtype != np.float32 or scale.shape != zero_point.shape or not np.all(np.isfinite(scale) & (scale > 0)):
        raise Refused("its scales are not finite floats above 0, one for each zero point")
    if scale.size != 1 and scale.shape != x.array.shape[axis:axis + 1]:
        raise Refused(f"it has {scale.size} scales, and its input {x.array.shape[axis] if x.array.ndim else 1} indices of axis {axis}")
    along = [-1 if i == axis and scale.size > 1 else 1 for i in range(x.array.ndim)]
    with np.errstate(over="ignore", invalid="ignore"):
        return Constant(quantized(x.array, scale.reshape(along), zero_point.reshape(along)))


def written(imp: Importer, x: Pending, output: str, q: Quantization) -> Integers:
    """Rounds what an operator made to integers. Relu and Clip then are bounds of the integers: rounding keeps the order."""
    if q in x.written:
        return Integers(x.written[q].tensor, x.shape)
    limits = np.iinfo(q.element)
    low, high = q.integer(x.low), q.integer(x.high)
    clamps = low > limits.min or high < limits.max
    made = x.emit(output + "_unclamped" if clamps else output, q)
    if clamps:
        every = np.arange(256, dtype=np.uint8).view(q.element)
        node = Node("table", f"{x.name}_clamp", [], table=np.clip(every, low, high).astype(q.element).view(np.uint8))
        made = imp.emit(node, [made], output, q, made.shape)
    x.written[q] = made
    return Integers(made.tensor, x.shape)


def waiting(imp: Importer, x: Function) -> Pending:
    """A function's floats as those that wait for their QuantizeLinear, with which they are a table."""
    name = x.nodes[-1].output[0]
    if name not in imp.waiting or imp.waiting[name].shape != x.shape:
        imp.waiting[name] = Pending(name, x.shape, lambda output, q: _table(imp, x, name, output, q))
    return imp.waiting[name]


def _is_written(x: Any) -> bool:
    """Whether a function gives numbers that its source's own scale and zero point have."""
    return all(n.op_type in ("DequantizeLinear", "Identity", "Relu") for n in x.nodes)


def _source(imp: Importer, onnx_node: Any, at: int) -> Integers:
    """A dequantized tensor that a node reads, as integers in the shape that the node sees."""
    x = imp.value(onnx_node, at, Function)
    if x.only_dequantized:
        return Integers(x.source.tensor, x.shape)
    if not _is_written(x):
        raise Refused(unquantized(onnx_node.input[at], "Relu"))
    name = x.nodes[-1].output[0]
    if name not in imp.written:
        imp.written[name] = _table(imp, x, name, f"{name}_integers", x.quantization)
    return Integers(imp.written[name].tensor, x.shape)


def _pending(imp: Importer, node: Node, sources: list[Integers], shape: tuple[int, ...]) -> Pending:
    """Each other QuantizeLinear behind the operator emits a copy of the node, with a name and an output of its own."""
    return Pending(node.name, shape, lambda output, q: imp.emit(replace(node), sources, output, q, shape))


def _conv(imp: Importer, onnx_node: Any, name: str) -> Pending:
    return products.convolution(imp, onnx_node, name, _source(imp, onnx_node, 0))


def _gemm(imp: Importer, onnx_node: Any, name: str) -> Pending:
    return products.fully_connected(imp, onnx_node, name, _source(imp, onnx_node, 0))


def _binary(kind: str):
    def run(imp: Importer, onnx_node: Any, name: str) -> Any:
        a, b = (imp.value(onnx_node, at, Function, Constant, Pending) for at in (0, 1))
        if isinstance(a, Pending) != isinstance(b, Pending):
            x, other, at = (a, b, 1) if isinstance(a, Pending) else (b, a, 0)
            if isinstance(other, Constant):
                return products.with_constant(imp, onnx_node, x, at)
            if kind == "add":
                return products.plus_residual(imp, onnx_node, x, _source(imp, onnx_node, at))
        if kind == "add" and isinstance(a, Pending):
            raise Refused(f"it adds the floats of {a.name} and {b.name}, which both are not quantized; of one of them there would be a QuantizeLinear and a "
                          "DequantizeLinear")
        if isinstance(a, Constant) or isinstance(b, Constant) or (
                isinstance(a, Function) and isinstance(b, Function) and a.source.tensor == b.source.tensor):
            return _function(imp, onnx_node, name)
        imp.attributes(onnx_node)
        a, b = _source(imp, onnx_node, 0), _source(imp, onnx_node, 1)
        shape = a.shape if math.prod(a.shape) >= math.prod(b.shape) else b.shape
        return Pending(name, shape, lambda output, q: integers.emit_binary(imp, Node(kind, name, []), a, b, output, q))

    return run


def _average_pool(imp: Importer, onnx_node: Any, name: str) -> Pending:
    x = _source(imp, onnx_node, 0)
    a = imp.attributes(onnx_node, **windows.ATTRIBUTES, ceil_mode=0, count_include_pad=0)
    node = integers.average_pool(imp, name, a, x)
    return _pending(imp, node, [x], (x.shape[0], *extents_of(node, *x.shape[1:])))


def _global_average_pool(imp: Importer, onnx_node: Any, name: str) -> Pending:
    x = _source(imp, onnx_node, 0)
    imp.image(x)
    keeps = True
    if onnx_node.op_type == "ReduceMean":
        a = imp.attributes(onnx_node, axes=None, keepdims=1, noop_with_empty_axes=0)
        axes = a["axes"] if a["axes"] is not None else imp.optional(onnx_node, 1, np.zeros(0)).reshape(-1).tolist()
        if sorted(axis % 4 for axis in axes) != [2, 3]:
            raise Refused(f"its axes {axes} are not rows and columns, 2 and 3")
        keeps = bool(a["keepdims"])
    return _pending(imp, Node("global_average_pool", name, []), [x], (x.shape[0], 1, 1) if keeps else x.shape[:1])


def _concat(imp: Importer, onnx_node: Any, name: str) -> Pending:
    """Floats of operators and functions are quantized as the concatenation is; other tensors are converted by it."""
    values = [imp.value(onnx_node, at, Function, Pending) for at in range(len(onnx_node.input))]
    values = [x if isinstance(x, Pending) else _source(imp, onnx_node, at) if _is_written(x) else waiting(imp, x) for at, x in enumerate(values)]
    if imp.attributes(onnx_node, axis=None)["axis"] not in (1, -len(values[0].shape)):
        raise Refused("its axis is not 1; only channels are concatenated")
    shape = (sum(x.shape[0] for x in values), *values[0].shape[1:])

    def emit(output: str, q: Quantization) -> Integers:
        sources = [written(imp, x, f"{output}_{at}", q) if isinstance(x, Pending) else x for at, x in enumerate(values)]
        return integers.concat(imp, name, sources, output, q)

    return Pending(name, shape, emit)


def _clamp(imp: Importer, onnx_node: Any, name: str) -> Any:
    """Relu and Clip."""
    x = imp.value(onnx_node, 0, Function, Pending)
    if isinstance(x, Function):
        return _function(imp, onnx_node, name)
    low, high = 0.0, math.inf
    if onnx_node.op_type == "Clip":
        a = imp.attributes(onnx_node, min=-math.inf, max=math.inf)
        low = float(imp.scalar(onnx_node, 1)) if imp.has(onnx_node, 1) else a["min"]
        high = float(imp.scalar(onnx_node, 2)) if imp.has(onnx_node, 2) else a["max"]
    bounded = [min(max(bound, low), high) for bound in (x.low, x.high)]
    return Pending(x.name, x.shape, x.emit, *bounded, product=x.product)


def _function(imp: Importer, onnx_node: Any, name: str) -> Function:
    """A function of floats that are each a function of one element of one tensor."""
    nodes: dict[str, Any] = {}
    constants: dict[str, np.ndarray] = {}
    found: Function | None = None
    for at, value_name in enumerate(onnx_node.input):
        if not value_name:
            continue
        value = imp.value(onnx_node, at, Function, Constant)
        if isinstance(value, Constant):
            if value.array.size != 1:
                raise Refused(f"its input {value_name} is a constant of {value.array.size} numbers; only a single one makes it a function of one element")
            constants[value_name] = value.array if value.scale is None else _real(value)
        else:
            if found is not None and (value.source.tensor != found.source.tensor or value.shape != found.shape):
                raise Refused("it computes floats of several tensors between DequantizeLinear and QuantizeLinear")
            found = value
            nodes.update((n.output[0], n) for n in value.nodes)
            constants.update(value.constants)
            if value.nodes[-1].output[0] != value_name:  # a Flatten or the like lies between
                alias = helper.make_node("Identity", [value.nodes[-1].output[0]], [value_name])
                nodes[value_name] = alias
    if found is None:
        raise Refused("it computes a constant")
    nodes[onnx_node.output[0]] = onnx_node
    return Function(found.source, found.shape, found.quantization, list(nodes.values()), constants)


def _real(value: Constant) -> np.ndarray:
    assert value.scale is not None
    zero_point = 0 if value.zero_point is None else value.zero_point.astype(np.int32)
    return ((value.array.astype(np.int32) - zero_point).astype(np.float32) * value.scale.astype(np.float32)).reshape(value.array.shape)


NODES = {"QuantizeLinear": _quantize, "DequantizeLinear": _dequantize, "Conv": _conv, "Gemm": _gemm, "MatMul": _gemm, "Add": _binary("add"),
         "Mul": _binary("multiply"), "AveragePool": _average_pool, "GlobalAveragePool": _global_average_pool, "ReduceMean": _global_average_pool,
         "Concat": _concat, "BatchNormalization": products.batch_normalization, **dict.fromkeys(UNARY, _function), "Relu": _clamp, "Clip": _clamp}
