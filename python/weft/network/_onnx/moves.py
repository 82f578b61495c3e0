"""Nodes that move elements and compute none, so that they do the same to integers and to the floats for which these stand."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Callable

import numpy as np
import onnx

from .._graph import Node, output_shape
from . import floats, windows
from .importer import Importer
from .values import Constant, Function, Integers, Pending, Quantization, Refused, unquantized, viewed


# Functions that never decrease: the greatest of their values is the value of the greatest.
_RISING = ("DequantizeLinear", "Identity", "Relu", "Clip")


def moved(imp: Importer, onnx_node: Any, node: Node, x: Any) -> Any:
    """Emits a node that copies integers, and of floats for which they stand the same function of the copies.

    Floats that wait for their QuantizeLinear are rounded before they are copied: rounding keeps the order, so that nothing else comes out.
    """
    if isinstance(x, Function) and node.kind == "max_pool" and any(n.op_type not in _RISING for n in x.nodes):
        x = floats.waiting(imp, x)
    if isinstance(x, Pending):
        shape = output_shape(node, [x.shape])

        def emit(output: str, q: Quantization) -> Integers:
            source = floats.written(imp, x, f"{output}_source", q)
            imp.image(source)
            return imp.emit(replace(node), [source], output, q, shape)

        return Pending(node.name, shape, emit)
    if isinstance(x, Integers):
        return imp.emit(node, [x], onnx_node.output[0], imp.quantization_of(x))
    output = onnx_node.output[0]
    made = imp.emit(node, [x.source], f"{output}_integers", x.quantization)
    names = {x.source.tensor: made.tensor, **{n.output[0]: f"{output}/{n.output[0]}" for n in x.nodes}, x.nodes[-1].output[0]: output}
    nodes = []
    for n in x.nodes:
        copy = onnx.NodeProto()
        copy.CopyFrom(n)
        copy.input[:] = [names.get(name, name) for name in n.input]
        copy.output[:] = [names[n.output[0]]]
        nodes.append(copy)
    return replace(x, source=made, shape=made.shape, nodes=nodes)


def _image(imp: Importer, x: Any) -> tuple[int, int, int]:
    if isinstance(x, Pending):
        if len(x.shape) != 3:
            raise Refused(f"it reads {len(x.shape)} dimensions behind the batch, not 3, channels, rows and columns")
        return (x.shape[0], x.shape[1], x.shape[2])
    source = Integers(x.source.tensor, x.shape) if isinstance(x, Function) else x
    shape = imp.image(source)
    if source.tensor in imp.graph.inputs and source.tensor not in imp.scaled:
        raise Refused(f"the scale of input {source.tensor} is not known before it; let a DequantizeLinear or a QLinear node read the input")
    return shape


def _max_pool(imp: Importer, onnx_node: Any, name: str) -> Any:
    x = imp.value(onnx_node, 0, Integers, Function, Pending)
    a = imp.attributes(onnx_node, **windows.ATTRIBUTES, ceil_mode=0, storage_order=0)
    node = Node("max_pool", name, [])
    shape = _image(imp, x)
    windows.set_window(node, a, shape, tuple(a["kernel_shape"] or ()))
    if a["ceil_mode"]:
        windows.round_up(node, shape[1:])
    windows.check_extents(node, shape[1:])
    return moved(imp, onnx_node, node, x)


def _resize(imp: Importer, onnx_node: Any, name: str) -> Any:
    x = imp.value(onnx_node, 0, Integers, Function, Pending)
    a = imp.attributes(onnx_node, antialias=0, axes=None, coordinate_transformation_mode="half_pixel", cubic_coeff_a=-0.75, exclude_outside=0,
                       extrapolation_value=0.0, keep_aspect_ratio_policy="stretch", mode="nearest", nearest_mode="round_prefer_floor")
    if a["mode"] != "nearest" or a["antialias"] or a["axes"] is not None or a["keep_aspect_ratio_policy"] != "stretch":
        raise Refused(f"its mode is {a['mode']}, antialias={a['antialias']}, axes={a['axes']}, {a['keep_aspect_ratio_policy']}; nearest of all axes is known")
    shape = _image(imp, x)
    if imp.opset < 11:  # Resize of ONNX 10 is what Upsample was before
        return _upsample(imp, onnx_node, name)
    scales, sizes = imp.optional(onnx_node, 2), imp.optional(onnx_node, 3)
    if sizes is not None and sizes.size == 4:
        if sizes.reshape(-1)[0] != imp.batch:
            raise Refused(f"its sizes {sizes.tolist()} are of {sizes.reshape(-1)[0]} images and the model's batch is {imp.batch or 'free'}; scales keep "
                          "the batch")
        factors = [size / extent for size, extent in zip(sizes.reshape(-1)[1:], shape)]
    elif scales is not None and scales.size == 4:
        factors = [float(f) for f in scales.reshape(-1)[1:]]
        if scales.reshape(-1)[0] != 1:
            raise Refused("it resizes the batch")
    else:
        raise Refused("its scales or sizes are not four constant numbers")
    return _enlarged(imp, onnx_node, name, x, shape, factors, a["coordinate_transformation_mode"], a["nearest_mode"])


def _upsample(imp: Importer, onnx_node: Any, name: str) -> Any:
    x = imp.value(onnx_node, 0, Integers, Function, Pending)
    if imp.attributes(onnx_node, mode="nearest")["mode"] != "nearest":
        raise Refused("its mode is not nearest")
    scales = imp.constant(onnx_node, 1)
    if scales.size != 4 or scales.reshape(-1)[0] != 1:
        raise Refused("its scales are not four constant numbers, of which the first is 1")
    return _enlarged(imp, onnx_node, name, x, _image(imp, x), [float(f) for f in scales.reshape(-1)[1:]], "asymmetric", "floor")


def _enlarged(imp: Importer, onnx_node: Any, name: str, x: Any, shape: tuple[int, int, int], factors: list[float], coordinates: str, nearest: str) -> Any:
    if factors[0] != 1 or any(f < 1 or f != int(f) for f in factors):
        raise Refused(f"it resizes channels, rows and columns by {factors}; rows and columns times an integer are known here")
    for extent, factor in zip(shape[1:], factors[1:]):
        if not np.array_equal(_sources(extent, int(factor), coordinates, nearest), np.arange(extent * int(factor)) // int(factor)):
            raise Refused(f"with {coordinates} and {nearest} it does not repeat each pixel {int(factor)} times; asymmetric and floor do")
    return moved(imp, onnx_node, Node("resize", name, [], factors=(int(factors[1]), int(factors[2]))), x)


def _sources(extent: int, factor: int, coordinates: str, nearest: str) -> np.ndarray:
    """Which pixel each pixel of the output copies, by ONNX's formulas in float32."""
    at = np.arange(extent * factor, dtype=np.float32)
    scale = np.float32(factor)
    if coordinates == "asymmetric":
        at = at / scale
    elif coordinates in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
        at = (at + np.float32(0.5)) / scale - np.float32(0.5) if extent * factor > 1 or coordinates == "half_pixel" else at * 0
    elif coordinates == "align_corners":
        at = at * np.float32(extent - 1) / np.float32(max(extent * factor - 1, 1))
    else:
        raise Refused(f"its coordinate_transformation_mode {coordinates} is not known here")
    ways: dict[str, Callable[[Any], Any]] = {"floor": np.floor, "ceil": np.ceil, "round_prefer_floor": lambda v: np.ceil(v - np.float32(0.5)),
            "round_prefer_ceil": lambda v: np.floor(v + np.float32(0.5))}
    if nearest not in ways:
        raise Refused(f"its nearest_mode {nearest} is not known here")
    return np.clip(ways[nearest](at), 0, extent - 1).astype(np.int64)


# Views: the elements stay where they are, and the model sees another shape.


def _identity(imp: Importer, onnx_node: Any, name: str) -> Any:
    imp.attributes(onnx_node, ratio=0.5, seed=0)
    if onnx_node.op_type == "Dropout" and imp.optional(onnx_node, 2, np.array(False)).any():
        raise Refused("it drops elements as in training (training_mode)")
    return imp.value(onnx_node, 0)


def _flatten(imp: Importer, onnx_node: Any, name: str) -> Any:
    x = _viewable(imp, onnx_node)
    axis = imp.attributes(onnx_node, axis=1)["axis"]
    if axis not in (1, -len(x.shape)):
        raise Refused(f"its axis is {axis}; only 1 keeps images apart")
    return viewed(x, (math.prod(x.shape),))


def _viewable(imp: Importer, onnx_node: Any) -> Any:
    x = imp.value(onnx_node, 0)
    if isinstance(x, Constant):
        raise Refused(f"its input {onnx_node.input[0]} is a constant, which only other nodes read here")
    return x


def _reshape(imp: Importer, onnx_node: Any, name: str) -> Any:
    x = _viewable(imp, onnx_node)
    allow_zero = imp.attributes(onnx_node, allowzero=0)["allowzero"]
    target = imp.constant(onnx_node, 1)
    if target.size < 2:
        raise Refused("its shape is not two or more constant numbers")
    first, *rest = (int(d) for d in target.reshape(-1))
    elements = math.prod(x.shape)
    for i, d in enumerate(rest):
        if d == 0 and not allow_zero:
            if i >= len(x.shape):
                raise Refused(f"its shape {target.tolist()} copies a dimension that its input does not have")
            rest[i] = x.shape[i]
    if first != -1 and rest.count(-1) == 1:
        rest[rest.index(-1)] = elements // max(1, -math.prod(rest))
    keeps = first == -1 or (first == 0 and not allow_zero) or first == imp.batch
    if not keeps or math.prod(rest) != elements or min(rest) < 1:
        raise Refused(f"its shape {target.tolist()} does not keep the batch in front of {x.shape}")
    return viewed(x, tuple(rest))


def _axes(imp: Importer, onnx_node: Any, rank: int) -> list[int]:
    """Of Squeeze and Unsqueeze: places behind the batch, in a tensor of `rank` dimensions there."""
    axes = imp.attributes(onnx_node, axes=None)["axes"]
    if axes is None:
        array = imp.optional(onnx_node, 1)
        axes = None if array is None else array.reshape(-1).tolist()
    if axes is None:
        raise Refused("it has no axes, so that a batch of one image would go with them")
    places = sorted(a - 1 if a > 0 else a + rank for a in axes)
    if not places or places[0] < 0 or places[-1] >= rank or 0 in axes:
        raise Refused(f"its axes {axes} are not all behind the batch")
    return places


def _squeeze(imp: Importer, onnx_node: Any, name: str) -> Any:
    x = _viewable(imp, onnx_node)
    axes = _axes(imp, onnx_node, len(x.shape))
    if any(x.shape[a] != 1 for a in axes):
        raise Refused(f"it removes dimensions of {x.shape} behind the batch that are not 1")
    return viewed(x, tuple(d for i, d in enumerate(x.shape) if i not in axes))


def _unsqueeze(imp: Importer, onnx_node: Any, name: str) -> Any:
    x = _viewable(imp, onnx_node)
    axes = imp.attributes(onnx_node, axes=None)["axes"]
    count = len(axes) if axes is not None else imp.optional(onnx_node, 1, np.zeros(0)).size
    shape = list(x.shape)
    for a in _axes(imp, onnx_node, len(x.shape) + count):
        shape.insert(a, 1)
    return viewed(x, tuple(shape))


def _transpose(imp: Importer, onnx_node: Any, name: str) -> Any:
    x = imp.value(onnx_node, 0)
    perm = imp.attributes(onnx_node, perm=None)["perm"]
    if isinstance(x, Constant):
        return _transposed(x, perm)
    keeps = perm is not None and sorted(perm) == [*range(len(x.shape) + 1)] and perm[0] == 0
    longer = [p for p in perm[1:] if x.shape[p - 1] > 1] if keeps else []
    if not keeps or longer != sorted(longer):
        raise Refused(f"it reorders dimensions by {perm}; channels, rows and columns keep their order here")
    return viewed(x, tuple(x.shape[p - 1] for p in perm[1:]))


def _transposed(x: Constant, perm: list[int] | None) -> Constant:
    perm = perm if perm is not None else list(range(x.array.ndim))[::-1]
    axis = perm.index(x.axis) if x.scale is not None and x.scale.size > 1 else x.axis
    return Constant(x.array.transpose(perm), x.scale, x.zero_point, axis)


NODES = {"MaxPool": _max_pool, "Resize": _resize, "Upsample": _upsample, "Identity": _identity, "Dropout": _identity, "Flatten": _flatten,
         "Reshape": _reshape, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze, "Transpose": _transpose}
