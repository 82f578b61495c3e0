"""Quantized networks: an ONNX model in, its outputs to the bit out (docs/networks.md). weft.load is the way in."""
from __future__ import annotations

import os
import pathlib
from typing import Any, Iterable

from .. import _weft
from ._file import read_graph, write_graph
from ._graph import Graph, Node, Tensor
from ._network import Network
from ._profile import Block, Plan, PlannedTensor, Step
from ._reference import run_reference

__all__ = ["Block", "Graph", "Network", "Node", "Plan", "PlannedTensor", "Step", "Tensor", "import_onnx", "load", "load_graph", "read_graph", "run_reference", "write_graph"]


def import_onnx(model: Any) -> Graph:
    """The graph of a quantized ONNX model: a path, the bytes of a file, or an onnx.ModelProto.

    weft.ArgumentError names every node that cannot run, each with its reason. weft.RunError if the package onnx is missing.
    """
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise _weft.RunError("weft: the package onnx reads ONNX models, and is not installed: pip install weft[onnx]") from None
    from ._onnx import import_onnx as run

    return run(model)


def load_graph(path: str | os.PathLike[str]) -> Graph:
    """The graph of a file: an ONNX model if its name ends in .onnx, else a .weft file."""
    path = pathlib.Path(path)
    return import_onnx(path) if path.suffix == ".onnx" else read_graph(_bytes_of(path))


def _bytes_of(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _weft.ArgumentError(f"weft: {path}: {error.strerror or error}") from None


def load(
    path: str | os.PathLike[str], *, fuse: bool = True, tiles: Any = None, layouts: str | Iterable[str] = (), memory: int | None = None,
    blocks: str = "where_quicker"
) -> Network:
    """The network of a file, name.onnx or name.weft, with the compiled kernels that the latter has. What else is given: see Network."""
    path = pathlib.Path(path)
    if path.suffix == ".onnx":
        return Network(import_onnx(path), fuse=fuse, tiles=tiles, layouts=layouts, memory=memory, blocks=blocks)
    data = _bytes_of(path)
    return Network(read_graph(data), fuse=fuse, tiles=tiles, layouts=layouts, memory=memory, blocks=blocks, file=data)
