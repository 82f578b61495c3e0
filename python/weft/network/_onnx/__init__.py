"""ONNX models that are quantized, as graphs. Only this folder of the package asks for the packages onnx and onnxruntime."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from ... import _weft
from .._file import check
from .._graph import Graph, Node
from . import floats, integers, moves, products
from .importer import Importer, label
from .values import Constant, Failed, FloatInput, Function, Integers, Pending, Refused

_NODES = {**moves.NODES, **floats.NODES, **integers.NODES}
_DOMAINS = ("", "ai.onnx", "com.microsoft")
_ELEMENTS = {TensorProto.FLOAT: "float", TensorProto.UINT8: "uint8", TensorProto.INT8: "int8"}
# What Python and numpy raise over numbers, shapes and attributes that ONNX does not allow and that nothing here asks about.
_MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _malformed(error: Exception) -> str:
    return f"it is not as ONNX describes it: {error or type(error).__name__}"


def import_onnx(model: Any) -> Graph:
    """The graph of a quantized ONNX model, which gives the bits of onnxruntime's QOperator kernels on x86 (docs/networks.md).

    model: a path, the bytes of a file, or an onnx.ModelProto.

    weft.ArgumentError names every node that cannot run, each with its reason.
    """
    proto = _loaded(model)
    imp = Importer(proto.graph.name)
    imp.opsets = [(opset.domain, opset.version) for opset in proto.opset_import if opset.domain in _DOMAINS]
    refused: list[str] = []
    _start(imp, proto.graph, refused)
    nodes = _needed(proto.graph)
    imp.read = {name for node in nodes for name in node.input if name} | {output.name for output in proto.graph.output}
    for node in nodes:
        try:
            made = _run(imp, node)
        except Refused as error:
            refused.append(f"{label(node)}: {error}")
            made = Failed()
        except _MALFORMED as error:
            refused.append(f"{label(node)}: {_malformed(error)}")
            made = Failed()
        for name in node.output:
            imp.values[name] = made
    values: dict[int, Any] = {}
    for run in (_written, _finish):  # all floats are written before a tensor gets the name of an output: a layer that waits knows its sources by name
        for at, output in enumerate(proto.graph.output):
            try:
                values[at] = run(imp, output.name, values.get(at))
            except Refused as error:
                refused.append(f"output {output.name}: {error}")
                values[at] = Failed()
            except _MALFORMED as error:
                refused.append(f"output {output.name}: {_malformed(error)}")
                values[at] = Failed()
    if refused:
        what = "one node or tensor" if len(refused) == 1 else f"{len(refused)} nodes or tensors"
        raise _weft.ArgumentError(f"weft: {what} of the model {proto.graph.name!r} cannot run:\n  " + "\n  ".join(refused))
    check(imp.graph)
    return imp.graph


def _loaded(model: Any) -> onnx.ModelProto:
    if isinstance(model, onnx.ModelProto):
        return model
    try:
        if isinstance(model, (bytes, bytearray, memoryview)):
            return onnx.load_model_from_string(bytes(model))
        return onnx.load(os.fspath(model))
    except OSError as error:
        raise _weft.ArgumentError(f"weft: {model}: {error.strerror or error}") from None
    except Exception as error:  # protobuf's
        raise _weft.ArgumentError(f"weft: {'the bytes' if isinstance(model, bytes) else model} are no ONNX model: {error}") from None


def _start(imp: Importer, graph: Any, refused: list[str]) -> None:
    """Initializers and inputs."""
    for initializer in graph.initializer:
        try:
            imp.values[initializer.name] = Constant(numpy_helper.to_array(initializer))
        except Exception as error:  # data in another file, or fewer bytes than the shape says
            refused.append(f"initializer {initializer.name}: {error}")
            imp.values[initializer.name] = Failed()
    if graph.sparse_initializer:
        refused.append(f"initializer {graph.sparse_initializer[0].values.name}: it is sparse")
    batches = set()
    for value in graph.input:
        if value.name in imp.values:
            continue
        try:
            batches.add(_input(imp, value))
        except Refused as error:
            refused.append(f"input {value.name}: {error}")
            imp.values[value.name] = Failed()
        except _MALFORMED as error:
            refused.append(f"input {value.name}: {_malformed(error)}")
            imp.values[value.name] = Failed()
    imp.batch = batches.pop() if len(batches) == 1 else None


def _input(imp: Importer, value: Any) -> int | None:
    """Puts an input into the graph; gives its number of images, None if that is free."""
    kind = value.type.tensor_type
    element = _ELEMENTS.get(kind.elem_type)
    if element is None:
        name = TensorProto.DataType.Name(kind.elem_type) if kind.elem_type in TensorProto.DataType.values() else kind.elem_type
        raise Refused(f"it is of {name}; FLOAT, UINT8 and INT8 are known here")
    dims = kind.shape.dim
    if len(dims) not in (2, 4):
        raise Refused(f"it has {len(dims)} dimensions; (n, c, h, w) and (n, c) are known here")
    for at, dim in enumerate(dims):
        if at and dim.dim_value < 1:
            raise Refused(f"its dimension {at} is {dim.dim_param or 'not said'!r}, and must be a number: only the batch is free "
                          "(python -m onnxruntime.tools.make_dynamic_shape_fixed sets it)")
    shape = tuple(dim.dim_value for dim in dims[1:])
    tensor = imp.new_tensor(value.name, element, shape if len(shape) == 3 else (shape[0], 1, 1))
    imp.graph.inputs.append(tensor)
    imp.values[value.name] = FloatInput(tensor, shape) if element == "float" else Integers(tensor, shape)
    return dims[0].dim_value or None


def _needed(graph: Any) -> list[Any]:
    """The nodes on which an output depends, in order."""
    wanted, needed = {output.name for output in graph.output}, []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            wanted.update(name for name in node.input if name)
            needed.append(node)
    return needed[::-1]


def _run(imp: Importer, node: Any) -> Any:
    """The value that a node writes."""
    if node.domain not in _DOMAINS:
        raise Refused(f"its domain {node.domain} is none of ONNX and com.microsoft")
    if node.op_type == "Constant":
        return _constant(node)
    run = _NODES.get(node.op_type)
    if run is None:
        raise Refused("there is nothing that runs this kind of node")
    if imp.failed(node):
        return Failed()
    for name in node.output[1:]:
        if name in imp.read:
            raise Refused(f"its output {name} beyond the first is used")
    return run(imp, node, node.name or node.output[0])


def _constant(node: Any) -> Constant:
    for attribute in node.attribute:
        if attribute.name == "value":
            try:
                return Constant(numpy_helper.to_array(attribute.t))
            except Exception as error:  # data in another file, or fewer bytes than the shape says
                raise Refused(f"its value: {error}") from None
        if attribute.name in ("value_float", "value_int", "value_floats", "value_ints"):
            kind = "float32" if "float" in attribute.name else "int64"
            return Constant(np.array(onnx.helper.get_attribute_value(attribute), kind))
    raise Refused("its value is of a kind that is not known here")


def _written(imp: Importer, name: str, _: Any) -> Any:
    """The value of an output, of which a layer has written the floats."""
    value = imp.values.get(name)
    if isinstance(value, Pending) and products.writes_floats(value):
        return Integers(value.emit(name, None).tensor, value.shape)
    return value


def _finish(imp: Importer, name: str, value: Any) -> None:
    """Makes a value an output of the graph, whose tensor has its name."""
    graph = imp.graph
    if isinstance(value, Failed):
        return
    if isinstance(value, Function) and value.only_dequantized:
        node = Node("dequantize", f"{name}_dequantize", [value.source.tensor])
        node.output = imp.new_tensor(name, "float", graph.tensors[value.source.tensor].shape)
        imp.put(node)
        value = Integers(node.output, value.shape)
    if not isinstance(value, Integers):
        raise Refused("it is made of floats behind which there is no QuantizeLinear, or is a constant; the last nodes would be a QuantizeLinear "
                      "and a DequantizeLinear, or a convolution or a fully connected layer alone")
    shape = graph.tensors[value.tensor].shape
    if value.shape != shape and not (shape[1:] == (1, 1) and value.shape == shape[:1]):
        raise Refused(f"it is {value.shape} behind the batch, a Reshape of {shape}; outputs have the shape that the last node writes, so take the "
                      "Reshape out of the model and do it behind the network")
    taken = value.tensor in graph.inputs or value.tensor in graph.outputs
    if taken:  # an output of its own
        value = imp.emit(Node("convert", f"{name}_copy", []), [value], name, imp.quantization_of(value))
    elif value.tensor != name and name not in graph.tensors:
        _rename(imp, value.tensor, name)
        value.tensor = name
    graph.outputs.append(value.tensor)


def _rename(imp: Importer, old: str, new: str) -> None:
    graph = imp.graph
    graph.tensors = {new if key == old else key: tensor for key, tensor in graph.tensors.items()}
    graph.tensors[new].name = new
    for node in graph.nodes:
        node.inputs = [new if name == old else name for name in node.inputs]
        node.output = new if node.output == old else node.output
    for value in imp.values.values():
        integers = value.source if isinstance(value, Function) else value
        if isinstance(integers, Integers) and integers.tensor == old:
            integers.tensor = new
