"""A network's graph: tensors and nodes, without a batch, and the sentences about a graph that cannot be."""
from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .. import _weft

ELEMENTS: dict[str, np.dtype[Any]] = {"int8": np.dtype(np.int8), "uint8": np.dtype(np.uint8), "float": np.dtype(np.float32)}
# How many tensors a node of each kind reads, 0 of any number from 1; docs/networks.md has the formulas. Those of _PRODUCTS may
# read a second one, a residual, which they add before they round.
KINDS = {"quantize": 1, "dequantize": 1, "convert": 1, "convolution": 1, "fully_connected": 1, "add": 2, "multiply": 2, "table": 1,
         "max_pool": 1, "average_pool": 1, "global_average_pool": 1, "concat": 0, "resize": 1}
ONE_ELEMENT = ("add", "multiply", "concat", "average_pool", "global_average_pool")  # which read and write the same type
WINDOWED = ("convolution", "max_pool", "average_pool")
_PRODUCTS = ("convolution", "fully_connected")
# Which kinds read a field of a node. Of the others it stays as Node has it, since C++ refuses what would be ignored.
_READ_BY = {**dict.fromkeys(("window", "stride", "padding", "dilation"), WINDOWED), **dict.fromkeys(("filter", "filter_scale", "bias"), _PRODUCTS),
            "groups": ("convolution",), "count_padding": ("average_pool",), "factors": ("resize",), "table": ("table",)}


@dataclass
class Tensor:
    """A tensor of one image. An integer x of it stands for scale * (x - zero_point); floats stand for themselves."""

    name: str
    element: str  # of ELEMENTS
    shape: tuple[int, int, int]  # c, h, w; a vector of c numbers has one pixel
    scale: float = 1.0  # a value of float32
    zero_point: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its arrays."""
        return ELEMENTS[self.element]

    @property
    def seen_shape(self) -> tuple[int, ...]:
        """What users see behind the batch: a vector has no rows and columns."""
        return self.shape if self.shape[1:] != (1, 1) else self.shape[:1]

    @property
    def quantization(self) -> tuple[str, float, int]:
        """All of it but the name and the shape: two tensors with the same one hold the same numbers in the same bytes."""
        return self.element, self.scale, self.zero_point


@dataclass
class Node:
    """One operator. What its kind does not use stays as it is here."""

    kind: str  # of KINDS
    name: str
    inputs: list[str]  # names of tensors; a second one of a convolution or a fully connected layer is its residual
    output: str = ""
    window: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)  # top, left, bottom, right
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    count_padding: bool = False
    factors: tuple[int, int] = (1, 1)
    # Arrays of numpy, or None.
    filter: Any = None  # int8, (k, c / groups, r, s), of a fully connected layer (k, c h w)
    filter_scale: Any = None  # float32, one number or k
    bias: Any = None  # int32, k, in units of the source's scale times the filter's
    table: Any = None  # 256 of uint8


@dataclass
class Graph:
    """What a network computes. Nodes stand behind those whose outputs they read."""

    name: str = ""
    tensors: dict[str, Tensor] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(n.kind for n in self.nodes).most_common())
        return f"<weft.network.Graph {self.name!r}: {kinds}>"


def output_shape(node: Node, sources: list[tuple[int, int, int]]) -> tuple[int, int, int]:
    """The shape that a node gives, from those that it reads. ValueError with a reason where there is none."""
    c, h, w = sources[0]
    if node.kind in WINDOWED:
        rows, columns = extents_of(node, h, w)
        return (len(node.filter) if node.kind == "convolution" else c, rows, columns)
    if node.kind == "fully_connected":
        return len(node.filter), 1, 1
    if node.kind == "global_average_pool":
        return c, 1, 1
    if node.kind == "resize":
        return c, h * node.factors[0], w * node.factors[1]
    if node.kind == "concat":
        if any(shape[1:] != (h, w) for shape in sources):
            raise ValueError(f"it concatenates channels of images of several sizes, {', '.join(map(str, sources))}")
        return sum(shape[0] for shape in sources), h, w
    if node.kind == "add" and sources[1] != sources[0]:
        raise ValueError(f"it adds tensors of shapes {sources[0]} and {sources[1]}; only tensors of one shape are added")
    if node.kind == "multiply" and sources[1] not in (sources[0], (c, 1, 1)):
        raise ValueError(f"it multiplies tensors of shapes {sources[0]} and {sources[1]}; the second is of the first's shape or has one pixel")
    return c, h, w


def extents_of(node: Node, h: int, w: int) -> tuple[int, int]:
    """Rows and columns of what a window makes of an image of h x w pixels."""
    top, left, bottom, right = node.padding
    extents = []
    for size, before, after, window, stride, dilation, what in zip((h, w), (top, left), (bottom, right), node.window, node.stride,
                                                                   node.dilation, ("rows", "columns")):
        whole = dilation * (window - 1) + 1
        if size + before + after < whole:
            raise ValueError(f"its window has {whole} {what} and the padded image {size + before + after}")
        extents.append((size + before + after - whole) // stride + 1)
    return extents[0], extents[1]


def check(graph: Graph) -> None:
    """weft.ArgumentError, with the name of a node or tensor, if the graph is not one that a network can run."""
    for key, tensor in graph.tensors.items():
        _demand(isinstance(key, str) and key != "" and tensor.name == key, f"tensor {tensor.name!r}: its name is not the text {key!r}, or is empty")
        _demand(tensor.element in ELEMENTS, f'tensor {tensor.name}: element={tensor.element!r} is none of {", ".join(ELEMENTS)}')
        _demand(len(tensor.shape) == 3 and all(_is_integer(d) and d > 0 for d in tensor.shape) and math.prod(tensor.shape) < 2**31,
                f"tensor {tensor.name}: shape={tensor.shape} is not (c, h, w) of numbers above 0, with at most 2^31 - 1 elements")
        _demand(math.isfinite(tensor.scale) and tensor.scale > 0, f"tensor {tensor.name}: scale={tensor.scale} is not a finite number above 0")
        limits = np.iinfo(np.int8 if tensor.element == "int8" else np.uint8)
        _demand(_is_integer(tensor.zero_point), f"tensor {tensor.name}: zero_point={tensor.zero_point!r} is no integer")
        _demand(tensor.element != "float" or (tensor.scale, tensor.zero_point) == (1.0, 0),
                f"tensor {tensor.name}: floats stand for themselves, and it has scale={tensor.scale} and zero_point={tensor.zero_point}")
        _demand(limits.min <= tensor.zero_point <= limits.max,
                f"tensor {tensor.name}: zero_point={tensor.zero_point} is no value of {tensor.element}, {limits.min} to {limits.max}")
    known = set()
    for name in graph.inputs:
        _demand(name in graph.tensors and name not in known, f"input {name} is no tensor, or is named twice")
        known.add(name)
    names = set()
    for node in graph.nodes:
        _demand(isinstance(node.name, str) and node.name != "" and node.name not in names,
                f"a node is called {node.name!r}; each has a name of its own")
        names.add(node.name)
        try:
            _check_node(graph, node, known)
        except ValueError as error:
            raise _weft.ArgumentError(f"weft: node {node.name} ({node.kind}): {error}") from None
        known.add(node.output)
    _demand(len(graph.inputs) > 0 and len(graph.outputs) > 0, "the graph has no input or no output")
    for name in graph.outputs:
        _demand(name in known and name not in graph.inputs, f"output {name} is written by no node")
    _demand(len(set(graph.outputs)) == len(graph.outputs), f"an output is named twice: {', '.join(graph.outputs)}")


def _is_integer(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _demand(right: bool, sentence: str) -> None:
    if not right:
        raise _weft.ArgumentError(f"weft: {sentence}")


def _check_node(graph: Graph, node: Node, known: set[str]) -> None:
    """ValueError with a reason if the node does not fit its tensors."""
    if node.kind not in KINDS:
        raise ValueError(f"its kind is none of {', '.join(KINDS)}")
    adds = node.kind in _PRODUCTS and len(node.inputs) == 2
    if not node.inputs or KINDS[node.kind] not in (0, len(node.inputs)) and not adds:
        expected = "1, and a residual" if node.kind in _PRODUCTS else KINDS[node.kind] or "one or more"
        raise ValueError(f"it reads {len(node.inputs)} tensors, not {expected}")
    for name in node.inputs:
        if name not in known:
            raise ValueError(f"it reads {name}, which no node before it writes")
    if node.output not in graph.tensors or node.output in known:
        raise ValueError(f"it writes {node.output!r}, which is no tensor or has been written")
    sources, output = [graph.tensors[name] for name in node.inputs], graph.tensors[node.output]
    _check_numbers(node)
    for f in fields(Node):
        value = getattr(node, f.name)
        if node.kind not in _READ_BY.get(f.name, KINDS) and (value is not None if f.default is None else value != f.default):
            raise ValueError(f"it has {f.name}, which nodes of this kind do not read")
    if node.kind in _PRODUCTS:
        _check_filter(node, sources[0].shape, output.shape[0])
    elif node.kind == "table" and (node.table is None or node.table.dtype != np.uint8 or node.table.shape != (256,)):
        raise ValueError("its table is not 256 bytes")
    for tensor in sources:
        if (tensor.element == "float") != (node.kind == "quantize"):
            raise ValueError(f"it reads {tensor.name}, which is of {tensor.element}")
    if output.element == "float" and adds:
        raise ValueError(f"it adds {node.inputs[1]} and writes floats, where int8 or uint8 is expected")
    if (output.element == "float") != (node.kind == "dequantize") and node.kind not in _PRODUCTS:
        raise ValueError(f"it writes {output.name}, which is of {output.element}")
    shape = output_shape(node, [tensor.shape for tensor in sources])
    if shape != output.shape:
        raise ValueError(f"it makes a tensor of shape {shape}, and {output.name} has {output.shape}")
    if adds and sources[1].shape != shape:
        raise ValueError(f"it adds {node.inputs[1]} of shape {sources[1].shape} to {shape}; a residual has the output's shape")
    if node.kind in ("max_pool", "average_pool"):
        _check_pool(node, sources[0].shape, shape)
    if node.kind in ("max_pool", "resize") and sources[0].quantization != output.quantization:
        raise ValueError(f"it copies integers, and {output.name} has another element, scale or zero point than {sources[0].name}")
    if node.kind in ONE_ELEMENT and {t.element for t in sources} != {output.element}:
        raise ValueError(f"it reads and writes one type of element, and has {', '.join(t.element for t in [*sources, output])}")


def _check_numbers(node: Node) -> None:
    for what, numbers, count, least in (("window", node.window, 2, 1), ("stride", node.stride, 2, 1), ("padding", node.padding, 4, 0),
                                        ("dilation", node.dilation, 2, 1), ("factors", node.factors, 2, 1), ("groups", (node.groups,), 1, 1)):
        if len(numbers) != count or any(not _is_integer(n) or not least <= n < 2**31 for n in numbers):
            raise ValueError(f"its {what} is {numbers}, not {count} integers from {least}")
    if not isinstance(node.count_padding, bool):
        raise ValueError(f"its count_padding is {node.count_padding!r}, neither true nor false")


def _check_pool(node: Node, source: tuple[int, int, int], output: tuple[int, int, int]) -> None:
    """Each window has a pixel of the image: the first ones, and the last, which ceil_mode of ONNX may lengthen the padding for."""
    for size, made, before, window, stride, dilation in zip(source[1:], output[1:], node.padding[:2], node.window, node.stride, node.dilation):
        if before >= dilation * (window - 1) + 1 or (made - 1) * stride >= size + before:
            raise ValueError(f"its padding {node.padding} is so long that a window has no pixel")


def bias_room(node: Node) -> int:
    """How far from 0 a bias may be so that no sum leaves the range of int32: an element less its zero point is within 255."""
    return 2**31 - 1 - node.filter[0].size * 255 * 128


def check_sums(node: Node) -> None:
    """ValueError if sums of products may leave the range of int32."""
    most, room = 2**31 - 1, bias_room(node)
    if most - room > most // 3 * 2:
        raise ValueError(f"it adds {node.filter[0].size} products, with which sums may leave the range of int32")
    if node.bias is not None and np.any(np.abs(node.bias.astype(np.int64)) > room):
        raise ValueError(f"its bias is {node.bias.min()} to {node.bias.max()}, with which sums may leave the range of int32")


def _check_filter(node: Node, source: tuple[int, int, int], k: int) -> None:
    if node.filter is None or node.filter_scale is None:
        raise ValueError("it has no filter or no filter scale")
    c, h, w = source
    if node.kind == "convolution":
        if c % node.groups or k % node.groups:
            raise ValueError(f"its {node.groups} groups do not divide {c} channels into {k}")
        shape: tuple[int, ...] = (k, c // node.groups, *node.window)
    else:
        shape = (k, c * h * w)
    if node.filter.dtype != np.int8 or node.filter.shape != shape:
        raise ValueError(f"its filter has {node.filter.size} of {node.filter.dtype}, and not shape {shape} of int8")
    scale = node.filter_scale
    if scale.dtype != np.float32 or scale.size not in (1, k) or not np.all(np.isfinite(scale) & (scale > 0)):
        raise ValueError(f"its filter scale is not one float or {k}, finite and above 0")
    if node.bias is not None and (node.bias.dtype != np.int32 or node.bias.shape != (k,)):
        raise ValueError(f"its bias is not {k} of int32")
    check_sums(node)
