"""The file of a graph, name.weft, which docs/networks.md describes byte by byte."""
from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import fields
from typing import Any

import numpy as np

from .. import _weft
from ._graph import Graph, Node, Tensor, check

_MAGIC, _VERSION, _BEGINNING, _BLOCK = b"WEFTNET\n", 1, 128, 64
_ENGINE = 2  # the version of files that have compiled code, which C++ reads and writes
# The constants of a node and their elements. All are little-endian, as the machines are that this runs on.
_CONSTANTS: dict[str, np.dtype[Any]] = {"filter": np.dtype("<i1"), "filter_scale": np.dtype("<f4"), "bias": np.dtype("<i4"), "table": np.dtype("<u1")}
_NUMBERS = ("window", "stride", "padding", "dilation", "factors")
_DEFAULTS = {f.name: f.default for f in fields(Node) if f.name in (*_NUMBERS, "groups", "count_padding", *_CONSTANTS)}


def write_graph(graph: Graph) -> bytes:
    """The bytes of a graph's file."""
    check(graph)
    constants = bytearray()
    nodes = []
    for node in graph.nodes:
        entry: dict[str, Any] = {"kind": node.kind, "name": node.name, "inputs": list(node.inputs), "output": node.output}
        for key, default in _DEFAULTS.items():
            value = getattr(node, key)
            if key in _CONSTANTS:
                if value is not None:
                    data = np.ascontiguousarray(value, _CONSTANTS[key]).tobytes()
                    entry[key] = [len(constants), len(data)]
                    constants += data + bytes(-len(data) % _BLOCK)
            elif value != default:
                entry[key] = list(value) if isinstance(value, tuple) else value
        nodes.append(entry)
    tensors = []
    for t in graph.tensors.values():
        tensor: dict[str, Any] = {"name": t.name, "element": t.element, "shape": list(t.shape)}
        if t.element != "float":
            tensor.update(scale=float(np.float32(t.scale)), zero_point=int(t.zero_point))
        tensors.append(tensor)
    text = json.dumps({"name": graph.name, "inputs": graph.inputs, "outputs": graph.outputs, "tensors": tensors, "nodes": nodes},
                      ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _BLOCK)
    text += bytes(constants)
    numbers = struct.pack("<IIQQ", _VERSION, 0, len(text) - len(constants), len(constants))
    return _MAGIC + numbers + hashlib.sha256(text).hexdigest().encode() + bytes(32) + text


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
    try:
        text = json.loads(data[_BEGINNING : _BEGINNING + text_bytes].decode())
        if version == _ENGINE:
            text = {key: value for key, value in text.items() if key not in ("headers", "plans")}
        graph = _parse(text, data[_BEGINNING + text_bytes : _BEGINNING + text_bytes + constant_bytes])
        check(graph)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        if isinstance(error, _weft.Error):
            raise
        raise _weft.ArgumentError(f"weft: the text of the .weft file is not that of a graph: {error!r}") from None
    return graph


def _known(entry: dict[str, Any], keys: tuple[str, ...]) -> None:
    for key in entry:
        if key not in keys:
            raise _weft.ArgumentError(f"weft: the text of the .weft file has a key {key!r}; {', '.join(keys)} are known")


def _parse(text: dict[str, Any], constants: bytes) -> Graph:
    _known(text, ("name", "inputs", "outputs", "tensors", "nodes"))
    graph = Graph(name=text["name"], inputs=list(text["inputs"]), outputs=list(text["outputs"]))
    for entry in text["tensors"]:
        _known(entry, ("name", "element", "shape", "scale", "zero_point"))
        if entry["name"] in graph.tensors:
            raise _weft.ArgumentError(f"weft: the .weft file has two tensors {entry['name']}")
        graph.tensors[entry["name"]] = Tensor(entry["name"], entry["element"], tuple(entry["shape"]), float(np.float32(entry.get("scale", 1.0))),
                                              entry.get("zero_point", 0))
    for entry in text["nodes"]:
        _known(entry, ("kind", "name", "inputs", "output", *_DEFAULTS))
        node = Node(entry["kind"], entry["name"], list(entry["inputs"]), entry["output"])
        for key in _DEFAULTS.keys() & entry.keys():
            value = entry[key]
            if key in _CONSTANTS:
                at, size = value
                if not 0 <= at <= at + size <= len(constants) or at % _BLOCK or size % _CONSTANTS[key].itemsize:
                    raise _weft.ArgumentError(f"weft: node {node.name}: its {key} at [{at}, {size}] is not among {len(constants)} bytes of constants")
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
