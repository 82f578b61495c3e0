#!/usr/bin/env python3
"""Compares Weft's convolutions with onnxruntime's, on random QLinearConv and ConvInteger nodes.

    compare.py PROGRAM [--cases=N] [--seed=N] [--seconds=N]

PROGRAM is onnx_cases, built from this folder. Every node must be compared, or the comparison has failed; it
gives up after --seconds, if given. Every output must be equal: both compute
saturate(round_half_even(float(sum) * (x_scale * w_scale / y_scale)) + y_zero_point) with one rounding
to float for the sum, one for each product and quotient, and sums that are exact.
"""
import argparse
import collections
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper

Operator = collections.namedtuple("Operator", "name unsigned integer filter_zero_point grouped depthwise")
TYPES = {np.uint8: onnx.TensorProto.UINT8, np.int8: onnx.TensorProto.INT8, np.int32: onnx.TensorProto.INT32}


def any_value(rng, dtype, shape=None):
    """Uniform, or often one of the extremes, which show a wrong sign or width."""
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max + 1, shape)
    if rng.random() < 0.3:
        values = np.where(rng.random(shape) < 0.5, rng.choice([info.min, info.max], shape), values)
    return values.astype(dtype)


class Case:
    """A random node that `op` (number `index`) takes."""

    def __init__(self, rng, index, op):
        pick = lambda low, high: int(rng.integers(low, high + 1))
        self.op, self.index = op, index
        self.groups = pick(2, 3) if op.grouped else 1
        while True:
            self.n, self.h, self.w, self.k = pick(1, 2), pick(1, 12), pick(1, 12), pick(1, 40)
            self.c = 4 * pick(1, 4) if op.grouped else pick(1, 40)
            self.r, self.s = pick(1, 5), pick(1, 5)
            self.pads = [pick(0, 3) for _ in range(4)]  # top, left, bottom, right
            self.strides = [pick(1, 3), pick(1, 3)]
            self.dilations = [pick(1, 2), pick(1, 2)]
            reach = [(self.r - 1) * self.dilations[0] + 1, (self.s - 1) * self.dilations[1] + 1]
            if op.depthwise and rng.random() < 0.7:  # what has a kernel of its own
                self.r = self.s = int(rng.choice([3, 5, 7]))
                self.strides, self.dilations = [pick(1, 2)] * 2, [1, 1]
                reach = [self.r, self.s]
            if reach[0] <= self.h + self.pads[0] + self.pads[2] and reach[1] <= self.w + self.pads[1] + self.pads[3]:
                break
        if op.grouped:
            self.c, self.k = self.c * self.groups, self.groups * pick(1, 12)
        if op.depthwise:
            self.c = self.groups = 4 * pick(1, 10)
            self.k = self.c * int(rng.choice([1, 1, 2, 3]))
        # onnxruntime has kernels for these types of x, w and y.
        self.x_type = np.uint8 if op.unsigned else np.int8
        self.w_type = rng.choice([np.uint8, np.int8]) if op.unsigned else np.int8
        self.y_type = np.int32 if op.integer else self.x_type
        self.x = any_value(rng, self.x_type, (self.n, self.c, self.h, self.w))
        self.filter = any_value(rng, self.w_type, (self.k, self.c // self.groups, self.r, self.s))
        self.x_zero_point = any_value(rng, self.x_type, ())
        self.y_zero_point = any_value(rng, self.x_type, ())
        # One number for all output channels, or one for each.
        self.per_channel = not op.integer and rng.random() < 0.6
        count = self.k if self.per_channel else 1
        if op.filter_zero_point:
            self.w_zero_point = any_value(rng, self.w_type, count)
        else:
            self.w_zero_point = np.full(count, 128 if self.w_type == np.uint8 else 0, self.w_type)
        self.b = rng.integers(-20000, 20001, self.k).astype(np.int32)
        # Most outputs within their range. Powers of two make ties, which show how they are rounded.
        size = np.sqrt(self.c // self.groups * self.r * self.s)
        if rng.random() < 0.5:
            exponent = int(np.round(np.log2(60 / (7000 * size))))
            self.x_scale, self.y_scale = np.float32(2.0**-5), np.float32(0.5)
            self.w_scale = np.exp2(rng.integers(exponent - 1, exponent + 2, count) + 4).astype(np.float32)
        else:
            self.x_scale = np.float32(rng.uniform(0.005, 0.1))
            self.y_scale = np.float32(rng.uniform(0.05, 5))
            scale = self.y_scale / self.x_scale * 60 / (7000 * size)
            self.w_scale = (scale * rng.uniform(0.5, 2, count)).astype(np.float32)

    def bytes(self):
        header = [self.index, self.n, self.c, self.h, self.w, self.k, self.r, self.s, *self.pads]
        header += [*self.strides, *self.dilations, self.groups, int(self.w_type == np.uint8)]
        header += [int(self.x_zero_point), 0 if self.op.integer else int(self.y_zero_point)]
        each = lambda values, dtype: np.broadcast_to(values.astype(dtype), self.k).tobytes()
        return b"".join([
            struct.pack("=20i2f", *header, self.x_scale, self.y_scale),
            self.x.tobytes(), self.filter.tobytes(), each(self.w_scale, np.float32),
            each(self.w_zero_point, np.int32), self.b.tobytes()])

    def expected(self, filter_as_uint8):
        """What onnxruntime makes of it."""
        w, w_zero_point, w_type = self.filter, self.w_zero_point, self.w_type
        if filter_as_uint8 and w_type == np.int8 and self.op.unsigned:
            w, w_zero_point = ((v.astype(np.int32) + 128).astype(np.uint8) for v in (w, w_zero_point))
            w_type = np.uint8
        one = lambda values: values if self.per_channel else values.reshape(())
        constants = {"w": w, "x_zero_point": self.x_zero_point, "w_zero_point": one(w_zero_point)}
        if self.op.integer:
            inputs = ["x", "w", "x_zero_point", "w_zero_point"]
        else:
            constants.update(x_scale=self.x_scale, w_scale=one(self.w_scale), y_scale=self.y_scale,
                             y_zero_point=self.y_zero_point, b=self.b)
            inputs = ["x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale",
                      "y_zero_point", "b"]
        node = helper.make_node(
            "ConvInteger" if self.op.integer else "QLinearConv", inputs, ["y"], pads=self.pads,
            strides=self.strides, dilations=self.dilations, group=self.groups)
        graph = helper.make_graph(
            [node], "node", [helper.make_tensor_value_info("x", TYPES[self.x_type], self.x.shape)],
            [helper.make_tensor_value_info("y", TYPES[self.y_type], None)],
            [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, {"x": self.x})[0]

    def __str__(self):
        return (f"{self.op.name}: n{self.n} c{self.c} h{self.h} w{self.w} k{self.k} r{self.r} s{self.s} "
                f"pads {self.pads} strides {self.strides} dilations {self.dilations} groups {self.groups} "
                f"x {self.x_type.__name__} w {self.w_type.__name__} zero points {self.x_zero_point} "
                f"{self.w_zero_point.tolist()} {self.y_zero_point}")


def adds_pairs_in_16_bits():
    """Whether this processor's onnxruntime adds products of uint8 and int8 in saturating 16 bits, as it
    does with AVX2 but without VNNI: it documents that as inexact. It multiplies uint8 by uint8 exactly. Of
    its two nodes one may and the other not."""
    def differs(integer):
        case = Case(np.random.default_rng(0), 0, Operator("probe", True, integer, False, False, False))
        case.n, case.c, case.h, case.w, case.k, case.r, case.s = 1, 64, 4, 4, 16, 1, 1
        case.pads, case.strides, case.dilations, case.groups = [0] * 4, [1, 1], [1, 1], 1
        case.w_type, case.w_zero_point, case.x_zero_point = np.int8, np.zeros(1, np.int8), np.uint8(0)
        case.x = np.full((1, 64, 4, 4), 255, np.uint8)
        case.filter = np.full((16, 64, 1, 1), 127, np.int8)
        case.b, case.y_zero_point, case.per_channel = np.zeros(16, np.int32), np.uint8(0), False
        case.x_scale, case.y_scale = np.float32(1), np.float32(64 * 255 * 127 / 200)
        case.w_scale = np.ones(1, np.float32)
        return bool(np.any(case.expected(False) != (64 * 255 * 127 if integer else 200)))
    return differs(True) or differs(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    args = parser.parse_args()
    deadline = time.monotonic() + args.seconds
    listed = subprocess.run([args.program], check=True, capture_output=True, text=True).stdout.split("\n")
    operators = [Operator(line.split()[0], *(field == "1" for field in line.split()[1:])) for line in listed if line]
    if not operators:
        sys.exit("compare.py: the program lists no operators")
    if args.cases < 1:
        parser.error("--cases must be at least 1")
    rng = np.random.default_rng(args.seed)
    cases = [Case(rng, i % len(operators), operators[i % len(operators)]) for i in range(args.cases)]
    with tempfile.TemporaryDirectory() as folder:
        given, results = Path(folder) / "cases", Path(folder) / "results"
        given.write_bytes(b"".join(case.bytes() for case in cases))
        left = None if args.seconds == float("inf") else max(0, deadline - time.monotonic())
        try:
            subprocess.run([args.program, given, results], check=True, timeout=left)
        except subprocess.TimeoutExpired:
            sys.exit(f"compare.py: FAILED, {args.program} has not run {args.cases} nodes in {args.seconds:g} s")
        except subprocess.CalledProcessError as error:
            sys.exit(f"compare.py: FAILED, {error}")
        got = results.read_bytes()
    filter_as_uint8 = adds_pairs_in_16_bits()
    compared, wrong, offset = collections.Counter(), 0, 0
    inner = 0
    for number, case in enumerate(cases):
        if time.monotonic() > deadline:
            sys.exit(f"compare.py: FAILED, only {number} of {len(cases)} nodes compared in {args.seconds:g} s; "
                     f"{wrong} of them differ")
        want = case.expected(filter_as_uint8)
        if offset + want.nbytes > len(got):
            sys.exit(f"compare.py: FAILED, the results end before those of node {number}, {case}")
        y = np.frombuffer(got, want.dtype, want.size, offset).reshape(want.shape)
        offset += want.nbytes
        compared[case.op.name] += want.size
        if not case.op.integer:
            info = np.iinfo(want.dtype)
            inner += int(np.count_nonzero((want > info.min) & (want < info.max)))
        differ = np.argwhere(y != want)
        if len(differ):
            wrong += 1
            at = tuple(differ[0])
            print(f"node {number} of seed {args.seed}, {case}: {len(differ)} of {want.size} differ, "
                  f"first y{list(map(int, at))} = {y[at]}, onnxruntime has {want[at]}", file=sys.stderr)
    if offset != len(got):
        sys.exit(f"compare.py: FAILED, {len(got)} bytes of results, expected {offset}")
    for name, count in compared.items():
        print(f"{name}: {count} outputs")
    print(f"{len(cases)} nodes, {sum(compared.values())} outputs, {inner} of them rounded and not saturated; "
          f"{wrong} nodes differ from onnxruntime {onnxruntime.__version__}"
          + (" (int8 filters given to it as uint8)" if filter_as_uint8 else ""))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
