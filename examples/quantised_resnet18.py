#!/usr/bin/env python3
"""Makes a ResNet-18 with random weights and quantises it by onnxruntime: a model to try `weft_run` with.

    python examples/quantised_resnet18.py resnet18.onnx            # uint8 activations, int8 weights, 64 x 64 pixels
    python examples/quantised_resnet18.py resnet18.onnx --size 224 --signed --per-channel
    weft_run resnet18.onnx --compare onnxruntime

It takes the packages onnx and onnxruntime (pip install weft[onnx]). The weights are He's random ones, batch norms are folded
into them; the seeds are fixed, so that the file is the same at each run.
"""
from __future__ import annotations

import argparse
import logging
import os
import pathlib
import tempfile
from typing import Any, Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class FloatModel:
    """An ONNX model that grows by a node at each call; values are known by name, with their channels."""

    def __init__(self, name: str, size: int, seed: int = 0) -> None:
        self.name, self.size, self.random = name, size, np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.channels = {"x": 3}

    def constant(self, array: np.ndarray) -> str:
        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, inputs: list[str], channels: int, **attributes: Any) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        self.channels[name] = channels
        return name

    def convolution(self, x: str, k: int, window: int = 1, stride: int = 1, groups: int = 1) -> str:
        c = self.channels[x] // groups
        weights = self.random.normal(0, np.sqrt(2 / (c * window * window)), (k, c, window, window))
        inputs = [x, self.constant(weights.astype(np.float32)), self.constant(self.random.normal(0, 0.1, k).astype(np.float32))]
        return self.node("Conv", inputs, k, kernel_shape=[window] * 2, strides=[stride] * 2, pads=[window // 2] * 4, group=groups)

    def relu(self, x: str) -> str:
        return self.node("Relu", [x], self.channels[x])

    def add(self, a: str, b: str) -> str:
        return self.node("Add", [a, b], self.channels[a])

    def max_pool(self, x: str, window: int, stride: int, padding: int) -> str:
        return self.node("MaxPool", [x], self.channels[x], kernel_shape=[window] * 2, strides=[stride] * 2, pads=[padding] * 4)

    def average(self, x: str) -> str:
        return self.node("GlobalAveragePool", [x], self.channels[x])

    def flatten(self, x: str, pixels: int = 1) -> str:
        return self.node("Flatten", [x], self.channels[x] * pixels, axis=1)

    def fully_connected(self, x: str, k: int) -> str:
        weights = self.random.normal(0, np.sqrt(1 / self.channels[x]), (k, self.channels[x])).astype(np.float32)
        return self.node("Gemm", [x, self.constant(weights), self.constant(np.zeros(k, np.float32))], k, transB=1)

    def model(self, *outputs: str) -> onnx.ModelProto:
        """The model, for any number of images."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, self.size, self.size])
        graph = helper.make_graph(self.nodes, self.name, [x], [onnx.ValueInfoProto(name=name) for name in outputs], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return onnx.shape_inference.infer_shapes(model)


def resnet18(size: int = 64, classes: int = 1000) -> onnx.ModelProto:
    """ResNet-18 over floats."""
    m = FloatModel("resnet18", size)
    x = m.max_pool(m.relu(m.convolution("x", 64, 7, 2)), 3, 2, 1)
    for stage in range(4):
        k = 64 << stage
        for block in range(2):
            stride = 2 if stage and not block else 1
            y = m.convolution(m.relu(m.convolution(x, k, 3, stride)), k, 3)
            x = m.relu(m.add(y, m.convolution(x, k, 1, stride) if stride != 1 else x))
    return m.model(m.fully_connected(m.flatten(m.average(x)), classes))


def images(size: int, count: int, seed: int = 1) -> Iterator[np.ndarray]:
    """Random images, one at a time."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        yield random.normal(size=(1, 3, size, size)).astype(np.float32)


def quantised(model: onnx.ModelProto, size: int, *, signed: bool = False, qdq: bool = False, per_channel: bool = False) -> onnx.ModelProto:
    """The model as onnxruntime's quantiser makes it, with the ranges that it sees in two random images."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Images(CalibrationDataReader):
        left = images(size, 2)

        def get_next(self) -> dict[str, np.ndarray] | None:
            x = next(self.left, None)
            return None if x is None else {"x": x}

    logging.getLogger().setLevel(logging.ERROR)  # it recommends a step that these models do not need
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "quantised.onnx")
        quantize_static(model, path, Images(), quant_format=QuantFormat.QDQ if qdq else QuantFormat.QOperator, per_channel=per_channel,
                        activation_type=QuantType.QInt8 if signed else QuantType.QUInt8, weight_type=QuantType.QInt8,
                        extra_options={"ActivationSymmetric": signed})
        return onnx.load(path)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("file", type=pathlib.Path, help="the .onnx file that is written")
    arguments.add_argument("--size", type=int, default=64, help="rows and columns of an image, a multiple of 32")
    arguments.add_argument("--signed", action="store_true", help="int8 activations with zero point 0, and not uint8")
    arguments.add_argument("--qdq", action="store_true", help="DequantizeLinear and QuantizeLinear around nodes of floats, and not QLinear nodes")
    arguments.add_argument("--per-channel", action="store_true", help="a scale for each output channel of the weights")
    a = arguments.parse_args()
    model = quantised(resnet18(a.size), a.size, signed=a.signed, qdq=a.qdq, per_channel=a.per_channel)
    onnx.save(model, a.file)
    print(f"{a.file}: {len(model.graph.node)} nodes, {a.file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
