#!/usr/bin/env python3
"""Whole networks on a GPU: bits against onnxruntime, and times.

    perf/networks.py make FOLDER              # here: models by onnxruntime's quantiser, and its outputs (packages onnx, onnxruntime)
    perf/networks.py run FOLDER --json=FILE   # there: packages weft and torch

Models have random weights; outputs are onnxruntime's on x86, of four random images. A time is the median of several, each of a CUDA
graph that is replayed over and over, of a float image in and logits out, over several inputs in turn where they do not fit the L2 cache.
A kernel's microseconds are torch's profiler's, of one run that is no graph.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGES, SEED, REPEATS = 4, 7, 9


def models():
    """Of each network its name, the quantised model and the size of an image."""
    sys.path.insert(0, str(ROOT / "python/tests"))
    import architectures

    whole = dict(blocks=(3, 4, 6, 3), width=64, classes=1000)
    quantised = architectures.example.quantised
    yield "resnet50_224_u8", quantised(architectures.resnet50(224, **whole), 224), 224
    for name, model in architectures.ALL.items():
        size = architectures.SIZES[name]
        if name == "resnet18":
            continue  # its weights are as large as ResNet-50's
        for signed in (False, True):
            # The quantiser leaves floats in QOperator models of MobileNets.
            yield (f"{name}_{size}_{'s8' if signed else 'u8'}",
                   quantised(model(size), size, signed=signed, qdq=name.startswith("mobilenet")), size)


def make(folder):
    import onnxruntime

    import weft.network

    onnxruntime.set_default_logger_severity(3)
    folder.mkdir(parents=True, exist_ok=True)
    for name, quantised, size in models():
        (folder / f"{name}.weft").write_bytes(weft.network.write_graph(weft.network.import_onnx(quantised)))
        session = onnxruntime.InferenceSession(quantised.SerializeToString(), providers=["CPUExecutionProvider"])
        x = np.random.default_rng(SEED).normal(size=(IMAGES, 3, size, size)).astype(np.float32)
        each = [session.run(None, {"x": x[i:i + 1]}) for i in range(IMAGES)]
        np.savez(folder / f"{name}.npz", *[np.concatenate(parts) for parts in zip(*each)])
        print(name, len(quantised.graph.node), "nodes", flush=True)


def differences(network, path):
    import torch

    wanted = np.load(path.with_suffix(".npz"))
    x = np.random.default_rng(SEED).normal(size=(IMAGES, *network.inputs[0][2])).astype(np.float32)
    begin = time.perf_counter()
    network.prepare(IMAGES, gpu=True)
    first = time.perf_counter() - begin
    outputs = network(torch.from_numpy(x).cuda())
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    wrong = sum(int((y.cpu().numpy().reshape(w.shape) != w).sum()) for y, w in zip(outputs, wanted.values()))
    return dict(outputs=sum(w.size for w in wanted.values()), differ=wrong, different_values=len(np.unique(wanted[wanted.files[0]])),
                prepare_s=round(first, 2))


def measured(network, batch):
    import torch

    inputs = [torch.randn(batch, *network.inputs[0][2], device="cuda") for _ in range(4)]
    network.prepare(batch, gpu=True)
    network(inputs[0])
    graphs = []
    for x in inputs:
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            network(x)
    times = []
    runs = max(4, 400 // batch)
    for _ in range(REPEATS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for i in range(runs):
            graphs[i % 4].replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / runs)
    ms = sorted(times)[len(times) // 2]
    planned = network.planned(batch, gpu=True)
    return dict(batch=batch, ms=round(ms, 5), images_per_s=round(batch / ms * 1000), arena_mb_per_image=round(planned.arena_bytes / batch / 1e6, 3))


def profile(network, batch):
    import torch

    x = torch.randn(batch, *network.inputs[0][2], device="cuda")
    lines = network.describe(batch, gpu=True).splitlines()[1:]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for _ in range(3):
            network(x)
        torch.cuda.synchronize()
    events = sorted((e for e in profiler.events() if "Entry" in e.name), key=lambda e: e.time_range.start)
    last = events[-len(lines):]
    return [dict(us=round(event.device_time, 2), kernel=line) for event, line in zip(last, lines)]


def run(folder, output):
    import torch

    import weft

    commit = pathlib.Path(ROOT / ".carry/commit")
    commit = commit.read_text().strip() if commit.exists() else subprocess.run(
        ["git", "log", "-1", "--format=%h", "--abbrev=10"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    result = dict(commit=commit, gpu=torch.cuda.get_device_name(), torch=torch.__version__, command="perf/networks.py run", networks=[])
    for path in sorted(folder.glob("*.weft")):
        network = weft.load(path)
        row = dict(name=path.stem, **differences(network, path))
        whole = path.stem == "resnet50_224_u8"
        row["times"] = [measured(network, batch) for batch in ((1, 64, 256, 512) if whole else (1, 64))]
        if whole:
            row["profile"] = {f"n{batch}": profile(network, batch) for batch in (1, 64, 512)}
        result["networks"].append(row)
        print(json.dumps({key: value for key, value in row.items() if key != "profile"}), flush=True)
        output.write_text(json.dumps(result, indent=1) + "\n")
    return 1 if any(row["differ"] for row in result["networks"]) else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=["make", "run"])
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--json", type=pathlib.Path, default=ROOT / "perf/results/networks-h200.json")
    a = arguments.parse_args()
    if a.what == "make":
        make(a.folder)
    else:
        sys.exit(run(a.folder, a.json))


if __name__ == "__main__":
    main()
