"""weft_run and weft.load: what they print, write and refuse."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import weft
from weft import network
from weft.network import run

PICTURE = pathlib.Path(__file__).resolve().parents[2] / "examples/picture_filter/chelsea.png"


def small_graph():
    """A convolution, a table and a fully connected layer, made by hand: it needs no onnx."""
    random = np.random.default_rng(1)
    g = network.Graph("small", inputs=["x"], outputs=["y"])
    for t in (network.Tensor("x", "float", (3, 8, 6)), network.Tensor("q", "uint8", (3, 8, 6), 0.02, 120), network.Tensor("a", "uint8", (16, 4, 3), 0.125, 9),
              network.Tensor("b", "uint8", (16, 4, 3), 0.0625, 0), network.Tensor("c", "int8", (10, 1, 1), 0.5, -7), network.Tensor("y", "float", (10, 1, 1))):
        g.tensors[t.name] = t
    integers = lambda *shape: random.integers(-128, 128, shape).astype(np.int8)
    g.nodes = [network.Node("quantize", "q", ["x"], "q"),
               network.Node("convolution", "conv", ["q"], "a", window=(3, 3), stride=(2, 2), padding=(1, 1, 1, 1), filter=integers(16, 3, 3, 3),
                            filter_scale=random.uniform(0.001, 0.01, 16).astype(np.float32), bias=random.integers(-900, 900, 16).astype(np.int32)),
               network.Node("table", "act", ["a"], "b", table=random.integers(0, 256, 256).astype(np.uint8)),
               network.Node("fully_connected", "fc", ["b"], "c", filter=integers(10, 192), filter_scale=np.array([0.003], np.float32)),
               network.Node("dequantize", "y", ["c"], "y")]
    return g


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "small.weft"
    path.write_bytes(network.write_graph(small_graph()))
    return path


def test_reference(model, tmp_path, capsys):
    """A picture, two batches, and the graph written anew."""
    pytest.importorskip("PIL")
    again = tmp_path / "again.weft"
    command = [str(model), "--input", str(PICTURE), "--reference", "--batch", "1,3", "--compare", "reference", "--nodes", "--profile", "--save", str(again)]
    assert run.main(command) == 0
    said = capsys.readouterr().out
    for text in ("1 convolution", "16x4x3", "3x3 / 2x2", "batch 3", "y: 0 of 30 elements differ from reference's", "the greatest are"):
        assert text in said
    assert again.read_bytes() == model.read_bytes()


def test_arrays(model, tmp_path, capsys):
    """An array of one image, or of several, is repeated for the batch."""
    x = np.random.default_rng(0).normal(size=(2, 3, 8, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    assert run.main([str(model), "--input", str(tmp_path / "x.npy"), "--reference", "--batch", "4", "--compare", "reference"]) == 0
    np.save(tmp_path / "x.npy", x[0].astype(np.float64))
    assert run.main([str(model), "--input", str(tmp_path / "x.npy"), "--reference"]) == 2
    assert "is float64 (1, 3, 8, 6); input x is float32 ('n', 3, 8, 6)" in capsys.readouterr().err


@pytest.mark.parametrize("more, sentence", [(["--batch", "0"], "--batch 0 is not one or more numbers"), (["--batch", "two"], "--batch two is not"),
                                            (["--batch", "1,9223372036854775808"], "is not one or more numbers above 0 and below 2^63"),
                                            (["--batch", "1000000000000000000"], "1000000000000000000 images do not fit the memory"),
                                            (["--memory", "99999999999GB"], "--memory 99999999999GB is no amount of memory above 0 and below 2^63 bytes"),
                                            (["--input", "none.npy"], "none.npy is neither an array of numpy nor a picture"),
                                            (["--compare", "onnxruntime"], "--compare onnxruntime takes an .onnx model")])
def test_refused(model, more, sentence, capsys):
    assert run.main([str(model), "--reference", *more]) == 2
    assert sentence in capsys.readouterr().err


def test_numbers_of_images_are_planned_first(model, monkeypatch, capsys):
    """Before there are arrays of as many."""
    monkeypatch.setattr(run, "inputs_of", None)
    assert run.main([str(model), "--cpu", "--batch", "1000000", "--memory", "1MB"]) == 2
    assert "the arena of 1000000 images has" in capsys.readouterr().err


def test_a_vector_of_one_pixel(tmp_path, capsys):
    """Of an input of one pixel (3, 1, 1) is one image as well as (3,)."""
    g = network.Graph("vector", inputs=["x"], outputs=["y"])
    for t in (network.Tensor("x", "float", (3, 1, 1)), network.Tensor("y", "uint8", (3, 1, 1), 1.0, 0)):
        g.tensors[t.name] = t
    g.nodes = [network.Node("quantize", "q", ["x"], "y")]
    (tmp_path / "vector.weft").write_bytes(network.write_graph(g))
    for shape in ((3,), (3, 1, 1), (1, 3)):
        np.save(tmp_path / "x.npy", np.float32([1, 2, 3]).reshape(shape))
        assert run.main([str(tmp_path / "vector.weft"), "--reference", "--input", str(tmp_path / "x.npy")]) == 0
        assert "the greatest are 2 (3), 1 (2), 0 (1)" in capsys.readouterr().out


def test_unreadable_files(model, tmp_path, capsys):
    np.savez(tmp_path / "two.npz", a=np.zeros(2), b=np.zeros(2))
    (tmp_path / "two.npz").rename(tmp_path / "two.npy")
    (tmp_path / "empty.npy").write_bytes(b"")
    for more, sentence in ((["--input", str(tmp_path / "two.npy")], "two.npy holds several arrays; give a file of one"),
                           (["--input", str(tmp_path / "empty.npy")], "empty.npy is neither an array of numpy nor a picture"),
                           (["--save", str(tmp_path / "none" / "a.weft")], "a.weft: No such file or directory")):
        assert run.main([str(model), "--reference", *more]) == 2
        assert sentence in capsys.readouterr().err


def test_integer_logits(tmp_path, capsys):
    """The greatest of int8, of which -128 has no opposite, and of uint8."""
    for element, lowest in (("int8", -128), ("uint8", 0)):
        g = network.Graph("logits", inputs=["x"], outputs=["y"])
        for t in (network.Tensor("x", "float", (6, 1, 1)), network.Tensor("y", element, (6, 1, 1), 1.0, 0)):
            g.tensors[t.name] = t
        g.nodes = [network.Node("quantize", "q", ["x"], "y")]
        (tmp_path / "logits.weft").write_bytes(network.write_graph(g))
        np.save(tmp_path / "x.npy", np.array([[lowest, 3, 127, 5, 1, 2]], np.float32))
        assert run.main([str(tmp_path / "logits.weft"), "--reference", "--input", str(tmp_path / "x.npy")]) == 0
        assert "the greatest are 2 (127), 3 (5), 1 (3), 5 (2), 4 (1)" in capsys.readouterr().out


class WithoutCuda:
    """A torch that was built without CUDA."""

    class cuda:
        @staticmethod
        def is_available():
            return False


def test_torch_without_cuda(model, monkeypatch, capsys):
    monkeypatch.setattr(run._weft, "gpu", lambda: "compute capability 9.0")
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setitem(sys.modules, "torch", WithoutCuda)
    assert run.main([str(model), "--gpu"]) == 2
    assert "--gpu: the package torch that is installed sees no GPU" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run.main([str(model), "--gpu"]) == 2
    assert "--gpu: neither torch nor cupy is there" in capsys.readouterr().err


def test_streams():
    """The address of what a call may be given as its stream."""
    from types import SimpleNamespace

    from weft.network._network import _address

    for given, address in ((None, None), (5, 5), (True, None), ("one", None), (SimpleNamespace(ptr=7), 7), (SimpleNamespace(cuda_stream=8), 8),
                           (SimpleNamespace(__cuda_stream__=lambda: (0, 9)), 9)):
        assert _address(given) == address


@pytest.mark.parametrize("given, used", ((0, "default of cuda:1"), (1, "default of cuda:1"), (64, "64 of cuda:1"), (None, None), ("own", "own")))
def test_what_torch_allocates_on(monkeypatch, given, used):
    """The stream that is torch's current one while a call allocates, asked of a torch that writes down what it is told."""
    import contextlib
    from types import ModuleType, SimpleNamespace

    from weft.network._network import _allocating_on

    current = []

    class Stream:
        name, cuda_stream = "own", 128

    class External(Stream):
        def __init__(self, address, device):
            self.name = f"{address} of {device}"

    @contextlib.contextmanager
    def stream(s):
        current.append(s.name)
        yield
        current.pop()

    def default_stream(device):
        s = Stream()
        s.name = f"default of {device}"
        return s

    torch = ModuleType("torch")
    torch.cuda = SimpleNamespace(Stream=Stream, ExternalStream=External, stream=stream, default_stream=default_stream)
    monkeypatch.setitem(sys.modules, "torch", torch)
    x = type("Tensor", (), {"__module__": "torch", "is_cuda": True, "device": "cuda:1"})()
    with _allocating_on(x, Stream() if given == "own" else given):
        assert current == ([used] if used else [])
    assert not current


def test_no_file(capsys):
    assert run.main(["none.weft"]) == 2
    assert "none.weft: No such file or directory" in capsys.readouterr().err


def test_without_onnx():
    """The package imports without onnx and onnxruntime, and says what is missing when a model is given."""
    code = """import sys
sys.modules["onnx"] = sys.modules["onnxruntime"] = None
import weft, weft.network
try:
    weft.load("model.onnx")
except weft.RunError as error:
    assert "pip install weft[onnx]" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_onnxruntime(tmp_path, capsys):
    """An ONNX model with a batch of one image, compared image by image."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from network_models import one_node

    made = one_node("MaxPool", ["a"], {}, (3, 6, 6), kernel_shape=[2, 2])
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(made, tmp_path / "model.onnx")
    assert run.main([str(tmp_path / "model.onnx"), "--reference", "--batch", "1,3", "--compare", "onnxruntime"]) == 0
    assert "y: 0 of 225 elements differ from onnxruntime's" in capsys.readouterr().out
    made.ir_version = 1000  # which onnxruntime refuses and an import does not ask for
    onnx.save(made, tmp_path / "model.onnx")
    assert run.main([str(tmp_path / "model.onnx"), "--reference", "--compare", "onnxruntime"]) == 2
    assert "--compare onnxruntime: it does not run" in capsys.readouterr().err


def test_network(model):
    """The network on the CPU gives the bits of the formulas, for each batch, and writes where it is told to."""
    loaded = weft.load(model)
    assert loaded.inputs == [("x", "float32", (3, 8, 6))] and loaded.outputs == [("y", "float32", (10,))]
    for batch in (1, 3, 1):
        x = np.random.default_rng(batch).normal(size=(batch, 3, 8, 6)).astype(np.float32)
        want = network.run_reference(loaded.graph, {"x": x})["y"]
        np.testing.assert_array_equal(loaded(x), want)
        out = np.zeros((batch, 10), np.float32)
        assert loaded(x=x, out=out) is out
        np.testing.assert_array_equal(out, want)
    assert "conv" in loaded.describe(3)


@pytest.mark.parametrize("library", ("torch", "cupy"))
def test_network_on_gpu(model, library):
    """The same bits over arrays of the GPU, at once and in a CUDA graph."""
    gpu = weft._weft.gpu()
    if not gpu.startswith("compute capability"):
        pytest.skip(f"no GPU: {gpu}")
    lib = pytest.importorskip(library)
    loaded = weft.load(model)
    x = np.random.default_rng(5).normal(size=(4, 3, 8, 6)).astype(np.float32)
    want = network.run_reference(loaded.graph, {"x": x})["y"]
    there = lib.from_numpy(x).cuda() if library == "torch" else lib.asarray(x)
    y = loaded(there)
    np.testing.assert_array_equal(y.cpu().numpy() if library == "torch" else lib.asnumpy(y), want)
    if library == "torch":
        out, graph = lib.zeros_like(y), lib.cuda.CUDAGraph()
        with lib.cuda.graph(graph):
            loaded(there, out=out)
        graph.replay()
        np.testing.assert_array_equal(out.cpu().numpy(), want)


@pytest.mark.parametrize("library", ("torch", "cupy"))
@pytest.mark.parametrize("form", ("stream", "address"))
def test_stream_that_is_given(model, library, form):
    """What a call allocates is for the given stream: the current one is not given the arena while that one still waits."""
    gpu = weft._weft.gpu()
    if not gpu.startswith("compute capability"):
        pytest.skip(f"no GPU: {gpu}")
    lib = pytest.importorskip(library)
    loaded = weft.load(model)
    x = np.random.default_rng(6).normal(size=(64, 3, 8, 6)).astype(np.float32)
    want = network.run_reference(loaded.graph, {"x": x})["y"]
    size = loaded.planned(64, gpu=True).arena_bytes
    if library == "torch":
        there, stream = lib.from_numpy(x).cuda(), lib.cuda.Stream()
        filled = lambda: lib.full((size,), 255, dtype=lib.uint8, device="cuda")
        loaded(there), filled(), lib.cuda.synchronize()  # so that nothing is loaded below
        with lib.cuda.stream(stream):
            lib.cuda._sleep(1_000_000_000)
        y = loaded(there, stream=stream if form == "stream" else stream.cuda_stream)
        taken = [filled() for _ in range(4)]
        lib.cuda.current_stream().synchronize()
        assert not stream.query() and taken
        lib.cuda.synchronize()
        np.testing.assert_array_equal(y.cpu().numpy(), want)
    else:
        there, stream, much = lib.asarray(x), lib.cuda.Stream(non_blocking=True), lib.zeros(1 << 28, lib.float32)
        filled = lambda: lib.full((size,), 255, lib.uint8)
        much += 1  # so that nothing is loaded below
        loaded(there), filled(), lib.cuda.runtime.deviceSynchronize()
        with stream:
            for _ in range(400):
                much += 1
        y = loaded(there, stream=stream if form == "stream" else stream.ptr)
        taken = [filled() for _ in range(4)]
        lib.cuda.get_current_stream().synchronize()
        assert not stream.done and taken
        lib.cuda.runtime.deviceSynchronize()
        np.testing.assert_array_equal(lib.asnumpy(y), want)


def test_compiled_kernels_are_saved(model, tmp_path, monkeypatch, capsys):
    """What was saved for the CPU runs there without a compiler and a cache; other files and other batches say what is missing."""
    path, x = tmp_path / "engine.weft", np.random.default_rng(5).normal(size=(2, 3, 8, 6)).astype(np.float32)
    first = weft.load(model)
    wanted = first(x)
    first.save(path, on="cpu", batch=[2])
    monkeypatch.setenv("CXX", "no_compiler_of_this_name")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    loaded = weft.load(path)
    assert np.array_equal(loaded(x), wanted)
    assert "kernels of the file, for 2 images on the CPU" in loaded.describe(2)
    with pytest.raises(weft.RunError, match="the file has no kernels for 1 image on the CPU, but for 2 images"):
        loaded(x[:1])
    assert network.write_graph(network.load_graph(path)) == network.write_graph(first.graph)
    loaded.save(tmp_path / "again.weft")
    assert (tmp_path / "again.weft").read_bytes() == path.read_bytes()
    with pytest.raises(weft.ArgumentError, match='the GPU "toaster" is not known by name; give one of t4'):
        loaded.save(path, on="toaster")
    monkeypatch.delenv("CXX")
    assert run.main([str(model), "--reference", "--batch", "1,2", "--save", str(tmp_path / "two.weft"), "--on", "cpu"]) == 0
    assert run.main([str(model), "--reference", "--on", "cpu"]) == 2
    assert "--on cpu says what --save writes" in capsys.readouterr().err
    monkeypatch.setenv("CXX", "no_compiler_of_this_name")
    assert run.main([str(tmp_path / "two.weft"), "--cpu", "--compare", "reference"]) == 0
    data = path.read_bytes()
    for damaged in (data[:-1], data[:-1] + bytes([data[-1] ^ 1]), data[:8] + b"\1" + data[9:], data[:100] + b"\1" + data[101:]):
        path.write_bytes(damaged)
        with pytest.raises(weft.ArgumentError, match="the .weft file"):
            weft.load(path)


ON_GPU = """
import sys
import numpy as np, torch, weft
x = np.random.default_rng(5).normal(size=(2, 3, 8, 6)).astype(np.float32)
model = weft.load(sys.argv[1])
given = torch.from_numpy(x).cuda()
assert np.array_equal(model(given).cpu().numpy(), model(x)), "the GPU's bits are others"
assert "kernels of the file, for 2 images on sm_" in model.describe(2, gpu=True)
odd = torch.empty(given.numel() + 1, device="cuda")[1:].view(given.shape).copy_(given)  # other kernels, for addresses as floats have them
assert np.array_equal(model(odd).cpu().numpy(), model(x)), "the GPU's bits are others at an odd address"
"""


def test_compiled_kernels_on_gpu(model, tmp_path):
    """Another process with an empty cache runs what was saved, and compiles nothing: the cache stays empty."""
    gpu = weft._weft.gpu()
    if not gpu.startswith("compute capability"):
        pytest.skip(f"no GPU: {gpu}")
    pytest.importorskip("torch")
    path, cache = tmp_path / "engine.weft", tmp_path / "cache"
    weft.load(model).save(path, on=["gpu", "cpu"], batch=2)
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "CXX": "no_compiler_of_this_name"}
    ran = subprocess.run([sys.executable, "-c", ON_GPU, str(path)], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert not cache.exists() or not list(cache.rglob("*.weft"))
