"""Convolutions and fully connected layers of floats, and what follows them before their QuantizeLinear: constants for each output channel
and a residual, which become part of the layer, so that its result is rounded once."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._graph import Node, bias_room, extents_of
from . import integers
from .importer import Importer
from .values import Constant, Integers, Pending, Quantization, Refused


@dataclass(frozen=True)
class Product:
    """A layer whose output is not written yet."""

    node: Node  # its bias is of integers
    sources: list[Integers]  # what it multiplies, and a residual
    shape: tuple[int, ...]  # of its output, as the model sees it
    bias: np.ndarray | None = None  # float32, k real numbers, if it is of floats; node.bias is None then


def _unit(imp: Importer, product: Product) -> np.ndarray:
    """The real value of a step of the sums, for each output channel."""
    return np.float32(imp.quantization_of(product.sources[0]).scale) * product.node.filter_scale


def _with_steps(imp: Importer, product: Product, bias: np.ndarray) -> Node:
    """The node with a bias of floats as integers. A channel whose bias would be beyond check_sums gets larger steps, of its weights as well."""

    def in_steps() -> np.ndarray:
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            return np.where(bias == 0, 0, np.rint(bias / _unit(imp, replace(product, node=node)))).astype(np.float64)

    node = replace(product.node)
    steps = in_steps()
    room = max(bias_room(node), 1)
    beyond = ~(np.abs(steps) <= room)
    if np.any(beyond):
        old = np.broadcast_to(node.filter_scale.astype(np.float64), len(bias))
        source = float(np.float32(imp.quantization_of(product.sources[0]).scale))
        with np.errstate(over="ignore", under="ignore"):  # a little less than the room, as floats are rounded
            node.filter_scale = np.where(beyond, np.abs(bias.astype(np.float64)) / (source * room * (1 - 2**-20)), old).astype(np.float32)
        steps = in_steps()
        wrong = ~((np.abs(steps) <= room) & np.isfinite(node.filter_scale) & (node.filter_scale > 0))
        if np.any(wrong):
            raise Refused(f"the bias of {node.name} is {str(bias[wrong][0])} in channel {np.flatnonzero(wrong)[0]}, which no scale of its weights makes an "
                          f"integer of int32, with a source of scale {str(np.float32(source))}")
        ratio = np.where(beyond, old / node.filter_scale, 1).reshape(-1, *[1] * (node.filter.ndim - 1))
        node.filter = np.clip(np.rint(node.filter * ratio), -128, 127).astype(np.int8)
    node.bias = steps.astype(np.int32)
    return node


def _finite(bias: np.ndarray, what: str) -> np.ndarray:
    """The bias, k real numbers, as float32."""
    with np.errstate(over="ignore"):
        rounded = bias.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(rounded))
    if wrong.size:
        raise Refused(f"{what} is {str(bias[wrong[0]])} in channel {wrong[0]}, and must be a finite number of float32")
    return rounded


def pending(imp: Importer, product: Product) -> Pending:
    """The floats of a layer. Each other QuantizeLinear behind it emits a copy of the node, with a name and an output of its own."""

    def emit(output: str, q: Quantization | None) -> Integers:
        node = replace(product.node) if product.bias is None else _with_steps(imp, product, product.bias)
        return imp.emit(node, product.sources, output, q, product.shape)

    return Pending(product.node.name, product.shape, emit, product=product)


def writes_floats(x: Pending) -> bool:
    """Whether the floats themselves can be an output of the model."""
    return x.product is not None and len(x.product.sources) == 1 and (x.low, x.high) == (-np.inf, np.inf)


def _weights(imp: Importer, onnx_node: Any, axis: int) -> Constant:
    value: Constant = imp.value(onnx_node, 1, Constant)
    if value.scale is None:
        raise Refused("its weights are floats; they would be quantized, with a DequantizeLinear between them and the node")
    if value.scale.size > 1 and value.axis != axis:
        raise Refused(f"the scales of its weights are along axis {value.axis}, and not of output channels, axis {axis}")
    return value


def _with_bias(imp: Importer, onnx_node: Any, product: Product) -> Product:
    """The layer with the node's own bias, in units of the source's scale times the filter's."""
    if not imp.has(onnx_node, 2):
        return product
    value, k, unit = imp.value(onnx_node, 2, Constant), len(product.node.filter), _unit(imp, product)
    if value.array.size != k or value.array.shape[-1:] != (k,):
        raise Refused(f"its bias is of shape {value.array.shape}, and it has {k} output channels")
    if value.scale is None and value.array.dtype != np.float32:
        raise Refused(f"its bias is of {value.array.dtype}; it would be of float32, or of int32 behind a DequantizeLinear")
    if value.scale is None:
        return replace(product, bias=_finite(value.array.reshape(-1), "its bias"))
    given = np.broadcast_to(value.scale.astype(np.float32).reshape(-1), k)
    if not np.all(np.abs(given - unit) <= unit * np.float32(1e-6)) or (value.zero_point is not None and np.any(value.zero_point)):
        raise Refused("the scale of its bias is not that of its input times that of its weights, or its zero point is not 0")
    return replace(product, node=replace(product.node, bias=integers.bias_of(value.array, k)))


def convolution(imp: Importer, onnx_node: Any, name: str, x: Integers) -> Pending:
    """Conv of x."""
    a = imp.attributes(onnx_node, **integers.CONVOLUTION)
    w = _weights(imp, onnx_node, 0)
    node = Node("convolution", name, [])
    integers.set_convolution(node, a, imp.image(x), w.array, w.zero_point, w.scale)
    product = Product(node, [x], (len(w.array), *extents_of(node, *x.shape[1:])))
    return pending(imp, _with_bias(imp, onnx_node, product))


def fully_connected(imp: Importer, onnx_node: Any, name: str, x: Integers) -> Pending:
    """Gemm and MatMul of x."""
    transposed = False
    if onnx_node.op_type == "Gemm":
        a = imp.attributes(onnx_node, alpha=1.0, beta=1.0, transA=0, transB=0)
        if a["alpha"] != 1.0 or a["beta"] != 1.0 or a["transA"]:
            raise Refused(f"its alpha={a['alpha']}, beta={a['beta']} and transA={a['transA']} are not 1, 1 and 0")
        transposed = bool(a["transB"])
    else:
        imp.attributes(onnx_node)
    w = _weights(imp, onnx_node, 0 if transposed else 1)
    if w.array.ndim != 2:
        raise Refused("its weights are no matrix")
    node = Node("fully_connected", name, [])
    shape = integers.set_fully_connected(imp, node, x, w.array if transposed else w.array.T, w.zero_point, w.scale)
    product = Product(node, [x], shape)
    return pending(imp, _with_bias(imp, onnx_node, product) if onnx_node.op_type == "Gemm" else product)


def _open(x: Pending, what: str) -> Product:
    """The layer that makes x, if something may still become part of it."""
    product: Product | None = x.product
    if product is None:
        raise Refused(f"it {what} the floats of {x.name}, which is no convolution or fully connected layer, and behind which there is no QuantizeLinear")
    if x.shape != product.shape or (x.low, x.high) != (-np.inf, np.inf) or len(product.sources) > 1:
        raise Refused(f"it {what} the floats of {x.name}, behind which there is a Relu, a Clip, a Reshape or an Add, and no QuantizeLinear")
    return product


def _of_channels(product: Product, constant: np.ndarray, name: str) -> np.ndarray:
    """A constant that has a number for each output channel, or one for all, as k of double."""
    k, behind = product.shape[0], len(product.shape) - 1
    shape = constant.shape
    wanted = (k, *[1] * behind)
    if constant.size != 1 and (shape[-len(wanted):] != wanted or constant.size != k):
        raise Refused(f"its input {name} is of shape {shape}, and not one number for each of {k} output channels, {wanted}, or one for all")
    return np.broadcast_to(constant.astype(np.float64).reshape(-1), k)


def _scaled(imp: Importer, product: Product, factor: np.ndarray, shift: np.ndarray) -> Pending:
    """factor times the layer's result plus shift, each k of double: of the layer's scales and its bias, which are rounded once."""
    unit = _unit(imp, product).astype(np.float64)
    bias = np.zeros(len(factor)) if product.bias is None else product.bias.astype(np.float64)
    if product.node.bias is not None:
        bias = product.node.bias * unit
    node = replace(product.node, bias=None)
    if np.any(factor != 1):
        scale = np.broadcast_to(node.filter_scale.astype(np.float64), len(factor)) * np.abs(factor)
        sign = np.sign(factor).astype(np.int32).reshape(-1, *[1] * (node.filter.ndim - 1))
        weights = node.filter * sign
        if weights.max() > 127:
            raise Refused("a factor below 0 makes 128 of the weight -128 before it, which is no int8")
        node.filter = weights.astype(np.int8)
        with np.errstate(over="ignore", under="ignore"):
            node.filter_scale = np.where(factor == 0, node.filter_scale, scale.astype(np.float32)).astype(np.float32)
        if not np.all(np.isfinite(node.filter_scale) & (node.filter_scale > 0)):
            raise Refused("with its factors the scales of the weights before it are not finite and above 0")
    with np.errstate(over="ignore", invalid="ignore"):
        bias = factor * bias + shift
    return pending(imp, replace(product, node=node, bias=_finite(bias, f"with its constants the bias of {node.name}")))


def with_constant(imp: Importer, onnx_node: Any, x: Pending, at: int) -> Pending:
    """Add or Mul of a layer's result and the constant at a place."""
    imp.attributes(onnx_node)
    adds = onnx_node.op_type == "Add"
    product = _open(x, "adds a constant to" if adds else "multiplies")
    numbers = _of_channels(product, imp.constant(onnx_node, at), onnx_node.input[at])
    if not np.all(np.isfinite(numbers)):
        raise Refused(f"its input {onnx_node.input[at]} has numbers that are not finite")
    return _scaled(imp, product, np.ones(len(numbers)), numbers) if adds else _scaled(imp, product, numbers, np.zeros(len(numbers)))


def batch_normalization(imp: Importer, onnx_node: Any, name: str) -> Pending:
    """BatchNormalization of a layer's result."""
    a = imp.attributes(onnx_node, epsilon=1e-5, momentum=0.9, training_mode=0, spatial=1)
    if a["training_mode"] or a["spatial"] != 1:
        raise Refused(f"its training_mode={a['training_mode']} and spatial={a['spatial']} are not 0 and 1")
    x = imp.value(onnx_node, 0)
    if not isinstance(x, Pending):
        raise Refused(f"it normalizes {onnx_node.input[0]}; only the result of a Conv, Gemm or MatMul is normalized here, with no QuantizeLinear between them")
    product = _open(x, "normalizes")
    scale, bias, mean, variance = (imp.constant(onnx_node, at) for at in range(1, 5))
    if any(c.shape != product.shape[:1] for c in (scale, bias, mean, variance)):
        raise Refused(f"its scale, bias, mean and variance are not {product.shape[0]} numbers each")
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = scale.astype(np.float64) / np.sqrt(variance.astype(np.float64) + a["epsilon"])
    if not np.all(np.isfinite(factor)):
        raise Refused("its scale by the root of its variance is no finite number")
    with np.errstate(invalid="ignore", over="ignore"):
        return _scaled(imp, product, factor, bias - mean * factor)


def plus_residual(imp: Importer, onnx_node: Any, x: Pending, residual: Integers) -> Pending:
    """Add of a layer's result and of a dequantized tensor, in which the result is rounded once."""
    imp.attributes(onnx_node)
    product = _open(x, "adds a tensor to")
    if residual.shape != product.shape or imp.unchanged(residual) != (*product.shape, 1, 1)[:3]:
        raise Refused(f"it adds {residual.shape} and {product.shape} behind the batch; a residual has the shape of the layer's result")
    return pending(imp, replace(product, sources=[*product.sources, residual]))
