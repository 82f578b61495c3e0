"""Models with QuantizeLinear and DequantizeLinear where TensorRT's tools and PyTorch's PT2E put them: what is between two of them is rounded once."""
import collections
import pathlib

import numpy as np
import pytest

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

import onnx
import weft
from network_models import model_of
from onnx import helper
from placed_models import PlacedModel
from weft import network

ELEMENTS = ("int8", "uint8")


def by_onnxruntime(model, x):
    """Floats, node by node."""
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([port.name for port in session.get_outputs()], session.run(None, {"x": x})))


@pytest.mark.parametrize("element", ELEMENTS)
def test_exact_models(element):
    """Of models whose floats are exact the formulas of integers give the floats' own bits."""
    kinds, residuals, floats = set(), 0, 0
    for seed in range(60):
        made = PlacedModel(seed, element)
        model = made.model()
        graph = network.import_onnx(model)
        x = made.random.normal(size=(2, *made.size)).astype(np.float32)
        got = network.run_reference(graph, {"x": x})
        for name, want in by_onnxruntime(model, x).items():
            assert np.count_nonzero(got[name].reshape(want.shape) != want) == 0, (seed, name)
        products = [node for node in graph.nodes if node.kind in ("convolution", "fully_connected")]
        kinds |= {node.kind for node in graph.nodes}
        residuals += sum(len(node.inputs) == 2 for node in products)
        floats += sum(graph.tensors[node.output].element == "float" for node in products)
    assert kinds - {"convert"} == {"quantize", "convolution", "fully_connected", "global_average_pool", "table", "max_pool", "concat", "resize"}
    assert residuals > 20 and floats == 120


@pytest.mark.parametrize("element", ELEMENTS)
def test_other_models(element):
    """Of other scales the bias is rounded, which moves a few numbers that lie near the middle of two integers, and what is made of these."""
    differ = total = 0
    for seed in range(30):
        made = PlacedModel(seed, element, exact=False)
        model = made.model()
        x = made.random.normal(size=(2, *made.size)).astype(np.float32)
        got = network.run_reference(network.import_onnx(model), {"x": x})
        for name, want in by_onnxruntime(model, x).items():
            difference = np.abs(got[name].reshape(want.shape) - want)
            differ, total = differ + np.count_nonzero(difference > 1e-3 * np.abs(want).max()), total + want.size
            assert difference.max() < 0.1 * np.abs(want).max(), (seed, name)
    assert differ < 0.05 * total


def test_as_networks():
    """The network of C++ on the CPU gives the bits of the formulas, too. One, as its kernels are compiled."""
    made = PlacedModel(3, "int8", exact=False)
    graph = network.import_onnx(made.model())
    x = made.random.normal(size=(2, *made.size)).astype(np.float32)
    want, got = network.run_reference(graph, {"x": x}), network.Network(graph)(x)
    for name, y in zip(graph.outputs, got):
        np.testing.assert_array_equal(y, want[name], err_msg=name)


class Small:
    """x of (4, 6, 5), quantised and dequantised as d, and nodes behind it."""

    def __init__(self):
        self.random = np.random.default_rng(2)
        self.constants = {"s": np.float32(0.03), "z": np.int8(0), "sy": np.float32(0.2), "sw": np.full(4, 0.01, np.float32), "zw": np.zeros(4, np.int8),
                          "w": self.random.normal(0, 0.5, (4, 4, 1, 1)).astype(np.float32), "shift": np.ones((4, 1, 1), np.float32),
                          **{f"bn{i}": np.ones(4, np.float32) for i in range(4)}}
        self.nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
                      helper.make_node("QuantizeLinear", ["w", "sw", "zw"], ["wq"], axis=0), helper.make_node("DequantizeLinear", ["wq", "sw", "zw"], ["wd"], axis=0)]

    def put(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return self

    def constant(self, name, value):
        self.constants[name] = value
        return self

    def imported(self, *outputs):
        return network.import_onnx(model_of(self.nodes, self.constants, (4, 6, 5), outputs=outputs))


def test_a_result_is_computed_once_for_each_scale():
    small = Small().put("Conv", ["d", "wd"], "c").put("Relu", ["c"], "r")
    small.put("QuantizeLinear", ["r", "s", "z"], "q1").put("QuantizeLinear", ["r", "s", "z"], "q2").put("QuantizeLinear", ["r", "sy", "z"], "q3")
    for at in (1, 2, 3):
        small.put("DequantizeLinear", [f"q{at}", "sy" if at == 3 else "s", "z"], f"d{at}").put("Conv", [f"d{at}", "wd"], f"y{at}")
    graph = small.imported("y1", "y2", "y3")
    assert [node.kind for node in graph.nodes].count("table") == 2  # a Relu for each of the two scales
    assert [graph.tensors[name].element for name in graph.outputs] == ["float"] * 3


def test_weights_are_those_of_their_quantizelinear():
    small = Small().put("Conv", ["d", "wd"], "y")
    (node,) = [node for node in small.imported("y").nodes if node.kind == "convolution"]
    assert np.array_equal(node.filter, np.clip(np.rint(small.constants["w"] / np.float32(0.01)), -128, 127).astype(np.int8))


def test_normalization_and_constants_become_scales_and_bias():
    small = Small().put("Conv", ["d", "wd"], "c").put("BatchNormalization", ["c", "bn0", "bn1", "bn2", "bn3"], "b")
    small.put("Add", ["shift", "b"], "a").put("Mul", ["a", "half"], "y")
    small.constants.update(bn0=np.float32([1, -2, 3, 0]), bn1=np.float32([0, 1, 2, 3]), bn2=np.float32([4, 3, 2, 1]), bn3=np.float32([0.25, 1, 4, 2]), half=np.float32([[0.5]]))
    (node,) = [node for node in small.imported("y").nodes if node.kind == "convolution"]
    factor = np.float64([1, -2, 3, 0]) / np.sqrt(np.float64([0.25, 1, 4, 2]) + float(np.float32(1e-5)))
    plain = np.clip(np.rint(small.constants["w"] / np.float32(0.01)), -128, 127)
    assert np.array_equal(node.filter, plain * np.sign(factor).reshape(4, 1, 1, 1))
    np.testing.assert_allclose(node.filter_scale[:3], 0.005 * np.abs(factor[:3]), rtol=1e-6)
    assert node.filter_scale[3] == np.float32(0.005)  # of the Mul; a factor of 0 leaves the steps of the bias as fine as they were
    np.testing.assert_allclose(node.bias * np.float32(0.03) * node.filter_scale, (np.float64([1, 2, 3, 4]) - factor * [4, 3, 2, 1]) / 2, atol=0.0003)


@pytest.mark.parametrize("kind", ("a normalization", "a factor", "weights of 0"))
def test_channels_of_which_the_bias_remains(kind):
    """A factor of 0 or near 0, or weights of 0 with the least scale: the result is the bias, as onnxruntime computes it of the floats."""
    small = Small()
    small.constants.update(s=np.float32(0.01), sy=np.float32(0.01))
    if kind == "a normalization":
        small.put("Conv", ["d", "wd"], "c").put("BatchNormalization", ["c", "bn0", "bn1", "bn2", "bn3"], "y")
        small.constants.update(bn0=np.float32([0, 1e-6, -1e-9, 1]), bn1=np.float32([0.303, 0.5, -0.7, 0.1]), bn2=np.zeros(4, np.float32))
    elif kind == "a factor":
        small.put("Conv", ["d", "wd"], "c").put("Mul", ["c", "f"], "m").put("Add", ["m", "b"], "y")
        small.constants.update(f=np.float32([0, 1e-6, -1e-9, 1]).reshape(4, 1, 1), b=np.float32([0.303, 0.5, -0.7, 0.1]).reshape(4, 1, 1))
    else:
        small.put("Conv", ["d", "wd", "bn1"], "y")
        small.constants["w"][1] = 0
        small.constants.update(sw=np.float32([0.01, 1.19e-9, 0.02, 0.01]), bn1=np.float32([0.303, 0.5, -0.7, 0.1]))
    model = model_of(small.nodes, small.constants, (4, 6, 5))
    x = small.random.normal(size=(2, 4, 6, 5)).astype(np.float32)
    graph = network.import_onnx(model)
    (got,), (want,) = network.run_reference(graph, {"x": x}).values(), by_onnxruntime(model, x).values()
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    (node,) = [node for node in graph.nodes if node.kind == "convolution"]
    assert node.bias[1] > 2**30


def test_coarser_weights():
    """A bias that is a little beyond the range of the sums makes the weights of its channel coarser by as much, and leaves those of the others."""
    small = Small().put("Conv", ["d", "wd", "b"], "y")
    steps = np.float64([2**31 * 1.5, 2**30, -(2**31) * 4, 5])
    small.constants["b"] = (steps * 0.03 * 0.01).astype(np.float32)
    (node,) = [node for node in small.imported("y").nodes if node.kind == "convolution"]
    plain = np.clip(np.rint(small.constants["w"] / np.float32(0.01)), -128, 127)
    np.testing.assert_allclose(node.filter_scale[[1, 3]], 0.01, rtol=1e-7)
    np.testing.assert_allclose(node.filter_scale[[0, 2]], [0.015, 0.04], rtol=1e-3)
    np.testing.assert_array_equal(node.filter[[1, 3]], plain[[1, 3]])
    np.testing.assert_allclose(node.filter[[0, 2]] * node.filter_scale[[0, 2]].reshape(2, 1, 1, 1), plain[[0, 2]] * 0.01, atol=0.0201)
    np.testing.assert_allclose(node.bias * np.float64(0.03) * node.filter_scale, small.constants["b"], rtol=1e-6)


def test_a_layer_waits_while_outputs_get_their_names():
    small = Small().put("Identity", ["q"], "feat").put("Conv", ["d", "wd"], "c")
    for outputs in (("feat", "c"), ("c", "feat")):
        graph = small.imported(*outputs)
        assert tuple(graph.outputs) == outputs and graph.nodes[1].inputs == ["feat"]
        x = small.random.normal(size=(1, 4, 6, 5)).astype(np.float32)
        got = network.run_reference(graph, {"x": x})
        assert np.array_equal(got["feat"], np.clip(np.rint(x / np.float32(0.03)), -128, 127).astype(np.int8))


REFUSED = {
    "two floats": (Small().put("Conv", ["d", "wd"], "a").put("Conv", ["d", "wd"], "b").put("Add", ["a", "b"], "y"),
                   r"y \(Add\): it adds the floats of a and b, which both are not quantized; of one of them there would be a QuantizeLinear"),
    "an activation": (Small().put("Conv", ["d", "wd"], "a").put("Sigmoid", ["a"], "g").put("Mul", ["a", "g"], "y"),
                      r"g \(Sigmoid\): it reads the floats of a, behind which there is no QuantizeLinear"),
    "an average": (Small().put("Conv", ["d", "wd"], "a").put("GlobalAveragePool", ["a"], "y"), r"y \(GlobalAveragePool\): it reads the floats of a, behind"),
    "floats with bounds": (Small().put("Conv", ["d", "wd"], "a").put("Relu", ["a"], "y"), "output y: it is made of floats behind which there is no"),
    "floats with a residual": (Small().put("Conv", ["d", "wd"], "a").put("Add", ["a", "d"], "y"), "output y: it is made of floats behind which there is no"),
    "a residual behind a bound": (Small().put("Conv", ["d", "wd"], "a").put("Relu", ["a"], "r").put("Add", ["r", "d"], "y"),
                                  r"y \(Add\): it adds a tensor to the floats of a, behind which there is a Relu, a Clip, a Reshape or an Add"),
    "a constant of many numbers": (Small().put("Conv", ["d", "wd"], "a").put("Add", ["a", "bn0"], "y"),
                                   r"y \(Add\): its input bn0 is of shape \(4,\), and not one number for each of 4 output channels, \(4, 1, 1\), or one for all"),
    "floats that are normalized": (Small().put("BatchNormalization", ["d", "bn0", "bn1", "bn2", "bn3"], "y"),
                                   r"y \(BatchNormalization\): it normalizes d; only the result of a Conv, Gemm or MatMul is normalized here"),
    "plain weights": (Small().put("Conv", ["d", "w"], "y"), r"y \(Conv\): its weights are floats; they would be quantized"),
    "scales of weights": (Small().put("QuantizeLinear", ["w", "bn0", "zw"], "q4", axis=1).put("DequantizeLinear", ["q4", "bn0", "zw"], "d4", axis=1)
                          .put("Conv", ["d", "d4"], "y"), r"y \(Conv\): the scales of its weights are along axis 1"),
    "a scale of weights": (Small().put("QuantizeLinear", ["w", "none", "zw"], "q4").put("Conv", ["d", "q4"], "y"),
                           r"q4 \(QuantizeLinear\): it reads none, which nothing writes"),
    "a bias that is infinite": (Small().constant("b", np.float32([1, 2, -np.inf, 3])).put("Conv", ["d", "wd", "b"], "y"),
                                r"y \(Conv\): its bias is -inf in channel 2, and must be a finite number of float32"),
    "a bias beyond floats": (Small().constant("bn0", np.full(4, 1e30, np.float32)).constant("b", np.full(4, 1e30, np.float32)).put("Conv", ["d", "wd", "b"], "c")
                             .put("BatchNormalization", ["c", "bn0", "bn1", "bn2", "bn3"], "y"),
                             r"y \(BatchNormalization\): with its constants the bias of c is 9.9.*e\+59 in channel 0, and must be a finite"),
    "a bias beyond scales": (Small().constant("b", np.full(4, 3e38, np.float32)).constant("s", np.float32(1e-30)).put("Conv", ["d", "wd", "b"], "y"),
                             r"output y: the bias of y is 3e\+38 in channel 0, which no scale of its weights makes an integer of int32"),
    "a bias of scales that are no number": (Small().constant("b", np.ones(4, np.int32)).constant("sb", np.full(4, np.nan, np.float32))
                                            .put("DequantizeLinear", ["b", "sb"], "bd", axis=0).put("Conv", ["d", "wd", "bd"], "y"),
                                            r"y \(Conv\): the scale of its bias is not that of its input times"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    small, sentence = REFUSED[name]
    with pytest.raises(weft.ArgumentError, match=sentence):
        small.imported("y")


# Of examples/quantised_by_pytorch.py --size 32 --width 8 --classes 10, by two quantizers: X86InductorQuantizer has uint8 and residuals that are added
# before they are rounded, XNNPACKQuantizer int8 and additions of two tensors.
EXPORTS = {"pt2e_x86": dict(quantize=1, convolution=9, max_pool=1, global_average_pool=1, fully_connected=1),
           "pt2e_xnnpack": dict(quantize=1, convolution=9, add=3, max_pool=1, global_average_pool=1, fully_connected=1, dequantize=1)}


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_of_pytorch(name):
    model = onnx.load(pathlib.Path(__file__).parent / "models" / f"{name}.onnx")
    graph = network.import_onnx(model)
    assert collections.Counter(node.kind for node in graph.nodes) == EXPORTS[name]
    x = np.random.default_rng(1).normal(size=(8, 3, 32, 32)).astype(np.float32)
    (got,), (want,) = network.run_reference(graph, {"x": x}).values(), by_onnxruntime(model, x).values()
    assert got.shape == want.shape == (8, 10) and np.abs(got - want).max() < 0.05 * np.abs(want).max()
