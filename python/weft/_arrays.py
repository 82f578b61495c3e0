"""Arrays: empty ones like others, aligned ones, and copies from one layout to another."""
import re

import numpy as np

from . import _weft

_ALIGNMENT = 64  # bytes: enough for every kernel


def aligned(array):
    """A numpy array with the same elements, contiguous, at an address that is a multiple of 64 bytes.

    The array itself if it is so already, else a copy. Operators ask for up to 32 bytes, and numpy promises 16.
    """
    array = np.asarray(array)
    if array.flags.c_contiguous and array.ctypes.data % _ALIGNMENT == 0:
        return array
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def empty(shape, dtype):
    """A numpy array without values at an address that is a multiple of 64 bytes."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(count + _ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % _ALIGNMENT
    return memory[first : first + count].view(dtype).reshape(shape)


def empty_like(x, shape, dtype):
    """An array without values of the library, and on the device, of x: what an operator called without out= returns."""
    kind = type(x).__module__.split(".")[0]
    if kind == "torch":
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype), device=x.device)
    if kind == "cupy":
        import cupy

        with cupy.cuda.Device(x.device.id):
            return cupy.empty(shape, dtype)
    if dtype == "bfloat16":
        raise _weft.ArgumentTypeError("weft: numpy has no bfloat16; give out=, an array that has, or use torch")
    return empty(shape, dtype)


def _layout(layout):
    """The channels of a block: 0 for NHWC, 1 for NCHW."""
    name = str(layout).lower()
    if name in ("nhwc", "nchw"):
        return {"nhwc": 0, "nchw": 1}[name]
    match = re.fullmatch(r"nc(4|32|64)|ncxhwx<(4|32|64)>", name)
    if not match:
        raise _weft.ArgumentError(
            f'weft: layout={layout!r} is none of "nhwc", "nchw", "nc4", "nc32", "nc64" (blocks of 4, 32, 64 channels)'
        )
    return int(match[1] or match[2])


def _four(array, name):
    array = np.asarray(array)
    if array.ndim != 4:
        raise _weft.ArgumentError(f"weft: {name}.shape={array.shape} has {array.ndim} dimensions, not 4")
    return array


def to_layout(x, layout):
    """A numpy copy of x, whose shape is (n, c, h, w), in a layout of Weft's.

    "nhwc" gives (n, h, w, c), "nchw" (n, c, h, w), "nc4", "nc32" and "nc64" give (n, ceil(c / x), h, w, x), with zeros in
    the channels that fill the last block. The copy is aligned as operators ask.
    """
    x, block = _four(x, "x"), _layout(layout)
    n, c, h, w = x.shape
    if block == 1:
        return aligned(x.copy())
    if block == 0:
        return aligned(np.ascontiguousarray(x.transpose(0, 2, 3, 1)))
    blocks = -(-c // block)
    result = empty((n, blocks, h, w, block), x.dtype)
    padded = np.zeros((n, blocks * block, h, w), x.dtype)
    padded[:, :c] = x
    result[...] = padded.reshape(n, blocks, block, h, w).transpose(0, 1, 3, 4, 2)
    return result


def from_layout(y, layout, channels=None):
    """The inverse of to_layout: a numpy copy of shape (n, c, h, w).

    channels: how many of a blocked layout's there are, since its last block may be filled with zeros; all unless given.
    """
    y, block = np.asarray(y), _layout(layout)
    if y.ndim != (5 if block > 1 else 4) or (block > 1 and y.shape[4] != block):
        raise _weft.ArgumentError(f"weft: y.shape={y.shape} is none of layout {layout!r}")
    if block == 1:
        result = y
    elif block == 0:
        result = y.transpose(0, 3, 1, 2)
    else:
        n, blocks, h, w, _ = y.shape
        result = y.transpose(0, 1, 4, 2, 3).reshape(n, blocks * block, h, w)
    if channels is not None and not 0 <= channels <= result.shape[1]:
        raise _weft.ArgumentError(f"weft: channels={channels}, and y has {result.shape[1]}")
    return np.ascontiguousarray(result[:, :channels])
