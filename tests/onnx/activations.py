#!/usr/bin/env python3
"""Compares convolutions with an activation of real values with onnxruntime's, in four placements of Q and DQ.

    activations.py PROGRAM [--rounds=N] [--seed=N]

PROGRAM is onnx_cases, built from this folder; a round has a node of each placement, activation and kind of scales.
Both onnxruntime and Weft compute the activation in float and differ in its last bits, and Weft multiplies by the
inverse of the output's scale where onnxruntime divides by it. So both are held to the real formula, computed in
double from exact integer sums: every output is the integer nearest to F(...) / y_scale + y_zero_point, but where
that is within TIE of the middle between two integers, which may become either. The outputs that differ between the
two are counted.
"""
import argparse
import json
import math
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import helper

FORMS = ["Conv, F", "QLinearConv, DQ, F", "Conv, Add, F", "Conv, F, Add"]
TIE = 2e-3  # of a step; a sum in float is further from the exact one than an activation from its true function
MOST_DIFFERENT = 2e-3  # of the outputs

np.seterr(over="ignore")  # exp(-x) of a sigmoid's far end is infinite, and 1 / (1 + exp(-x)) is then 0
# What the true functions of the table are made of.
FUNCTIONS = {"exp": np.exp, "tanh": np.tanh, "erfc": np.vectorize(math.erfc, otypes=[float]), "fmin": np.fmin, "fmax": np.fmax}


def columns(row):
    """The columns of a row of epilogues/activations.def: what stands between its commas, but those in brackets and quotes."""
    found, depth, quoted = [""], 0, False
    for before, c in zip(" " + row, row):
        quoted ^= c == '"' and before != "\\"
        depth += 0 if quoted else (c == "(") - (c == ")")
        if c == "," and depth == 0 and not quoted:
            found.append("")
        else:
            found[-1] += c
    return [column.strip() for column in found]


def read_activations():
    """Name, the true function and its nodes in ONNX for each row of epilogues/activations.def; None for one without nodes."""
    table = Path(__file__).resolve().parents[2] / "epilogues" / "activations.def"
    found = []
    for line in table.read_text().splitlines():
        if line.startswith("WEFT_ACTIVATION("):
            name, _, _, of_x, _, _, _, _, _, nodes = columns(line[len("WEFT_ACTIVATION("):-1])
            true_function = eval("lambda x: " + of_x, dict(FUNCTIONS))
            nodes = [onnx.parser.parse_node(node) for node in json.loads(nodes).split(";") if node]
            found.append((name, true_function, nodes) if nodes else None)
    return found


ACTIVATIONS = read_activations()


class Case:
    def __init__(self, rng, form, activation, powers_of_two):
        pick = lambda low, high: int(rng.integers(low, high + 1))
        self.form, self.activation = form, activation
        self.n, self.c, self.h, self.w, self.k = pick(1, 2), pick(1, 24), pick(5, 9), pick(5, 9), pick(1, 24)
        self.r, self.s = pick(1, 3), pick(1, 3)
        self.pad, self.stride = pick(0, 1), pick(1, 2)
        byte = lambda *shape: rng.integers(-128, 128, shape).astype(np.int8)
        self.x, self.filter = byte(self.n, self.c, self.h, self.w), byte(self.k, self.c, self.r, self.s)
        self.x_zero_point, self.between_zero_point, self.y_zero_point = pick(-128, 127), pick(-60, 60), pick(-60, 60)
        # Real values of about 3, where activations bend.
        real = 3 / (7500 * math.sqrt(self.c * self.r * self.s))
        float32 = lambda low, high, *shape: rng.uniform(low, high, shape).astype(np.float32)
        self.x_scale, self.y_scale = np.float32(0.02), float32(0.02, 0.08)[()]
        self.between_scale = float32(0.03, 0.08)[()]
        self.w_scale = (float32(0.5, 2, self.k) * np.float32(real / 0.02)).astype(np.float32)
        if powers_of_two:  # whose products are exact, and often in the middle between two
            power = lambda v: np.exp2(np.round(np.log2(v))).astype(np.float32)
            self.x_scale, self.y_scale, self.between_scale, self.w_scale = (
                power(v) for v in (self.x_scale, self.y_scale, self.between_scale, self.w_scale))
        self.b = rng.integers(-9000, 9001, self.k).astype(np.int32)
        p, q = ((extent + 2 * self.pad - taps) // self.stride + 1 for extent, taps in ((self.h, self.r), (self.w, self.s)))
        self.residual = byte(self.n, self.k, p, q)

    def bytes(self):
        return b"".join([
            struct.pack("=14i3f", self.form, self.activation, self.n, self.c, self.h, self.w, self.k, self.r, self.s,
                        self.pad, self.stride, self.x_zero_point, self.between_zero_point, self.y_zero_point,
                        self.x_scale, self.between_scale, self.y_scale),
            self.x.tobytes(), self.filter.tobytes(), self.w_scale.tobytes(), self.b.tobytes(),
            self.residual.tobytes() if self.form >= 2 else b""])

    def exact(self):
        """F(...) / y_scale + y_zero_point in double."""
        x = np.pad(self.x.astype(np.int64) - self.x_zero_point, [(0, 0), (0, 0), (self.pad, self.pad), (self.pad, self.pad)])
        p, q = self.residual.shape[2:]
        sums = np.zeros(self.residual.shape, np.int64)
        for r in range(self.r):
            for s in range(self.s):
                part = x[:, :, r:r + p * self.stride:self.stride, s:s + q * self.stride:self.stride][:, :, :p, :q]
                sums += np.einsum("nchw,kc->nkhw", part, self.filter[:, :, r, s].astype(np.int64))
        sums += self.b[:, None, None]
        f = ACTIVATIONS[self.activation][1]
        scale = float(self.x_scale) * self.w_scale.astype(float)[:, None, None]
        residual = float(self.between_scale) * (self.residual.astype(float) - self.between_zero_point)
        if self.form == 1:  # as docs/quantization.md says QLinearConv rounds
            alpha = (self.x_scale * self.w_scale) / self.between_scale
            steps = np.rint(sums.astype(np.float32) * alpha[:, None, None]) + self.between_zero_point
            value = f((np.clip(steps, -128, 127) - self.between_zero_point) * float(self.between_scale))
        elif self.form == 2:
            value = f(sums * scale + residual)
        else:
            value = f(sums * scale)
            if self.form == 3:
                value = value + residual
        return value / float(self.y_scale) + self.y_zero_point

    def onnxruntime(self):
        number = lambda v, dtype: np.asarray(v, dtype)
        constants = {
            "xs": self.x_scale, "xz": number(self.x_zero_point, np.int8), "w": self.filter, "ws": self.w_scale,
            "wz": np.zeros(self.k, np.int8), "b": self.b, "bs": self.x_scale * self.w_scale,
            "bz": np.zeros(self.k, np.int32), "ms": self.between_scale, "mz": number(self.between_zero_point, np.int8),
            "ys": self.y_scale, "yz": number(self.y_zero_point, np.int8), "r": self.residual,
            "zero": number(0, np.float32), "six": number(6, np.float32)}
        window = dict(pads=[self.pad] * 4, strides=[self.stride] * 2)
        nodes = []
        def add(kind, inputs, output, **attributes):
            nodes.append(helper.make_node(kind, inputs, [output], **attributes))
            return output
        if self.form == 1:
            add("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ms", "mz", "b"], "m", **window)
            at = add("DequantizeLinear", ["m", "ms", "mz"], "dm")
        else:
            add("DequantizeLinear", ["q", "xs", "xz"], "dx")
            add("DequantizeLinear", ["w", "ws", "wz"], "dw", axis=0)
            add("DequantizeLinear", ["b", "bs", "bz"], "db", axis=0)
            at = add("Conv", ["dx", "dw", "db"], "c", **window)
        if self.form >= 2:
            add("DequantizeLinear", ["r", "ms", "mz"], "dr")
        if self.form == 2:
            at = add("Add", [at, "dr"], "sum")
        named = {"x": at, "zero": "zero", "six": "six"}  # other names of the activation's nodes get a letter more
        for node in ACTIVATIONS[self.activation][2]:
            renamed = onnx.NodeProto()
            renamed.CopyFrom(node)
            renamed.input[:] = [named.get(name, "f" + name) for name in node.input]
            renamed.output[:] = ["f" + name for name in node.output]
            nodes.append(renamed)
        at = "fy"
        if self.form == 3:
            at = add("Add", [at, "dr"], "sum")
        add("QuantizeLinear", [at, "ys", "yz"], "y")
        used = {name for node in nodes for name in node.input}
        graph = helper.make_graph(
            nodes, "nodes", [helper.make_tensor_value_info("q", onnx.TensorProto.INT8, self.x.shape)],
            [helper.make_tensor_value_info("y", onnx.TensorProto.INT8, None)],
            [onnx.numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items() if name in used])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
        model.ir_version = 9
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, {"q": self.x})[0]

    def __str__(self):
        return f"{FORMS[self.form]} of {ACTIVATIONS[self.activation][0]}, n{self.n} c{self.c} h{self.h} w{self.w} " \
               f"k{self.k} r{self.r} s{self.s} pad {self.pad} stride {self.stride} y_scale {self.y_scale}"


def wrong(y, exact):
    """Where y is not what `exact` rounds to."""
    near = lambda shift: np.clip(np.rint(exact + shift), -128, 127)
    return (y != near(-TIE)) & (y != near(TIE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    cases = [Case(rng, form, activation, powers) for _ in range(args.rounds) for form in range(len(FORMS))
             for activation, row in enumerate(ACTIVATIONS) if row for powers in (False, True)]
    with tempfile.TemporaryDirectory() as folder:
        given, results = Path(folder) / "cases", Path(folder) / "results"
        given.write_bytes(b"".join(case.bytes() for case in cases))
        subprocess.run([args.program, "activations", given, results], check=True)
        got = results.read_bytes()
    offset = failed = outputs = inner = different = 0
    for case in cases:
        exact, theirs = case.exact(), case.onnxruntime()
        ours = np.frombuffer(got, np.int8, exact.size, offset).reshape(exact.shape)
        offset += exact.size
        outputs += exact.size
        inner += int(np.count_nonzero((exact > -128) & (exact < 127)))
        different += int(np.count_nonzero(ours != theirs))
        for name, y in (("Weft", ours), ("onnxruntime", theirs)):
            bad = np.argwhere(wrong(y, exact))
            if len(bad):
                failed += 1
                at = tuple(bad[0])
                print(f"{case}: {len(bad)} of {exact.size} outputs of {name} are wrong, first y{list(map(int, at))} = "
                      f"{y[at]}, exactly {exact[at]}", file=sys.stderr)
    if offset != len(got):
        sys.exit(f"activations.py: FAILED, {len(got)} bytes of results, expected {offset}")
    print(f"{len(cases)} convolutions with activations, {outputs} outputs, {inner} of them not saturated; {failed} are "
          f"wrong; {different} outputs differ from onnxruntime {onnxruntime.__version__}, by 1, next to a tie")
    sys.exit(1 if failed or different > MOST_DIFFERENT * outputs else 0)


if __name__ == "__main__":
    main()
