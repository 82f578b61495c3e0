"""What is known of a value of an ONNX model while it is imported."""
from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Callable

import numpy as np


class Refused(Exception):
    """Why a node of the model cannot run: the end of a sentence that begins with the node's name."""


def unquantized(name: str, but: str) -> str:
    """Why an operator does not read floats that functions have made. but: the functions behind which it does."""
    return (f"it reads floats, {name}, that more than {but} has made of what was dequantized; a QuantizeLinear and a DequantizeLinear would stand "
            "between them, as onnxruntime's quantizer places them in its QDQ format")


def quantized(x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray) -> np.ndarray:
    """QuantizeLinear, to the dtype of zero_point."""
    limits = np.iinfo(zero_point.dtype)
    return np.clip(np.rint(x / scale) + np.float32(zero_point), limits.min, limits.max).astype(zero_point.dtype)


@dataclass(frozen=True)
class Quantization:
    """Of a tensor of integers: the real value of a step, the integer of 0, and "int8" or "uint8"."""

    element: str
    scale: float
    zero_point: int

    def __str__(self) -> str:
        return f"{self.element} with scale {str(np.float32(self.scale))} and zero point {self.zero_point}"

    def integer(self, real: float) -> int:
        """What a real number becomes, by the formula of QuantizeLinear."""
        with np.errstate(over="ignore"):
            return int(quantized(np.float32(real), np.float32(self.scale), np.asarray(self.zero_point, self.element)))


@dataclass
class Constant:
    """An initializer, an output of a Constant node, or what DequantizeLinear makes of one."""

    array: np.ndarray
    scale: Any = None  # one float32, or one for each index of `axis`, as an array; None unless dequantized
    zero_point: Any = None  # likewise, of the array's type, or None
    axis: int = 1


@dataclass
class FloatInput:
    """An input of the model that is made of floats and waits for its QuantizeLinear."""

    tensor: str
    shape: tuple[int, ...]


@dataclass
class Integers:
    """A tensor of the graph. `shape` is what the model sees behind the batch: Flatten changes it and nothing else."""

    tensor: str
    shape: tuple[int, ...]


@dataclass
class Function:
    """Floats that are a function of the elements of one tensor of integers, each by itself. The first is DequantizeLinear."""

    source: Integers
    shape: tuple[int, ...]
    quantization: Quantization  # of the source
    nodes: list[Any]  # of onnx.NodeProto, each behind those that it reads
    constants: dict[str, np.ndarray] = field(default_factory=dict)  # which they read

    @property
    def only_dequantized(self) -> bool:
        """Whether the floats are those that the integers stand for."""
        return all(node.op_type in ("DequantizeLinear", "Identity") for node in self.nodes)


@dataclass
class Pending:
    """Floats that an operator has made of integers and which wait for their QuantizeLinear, without which nothing is written.

    `low` and `high` are what Relu and Clip leave of them.
    """

    name: str  # of the operator
    shape: tuple[int, ...]
    # Writes the operator, with the name and the quantization of its output, which is None of floats.
    emit: Callable[[str, Any], Integers]
    low: float = -math.inf
    high: float = math.inf
    product: Any = None  # of products.Product, if `emit` writes a convolution or a fully connected layer and nothing else
    written: dict[Quantization, Integers] = field(default_factory=dict)  # what QuantizeLinear has made of the floats


@dataclass
class Failed:
    """What a node that cannot run would have written."""


def viewed(value: Any, shape: tuple[int, ...]) -> Any:
    """The same elements in another shape behind the batch."""
    return replace(value, shape=shape)
