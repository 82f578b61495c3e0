"""Imported models compute what onnxruntime computes: the graph of each, run by the formulas in numpy, gives the same bits."""
import numpy as np
import pytest

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

import architectures
import random_models
import weft
from network_models import exact_by_onnxruntime, model_of, one_node
from onnx import TensorProto, helper
from weft import network

ELEMENTS = ("uint8", "int8")


def by_onnxruntime(model, inputs):
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([port.name for port in session.get_outputs()], session.run(None, inputs)))


def compare(model, inputs):
    """Imports a model, runs it both ways, and gives its graph."""
    model = exact_by_onnxruntime(model)
    graph = network.import_onnx(model)
    got, want = network.run_reference(graph, inputs), by_onnxruntime(model, inputs)
    assert list(got) == [output.name for output in model.graph.output]
    for name, y in want.items():
        assert got[name].dtype == y.dtype and got[name].size == y.size
        assert np.count_nonzero(got[name].reshape(y.shape) != y) == 0, name
    return graph


@pytest.mark.parametrize("name", architectures.ALL)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("form", ("QOperator", "QDQ"))
def test_architectures(name, element, form):
    size = architectures.SIZES[name]
    quantised = architectures.example.quantised(architectures.ALL[name](size), size, signed=element == "int8", qdq=form == "QDQ",
                                                per_channel=name in ("resnet50", "mobilenet_v3"))
    if (name, element, form) == ("mobilenet_v2", "int8", "QOperator"):  # the quantiser leaves an average of floats
        with pytest.raises(weft.ArgumentError, match=r"one node or tensor .*\n.*\(GlobalAveragePool\): it reads floats, clip_\d+"):
            network.import_onnx(quantised)
        return
    compare(quantised, {"x": np.concatenate(list(architectures.example.images(size, 2, seed=7)))})


@pytest.mark.parametrize("element", ELEMENTS)
def test_random_models(element):
    kinds = set()
    for seed in range(40):
        made = random_models.RandomModel(seed, element)
        x = made.random.normal(size=(2, *made.size)).astype(np.float32)
        if made.powers:
            x = np.rint(x * 256) / np.float32(256)  # many lie between two integers
        kinds |= {node.kind for node in compare(made.model(), {"x": x}).nodes}
    assert kinds == set(network._graph.KINDS) - {"convert"}


@pytest.mark.parametrize("element", ELEMENTS)
def test_random_models_as_networks(element):
    """The network of C++ on the CPU gives the bits of the formulas, too. Few, as their kernels are compiled."""
    for seed in range(3):
        made = random_models.RandomModel(seed, element)
        graph = network.import_onnx(made.model())
        x = made.random.normal(size=(2, *made.size)).astype(np.float32)
        want, got = network.run_reference(graph, {"x": x}), network.Network(graph)(x)
        for name, y in zip(graph.outputs, got if isinstance(got, tuple) else (got,)):
            np.testing.assert_array_equal(y, want[name], err_msg=name)


@pytest.mark.parametrize("element", ELEMENTS)
def test_random_models_in_qdq_format(element):
    """Of int8 onnxruntime computes floats on x86, so that a number between two integers may go the other way: such scales are left out."""
    for seed in range(30):
        made = random_models.RandomModel(seed, element)
        if element == "uint8" or not made.powers:
            compare(random_models.in_qdq_format(made.model()), {"x": made.random.normal(size=(2, *made.size)).astype(np.float32)})


def images(*shape, seed=0):
    return {"x": np.random.default_rng(seed).normal(0, 2, (2, *shape)).astype(np.float32)}


@pytest.mark.parametrize("pads", ([0, 0, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]))
@pytest.mark.parametrize("size", (6, 7, 8, 9))
def test_ceil_mode(pads, size):
    for strides in ([2, 2], [3, 2], [3, 3]):
        a = dict(kernel_shape=[2, 3], strides=strides, pads=pads, ceil_mode=1)
        compare(one_node("MaxPool", ["a"], {}, (3, size, size), **a), images(3, size, size))
        compare(one_node("QLinearAveragePool", ["a", "s", "z", "s2", "z"], {"s2": np.float32(0.017)}, (3, size, size), **a), images(3, size, size))


@pytest.mark.parametrize("modes", [("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("half_pixel", "round_prefer_ceil"),
                                   ("pytorch_half_pixel", "round_prefer_floor"), ("asymmetric", "round_prefer_floor"), ("half_pixel", "floor"),
                                   ("asymmetric", "ceil"), ("align_corners", "round_prefer_floor")])
@pytest.mark.parametrize("factors", ((1, 2), (2, 3), (4, 4)))
def test_resize(modes, factors):
    """Each is either the repetition of pixels, as which it is imported, or refused."""
    a = dict(mode="nearest", coordinate_transformation_mode=modes[0], nearest_mode=modes[1])
    model = one_node("Resize", ["a", "", "f"], {"f": np.float32([1, 1, *factors])}, (2, 3, 5), **a)
    want = by_onnxruntime(model, images(2, 3, 5))["y"]
    source = by_onnxruntime(one_node("Identity", ["a"], {}, (2, 3, 5)), images(2, 3, 5))["y"]
    if np.array_equal(want, source.repeat(factors[0], 2).repeat(factors[1], 3)):
        compare(model, images(2, 3, 5))
    else:
        with pytest.raises(weft.ArgumentError, match="does not repeat each pixel"):
            network.import_onnx(model)


def test_views_and_outputs():
    """Views of one tensor, a layer over each and the tensor itself as outputs; a view of many pixels is refused as one."""
    random = np.random.default_rng(3)
    w = random.integers(-128, 128, (24, 5)).astype(np.int8)
    constants = {"s": np.float32(0.02), "z": np.uint8(7), "w": w, "sw": np.float32(0.004), "zw": np.int8(0), "sy": np.float32(0.3), "zy": np.uint8(100),
                 "shape": np.array([0, -1]), "shape4": np.array([-1, 2, 3, 4]), "axes": np.array([1])}
    layer = lambda x, y: helper.make_node("QLinearMatMul", [x, "s", "z", "w", "sw", "zw", "sy", "zy"], [y])
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["a"]), helper.make_node("Flatten", ["a"], ["f"]), layer("f", "y1"),
             helper.make_node("Reshape", ["a", "shape"], ["r"]), layer("r", "y2"), helper.make_node("Reshape", ["f", "shape4"], ["b"]),
             helper.make_node("MaxPool", ["b"], ["m"], kernel_shape=[2, 2]), helper.make_node("Unsqueeze", ["y1", "axes"], ["u"]),
             helper.make_node("Squeeze", ["u", "axes"], ["v"]), helper.make_node("DequantizeLinear", ["v", "sy", "zy"], ["d"]),
             helper.make_node("Identity", ["a"], ["same"])]
    model = model_of(nodes, constants, (2, 3, 4), outputs=("y1", "y2", "m", "d", "same"))
    graph = compare(model, images(2, 3, 4))
    assert graph.outputs == ["y1", "y2", "m", "d", "same"]
    with pytest.raises(weft.ArgumentError, match=r"output f: it is \(24,\) behind the batch, a Reshape of \(2, 3, 4\)"):
        network.import_onnx(model_of(nodes, constants, (2, 3, 4), outputs=("y1", "f")))


def test_unsigned_weights_and_constants():
    """Weights of uint8 with their zero point, sums and products with one number."""
    random = np.random.default_rng(5)
    constants = {"w": random.integers(0, 256, (6, 3, 3, 3)).astype(np.uint8), "sw": np.float32(0.01), "zw": np.uint8(128), "sy": np.float32(0.1),
                 "zy": np.uint8(90)}
    graph = compare(one_node("QLinearConv", ["a", "s", "z", "w", "sw", "zw", "sy", "zy"], constants, (3, 6, 5)), images(3, 6, 5))
    assert np.array_equal(graph.nodes[1].filter, (constants["w"].astype(int) - 128).astype(np.int8))
    for kind in ("QLinearAdd", "QLinearMul"):
        constants = {"c": np.array([[[77]]], np.uint8), "sc": np.float32(0.03), "zc": np.uint8(3), "sy": np.float32(0.04), "zy": np.uint8(99)}
        for order in (["a", "s", "z", "c", "sc", "zc"], ["c", "sc", "zc", "a", "s", "z"]):
            graph = compare(one_node(kind, [*order, "sy", "zy"], constants, (3, 6, 5)), images(3, 6, 5))
            assert graph.nodes[1].kind == "table"


@pytest.mark.parametrize("element", ELEMENTS)
def test_order_of_a_product(element):
    """Products of two tensors, of which a few lie so near the middle of two integers that the order of the multiplications decides."""
    random = np.random.default_rng(6)
    nodes = [helper.make_node("QuantizeLinear", ["x", "sa", "za"], ["a"]),
             helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[1, 2], pads=[0, 1, 0, 0]),  # each with its left neighbour
             helper.make_node("QLinearMul", ["a", "sa", "za", "b", "sa", "za", "sy", "zy"], ["y"], domain="com.microsoft")]
    for _ in range(40):
        sa, za, zy = np.float32(random.uniform(0.005, 0.05)), random.integers(0, 100), random.integers(0, 100)
        constants = {"sa": sa, "za": np.array(za, element), "sy": np.float32(sa * sa * random.uniform(20, 200)), "zy": np.array(zy, element)}
        compare(model_of(nodes, constants, (1, 200, 200)), {"x": sa * random.integers(-256, 256, (1, 1, 200, 200)).astype(np.float32)})


def test_integer_input():
    """An input of integers has the scale with which the first node reads it."""
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"]), helper.make_node("Tanh", ["d"], ["t"]),
             helper.make_node("QuantizeLinear", ["t", "sy", "zy"], ["y"])]
    constants = {"s": np.float32(0.03), "z": np.int8(5), "sy": np.float32(0.01), "zy": np.uint8(128)}
    x = np.arange(-128, 128).astype(np.int8).reshape(2, 2, 8, 8)
    compare(model_of(nodes, constants, (2, 8, 8), element=TensorProto.INT8), {"x": x})


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("bound", ([], ["Relu"], ["Clip"], ["Relu", "Clip"]))
@pytest.mark.parametrize("float_bias", (False, True))
def test_bounds_behind_a_convolution(element, bound, float_bias):
    """Relu and Clip between a convolution and its QuantizeLinear, where onnxruntime may compute floats: at most a step differs."""
    random = np.random.default_rng(8)
    w, bias = random.integers(-128, 128, (16, 6, 3, 3)).astype(np.int8), random.integers(-3000, 3000, 16).astype(np.int32)
    scale, unit = np.float32(0.02), np.float32(0.02) * np.linspace(0.004, 0.008, 16).astype(np.float32)
    constants = {"s": scale, "z": np.array(7, element), "w": w, "sw": unit / scale, "b": bias, "sb": unit, "fb": bias.astype(np.float32) * unit, "lo": np.float32(-3.2),
                 "hi": np.float32(5), "sy": np.float32(0.11), "zy": np.array(20, element)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             helper.make_node("DequantizeLinear", ["w", "sw"], ["dw"], axis=0), helper.make_node("DequantizeLinear", ["b", "sb"], ["db"], axis=0),
             helper.make_node("Conv", ["d", "dw", "fb" if float_bias else "db"], ["c"], pads=[1, 1, 0, 1], strides=[1, 2])]
    last = "c"
    for kind in bound:
        nodes.append(helper.make_node(kind, [last, "lo", "hi"] if kind == "Clip" else [last], [f"{kind}_of_{last}"]))
        last = nodes[-1].output[0]
    nodes.append(helper.make_node("QuantizeLinear", [last, "sy", "zy"], ["y"]))
    model = exact_by_onnxruntime(model_of(nodes, constants, (6, 9, 8)))
    graph = network.import_onnx(model)
    assert [node.kind for node in graph.nodes] == ["quantize", "convolution", *(["table"] if bound else [])]
    difference = network.run_reference(graph, images(6, 9, 8))["y"].astype(int) - by_onnxruntime(model, images(6, 9, 8))["y"]
    assert np.abs(difference).max() <= 1 and np.count_nonzero(difference) <= 0.002 * difference.size


@pytest.mark.parametrize("element", ELEMENTS)
def test_functions_that_stay_floats(element):
    """What a concatenation or a pooling reads as floats, HardSwish and HardSigmoid of integers, is a table with their QuantizeLinear's scale."""
    constants = {"sa": np.float32(0.02), "za": np.array(7, element), "sb": np.float32(0.031), "zb": np.array(90, element), "sy": np.float32(0.011),
                 "zy": np.array(50, element), "sm": np.float32(0.017), "zm": np.array(3, element)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "sa", "za"], ["a"]), helper.make_node("DequantizeLinear", ["a", "sa", "za"], ["d"]),
             helper.make_node("QuantizeLinear", ["x", "sb", "zb"], ["b"]), helper.make_node("DequantizeLinear", ["b", "sb", "zb"], ["e"]),
             helper.make_node("HardSwish", ["d"], ["h"]), helper.make_node("HardSigmoid", ["e"], ["g"], alpha=0.3, beta=0.4),
             helper.make_node("Concat", ["h", "g", "d", "h"], ["c"], axis=1), helper.make_node("QuantizeLinear", ["c", "sy", "zy"], ["y"]),
             helper.make_node("MaxPool", ["h"], ["m"], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 1, 0, 0]),
             helper.make_node("QuantizeLinear", ["m", "sm", "zm"], ["p"]), helper.make_node("QuantizeLinear", ["m", "sy", "zy"], ["r"])]
    graph = compare(model_of(nodes, constants, (5, 9, 8), outputs=("y", "p", "r")), images(5, 9, 8))
    assert sorted(node.kind for node in graph.nodes if node.kind != "quantize") == ["concat", "max_pool", "max_pool", *["table"] * 3]


def test_several_readers(monkeypatch):
    """A result that two QuantizeLinear of one scale read is computed once."""
    from onnxruntime import quantization

    quantize = quantization.quantize_static
    monkeypatch.setattr(quantization, "quantize_static",
                        lambda *a, extra_options, **more: quantize(*a, extra_options={**extra_options, "DedicatedQDQPair": True}, **more))
    m = architectures.FloatModel("readers", 8)
    x = m.convolution("x", 8, 3)
    x = m.add(m.convolution(x, 8, 3), x)  # both read the first convolution
    x = m.average(m.add(m.convolution(x, 8), m.max_pool(x, 3, 1, 1)))
    model = architectures.example.quantised(m.model(m.fully_connected(m.flatten(x), 5)), 8, qdq=True)
    assert any(node.op_type == "QuantizeLinear" and node.output[0].count("_2") for node in model.graph.node)
    graph = compare(model, images(3, 8, 8))
    assert len({id(node) for node in graph.nodes}) == len({node.name for node in graph.nodes}) == len({node.output for node in graph.nodes}) == len(graph.nodes)
    assert len([node for node in graph.nodes if node.kind == "convolution"]) == 3


@pytest.mark.parametrize("zero_points", ((20, 20), (20, 3)))
def test_a_result_that_is_quantized_twice(zero_points):
    """It is computed for each scale and zero point, by nodes with names of their own."""
    constants = {"s": np.float32(0.02), "z": np.uint8(7), "w": np.random.default_rng(1).integers(-128, 128, (4, 3, 3, 3)).astype(np.int8), "sw": np.float32(0.01),
                 "sy": np.float32(0.2), "z0": np.uint8(zero_points[0]), "z1": np.uint8(zero_points[1])}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             helper.make_node("DequantizeLinear", ["w", "sw"], ["dw"]), helper.make_node("Conv", ["d", "dw"], ["c"], name="conv"),
             helper.make_node("QuantizeLinear", ["c", "sy", "z0"], ["y0"]), helper.make_node("QuantizeLinear", ["c", "sy", "z1"], ["y1"])]
    graph = network.import_onnx(model_of(nodes, constants, (3, 6, 5), outputs=("y0", "y1")))
    assert [(node.name, node.output) for node in graph.nodes[1:]] == [("conv", "y0"), ("conv_2" if zero_points[1] == 3 else "y1_copy", "y1")]
    made = network.run_reference(graph, images(3, 6, 5))
    assert np.array_equal(made["y0"], made["y1"]) == (zero_points[0] == zero_points[1])
    network.read_graph(network.write_graph(graph))


def test_a_zero_point_that_is_not_listed():
    """ONNX's text lets the last zero point go, where onnxruntime ends the program: an import does not."""
    import_of = lambda *more: network.import_onnx(one_node("QLinearLeakyRelu", ["a", "s", "z", "sy", *more], {"sy": np.float32(0.03), "z0": np.uint8(0)}, (3, 4, 5)))
    assert np.array_equal(import_of().nodes[1].table, import_of("z0").nodes[1].table)


def test_sizes_keep_the_batch():
    a = dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    for first, batch, right in ((2, 2, True), (2, 1, False), (2, None, False)):
        model = one_node("Resize", ["a", "", "", "sizes"], {"sizes": np.array([first, 2, 6, 10])}, (2, 3, 5), **a)
        if batch is not None:
            model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = batch
        if right:
            compare(model, images(2, 3, 5))
        else:
            with pytest.raises(weft.ArgumentError, match=f"are of 2 images and the model's batch is {batch or 'free'}"):
                network.import_onnx(model)


def test_not_a_number():
    x = np.array([np.nan, np.inf, -np.inf, 0.01, 0.03, -0.01], np.float32).reshape(1, 1, 2, 3)
    compare(one_node("Identity", ["a"], {}, (1, 2, 3)), {"x": x})


def test_tables_without_onnxruntime(monkeypatch):
    """Functions that IEEE 754 defines need no onnxruntime, and others are refused without it."""
    import sys

    nodes = lambda kind, more=(): [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"]), helper.make_node(kind, ["d", *more], ["t"]),
                                   helper.make_node("QuantizeLinear", ["t", "sy", "zy"], ["y"])]
    constants = {"s": np.float32(0.03), "z": np.int8(5), "sy": np.float32(0.01), "zy": np.uint8(28), "c": np.float32(0.3), "e": np.float32(1.7)}
    for kind, more in [("Max", ("c", "e")), ("Min", ("e", "c")), ("Relu", ()), ("Clip", ("c", "e")), ("Clip", ("", "e")), ("Add", ("c",)), ("Div", ("c",)), ("Abs", ())]:
        model = model_of(nodes(kind, more), constants, (2, 8, 8), element=TensorProto.INT8)
        table = network.import_onnx(model).nodes[0].table
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "onnxruntime", None)
            assert np.array_equal(network.import_onnx(model).nodes[0].table, table), kind
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(weft.ArgumentError, match=r"pip install weft\[onnx\]"):
        network.import_onnx(model_of(nodes("Tanh"), constants, (2, 8, 8), element=TensorProto.INT8))
