"""What weft_run gives a network: pictures, arrays of files, or random numbers."""
from __future__ import annotations

import pathlib

import numpy as np

from .. import _weft
from ._graph import Graph
from ._profile import random_inputs

# What pictures of ImageNet are normalized by, as torchvision's models expect them.
_MEAN, _DEVIATION = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)


def inputs_of(graph: Graph, given: str, batch: int) -> dict[str, np.ndarray]:
    """An array for each input. given: what the first one gets, a file or "random", which the others get as well."""
    try:
        inputs = random_inputs(graph, batch)
    except (MemoryError, ValueError):  # ValueError: more than numpy's integers count
        raise _weft.RunError(f"weft: {batch} images do not fit the memory of this machine; give fewer") from None
    if given != "random":
        name = graph.inputs[0]
        tensor = graph.tensors[name]
        x = _read(pathlib.Path(given), tensor.shape)
        if not isinstance(x, np.ndarray):
            raise _weft.ArgumentError(f"weft: {given} holds several arrays; give a file of one, as numpy.save writes it")
        if x.shape in (tensor.shape, tensor.seen_shape):
            x = x.reshape(1, *tensor.seen_shape)
        if x.shape[1:] != tensor.seen_shape or x.dtype != tensor.dtype or not len(x):
            raise _weft.ArgumentError(f"weft: {given} is {x.dtype} {x.shape}; input {name} is {tensor.dtype} {('n', *tensor.seen_shape)}")
        inputs[name] = np.ascontiguousarray(np.resize(x, (batch, *tensor.seen_shape)))  # which repeats the images
    return inputs


def _read(path: pathlib.Path, shape: tuple[int, int, int]) -> np.ndarray:
    """An array of numpy, or a picture as (3, h, w) of normalized floats."""
    try:
        if path.suffix == ".npy":
            return np.load(path)
        from PIL import Image

        picture = np.asarray(Image.open(path).convert("RGB").resize((shape[2], shape[1])), np.float32)
    except ImportError:
        raise _weft.RunError(f"weft: the package pillow reads {path}, and is not installed; give an array of numpy, X.npy") from None
    except Exception as error:  # OSError, EOFError and ValueError of numpy, and what else pillow says of a damaged picture
        raise _weft.ArgumentError(f"weft: {path} is neither an array of numpy nor a picture: {error}") from None
    return ((picture / np.float32(255) - _MEAN) / _DEVIATION).transpose(2, 0, 1)
