"""Operators against the plain reference, exactly. Each operator costs a compilation, so all tests share these few."""
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft
from weft import _nvrtc


def relu(t):
    return np.maximum(t, np.float32(0))


MINE = """struct Mine {
  float scale = 1.0f;
  constexpr float operator()(float x) const { return x > 0.0f ? weft::epilogues::Mul(scale, x) : 0.0f; }
};"""
# name: class, its arguments, layouts of x and of the output, the activation as numpy says it, arguments of a call
CASES = {
    "nc32": (weft.Conv2d, dict(layout="nc32"), "nc32", relu, {}),
    "residual": (weft.Conv2d, dict(layout="nc4", dst="nc32", epilogue="residual_bias_relu"), "nc32", relu, dict(gamma=0.5)),
    "nhwc_to_floats": (weft.Conv2d, dict(layout="nhwc", dst="nchw", dst_dtype="float32", dtype="uint8"), "nchw", relu, {}),
    "own": (weft.Conv2d, dict(layout="nc32", epilogue=weft.Epilogue(MINE), tile="Wgmma112x64"), "nc32",
            lambda t: np.where(t > 0, np.float32(0.5) * t, np.float32(0)), dict(output_scale=0.25)),
    "depthwise": (weft.Depthwise, dict(layout="nc32", source_zero_point=-7), "nc32", relu, {}),
    "qlinear": (weft.Conv2d, dict(layout="nc4", dtype="uint8", epilogue="qlinear", source_zero_point=117), "nc4", None, dict(zero_point=9)),
    "wgmma": (weft.Conv2d, dict(layout="nc32", tile="Wgmma112x64", epilogue="bias_identity", source_zero_point=-128), "nc32", None, {}),
    "sums": (weft.Conv2d, dict(layout="nhwc", epilogue=weft.Epilogue(bias="sum"), dst_dtype="int32", source_zero_point=5), "nhwc", None, {}),
}


def run_case(name, problem, seed):
    """One problem of a case, with random numbers of all the range, compared with the reference."""
    make, arguments, dst, activation, numbers = CASES[name]
    op = make(problem, **arguments)
    if name == "own":
        op.scale = 0.5
    p, rng = op.problem, np.random.default_rng(seed)
    limits = np.iinfo(op.src_dtype)
    x = rng.integers(limits.min, limits.max + 1, (p.n, p.c, p.h, p.w)).astype(op.src_dtype)
    w = rng.integers(-128, 128, (p.k, p.c // p.groups, p.r, p.s)).astype(np.int8)
    more = dict(bias=rng.normal(0, 20, p.k).astype(np.float32), alpha=rng.uniform(0, 2**-9, p.k).astype(np.float32), **numbers)
    want = dict(more, source_zero_point=arguments.get("source_zero_point", 0), round_first=name == "qlinear")
    if name in ("qlinear", "sums"):
        want["sum_bias"] = more["bias"] = rng.integers(-1000, 1000, p.k).astype(np.int32)
        del want["bias"]
    if name == "sums":
        del more["alpha"]
    if name == "residual":
        want["residual"] = rng.integers(-128, 128, (p.n, p.k, p.p, p.q)).astype(np.int8)
        more["residual"] = weft.to_layout(want["residual"], dst)
    y = op(weft.to_layout(x, arguments["layout"]), op.pack(w), **more)
    assert y.shape == op.dst_shape and str(y.dtype) == op.dst_dtype
    np.testing.assert_array_equal(weft.from_layout(y, dst, p.k), weft.reference(p, x, w, activation=activation, dtype=op.dst_dtype, **want))


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_problems(name, data):
    number = lambda low, high: data.draw(st.integers(low, high))
    # Over NHWC the widths of loads and stores, which C and K decide, are part of the policy: one compilation.
    c, k = (16 * number(1, 2), 8 * number(1, 5)) if name in ("nhwc_to_floats", "sums") else (number(1, 40), number(1, 40))
    problem = dict(n=number(1, 2), c=c, h=number(3, 9), w=number(3, 9), k=c if name == "depthwise" else k, r=number(1, 3),
                   s=number(1, 3), stride=number(1, 2), padding=number(0, 1))
    run_case(name, problem, number(0, 99))


def test_a_first_layer_pools():
    op = weft.Conv2d(dict(n=2, c=3, h=21, w=20, k=40, rs=7, stride=2, padding=3), "nc4", dst="nc32", dtype="uint8", tile="WgmmaFirst64x64",
                     epilogue=weft.Epilogue(bias="sum", round_first=True, max_pool=(3, 2, 1)), source_zero_point=117)
    p, rng = op.problem, np.random.default_rng(6)
    x = rng.integers(0, 256, (2, 3, 21, 20)).astype(np.uint8)
    w = rng.integers(-128, 128, (40, 3, 7, 7)).astype(np.int8)
    bias, alpha = rng.integers(-1000, 1000, 40).astype(np.int32), rng.uniform(0, 2**-9, 40).astype(np.float32)
    y = op(weft.to_layout(x, "nc4"), op.pack(w), bias=bias, alpha=alpha, zero_point=9)
    assert y.shape == op.dst_shape == (2, 2, 6, 5, 32)
    apart = weft.reference(p, x, w, sum_bias=bias, alpha=alpha, zero_point=9, source_zero_point=117, round_first=True, dtype="uint8")
    padded = np.pad(apart, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    np.testing.assert_array_equal(weft.from_layout(y, "nc32", 40), windows.max((-2, -1)))


def test_windows_that_no_kernel_pools():
    for windows in [(5, 2, 1), (3, 1, 1), (3, 2, 3), (3, 2), 3, (3.0, 2, 1)]:
        with pytest.raises(weft.ArgumentError, match="max_pool="):
            weft.Epilogue(max_pool=windows)


def test_forms_of_a_problem():
    named = weft.problem_of("n2c16h7w7k8r3s2p1")
    assert named == weft.problem_of(dict(n=2, c=16, hw=7, k=8, rs=3, stride=2, padding=1))
    assert (named.p, named.q, str(named)) == (4, 4, "n2c16h7w7k8r3s2p1")
    assert named == weft.Problem("n2c16h7w7k8r3s2p1") == eval(repr(named)) == weft.problem_of("n1c16h7w7k8r3s2", n=np.uint8(2))
    assert len({named, weft.problem_of(named), named.replace(n=np.int64(2)), named.replace(flipped=True)}) == 2
    with pytest.raises(AttributeError):
        named.n = 3


@given(st.integers(1, 2), st.integers(1, 70), st.integers(1, 4), st.sampled_from(["nchw", "nhwc", "nc4", "nc32", "nc64"]))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_layouts_return(n, c, h, layout):
    x = np.arange(n * c * h * 3, dtype=np.int32).reshape(n, c, h, 3)
    there = weft.to_layout(x, layout)
    assert there.ctypes.data % 64 == 0
    np.testing.assert_array_equal(weft.from_layout(there, layout, c), x)


def test_nhwc_takes_any_k():
    rng = np.random.default_rng(4)
    op = weft.Conv2d("n1c12h4w4k7r3s1p1", "nhwc")
    x, w = rng.integers(-128, 128, (1, 12, 4, 4)).astype(np.int8), rng.integers(-128, 128, (7, 12, 3, 3)).astype(np.int8)
    given_too = dict(bias=np.zeros(7, np.float32), alpha=2**-8)
    y = op(weft.to_layout(x, "nhwc"), op.pack(w), **given_too)
    np.testing.assert_array_equal(weft.from_layout(y, "nhwc"), weft.reference(op.problem, x, w, activation=relu, **given_too))


def test_out_is_written_where_it_lies():
    op = weft.Conv2d("n1c32h4w4k32r1s1p0", "nc32")
    out = weft.empty(op.dst_shape, np.int8)
    x, w = weft.empty(op.src_shape, np.int8), op.pack(np.zeros((32, 32, 1, 1), np.int8))
    x[...] = 1
    assert op(x, w, bias=np.full(32, 3, np.float32), out=out) is out
    assert (out == 3).all()


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_transposed(data):
    number = lambda low, high: data.draw(st.integers(low, high))
    stride = number(1, 3)
    problem = dict(n=number(1, 2), c=number(1, 40), h=number(2, 5), w=number(2, 5), k=number(1, 40), r=number(1, 4), s=number(1, 4),
                   stride=stride, padding=number(0, 1), dilation=number(1, 2))
    more = number(0, stride - 1)
    zero_point = data.draw(st.sampled_from([0, 3]))
    op = weft.ConvTranspose2d(problem, "nc32", output_padding=np.int64(more), source_zero_point=zero_point)
    p, rng = op.problem, np.random.default_rng(number(0, 99))
    x = rng.integers(-128, 128, (p.n, p.c, p.h, p.w)).astype(np.int8)
    w = rng.integers(-128, 128, (p.c, p.k, p.r, p.s)).astype(np.int8)
    given_too = dict(bias=rng.normal(0, 20, p.k).astype(np.float32), alpha=2**-8)
    y = op(weft.to_layout(x, "nc32"), op.pack(w), **given_too)
    want = weft.reference_transposed(problem, x, w, more, source_zero_point=zero_point, activation=relu, **given_too)
    np.testing.assert_array_equal(weft.from_layout(y, "nc32", p.k), want)


@pytest.mark.parametrize("layout", ["nc32", "nhwc"])
def test_filters_of_experts(layout):
    op = weft.CondConv("n3c32h4w4k40r3s1p1", layout)
    rng = np.random.default_rng(5)
    x, experts = rng.integers(-128, 128, (3, 32, 4, 4)).astype(np.int8), rng.integers(-128, 128, (4, 40, 32, 3, 3)).astype(np.int8)
    routing, scale = rng.uniform(-0.5, 1, (3, 4)).astype(np.float32), rng.uniform(0.5, 1, (4, 40)).astype(np.float32)
    routing[1, 2] = np.nan
    for expert_scale in (None, scale):
        values = experts if expert_scale is None else expert_scale[:, :, None, None, None] * experts.astype(np.float32)
        # The 64 bits of a long double hold these products and sums, so that each fma is rounded once, to float.
        mixed = np.zeros((3, 40, 32, 3, 3), np.float32)
        for e in range(4):
            mixed = (routing[:, e, None, None, None, None].astype(np.longdouble) * values[e] + mixed).astype(np.float32)
        filters = np.clip(np.rint(np.where(np.isnan(mixed), 0, mixed)), -128, 127).astype(np.int8)
        y = op(weft.to_layout(x, layout), op.pack(experts), routing, expert_scale=expert_scale, bias=np.zeros(40, np.float32), alpha=2**-7)
        want = weft.reference(op.problem, x, filters, bias=np.zeros(40), alpha=2**-7, activation=relu)
        np.testing.assert_array_equal(weft.from_layout(y, layout, 40), want)


def test_names_and_alignment_of_a_functor():
    op = weft.Conv2d("n1c4h2w2k4r1s1p0", "nc4", epilogue=weft.Epilogue("""
        struct MyPolicy { float two = 2.0f; };
        struct alignas(16) MyEpilogue {
          constexpr float operator()(float x) const { return weft::epilogues::Mul(MyPolicy{}.two, x); }
        };""", dtype="float32"))
    x = weft.empty(op.src_shape, np.int8)
    x[...] = 1
    assert (op(x, op.pack(np.ones((4, 4, 1, 1), np.int8)), bias=np.ones(4, np.float32)) == 10).all()


def test_a_zero_point_with_groups_and_in_text():
    text = """struct Op : weft::conv::U8Conv4<weft::epilogues::Chain<weft::epilogues::SourceZeroPoint, weft::epilogues::ToAccumulator>> {
      using Prologue = weft::prologues::Grouped;
    };"""
    op, rng = weft.Operator(text, "n2c8h5w4k12r3s1p1g2", source_zero_point=200), np.random.default_rng(3)
    x, w = rng.integers(0, 256, (2, 8, 5, 4)).astype(np.uint8), rng.integers(-128, 128, (12, 4, 3, 3)).astype(np.int8)
    want = weft.reference(op.problem, x, w, source_zero_point=200, dtype="int32")
    np.testing.assert_array_equal(weft.from_layout(op(weft.to_layout(x, "nc4"), op.pack(w)), "nc4", 12), want)


def test_matrices():
    rng = np.random.default_rng(6)
    a, b = rng.integers(-128, 128, (37, 48)).astype(np.int8), rng.integers(-128, 128, (48, 24)).astype(np.int8)
    op = weft.Gemm(37, 24, 48, epilogue="sums", dst_dtype="int32")
    assert (op.src_shape, op.dst_shape) == ((37, 48), (37, 24))
    np.testing.assert_array_equal(op(weft.aligned(a), op.pack(b)), a.astype(np.int32) @ b.astype(np.int32))


def test_nvrtc_of_packages(monkeypatch, tmp_path):
    for package, version in (("cuda_nvrtc", 12), ("cu13", 13)):
        (tmp_path / f"nvidia/{package}/lib").mkdir(parents=True)
        (tmp_path / f"nvidia/{package}/lib/libnvrtc.so.{version}").touch()
        (tmp_path / f"nvidia/{package}/lib/libnvrtc-builtins.so.{version}.0").touch()
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert _nvrtc.of_packages().name == "libnvrtc.so.13"
