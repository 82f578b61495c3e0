"""Random models with QuantizeLinear and DequantizeLinear where TensorRT's tools and PyTorch's PT2E put them: weights and biases of floats, pairs of
the two before convolutions and on residual branches alone, so that what is between them is rounded once."""
from __future__ import annotations

import numpy as np
from network_models import model_of
from onnx import helper


class PlacedModel:
    """A chain of blocks of a seed. exact: all numbers are such that sums of floats are exact, in whatever order they are added up."""

    def __init__(self, seed, element="int8", exact=True):
        self.random, self.element, self.exact = np.random.default_rng(seed), element, exact
        self.nodes, self.constants, self.outputs, self.pairs = [], {}, [], {}
        self.size = (self.number(1, 12), self.number(6, 12), self.number(6, 12))
        self.shapes = {"x": self.size}
        x = "x"
        for _ in range(self.number(1, 4)):
            x = [self.residual_block, self.residual_block, self.convolution_block, self.pooled_block, self.concatenated_block][self.number(0, 4)](x)
        self.outputs.append(self.convolution(self.dequantized(x), self.number(1, 9)))  # floats
        c, h, w = self.shapes[x]
        if exact and h * w & (h * w - 1):
            x = self.node("MaxPool", [self.dequantized(x)], (c, 1, 1), kernel_shape=[h, w])
        else:
            x = self.node("GlobalAveragePool", [self.dequantized(x)], (c, 1, 1))
        x = self.node("Flatten", [x], (c,), axis=1)
        self.outputs.append(self.fully_connected(self.dequantized(x), self.number(1, 9)))

    def number(self, low, high):
        return int(self.random.integers(low, high + 1))

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def node(self, kind, inputs, shape, **attributes):
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        self.shapes[name] = shape
        return name

    def scale(self, about, shape=()):
        """A power of two if the model is exact."""
        numbers = about * 2.0 ** self.random.integers(-1, 2, shape)
        return (2.0 ** np.rint(np.log2(numbers)) if self.exact else numbers * self.random.uniform(0.7, 1.4, shape)).astype(np.float32)

    def dequantized(self, x):
        """x behind a QuantizeLinear and a DequantizeLinear, sometimes those that another node reads."""
        if x in self.pairs and self.number(0, 1):
            return self.pairs[x]
        zero_point = self.number(0, 1) * self.number(-20, 20) if self.element == "int8" else self.number(0, 140)
        scale, zero = self.constant(self.scale(1 / 32)), self.constant(np.array(zero_point, self.element))
        y = self.node("QuantizeLinear", [x, scale, zero], self.shapes[x])
        self.pairs[x] = self.node("DequantizeLinear", [y, scale, zero], self.shapes[x])
        return self.pairs[x]

    def weights(self, shape, axis=0):
        """Floats with a QuantizeLinear and a DequantizeLinear, or int8 with the latter. Gives the scales of the channels as well."""
        k = shape[axis]
        scale = self.scale(2**-9, (k,) if self.number(0, 2) else ())
        along = [-1 if i == axis else 1 for i in range(len(shape))] if scale.ndim else [1] * len(shape)
        integers = self.random.integers(-127, 128, shape)
        scale_name, zero = self.constant(scale), self.constant(np.zeros(scale.shape, np.int8))
        if self.number(0, 1):
            w = self.constant(integers.astype(np.int8))
        else:
            real = integers + (0 if self.exact else self.random.uniform(-0.4, 0.4, shape))
            w = self.node("QuantizeLinear", [self.constant((real * scale.reshape(along)).astype(np.float32)), scale_name, zero], shape, axis=axis)
        return self.node("DequantizeLinear", [w, scale_name, zero], shape, axis=axis), np.broadcast_to(scale, k)

    def real(self, x, scale):
        """Floats for each channel, if the model is exact in steps of the sums."""
        steps = self.random.integers(-3000, 3000, len(scale)) + (0 if self.exact else self.random.uniform(-0.4, 0.4, len(scale)))
        pair = next(n for n in self.nodes if n.output[0] == x)
        return (steps * scale * self.constants[pair.input[1]]).astype(np.float32)

    def convolution(self, x, k, window=1, stride=1, groups=1):
        """x is dequantized. A bias, a BatchNormalization or an Add of constants may follow."""
        c, h, w = self.shapes[x]
        pad = self.number(0, window // 2)
        shape = (k, (h + 2 * pad - window) // stride + 1, (w + 2 * pad - window) // stride + 1)
        weights, scale = self.weights((k, c // groups, window, window))
        bias = [self.constant(self.real(x, scale))] if self.number(0, 1) else []
        y = self.node("Conv", [x, weights, *bias], shape, kernel_shape=[window] * 2, pads=[pad] * 4, strides=[stride] * 2, group=groups)
        if self.number(0, 3) == 0:
            mean = self.random.integers(-2, 3, k).astype(np.float32) / 4
            factors = 2.0 ** self.random.integers(-1, 2, k) * self.random.choice([-1, 1], k)
            shift = 2 * self.real(x, scale)  # whole steps by each of the factors
            y = self.node("BatchNormalization", [y, *(self.constant(v.astype(np.float32)) for v in (factors * 2, shift, mean, np.full(k, 3.0)))], shape,
                          epsilon=1.0)
        elif self.number(0, 3) == 0:
            y = self.node("Add", [y, self.constant(self.real(x, scale).reshape(1, k, 1, 1))], shape)
        return y

    def fully_connected(self, x, k):
        (c,) = self.shapes[x]
        if self.number(0, 1):
            weights, scale = self.weights((c, k), 1)
            y = self.node("MatMul", [x, weights], (k,))
            return self.node("Add", [self.constant(self.real(x, scale)), y], (k,)) if self.number(0, 1) else y
        weights, scale = self.weights((k, c))
        return self.node("Gemm", [x, weights, self.constant(self.real(x, scale))], (k,), transB=1)

    def bounded(self, x):
        kind = self.number(0, 2)
        if kind == 0:
            return x
        more = [self.constant(np.float32(0)), self.constant(np.float32(2))] if kind == 1 else []
        return self.node("Clip" if more else "Relu", [x, *more], self.shapes[x])

    def convolution_block(self, x):
        c, h, _ = self.shapes[x]
        depthwise = self.number(0, 2) == 0
        return self.bounded(self.convolution(self.dequantized(x), c if depthwise else self.number(1, 40), 3 if h > 4 else 1, self.number(1, 2) if h > 6 else 1,
                                             c if depthwise else 1))

    def residual_block(self, x):
        """A convolution of the sum's shape, which is not quantised, and what stood before it, which is."""
        k = self.shapes[x][0] if x != "x" else self.number(1, 40)
        if k != self.shapes[x][0]:
            x = self.bounded(self.convolution(self.dequantized(x), k))
        y = self.bounded(self.convolution(self.dequantized(x), k))
        if self.shapes[y] != self.shapes[x]:
            return y
        other = self.dequantized(x)
        sum_of = [self.plain(y, k), other]
        if self.shapes[sum_of[0]] != self.shapes[other]:
            return y
        if self.number(0, 1):
            sum_of.reverse()
        return self.bounded(self.node("Add", sum_of, self.shapes[other]))

    def plain(self, y, k):
        return self.convolution(self.dequantized(y), k)

    def pooled_block(self, x):
        y = self.convolution_block(x)
        c, h, w = self.shapes[y]
        if min(h, w) < 3:
            return y
        return self.bounded(self.node("MaxPool", [y], (c, h - 1, w - 1), kernel_shape=[2, 2]))

    def concatenated_block(self, x):
        a = self.convolution(self.dequantized(x), self.number(1, 9))
        c, h, w = self.shapes[a]
        if self.shapes[x][1:] != (h, w):
            return self.bounded(a)
        y = self.node("Concat", [self.bounded(a), self.dequantized(x)], (c + self.shapes[x][0], h, w), axis=1)
        scales = self.constant(np.array([1, 1, 2, 1], np.float32))
        return self.node("Resize", [y, "", scales], (self.shapes[y][0], 2 * h, w), mode="nearest", coordinate_transformation_mode="asymmetric",
                         nearest_mode="floor")

    def model(self):
        return model_of(self.nodes, self.constants, self.size, outputs=self.outputs)
