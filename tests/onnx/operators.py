#!/usr/bin/env python3
"""Compares what a network computes besides convolutions with onnxruntime's QOperator kernels, on random nodes.

    operators.py PROGRAM [--rounds=N] [--seed=N]

PROGRAM is onnx_cases, built from this folder; a round has a node of each kind. Every output must be equal, on x86:
elsewhere onnxruntime has other kernels. Scales are often equal or simple ratios, which make halves, since the order of
a formula's operations shows there.
"""
import argparse
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

# As network/graph/graph.hpp has them.
KINDS = {"quantize": 0, "dequantize": 1, "convert": 2, "add": 5, "multiply": 6, "max_pool": 8, "average_pool": 9,
         "global_average_pool": 10, "resize": 12}
ELEMENTS = {np.dtype(np.int8): 0, np.dtype(np.uint8): 1, np.dtype(np.float32): 2}
NHWC, NCHW = 0, 3
NO_WINDOW = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1]


class Tensor:
    """Numbers as NCHW, a scale and a zero point."""

    def __init__(self, values, scale=1.0, zero_point=0):
        self.values, self.scale, self.zero_point = values, np.float32(scale), int(zero_point)

    def header(self, layout):
        return struct.pack("<7if", ELEMENTS[self.values.dtype], layout, *self.values.shape, self.zero_point, self.scale)

    def bytes(self, layout):
        return np.ascontiguousarray(self.values.transpose(0, 2, 3, 1) if layout == NHWC else self.values).tobytes()


class Nodes:
    """Random nodes of one type of integers."""

    def __init__(self, rng):
        self.rng = rng
        self.dtype = np.dtype(rng.choice([np.int8, np.uint8]))
        self.low = np.iinfo(self.dtype).min
        self.step = np.float32(rng.choice([0.5, 0.1, np.exp(rng.uniform(-5, 1))]))
        self.pick = lambda low, high: int(rng.integers(low, high + 1))
        self.shape = (self.pick(1, 2), self.pick(1, 40), self.pick(1, 11), self.pick(1, 11))

    def scale(self):
        return np.float32(self.step * np.float32(self.rng.choice([1, 1, 2, 0.5, 3, 0.1, np.exp(self.rng.uniform(-2, 2))])))

    def zero_point(self):
        return self.low + self.pick(0, 255)

    def tensor(self, shape):
        values = (self.rng.integers(0, 256, shape) + self.low).astype(self.dtype)
        return Tensor(values, self.scale(), self.zero_point())

    def result(self, shape):
        return Tensor(np.zeros(shape, self.dtype), self.scale(), self.zero_point())

    def numbers(self, *tensors):
        """Arrays of scales and zero points, by names s0, z0, s1, ..."""
        made = {}
        for i, t in enumerate(tensors):
            made[f"s{i}"], made[f"z{i}"] = np.float32(t.scale), self.dtype.type(t.zero_point)
        return made

    def all(self):
        """(kind, onnxruntime's output, [(source, other or None, output, first channel)], window, count_padding, factors)."""
        x, y, z = self.tensor(self.shape), self.tensor(self.shape), self.result(self.shape)
        three = self.numbers(x, y, z)
        two_of = ["x", "s0", "z0", "y", "s1", "z1", "s2", "z2"]
        yield "add", run("QLinearAdd", two_of, {"x": x.values, "y": y.values, **three}), [(x, y, z, 0)]
        if self.pick(0, 1):
            y = self.tensor((*self.shape[:2], 1, 1))
            three = self.numbers(x, y, z)
        yield "multiply", run("QLinearMul", two_of, {"x": x.values, "y": y.values, **three}), [(x, y, z, 0)]

        two = self.numbers(x, z)
        one_of = ["x", "s0", "z0", "s1", "z1"]
        average = Tensor(np.zeros((*self.shape[:2], 1, 1), self.dtype), z.scale, z.zero_point)
        yield ("global_average_pool", run("QLinearGlobalAveragePool", one_of, {"x": x.values, **two}),
               [(x, None, average, 0)])

        yield from self.pools(x, z, two, one_of)

        y = self.tensor((self.shape[0], self.pick(1, 40), *self.shape[2:]))
        c = self.shape[1]
        both = self.result((self.shape[0], c + y.values.shape[1], *self.shape[2:]))
        yield ("convert", run("QLinearConcat", ["s2", "z2", "x", "s0", "z0", "y", "s1", "z1"],
                              {"x": x.values, "y": y.values, **self.numbers(x, y, both)}, axis=1),
               [(x, None, both, 0), (y, None, both, c)])

        real = Tensor((self.rng.integers(-300, 300, self.shape) * 0.5 * z.scale).astype(np.float32))
        odd = np.array([np.nan, np.inf, -np.inf, 1e30], np.float32)
        real.values[self.rng.random(self.shape) < 0.05] = self.rng.choice(odd)
        yield "quantize", run("QuantizeLinear", ["x", "s0", "z0"], {"x": real.values, **self.numbers(z)}), [(real, None, z, 0)]
        floats = Tensor(np.zeros(self.shape, np.float32))
        yield ("dequantize", run("DequantizeLinear", ["x", "s0", "z0"], {"x": x.values, **self.numbers(x)}),
               [(x, None, floats, 0)])

        factors = [self.pick(1, 3), self.pick(1, 3)]
        larger = Tensor(np.zeros((*self.shape[:2], self.shape[2] * factors[0], self.shape[3] * factors[1]), self.dtype),
                        x.scale, x.zero_point)
        scales = np.array([1, 1, *factors], np.float32)
        yield ("resize", run("Resize", ["x", "", "scales"], {"x": x.values, "scales": scales}, mode="nearest",
                             coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
               [(x, None, larger, 0)], NO_WINDOW, 0, factors)

    def pools(self, x, z, two, one_of):
        """Both kinds of pooling of one window."""
        h, w = self.shape[2:]
        window = [self.pick(1, min(4, h)), self.pick(1, min(4, w))]
        stride = [self.pick(1, 3), self.pick(1, 3)]
        pads = [self.pick(0, size - 1) for size in window * 2]
        dilation = [self.pick(1, 2) if 2 * (size - 1) < extent else 1 for size, extent in zip(window, (h, w))]
        ceil, counted = self.pick(0, 1), self.pick(0, 1)
        attributes = dict(kernel_shape=window, strides=stride, pads=pads, ceil_mode=ceil)
        got = run("MaxPool", ["x"], {"x": x.values}, dilations=dilation, **attributes)
        most = Tensor(np.zeros(got.shape, self.dtype), x.scale, x.zero_point)
        yield "max_pool", got, [(x, None, most, 0)], window + stride + pads + dilation
        got = run("QLinearAveragePool", one_of, {"x": x.values, **two}, count_include_pad=counted, **attributes)
        average = Tensor(np.zeros(got.shape, self.dtype), z.scale, z.zero_point)
        yield "average_pool", got, [(x, None, average, 0)], window + stride + pads + [1, 1], counted


def run(op, inputs, values, **attributes):
    """What onnxruntime makes of a node; those of its inputs that are scales and zero points are constants."""
    domain = "com.microsoft" if op.startswith("QLinear") else ""
    node = helper.make_node(op, inputs, ["result"], domain=domain, **attributes)
    given = {name: value for name, value in values.items() if name in ("x", "y") and name in inputs}
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items() if name not in given]
    element = helper.np_dtype_to_tensor_dtype
    out = {"QuantizeLinear": values.get("z0", np.uint8(0)).dtype, "DequantizeLinear": np.dtype(np.float32)}
    dtype = out.get(op, values["x"].dtype)
    graph = helper.make_graph([node], "node", [helper.make_tensor_value_info(k, element(v.dtype), v.shape) for k, v in given.items()],
                              [helper.make_tensor_value_info("result", element(dtype), None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 9
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, given)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    rng = np.random.default_rng(args.seed)

    file, nodes = b"", []
    for _ in range(args.rounds):
        layout = int(rng.choice([NHWC, NCHW]))
        for kind, want, parts, *more in Nodes(rng).all():
            window, counted, factors = (more + [NO_WINDOW, 0, [1, 1]][len(more):])
            for src, other, dst, first in parts:
                beside = other or src
                file += struct.pack("<i", KINDS[kind])
                file += src.header(layout) + beside.header(layout) + dst.header(layout)
                file += struct.pack("<14i", *window, counted, first, *factors)
                file += src.bytes(layout) + beside.bytes(layout)
            nodes.append((kind, want, parts, layout))

    with tempfile.TemporaryDirectory() as folder:
        cases, results = Path(folder) / "cases", Path(folder) / "results"
        cases.write_bytes(file)
        subprocess.run([args.program, "operators", cases, results], check=True)
        made = results.read_bytes()

    at, outputs, wrong = 0, {}, 0
    for kind, want, parts, layout in nodes:
        got = np.zeros(want.shape, want.dtype)
        for src, _, dst, first in parts:
            size = dst.values.nbytes
            part = np.frombuffer(made[at:at + size], want.dtype)
            at += size
            n, c, h, w = dst.values.shape
            part = part.reshape(n, h, w, c).transpose(0, 3, 1, 2) if layout == NHWC else part.reshape(n, c, h, w)
            last = first + src.values.shape[1]
            got[:, first:last] = part[:, first:last]
        differ = int((got != want).sum())
        wrong += differ
        outputs[kind] = outputs.get(kind, 0) + want.size
        if differ:
            print(f"{kind}: {differ} of {want.size} outputs differ: source {parts[0][0].values.shape}, scales "
                  f"{[str(t.scale) for t in parts[0][:3] if t is not None]}")
    if at != len(made):
        sys.exit("the program wrote more than was asked for")
    print(f"operators: {wrong} of {sum(outputs.values())} outputs of {len(nodes)} nodes differ from onnxruntime "
          f"{onnxruntime.__version__}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(outputs.items())))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
