"""What is said and shown of a network's kernels: Network.plan and Network.profile, the table, the page and the limit of memory."""
import dataclasses
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import weft
from weft import network
from weft.network import _profile, _table, run
from weft.network._page import page_of, picture_of, rows, svg

SVG, XHTML = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xhtml}"


def graph_of_all():
    """A convolution, another with an addition behind it, a concat, a pooling, and an output in the middle that is no float."""
    random = np.random.default_rng(2)
    g = network.Graph("all <&>", inputs=["x"], outputs=["y", "a"])
    for t in (network.Tensor("x", "float", (3, 8, 8)), network.Tensor("q", "uint8", (3, 8, 8), 0.02, 120), network.Tensor("a", "uint8", (32, 8, 8), 0.125, 9),
              network.Tensor("b", "uint8", (32, 8, 8), 0.125, 0), network.Tensor("s", "uint8", (32, 8, 8), 0.25, 3), network.Tensor("c", "uint8", (64, 8, 8), 0.25, 3),
              network.Tensor("p", "uint8", (64, 4, 4), 0.25, 3), network.Tensor("y", "float", (64, 4, 4))):
        g.tensors[t.name] = t

    def convolution(name, source, output, c):
        return network.Node("convolution", name, [source], output, window=(3, 3), padding=(1, 1, 1, 1), filter=random.integers(-128, 128, (32, c, 3, 3)).astype(np.int8),
                            filter_scale=np.array([0.003], np.float32), bias=random.integers(-900, 900, 32).astype(np.int32))

    g.nodes = [network.Node("quantize", "first", ["x"], "q"), convolution("conv<1>", "q", "a", 3), convolution("conv2", "a", "b", 32),
               network.Node("add", "sum", ["b", "a"], "s"), network.Node("concat", "both", ["s", "a"], "c"),
               network.Node("max_pool", "pool", ["c"], "p", window=(2, 2), stride=(2, 2)), network.Node("dequantize", "last", ["p"], "y")]
    return g


@pytest.fixture(scope="module")
def model():
    return network.Network(graph_of_all())


@pytest.fixture(scope="module")
def measured(model):
    return model.profile(np.zeros((2, 3, 8, 8), np.float32), repeats=2)


def on_gpu(plan):
    """The plan as if a GPU had run it: the kernels' times are 2, 3, 4 ... microseconds, and their floors half of that."""
    steps = tuple(dataclasses.replace(step, floor_us=1 + at / 2) for at, step in enumerate(plan.steps))
    return _profile.with_times(dataclasses.replace(plan, gpu=True, steps=steps), [2.0 + at for at in range(len(steps))], 20.0)


def test_plan(model, measured):
    plan = model.plan(2)
    assert [step.us for step in plan.steps] == [None] * len(plan.steps) and plan.us is None
    fused = next(step for step in plan.steps if "sum" in step.nodes)
    assert fused.nodes == ("conv2", "sum") and fused.source.name == fused.other.name == "a" and fused.detail == "3x3"
    assert fused.destination == network.PlannedTensor("s", "uint8", (2, 32, 8, 8), "nc32", 2 * 32 * 64, "arena", fused.destination.offset)
    assert fused.bytes == 3 * 2 * 32 * 64 + 32 * 32 * 9 + 4 + 32 * 4 and fused.operations == 2 * 2 * 64 * 32 * 32 * 9
    assert sum(not step.nodes for step in plan.steps) == 1  # a, which is an output, in another format
    assert {step.floor_us for step in plan.steps} == {None} and plan.floor_us is None
    assert plan.arena_bytes == model.planned(2).arena_bytes and plan.port_bytes == 2 * 4 * (3 * 64 + 64 * 16) + 2 * 32 * 64
    assert all(first <= last < len(plan.steps) and tensor.offset + tensor.bytes <= plan.arena_bytes for tensor, first, last in plan.lives())
    assert all(step.us > 0 for step in measured.steps) and sum(step.share for step in measured.steps) == pytest.approx(1)
    assert measured.us == pytest.approx(sum(step.us for step in measured.steps))
    assert [dataclasses.replace(step, us=None, share=None) for step in measured.steps] == list(plan.steps)
    with pytest.raises(weft.ArgumentError, match=r"repeats=0 is no whole number from 1 to 2\^31 - 1"):
        model.profile(np.zeros((2, 3, 8, 8), np.float32), repeats=0)


def test_table(model, measured):
    for plan, head in ((measured, "us share MB Gop kernel format output nodes"), (on_gpu(measured), "us floor share MB Gop kernel format output nodes"),
                       (model.plan(2), "MB Gop kernel format output nodes")):
        lines = _table.table_of(plan).splitlines()
        assert lines[0].split() == head.split() and len(lines) == 1 + len(plan.steps) + 1 + (plan.us is not None) + 1
        assert re.search(r"convert +nc32 > nchw +32x8x8 +\(a in another format\)", "\n".join(lines))
        assert any("conv2 + sum, 3x3" in line for line in lines) and "of arena" in lines[-1]
    assert lines[-1].endswith("KB of filters")
    lines = _table.table_of(on_gpu(measured)).splitlines()
    assert lines[-2] == "  a run: 20.0 us, 100,000 images/s" and lines[1].split()[:4] == ["0", "2.0", "1.0", f"{200 / sum(range(2, 2 + len(measured.steps))):.1f}"]


def groups(root, class_):
    return [g for g in root.iter(f"{SVG}g") if class_ in (g.get("class") or "").split()]


def titles(root, class_):
    return [g.find(f"{SVG}title").text for g in groups(root, class_)]


@pytest.mark.parametrize("kind", ("plan", "cpu", "gpu"))
def test_page(model, measured, kind):
    """Well-formed, with each node and each kernel once in its picture, in the colours of formats, and nothing from elsewhere."""
    plan = {"plan": model.plan(2), "cpu": measured, "gpu": on_gpu(measured)}[kind]
    page = page_of(model.graph, [plan], "an NVIDIA Test")
    assert page == page_of(model.graph, [plan], "an NVIDIA Test")
    root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
    assert root.find(f".//{XHTML}h1").text == "all <&>"
    pictures = root.findall(f".//{SVG}svg")
    assert len(pictures) == 3  # a strip, the graph and the arena
    picture = pictures[1]
    assert sorted(title.split(":")[0] for title in titles(picture, "node")) == sorted(node.name for node in model.graph.nodes)
    assert [title.split("\n")[0] for title in titles(picture, "kernel")] == [_table.name_of(step) for step in plan.steps]
    assert [title.split("\n")[0] for title in titles(pictures[0], "kernel")] == [_table.name_of(step) for step in plan.steps]
    assert len(titles(pictures[2], "life")) == len(plan.lives())
    assert [rect.get("class") for rect in picture.iter(f"{SVG}rect")].count("fused") == 2  # one of them explains the other
    strokes = [group.find(f"{SVG}rect").get("stroke") for group in groups(picture, "kernel")]
    assert strokes == [svg.COLORS[step.destination.format] for step in plan.steps]
    assert len(root.findall(f".//{XHTML}table")) == 2 and ("images/s" in page) == (kind != "plan") and ("sum of floors" in page) == (kind == "gpu")
    assert not re.search(r"<script|<link|@import|url\((?!#)|(src|href)=\"(?!#)", page)
    assert [use for use in re.findall(r"url\(#([^)]*)\)", page) if f'id="{use}"' not in page] == []


def test_boxes_do_not_overlap(model, measured):
    """Boxes of nodes, and of kernels, lie one below the other, inside the picture; kernels lie beside their nodes."""
    root = ElementTree.fromstring(picture_of(model.graph, on_gpu(measured)))
    width, height = float(root.get("width")), float(root.get("height"))
    for class_ in ("node", "kernel"):
        boxes = sorted((float(rect.get("y")), float(rect.get("height")), float(rect.get("x")) + float(rect.get("width")))
                       for rect in (group.find(f"{SVG}rect") for group in groups(root, class_)))
        assert all(a[0] + a[1] < b[0] for a, b in zip(boxes, boxes[1:]))
        assert all(0 < y and y + h < height and right < width for y, h, right in boxes)
    blocks = rows.blocks_of(model.graph, measured)
    assert [block.rows for block in blocks].count(2) == 1 and sum(len(block.nodes) for block in blocks) == len(model.graph.nodes)


def test_nodes_without_a_kernel(model, measured):
    """A node that no step names, as of a plan that does without it, is shown where the graph has it."""
    plan = dataclasses.replace(measured, steps=tuple(dataclasses.replace(step, nodes=tuple(n for n in step.nodes if n != "sum")) for step in measured.steps))
    blocks = rows.blocks_of(model.graph, plan)
    assert [block.nodes[0].name for block in blocks if block.step is None] == ["sum"]
    ElementTree.fromstring(picture_of(model.graph, plan))


def test_lanes():
    """Nets in one lane have no row in common but their ends; what stands right below needs none."""
    nets = [rows.Net("a", "", (0,), (1,)), rows.Net("b", "", (0,), (1, 5)), rows.Net("c", "", (1,), (3,)), rows.Net("d", "", (3,), (5,)), rows.Net("e", "", (1, 2), (3,))]
    placed, lanes = rows.lanes_of(nets, rows.next_rows([*range(6)]))
    assert {net.tensor: lane for net, lane in placed} == {"c": 0, "e": 1, "d": 0, "b": 2} and lanes == 3


def test_text_of_any_kind():
    assert svg.element("text", svg.plain("a<b>&\x00"), class_="x", stroke_width=1.26, missing=None) == '<text class="x" stroke-width="1.3">a&lt;b&gt;&amp;?</text>'
    assert svg.shortened("/layer1/conv/Conv_quant", 80) == "\u2026/Conv_quant" and svg.shortened("conv", 80) == "conv"


@pytest.mark.parametrize("said, count", (("64MB", 64_000_000), ("1.5 KiB", 1536), ("2g", 2_000_000_000), ("100", 100), ("0.5MiB", 1 << 19), ("7b", 7)))
def test_amounts_of_memory(said, count):
    assert run.bytes_of(said) == count


@pytest.fixture
def file(model, tmp_path):
    model.save(tmp_path / "all.weft")
    return str(tmp_path / "all.weft")


def test_command(model, file, tmp_path, capsys):
    page, picture = tmp_path / "page.html", tmp_path / "picture.svg"
    assert run.main([file, "--cpu", "--batch", "1,2,1", "--memory", "1MB", "--profile", "--page", str(page), "--compare", "reference"]) == 0
    said = capsys.readouterr().out
    assert said.count("batch ") == 2 and said.count("conv2 + sum, 3x3") == 2 and "y: 0 of 2048 elements differ" in said and f"{page}: " in said
    root = ElementTree.fromstring(page.read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>\n"))
    assert [section.get("id") for section in root.iter(f"{XHTML}section")] == ["batch-1", "batch-2"]
    assert run.main([file, "--cpu", "--page", str(picture)]) == 0
    assert ElementTree.fromstring(picture.read_text(encoding="utf-8")).tag == f"{SVG}svg"


def test_layouts(file, capsys):
    """Formats that are given are those of kernels, of which the page has the colours."""
    picture = pathlib.Path(file).with_suffix(".svg")
    assert run.main([file, "--cpu", "--layouts", "nhwc,nc4", "--profile", "--page", str(picture), "--compare", "reference"]) == 0
    said = capsys.readouterr().out
    assert " nhwc " in said and "y: 0 of 1024 elements differ" in said and svg.COLORS["nhwc"] in picture.read_text(encoding="utf-8")


def test_tuned(file, monkeypatch, tmp_path, capsys):
    """Each number of images is tuned, and what is saved has the kernels that were found."""
    calls = []
    monkeypatch.setattr(run._weft, "gpu", lambda: "compute capability 9.0")
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(network.Network, "tune", lambda self, batch, progress: calls.append((batch, progress)) or {"before_us": 1234.5, "after_us": 2.0})
    monkeypatch.setattr(network.Network, "save", lambda self, path, on, batch: calls.append((on, batch)) or path.write_bytes(b"engine"))
    assert run.main([file, "--tune", "--batch", "1,2", "--save", str(tmp_path / "engine.weft")]) == 0
    assert calls == [(1, True), (2, True), (["gpu"], [1, 2])]
    assert "batch 2 tuned: 1,234.5 us a run before, 2.0 us after" in capsys.readouterr().out


@pytest.mark.parametrize("more, sentence", [(["--memory", "lots"], "--memory lots is no amount of memory above 0"), (["--memory", "0MB"], "--memory 0MB is no amount"),
                                            (["--layouts", "nc8"], 'layouts has "nc8"; give some of'), (["--tune"], "--tune measures kernels on a GPU; give it without --cpu"), (["--page", "page.pdf"], "--page page.pdf: give a file.html or file.svg"),
                                            (["--reference", "--page", "page.html"], "without --reference, which has no kernels"),
                                            (["--page", "none/page.html"], "--page none/page.html: No such file or directory")])
def test_refused(file, more, sentence, capsys):
    assert run.main([file, "--cpu" if "--reference" not in more else "--nodes", *more]) == 2
    assert sentence in capsys.readouterr().err


def test_memory(model, file, capsys):
    """What is too much is refused before anything is compiled, with the number of images that fit."""
    five = model.planned(5).arena_bytes
    assert run.main([file, "--cpu", "--batch", "64", "--memory", f"{five}"]) == 2
    assert re.search(rf"the arena of 64 images has \d+ bytes, and memory={five}; allow more, or give at most 5 images", capsys.readouterr().err)
    with pytest.raises(weft.RunError, match="the arena of 1 image has .* memory=1; allow more; not even one image fits"):
        weft.load(file, memory=1).prepare(1)
    with pytest.raises(weft.ArgumentError, match="memory='64MB' is no number of bytes"):
        weft.load(file, memory="64MB")


@pytest.mark.parametrize("library", ("torch", "cupy"))
def test_profile_on_gpu(model, library):
    gpu = weft._weft.gpu()
    if not gpu.startswith("compute capability"):
        pytest.skip(f"no GPU: {gpu}")
    lib = pytest.importorskip(library)
    x = np.random.default_rng(5).normal(size=(4, 3, 8, 8)).astype(np.float32)
    plan = model.profile(lib.from_numpy(x).cuda() if library == "torch" else lib.asarray(x), repeats=3)
    assert plan.gpu and all(0 < step.us < 1e4 and step.floor_us > 0 for step in plan.steps) and 0 < plan.us < 1e4
    assert "floor" in _table.table_of(plan).splitlines()[0]
