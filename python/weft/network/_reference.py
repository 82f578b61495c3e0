"""A graph in numpy: the formulas of docs/networks.md one after the other, to the bit, without a care for time."""
from __future__ import annotations

import time
from typing import Callable, Iterator

import numpy as np

from .. import _weft
from .._floats import fma
from ._file import check
from ._graph import Graph, Node, Tensor

_Arrays = dict[str, np.ndarray]


def run_reference(graph: Graph, inputs: _Arrays, seconds: dict[str, float] | None = None) -> _Arrays:
    """The outputs of a graph: a dictionary from their names to arrays (n, c, h, w), or (n, c) of one pixel.

    inputs: an array for each input of the graph, of the same shapes and of its element. seconds: is given the time of each node.
    """
    check(graph)
    values = {name: array_of(graph.tensors[name], inputs) for name in graph.inputs}
    last = {name: at for at, node in enumerate(graph.nodes) for name in node.inputs}
    for at, node in enumerate(graph.nodes):
        sources = [graph.tensors[name] for name in node.inputs]
        start = time.perf_counter()
        with np.errstate(over="ignore", invalid="ignore"):
            values[node.output] = _RUN[node.kind](node, sources, graph.tensors[node.output], [values[name] for name in node.inputs])
        if seconds is not None:
            seconds[node.name] = time.perf_counter() - start
        for name in node.inputs:
            if last[name] == at and name not in graph.outputs:
                values.pop(name, None)
    return {name: values[name].reshape(-1, *graph.tensors[name].seen_shape) for name in graph.outputs}


def array_of(tensor: Tensor, inputs: _Arrays) -> np.ndarray:
    """The array that is given for an input, as (n, c, h, w)."""
    wanted = f"(n, {', '.join(map(str, tensor.seen_shape))})"
    if tensor.name not in inputs:
        raise _weft.ArgumentError(f"weft: input {tensor.name} is missing, {tensor.dtype} {wanted}")
    x = np.asarray(inputs[tensor.name])
    if x.dtype != tensor.dtype:
        raise _weft.ArgumentTypeError(f"weft: {tensor.name}.dtype={x.dtype} is not {tensor.dtype}")
    if x.shape[1:] not in (tensor.shape, tensor.seen_shape) or not x.ndim:
        raise _weft.ArgumentError(f"weft: {tensor.name}.shape={x.shape} is not {wanted}")
    return x.reshape(x.shape[0], *tensor.shape)


def _round(real: np.ndarray, output: Tensor) -> np.ndarray:
    """Numbers in steps of the output, rounded to the nearest integer, ties to even, with the zero point added, saturated."""
    limits = np.iinfo(output.dtype)
    low, high = np.float32(limits.min - output.zero_point), np.float32(limits.max - output.zero_point)
    return (np.rint(np.clip(real, low, high)).astype(np.int32) + output.zero_point).astype(output.dtype)


def _round_with_zero_point(steps: np.ndarray, output: Tensor) -> np.ndarray:
    """The same where the zero point has been added already, to floats."""
    limits = np.iinfo(output.dtype)
    return np.clip(np.rint(steps), limits.min, limits.max).astype(output.dtype)


def _real(x: np.ndarray, tensor: Tensor) -> np.ndarray:
    return (x.astype(np.int32) - tensor.zero_point).astype(np.float32) * np.float32(tensor.scale)


def _quantize(node, sources, output, arrays):
    # A NaN becomes what the lowest number does.
    return _round(np.where(np.isnan(arrays[0]), np.float32(-np.inf), arrays[0]) / np.float32(output.scale), output)


def _dequantize(node, sources, output, arrays):
    return _real(arrays[0], sources[0])


def _convert(node, sources, output, arrays):
    return _round(_real(arrays[0], sources[0]) / np.float32(output.scale), output)


def _requantized(sums: np.ndarray, node: Node, sources: list[Tensor], output: Tensor, arrays: list[np.ndarray]) -> np.ndarray:
    """What sums (n, k, p, q) of products become. They are exact in double, and each step from here rounds once to float."""
    if node.bias is not None:
        sums = sums + node.bias.astype(np.float64).reshape(-1, 1, 1)
    alpha = (np.float32(sources[0].scale) * node.filter_scale / np.float32(output.scale)).reshape(-1, 1, 1)
    if output.element == "float":
        return sums.astype(np.float32) * alpha
    if len(sources) == 1:
        return _round(sums.astype(np.float32) * alpha, output)
    residual = (arrays[1].astype(np.int32) - sources[1].zero_point).astype(np.float32) * (np.float32(sources[1].scale) / np.float32(output.scale))
    return _round(fma(sums.astype(np.float32), np.broadcast_to(alpha, sums.shape), residual), output)


def _convolution(node, sources, output, arrays):
    x = _padded(arrays[0].astype(np.float64) - sources[0].zero_point, node, 0)
    k, p, q = output.shape
    n, g = len(x), node.groups
    weights = np.ascontiguousarray(node.filter.astype(np.float64).reshape(g, k // g, -1, *node.window).transpose(3, 4, 0, 1, 2))
    sums = np.zeros((n, g, k // g, p * q))
    for r, s, tap in _taps(x, node, p, q):
        sums += weights[r, s] @ tap.reshape(n, g, -1, p * q)
    return _requantized(sums.reshape(n, k, p, q), node, sources, output, arrays)


def _fully_connected(node, sources, output, arrays):
    x = arrays[0].reshape(len(arrays[0]), -1).astype(np.float64) - sources[0].zero_point
    return _requantized((x @ node.filter.astype(np.float64).T)[:, :, None, None], node, sources, output, arrays)


def _padded(x: np.ndarray, node: Node, value: float) -> np.ndarray:
    top, left, bottom, right = node.padding
    return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=value)


def _taps(x: np.ndarray, node: Node, p: int, q: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """For each place (r, s) of the window the elements (n, c, p, q) of the padded x that it sees."""
    (stride_h, stride_w), (dilation_h, dilation_w) = node.stride, node.dilation
    for r in range(node.window[0]):
        for s in range(node.window[1]):
            h, w = r * dilation_h, s * dilation_w
            yield r, s, x[:, :, h : h + (p - 1) * stride_h + 1 : stride_h, w : w + (q - 1) * stride_w + 1 : stride_w]


def _add(node, sources, output, arrays):
    (a, b), (sa, sb) = (x.astype(np.float32) for x in arrays), sources
    ra, rb = (np.float32(t.scale) / np.float32(output.scale) for t in sources)
    # One number for all elements: what zero points add to the sum.
    first = np.float32(rb * np.float32(sb.zero_point))
    offset = np.float32(output.zero_point) - fma(np.full(1, ra), np.float32(sa.zero_point), np.full(1, first))
    return _round_with_zero_point(fma(ra, a, fma(rb, b, offset.astype(np.float32))), output)


def _multiply(node, sources, output, arrays):
    a, b = (x.astype(np.int32) - t.zero_point for x, t in zip(arrays, sources))
    ratio = np.float32(sources[0].scale) * np.float32(sources[1].scale) / np.float32(output.scale)
    return _round_with_zero_point(ratio * (a * b).astype(np.float32) + np.float32(output.zero_point), output)


def _table(node, sources, output, arrays):
    return node.table[arrays[0].view(np.uint8)].view(output.dtype)


def _max_pool(node, sources, output, arrays):
    x = _padded(arrays[0], node, np.iinfo(output.dtype).min)
    result = np.full((len(x), *output.shape), np.iinfo(output.dtype).min, output.dtype)
    for _, _, tap in _taps(x, node, *output.shape[1:]):
        np.maximum(result, tap, out=result)
    return result


def _average_pool(node, sources, output, arrays):
    if node.window == sources[0].shape[1:] and not any(node.padding):
        return _global_average_pool(node, sources, output, arrays)  # as onnxruntime has it
    x = _padded(_real(arrays[0], sources[0]), node, 0)
    counted = _padded(np.ones((1, 1, *sources[0].shape[1:]), np.float32), node, 1.0 if node.count_padding else 0.0)
    total, count = np.zeros((len(x), *output.shape), np.float32), np.zeros((1, 1, *output.shape[1:]), np.float32)
    for (_, _, tap), (_, _, one) in zip(_taps(x, node, *output.shape[1:]), _taps(counted, node, *output.shape[1:])):
        total += tap  # in this order, since each sum rounds
        count += one
    return _round_with_zero_point(total / count / np.float32(output.scale) + np.float32(output.zero_point), output)


def _global_average_pool(node, sources, output, arrays):
    pixels = sources[0].shape[1] * sources[0].shape[2]
    sums = arrays[0].astype(np.int64).sum((2, 3), keepdims=True) - sources[0].zero_point * pixels
    scale = np.float32(sources[0].scale) / (np.float32(output.scale) * np.float32(pixels))
    return _round(sums.astype(np.float32) * scale, output)


def _concat(node, sources, output, arrays):
    same = [a if t.quantization == output.quantization else _convert(node, [t], output, [a]) for t, a in zip(sources, arrays)]
    return np.concatenate(same, 1)


def _resize(node, sources, output, arrays):
    return arrays[0].repeat(node.factors[0], 2).repeat(node.factors[1], 3)


_RUN: dict[str, Callable[[Node, list[Tensor], Tensor, list[np.ndarray]], np.ndarray]] = {
    "quantize": _quantize, "dequantize": _dequantize, "convert": _convert, "convolution": _convolution, "fully_connected": _fully_connected,
    "add": _add, "multiply": _multiply, "table": _table, "max_pool": _max_pool, "average_pool": _average_pool,
    "global_average_pool": _global_average_pool, "concat": _concat, "resize": _resize,
}
