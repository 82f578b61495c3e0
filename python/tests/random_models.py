"""Small random models of quantised nodes: all kinds, odd extents, uneven padding, tensors with several readers, several outputs."""
from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8}


class Value:
    """A tensor of integers of the model: its name, shape behind the batch, scale and zero point."""

    def __init__(self, name, shape, scale, zero_point):
        self.name, self.shape, self.scale, self.zero_point = name, shape, np.float32(scale), zero_point


class RandomModel:
    """One model of a seed. `element` is the type of all its activations."""

    def __init__(self, seed, element, nodes=12):
        self.random, self.element = np.random.default_rng(seed), element
        self.nodes, self.initializers, self.values, self.outputs = [], [], [], []
        self.powers = self.chance(3)  # scales that are powers of two, so that many numbers lie between two integers
        self.size = (self.number(1, 20), self.number(5, 17), self.number(5, 17))
        output, scale, zero_point = self.to(0.02)
        x = self.value("QuantizeLinear", output, self.size, scale, zero_point, before=["x"])
        self.values.append(x)
        kinds = [self.convolution] * 4 + [self.add] * 2 + [self.multiply, self.gate, self.max_pool, self.average_pool, self.global_average_pool,
                                         self.concat, self.resize, self.sigmoid, self.leaky_relu, self.function, self.function, self.gemm]
        while len(self.nodes) < nodes:
            made = kinds[self.number(0, len(kinds) - 1)]()
            if made is not None:
                self.values.append(made)

    def number(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, of=2):
        return self.number(1, of) == 1

    def constant(self, array):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def zero(self, zero_point):
        return self.constant(np.array(zero_point, self.element))

    def some_zero(self):
        limits = np.iinfo(self.element)
        return int(self.random.choice([limits.min, limits.max, 0, self.number(limits.min, limits.max)]))

    def picked(self, image=True, pixels=None):
        """A value that there is, the newest the most often; of a shape if one is given."""
        fits = [v for v in self.values if (len(v.shape) == 3) == image and (pixels is None or v.shape[1:] == pixels)]
        return fits[-self.number(1, min(3, len(fits)))] if fits else None

    def quantized(self, v):
        return [v.name, self.constant(v.scale), self.zero(v.zero_point)]

    def value(self, kind, inputs, shape, scale, zero_point=0, before=(), **attributes):
        """Adds a node. Nodes of one output; those of onnxruntime's domain are known by their names."""
        name = f"v{len(self.nodes)}"
        own = kind.startswith("QLinear") and kind not in ("QLinearConv", "QLinearMatMul") or kind == "QGemm"
        self.nodes.append(helper.make_node(kind, [*before, *inputs], [name], name=f"{kind}{len(self.nodes)}", domain="com.microsoft" if own else "",
                                           **attributes))
        return Value(name, tuple(shape), scale, zero_point)

    def to(self, scale):
        """Scale and zero point of an output: names, then numbers."""
        scale = 2.0 ** round(math.log2(scale)) if self.powers else scale * self.random.uniform(0.5, 2)
        scale, zero_point = np.float32(scale), self.some_zero()
        return [self.constant(scale), self.zero(zero_point)], scale, zero_point

    def filter_scale(self, shape):
        return (2.0 ** self.random.integers(-9, -6, shape) if self.powers else self.random.uniform(0.001, 0.01, shape)).astype(np.float32)

    def window(self, shape, dilated=True):
        """Attributes of a window that fits an image, and the extents that it gives."""
        a, out = {}, []
        kernel, strides = [self.number(1, 4), self.number(1, 4)], [self.number(1, 3), self.number(1, 3)]
        dilations = [self.number(1, 2), self.number(1, 2)] if dilated else [1, 1]
        pads = [self.number(0, kernel[i % 2] - 1) for i in range(4)]
        auto = str(self.random.choice(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
        if auto.startswith("SAME"):
            dilations = [1, 1]  # onnxruntime has no others there
            strides = [min(stride, size) for stride, size in zip(strides, kernel)]
        for i in range(2):
            whole = dilations[i] * (kernel[i] - 1) + 1
            size = shape[1 + i] + (pads[i] + pads[i + 2] if auto == "NOTSET" else 0)
            out.append(-(-shape[1 + i] // strides[i]) if auto.startswith("SAME") else (size - whole) // strides[i] + 1)
        if min(out) < 1 or any(shape[1 + i] < dilations[i] * (kernel[i] - 1) + 1 for i in range(2)):
            return None
        if auto == "NOTSET":
            a["pads"] = pads
        else:
            a["auto_pad"] = auto
        if dilated:
            a["dilations"] = dilations
        return dict(a, kernel_shape=kernel, strides=strides), out

    def convolution(self):
        x = self.picked()
        found = self.window(x.shape)
        if found is None:
            return None
        a, out = found
        c = x.shape[0]
        groups = int(self.random.choice([g for g in (1, 1, 2, 3, c) if c % g == 0]))
        k = groups * self.number(1, max(1, 24 // groups))
        per_channel, unsigned = self.chance(), self.element == "uint8" and self.chance(3)  # onnxruntime does not multiply int8 by uint8
        w = self.random.integers(-128, 128, (k, c // groups, *a["kernel_shape"]))
        weights = self.constant((w + 128).astype(np.uint8) if unsigned else w.astype(np.int8))
        scale = self.filter_scale(k if per_channel else ())
        zeros = np.full(k if per_channel else (), 128 if unsigned else 0, np.uint8 if unsigned else np.int8)
        steps = math.sqrt(w[0].size) * 60
        output, scale_y, zero_y = self.to(float(x.scale) * float(np.mean(scale)) * steps)
        bias = [self.constant(self.random.integers(-3000, 3000, k).astype(np.int32))] if self.chance() else []
        return self.value("QLinearConv", [*self.quantized(x), weights, self.constant(scale), self.constant(zeros), *output, *bias], (k, *out),
                          scale_y, zero_y, group=groups, **a)

    def pair(self, kind):
        a = self.picked()
        b = [v for v in self.values if v.shape == a.shape][0]
        output, scale, zero_point = self.to(float(a.scale) + float(b.scale) if kind == "QLinearAdd" else 64 * float(a.scale) * float(b.scale))
        if self.chance():
            a, b = b, a
        return self.value(kind, [*self.quantized(a), *self.quantized(b), *output], a.shape, scale, zero_point)

    def add(self):
        return self.pair("QLinearAdd")

    def multiply(self):
        return self.pair("QLinearMul")

    def gate(self):
        """A tensor times one number for each of its channels."""
        a = self.picked()
        b = [v for v in self.values if v.shape == (a.shape[0], 1, 1)]
        if not b:
            self.values.append(self.global_average_pool())
            return None
        output, scale, zero_point = self.to(64 * float(a.scale) * float(b[-1].scale))
        pair = [self.quantized(a), self.quantized(b[-1])]
        if self.chance():
            pair.reverse()
        return self.value("QLinearMul", [*pair[0], *pair[1], *output], a.shape, scale, zero_point)

    def max_pool(self):
        x = self.picked()
        found = self.window(x.shape)
        return found and self.value("MaxPool", [x.name], (x.shape[0], *found[1]), x.scale, x.zero_point, **found[0])

    def average_pool(self):
        x = self.picked()
        found = self.window(x.shape, dilated=False)
        if self.chance(4):  # which onnxruntime computes as a global average
            found = dict(kernel_shape=list(x.shape[1:]), strides=[1, 2]), [1, 1]
        if found is None:
            return None
        output, scale, zero_point = self.to(float(x.scale))
        return self.value("QLinearAveragePool", [*self.quantized(x), *output], (x.shape[0], *found[1]), scale, zero_point,
                          count_include_pad=self.number(0, 1), **found[0])

    def global_average_pool(self):
        x = self.picked()
        output, scale, zero_point = self.to(float(x.scale) / 4)
        return self.value("QLinearGlobalAveragePool", [*self.quantized(x), *output], (x.shape[0], 1, 1), scale, zero_point, channels_last=0)

    def concat(self):
        first = self.picked()
        parts = [v for v in self.values if len(v.shape) == 3 and v.shape[1:] == first.shape[1:]][: self.number(1, 3)] + [first]
        if self.chance():
            output, scale, zero_point = [self.constant(first.scale), self.zero(first.zero_point)], first.scale, first.zero_point
        else:
            output, scale, zero_point = self.to(float(first.scale))
        return self.value("QLinearConcat", [*output, *(name for v in parts for name in self.quantized(v))],
                          (sum(v.shape[0] for v in parts), *first.shape[1:]), scale, zero_point, axis=1)

    def resize(self):
        x = self.picked()
        factors = [self.number(1, 3), self.number(1, 3)]
        if x.shape[1] * x.shape[2] > 100:
            return None
        modes = dict(coordinate_transformation_mode="asymmetric", nearest_mode="floor") if self.chance() else {}
        return self.value("Resize", [x.name, "", self.constant(np.array([1, 1, *factors], np.float32))],
                          (x.shape[0], x.shape[1] * factors[0], x.shape[2] * factors[1]), x.scale, x.zero_point, mode="nearest", **modes)

    def sigmoid(self):
        x = self.picked()
        output, scale, zero_point = self.to(1 / 256)
        return self.value("QLinearSigmoid", [*self.quantized(x), *output], x.shape, scale, zero_point)

    def leaky_relu(self):
        x = self.picked()
        output, scale, zero_point = self.to(float(x.scale))
        return self.value("QLinearLeakyRelu", [*self.quantized(x), *output], x.shape, scale, zero_point, alpha=0.1)

    def function(self):
        """One or two functions of floats between DequantizeLinear and QuantizeLinear."""
        x = self.picked()
        y = self.value("DequantizeLinear", self.quantized(x), x.shape, 1).name
        for _ in range(self.number(1, 2)):
            kind, attributes = [("Relu", {}), ("Clip", {}), ("HardSwish", {}), ("HardSigmoid", dict(alpha=1 / 6, beta=0.5)), ("Sigmoid", {}),
                                ("Tanh", {}), ("Elu", {}), ("Add", {})][self.number(0, 7)]
            more = {"Clip": [self.constant(np.float32(0)), self.constant(np.float32(6))], "Add": [self.constant(np.float32([[0.3]]))]}.get(kind, [])
            y = self.value(kind, [y, *more], x.shape, 1, **attributes).name
        output, scale, zero_point = self.to(float(x.scale))
        return self.value("QuantizeLinear", [y, *output], x.shape, scale, zero_point)

    def gemm(self):
        """A fully connected layer over all of an image, or over a vector."""
        x = self.picked(image=self.chance()) or self.picked()
        c = math.prod(x.shape)
        if c > 2000:
            return None
        flat = x if len(x.shape) == 1 else self.value("Flatten", [x.name], (c,), x.scale, x.zero_point, axis=1)
        k, per_channel, transposed = self.number(1, 20), self.chance(), self.number(0, 1)
        w = self.random.integers(-128, 128, (k, c)).astype(np.int8)
        scale = self.filter_scale(k if per_channel else ())
        output, scale_y, zero_y = self.to(float(x.scale) * float(np.mean(scale)) * math.sqrt(c) * 60)
        tail = [self.constant(scale), self.constant(np.zeros(scale.shape, np.int8))]
        if self.chance(3):
            return self.value("QLinearMatMul", [*self.quantized(flat), self.constant(w.T.copy()), *tail, *output], (k,), scale_y, zero_y)
        bias = self.constant(self.random.integers(-3000, 3000, k).astype(np.int32)) if self.chance() else ""
        return self.value("QGemm", [*self.quantized(flat), self.constant(w if transposed else w.T.copy()), *tail, bias, *output], (k,), scale_y,
                          zero_y, alpha=1.0, transA=0, transB=transposed)

    def model(self):
        """The model. Its outputs are all values that no node reads, as integers or dequantized, and one that some node reads."""
        read = {name for node in self.nodes for name in node.input}
        last = [v for v in self.values if v.name not in read] + [v for v in self.values[1:] if v.name in read][:1]
        outputs = []
        for v in last:
            if self.chance():
                outputs.append(helper.make_tensor_value_info(v.name, TYPES[self.element], ["n", *v.shape]))
            else:
                y = self.value("DequantizeLinear", self.quantized(v), v.shape, 1)
                outputs.append(helper.make_tensor_value_info(y.name, TensorProto.FLOAT, ["n", *v.shape]))
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *self.size])
        graph = helper.make_graph(self.nodes, "random", [x], outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 8
        return model


# Nodes of integers, the nodes of floats that they stand for, and where their tensors and the output's scale are.
FLOATS = {"QLinearConv": ("Conv", [0, 3], 6), "QGemm": ("Gemm", [0, 3], 7), "QLinearMatMul": ("MatMul", [0, 3], 6), "QLinearAdd": ("Add", [0, 3], 6),
          "QLinearMul": ("Mul", [0, 3], 6), "QLinearSigmoid": ("Sigmoid", [0], 3), "QLinearLeakyRelu": ("LeakyRelu", [0], 3),
          "QLinearAveragePool": ("AveragePool", [0], 3), "QLinearGlobalAveragePool": ("GlobalAveragePool", [0], 3)}


def in_qdq_format(model):
    """The same model with nodes of floats between DequantizeLinear and QuantizeLinear."""
    constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    nodes, quantization = [], {}

    def dequantized(node, at, axis=0):
        name = f"{node.output[0]}/{at}"
        nodes.append(helper.make_node("DequantizeLinear", [node.input[i] for i in (at, at + 1, at + 2)], [name], axis=axis))
        return name

    def add(kind, node, inputs, scale, **attributes):
        y = node.output[0]
        nodes.append(helper.make_node(kind, inputs, [y + "/real"], name=y + "/real", **attributes))
        nodes.append(helper.make_node("QuantizeLinear", [y + "/real", *scale], [y]))
        quantization[y] = list(scale)

    for node in model.graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute if a.name != "channels_last"}
        if node.op_type in FLOATS:
            kind, at, scale = FLOATS[node.op_type]
            columns = kind == "MatMul" or kind == "Gemm" and not attributes["transB"]  # where a fully connected layer has output channels
            inputs = [dequantized(node, i, axis=int(columns and i == 3)) for i in at]
            place = {"QLinearConv": 8, "QGemm": 6}.get(node.op_type)
            if place is not None and len(node.input) > place and node.input[place]:
                unit = f"{node.output[0]}/unit"
                constants[unit] = constants[node.input[1]] * constants[node.input[4]]
                inputs.append(f"{node.output[0]}/bias")
                nodes.append(helper.make_node("DequantizeLinear", [node.input[place], unit], [inputs[-1]], axis=0))
            add(kind, node, inputs, node.input[scale : scale + 2], **attributes)
        elif node.op_type == "QLinearConcat":
            add("Concat", node, [dequantized(node, i) for i in range(2, len(node.input), 3)], node.input[:2], **attributes)
        elif node.op_type in ("MaxPool", "Resize", "Flatten"):
            scale = quantization[node.input[0]]
            real = node.output[0] + "/0"
            nodes.append(helper.make_node("DequantizeLinear", [node.input[0], *scale], [real]))
            add(node.op_type, node, [real, *node.input[1:]], scale, **attributes)
        else:
            nodes.append(node)
            if node.op_type == "QuantizeLinear":
                quantization[node.output[0]] = list(node.input[1:])
    graph = helper.make_graph(nodes, "random", model.graph.input, model.graph.output, [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    made = helper.make_model(graph, opset_imports=model.opset_import)
    made.ir_version = 8
    return made
