"""weft_run, also python -m weft.network.run: runs a model, says what it takes, and compares it with onnxruntime.

    weft_run resnet18.onnx --batch 1,64 --compare onnxruntime
    weft_run resnet18.onnx --input cat.png --save resnet18.weft
"""
from __future__ import annotations

import argparse
import math
import pathlib
import sys
import time
from typing import Any, Callable

import numpy as np

from .. import _weft
from . import load_graph, run_reference
from ._graph import Graph, Node
from ._network import Network

# What pictures of ImageNet are normalized by, as torchvision's models expect them.
_MEAN, _DEVIATION = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)


def main(arguments: list[str] | None = None) -> int:
    """The command. Gives 1 if outputs differ from those that they are compared with, and 2 if something is refused."""
    try:
        return _run(_parsed(arguments))
    except _weft.Error as error:
        print(error, file=sys.stderr)
        return 2


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="weft_run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="a quantized .onnx model, or a .weft file")
    parser.add_argument("--input", default="random", metavar="random|X.npy|PICTURE",
                        help="what the first input is given: a picture is scaled to its size and normalized as ImageNet's are (default: random)")
    parser.add_argument("--batch", default="1", help="numbers of images, 1,64 for instance (default: 1)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--cpu", action="store_true", help="run on the CPU, which computes the same bits and takes much longer")
    where.add_argument("--gpu", action="store_true", help="run on a GPU, with the memory of torch or cupy (default where there is one)")
    where.add_argument("--reference", action="store_true", help="run the formulas in numpy")
    parser.add_argument("--compare", choices=("onnxruntime", "reference"), help="count the elements of the outputs that differ")
    parser.add_argument("--save", type=pathlib.Path, metavar="MODEL.weft", help="write the graph, for C++ and for machines without onnx")
    parser.add_argument("--nodes", action="store_true", help="print a line for each node of the graph")
    parser.add_argument("--profile", action="store_true", help="print a line for each kernel, with --reference the time of each node")
    return parser.parse_args(arguments)


def _run(a: argparse.Namespace) -> int:
    graph = load_graph(a.model)
    model = Network(graph)
    print(_summary(graph))
    if a.nodes:
        _print_nodes(graph)
    if a.save:
        model.save(a.save)
        print(f"{a.save}: {a.save.stat().st_size:,} bytes")
    try:
        batches = [int(n) for n in a.batch.split(",")]
    except ValueError:
        batches = [0]
    if min(batches) < 1:
        raise _weft.ArgumentError(f"weft: --batch {a.batch} is not one or more numbers above 0 with commas between them")
    return max(_run_batch(a, model, batch) for batch in batches)


def _run_batch(a: argparse.Namespace, model: Network, batch: int) -> int:
    graph = model.graph
    inputs = _inputs(graph, a.input, batch)
    if a.reference:
        seconds: dict[str, float] = {}
        outputs = run_reference(graph, inputs, seconds)
        total = sum(seconds.values())
        print(f"batch {batch}, formulas in numpy: {1e3 * total:.1f} ms")
        if a.profile:
            for name, taken in sorted(seconds.items(), key=lambda item: -item[1]):
                print(f"  {1e3 * taken:8.2f} ms  {100 * taken / total:5.1f} %  {name}")
    else:
        outputs = _run_network(a, model, inputs, batch)
    for name, y in outputs.items():
        if a.input != "random" and y.ndim == 2:
            best = np.argsort(-y[0].astype(np.float64), kind="stable")[:5]  # of integers the least would have no opposite
            print(f"  {name}: the greatest are " + ", ".join(f"{i} ({y[0][i]:.4g})" for i in best))
    return _compare(a, graph, inputs, outputs) if a.compare else 0


def _summary(graph: Graph) -> str:
    work = sum(_multiplications(graph, node) for node in graph.nodes)
    filters = sum(node.filter.size for node in graph.nodes if node.filter is not None)
    return f"{graph!r}\n  {len(graph.nodes)} nodes, {filters:,} weights, {work:,} multiplications an image"


def _multiplications(graph: Graph, node: Node) -> int:
    if node.filter is None:
        return 0
    return math.prod(graph.tensors[node.output].shape[1:]) * node.filter.size


def _print_nodes(graph: Graph) -> None:
    widest = max(len(node.name) for node in graph.nodes)
    for node in graph.nodes:
        t = graph.tensors[node.output]
        window = f"{node.window[0]}x{node.window[1]} / {node.stride[0]}x{node.stride[1]}" if node.window != (1, 1) or node.stride != (1, 1) else ""
        groups = f" in {node.groups} groups" if node.groups > 1 else ""
        print(f"  {node.name:{widest}}  {node.kind:19}  {t.element:5}  {'x'.join(map(str, t.shape)):14}  {window}{groups}")


def _inputs(graph: Graph, given: str, batch: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    inputs = {}
    for at, name in enumerate(graph.inputs):
        tensor = graph.tensors[name]
        shape = (batch, *tensor.seen_shape)
        if at == 0 and given != "random":
            x = _read(pathlib.Path(given), tensor.shape)
            if not isinstance(x, np.ndarray):
                raise _weft.ArgumentError(f"weft: {given} holds several arrays; give a file of one, as numpy.save writes it")
            if x.shape in (tensor.shape, tensor.seen_shape):
                x = x[None]
            if x.shape[1:] != tensor.seen_shape or x.dtype != tensor.dtype or not len(x):
                raise _weft.ArgumentError(f"weft: {given} is {x.dtype} {x.shape}; input {name} is {tensor.dtype} {('n', *tensor.seen_shape)}")
            inputs[name] = np.ascontiguousarray(np.resize(x, shape))  # which repeats the images
        elif tensor.element == "float":
            inputs[name] = random.normal(size=shape).astype(np.float32)
        else:
            limits = np.iinfo(tensor.dtype)
            inputs[name] = random.integers(limits.min, limits.max + 1, shape).astype(tensor.dtype)
    return inputs


def _read(path: pathlib.Path, shape: tuple[int, int, int]) -> np.ndarray:
    """An array of numpy, or a picture as (3, h, w) of normalized floats."""
    try:
        if path.suffix == ".npy":
            return np.load(path)
        from PIL import Image

        picture = np.asarray(Image.open(path).convert("RGB").resize((shape[2], shape[1])), np.float32)
    except ImportError:
        raise _weft.RunError(f"weft: the package pillow reads {path}, and is not installed; give an array of numpy, X.npy") from None
    except Exception as error:  # OSError, EOFError and ValueError of numpy, and what else pillow says of a damaged picture
        raise _weft.ArgumentError(f"weft: {path} is neither an array of numpy nor a picture: {error}") from None
    return ((picture / np.float32(255) - _MEAN) / _DEVIATION).transpose(2, 0, 1)


def _run_network(a: argparse.Namespace, model: Network, inputs: dict[str, np.ndarray], batch: int) -> dict[str, np.ndarray]:
    library = None if a.cpu else _library(a.gpu)
    gpu = library is not None
    start = time.perf_counter()
    planned = model.planned(batch, gpu=gpu)
    print(f"batch {batch} on {'a GPU' if gpu else 'the CPU'}: made in {time.perf_counter() - start:.1f} s, arena {planned.arena_bytes:,} bytes, "
          f"filters {planned.constant_bytes:,} bytes")
    if a.profile:
        print(planned.describe())
    arrays = list(inputs.values())
    if library is not None:
        arrays = [library.from_numpy(x).cuda() if library.__name__ == "torch" else library.asarray(x) for x in arrays]
    wait = (lambda: None) if library is None else library.cuda.synchronize if library.__name__ == "torch" else library.cuda.runtime.deviceSynchronize
    outputs, seconds = _timed(lambda: model(*arrays), wait, repeats=20 if gpu else 1)
    print(f"  {1e3 * seconds:.3f} ms a run, {batch / seconds:,.0f} images/s")
    made = outputs if isinstance(outputs, tuple) else (outputs,)
    from .._arrays import to_numpy

    return dict(zip(model.graph.outputs, map(to_numpy, made)))


def _timed(run: Callable[[], Any], wait: Callable[[], None], repeats: int) -> tuple[Any, float]:
    """What the last run gave, and the mean time of `repeats` runs one behind the other; the first one of several is not counted."""
    if repeats > 1:
        run()
    wait()
    start = time.perf_counter()
    for _ in range(repeats):
        made = run()
    wait()
    return made, (time.perf_counter() - start) / repeats


def _library(asked: bool) -> Any:
    """torch or cupy, if there is a GPU; None otherwise, which is an error if a GPU was asked for."""
    gpu = _weft.gpu()
    reason = gpu
    if gpu.startswith("compute capability"):
        for name in ("torch", "cupy"):
            try:
                library = __import__(name)
                if library.cuda.is_available():
                    return library
                reason = f"the package {name} that is installed sees no GPU"
            except (ImportError, OSError) as error:  # OSError: a library of CUDA that does not load
                reason = reason if reason != gpu else f"neither torch nor cupy is there, whose memory of the GPU it takes ({error})"
    if asked:
        raise _weft.RunError(f"weft: --gpu: {reason}")
    return None


def _compare(a: argparse.Namespace, graph: Graph, inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> int:
    """Prints how many elements differ. 1 if any does."""
    wanted = run_reference(graph, inputs) if a.compare == "reference" else _by_onnxruntime(a.model, inputs)
    differ = 0
    for name, y in outputs.items():
        if name not in wanted:
            continue
        count = int(np.count_nonzero(y.reshape(wanted[name].shape) != wanted[name]))
        differ += count
        print(f"  {name}: {count} of {y.size} elements differ from {a.compare}'s")
    return 1 if differ else 0


def _by_onnxruntime(model: pathlib.Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    if model.suffix != ".onnx":
        raise _weft.ArgumentError(f"weft: --compare onnxruntime takes an .onnx model, and {model} is none")
    try:
        import onnxruntime
    except ImportError:
        raise _weft.RunError("weft: --compare onnxruntime: it is not installed: pip install weft[onnx]") from None
    try:
        return _session_run(onnxruntime, model, inputs)
    except _weft.Error:
        raise
    except Exception as error:  # of several types, which onnxruntime does not document
        raise _weft.RunError(f"weft: --compare onnxruntime: it does not run {model}: {(str(error).splitlines() or [type(error).__name__])[0]}") from None


def _session_run(onnxruntime: Any, model: pathlib.Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    count = len(next(iter(inputs.values())))
    fixed = session.get_inputs()[0].shape[0]
    step = fixed if isinstance(fixed, int) else count
    if count % step:
        raise _weft.ArgumentError(f"weft: --compare onnxruntime: the model takes {step} images at once, and the batch is {count}")
    # onnxruntime keeps the shapes of the model, in which a vector may have rows and columns.
    shaped = {port.name: inputs[port.name].reshape(count, *port.shape[1:]) for port in session.get_inputs()}
    parts = [session.run(None, {name: x[i : i + step] for name, x in shaped.items()}) for i in range(0, count, step)]
    return {port.name: np.concatenate([part[i] for part in parts]) for i, port in enumerate(session.get_outputs())}


if __name__ == "__main__":
    sys.exit(main())
