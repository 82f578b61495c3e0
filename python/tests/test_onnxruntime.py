"""The epilogue qlinear against QLinearConv of onnxruntime, where that is installed: no bit differs."""
import numpy as np
import pytest

import weft
from weft.network._compare import onnxruntime_saturates

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def qlinear_conv(x, groups, **initializers):
    """What onnxruntime makes of one node: a filter of 3 x 3, padding 1, strides 2 and 1."""
    node = onnx.helper.make_node("QLinearConv", ["x", *initializers], ["y"], pads=[1] * 4, strides=[2, 1], group=groups)
    dtype = onnx.helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = onnx.helper.make_graph([node], "node", [onnx.helper.make_tensor_value_info("x", dtype, x.shape)],
                                   [onnx.helper.make_tensor_value_info("y", dtype, None)],
                                   [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in initializers.items()])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


@pytest.mark.parametrize("dtype, groups", [("uint8", 1), ("int8", 1), ("uint8", 2)])
def test_qlinear(dtype, groups):
    rng, limits, c, k = np.random.default_rng(8), np.iinfo(dtype), 8 * groups, 12 * groups
    x = rng.integers(limits.min, limits.max + 1, (2, c, 9, 7)).astype(dtype)
    most = 32 if onnxruntime_saturates() else 127
    w, bias = rng.integers(-most, most + 1, (k, c // groups, 3, 3)).astype(np.int8), rng.integers(-5000, 5000, k).astype(np.int32)
    sx, sw, sy, zx = np.float32(0.031), rng.uniform(0.001, 0.02, k).astype(np.float32), np.float32(0.9), x[0, 0, 0, 0]
    want = qlinear_conv(x, groups, sx=sx, zx=zx, w=w, sw=sw, zw=np.zeros(k, np.int8), sy=sy, zy=x.dtype.type(11), b=bias)
    problem = dict(n=2, c=c, h=9, w=7, k=k, rs=3, stride_h=2, padding=1, groups=groups)
    op = weft.Conv2d(problem, "nc4", dtype=dtype, epilogue="qlinear", source_zero_point=zx)
    y = op(weft.to_layout(x, "nc4"), op.pack(w), bias=bias, alpha=sx * sw / sy, zero_point=11)
    np.testing.assert_array_equal(weft.from_layout(y, "nc4", k), want)
