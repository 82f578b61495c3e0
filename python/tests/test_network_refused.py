"""What cannot be imported: each model's sentence, and all of them at once. Files of graphs that are damaged."""
import hashlib
import json
import struct

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
import weft
from network_models import domain_of, model_of, one_node
from onnx import TensorProto, helper
from weft import network

W = np.ones((4, 3, 3, 3), np.int8)
CONV = {"w": W, "sw": np.float32(0.01), "zw": np.int8(0), "sy": np.float32(0.1), "zy": np.uint8(0)}
INPUTS = ["a", "s", "z", "w", "sw", "zw", "sy", "zy"]


def conv(inputs=INPUTS, constants=(), shape=(3, 6, 6), **attributes):
    return one_node("QLinearConv", inputs, {**CONV, **dict(constants)}, shape, **attributes)


def chain(*nodes, constants=(), outputs=("y",), shape=(3, 6, 6)):
    """Nodes (kind, inputs, output, attributes) behind a QuantizeLinear, which writes a, and a DequantizeLinear, which writes d."""
    made = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["a"]), helper.make_node("DequantizeLinear", ["a", "s", "z"], ["d"])]
    for kind, inputs, output, *more in nodes:
        made.append(helper.make_node(kind, inputs, [output], name=output, domain=domain_of(kind), **dict(*more)))
    values = {"s": np.float32(0.02), "z": np.uint8(7), "s2": np.float32(0.3), **CONV, **dict(constants)}
    return model_of(made, values, shape, outputs)


END = ("QuantizeLinear", ["f", "s", "z"], "y")
REFUSED = {
    "weights with another zero point": (lambda: conv(constants={"w": np.full((4, 3, 3, 3), 200, np.uint8), "zw": np.uint8(3)}),
                                        r"node \(QLinearConv\): its weights less their zero point are 197 to 197, and must be int8"),
    "weights that are computed": (lambda: chain(("QLinearConv", ["a", "s", "z", "a", "sw", "zw", "sy", "zy"], "y")),
                                  r"y \(QLinearConv\): its input a is computed by the model, and must be a constant"),
    "weights of floats": (lambda: chain(("Conv", ["d", "w2"], "f"), END, constants={"w2": W.astype(np.float32)}),
                          r"f \(Conv\): its weights are floats"),
    "scales along another axis": (lambda: chain(("DequantizeLinear", ["w", "sw3"], "w2", dict(axis=1)), ("Conv", ["d", "w2"], "f"), END,
                                                constants={"sw3": np.float32([0.1, 0.2, 0.3])}), "along axis 1, and not of output channels, axis 0"),
    "groups": (lambda: conv(group=2), "its 2 groups and weights .* do not fit 3 channels"),
    "a long window": (lambda: conv(shape=(3, 2, 6)), "its window has 3 rows and the padded image 2"),
    "one dimension": (lambda: conv(constants={"w": W[..., 0]}, kernel_shape=[3]), "its weights have 3 dimensions, not 4"),
    "an attribute": (lambda: one_node("QLinearGlobalAveragePool", ["a", "s", "z", "s", "z"], {}, (3, 6, 6), channels_last=1), "its channels are last"),
    "an unknown attribute": (lambda: conv(flavour=1), "its attribute flavour is not known here; auto_pad, "),
    "padding SAME with dilations": (lambda: conv(auto_pad="SAME_UPPER", dilations=[2, 2]), r"SAME_UPPER with dilations \(2, 2\)"),
    "negative pads": (lambda: conv(pads=[0, -1, 0, 0]), r"its pads \[0, -1, 0, 0\] are not four numbers from 0"),
    "an indefinite average": (lambda: one_node("QLinearAveragePool", ["a", "s", "z", "s", "z"], {}, (3, 6, 6), kernel_shape=[3, 3], strides=[2, 2],
                                               ceil_mode=1, count_include_pad=1), "its ceil_mode with count_include_pad"),
    "an average of strides": (lambda: one_node("MaxPool", ["a"], {}, (3, 6, 6), kernel_shape=[1, 1], strides=[3, 3], auto_pad="SAME_LOWER"),
                              "its auto_pad is SAME_LOWER with strides longer than its window"),
    "a kind": (lambda: chain(("Softmax", ["d"], "f"), END), r"f \(Softmax\): there is nothing that runs this kind of node"),
    "a domain": (lambda: model_of([helper.make_node("Own", ["x"], ["y"], domain="mine")], {}, (3, 6, 6)),
                 r"y \(Own\): its domain mine is none of ONNX and com.microsoft"),
    "a float output": (lambda: chain(("Sigmoid", ["d"], "y")), "output y: it is made of floats behind which there is no QuantizeLinear"),
    "floats behind a convolution": (lambda: chain(("DequantizeLinear", ["w", "sw"], "w2"), ("Conv", ["d", "w2"], "c"), ("HardSwish", ["c"], "f"), END),
                                    r"f \(HardSwish\): it reads the floats of c, behind which there is no QuantizeLinear"),
    "floats of the input": (lambda: model_of([helper.make_node("Relu", ["x"], ["y"])], {}, (3, 6, 6)),
                            r"y \(Relu\): it reads the floats of input x, behind which there is no QuantizeLinear"),
    "floats of two tensors": (lambda: chain(("DequantizeLinear", ["b", "s", "z"], "e"), ("Max", ["d", "e"], "f"), END,
                                            constants={"b": np.ones((1, 3, 6, 6), np.uint8)}), r"f \(Max\): its input e is a constant of 108 numbers"),
    "a sum of floats": (lambda: chain(("Relu", ["d"], "r"), ("QuantizeLinear", ["r", "s2", "z"], "b"), ("DequantizeLinear", ["b", "s2", "z"], "e"),
                                      ("Sub", ["d", "e"], "f"), END), "it computes floats of several tensors"),
    "an average of floats": (lambda: chain(("Sigmoid", ["d"], "e"), ("GlobalAveragePool", ["e"], "f"), END), "it reads floats, e, that more than Relu"),
    "another scale": (lambda: chain(("DequantizeLinear", ["a", "s2", "z"], "y")),
                      r"y \(DequantizeLinear\): it reads a as uint8 with scale 0.3.* and it was written as uint8 with scale 0.02"),
    "several scales": (lambda: chain(("QuantizeLinear", ["d", "sv", "z"], "y"), constants={"sv": np.float32([1, 2, 3])}),
                       "its input 1 is of 3 numbers, and one number is expected"),
    "a scale of 0": (lambda: chain(("QuantizeLinear", ["d", "s0", "z"], "y"), constants={"s0": np.float32(0)}), "its scale s0 is 0.0, and must be"),
    "another type": (lambda: chain(("QuantizeLinear", ["d", "s", "z16"], "y"), constants={"z16": np.uint16(0)}), "its integers are of uint16"),
    "channels": (lambda: one_node("QLinearConcat", ["s", "z", "a", "s", "z"], {}, (3, 6, 6), axis=2), "its axis is not 1; only channels"),
    "sizes": (lambda: chain(("MaxPool", ["a"], "b", dict(kernel_shape=[2, 2])), ("QLinearAdd", ["a", "s", "z", "b", "s", "z", "s", "z"], "y")),
              r"y \(QLinearAdd\): it adds tensors of shapes \(3, 6, 6\) and \(3, 5, 5\)"),
    "two types": (lambda: chain(("QuantizeLinear", ["d", "s", "zi"], "b"), ("QLinearAdd", ["a", "s", "z", "b", "s", "zi", "s", "z"], "y"),
                                constants={"zi": np.int8(0)}), "it reads and writes int8 and uint8 at once|y reads and writes int8 and uint8"),
    "a vector of constants": (lambda: one_node("QLinearMul", ["a", "s", "z", "c", "s", "z", "s", "z"], {"c": np.ones((3, 1, 1), np.uint8)}, (3, 6, 6)),
                              "one of its inputs is a constant of many numbers"),
    "a Transpose": (lambda: one_node("Transpose", ["a"], {}, (3, 6, 6), perm=[0, 2, 3, 1]), r"it reorders dimensions by \[0, 2, 3, 1\]"),
    "a Reshape into the batch": (lambda: one_node("Reshape", ["a", "n"], {"n": np.array([6, -1])}, (3, 6, 6)), "does not keep the batch in front"),
    "a Reshape between convolutions": (lambda: chain(("Reshape", ["a", "n"], "b"), ("QLinearConv", ["b", "s", "z", "w", "sw", "zw", "sy", "zy"], "y"),
                                                     constants={"n": np.array([0, 3, 4, 9])}), r"a Reshape of \(3, 6, 6\); only fully connected"),
    "a Flatten of the batch": (lambda: one_node("Flatten", ["a"], {}, (3, 6, 6), axis=0), "its axis is 0; only 1 keeps images apart"),
    "a Squeeze of all": (lambda: one_node("Squeeze", ["a"], {}, (3, 6, 6)), "it has no axes"),
    "a Resize by fractions": (lambda: one_node("Resize", ["a", "", "f"], {"f": np.float32([1, 1, 1.5, 2])}, (3, 6, 6), mode="nearest"),
                              r"it resizes channels, rows and columns by \[1.0, 1.5, 2.0\]"),
    "a linear Resize": (lambda: one_node("Resize", ["a", "", "f"], {"f": np.float32([1, 1, 2, 2])}, (3, 6, 6), mode="linear"), "its mode is linear"),
    "a Gemm of floats": (lambda: one_node("QGemm", ["a", "s", "z", "w", "s", "zw", ""], {"w": np.ones((5, 3), np.int8), "zw": np.int8(0)}, (3,), transB=1),
                         "it gives floats, as it has no y_scale"),
    "a Gemm with alpha": (lambda: one_node("QGemm", ["a", "s", "z", "w", "s", "zw", "", "s", "z"], {"w": np.ones((5, 3), np.int8), "zw": np.int8(0)}, (3,),
                                           alpha=2.0), "its alpha=2.0 and transA=0 are not 1 and 0"),
    "a product of matrices": (lambda: one_node("QLinearMatMul", ["a", "s", "z", "w", "s", "zw", "s", "z"], {"w": np.ones((6, 3), np.int8), "zw": np.int8(0)},
                                               (3, 6, 6)), "and is no fully connected layer"),
    "sums beyond int32": (lambda: conv([*INPUTS, "b"], {"b": np.full(4, 2**31 - 1, np.int32)}), "with which sums may leave the range of int32"),
    "a bias of floats": (lambda: conv([*INPUTS, "b"], {"b": np.ones(4, np.float32)}), r"its bias is of shape \(4,\) and float32"),
    "a bias of another scale": (lambda: chain(("DequantizeLinear", ["w", "sw"], "w2"), ("DequantizeLinear", ["b", "s"], "b2"),
                                              ("Conv", ["d", "w2", "b2"], "f"), END, constants={"b": np.ones(4, np.int32)}),
                                "the scale of its bias is not that of its input times that of its weights"),
    "a free size": (lambda: model_of([helper.make_node("Identity", ["x"], ["y"])], {}, (3, "h", 6)), "input x: its dimension 2 is 'h', and must be a number"),
    "five dimensions": (lambda: model_of([helper.make_node("Identity", ["x"], ["y"])], {}, (3, 2, 6, 6)), "input x: it has 5 dimensions"),
    "doubles": (lambda: model_of([helper.make_node("Identity", ["x"], ["y"])], {}, (3, 6, 6), element=TensorProto.DOUBLE), "input x: it is of DOUBLE"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, sentence = REFUSED[name]
    with pytest.raises(weft.ArgumentError, match="weft: one node or tensor of the model 'model' cannot run") as error:
        network.import_onnx(make())
    assert error.match(sentence)


MALFORMED = {
    "a short perm": lambda: one_node("Transpose", ["a"], {}, (3, 6, 6), perm=[0]),
    "a perm beyond": lambda: one_node("Transpose", ["a"], {}, (3, 6, 6), perm=[0, 1, 2, 7]),
    "axes of text": lambda: one_node("Squeeze", ["a", "t"], {"t": np.array(["one"])}, (3, 6, 6)),
    "sizes of nothing": lambda: one_node("Resize", ["a", "", "f"], {"f": np.float32([1, np.nan, 2, 2])}, (3, 6, 6), mode="nearest"),
    "an infinite factor": lambda: one_node("Resize", ["a", "", "f"], {"f": np.float32([1, 1, np.inf, 2])}, (3, 6, 6), mode="nearest"),
    "a scale of text": lambda: conv(constants={"sw": np.array(["one"])}),
    "an empty weight": lambda: conv(constants={"w": np.ones((0, 3, 3, 3), np.int8)}),
    "no inputs": lambda: model_of([helper.make_node("Concat", [], ["y"], axis=1)], {}, (3, 6, 6)),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name):
    """Whatever a model says against ONNX is a sentence, and no exception of Python's or numpy's."""
    with pytest.raises(weft.ArgumentError, match="weft: one node or tensor of the model 'model' cannot run"):
        network.import_onnx(MALFORMED[name]())


def test_all_at_once():
    """Every node that cannot run is named, those behind another as well if nothing runs their kind."""
    model = chain(("Softmax", ["d"], "f"), END, ("LpPool", ["y"], "g", dict(kernel_shape=[2, 2])), ("Transpose", ["a"], "t", dict(perm=[0, 2, 3, 1])),
                  outputs=("g", "t"))
    sentences = r"3 nodes or tensors of the model 'model' cannot run:\n  f \(Softmax\).*\n  g \(LpPool\).*\n  t \(Transpose\)"
    with pytest.raises(weft.ArgumentError, match=sentences):
        network.import_onnx(model)


def test_a_second_output():
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["a"]), helper.make_node("MaxPool", ["a"], ["y", "i"], kernel_shape=[2, 2])]
    constants = {"s": np.float32(0.02), "z": np.uint8(7)}
    assert network.import_onnx(model_of(nodes, constants, (3, 6, 6))).outputs == ["y"]
    with pytest.raises(weft.ArgumentError, match="its output i beyond the first is used"):
        network.import_onnx(model_of([*nodes, helper.make_node("Flatten", ["i"], ["j"])], constants, (3, 6, 6), outputs=("y", "j")))
    for kind, attributes in (("MaxPool", dict(kernel_shape=[2, 2])), ("Dropout", {})):  # an output of the model that no node reads
        second = helper.make_node(kind, ["a"], ["y", "i"], **attributes)
        with pytest.raises(weft.ArgumentError, match="its output i beyond the first is used"):
            network.import_onnx(model_of([nodes[0], second], constants, (3, 6, 6), outputs=("y", "i")))


def test_a_constant_in_another_file():
    """Of a model that was loaded without it."""
    value = onnx.TensorProto(name="elsewhere", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    value.external_data.add(key="location", value="weights.bin")
    nodes = [helper.make_node("Constant", [], ["s"], name="where", value=value), helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])]
    with pytest.raises(weft.ArgumentError, match=r"where \(Constant\): its value: "):
        network.import_onnx(model_of(nodes, {"z": np.uint8(7)}, (3, 6, 6)))


def test_no_model(tmp_path):
    for given in (b"WEFT", tmp_path / "none.onnx"):
        with pytest.raises(weft.ArgumentError):
            network.import_onnx(given)
    (tmp_path / "text.onnx").write_text("This is no model.")
    with pytest.raises(weft.ArgumentError, match="is no ONNX model|are no ONNX model"):
        weft.load(tmp_path / "text.onnx")
    with pytest.raises(weft.ArgumentError, match="none.weft: No such file"):
        weft.load(tmp_path / "none.weft")


def graph():
    return network.import_onnx(conv(pads=[1, 0, 2, 1], dilations=[2, 1], strides=[1, 2]))


def same(a, b):
    assert (a.name, a.tensors, a.inputs, a.outputs, len(a.nodes)) == (b.name, b.tensors, b.inputs, b.outputs, len(b.nodes))
    for p, q in zip(a.nodes, b.nodes):
        for key in vars(p):
            np.testing.assert_equal(getattr(p, key), getattr(q, key))


def test_file_round_trip(tmp_path):
    path = tmp_path / "model.weft"
    path.write_bytes(network.write_graph(graph()))
    same(network.load_graph(path), graph())
    assert path.stat().st_size % 64 == 0


def test_damaged_files():
    """Every byte that changes, and every length but the right one, is refused."""
    data = network.write_graph(graph())
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 + at % 255
        with pytest.raises(weft.ArgumentError):
            network.read_graph(changed)
    for length in (*range(130), *range(130, len(data), 50), len(data) - 1):
        with pytest.raises(weft.ArgumentError):
            network.read_graph(data[:length])
    with pytest.raises(weft.ArgumentError):
        network.read_graph(data + bytes(64))
    with pytest.raises(weft.ArgumentError, match="is of version 3, and this package reads versions 1 and 2"):
        network.read_graph(data[:8] + struct.pack("<I", 3) + data[12:])


def rewritten(change):
    """The file of a graph whose text was changed, with the right checksum."""
    data = network.write_graph(graph())
    size, constants = struct.unpack("<QQ", data[16:32])
    text = json.loads(data[128 : 128 + size])
    change(text)
    changed = json.dumps(text).encode().replace(b'"NESTED"', b"[" * 100000 + b"]" * 100000)
    changed += b" " * (-len(changed) % 64)
    behind = changed + data[128 + size :]
    return data[:16] + struct.pack("<QQ", len(changed), constants) + hashlib.sha256(behind).hexdigest().encode() + bytes(32) + behind


WRONG = {
    "a key": (lambda t: t["nodes"][1].update(colour=1), 'has "colour", which this version does not know'),
    "a kind": (lambda t: t["nodes"][1].update(kind="softmax"), 'kind is "softmax", which is none'),
    "a constant outside": (lambda t: t["nodes"][1].update(filter=[64, 10**9]), r'has filter in bytes 64 to 64 \+ 1000000000 of'),
    "a short filter": (lambda t: t["nodes"][1].update(filter=[0, 107]), 'has 107 bytes of filter; it takes'),
    "another filter": (lambda t: t["nodes"][1].update(filter=[0, 36]), 'has 36 bytes of filter; it takes'),
    "an order": (lambda t: t["nodes"].reverse(), 'which no input and no node before it makes'),
    "a shape": (lambda t: t["tensors"][2].update(shape=[4, 1, 1]), r'of shape \(4, 1, 1\); it makes'),
    "a zero point": (lambda t: t["tensors"][1].update(zero_point=256), 'zero_point=256; uint8 takes 0 to 255'),
    "a zero point of a fraction": (lambda t: t["tensors"][1].update(zero_point=7.5), 'zero_point is no number of its kind'),
    "a zero point of text": (lambda t: t["tensors"][1].update(zero_point="7"), 'zero_point is no number of its kind'),
    "a scale of floats": (lambda t: t["tensors"][0].update(scale=2.0), 'has floats and scale=2'),
    "a scale beyond floats": (lambda t: t["tensors"][1].update(scale=10**400), 'scale|JSON'),
    "many elements": (lambda t: t["tensors"][0].update(shape=[2**20, 2**20, 1]), r"with at most 2\^31 - 1 elements"),
    "nested lists": (lambda t: t.update(name="NESTED"), 'has lists in lists'),
    "an empty name": (lambda t: t["nodes"][1].update(name=""), 'a node is called ""; give each a name of its own'),
    "two nodes of one name": (lambda t: t["nodes"][1].update(name=t["nodes"][0]["name"]), 'give each a name of its own'),
    "an input as output": (lambda t: t["outputs"].append("x"), 'is a tensor that no node makes, or stands there twice'),
    "an output twice": (lambda t: t["outputs"].append(t["outputs"][0]), 'is a tensor that no node makes, or stands there twice'),
    "a window of another kind": (lambda t: t["nodes"][0].update(window=[3, 3]), 'has window, which it does not read'),
    "groups of another kind": (lambda t: t["nodes"][0].update(groups=3), 'has groups, which it does not read'),
    "factors of another kind": (lambda t: t["nodes"][1].update(factors=[2, 2]), 'has factors, which it does not read'),
    "a bias of another kind": (lambda t: t["nodes"][0].update(bias=[0, 16]), 'has bias, which it does not read'),
    "padding that counts": (lambda t: t["nodes"][1].update(count_padding=True), 'has count_padding, which it does not read'),
    "a flag": (lambda t: t["nodes"][1].update(count_padding=0), 'count_padding is neither true nor false'),
    "a scale": (lambda t: t["tensors"][1].update(scale=-1), 'has scale=-1; give'),
    "a number": (lambda t: t["nodes"][1].update(groups="two"), 'groups is no number of its kind'),
    "a window": (lambda t: t["nodes"][1].update(window=[3]), 'window is not 2 integers'),
    "a name": (lambda t: t["nodes"][1].update(inputs=[["x"]]), r'inputs has \[\"x\"\], which no tensor is called'),
    "two tensors": (lambda t: t["tensors"].append(t["tensors"][0]), 'two tensors are called'),
    "no outputs": (lambda t: t.update(outputs=[]), 'has 1 inputs and 0 outputs'),
    "no tensors": (lambda t: t.pop("tensors"), 'inputs has "x", which no tensor is called'),
    "an element": (lambda t: t["tensors"][0].update(element="double"), 'element is "double", which is none'),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_texts(name):
    change, sentence = WRONG[name]
    same(network.read_graph(rewritten(lambda t: None)), graph())
    with pytest.raises(weft.ArgumentError, match=sentence):
        network.read_graph(rewritten(change))


def by_hand(change):
    made = graph()
    change(made, made.nodes[1], made.tensors[made.nodes[0].output])
    return made


HAND_MADE = {
    "floats as weights": (lambda g, n, t: setattr(n, "filter", n.filter.astype(np.float32)), r"its filter is of float32, and int8 is expected"),
    "a list as weights": (lambda g, n, t: setattr(n, "filter", n.filter.tolist()), r"its filter is of list, and int8 is expected"),
    "weights of another order": (lambda g, n, t: setattr(n, "filter", n.filter.transpose(1, 0, 2, 3)), r"its filter has shape \(3, 4, 3, 3\), and not \(4, 3, 3, 3\)"),
    "too few weights": (lambda g, n, t: setattr(n, "filter", n.filter[:2]), "its filter has shape"),
    "no weights": (lambda g, n, t: setattr(n, "filter", None), "0 bytes of filter; it takes 108"),
    "a scale that is no number": (lambda g, n, t: setattr(t, "scale", float("nan")), "scale=nan is not a finite number"),
    "a scale of text": (lambda g, n, t: setattr(t, "scale", "one"), "the graph has what no file of one has"),
    "another name": (lambda g, n, t: setattr(t, "name", "other"), "tensor 'other' is kept as 'a'"),
    "an object": (lambda g, n, t: setattr(n, "stride", object()), "a object, where a number, a text or a list is expected"),
    "an unknown input": (lambda g, n, t: setattr(n, "inputs", ["none"]), 'inputs has "none", which no tensor is called'),
}


@pytest.mark.parametrize("name", HAND_MADE)
def test_graphs_by_hand(name):
    change, sentence = HAND_MADE[name]
    with pytest.raises(weft.ArgumentError, match=sentence):
        network.write_graph(by_hand(change))
    numbers = by_hand(lambda g, n, t: (setattr(t, "zero_point", np.int64(t.zero_point)), setattr(n, "stride", tuple(np.int32(s) for s in n.stride))))
    assert network.write_graph(numbers) == network.write_graph(graph())


def test_reference_inputs():
    made = graph()
    for inputs, error in (({}, weft.ArgumentError), ({"x": np.zeros((1, 3, 6, 6))}, weft.ArgumentTypeError),
                          ({"x": np.zeros((1, 3, 6, 5), np.float32)}, weft.ArgumentError)):
        with pytest.raises(error, match="x"):
            network.run_reference(made, inputs)
