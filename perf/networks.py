#!/usr/bin/env python3
"""Whole networks on a GPU: bits against onnxruntime, and times.

    perf/networks.py make FOLDER --only '*_224_u8' yolo_320_u8    # here: models by onnxruntime's quantiser, and its outputs (packages onnx, onnxruntime)
    perf/networks.py run FOLDER --json=FILE                       # there: packages weft and torch
    perf/networks.py peers FOLDER --json=PEERS --peers default    # the same networks in half by torch.compile, on this GPU or another of its kind
    perf/networks.py join FOLDER --json=FILE --beside=PEERS       # puts the peers' times beside ours
    perf/networks.py unpack FOLDER                                # the networks as .weft files beside those of make

Models have random weights, which are drawn there again (drawn_models.py); outputs are onnxruntime's on x86, of four random images, but of
exports of PyTorch and TensorRT's placement those of the formulas of docs/networks.md. A time is the median of several, each of a CUDA
graph that is replayed over and over, of a float image in and logits out, over several inputs in turn where they do not fit the L2 cache.
The peer (torch_network.py) is measured likewise, with images of half in channels_last, in each of the modes that are named; `ratio` is the
best of them over ours. A kernel's microseconds are those of Network.profile.
"""
import argparse
import fnmatch
import functools
import json
import pathlib
import sys
import time

import numpy as np

import drawn_models
import libraries

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGES, SEED, REPEATS = 4, 7, 9


def models():
    """Of each network its name, a function that makes the model of floats, how it is quantised, and the size of an image."""
    sys.path.insert(0, str(ROOT / "python/tests"))
    import architectures

    # The quantiser leaves floats in QOperator models of MobileNets, and of averages behind a SiLU.
    qdq = ("mobilenet_v2", "mobilenet_v3", "efficientnet")
    for name, (model, size) in architectures.WHOLE.items():
        yield f"{name}_{size}_u8", functools.partial(model, size), dict(qdq=name in qdq), size
    for name, model in architectures.ALL.items():
        size = architectures.SIZES[name]
        for signed in (False, True) if name != "resnet18" else ():  # which is no narrower than the published one
            yield f"{name}_{size}_{'s8' if signed else 'u8'}", functools.partial(model, size), dict(signed=signed, qdq=name in qdq), size


def exports():
    """Of PyTorch's exports that tests have, and of random models in TensorRT's placement, the name and the model. The formulas say what they compute."""
    import onnx
    import placed_models

    for name, element in (("pt2e_x86", "u8"), ("pt2e_xnnpack", "s8")):
        yield f"{name}_32_{element}", onnx.load(ROOT / "python/tests/models" / f"{name}.onnx")
    for seed in range(4):
        made = placed_models.PlacedModel(seed, "int8" if seed % 2 else "uint8", exact=False)
        yield f"placed{seed}_{made.size[1]}_{'s8' if seed % 2 else 'u8'}", made.model()


def fits(name, patterns):
    return not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def make(folder, patterns):
    import onnxruntime

    import weft.network
    from weft.network._compare import onnxruntime_saturates

    onnxruntime.set_default_logger_severity(3)
    folder.mkdir(parents=True, exist_ok=True)
    for name, model, how, size in models():
        path = folder / f"{name}.npz"
        if path.exists() or not fits(name, patterns):
            continue
        import architectures

        floats = model()
        notes = drawn_models.notes_of(floats)  # before the quantiser moves its weights into a file
        quantised = architectures.example.quantised(floats, size, **how)
        graph, x = weft.network.import_onnx(quantised), images((3, size, size))
        if onnxruntime_saturates():  # then its outputs are others than elsewhere, and those of the formulas are not
            wanted = weft.network.run_reference(graph, {"x": x}).values()
        else:
            session = onnxruntime.InferenceSession(quantised.SerializeToString(), providers=["CPUExecutionProvider"])
            wanted = [np.concatenate(parts) for parts in zip(*[session.run(None, {"x": x[i:i + 1]}) for i in range(IMAGES)])]
        drawn_models.pack(path, graph, notes, wanted)
        print(f"{name}: {len(quantised.graph.node)} nodes, {path.stat().st_size / 1e6:.2f} MB", flush=True)
    for name, model in exports():
        path = folder / f"{name}.npz"
        if path.exists() or not fits(name, patterns):
            continue
        graph = weft.network.import_onnx(model)
        shape = graph.tensors[graph.inputs[0]].shape
        drawn_models.pack(path, graph, None, weft.network.run_reference(graph, {graph.inputs[0]: images(shape)}).values())


def images(shape):
    return np.random.default_rng(SEED).normal(size=(IMAGES, *shape)).astype(np.float32)


def differences(network, wanted, gpu=True):
    """How many outputs of the images are others than wanted."""
    x = images(network.inputs[0][2])
    begin = time.perf_counter()
    network.prepare(IMAGES, gpu=gpu)
    first = time.perf_counter() - begin
    if gpu:
        import torch

        x = torch.from_numpy(x).cuda()
    outputs = network(x)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    outputs = [y.cpu().numpy() if gpu else y for y in outputs]
    wrong = sum(int((y.reshape(w.shape) != w).sum()) for y, w in zip(outputs, wanted, strict=True))
    return dict(outputs=sum(w.size for w in wanted), differ=wrong, different_values=len(np.unique(wanted[0])), prepare_s=round(first, 2))


def graphed_ms(call, inputs, batch):
    """The time of a call, in a CUDA graph for each of several inputs."""
    import torch

    call(inputs[0])
    graphs = []
    for x in inputs:
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            call(x)
    times = []
    runs = max(4, 400 // batch)
    for _ in range(REPEATS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for i in range(runs):
            graphs[i % len(graphs)].replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / runs)
    return sorted(times)[len(times) // 2]


def measured(network, batch, tunes):
    import torch

    network.prepare(batch, gpu=True)
    tuned = {}
    if tunes:
        found = network.tune(batch)
        tuned = {f"tuned_{key}": round(found[key], 2) for key in ("before_us", "after_us")}
    ms = graphed_ms(network, [torch.randn(batch, *network.inputs[0][2], device="cuda") for _ in range(4)], batch)
    planned = network.planned(batch, gpu=True)
    return dict(batch=batch, **tuned, ms=round(ms, 5), images_per_s=round(batch / ms * 1000), arena_mb_per_image=round(planned.arena_bytes / batch / 1e6, 3))


def peers(model, shape, batch, modes):
    """The milliseconds of the same network by PyTorch in half, by the mode of torch.compile."""
    import torch

    import torch_network

    found = {}
    inputs = [torch.randn(batch, *shape, device="cuda").half().to(memory_format=torch.channels_last) for _ in range(4)]
    for mode in modes:
        with torch.inference_mode():
            call = torch_network.compiled(model, mode)
            for x in inputs[:2]:
                call(x)
            torch.cuda.synchronize()
            found[mode] = round(graphed_ms(call, inputs, batch), 5)
    return found


def profile(network, batch):
    """Of each kernel what it is and its microseconds, between events of a graph of the whole run."""
    import torch

    steps = network.profile(torch.randn(batch, *network.inputs[0][2], device="cuda")).steps
    return [dict(us=round(step.us, 2), name=step.name, kernel=step.kernel, detail=step.detail, output=step.destination.shape,
                 format=step.destination.format) for step in steps]


def unpack(folder, patterns):
    for path in sorted(folder.glob("*.npz")):
        if fits(path.stem, patterns):
            path.with_suffix(".weft").write_bytes(drawn_models.unpack(path)[0])


def run_peers(folder, output, patterns, modes):
    """Measures the peers of each network of the folder that the result file does not have: milliseconds by names, batches and modes."""
    found = json.loads(output.read_text()) if output.exists() else {}
    for path in sorted(folder.glob("*_224_*.npz"), key=lambda path: path.stat().st_size) + sorted(folder.glob("*_320_*.npz")):
        with np.load(path) as file:
            model = json.loads(str(file["notes"]))["model"]
        if model is None or not fits(path.stem, patterns):
            continue
        size = int(path.stem.split("_")[-2])
        for batch in ("1", "64"):
            of = found.setdefault(path.stem, {}).setdefault(batch, {})
            missing = [mode for mode in modes if mode not in of]
            if missing:
                of.update(peers(model, (3, size, size), int(batch), missing))
                output.write_text(json.dumps(found, indent=1) + "\n")
                print(path.stem, batch, of, flush=True)


def join(output, beside):
    """Puts the milliseconds of run_peers into a result file of run, with `ratio`, the best peer's over ours."""
    result, found = json.loads(output.read_text()), json.loads(beside.read_text())
    for row in result["networks"]:
        for times in row["times"]:
            peer = found.get(row["name"], {}).get(str(times["batch"]))
            if peer:
                times["torch_half_ms"] = peer
                times["ratio"] = round(min(peer.values()) / times["ms"], 3)
    output.write_text(json.dumps(result, indent=1) + "\n")


def run(folder, output, patterns, tunes, bits=False):
    """Measures each network of the folder that the result file does not have; called again, it goes on.

    tunes: the numbers of images for which tiles are tuned before. bits: outputs are compared and nothing is measured.
    """
    import tempfile

    import torch

    import weft

    result = dict(commit=libraries.commit(), gpu=torch.cuda.get_device_name(), torch=torch.__version__, command="perf/networks.py run" + " --bits" * bits, networks=[])
    earlier = json.loads(output.read_text()) if output.exists() else {}
    if all(earlier.get(key) == result[key] for key in ("commit", "command")):
        result["networks"] = earlier["networks"]
    rows = {row["name"]: row for row in result["networks"]}

    def write(row):
        output.write_text(json.dumps(result, indent=1) + "\n")
        print(json.dumps({key: value for key, value in row.items() if key != "profile"}), flush=True)

    paths = [path for path in sorted(folder.glob("*.npz"), key=lambda path: path.stat().st_size) if fits(path.stem, patterns)]
    for path in paths:
        if path.stem in rows:
            continue
        data, _, wanted = drawn_models.unpack(path)
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place) / f"{path.stem}.weft"
            file.write_bytes(data)
            network = weft.load(file)
        row = rows[path.stem] = dict(name=path.stem, **differences(network, wanted))
        whole = path.stem == "resnet50_224_u8"
        row["times"] = [measured(network, batch, batch in tunes) for batch in (() if bits else (1, 64, 256, 512) if whole else (1, 64))]
        if whole and not bits:
            row["profile"] = {f"n{batch}": profile(network, batch) for batch in (1, 64, 512)}
        result["networks"].append(row)
        write(row)
    return 1 if any(row["differ"] for row in result["networks"]) else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=["make", "run", "peers", "join", "unpack"])
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--only", nargs="*", default=[], metavar="PATTERN", help="networks whose names fit, such as '*_224_u8'")
    arguments.add_argument("--json", type=pathlib.Path, help="run and join: default perf/results/networks-h200.json, with --bits networks-h200-small.json; peers: where times go")
    arguments.add_argument("--peers", nargs="*", default=["default"], metavar="MODE", help="peers: modes of torch.compile, such as default max-autotune-no-cudagraphs")
    arguments.add_argument("--beside", type=pathlib.Path, metavar="FILE", help="join: what peers wrote")
    arguments.add_argument("--bits", action="store_true", help="outputs are compared and nothing is measured")
    arguments.add_argument("--tune", nargs="*", type=int, default=[], metavar="N", help="numbers of images for which tiles are tuned, about a minute each")
    a = arguments.parse_args()
    if a.what == "peers" and a.json is None or a.what == "join" and a.beside is None:
        arguments.error("peers takes --json=FILE, and join --beside=FILE, which peers wrote")
    if a.what == "run":
        default = ROOT / "perf/results" / ("networks-h200-small.json" if a.bits else "networks-h200.json")
        sys.exit(run(a.folder, a.json or default, a.only, a.tune, a.bits))
    elif a.what == "peers":
        run_peers(a.folder, a.json, a.only, a.peers)
    elif a.what == "join":
        join(a.json or ROOT / "perf/results/networks-h200.json", a.beside)
    else:
        (make if a.what == "make" else unpack)(a.folder, a.only)


if __name__ == "__main__":
    main()
