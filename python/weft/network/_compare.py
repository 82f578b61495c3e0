"""Outputs beside those of onnxruntime, or of the formulas in numpy."""
from __future__ import annotations

import functools
import pathlib
from typing import Any

import numpy as np

from .. import _weft
from ._graph import Graph
from ._reference import run_reference


def compared(with_what: str, model: pathlib.Path, graph: Graph, inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> int:
    """Prints how many elements differ from those of "onnxruntime" or of the "reference". 1 if any does."""
    wanted = run_reference(graph, inputs) if with_what == "reference" else _by_onnxruntime(model, inputs)
    differ = 0
    for name, y in outputs.items():
        if name not in wanted:
            continue
        count = int(np.count_nonzero(y.reshape(wanted[name].shape) != wanted[name]))
        differ += count
        print(f"  {name}: {count} of {y.size} elements differ from {with_what}'s")
    if differ and with_what == "onnxruntime" and onnxruntime_saturates():
        print("  onnxruntime's sums of products of uint8 and int8 saturate on this processor, which has no VNNI: --compare reference is exact")
    return 1 if differ else 0


@functools.cache
def onnxruntime_saturates() -> bool:
    """Whether onnxruntime adds pairs of products of uint8 and int8 in 16 bits that saturate, as it does on x86 without VNNI."""
    import onnx
    import onnxruntime

    channels = 64
    constants = {"one": np.float32(1), "zero": np.uint8(0), "w": np.full((16, channels, 1, 1), 127, np.int8), "w_zero": np.int8(0),
                 "sy": np.float32(255 * 127 * channels / 200)}
    node = onnx.helper.make_node("QLinearConv", ["x", "one", "zero", "w", "one", "w_zero", "sy", "zero"], ["y"])
    shape = (1, channels, 4, 4)
    graph = onnx.helper.make_graph([node], "node", [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, shape)],
                                   [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.UINT8, None)],
                                   [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return bool(np.any(session.run(None, {"x": np.full(shape, 255, np.uint8)})[0] != 200))


def _by_onnxruntime(model: pathlib.Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    if model.suffix != ".onnx":
        raise _weft.ArgumentError(f"weft: --compare onnxruntime takes an .onnx model, and {model} is none")
    try:
        import onnxruntime
    except ImportError:
        raise _weft.RunError("weft: --compare onnxruntime: it is not installed: pip install weft[onnx]") from None
    try:
        return _session_run(onnxruntime, model, inputs)
    except _weft.Error:
        raise
    except Exception as error:  # of several types, which onnxruntime does not document
        raise _weft.RunError(f"weft: --compare onnxruntime: it does not run {model}: {(str(error).splitlines() or [type(error).__name__])[0]}") from None


def _session_run(onnxruntime: Any, model: pathlib.Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    count = len(next(iter(inputs.values())))
    fixed = session.get_inputs()[0].shape[0]
    step = fixed if isinstance(fixed, int) else count
    if count % step:
        raise _weft.ArgumentError(f"weft: --compare onnxruntime: the model takes {step} images at once, and the batch is {count}")
    # onnxruntime keeps the shapes of the model, in which a vector may have rows and columns.
    shaped = {port.name: inputs[port.name].reshape(count, *port.shape[1:]) for port in session.get_inputs()}
    parts = [session.run(None, {name: x[i : i + step] for name, x in shaped.items()}) for i in range(0, count, step)]
    return {port.name: np.concatenate([part[i] for part in parts]) for i, port in enumerate(session.get_outputs())}
