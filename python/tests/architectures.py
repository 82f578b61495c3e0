"""Networks as torchvision and others have them, with random weights: narrower than theirs so that tests are quick, of each kind of block
at least one; and, for measurements (perf/networks.py), as they were published (`whole`)."""
from __future__ import annotations

import functools
import importlib.util
import json
import pathlib

import numpy as np

_EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/quantised_resnet18.py"
_SPEC = importlib.util.spec_from_file_location("quantised_resnet18", _EXAMPLE)
example = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(example)
FloatModel = example.FloatModel


class Draws:
    """A generator of random numbers that notes what it is asked for, so that others can draw the same numbers of the same seed."""

    def __init__(self, random):
        self.random, self.asked = random, []

    def normal(self, mean, deviation, shape):
        self.asked.append([float(mean), float(deviation), np.atleast_1d(shape).tolist()])
        return self.random.normal(mean, deviation, shape)


class Model(FloatModel):
    """With the functions and blocks that ResNet-18 does not have. The model's note `draws` says which random numbers its weights are, in their order."""

    def __init__(self, name, size, seed=0):
        super().__init__(name, size, seed)
        self.random = Draws(self.random)

    def model(self, *outputs):
        made = super().model(*outputs)
        made.metadata_props.add(key="draws", value=json.dumps(self.random.asked))
        return made

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


def mobilenet_v2(size=64, whole=False):
    """Inverted residuals: depthwise convolutions between 1 x 1 ones, Clip to 6."""
    m = Model("mobilenet_v2", size)
    x = m.relu6(m.convolution("x", 32 if whole else 16, 3, 2))
    narrow = [(1, 8, 1, 1), (6, 12, 2, 2), (6, 16, 3, 2), (6, 32, 2, 2), (6, 48, 2, 1), (6, 80, 2, 2), (6, 160, 1, 1)]
    published = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, k, count, stride in published if whole else narrow:
        for block in range(count):
            step, wide = stride if block == 0 else 1, expansion * m.channels[x]
            y = m.relu6(m.convolution(x, wide)) if expansion > 1 else x
            y = m.convolution(m.relu6(m.convolution(y, wide, 3, step, groups=wide)), k)
            x = m.add(x, y) if step == 1 and m.channels[x] == k else y
    x = m.relu6(m.convolution(x, 1280 if whole else 320))
    return m.model(m.fully_connected(m.flatten(m.average(x)), 1000 if whole else 100))


def mobilenet_v3(size=64, whole=False):
    """Windows of 5, HardSwish, and channels multiplied by what their averages give (squeeze and excitation). whole: the large one."""
    m = Model("mobilenet_v3", size)
    x = m.hard_swish(m.convolution("x", 16, 3, 2))
    first = [(3, 16, 16, 0, m.relu, 1), (3, 64, 24, 0, m.relu, 2), (3, 72, 24, 0, m.relu, 1), (5, 72, 40, 1, m.relu, 2), (5, 120, 40, 1, m.relu, 1)]
    narrow = [(3, 120, 48, 0, m.hard_swish, 2), (5, 144, 48, 1, m.hard_swish, 1), (5, 192, 64, 1, m.hard_swish, 2)]
    published = [(5, 120, 40, 1, m.relu, 1), (3, 240, 80, 0, m.hard_swish, 2), (3, 200, 80, 0, m.hard_swish, 1), (3, 184, 80, 0, m.hard_swish, 1),
                 (3, 184, 80, 0, m.hard_swish, 1), (3, 480, 112, 1, m.hard_swish, 1), (3, 672, 112, 1, m.hard_swish, 1),
                 (5, 672, 160, 1, m.hard_swish, 2), (5, 960, 160, 1, m.hard_swish, 1), (5, 960, 160, 1, m.hard_swish, 1)]
    for window, wide, k, squeezes, act, stride in first + (published if whole else narrow):
        y = act(m.convolution(x, wide)) if wide != m.channels[x] else x
        y = act(m.convolution(y, wide, window, stride, groups=wide))
        if squeezes:
            gate = m.relu(m.convolution(m.average(y), -(-wide // 32) * 8 if whole else 8 * (wide // 32)))
            y = m.multiply(y, m.hard_sigmoid(m.convolution(gate, wide)))
        y = m.convolution(y, k)
        x = m.add(x, y) if stride == 1 and m.channels[x] == k else y
    x = m.hard_swish(m.convolution(x, 960 if whole else 192))
    x = m.hard_swish(m.fully_connected(m.flatten(m.average(x)), 1280 if whole else 256))
    return m.model(m.fully_connected(x, 1000 if whole else 100))


def efficientnet(size=64, whole=False):
    """Inverted residuals with SiLU, each with squeeze and excitation by a Sigmoid. whole: EfficientNet-B0."""
    m = Model("efficientnet", size)
    x = m.silu(m.convolution("x", 32 if whole else 16, 3, 2))
    narrow = [(1, 3, 8, 1, 1), (6, 3, 12, 2, 2), (6, 5, 16, 1, 2), (6, 5, 24, 2, 2)]
    published = [(1, 3, 16, 1, 1), (6, 3, 24, 2, 2), (6, 5, 40, 2, 2), (6, 3, 80, 3, 2), (6, 5, 112, 3, 1), (6, 5, 192, 4, 2), (6, 3, 320, 1, 1)]
    for expansion, window, k, count, stride in published if whole else narrow:
        for block in range(count):
            step, c = stride if block == 0 else 1, m.channels[x]
            y = m.silu(m.convolution(x, expansion * c)) if expansion > 1 else x
            y = m.silu(m.convolution(y, expansion * c, window, step, groups=expansion * c))
            gate = m.silu(m.convolution(m.average(y), max(1, c // 4)))
            y = m.multiply(y, m.node("Sigmoid", [m.convolution(gate, expansion * c)], expansion * c))
            y = m.convolution(y, k)
            x = m.add(y, x) if step == 1 and c == k else y
    x = m.silu(m.convolution(x, 1280 if whole else 96))
    return m.model(m.fully_connected(m.flatten(m.average(x)), 1000 if whole else 100))


def vgg16(size=64, whole=False):
    """Convolutions and max poolings, then fully connected layers over several pixels, whose order Flatten decides."""
    m = Model("vgg16", size)
    x = "x"
    a, b, c, d, wide, classes = (64, 128, 256, 512, 4096, 1000) if whole else (16, 32, 48, 64, 256, 100)
    for k in [a, a, 0, b, b, 0, c, c, c, 0, d, d, d, 0, d, d, d, 0]:
        x = m.relu(m.convolution(x, k, 3)) if k else m.max_pool(x, 2, 2, 0)
    x = m.flatten(x, (size // 32) ** 2)
    return m.model(m.fully_connected(m.relu(m.fully_connected(m.relu(m.fully_connected(x, wide)), wide)), classes))


def yolo(size=64, whole=False):
    """A backbone, a pyramid and three heads as YOLOv5 has them: SiLU, Concat, Resize, max poolings of stride 1, several outputs. whole: YOLOv5s."""
    m = Model("yolo", size)
    (a, b, c, d, e), counts, head = ((32, 64, 128, 256, 512), (1, 2, 3, 1), 255) if whole else ((8, 16, 32, 48, 64), (1, 2, 1, 1), 24)
    conv = lambda x, k, window=1, stride=1: m.silu(m.convolution(x, k, window, stride))

    def block(x, k, count, adds=True):
        a, b = conv(x, k // 2), conv(x, k // 2)
        for _ in range(count):
            y = conv(conv(a, k // 2), k // 2, 3)
            a = m.add(a, y) if adds else y
        return conv(m.concat(a, b), k)

    p3 = block(conv(block(conv(conv("x", a, 3, 2), b, 3, 2), b, counts[0]), c, 3, 2), c, counts[1])
    p4 = block(conv(p3, d, 3, 2), d, counts[2])
    x = block(conv(p4, e, 3, 2), e, counts[3])
    pooled = [conv(x, e // 2)]
    for _ in range(3):
        pooled.append(m.max_pool(pooled[-1], 5, 1, 2))
    top = conv(conv(m.concat(*pooled), e), d)
    middle = conv(block(m.concat(m.doubled(top), p4), d, 1, False), c)
    low = block(m.concat(m.doubled(middle), p3), c, 1, False)
    middle = block(m.concat(conv(low, c, 3, 2), middle), d, 1, False)
    high = block(m.concat(conv(middle, d, 3, 2), top), e, 1, False)
    return m.model(*(m.node("Sigmoid", [m.convolution(x, head)], head) for x in (low, middle, high)))


ALL = {"resnet18": example.resnet18, "resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "mobilenet_v3": mobilenet_v3, "efficientnet": efficientnet,
       "vgg16": vgg16, "yolo": yolo}
SIZES = {"resnet18": 64, "resnet50": 32, "mobilenet_v2": 64, "mobilenet_v3": 64, "efficientnet": 64, "vgg16": 64, "yolo": 64}


def resnet18(size=224):
    """The example's, with the note of its draws."""
    example.FloatModel, kept = Model, example.FloatModel
    try:
        return example.resnet18(size)
    finally:
        example.FloatModel = kept


# As they were published, and the rows and columns of their images.
WHOLE = {"resnet18": (resnet18, 224), "resnet50": (lambda size: resnet50(size, blocks=(3, 4, 6, 3), width=64, classes=1000), 224),
         **{name: (functools.partial(ALL[name], whole=True), size) for name, size in
            (("mobilenet_v2", 224), ("mobilenet_v3", 224), ("efficientnet", 224), ("vgg16", 224), ("yolo", 320))}}
