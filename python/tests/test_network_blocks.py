"""Bottlenecks of residual networks as one kernel: the bits of their nodes, what is said of them, and a GPU's bits."""
import re

import numpy as np
import pytest

import weft
from test_gpu import needs_gpu
from weft import network
from weft.network._page import page_of

pytest.importorskip("onnx")
import architectures  # noqa: E402

SIZE = 32
TILES = ("Bottleneck14x2x3", "Bottleneck8x3x4", "Bottleneck4x1x2")


def graph_of(stages=(2,), element="uint8", form="QOperator"):
    """A ResNet of as many blocks in each stage, 64 channels wide in the first, which works on 8 x 8 pixels."""
    model = architectures.resnet50(SIZE, stages, width=64, classes=10)
    return network.import_onnx(architectures.example.quantised(model, SIZE, signed=element == "int8", qdq=form == "QDQ", per_channel=True))


def images(batch):
    return np.random.default_rng(3).normal(size=(batch, 3, SIZE, SIZE)).astype(np.float32)


@pytest.fixture(scope="module")
def graph():
    return graph_of()


def test_bits_on_the_cpu(graph):
    """One kernel for each block, and the bits of the formulas, which are onnxruntime's."""
    model = network.Network(graph, blocks="always")
    x = images(2)
    np.testing.assert_array_equal(model(x), network.run_reference(graph, {"x": x})[graph.outputs[0]])
    plan = model.profile(x, repeats=1)
    assert [block.why_apart for block in plan.blocks] == [None, None]
    blocks = [step for step in plan.steps if step.kernel in TILES]
    assert [len(step.nodes) for step in blocks] == [5, 4] and all(step.other is None and step.us > 0 for step in blocks)
    assert blocks[0].detail.split(", ").count("1x1") == 3 and blocks[0].operations == 2 * 2 * 64 * (64 * 64 + 9 * 64 * 64 + 64 * 256 + 64 * 256)
    page = page_of(graph, [plan], "the CPU")
    assert page.count("Bottleneck4x1x2") >= 2


def test_why_not():
    """Strides and wide blocks are kernels of their own anywhere, and narrow ones on the CPU unless it is asked for."""
    graph = graph_of((1, 1))
    plan = network.Network(graph, blocks="always").plan(1)
    assert plan.blocks[0].why_apart is None and "stride 2x2" in plan.blocks[1].why_apart
    model = network.Network(graph)
    assert "on the CPU" in model.plan(1).blocks[0].why_apart
    assert re.search("block .*: kernels of their own: on the CPU", model.describe())
    assert "off" in network.Network(graph, blocks="never").plan(1).blocks[0].why_apart


def test_refused(graph):
    for blocks in ("sometimes", True, None, ["always"]):
        with pytest.raises(weft.ArgumentError, match="is none; give \"where_quicker\", \"always\" or \"never\""):
            network.Network(graph, blocks=blocks)


@needs_gpu
@pytest.mark.parametrize("batch", (1, 3, 32))
def test_bits_on_a_gpu(graph, batch):
    """Each tile, against kernels of their own."""
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(images(batch)).cuda()
    want = network.Network(graph, blocks="never")(x).cpu().numpy()
    model = network.Network(graph, blocks="always")
    names = [name for name, tile in model.tiles(batch).items() if tile in TILES]
    assert len(names) == 2
    np.testing.assert_array_equal(model(x).cpu().numpy(), want)
    for tile in TILES:
        other = network.Network(graph, blocks="always", tiles={batch: dict.fromkeys(names, tile)})
        np.testing.assert_array_equal(other(x).cpu().numpy(), want, err_msg=tile)


@pytest.mark.parametrize("form, blocks", (("QDQ", 2), ("QOperator", 0)))
def test_forms(form, blocks):
    """Q and DQ of uint8 have blocks as well; of int8 the quantiser leaves ReLUs as tables between the convolutions, which no block has."""
    element = "uint8" if blocks else "int8"
    assert len(network.Network(graph_of(element=element, form=form)).plan(1).blocks) == blocks
