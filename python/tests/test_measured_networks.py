"""What perf/networks.py measures: networks whose weights are drawn again where they run, and the nodes of which its peer is made."""
import json
import pathlib
import sys
import types

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))

import architectures
import drawn_models
import networks
import weft
from weft import network


class ByFormulas:
    """What networks.py asks of a weft.Network, without its kernels, which take long to compile."""

    inputs = [("x", "float32", (3, 64, 64))]

    def __init__(self, graph):
        self.graph = graph

    def prepare(self, batch, gpu):
        assert batch == networks.IMAGES and not gpu

    def __call__(self, x):
        return next(iter(network.run_reference(self.graph, {"x": x}).values()))


def test_a_network_travels_without_its_weights(tmp_path):
    networks.make(tmp_path, ["mobilenet_v3_64_s8"])
    (path,) = tmp_path.iterdir()
    data, model, wanted = drawn_models.unpack(path)
    assert path.stat().st_size < len(data) / 5
    graph = network.read_graph(data)  # which compares the checksum
    (got,) = network.run_reference(graph, {"x": networks.images((3, 64, 64))}).values()
    assert np.array_equal(got, wanted[0]) and len(np.unique(got)) > 100
    assert [node["kind"] for node in model["nodes"]].count("Conv") == sum(node.kind == "convolution" for node in graph.nodes)
    assert networks.differences(ByFormulas(graph), wanted, gpu=False)["differ"] == 0
    assert networks.differences(ByFormulas(graph), [wanted[0] + 1], gpu=False)["differ"] == wanted[0].size
    with pytest.raises(ValueError, match="zip"):
        networks.differences(ByFormulas(graph), [wanted[0], wanted[0]], gpu=False)
    networks.make(tmp_path, ["mobilenet_v3_64_s8"])  # it is there
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_continued_by_the_same_command(tmp_path, monkeypatch):
    """Of which the rows count, as the exit status says: here one whose outputs differ, and none that is measured now."""
    torch = types.ModuleType("torch")
    torch.cuda, torch.__version__ = types.SimpleNamespace(get_device_name=lambda: "GPU"), "0"
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(networks.libraries, "ROOT", tmp_path)
    (tmp_path / ".carry").mkdir()
    (tmp_path / ".carry/commit").write_text("0123456789")
    file = tmp_path / "a.json"
    for command, bits in (("perf/networks.py run", False), ("perf/networks.py run --bits", True)):
        file.write_text(json.dumps(dict(commit="0123456789", command=command, networks=[dict(name="a", differ=1)])))
        assert [networks.run(tmp_path, file, [], [], other) for other in (bits, not bits)] == [1, 0]
    given = []
    monkeypatch.setattr(networks, "run", lambda folder, output, *others: given.append(output.name) or 0)
    for more in ([], ["--bits"], ["--bits", "--json", "mine.json"]):
        monkeypatch.setattr(sys, "argv", ["networks.py", "run", str(tmp_path), *more])
        with pytest.raises(SystemExit):
            networks.main()
    assert given == ["networks-h200.json", "networks-h200-small.json", "mine.json"]


def test_other_weights_are_noticed(tmp_path, monkeypatch):
    networks.make(tmp_path, ["vgg16_64_u8"])
    monkeypatch.setattr(drawn_models, "SEED", 1)
    with pytest.raises(weft.ArgumentError, match="checksum|damaged"):
        network.read_graph(drawn_models.unpack(next(tmp_path.iterdir()))[0])
    with pytest.raises(ValueError, match="the weights of draw 0 are others than the quantizer's"):
        networks.make(tmp_path, ["vgg16_64_s8"])


def test_exports_are_written_whole(tmp_path):
    networks.make(tmp_path, ["pt2e_*", "placed0*"])
    assert sorted(path.stem[:6] for path in tmp_path.iterdir()) == ["placed", "pt2e_x", "pt2e_x"]
    for path in tmp_path.iterdir():
        data, model, wanted = drawn_models.unpack(path)
        graph = network.read_graph(data)
        assert model is None and any(len(node.inputs) == 2 for node in graph.nodes)
        got = network.run_reference(graph, {graph.inputs[0]: networks.images(graph.tensors[graph.inputs[0]].shape)})
        assert all(np.array_equal(y, w) for y, w in zip(got.values(), wanted))


@pytest.mark.parametrize("name", ("mobilenet_v2", "mobilenet_v3", "efficientnet"))
def test_published_sizes(name):
    """Millions of weights and biases, where BatchNormalizations are folded."""
    model, size = architectures.WHOLE[name]
    numbers = sum(int(np.prod(i.dims)) for i in model(size).graph.initializer)
    assert round(numbers / 1e6, 1) == {"mobilenet_v2": 3.5, "mobilenet_v3": 5.5, "efficientnet": 5.3}[name]


@pytest.mark.parametrize("name", architectures.ALL)
def test_peers_have_all_nodes(name):
    torch = pytest.importorskip("torch")
    import torch_network

    size = architectures.SIZES[name]
    model = architectures.ALL[name](size) if name != "resnet18" else architectures.resnet18(size)
    peer = torch_network.TorchNetwork(drawn_models.notes_of(model)["model"]).eval()
    with torch.inference_mode():
        outputs = peer(torch.randn(2, 3, size, size))
    for y, port in zip(outputs if isinstance(outputs, tuple) else (outputs,), model.graph.output):
        assert list(y.shape[1:]) == [dim.dim_value for dim in port.type.tensor_type.shape.dim][1:]
