"""Arrays: empty ones like others, aligned ones, copies from one layout to another; of numpy, torch and cupy."""
from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np

from . import _weft

_ALIGNMENT = 64  # bytes: enough for every kernel


def library_of(x: Any) -> Any:
    """The module torch or cupy if x is an array of theirs, else numpy. A library that nobody has imported is not asked."""
    name = type(x).__module__.split(".")[0]
    return sys.modules[name] if name in ("torch", "cupy") and name in sys.modules else np


def cast(x: Any, dtype: str) -> Any:
    """x with another dtype, in its library."""
    library = library_of(x)
    return x.to(getattr(library, dtype)) if library.__name__ == "torch" else x.astype(dtype)


def permute(x: Any, order: tuple[int, ...]) -> Any:
    """x with its dimensions in another order; a view."""
    return x.permute(order) if library_of(x).__name__ == "torch" else x.transpose(order)


def to_numpy(x: Any) -> np.ndarray:
    """The elements of x in an array of numpy, copied where x is on a GPU."""
    library = library_of(x)
    if library.__name__ == "torch":
        return x.detach().cpu().numpy()
    return library.asnumpy(x) if library.__name__ == "cupy" else np.asarray(x)


def like(array: np.ndarray, x: Any) -> Any:
    """An array of numpy in the library, and on the device, of x."""
    library = library_of(x)
    if library.__name__ == "torch":
        return library.from_numpy(array).to(x.device)
    if library.__name__ == "cupy":
        with library.cuda.Device(x.device.id):
            return library.asarray(array)
    return array


def check(x: Any, name: str, dtype: str, shape: tuple[int, ...], what: str) -> None:
    """Refuses x unless it is an array of this dtype and shape. what: what the shape is, and what makes it of another."""
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        raise _weft.ArgumentTypeError(f"weft: {name} is a {type(x).__name__}; give an array of numpy, torch or cupy")
    given = str(x.dtype).split(".")[-1]
    if given != dtype:
        raise _weft.ArgumentTypeError(f"weft: {name}.dtype={given} is not {dtype}; nothing is converted silently, so convert it yourself")
    if tuple(x.shape) != shape:
        raise _weft.ArgumentError(f"weft: {name}.shape={tuple(x.shape)} is not {shape}, {what}")


def check_together(x: Any, name: str, y: Any, of: str) -> None:
    """Refuses x unless it is an array of y's library and on y's device, so that operations may have both."""
    for here, there in ((library_of(x).__name__, library_of(y).__name__), (str(getattr(x, "device", "cpu")), str(getattr(y, "device", "cpu")))):
        if here != there:
            raise _weft.ArgumentError(f"weft: {name} is an array of {here}, and {of} one of {there}; give both in one library and memory")


def aligned(array: Any) -> np.ndarray:
    """A numpy array with the same elements, contiguous, at an address that is a multiple of 64 bytes.

    The array itself if it is so already, else a copy. Operators ask for up to 32 bytes, and numpy promises 16.
    """
    array = np.asarray(array)
    if array.flags.c_contiguous and array.ctypes.data % _ALIGNMENT == 0:
        return array
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A numpy array without values at an address that is a multiple of 64 bytes."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(count + _ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % _ALIGNMENT
    return memory[first : first + count].view(dtype).reshape(shape)


def empty_like(x: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """An array without values of the library, and on the device, of x: what an operator called without out= returns."""
    library = library_of(x)
    if library.__name__ == "torch":
        return x.new_empty(shape, dtype=getattr(library, dtype))
    if dtype == "bfloat16":
        raise _weft.ArgumentTypeError(f"weft: {library.__name__} has no bfloat16; give out=, an array that has, or use torch")
    if library.__name__ == "cupy":
        with library.cuda.Device(x.device.id):
            return library.empty(shape, dtype)
    if hasattr(x, "__cuda_array_interface__"):
        raise _weft.ArgumentError(f"weft: out is missing, and no array of {type(x).__module__} is made here; give out=")
    return empty(shape, dtype)


def _layout(layout: str) -> int:
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


def to_layout(x: Any, layout: str) -> Any:
    """A copy of x, whose shape is (n, c, h, w), in a layout of Weft's, in x's library and memory.

    "nhwc" gives (n, h, w, c), "nchw" (n, c, h, w), "nc4", "nc32" and "nc64" give (n, ceil(c / b), h, w, b) of blocks of b
    channels, with zeros in the channels that fill the last block. The copy is aligned as operators ask.
    """
    library, block = library_of(x), _layout(layout)
    x = np.asarray(x) if library is np else x
    if len(x.shape) != 4:
        raise _weft.ArgumentError(f"weft: x.shape={tuple(x.shape)} has {len(x.shape)} dimensions, not 4")
    n, c, h, w = x.shape
    shape: tuple[int, ...]
    dtype = str(x.dtype).split(".")[-1]
    if block == 0:
        shape, elements = (n, h, w, c), permute(x, (0, 2, 3, 1))
    elif block == 1:
        shape, elements = (n, c, h, w), x
    else:
        blocks = -(-c // block)
        shape = (n, blocks, h, w, block)
        padded = empty_like(x, (n, blocks * block, h, w), dtype)
        padded[:, :c], padded[:, c:] = x, 0
        elements = permute(padded.reshape(n, blocks, block, h, w), (0, 1, 3, 4, 2))
    result = empty_like(x, shape, dtype)
    result[...] = elements
    return result


def from_layout(y: Any, layout: str, channels: int | None = None) -> Any:
    """The inverse of to_layout: a copy of shape (n, c, h, w), in y's library and memory.

    channels: how many of a blocked layout's there are, since its last block may be filled with zeros; all unless given.
    """
    library, block = library_of(y), _layout(layout)
    y = np.asarray(y) if library is np else y
    if len(y.shape) != (5 if block > 1 else 4) or (block > 1 and y.shape[4] != block):
        raise _weft.ArgumentError(f"weft: y.shape={tuple(y.shape)} is none of layout {layout!r}")
    if block == 1:
        result = y
    elif block == 0:
        result = permute(y, (0, 3, 1, 2))
    else:
        n, blocks, h, w, _ = y.shape
        result = permute(y, (0, 1, 4, 2, 3)).reshape(n, blocks * block, h, w)
    if channels is not None and not 0 <= channels <= result.shape[1]:
        raise _weft.ArgumentError(f"weft: channels={channels}, and y has {result.shape[1]}")
    result = result[:, :channels]
    copy = empty_like(y, tuple(result.shape), str(y.dtype).split(".")[-1])
    copy[...] = result
    return copy
