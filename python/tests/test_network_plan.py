"""Random graphs of what a planner fuses, as detectors have it: convolutions with functions and additions behind them, concats of whole blocks, of
parts of blocks, of other scales and of concats. The network of C++ gives the bits of the formulas in numpy."""
import numpy as np
import pytest

import weft
from weft import network


class RandomBlocks:
    """A graph of a seed, of images of 5 x 4 pixels. Integers are of both elements."""

    def __init__(self, seed, blocks=3):
        self.random, self.tensors, self.nodes, self.open = np.random.default_rng(seed), {}, [], []
        self.size = (self.number(1, 40), 5, 4)
        self.tensor("x", self.size, None)
        x = self.node("quantize", ["x"], self.size, scale=0.03)
        for _ in range(blocks):
            x = self.concat(x) if self.chance() else self.branch(x)
        outputs = [self.node("dequantize", [name], self.shapes[name], element="float") for name in sorted({x, *self.open})]
        self.graph = network.Graph("blocks", self.tensors, self.nodes, ["x"], outputs)

    shapes = property(lambda self: {name: t.shape for name, t in self.tensors.items()})

    def number(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, of=2):
        return self.number(1, of) == 1

    def tensor(self, name, shape, quantization, element="float"):
        more = {} if quantization is None else dict(scale=quantization[0], zero_point=quantization[1])
        self.tensors[name] = network.Tensor(name, element, shape, **more)

    def node(self, kind, inputs, shape, scale=0.05, element=None, like=None, **more):
        """Adds a node with its output, whose name it returns. like: a tensor that has the output's scale and element."""
        name = f"t{len(self.tensors)}"
        element = element or (self.tensors[inputs[0]].element if kind in ("add", "multiply", "concat") else str(self.random.choice(["int8", "uint8"])))
        quantization = None if element == "float" else (scale * float(self.random.uniform(0.7, 1.4)), self.number(*((-128, 127) if element == "int8" else (0, 255))))
        if like is not None:
            t = self.tensors[like]
            element, quantization = t.element, (t.scale, t.zero_point)
        self.tensor(name, shape, quantization, element)
        self.nodes.append(network.Node(kind, f"n{len(self.nodes)}", inputs, name, **more))
        return name

    def convolution(self, x, k):
        c, h, w = self.shapes[x]
        depthwise = c == k and self.chance(3)
        filter = self.random.integers(-128, 128, (k, 1 if depthwise else c, 3, 3)).astype(np.int8)
        same = [name for name, t in self.tensors.items() if t.shape == (k, h, w) and t.element != "float"]
        residual = [same[self.number(0, len(same) - 1)]] if same and self.chance(5) else []
        return self.node("convolution", [x, *residual], (k, h, w), window=(3, 3), padding=(1, 1, 1, 1), groups=k if depthwise else 1, filter=filter,
                         filter_scale=self.random.uniform(0.5, 2, k).astype(np.float32) / np.float32(40 * filter[0].size ** 0.5),
                         bias=self.random.integers(-900, 900, k).astype(np.int32))

    def function(self, x):
        """A table, a change of scale, or x times a table of itself."""
        shape = self.shapes[x]
        kind = self.number(0, 3)
        if kind == 0:
            return self.node("convert", [x], shape)
        table = self.node("table", [x], shape, element=self.tensors[x].element if kind > 1 else None, table=self.random.integers(0, 256, 256).astype(np.uint8))
        if kind == 1:
            return table
        pair = [x, table] if self.chance() else [table, x]
        return self.node("multiply" if kind == 2 else "add", pair, shape)

    def branch(self, x, k=None):
        y = self.convolution(x, k or int(self.random.choice([4, 20, 32, 32, 40, 64])))
        shape = self.shapes[y]
        for _ in range(self.number(0, 2)):
            same = [name for name, t in self.tensors.items() if t.shape == shape and name != y and t.element == self.tensors[y].element]
            if same and self.chance(3):
                other = same[self.number(0, len(same) - 1)]
                y = self.node("add", [y, other] if self.chance() else [other, y], shape)
            else:
                y = self.function(y)
        if self.chance(5):
            self.open.append(y)  # which the caller reads, too
        return y

    def concat(self, x):
        parts = [self.branch(x, int(self.random.choice([32, 32, 64, 20]))) for _ in range(self.number(1, 3))]
        if self.chance(3):
            parts.append(self.node("max_pool", [parts[0]], self.shapes[parts[0]], like=parts[0], window=(3, 3), padding=(1, 1, 1, 1)))
        if self.chance(3):
            parts.append(self.concat(x))
        if self.chance(4):
            parts.append(x)
        element = self.tensors[parts[0]].element
        parts = [p if self.tensors[p].element == element else self.node("convert", [p], self.shapes[p], element=element) for p in parts]
        like = None if self.chance(4) else parts[self.number(0, len(parts) - 1)]
        return self.node("concat", parts, (sum(self.shapes[p][0] for p in parts), 5, 4), like=like)


def compare(seed, layouts=()):
    """The graph of a seed, and the network of it, once both gave the same."""
    made = RandomBlocks(seed)
    for batch in (1, 3):
        x = made.random.normal(0, 2, (batch, *made.size)).astype(np.float32)
        model = network.Network(made.graph, layouts=layouts)
        got = model(x)
        want = network.run_reference(made.graph, {"x": x})
        for name, y in zip(made.graph.outputs, got if isinstance(got, tuple) else (got,)):
            np.testing.assert_array_equal(y, want[name].reshape(y.shape), err_msg=f"{name} of seed {seed}")
    return made, model


@pytest.mark.parametrize("seed", range(3))
def test_fused_blocks(seed):
    compare(seed)


@pytest.mark.parametrize("layouts", (["nhwc"], ["nc4", "nhwc"]))
def test_layouts(layouts):
    assert f" {layouts[0]})" in compare(8, layouts)[1].describe(1)


def test_layouts_refused():
    for layouts, sentence in (["nc8"], 'layouts has "nc8"; give some of nhwc, nc4 and nc32'), (["nchw"], "formats has nchw; give some of nc4, nc32 and nhwc"):
        with pytest.raises(weft.ArgumentError, match=sentence):
            network.Network(RandomBlocks(8).graph, layouts=layouts).prepare()
