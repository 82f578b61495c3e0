"""What is refused: each an exception of ours whose sentence names the argument and what would be accepted."""
import contextlib
import importlib.util
import re
import sys
import types
import unittest.mock

import numpy as np
import pytest

import weft
from weft import _weft

OP = None


def op():
    global OP
    OP = OP or weft.Conv2d("n1c32h4w4k32r1s1p0", "nc32")
    return OP


def arguments(**changed):
    good = dict(x=weft.empty(op().src_shape, np.int8), w=op().pack(np.zeros((32, 32, 1, 1), np.int8)), bias=np.zeros(32, np.float32),
                out=weft.empty(op().dst_shape, np.int8))
    return {**good, **changed}


def read_only():
    out = weft.empty(op().dst_shape, np.int8)
    out.flags.writeable = False
    return out


def shifted(array):
    memory = weft.empty(array.size + 1, array.dtype)
    return memory[1:].reshape(array.shape)


CALLS = [
    (lambda: dict(x=np.zeros(op().src_shape, np.float32)), TypeError, "x.dtype=float32 is not int8"),
    (lambda: dict(x=np.zeros(op().src_shape, bool)), TypeError, "x.dtype=bool is not int8"),
    (lambda: dict(x=[1, 2]), TypeError, "x is a list; give an array"),
    (lambda: dict(x=None), TypeError, "x is a NoneType; give an array"),
    (lambda: dict(x=np.zeros((1, 32, 4, 4), np.int8)), ValueError, "x.shape=(1, 32, 4, 4) is not (1, 1, 4, 4, 32)"),
    (lambda: dict(x=np.zeros((0,), np.int8)), ValueError, "x.shape=(0,) is not"),
    (lambda: dict(x=np.zeros((1, 1, 4, 4, 64), np.int8)[..., ::2]), ValueError, "x has gaps"),
    (lambda: dict(x=shifted(np.zeros(op().src_shape, np.int8))), ValueError, "aligned"),
    (lambda: dict(w=np.zeros((32, 32, 1, 1), np.int8)), ValueError, "op.pack(w) makes it"),
    (lambda: dict(w=shifted(op().pack(np.zeros((32, 32, 1, 1), np.int8)))), ValueError, "conv: w=0x"),
    (lambda: dict(bias=None), ValueError, "bias is missing"),
    (lambda: dict(bias=np.zeros(32)), TypeError, "bias.dtype=float64 is not float32"),
    (lambda: dict(bias=np.zeros(31, np.float32)), ValueError, "bias.shape=(31,) is not (32,)"),
    (lambda: dict(residual=np.zeros(3, np.int8)), ValueError, "no stage of this epilogue reads it"),
    (lambda: dict(out=read_only()), ValueError, "out is read-only"),
    (lambda: dict(out=np.zeros(op().dst_shape, np.uint8)), TypeError, "out.dtype=uint8 is not int8"),
    (lambda: dict(alpha=float("nan")), ValueError, "alpha"),
    (lambda: dict(alpha="much"), TypeError, "alpha is a str"),
    (lambda: dict(output_scale=2.0), ValueError, "output_scale"),
    (lambda: dict(beta="a"), TypeError, "beta='a' is no number of float32"),
    (lambda: dict(gamma=None), TypeError, "gamma=None is no number of float32"),
    (lambda: dict(zero_point=np.zeros(3)), TypeError, "zero_point=array([0., 0., 0.]) is no number of float32"),
    (lambda: dict(beta=float("inf")), ValueError, "conv: beta is infinite"),
    (lambda: dict(betta=1), TypeError, "a call has no argument betta; it has x, w, bias"),
]


@pytest.mark.parametrize("changed, kind, sentence", CALLS)
def test_call(changed, kind, sentence):
    given = arguments(**changed())
    x, w = given.pop("x"), given.pop("w")
    with pytest.raises(weft.Error, match=re.escape(sentence)) as caught:
        op()(x, w, **given)
    assert isinstance(caught.value, kind)


def test_output_over_the_input():
    given = arguments()
    with pytest.raises(weft.Error, match="overlap"):
        op()(given["x"], given["w"], bias=given["bias"], out=given["x"])


def reference(problem="n1c4h4w4k8r3s1p1", x=np.zeros((1, 4, 4, 4), np.int8), w=np.zeros((8, 4, 3, 3), np.int8), **arguments):
    return weft.reference(problem, x, w, **arguments)


REFERENCES = [
    (lambda: reference(x=np.zeros((1, 4, 4, 4))), "x.dtype=float64 is no type of integers"),
    (lambda: reference(x=np.zeros((1, 4, 4), int)), "x.shape=(1, 4, 4) is not (1, 4, 4, 4), NCHW of n1c4"),
    (lambda: reference(w=np.zeros((8, 4, 3, 3), np.float32)), "w.dtype=float32 is no type of integers"),
    (lambda: reference(w=np.zeros((2, 8, 4, 3, 3), int)), "w.shape=(2, 8, 4, 3, 3) is not (8, 4, 3, 3), KCRS"),
    (lambda: reference("n1c4h4w4k8r3s0p1"), "conv: stride_h=0"),
    (lambda: reference("n1c4h4w4k8r9s1p1"), "conv: r=9 with dilation_h=1 spans 9 rows"),
    (lambda: reference(bias=np.zeros(4)), "bias.shape=(4,) is not (8,); give one for each output channel"),
    (lambda: reference(bias="b"), "bias='b' is no number"),
    (lambda: reference(sum_bias=np.zeros(8)), "sum_bias.dtype=float64 is no type of integers"),
    (lambda: reference(sum_bias=np.zeros(3, int)), "sum_bias.shape=(3,) is not (8,)"),
    (lambda: reference(residual=np.zeros(8)), "residual.shape=(8,) is not (1, 8, 4, 4)"),
    (lambda: reference(alpha=np.ones(4)), "alpha.shape=(4,) is not (8,); give a number, or one for each output channel"),
    (lambda: reference(beta="a"), "beta='a' is no number"),
    (lambda: reference(gamma=[1, 2]), "gamma.shape=(2,) is not ()"),
    (lambda: reference(output_scale=0), "output_scale=0 is not a finite number above 0"),
    (lambda: reference(activation="relu"), "activation='relu' is no function"),
    (lambda: reference(activation=np.sum), "activation(t).shape=() is not (1, 8, 4, 4)"),
    (lambda: reference(dtype="bfloat16"), "dtype='bfloat16' is none of int8"),
    (lambda: reference(dtype="int32", bias=np.zeros(8)), "bias is given, and dtype=int32 is the sums as they are"),
    (lambda: reference(source_zero_point=0.5), "source_zero_point=0.5 is no whole number"),
    (lambda: weft.reference_transposed(TRANSPOSED, X[:, :3], W), "x.shape=(1, 3, 4, 4) is not (1, 32, 4, 4)"),
    (lambda: weft.reference_transposed(TRANSPOSED, X, W[:3]), "w.shape=(3, 32, 3, 3) is not (32, 32, 3, 3), CKRS"),
    (lambda: weft.reference_transposed(TRANSPOSED, X, W, 1.5), "output_padding=1.5 is neither"),
    (lambda: weft.reference_transposed(TRANSPOSED, X, W, 2), "output_padding[0]=2 is not below stride_h=2"),
    (lambda: weft.reference_transposed(TRANSPOSED + "g2", X, W), "a transposed convolution has neither groups"),
]
TRANSPOSED, X, W = "n1c32h4w4k32r3s2p1", np.zeros((1, 32, 4, 4), np.int8), np.zeros((32, 32, 3, 3), np.int8)
MADE = [
    (lambda: weft.Conv2d("n1c64"), "h"),
    (lambda: weft.Conv2d(dict(chanels=3)), "problem has no field chanels"),
    (lambda: weft.Conv2d(dict(c=1.5)), "problem.c=1.5 is no whole number"),
    (lambda: weft.Conv2d(7), "problem is a int"),
    (lambda: weft.problem_of(dict(c="3")), "problem.c='3' is no whole number"),
    (lambda: weft.problem_of(dict(c="\u00e9" * 50)), "problem.c='" + "\u00e9" * 29 + "... is no whole number"),  # of 2 bytes each, none of which is cut
    (lambda: weft.problem_of(dict(c=2**63)), "problem.c=9223372036854775808 is no whole number of 64 bits"),
    (lambda: weft.problem_of(dict(flipped=3)), "problem.flipped=3 is neither True nor False"),
    (lambda: weft.Problem(3), "name=3 is no text"),
    (lambda: weft.ConvTranspose2d(TRANSPOSED, output_padding=0.5), "output_padding=0.5 is neither a whole number nor two of them"),
    (lambda: weft.ConvTranspose2d(TRANSPOSED, output_padding=(1, 0.5)), "output_padding=(1, 0.5) is neither"),
    (lambda: weft.ConvTranspose2d(TRANSPOSED, output_padding=(1, 0, 1)), "output_padding=(1, 0, 1) is neither"),
    (lambda: weft.ConvTranspose2d(TRANSPOSED, output_padding=(1, 2)), "output_padding[1]=2 is not below stride_w=2"),
    (lambda: weft.Gemm(4, 2.5, 8), "n=2.5 is no whole number"),
    (lambda: weft.Gemm(4, 4, 6), "k=6 is not a multiple of 4"),
    (lambda: weft.Depthwise("n1c7h4w4k7r3s1p1", "nhwc"),
     'k=7 is not a multiple of 4, the channels of one 4-byte store to NHWC; pad k, or use dst="nc4"'),
    (lambda: weft.Depthwise("n1c24h4w4k24r3s1p1g2", "nc4"), "set groups to c, or use weft.Conv2d"),
    (lambda: weft.Conv2d("n1c6h4w4k8r3s1p1", "nhwc"), 'pad c to 8 with zeros, in x and w, or use layout="nc32" or "nc4"'),
    (lambda: weft.Conv2d("n1c24h4w4k24r3s1p1g2", "nhwc", prologue="shared"), 'use prologue="grouped"'),
    (lambda: weft.Conv2d("n1c32h4w4k32r3s1p1", tile="Nope"), "tile='Nope' is no name of a tile"),
    (lambda: weft.Conv2d("n1c32h4w4k32r3s1p1", "nc4", tile="Mma128x64"), "tile='Mma128x64' does not read layout='nc4'"),
    (lambda: weft.Conv2d("n1c32h4w4k32r1s1", source_zero_point=0.5), "source_zero_point=0.5 is no whole number"),
    (lambda: weft.Conv2d("n1c32h4w4k32r1s1", source_zero_point=128), "source_zero_point=128 is no value of x; give one from -128 to 127"),
    (lambda: weft.Conv2d("n1c32h4w4k32r1s1", prologue="per_sample", source_zero_point=1), "source_zero_point goes with one filter for all images and pixels"),
    (lambda: weft.Operator("struct A : weft::conv::S8Conv4<> {};", "n1c8h4w4k8r1s1", source_zero_point=1), "has no stage SourceZeroPoint"),
    (lambda: weft.Operator(3, "n1c8h4w4k8r1s1"), "source has 3, which is no text"),
    (lambda: weft.Operator("", "n1c8h4w4k8r1s1", values=[3]), "values has 3, which is no text"),
    (lambda: weft.Operator("struct A {};", "n1c8h4w4k8r1s1", values=["a b"]), 'rtc: values has "a b"'),
    (lambda: weft.Operator("struct A : weft::conv::S8Conv4<> {};", "n1c8h4w4k8r1s1", policy="B"), "rtc: policy=B names no type"),
    (lambda: weft.Conv2d("n1c8h4w4k8r1s1", "nchw"), "layout='nchw' is none of"),
    (lambda: weft.Conv2d("n1c8h4w4k8r1s1", "nc64"), "layout='nc64' is none of"),
    (lambda: weft.Conv2d("n1c8h4w4k7r1s1", "nc4", dst="nhwc"), 'k=7 is not a multiple of 4, the channels of one 4-byte store to NHWC; pad k'),
    (lambda: weft.Conv2d("n1c8h4w4k8r1s1", epilogue="bias_relux"), "epilogue='bias_relux' is none of"),
    (lambda: weft.Conv2d("n1c8h4w4k8r1s1", tile="a b"), "tile='a b' is no name of a tile"),
    (lambda: weft.Conv2d("n1c8h4w4k8r1s1", dst_dtype="int7"), "dtype='int7' is none of"),
    (lambda: weft.Conv2d("n1c8h4w4k8r1s1", epilogue=weft.Epilogue(), dst_dtype="int32"), 'give weft.Epilogue(bias="sum")'),
    (lambda: weft.Gemm(4, 4, 8, dst_dtype="int32"), 'give weft.Epilogue(bias="sum")'),
    (lambda: weft.Conv2d("n1c8h4w4k8r1s1", epilogue="qlinear", dst_dtype="float32"), "round_first is for an output of int8 or uint8"),
    (lambda: weft.Epilogue(bias="float64"), """bias='float64' is none of "float32", "int32", "sum\""""),
    (lambda: weft.Epilogue("int x {};"), "defines no struct"),
    (lambda: weft.Operator("struct {", "n1c8h4w4k8r1s1"), "defines no type"),
    (lambda: weft.Operator("struct A { constexpr float f() { return y; } };", "n1c8h4w4k8r1s1"), "operator:1:"),
    (lambda: weft.Conv2d("n1c32h4w4k32r1s1", epilogue="struct A { float operator()(float x) const { return x; } };"), "not constexpr"),
    (lambda: weft.Conv2d("n1c32h4w4k32r1s1", epilogue="struct A {\n float operator()(float x) const { return std::exp(x); } };"),
     "line 2 of the source calls std::exp, which NVRTC does not have; weft::epilogues has Sigmoid"),
    (lambda: weft.Conv2d("n1c32h4w4k32r1s1", epilogue="struct alignas(32) A { constexpr float operator()(float x) const { return x; } };"),
     "weft: a functor of this policy is aligned to more than 16 bytes"),
    (lambda: op().pack(np.zeros((3, 3, 1, 1), np.int8)), "w.shape=(3, 3, 1, 1) is not (32, 32, 1, 1)"),
    (lambda: op().pack(np.zeros((32, 32, 1, 1), np.float32)), "w.dtype=float32 is not int8"),
    (lambda: op().pack([1, 2]), "w is a list; give an array"),
    (lambda: weft.Gemm(4, 4, 8).pack(np.zeros((4, 8), np.int8)), "b.shape=(4, 8) is not (8, 4), k and n"),
    (lambda: weft.to_layout(np.zeros((1, 2, 3)), "nhwc"), "3 dimensions"),
    (lambda: weft.to_layout(np.zeros((1, 2, 3, 4)), "abc"), "layout='abc' is none of"),
]


@pytest.mark.parametrize("make, sentence", [*MADE, *REFERENCES])
def test_made(make, sentence):
    with pytest.raises(weft.Error, match=re.escape(sentence)):
        make()


def test_experts():
    mixing = weft.CondConv("n2c32h4w4k32r1s1p0")
    experts, routing = np.zeros((3, 32, 32, 1, 1), np.int8), np.zeros((2, 3), np.float32)
    packed, scale = mixing.pack(experts), np.zeros((3, 32), np.float32)
    for given, sentence in [((experts, routing), "experts.shape=(3, 32, 32, 1, 1) is not (3, 1, 1, 1, 32, 32), experts and one packed filter of each; op.pack"),
                            ((packed.astype(np.int16), routing), "experts.dtype=int16 is not int8"),
                            ((packed[:0], routing), "experts.shape=(0, 1, 1, 1, 32, 32) is not (1,"),
                            (([1], routing), "experts is a list; give an array"),
                            ((packed, routing.astype(np.float64)), "routing.dtype=float64 is not float32"),
                            ((packed, routing[:1]), "routing.shape=(1, 3) is not (2, 3), images and experts"),
                            ((packed, [0.5]), "routing is a list; give an array"),
                            ((packed, FakeTensor(routing, "cuda")), "routing is an array of "),
                            ((packed, routing, scale.astype(np.float16)), "expert_scale.dtype=float16 is not float32"),
                            ((packed, routing, scale[:, 1:]), "expert_scale.shape=(3, 31) is not (3, 32), experts and output channels")]:
        with pytest.raises(weft.Error, match=re.escape(sentence)):
            mixing(weft.empty(mixing.src_shape, np.int8), *given[:2], expert_scale=dict(enumerate(given)).get(2))
    for bad, sentence in [(experts[0], "experts.shape=(32, 32, 1, 1) is not (32, 32, 32, 1, 1)"), (experts.astype(int), "experts.dtype=int64 is not int8"),
                          ([1], "experts is a list")]:
        with pytest.raises(weft.Error, match=re.escape(sentence)):
            mixing.pack(bad)


def test_functions_of_torch(monkeypatch):
    if importlib.util.find_spec("torch") is None:  # weft.torch can be imported all the same
        monkeypatch.setitem(sys.modules, "torch", unittest.mock.MagicMock())
        monkeypatch.setitem(sys.modules, "weft.torch", None)
        del sys.modules["weft.torch"]
    function = importlib.import_module("weft.torch").function
    with pytest.raises(weft.ArgumentTypeError, match="op is a CondConv, which has no operator of torch; give weft.Conv2d"):
        function(weft.CondConv("n2c32h4w4k32r1s1p0"))
    with pytest.raises(weft.ArgumentTypeError, match="op is a str; give a weft.Operator"):
        function("op")


def test_arguments_without_a_name():
    with pytest.raises(weft.ArgumentTypeError, match="w is a NoneType"):
        op()(arguments()["x"])
    with pytest.raises(weft.ArgumentTypeError, match="the call has 3 arguments without a name"):
        op()(arguments()["x"], arguments()["w"], arguments()["bias"])


def test_values():
    with pytest.raises(weft.Error, match="no functor of the policy has a member speed"):
        op().speed = 1.0
    with pytest.raises(AttributeError, match="no attribute speed"):
        op().speed


def test_no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/g++")
    with pytest.raises(weft.Error, match="/nowhere/g"):
        other = weft.Conv2d("n1c32h1w1k32r1s1", epilogue="bias_identity", tile="Mma64x64")  # of NVRTC, where there is one
        other(weft.empty(other.src_shape, np.int8), other.pack(np.zeros((32, 32, 1, 1), np.int8)), bias=np.zeros(32, np.float32))


@pytest.mark.parametrize("changed", [dict(data=(1,)), dict(typestr=3), dict(shape=None), dict(typestr="<")])
def test_malformed_cuda_array_interface(changed):
    class Array:
        __cuda_array_interface__ = {**dict(shape=(1, 1, 4, 4, 32), typestr="|i1", data=(1 << 20, False), version=3), **changed}

    with pytest.raises(weft.Error, match="x.__cuda_array_interface__ is no dictionary"):
        op()(Array(), op().pack(np.zeros((32, 32, 1, 1), np.int8)))


def test_memory_of_a_gpu_beside_memory_of_the_host():
    class Array:
        __cuda_array_interface__ = dict(shape=(1, 1, 4, 4, 32), typestr="|i1", data=(1 << 20, False), version=3)

    with pytest.raises(weft.Error, match="w is in host memory and x on GPU 0"):
        op()(Array(), op().pack(np.zeros((32, 32, 1, 1), np.int8)))


class FakeTensor:
    """What is read of a tensor of torch, over an array of numpy, or over an address of a GPU's that nobody reads."""

    __module__ = "torch"

    def __init__(self, array, kind="cpu"):
        self.array, self.shape, self.dtype = array, array.shape, f"torch.{array.dtype}"
        self.device, self.is_cpu, self.is_cuda = f"{kind}:0", kind == "cpu", kind == "cuda"

    def get_device(self):
        return 0

    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def data_ptr(self):
        return self.array.ctypes.data


def test_tensors_of_torch_are_read_where_they_lie():
    given = {name: FakeTensor(array) for name, array in arguments().items()}
    given["out"].array[...] = 99
    assert op()(given.pop("x"), given.pop("w"), **given) is given["out"]
    assert not given["out"].array.any()
    with pytest.raises(weft.Error, match="x has gaps"):
        op()(FakeTensor(np.zeros((1, 1, 4, 4, 64), np.int8)[..., ::2]), FakeTensor(arguments()["w"]))
    with pytest.raises(weft.Error, match="x is on device xpu"):
        op()(FakeTensor(arguments()["x"], "xpu"), FakeTensor(arguments()["w"]))


@pytest.mark.skipif(_weft.gpu().startswith("compute capability"), reason="there is a GPU, which would be given these addresses")
def test_without_a_gpu_its_arrays_are_refused_by_the_driver(monkeypatch):
    cuda = types.SimpleNamespace(device=contextlib.nullcontext, current_stream=lambda device: types.SimpleNamespace(cuda_stream=7))
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    given = {name: FakeTensor(array, "cuda") for name, array in arguments().items()}
    with pytest.raises(weft.RunError, match="no usable GPU"):
        op()(given.pop("x"), given.pop("w"), **given)
    with pytest.raises(weft.RunError, match="no usable GPU"):
        op().prepare()


def test_a_stream_for_host_memory():
    given = arguments()
    with pytest.raises(weft.Error, match="stream is given, and x is in host memory"):
        op()(given.pop("x"), given.pop("w"), stream=0, **given)


def test_a_stride_of_zero():
    with pytest.raises(weft.Error, match="stride_h=0"):
        weft.Conv2d("n1c32h4w4k32r1s0p0", "nc32")
    with pytest.raises(weft.Error, match="stride_h=0"):
        weft.Conv2d(dict(n=1, c=32, hw=4, k=32, rs=1, stride=0), "nc32")


def test_values_of_another_kind():
    of_table = weft.Conv2d("n1c4h4w4k8r1s1p0", "nc4", epilogue=weft.Epilogue("""struct A {
      const float* t = nullptr;
      float scale = 1.0f, many[3] = {};
      constexpr float operator()(float x) const { return scale * x * t[0]; }
    };""", dtype="float32"))
    x, w = weft.empty(of_table.src_shape, np.int8), of_table.pack(np.ones((8, 4, 1, 1), np.int8))
    with pytest.raises(weft.Error, match="t of a functor has no address; set op.t to 8 numbers"):
        of_table(x, w, bias=np.zeros(8, np.float32))
    for name, value, sentence in [("t", 3, "t is not a number but an address; set it to an array of float32"),
                                  ("t", "a", "t is a str; give an array"),
                                  ("t", np.zeros(3, np.float32), "t.shape=(3,) is not (8,)"),
                                  ("scale", np.zeros(3), "scale is not an address but a number; set it to one"),
                                  ("scale", "a", "scale is not an address but a number; set it to one"),
                                  ("many", 1, "many is not a number but an array, which cannot be set by name"),
                                  (3, 1, "name=3 is no text")]:
        with pytest.raises(weft.Error, match=re.escape(sentence)):
            of_table.set(name, value)
    with pytest.raises(weft.Error, match="t is not a number but an address; set it to an array"):
        of_table.t
    with pytest.raises(weft.Error, match="name=3 is no text"):
        of_table.get(3)


def test_names_that_the_operator_has_itself():
    for name in ("get", "pack", "problem", "src_shape"):
        with pytest.raises(weft.Error, match=f"op.{name} is the operator's own"):
            setattr(op(), name, 3)


def test_alpha_that_is_no_number():
    given = arguments()
    for alpha in (10**400, np.array("a"), np.array(1j)):
        given["alpha"] = alpha
        with pytest.raises(weft.Error, match="alpha"):
            op()(given["x"], given["w"], **{name: value for name, value in given.items() if name not in ("x", "w")})
