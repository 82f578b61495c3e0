"""The file of a graph, name.weft, which docs/networks.md describes byte by byte."""
from __future__ import annotations

import hashlib
import json
import math
import struct
from dataclasses import fields
from typing import Any

import numpy as np

from .. import _weft
from ._graph import Graph, Node, Tensor

_MAGIC, _VERSION, _BEGINNING, _BLOCK = b"WEFTNET\n", 1, 128, 64
_ENGINE = 2  # the version of files that have compiled code, which C++ reads and writes
# The constants of a node and their elements. All are little-endian, as the machines are that this runs on.
_CONSTANTS: dict[str, np.dtype[Any]] = {"filter": np.dtype("<i1"), "filter_scale": np.dtype("<f4"), "bias": np.dtype("<i4"), "table": np.dtype("<u1")}
_NUMBERS = ("window", "stride", "padding", "dilation", "factors")
_DEFAULTS = {f.name: f.default for f in fields(Node) if f.name in (*_NUMBERS, "groups", "count_padding", *_CONSTANTS)}


def check(graph: Graph) -> None:
    """weft.ArgumentError, with the name of a node or tensor, if the graph is not one that a network can run."""
    _packed(graph)


def write_graph(graph: Graph) -> bytes:
    """The bytes of a graph's file. The errors of check."""
    text, constants = _packed(graph)
    numbers = struct.pack("<IIQQ", _VERSION, 0, len(text), len(constants))
    behind = text + constants
    return _MAGIC + numbers + hashlib.sha256(behind).hexdigest().encode() + bytes(32) + behind


def _packed(graph: Graph) -> tuple[bytes, bytes]:
    """The text and the constants of a graph's file, of which C++ says whether a network can run them."""
    constants = bytearray()
    try:
        nodes = [_entry_of_node(graph, node, constants) for node in graph.nodes]
        tensors = [_entry_of_tensor(key, tensor) for key, tensor in graph.tensors.items()]
        text = json.dumps({"name": graph.name, "inputs": graph.inputs, "outputs": graph.outputs, "tensors": tensors, "nodes": nodes},
                          ensure_ascii=False, separators=(",", ":"), default=_number_of).encode()
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, _weft.Error):
            raise
        raise _weft.ArgumentError(f"weft: the graph has what no file of one has: {error}") from None
    text += b" " * (-len(text) % _BLOCK)
    packed = bytes(constants)
    _weft.check_graph(text, packed)
    return text, packed


def _entry_of_node(graph: Graph, node: Node, constants: bytearray) -> dict[str, Any]:
    """What the text says of a node, whose arrays are appended to the constants."""
    entry: dict[str, Any] = {"kind": node.kind, "name": node.name, "inputs": list(node.inputs), "output": node.output}
    for key, default in _DEFAULTS.items():
        value = getattr(node, key)
        if key in _CONSTANTS:
            if value is not None:
                data = _array_of(graph, node, key, value).tobytes()
                entry[key] = [len(constants), len(data)]
                constants += data + bytes(-len(data) % _BLOCK)
        elif value != default:
            entry[key] = list(value) if isinstance(value, tuple) else value
    return entry


def _entry_of_tensor(key: str, t: Tensor) -> dict[str, Any]:
    if t.name != key:
        raise _weft.ArgumentError(f"weft: tensor {t.name!r} is kept as {key!r}; give it its name")
    if not math.isfinite(t.scale):
        raise _weft.ArgumentError(f"weft: tensor {t.name}: scale={t.scale} is not a finite number above 0")
    entry: dict[str, Any] = {"name": t.name, "element": t.element, "shape": list(t.shape)}
    if t.element != "float" or (t.scale, t.zero_point) != (1.0, 0):
        entry.update(scale=float(np.float32(t.scale)), zero_point=t.zero_point)
    return entry


def _number_of(value: Any) -> Any:
    """A number of numpy's as one of Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__}, where a number, a text or a list is expected")


def _array_of(graph: Graph, node: Node, key: str, value: Any) -> Any:
    """A constant of a node, whose bytes alone C++ sees."""
    dtype, sources = _CONSTANTS[key], [graph.tensors[name] for name in node.inputs if name in graph.tensors]
    if getattr(value, "dtype", None) != dtype:
        raise _weft.ArgumentError(f"weft: node {node.name} ({node.kind}): its {key} is of {getattr(value, 'dtype', type(value).__name__)}, and {dtype} is expected")
    if key == "filter" and sources and node.output in graph.tensors and len(value.shape) > 1:
        (c, h, w), k = sources[0].shape, graph.tensors[node.output].shape[0]
        shape = (k, c // max(node.groups, 1), *node.window) if node.kind == "convolution" else (k, c * h * w)
        if value.shape != shape:
            raise _weft.ArgumentError(f"weft: node {node.name} ({node.kind}): its filter has shape {value.shape}, and not {shape}")
    return np.ascontiguousarray(value)


def read_graph(data: bytes) -> Graph:
    """The graph of a file's bytes. weft.ArgumentError if they are none, are damaged or are of a newer version."""
    data = bytes(data)
    if data[:8] != _MAGIC:
        raise _weft.ArgumentError("weft: the file does not begin as a .weft file does")
    if len(data) < _BEGINNING:
        raise _weft.ArgumentError(f"weft: the .weft file has {len(data)} bytes, fewer than its beginning of {_BEGINNING}")
    version, zeros, text_bytes, constant_bytes = struct.unpack("<IIQQ", data[8:32])
    if version not in (_VERSION, _ENGINE):
        raise _weft.ArgumentError(f"weft: the .weft file is of version {version}, and this package reads versions {_VERSION} and {_ENGINE}")
    (code_bytes,) = struct.unpack("<Q", data[96:104])
    said = _BEGINNING + text_bytes + constant_bytes + code_bytes
    if len(data) != said:
        raise _weft.ArgumentError(f"weft: the .weft file has {len(data)} bytes and says {said}")
    if zeros or any(data[104:_BEGINNING]) or (version == _VERSION and code_bytes) or text_bytes % _BLOCK or hashlib.sha256(data[_BEGINNING:]).hexdigest().encode() != data[32:96]:
        raise _weft.ArgumentError("weft: the .weft file is damaged: its bytes are not those of which it has the SHA-256")
    text, constants = data[_BEGINNING : _BEGINNING + text_bytes], data[_BEGINNING + text_bytes : _BEGINNING + text_bytes + constant_bytes]
    _weft.check_graph(text, constants, version == _ENGINE)
    try:
        return _parse(json.loads(text.decode()), constants)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise _weft.ArgumentError(f"weft: the text of the .weft file is not that of a graph: {error!r}") from None


def _parse(text: dict[str, Any], constants: bytes) -> Graph:
    graph = Graph(name=text["name"], inputs=list(text["inputs"]), outputs=list(text["outputs"]))
    for entry in text["tensors"]:
        graph.tensors[entry["name"]] = Tensor(entry["name"], entry["element"], tuple(entry["shape"]), float(np.float32(entry.get("scale", 1.0))),
                                              entry.get("zero_point", 0))
    for entry in text["nodes"]:
        node = Node(entry["kind"], entry["name"], list(entry["inputs"]), entry["output"])
        for key in _DEFAULTS.keys() & entry.keys():
            value = entry[key]
            if key in _CONSTANTS:
                at, size = value
                value = np.frombuffer(constants, _CONSTANTS[key], size // _CONSTANTS[key].itemsize, at)
                if key == "filter":
                    value = value.reshape(_filter_shape(graph, node, entry))
            setattr(node, key, tuple(value) if key in _NUMBERS else value)
        graph.nodes.append(node)
    return graph


def _filter_shape(graph: Graph, node: Node, entry: dict[str, Any]) -> tuple[int, ...]:
    """What the file does not say of a filter: its output channels are those of the node's output."""
    k = graph.tensors[node.output].shape[0]
    return (k, -1, *entry.get("window", (1, 1))) if node.kind == "convolution" else (k, -1)
