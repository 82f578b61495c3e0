"""Tiles of networks: given by name, told, and tuned; what is refused."""
import json

import numpy as np
import pytest

import weft
from weft import _weft, network
from test_gpu import needs_gpu
from test_network_run import small_graph


def planned(tiles):
    return _weft.Network(network.write_graph(small_graph()), 1, False, True, tiles)


def test_tiles_are_told_and_taken():
    tiles = planned({}).tiles
    assert sorted(tiles) == ["conv + act", "fc"]
    assert planned(tiles).tiles == tiles
    assert json.loads(json.dumps(tiles)) == tiles


def test_tiles_that_cannot_be_are_refused():
    with pytest.raises(weft.ArgumentError, match='node "fc": tile=Nothing cannot run this convolution here; give one of '):
        planned({"fc": "Nothing"})
    with pytest.raises(weft.ArgumentError, match=r'tiles name "act", which is no convolution of the plan of 1 images; one is "conv \+ act"'):
        planned({"act": "Mma128x64"})
    for given, says in (([1], "tiles is a list"), ({0: {}}, "key 0, which is no number of images"), ({"x": {}}, "key 'x'"), ({True: {}}, "key True"),
                        ({1: ["a"]}, r"tiles\[1\] is no dict"), ({"4": {"a": 3}}, r"tiles\['4'\] is no dict")):
        with pytest.raises(weft.Error, match=says + ".*give {64: model.tiles"):
            network.Network(small_graph(), tiles=given)


def test_numbers_of_numpy_are_numbers_of_images():
    assert network._tiles.checked({np.int64(4): {"fc": "Mma64x32"}, "8": {}}) == {4: {"fc": "Mma64x32"}, 8: {}}
    for key in (np.bool_(True), 1.0, None, "9" * 5000):
        with pytest.raises(weft.ArgumentError, match="which is no number of images; give"):
            network._tiles.checked({key: {}})


@pytest.mark.skipif(_weft.gpu().startswith("compute capability"), reason="there is a GPU")
@pytest.mark.parametrize("call", (lambda m, path: m.tune(4), lambda m, path: m.tiles(4), lambda m, path: m.prepare(4, gpu=True),
                                  lambda m, path: m.save(path, on="gpu", batch=4)))
def test_there_is_no_gpu(call, tmp_path):
    with pytest.raises(weft.RunError, match="a plan of 4 images for the current GPU takes a GPU, and there is none: ") as error:
        call(network.Network(small_graph()), tmp_path / "a.weft")
    assert "host memory" not in str(error.value)


def test_progress_is_checked_first(monkeypatch):
    model = network.Network(small_graph())
    monkeypatch.setattr(_weft, "Network", None)
    with pytest.raises(weft.ArgumentTypeError, match="progress=3 is no function"):
        model.tune(4, progress=3)


def test_tuning_on_the_cpu_is_refused():
    with pytest.raises(weft.Error, match="made for the CPU, and tiles are tuned on a GPU"):
        planned({}).tune()
    with pytest.raises(weft.Error, match="progress=3 is no function"):
        weft.network._tiles.report_of(3)


class Planned:
    """What a network of a GPU would be."""

    def __init__(self, file, batch, gpu, fuse, tiles, *others, **more):
        self.batch, self.gpu, self.tiles = batch, gpu, {"conv": "Tile64x64", "fc": "Mma128x64", **tiles}

    def tune(self, progress, most):
        assert most == 5
        first = dict(groups=2, candidates=1, group=0, step="", steps=0, tile="", us=0.0, before_us=0.0, kept=False)
        progress(first)
        progress({**first, "group": 1, "step": "fc", "steps": 3, "tile": "Mma64x32", "us": 9.0, "before_us": 10.0, "kept": True})
        return dict(tiles={**self.tiles, "fc": "Mma64x32"}, before_us=10.0, after_us=9.0, refused=[])


def test_later_runs_have_the_tuned_tiles(monkeypatch, capsys):
    monkeypatch.setattr(_weft, "Network", Planned)
    monkeypatch.setattr(_weft, "gpu", lambda: "compute capability 9.0")
    model = network.Network(small_graph(), tiles={"8": {"conv": "Tile32x32"}})
    assert model.tiles(8) == {"conv": "Tile32x32", "fc": "Mma128x64"}
    assert model.tiles(4)["conv"] == "Tile64x64"
    assert model.tune(8, most=5, progress=True)["after_us"] == 9.0
    said = capsys.readouterr().err
    assert "1 candidates for 2 groups" in said and "kept instead of 10.00 us  Mma64x32: fc and 2 alike" in said
    assert model.tiles(8) == {"conv": "Tile32x32", "fc": "Mma64x32"}
    for most in (0, "x"):
        with pytest.raises(weft.Error, match=f"most={most!r}"):
            model.tune(8, most=most)
    assert model.tiles(4)["fc"] == "Mma128x64"
    assert network.Network(small_graph(), tiles=json.loads(json.dumps({8: model.tiles(8)}))).tiles(8) == model.tiles(8)
    assert model.planned(8).tiles["conv"] == "Tile64x64"  # those of the CPU are its own


@needs_gpu
def test_tuned_bits_are_the_same():
    torch = pytest.importorskip("torch")
    model = network.Network(small_graph())
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(4, 3, 8, 6)).astype(np.float32)).cuda()
    before, told = model(x).cpu(), []
    result = model.tune(4, progress=told.append)
    assert told[0]["candidates"] > 2 and len(told) == 1 + told[0]["candidates"]
    assert result["after_us"] <= result["before_us"] and model.tiles(4) == result["tiles"]
    assert torch.equal(before, model(x).cpu())
    tiles = {4: {name: told[1]["tile"] if name == told[1]["step"] else tile for name, tile in result["tiles"].items()}}
    assert torch.equal(before, network.Network(small_graph(), tiles=tiles)(x).cpu())

    class Enough(Exception):
        pass

    def ends(now):
        raise Enough

    with pytest.raises(Enough):
        model.tune(4, progress=ends)
