"""Operators on a GPU, over arrays of torch and cupy: the bits of the CPU, the streams of these libraries, torch's tracers.

They are run where there is a GPU and the library: pytest -rs says what was not there.
"""
import numpy as np
import pytest

import weft
from weft import _weft

GPU = _weft.gpu()
needs_gpu = pytest.mark.skipif(not GPU.startswith("compute capability"), reason=f"no GPU: {GPU}")

MINE = """struct Mine {
  float scale = 1.0f;
  constexpr float operator()(float x) const { return x > 0.0f ? weft::epilogues::Mul(scale, x) : 0.0f; }
};"""
PROBLEM = "n2c64h14w14k64r3s1p1"


class Torch:
    """Arrays of torch, as the tests need them."""

    def __init__(self):
        self.library = pytest.importorskip("torch")
        if not self.library.cuda.is_available():
            pytest.skip("torch sees no GPU")

    def put(self, array):
        return self.library.from_numpy(np.ascontiguousarray(array)).cuda()

    def get(self, array):
        return array.cpu().numpy()

    def stream(self):
        return self.library.cuda.Stream()

    def within(self, stream):
        return self.library.cuda.stream(stream)

    def is_own(self, array):
        return isinstance(array, self.library.Tensor) and array.is_cuda


class Cupy:
    """Arrays of cupy."""

    def __init__(self):
        self.library = pytest.importorskip("cupy")

    def put(self, array):
        return self.library.asarray(np.ascontiguousarray(array))

    def get(self, array):
        return self.library.asnumpy(array)

    def stream(self):
        return self.library.cuda.Stream(non_blocking=True)

    def within(self, stream):
        return stream

    def is_own(self, array):
        return isinstance(array, self.library.ndarray)


@pytest.fixture(params=[Torch, Cupy])
def on(request):
    return request.param()


def random_arrays(op, k, c, r, seed=0):
    """x, w, and the arguments of a call, in numpy."""
    rng = np.random.default_rng(seed)
    x = weft.aligned(rng.integers(-128, 128, op.src_shape).astype(op.src_dtype))
    w = op.pack(rng.integers(-128, 128, (k, c, r, r)).astype(np.int8))
    return x, w, dict(bias=rng.normal(0, 20, k).astype(np.float32), alpha=rng.uniform(0, 2**-9, k).astype(np.float32))


def moved(arguments, on):
    return {name: on.put(value) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


CASES = {
    "nc32": lambda: weft.Conv2d(PROBLEM, "nc32"),
    "nc4_to_nc32": lambda: weft.Conv2d(PROBLEM, "nc4", dst="nc32"),
    "nhwc_to_half": lambda: weft.Conv2d(PROBLEM, "nhwc", dst_dtype="float16"),
    "depthwise": lambda: weft.Depthwise(PROBLEM, "nc32"),
    "own": lambda: weft.Conv2d(PROBLEM, "nc32", epilogue=weft.Epilogue(MINE, output_scale=False)),
}


@needs_gpu
@pytest.mark.parametrize("name", CASES)
def test_the_bits_of_the_cpu(name, on):
    op = CASES[name]()
    if name == "own":
        op.scale = 0.5
    x, w, arguments = random_arrays(op, 64, 1 if name == "depthwise" else 64, 3)
    y = op(on.put(x), on.put(w), **moved(arguments, on))
    assert on.is_own(y)
    np.testing.assert_array_equal(on.get(y), op(x, w, **arguments))


@needs_gpu
def test_wgmma(on):
    if not GPU.endswith(" 9.0"):
        pytest.skip(f"wgmma runs on compute capability 9.0 alone: {GPU}")
    op = weft.Conv2d(PROBLEM, "nc32", tile="Wgmma112x64")
    x, w, arguments = random_arrays(op, 64, 64, 3)
    np.testing.assert_array_equal(on.get(op(on.put(x), on.put(w), **moved(arguments, on))), op(x, w, **arguments))


@needs_gpu
def test_transposed(on):
    op = weft.ConvTranspose2d("n2c32h7w7k64r4s2p1", "nc32")
    rng = np.random.default_rng(1)
    x = weft.aligned(rng.integers(-128, 128, op.src_shape).astype(np.int8))
    w = op.pack(rng.integers(-128, 128, (32, 64, 4, 4)).astype(np.int8))
    arguments = dict(bias=np.ones(64, np.float32), alpha=2**-8)
    np.testing.assert_array_equal(on.get(op(on.put(x), on.put(w), **moved(arguments, on))), op(x, w, **arguments))


@needs_gpu
def test_filters_of_experts(on):
    op = weft.CondConv("n3c32h7w7k32r3s1p1", "nc32")
    rng = np.random.default_rng(2)
    x = weft.aligned(rng.integers(-128, 128, op.src_shape).astype(np.int8))
    experts = op.pack(rng.integers(-128, 128, (4, 32, 32, 3, 3)).astype(np.int8))
    routing, scale = rng.uniform(-0.5, 1, (3, 4)).astype(np.float32), rng.uniform(0.5, 1, (4, 32)).astype(np.float32)
    arguments = dict(bias=np.ones(32, np.float32), alpha=2**-8)
    y = op(on.put(x), on.put(experts), on.put(routing), expert_scale=on.put(scale), **moved(arguments, on))
    np.testing.assert_array_equal(on.get(y), op(x, experts, routing, expert_scale=scale, **arguments))


@needs_gpu
def test_matrices(on):
    rng = np.random.default_rng(3)
    a, b = rng.integers(-128, 128, (100, 64)).astype(np.int8), rng.integers(-128, 128, (64, 48)).astype(np.int8)
    op = weft.Gemm(100, 48, 64, epilogue="sums", dst_dtype="int32")
    y = op(on.put(a), op.pack(on.put(b)))
    np.testing.assert_array_equal(on.get(y), a.astype(np.int32) @ b.astype(np.int32))


@needs_gpu
@pytest.mark.parametrize("layout", ["nhwc", "nchw", "nc4", "nc32"])
def test_layouts(layout, on):
    x = np.random.default_rng(4).integers(-128, 128, (2, 40, 5, 3)).astype(np.int8)
    there = weft.to_layout(on.put(x), layout)
    np.testing.assert_array_equal(on.get(there), weft.to_layout(x, layout))
    np.testing.assert_array_equal(on.get(weft.from_layout(there, layout, 40)), x)


@needs_gpu
def test_the_current_stream(on):
    """Runs on a stream of the library are behind what the library enqueued there, without any waiting."""
    op = CASES["nc32"]()
    x, w, arguments = random_arrays(op, 64, 64, 3)
    want = op(x, w, **arguments)
    there, filters, more = on.put(np.zeros_like(x)), on.put(w), moved(arguments, on)
    new = on.put(x)
    out = op(there, filters, **more)
    on.get(out)  # all of it is there before the other stream begins
    stream = on.stream()
    with on.within(stream):
        for _ in range(50):
            there[...] = 0
            there[...] = new
            assert op(there, filters, out=out, **more) is out
        got = on.get(out)  # on the same stream, too
    stream.synchronize()
    np.testing.assert_array_equal(got, want)
    assert op(there, filters, out=out, stream=stream, **more) is out
    stream.synchronize()
    np.testing.assert_array_equal(on.get(out), want)


@needs_gpu
def test_refused(on):
    op = CASES["nc32"]()
    x, w, arguments = random_arrays(op, 64, 64, 3)
    with pytest.raises(weft.Error, match="w is in host memory and x on GPU 0"):
        op(on.put(x), w, **arguments)
    with pytest.raises(weft.Error, match="stream is neither"):
        op(on.put(x), on.put(w), stream="one", **moved(arguments, on))
    with pytest.raises(weft.Error, match="x.dtype"):
        op(on.put(x.astype(np.float32)), on.put(w), **moved(arguments, on))


@needs_gpu
def test_a_captured_graph():
    on = Torch()
    torch = on.library
    op = CASES["nc32"]()
    x, w, arguments = random_arrays(op, 64, 64, 3)
    there, filters, more = on.put(np.zeros_like(x)), on.put(w), moved(arguments, on)
    out = torch.empty(op.dst_shape, dtype=torch.int8, device="cuda")
    op.prepare()  # loads the kernel, which cannot be captured
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        op(there, filters, out=out, **more)
    there.copy_(on.put(x))
    graph.replay()
    np.testing.assert_array_equal(on.get(out), op(x, w, **arguments))


@needs_gpu
def test_an_operator_of_torch():
    on = Torch()
    torch = on.library
    import weft.torch

    op = CASES["own"]()
    op.scale = 0.5
    run = weft.torch.function(op)
    x, w, arguments = random_arrays(op, 64, 64, 3)
    want = op(x, w, **arguments)
    there, filters, more = on.put(x), on.put(w), moved(arguments, on)
    np.testing.assert_array_equal(on.get(run(there, filters, **more)), want)
    np.testing.assert_array_equal(run(torch.from_numpy(x), torch.from_numpy(w), bias=torch.from_numpy(arguments["bias"]),
                                      alpha=torch.from_numpy(arguments["alpha"])).numpy(), want)
    torch.library.opcheck(torch.ops.weft.run, (0, there, filters, more["bias"], None, more["alpha"], 1.0, 1.0, 1.0, 0.0, 0.0),
                          test_utils=("test_schema", "test_faketensor"))
    from torch.fx.experimental.proxy_tensor import make_fx
    traced = make_fx(lambda a: run(a, filters, **more))(there)  # a trace has the operator, which a plain call leaves out
    assert "torch.ops.weft.run" in traced.code
    np.testing.assert_array_equal(on.get(traced(there)), want)
    with torch.inference_mode():
        np.testing.assert_array_equal(on.get(run(there, filters, **more)), want)
    compiled = torch.compile(lambda a: run(a * 1, filters, **more), fullgraph=True, backend="aot_eager")
    np.testing.assert_array_equal(on.get(compiled(there)), want)


@needs_gpu
def test_what_a_call_costs(on, capsys):
    """No limit is tested: the number is printed, in microseconds of the host."""
    import time

    op = CASES["nc32"]()
    x, w, arguments = random_arrays(op, 64, 64, 3)
    there, filters, more = on.put(x), on.put(w), moved(arguments, on)
    out = op(there, filters, **more)
    begin = time.perf_counter()
    for _ in range(500):
        op(there, filters, out=out, **more)
    spent = (time.perf_counter() - begin) / 500
    with capsys.disabled():
        print(f"\na call over arrays of {on.library.__name__}: {1e6 * spent:.1f} us")
    on.get(out)
