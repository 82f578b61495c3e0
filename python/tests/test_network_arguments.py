"""What networks refuse to be called, planned and saved with, and the kinds of numbers and lists that they take."""
import re

import numpy as np
import pytest

import weft
from test_network_run import model, small_graph  # noqa: F401, of which the first is a fixture
from weft import network


ARGUMENTS = [
    (lambda m, p: m.plan(1.5), "batch=1.5 is no whole number"),
    (lambda m, p: m.plan("1"), "batch='1' is no whole number"),
    (lambda m, p: m.plan(None), "batch=None is no whole number"),
    (lambda m, p: m.plan(10**30), "batch=1000000000000000000000000000000 is no whole number from 1 to 2^63 - 1"),
    (lambda m, p: m.plan(0), "batch=0 is no whole number from 1"),
    (lambda m, p: m.profile(np.zeros((1, 3, 8, 6), np.float32), repeats=1.5), "repeats=1.5 is no whole number"),
    (lambda m, p: m.save(p, on=None), "on=None has None, which is no name; give one or a list of them, such as \"gpu\""),
    (lambda m, p: m.save(p, on=3), "on=3 has 3, which is no name"),
    (lambda m, p: m.save(p, on=["cpu", 3]), "on=['cpu', 3] has 3, which is no name"),
    (lambda m, p: m.save(p, on=[""]), "on=[''] has '', which is no name"),
    (lambda m, p: m.save(p, on="cpu", batch=[1, 2.5]), "batch=2.5 is no whole number"),
    (lambda m, p: m.save(p, on="cpu", batch=[]), "batch has no number of images"),
    *((lambda m, p, layouts=layouts: network.Network(m.graph, layouts=layouts), f"layouts={layouts} has {wrong}, which is no name; give one or a list of them")
      for layouts, wrong in ((None, None), ([3], 3))),
    (lambda m, p: network.Network(m.graph, fuse="no"), "fuse='no' is neither True nor False"),
    *((lambda m, p, memory=memory: network.Network(m.graph, memory=memory), f"memory={memory!r} is no number of bytes; give a whole number from 1")
      for memory in (10**30, True, float("inf"), 0, "1MB")),
]


@pytest.mark.parametrize("call, sentence", ARGUMENTS)
def test_arguments_refused(model, tmp_path, call, sentence):
    """Of another type, or beyond what C++ counts."""
    with pytest.raises(weft.Error, match=re.escape("weft: " + sentence)):
        call(weft.load(model), tmp_path / "a.weft")


def test_arguments_of_other_libraries(model, tmp_path, monkeypatch):
    loaded, saved = network.Network(small_graph(), layouts="nc4", memory=np.int64(10**9), fuse=np.bool_(True)), []
    monkeypatch.setattr(loaded, "_planned_on", lambda machine, batch: (machine, batch))
    monkeypatch.setattr(weft._weft, "save_engine", lambda planned: saved.append(planned) or b"")
    for batch in (range(1, 3), np.array([1, 2]), (n for n in (1, 2))):
        loaded.save(tmp_path / "a.weft", on="cpu", batch=batch)
    assert saved == [[("cpu", 1), ("cpu", 2)]] * 3 and loaded._layouts == ["nc4"]
    loaded.save(tmp_path / "a.weft", on="cpu", batch=np.array(4))
    assert saved[3] == [("cpu", 4)]


def test_calls_refused(model):
    loaded = weft.load(model)
    x = np.zeros((1, 3, 8, 6), np.float32)
    for call, error, sentence in [(lambda: loaded(), weft.ArgumentError, "0 inputs are given; the network has x"),
                                  (lambda: loaded(x, x), weft.ArgumentError, "2 inputs are given"),
                                  (lambda: loaded(x, x=x), weft.ArgumentError, "x is no input or is given twice"),
                                  (lambda: loaded(3), weft.ArgumentTypeError, "x is a int; give an array"),
                                  (lambda: loaded(x.astype(np.float64)), weft.ArgumentTypeError, "x.dtype=float64 is not float32"),
                                  (lambda: loaded(x[:, :2]), weft.Error, "x")]:
        with pytest.raises(error, match=sentence):
            call()
