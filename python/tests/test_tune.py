"""op.tune(): candidates, what becomes of an operator that takes another tile, and what is refused."""
import numpy as np
import pytest

import weft
from weft import _weft
from test_gpu import MINE, needs_gpu


def numbers(op, seed=0):
    random = np.random.default_rng(seed)
    x = random.integers(-128, 128, op.src_shape).astype(np.int8)
    p = op.problem
    return x, op.pack(random.integers(-128, 128, (p.k, p.c // p.groups, p.r, p.s)).astype(np.int8))


def test_candidates_are_those_of_the_formats():
    def tiles(*arguments, kind=weft.Conv2d, **named):
        return _weft.candidate_tiles(kind(*arguments, **named), gpu=False)

    blocked, four = tiles("n2c64h9w9k32r3s1p1"), tiles("n2c8h9w9k32r3s1p1", "nc4")
    assert all(name.startswith("Mma") for name in blocked + tiles("n2c64h9w9k32r3s1p1", "nhwc"))
    assert all(name.startswith("Tile") for name in four)
    assert all(name.startswith("Depthwise") for name in tiles("n2c64h9w9k64r3s1p1", kind=weft.Depthwise))
    assert tiles("n2c64h9w9k64r3s1p1g2") and tiles(16, 32, 64, kind=weft.Gemm)
    assert tiles("n1c8h5w5k32r3s2p1", "nc4", kind=weft.ConvTranspose2d)


def test_an_operator_takes_another_tile():
    op = weft.Conv2d("n2c64h9w9k32r3s1p1", epilogue=weft.Epilogue(MINE, bias=None, output_scale=True), dst_dtype="int8")
    op.scale = 0.25
    x, w = numbers(op)
    before = op(x, w, alpha=0.001, output_scale=0.5)
    other = op._with_tile(next(tile for tile in _weft.candidate_tiles(op, gpu=False) if tile != op._tile))
    assert other._tile != op._tile and other.scale == 1.0
    _weft.adopt(op, other)
    assert op.describe() == other.describe() and op.scale == 0.25 and op.values == ["scale"]
    assert np.array_equal(op(x, w, alpha=0.001, output_scale=0.5), before)
    op.scale = 4.0
    assert not np.array_equal(op(x, w, alpha=0.001, output_scale=0.5), before)


@pytest.mark.parametrize("kind", [weft.Depthwise, weft.ConvTranspose2d])
def test_other_kinds_take_another_tile(kind):
    op = kind("n1c8h5w5k8r3s1p1", "nc4", epilogue="bias_identity")
    other = op._with_tile(_weft.candidate_tiles(op, gpu=False)[-1])
    assert other.dst_shape == op.dst_shape and other.src_shape == op.src_shape
    _weft.adopt(op, other)


def test_the_quickest_is_used(monkeypatch):
    """With a clock that is a list, and candidates of which one does not compile and one cannot run."""
    op = weft.Conv2d("n2c64h9w9k32r3s1p1")
    monkeypatch.setattr(_weft, "gpu", lambda: "compute capability 9.0")
    monkeypatch.setattr(_weft, "candidate_tiles", lambda op: ["Mma64x64", "NoTile", "Mma128x128", "Mma64x32", "Mma16x32Sliced"])
    monkeypatch.setattr(_weft.Operator, "prepare", lambda self: None)
    times = {"Mma64x64": 3.0, "Mma128x128": -1.0, "Mma64x32": 1.0, "Mma128x64": 2.0}
    monkeypatch.setattr(_weft, "times", lambda operators: [times[op._tile] for op in operators])
    assert op.tune(most=4) == [("Mma64x32", 1.0), ("Mma128x64", 2.0), ("Mma64x64", 3.0)]
    assert op._tile == "Mma64x32" and "Mma64x32" in op.source and "64x32" in op.describe()
    x, w = numbers(op)
    bias = np.zeros(32, np.float32)
    assert np.array_equal(op(x, w, bias=bias), weft.Conv2d("n2c64h9w9k32r3s1p1")(x, w, bias=bias))


def test_no_tile_that_runs(monkeypatch):
    """The reason is that of the operator's own tile."""
    op = weft.Conv2d("n2c64h9w9k32r3s1p1")

    def prepare(self):
        raise weft.RunError(f"weft: {self._tile} cannot be loaded")

    monkeypatch.setattr(_weft, "gpu", lambda: "compute capability 9.0")
    monkeypatch.setattr(_weft, "candidate_tiles", lambda op: ["NoTile"])
    monkeypatch.setattr(_weft.Operator, "prepare", prepare)
    with pytest.raises(weft.RunError, match=f"{op._tile} cannot be loaded"):
        op.tune()


def test_what_cannot_be_tuned_is_refused():
    with pytest.raises(weft.ArgumentError, match="this one is C\\+\\+ text that names its tile itself"):
        weft.Operator("struct P : weft::conv::S8Conv4<> {};", "n1c4h5w5k8r3s1p1").tune()
    op = weft.Conv2d("n1c4h5w5k8r3s1p1", "nc4")
    with pytest.raises(weft.Error, match="most=0 is no number of tiles"):
        op.tune(0)
    with pytest.raises(weft.Error, match="most='a'"):
        op.tune("a")
    if not _weft.gpu().startswith("compute capability"):
        with pytest.raises(weft.RunError, match=r"op\.tune\(\) takes a GPU, and there is none"):
            op.tune()


@needs_gpu
@pytest.mark.parametrize("make", [
    lambda: weft.Conv2d("n8c64h28w28k64r3s1p1"),
    lambda: weft.Conv2d("n8c64h28w28k64r3s1p1", "nhwc", epilogue="residual_bias_relu"),
    lambda: weft.Conv2d("n8c8h28w28k64r3s1p1", "nc4", dst="nc32", epilogue=weft.Epilogue(MINE, bias=None, output_scale=True)),
    lambda: weft.Depthwise("n8c64h28w28k64r3s1p1"),
    lambda: weft.ConvTranspose2d("n8c64h14w14k64r4s2p1"),
    lambda: weft.Gemm(512, 256, 1024),
])
def test_on_a_gpu(make):
    op = make()
    report = op.tune(4)
    assert len(report) >= 2 and report == sorted(report, key=lambda row: row[1]) and report[0][1] > 0.0
    assert op._tile == report[0][0] and op.describe() == op._with_tile(report[0][0]).describe()
