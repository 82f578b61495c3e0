"""Networks as torchvision and others have them, with random weights, narrower than theirs so that tests are quick: of each kind of block
at least one."""
from __future__ import annotations

import importlib.util
import pathlib

import numpy as np

_EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/quantised_resnet18.py"
_SPEC = importlib.util.spec_from_file_location("quantised_resnet18", _EXAMPLE)
example = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(example)
FloatModel = example.FloatModel


class Model(FloatModel):
    """With the functions and blocks that ResNet-18 does not have."""

    def relu6(self, x):
        return self.node("Clip", [x, self.constant(np.float32(0)), self.constant(np.float32(6))], self.channels[x])

    def hard_swish(self, x):
        return self.multiply(x, self.hard_sigmoid(x))  # as onnxruntime's preparation for the quantiser writes it

    def hard_sigmoid(self, x):
        return self.node("HardSigmoid", [x], self.channels[x], alpha=1 / 6, beta=0.5)

    def multiply(self, a, b):
        return self.node("Mul", [a, b], self.channels[a])

    def silu(self, x):
        return self.multiply(x, self.node("Sigmoid", [x], self.channels[x]))

    def concat(self, *parts):
        return self.node("Concat", list(parts), sum(self.channels[x] for x in parts), axis=1)

    def doubled(self, x):
        scales = self.constant(np.array([1, 1, 2, 2], np.float32))
        return self.node("Resize", [x, "", scales], self.channels[x], mode="nearest", coordinate_transformation_mode="asymmetric",
                         nearest_mode="floor")


def resnet50(size=32, blocks=(2, 2, 2, 2), width=16, classes=100):
    """Bottlenecks. torchvision's has blocks=(3, 4, 6, 3), width=64 and 1000 classes."""
    m = Model("resnet50", size)
    x = m.max_pool(m.relu(m.convolution("x", width, 7, 2)), 3, 2, 1)
    for stage, count in enumerate(blocks):
        k = width << stage
        for block in range(count):
            stride = 2 if stage and not block else 1
            y = m.relu(m.convolution(m.relu(m.convolution(x, k)), k, 3, stride))
            y = m.convolution(y, 4 * k)
            x = m.relu(m.add(y, x if block else m.convolution(x, 4 * k, 1, stride)))
    return m.model(m.fully_connected(m.flatten(m.average(x)), classes))


def mobilenet_v2(size=64):
    """Inverted residuals: depthwise convolutions between 1 x 1 ones, Clip to 6."""
    m = Model("mobilenet_v2", size)
    x = m.relu6(m.convolution("x", 16, 3, 2))
    for expansion, k, count, stride in [(1, 8, 1, 1), (6, 12, 2, 2), (6, 16, 3, 2), (6, 32, 2, 2), (6, 48, 2, 1), (6, 80, 2, 2), (6, 160, 1, 1)]:
        for block in range(count):
            step, wide = stride if block == 0 else 1, expansion * m.channels[x]
            y = m.relu6(m.convolution(x, wide)) if expansion > 1 else x
            y = m.convolution(m.relu6(m.convolution(y, wide, 3, step, groups=wide)), k)
            x = m.add(x, y) if step == 1 and m.channels[x] == k else y
    x = m.relu6(m.convolution(x, 320))
    return m.model(m.fully_connected(m.flatten(m.average(x)), 100))


def mobilenet_v3(size=64):
    """Windows of 5, HardSwish, and channels multiplied by what their averages give (squeeze and excitation)."""
    m = Model("mobilenet_v3", size)
    x = m.hard_swish(m.convolution("x", 16, 3, 2))
    for window, wide, k, squeezes, act, stride in [(3, 16, 16, 0, m.relu, 1), (3, 64, 24, 0, m.relu, 2), (3, 72, 24, 0, m.relu, 1),
                                                   (5, 72, 40, 1, m.relu, 2), (5, 120, 40, 1, m.relu, 1), (3, 120, 48, 0, m.hard_swish, 2),
                                                   (5, 144, 48, 1, m.hard_swish, 1), (5, 192, 64, 1, m.hard_swish, 2)]:
        y = act(m.convolution(x, wide)) if wide != m.channels[x] else x
        y = act(m.convolution(y, wide, window, stride, groups=wide))
        if squeezes:
            gate = m.relu(m.convolution(m.average(y), 8 * (wide // 32)))
            y = m.multiply(y, m.hard_sigmoid(m.convolution(gate, wide)))
        y = m.convolution(y, k)
        x = m.add(x, y) if stride == 1 and m.channels[x] == k else y
    x = m.hard_swish(m.convolution(x, 192))
    return m.model(m.fully_connected(m.hard_swish(m.fully_connected(m.flatten(m.average(x)), 256)), 100))


def vgg16(size=64):
    """Convolutions and max poolings, then fully connected layers over 2 x 2 pixels, whose order Flatten decides."""
    m = Model("vgg16", size)
    x = "x"
    for k in [16, 16, 0, 32, 32, 0, 48, 48, 48, 0, 64, 64, 64, 0, 64, 64, 64, 0]:
        x = m.relu(m.convolution(x, k, 3)) if k else m.max_pool(x, 2, 2, 0)
    x = m.flatten(x, (size // 32) ** 2)
    return m.model(m.fully_connected(m.relu(m.fully_connected(m.relu(m.fully_connected(x, 256)), 256)), 100))


def yolo(size=64):
    """A backbone, a pyramid and three heads as YOLOv5 has them: SiLU, Concat, Resize, max poolings of stride 1, several outputs."""
    m = Model("yolo", size)
    conv = lambda x, k, window=1, stride=1: m.silu(m.convolution(x, k, window, stride))

    def block(x, k, count, adds=True):
        a, b = conv(x, k // 2), conv(x, k // 2)
        for _ in range(count):
            y = conv(conv(a, k // 2), k // 2, 3)
            a = m.add(a, y) if adds else y
        return conv(m.concat(a, b), k)

    p3 = block(conv(block(conv(conv("x", 8, 3, 2), 16, 3, 2), 16, 1), 32, 3, 2), 32, 2)
    p4 = block(conv(p3, 48, 3, 2), 48, 1)
    x = block(conv(p4, 64, 3, 2), 64, 1)
    pooled = [conv(x, 32)]
    for _ in range(3):
        pooled.append(m.max_pool(pooled[-1], 5, 1, 2))
    top = conv(conv(m.concat(*pooled), 64), 48)
    middle = conv(block(m.concat(m.doubled(top), p4), 48, 1, False), 32)
    low = block(m.concat(m.doubled(middle), p3), 32, 1, False)
    middle = block(m.concat(conv(low, 32, 3, 2), middle), 48, 1, False)
    high = block(m.concat(conv(middle, 48, 3, 2), top), 64, 1, False)
    return m.model(*(m.node("Sigmoid", [m.convolution(x, 24)], 24) for x in (low, middle, high)))


ALL = {"resnet18": example.resnet18, "resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "mobilenet_v3": mobilenet_v3, "vgg16": vgg16, "yolo": yolo}
SIZES = {"resnet18": 64, "resnet50": 32, "mobilenet_v2": 64, "mobilenet_v3": 64, "vgg16": 64, "yolo": 64}
