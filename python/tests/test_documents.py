"""The code of docs/python.md, docs/networks.md and README.md does what the pages say."""
import hashlib
import importlib.util
import json
import pathlib
import re
import shlex
import struct
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page, language="python"):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)


def test_page(capsys):
    names = {}
    first, policy = blocks("docs/python.md")
    assert len([line for line in first.splitlines() if line]) == 10
    if importlib.util.find_spec("torch") is None:  # numpy has its functions by the same names
        first = first.replace("import torch,", "import numpy as torch,")
    exec(first, names)  # noqa: S102
    assert names["y"][0, 0, 5, 5, 0] == 120
    assert "simt" in capsys.readouterr().out
    exec(policy, names)  # noqa: S102


def test_picture_of_the_page(tmp_path):
    """docs/images/activation.svg is what the script makes that the page names."""
    command = re.search(r"`python (examples/\w+\.py) (docs/images/\w+\.svg)`", (ROOT / "docs/python.md").read_text(encoding="utf-8"))
    made = tmp_path / "made.svg"
    subprocess.run([sys.executable, str(ROOT / command[1]), str(made)], check=True)
    assert made.read_text(encoding="utf-8") == (ROOT / command[2]).read_text(encoding="utf-8")


def test_readme(capsys):
    (block,) = blocks("README.md")
    exec(block, {})  # noqa: S102
    assert "corner 32 inside 120" in capsys.readouterr().out


def test_networks(tmp_path, monkeypatch, capsys):
    """The page's lines, over a model of one pooling."""
    onnx = pytest.importorskip("onnx")
    from network_models import one_node

    onnx.save(one_node("MaxPool", ["a"], {}, (3, 64, 64), kernel_shape=[64, 64]), tmp_path / "resnet18.onnx")
    monkeypatch.chdir(tmp_path)
    names = {}
    first, kernels, engine = blocks("docs/networks.md")
    exec(first, names)  # noqa: S102
    assert names["logits"].tolist() == [[7, 7, 7]]
    exec(kernels, names)  # noqa: S102
    assert "max_pool nc4: node" in capsys.readouterr().out and names["plan"].us > 0
    assert '"H200", ' in engine
    exec(engine.replace('"H200", ', ""), names)  # noqa: S102  for which not every machine can compile
    assert "kernels of the file, for 64 images on the CPU" in names["model"].describe(64)


def test_command_of_networks():
    """The page's lines of weft_run are such as it takes, and its table has all of its options."""
    from weft.network import run

    lines = [line for block in blocks("docs/networks.md", "sh") for line in block.splitlines() if "weft_run " in line]
    for line in lines:
        run._parsed(shlex.split(line)[1:])
    options = {name for line in re.findall(r"^\| (`--[^|]*) \|", (ROOT / "docs/networks.md").read_text(encoding="utf-8"), re.M) for name in re.findall("--[a-z]+", line)}
    assert len(lines) == 2 and options == {f"--{name}" for name in vars(run._parsed(["x"]))} - {"--model"}


def test_file_of_a_model():
    """The text in docs/networks.md is that of a graph, and its constants have the bytes of which it speaks."""
    from weft import network

    (block,) = blocks("docs/networks.md", "json")
    text = json.dumps(json.loads(block)).encode()
    text += b" " * (-len(text) % 64)
    constants = np.zeros(9472 + 256, np.uint8)
    constants[9408:9412] = np.frombuffer(np.float32(0.01).tobytes(), np.uint8)
    behind = text + constants.tobytes()
    beginning = b"WEFTNET\n" + struct.pack("<IIQQ", 1, 0, len(text), constants.size)
    graph = network.read_graph(beginning + hashlib.sha256(behind).hexdigest().encode() + bytes(32) + behind)
    assert graph.outputs == ["a"] and graph.nodes[1].filter.shape == (64, 3, 7, 7)
