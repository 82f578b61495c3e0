"""What docs/serving.md has, on the CPU. Of examples/triton the model, with a stand-in for the module that Triton puts beside it."""
import asyncio
import importlib.util
import io
import json
import pathlib
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import weft
from weft import network

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/triton/resnet18"


class Tensor:
    def __init__(self, name, array):
        assert isinstance(array, np.ndarray) and array.flags.c_contiguous
        self.name, self.array = name, array

    def as_numpy(self):
        return self.array


def request(**arrays):
    return types.SimpleNamespace(tensors=[Tensor(name, array) for name, array in arrays.items()])


def stand_in():
    """As much of triton_python_backend_utils as the example uses."""
    module = types.ModuleType("triton_python_backend_utils")
    module.Tensor, module.TritonModelException = Tensor, type("TritonModelException", (Exception,), {})
    module.InferenceResponse = lambda tensors: types.SimpleNamespace(outputs={tensor.name: tensor.array for tensor in tensors})
    module.get_input_tensor_by_name = lambda request, name: next((t for t in request.tensors if t.name == name), None)
    return module


@pytest.fixture
def served(monkeypatch):
    """The class of model.py."""
    monkeypatch.setitem(sys.modules, "triton_python_backend_utils", stand_in())
    spec = importlib.util.spec_from_file_location("triton_model", EXAMPLE / "1/model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TritonPythonModel


def graph():
    """Floats, the greatest of each 2 x 2 pixels and the average of all as outputs; no convolution, whose kernel would be compiled."""
    g = network.Graph("pools")
    for name, element, shape in (("x", "float", (3, 4, 4)), ("q", "uint8", (3, 4, 4)), ("m", "uint8", (3, 3, 3)), ("a", "uint8", (3, 1, 1)),
                                 ("most", "float", (3, 3, 3)), ("mean", "float", (3, 1, 1))):
        g.tensors[name] = network.Tensor(name, element, shape, *((0.05, 120) if element == "uint8" else ()))
    node = network.Node
    g.nodes = [node("quantize", "quantize", ["x"], "q"), node("max_pool", "pool", ["q"], "m", window=(2, 2)),
               node("global_average_pool", "average", ["q"], "a"), node("dequantize", "d0", ["m"], "most"), node("dequantize", "d1", ["a"], "mean")]
    g.inputs, g.outputs = ["x"], ["most", "mean"]
    return g


def arguments(folder, batches="1,4", most=8, outputs=(("most", [3, 3, 3]), ("mean", [3]))):
    config = dict(max_batch_size=most, input=[dict(name="x", dims=["3", "4", "4"])], output=[dict(name=name, dims=dims) for name, dims in outputs],
                  parameters=dict(batches=dict(string_value=batches)))
    return dict(model_config=json.dumps(config), model_repository=str(folder), model_version="1", model_instance_kind="CPU", model_instance_device_id="0")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1/model.weft").write_bytes(network.write_graph(graph()))
    return tmp_path


@pytest.mark.parametrize("sizes", ([1], [3], [1, 2], [8], [5, 1, 6, 7]))
def test_requests_become_batches(served, folder, sizes, monkeypatch):
    model = served()
    model.initialize(arguments(folder))
    assert model.batches == [1, 4, 8]
    planned = []
    run = weft.network.Network.__call__
    monkeypatch.setattr(weft.network.Network, "__call__", lambda self, x: (planned.append(x.shape[0]), run(self, x))[1])
    random = np.random.default_rng(1)
    given = [random.normal(size=(n, 3, 4, 4)).astype(np.float32) for n in sizes]
    responses = model.execute([request(x=x) for x in given])
    assert len(responses) == len(given) and set(planned) <= {1, 4, 8}
    for x, response in zip(given, responses):
        for name, want in network.run_reference(graph(), {"x": x}).items():
            np.testing.assert_array_equal(response.outputs[name], want)


def test_what_is_refused(served, folder):
    def says(sentence, **more):
        with pytest.raises(sys.modules["triton_python_backend_utils"].TritonModelException, match=sentence):
            served().initialize(arguments(folder, **more))

    says(r"output \{'most': \(3, 3, 3\)\}, and the network \{'most': \(3, 3, 3\), 'mean': \(3,\)\}", outputs=(("most", [3, 3, 3]),))
    says(r"batches=\[8, 16\] of config.pbtxt; give numbers from 1 to max_batch_size=8", batches="16")
    (folder / "1/model.weft").unlink()
    says("has neither model.weft nor model.onnx")


def test_config_is_of_the_example():
    """config.pbtxt names the ports of the model that examples/quantised_resnet18.py makes."""
    pytest.importorskip("onnxruntime")
    import architectures

    model = architectures.example.quantised(architectures.example.resnet18(), 64)
    text = re.sub("#.*", "", (EXAMPLE / "config.pbtxt").read_text())
    ports = re.findall(r'(input|output) \[ \{ name: "(\w+)" data_type: TYPE_FP32 dims: \[ ([\d, ]+) \] \} \]', text)
    made = network.import_onnx(model)
    wanted = [(kind, name, list(made.tensors[name].seen_shape)) for kind, names in (("input", made.inputs), ("output", made.outputs)) for name in names]
    assert [(kind, name, [int(d) for d in dims.split(",")]) for kind, name, dims in ports] == wanted


def test_bodies_of_requests(monkeypatch):
    """What examples/ray_serve.py answers to what is no image, with stand-ins for the packages ray and starlette."""
    ray, starlette = types.ModuleType("ray"), [types.ModuleType(f"starlette{name}") for name in ("", ".requests", ".responses")]
    ray.serve = types.SimpleNamespace(deployment=lambda kind: kind, batch=lambda **named: lambda run: run)
    starlette[1].Request, starlette[2].Response = object, lambda text, status: (text, status)
    for module in (ray, *starlette):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    spec = importlib.util.spec_from_file_location("ray_serve", EXAMPLE.parents[1] / "ray_serve.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    served = module.Served.__new__(module.Served)
    served.network = types.SimpleNamespace(inputs=[("x", "float32", (3, 4, 4))])

    def bodies():
        for save, array in ((np.save, np.zeros((3, 4, 5), np.float32)), (np.savez, np.zeros(3))):
            body = io.BytesIO()
            save(body, array)
            yield body.getvalue()

    image, several = bodies()
    for body, sentence in ((b"", "the body is no .npy file: "), (b"text", "the body is no .npy file: "), (image[:-1], "the body is no .npy file: "),
                           (several, "the body holds several arrays"), (image, "the image is float32 (3, 4, 5); give float32 (3, 4, 4)")):
        async def read(body=body):
            return body

        text, status = asyncio.run(served(types.SimpleNamespace(body=read)))
        assert status == 400 and text.startswith(sentence), text


def test_data_parallel(tmp_path):
    """Two processes on the CPU, whose gathered outputs are those of one."""
    pytest.importorskip("torch")
    (tmp_path / "pools.weft").write_bytes(network.write_graph(graph()))
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", str(EXAMPLE.parents[1] / "data_parallel.py"), "pools.weft", "--batch", "3",
               "--steps", "2", "--cpu", "--json", "result.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["model"], result["processes"], result["batch"], result["differ"]) == ("pools", 2, 3, 0)
    assert result["outputs"] == 2 * 3 * (27 + 3) and result["ratio"] > 0
