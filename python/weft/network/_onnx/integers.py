"""Nodes that read and write integers, the operators of onnxruntime's QOperator format. One function for each kind of node."""
from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from .._graph import Node
from . import tables, windows
from .importer import Importer
from .values import Constant, Integers, Quantization, Refused


def filter_of(weights: np.ndarray, zero_point: np.ndarray | None) -> np.ndarray:
    """Weights (k, ...) of int8, or of uint8, as int8 whose zero point is 0: the difference, where it is one."""
    if weights.dtype not in (np.int8, np.uint8):
        raise Refused(f"its weights are of {weights.dtype}, and int8 and uint8 are known here")
    if zero_point is None or not np.any(zero_point):
        zero_point = np.zeros(1, weights.dtype)
    if zero_point.size not in (1, len(weights)):
        raise Refused(f"its weights have {zero_point.size} zero points and {len(weights)} output channels")
    difference = weights.astype(np.int32) - zero_point.astype(np.int32).reshape(-1, *[1] * (weights.ndim - 1))
    if difference.size and (difference.min() < -128 or difference.max() > 127):
        raise Refused(f"its weights less their zero point are {difference.min()} to {difference.max()}, and must be int8: "
                      "quantize them symmetrically (WeightSymmetric), or as uint8 with zero point 128")
    return difference.astype(np.int8)


def filter_scale_of(scale: np.ndarray, k: int) -> np.ndarray:
    """One float or one for each of k channels."""
    if scale.size not in (1, k) or not np.all(np.isfinite(scale) & (scale > 0)):
        raise Refused(f"the scale of its weights is not one number or {k}, finite and above 0")
    return scale.astype(np.float32).reshape(-1)


def bias_of(bias: np.ndarray | None, k: int) -> np.ndarray | None:
    """k of int32, or none."""
    if bias is not None and (bias.dtype != np.int32 or bias.size != k or bias.shape[-1:] != (k,)):
        raise Refused(f"its bias is of shape {bias.shape} and {bias.dtype}, not of ({k},) and int32")
    return None if bias is None else bias.reshape(-1)


def set_convolution(node: Node, a: dict[str, Any], shape: tuple[int, ...], weights: np.ndarray, zero_point: np.ndarray | None,
                    scale: np.ndarray) -> None:
    """Sets window, groups and filter of a convolution over images of `shape`."""
    if weights.ndim != 4:
        raise Refused(f"its weights have {weights.ndim} dimensions, not 4 (k, c / groups, r, s)")
    windows.set_window(node, a, shape, weights.shape[2:])
    windows.check_extents(node, shape[1:])
    node.groups = a["group"]
    if node.groups < 1 or len(weights) % node.groups or weights.shape[1] * node.groups != shape[0]:
        raise Refused(f"its {node.groups} groups and weights {weights.shape} do not fit {shape[0]} channels")
    node.filter, node.filter_scale = filter_of(weights, zero_point), filter_scale_of(scale, len(weights))


CONVOLUTION = dict(windows.ATTRIBUTES, group=1)


def _qlinear_conv(imp: Importer, onnx_node: Any, name: str) -> Integers:
    x, _ = imp.integers(onnx_node, 0, 1, 2)
    a = imp.attributes(onnx_node, **CONVOLUTION)
    weights = imp.constant(onnx_node, 3)
    node = Node("convolution", name, [])
    set_convolution(node, a, imp.image(x), weights, imp.optional(onnx_node, 5), imp.constant(onnx_node, 4))
    node.bias = bias_of(imp.optional(onnx_node, 8), len(weights))
    return imp.emit(node, [x], onnx_node.output[0], imp.quantization(onnx_node, 6, 7))


def set_fully_connected(imp: Importer, node: Node, x: Integers, weights: np.ndarray, zero_point: np.ndarray | None,
                        scale: np.ndarray) -> tuple[int, ...]:
    """Sets the filter of a fully connected layer from weights (k, c h w), and gives the shape that the model sees."""
    if weights.ndim != 2 or len(x.shape) != 1 or weights.shape[1] != x.shape[0]:
        raise Refused(f"it multiplies {x.shape} behind the batch by weights {weights.shape[::-1]}, and is no fully connected layer")
    node.filter, node.filter_scale = filter_of(weights, zero_point), filter_scale_of(scale, len(weights))
    return (len(weights),)


def _qgemm(imp: Importer, onnx_node: Any, name: str) -> Integers:
    x, read = imp.integers(onnx_node, 0, 1, 2)
    a = imp.attributes(onnx_node, alpha=1.0, transA=0, transB=0)
    if a["alpha"] != 1.0 or a["transA"]:
        raise Refused(f"its alpha={a['alpha']} and transA={a['transA']} are not 1 and 0")
    weights = imp.constant(onnx_node, 3)
    if weights.ndim != 2:
        raise Refused("its weights are no matrix")
    if not imp.has(onnx_node, 7):
        raise Refused("it gives floats, as it has no y_scale; quantize its output")
    node = Node("fully_connected", name, [])
    shape = set_fully_connected(imp, node, x, weights if a["transB"] else weights.T, imp.optional(onnx_node, 5), imp.constant(onnx_node, 4))
    node.bias = bias_of(imp.optional(onnx_node, 6), len(node.filter))
    return imp.emit(node, [x], onnx_node.output[0], imp.quantization(onnx_node, 7, 8, read.element), shape)


def _qlinear_matmul(imp: Importer, onnx_node: Any, name: str) -> Integers:
    x, _ = imp.integers(onnx_node, 0, 1, 2)
    imp.attributes(onnx_node)
    weights = imp.constant(onnx_node, 3)
    if weights.ndim != 2:
        raise Refused("its second matrix is no constant matrix")
    node = Node("fully_connected", name, [])
    shape = set_fully_connected(imp, node, x, weights.T, imp.optional(onnx_node, 5), imp.constant(onnx_node, 4))
    return imp.emit(node, [x], onnx_node.output[0], imp.quantization(onnx_node, 6, 7), shape)


def _binary(kind: str):
    def run(imp: Importer, onnx_node: Any, name: str) -> Integers:
        imp.attributes(onnx_node)
        constant = [isinstance(imp.value(onnx_node, at), Constant) for at in (0, 3)]
        if any(constant):
            return _with_constant(imp, onnx_node, name, 0 if constant[1] else 3)
        (a, qa), (b, qb) = imp.integers(onnx_node, 0, 1, 2), imp.integers(onnx_node, 3, 4, 5)
        output = imp.quantization(onnx_node, 6, 7, qa.element)
        return emit_binary(imp, Node(kind, name, []), a, b, onnx_node.output[0], output)

    return run


def emit_binary(imp: Importer, node: Node, a: Integers, b: Integers, name: str, output: Quantization) -> Integers:
    """Emits add or multiply. Of a product the larger factor comes first; each rounding is that of the other order."""
    if node.kind == "multiply" and imp.unchanged(a)[1:] == (1, 1) and len(b.shape) == 3:
        a, b = b, a
    if len(a.shape) != len(b.shape):
        raise Refused(f"it broadcasts {a.shape} and {b.shape} behind the batch")
    imp.unchanged(a), imp.unchanged(b)
    return imp.emit(node, [a, b], name, output, a.shape)


def _with_constant(imp: Importer, onnx_node: Any, name: str, at: int) -> Integers:
    """A sum or product with one number is a table."""
    if imp.constant(onnx_node, 3 - at).size != 1:
        raise Refused("one of its inputs is a constant of many numbers; tensors that the model computes, and single numbers, are known here")
    return _table(imp, onnx_node, name, at, 6)


def _table(imp: Importer, onnx_node: Any, name: str, x: int = 0, y: int = 3) -> Integers:
    """A node of one tensor of integers, at input x, whose output's scale is input y."""
    value, read = imp.integers(onnx_node, x, x + 1, x + 2)
    output = imp.quantization(onnx_node, y, y + 1, read.element)
    constants = {i: imp.constant(onnx_node, at) for at, i in enumerate(onnx_node.input) if i and at != x}
    whole = onnx.NodeProto()
    whole.CopyFrom(onnx_node)
    whole.input.extend([""] * (y + 2 - len(whole.input)))  # onnxruntime reads an optional zero point that the node does not list
    node = Node("table", name, [], table=tables.table_of([whole], {onnx_node.input[x]: read.element}, constants, onnx_node.output[0], imp.opsets))
    return imp.emit(node, [value], onnx_node.output[0], output, value.shape)


def _unary(**attributes: float):
    def run(imp: Importer, onnx_node: Any, name: str) -> Integers:
        imp.attributes(onnx_node, **attributes)
        return _table(imp, onnx_node, name)

    return run


def _qlinear_average_pool(imp: Importer, onnx_node: Any, name: str) -> Integers:
    x, read = imp.integers(onnx_node, 0, 1, 2)
    a = imp.attributes(onnx_node, **windows.ATTRIBUTES, ceil_mode=0, channels_last=0, count_include_pad=0)
    node = average_pool(imp, name, a, x)
    return imp.emit(node, [x], onnx_node.output[0], imp.quantization(onnx_node, 3, 4, read.element))


def average_pool(imp: Importer, name: str, a: dict[str, Any], x: Integers) -> Node:
    """The node of an average pooling of x with attributes of ONNX."""
    if a.get("channels_last"):
        raise Refused("its channels are last (channels_last); onnxruntime's optimizer made it so: give the model before")
    node = Node("average_pool", name, [], count_padding=bool(a["count_include_pad"]))
    shape = imp.image(x)
    windows.set_window(node, a, shape, tuple(a["kernel_shape"] or ()))
    if a["ceil_mode"]:
        windows.round_up(node, shape[1:])
    windows.check_extents(node, shape[1:])
    return node


def _qlinear_global_average_pool(imp: Importer, onnx_node: Any, name: str) -> Integers:
    x, read = imp.integers(onnx_node, 0, 1, 2)
    if imp.attributes(onnx_node, channels_last=0)["channels_last"]:
        raise Refused("its channels are last (channels_last); onnxruntime's optimizer made it so: give the model before")
    imp.image(x)
    return imp.emit(Node("global_average_pool", name, []), [x], onnx_node.output[0], imp.quantization(onnx_node, 3, 4, read.element))


def _qlinear_concat(imp: Importer, onnx_node: Any, name: str) -> Integers:
    if imp.attributes(onnx_node, axis=None)["axis"] not in (1, -3):
        raise Refused("its axis is not 1; only channels are concatenated")
    output = imp.quantization(onnx_node, 0, 1)
    sources = [imp.integers(onnx_node, at, at + 1, at + 2)[0] for at in range(2, len(onnx_node.input), 3)]
    return concat(imp, name, sources, onnx_node.output[0], output)


def concat(imp: Importer, name: str, sources: list[Integers], output_name: str, output: Quantization) -> Integers:
    """Emits a concatenation of channels. The order of channels in memory is theirs in the model's tensors."""
    if len({len(value.shape) for value in sources}) != 1:
        raise Refused("it concatenates tensors of several numbers of dimensions")
    for value in sources:
        imp.unchanged(value)
    shape = None if len(sources[0].shape) == 3 else (sum(value.shape[0] for value in sources),)
    return imp.emit(Node("concat", name, []), sources, output_name, output, shape)


NODES = {
    "QLinearConv": _qlinear_conv,
    "QGemm": _qgemm,
    "QLinearMatMul": _qlinear_matmul,
    "QLinearAdd": _binary("add"),
    "QLinearMul": _binary("multiply"),
    "QLinearSigmoid": _unary(),
    "QLinearLeakyRelu": _unary(alpha=0.01),
    "QLinearAveragePool": _qlinear_average_pool,
    "QLinearGlobalAveragePool": _qlinear_global_average_pool,
    "QLinearConcat": _qlinear_concat,
}
