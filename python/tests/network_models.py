"""Models of a few nodes, for tests."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from weft.network._compare import onnxruntime_saturates


def domain_of(kind):
    return "com.microsoft" if kind.startswith("QLinear") and kind not in ("QLinearConv", "QLinearMatMul") or kind == "QGemm" else ""


def model_of(nodes, constants, shape, outputs=("y",), opset=17, element=TensorProto.FLOAT):
    """A model of x, (n, *shape)."""
    x = helper.make_tensor_value_info("x", element, ["n", *shape])
    graph = helper.make_graph(nodes, "model", [x], [onnx.ValueInfoProto(name=name) for name in outputs],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 8
    return model


def one_node(kind, inputs, constants, shape, element="uint8", opset=17, **attributes):
    """A model that quantizes x to a, with scale s and zero point z, and runs one node, which writes y."""
    values = {"s": np.float32(0.02), "z": np.array(7, element), **constants}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["a"]),
             helper.make_node(kind, inputs, ["y"], name="node", domain=domain_of(kind), **attributes)]
    return model_of(nodes, values, shape, opset=opset)


def exact_by_onnxruntime(model):
    """The model itself, or where onnxruntime's sums saturate one whose filters of int8 are within -32 to 32: four of their products fit in 16 bits."""
    if not onnxruntime_saturates():
        return model
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for constant in made.graph.initializer:
        if constant.data_type == TensorProto.INT8 and len(constant.dims) > 1:
            constant.CopyFrom(numpy_helper.from_array(np.clip(numpy_helper.to_array(constant), -32, 32), constant.name))
    return made
