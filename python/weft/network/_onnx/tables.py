"""Tables of 256 bytes: what each byte becomes by nodes of ONNX, computed by onnxruntime itself where it is installed."""
from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .values import Function, Quantization, Refused, quantized

_TYPES = {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8}


def table_of(nodes: list[Any], inputs: dict[str, str], constants: dict[str, np.ndarray], output: str, opsets: Any = ()) -> np.ndarray:
    """What the output of nodes is for each byte of their inputs, 256 of uint8.

    inputs: names and elements; all are given the same bytes. constants: what else the nodes read. opsets: the model's
    (domain, version); only nodes of onnxruntime's own domain do without.
    """
    try:
        import onnxruntime
    except ImportError:
        return _by_numpy(nodes, inputs, constants, output)
    every = np.arange(256, dtype=np.uint8)
    # The type of the output is left to onnxruntime, and the shape is that of the table.
    graph = helper.make_graph(nodes, "table", [helper.make_tensor_value_info(name, _TYPES[element], [256]) for name, element in inputs.items()],
                              [onnx.ValueInfoProto(name=output)], [numpy_helper.from_array(array, name) for name, array in constants.items()])
    versions = {"": 13, "com.microsoft": 1, **dict(opsets)}
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*pair) for pair in versions.items()])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        (values,) = session.run(None, {name: every.view(element) for name, element in inputs.items()})
    except Exception as error:  # of several types, which onnxruntime does not document
        raise Refused(f"onnxruntime does not compute its table: {str(error).splitlines()[0]}") from None
    if values.size != 256 or values.dtype not in (np.int8, np.uint8):
        raise Refused(f"it makes {values.size} of {values.dtype} from 256 bytes, and is no function of one element to int8 or uint8")
    return np.ascontiguousarray(values).reshape(256).view(np.uint8)


def quantized_table(function: Function, output: Quantization, opsets: Any) -> np.ndarray:
    """The table of a function of floats behind which there is a QuantizeLinear."""
    last = function.nodes[-1].output[0]
    constants = {**function.constants, "table/scale": np.array(output.scale, np.float32), "table/zero_point": np.array(output.zero_point, output.element)}
    quantize = helper.make_node("QuantizeLinear", [last, "table/scale", "table/zero_point"], ["table/y"])
    return table_of([*function.nodes, quantize], {function.source.tensor: function.quantization.element}, constants, "table/y", opsets)


def _dequantize(x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray) -> np.ndarray:
    return (x.astype(np.int32) - zero_point.astype(np.int32)).astype(np.float32) * scale


# Functions that IEEE 754 defines to the bit, so that numpy gives what onnxruntime does.
_EXACT: dict[str, Callable[..., Any]] = {
    "DequantizeLinear": _dequantize, "QuantizeLinear": quantized, "Identity": lambda x: x, "Relu": lambda x: np.maximum(x, np.float32(0)),
    "Clip": lambda x, low=None, high=None: np.clip(x, low, high), "Abs": np.abs, "Neg": np.negative, "Add": np.add, "Sub": np.subtract,
    "Mul": np.multiply, "Div": np.divide, "Max": lambda *x: functools.reduce(np.maximum, x), "Min": lambda *x: functools.reduce(np.minimum, x)}


def _by_numpy(nodes: list[Any], inputs: dict[str, str], constants: dict[str, np.ndarray], output: str) -> np.ndarray:
    values = {**constants, **{name: np.arange(256, dtype=np.uint8).view(element) for name, element in inputs.items()}}
    for node in nodes:
        if node.op_type not in _EXACT or node.attribute:
            raise Refused(f"the bits of its {node.op_type} are onnxruntime's, which is not installed: pip install weft[onnx]")
        with np.errstate(all="ignore"):
            values[node.output[0]] = np.asarray(_EXACT[node.op_type](*(values.get(name) for name in node.input)))
    return np.ascontiguousarray(values[output]).reshape(256).view(np.uint8)
