"""Kernel, strides, pads, auto_pad, dilations and ceil_mode of an ONNX node as a window of the graph."""
from __future__ import annotations

from typing import Any

from .._graph import Node, extents_of
from .values import Refused

# The attributes of all that have a window, with ONNX's defaults.
ATTRIBUTES = dict(auto_pad="NOTSET", dilations=None, kernel_shape=None, pads=None, strides=None)


def set_window(node: Node, a: dict[str, Any], shape: tuple[int, ...], kernel: tuple[int, ...]) -> None:
    """Sets the window of a node over images of `shape`, (c, h, w). a: attributes of ONNX; kernel: rows and columns."""
    if len(shape) != 3:
        raise Refused(f"it reads a tensor of {len(shape)} dimensions behind the batch; a window moves over 3, channels, rows and columns")
    if a["kernel_shape"] is not None and tuple(a["kernel_shape"]) != tuple(kernel):
        raise Refused(f"its kernel_shape {a['kernel_shape']} is not that of its filter, {kernel}")
    if len(kernel) != 2:
        raise Refused(f"its window has {len(kernel)} dimensions, not 2")
    strides, dilations = a["strides"] or [1, 1], a["dilations"] or [1, 1]
    if len(strides) != 2 or len(dilations) != 2 or min(*strides, *dilations, *kernel) < 1:
        raise Refused(f"its kernel {kernel}, strides {strides} and dilations {dilations} are not pairs of numbers above 0")
    node.window, node.stride, node.dilation = (kernel[0], kernel[1]), (strides[0], strides[1]), (dilations[0], dilations[1])
    node.padding = _padding(a["auto_pad"], a["pads"] or [0, 0, 0, 0], shape[1:], node)


def _padding(auto_pad: str, pads: list[int], image: tuple[int, ...], node: Node) -> tuple[int, int, int, int]:
    """Top, left, bottom and right."""
    if auto_pad in ("NOTSET", ""):
        if len(pads) != 4 or min(pads) < 0:
            raise Refused(f"its pads {pads} are not four numbers from 0")
        return (pads[0], pads[1], pads[2], pads[3])
    if auto_pad == "VALID":
        return (0, 0, 0, 0)
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        raise Refused(f"its auto_pad {auto_pad!r} is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER")
    if max(node.dilation) > 1:
        raise Refused(f"its auto_pad is {auto_pad} with dilations {node.dilation}, which onnxruntime refuses or reads in another way than ONNX")
    before, after = [], []
    for size, window, stride, dilation in zip(image, node.window, node.stride, node.dilation):
        total = (-(-size // stride) - 1) * stride + dilation * (window - 1) + 1 - size
        if total < -1 and node.kind != "convolution":
            raise Refused(f"its auto_pad is {auto_pad} with strides longer than its window, of which onnxruntime's poolings leave out the first pixels")
        total = max(0, total)
        less, more = total // 2, total - total // 2
        before.append(less if auto_pad == "SAME_UPPER" else more)
        after.append(more if auto_pad == "SAME_UPPER" else less)
    return (before[0], before[1], after[0], after[1])


def round_up(node: Node, image: tuple[int, ...]) -> None:
    """Lengthens the padding of a pooling to what ceil_mode=1 means: a last window that begins in the image, or before it, counts."""
    more = []
    for size, before, after, window, stride, dilation in zip(image, node.padding[:2], node.padding[2:], node.window, node.stride, node.dilation):
        whole = dilation * (window - 1) + 1
        steps = -(-(size + before + after - whole) // stride)
        if steps * stride >= size + before:  # the window would begin in the padding behind the image
            steps -= 1
        more.append(max(0, steps * stride + whole - size - before - after))
    if any(more) and node.count_padding:
        raise Refused("its ceil_mode with count_include_pad makes a window that is longer than the padded image, and of which nobody says what counts")
    node.padding = (*node.padding[:2], node.padding[2] + more[0], node.padding[3] + more[1])


def check_extents(node: Node, image: tuple[int, ...]) -> None:
    """Refuses a window that is longer than the padded image."""
    try:
        extents_of(node, *image)
    except ValueError as error:
        raise Refused(str(error)) from None
