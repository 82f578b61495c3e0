"""A network's graph: tensors and nodes, without a batch. What a network can run is asked of C++ (_file.check)."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ELEMENTS: dict[str, np.dtype[Any]] = {"int8": np.dtype(np.int8), "uint8": np.dtype(np.uint8), "float": np.dtype(np.float32)}
KINDS = ("quantize", "dequantize", "convert", "convolution", "fully_connected", "add", "multiply", "table", "max_pool", "average_pool",
         "global_average_pool", "concat", "resize")  # docs/networks.md has the formulas
ONE_ELEMENT = ("add", "multiply", "concat", "average_pool", "global_average_pool")  # which read and write the same type
WINDOWED = ("convolution", "max_pool", "average_pool")


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
