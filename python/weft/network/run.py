"""weft_run, also python -m weft.network.run: runs a model, says what it takes, and compares it with onnxruntime.

    weft_run resnet18.onnx --batch 1,64 --compare onnxruntime
    weft_run resnet18.onnx --input cat.png --save resnet18.weft --on H200,cpu
    weft_run resnet18.onnx --batch 64 --memory 64MB --tune --profile --page resnet18.html
"""
from __future__ import annotations

import argparse
import math
import pathlib
import re
import sys
import time
from fractions import Fraction
from typing import Any, Callable

import numpy as np

from .. import _nvrtc, _weft
from . import load, run_reference
from ._compare import compared
from ._graph import Graph, Node
from ._inputs import inputs_of
from ._network import Network
from ._page import page_of, picture_of
from ._profile import Plan
from ._table import table_of


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
    parser.add_argument("--on", default="", metavar="gpu,cpu,H200", help="with --save: write compiled kernels as well, for this GPU, the CPU, or GPUs that need not be "
                        "here, by name or architecture (90a), and for the numbers of images of --batch; a network of it needs no compiler")
    parser.add_argument("--nodes", action="store_true", help="print a line for each node of the graph")
    parser.add_argument("--tune", action="store_true", help="find the quickest tiles for each number of images on this GPU, and say so as it goes on")
    parser.add_argument("--layouts", default="", metavar="nc4,nc32,nhwc", help="what tensors of integers may lie in; on a GPU the model of times chooses among them")
    parser.add_argument("--blocks", choices=("where_quicker", "always", "never"), default="where_quicker",
                        help="which bottlenecks of residual networks are one kernel (--profile says of the others why not), and which first layers pool")
    parser.add_argument("--memory", metavar="64MB", help="what the tensors between inputs and outputs may take at most (KB, MB, GB; KiB, MiB, GiB)")
    parser.add_argument("--profile", action="store_true",
                        help="print a line for each kernel: its time, its floor, its format and its nodes; with --reference the time of each node")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE.html",
                        help="write a page that shows the graph, its kernels, formats and memory, with --profile also where time goes; FILE.svg has the graph alone")
    return parser.parse_args(arguments)


def _run(a: argparse.Namespace) -> int:
    model = load(a.model, layouts=a.layouts.split(",") if a.layouts else (), memory=bytes_of(a.memory) if a.memory else None, blocks=a.blocks)
    graph = model.graph
    print(_summary(graph))
    if a.nodes:
        _print_nodes(graph)
    try:
        batches = list(dict.fromkeys(int(n) for n in a.batch.split(",")))
    except ValueError:
        batches = [0]
    if min(batches) < 1 or max(batches) >= 2**63:
        raise _weft.ArgumentError(f"weft: --batch {a.batch} is not one or more numbers above 0 and below 2^63 with commas between them")
    if a.on and not a.save:
        raise _weft.ArgumentError(f"weft: --on {a.on} says what --save writes; give a file, --save model.weft")
    if a.page and (a.reference or a.page.suffix not in (".html", ".svg")):
        raise _weft.ArgumentError(f"weft: --page {a.page}: give a file.html or file.svg, without --reference, which has no kernels")
    for batch in batches if a.tune else ():
        _tune(a, model, batch)
    if a.save:
        on = a.on or ("gpu" if a.tune else "")  # tiles that were found are a plan's, and not the graph's
        model.save(a.save, on=on.split(",") if on else (), batch=batches)
        print(f"{a.save}: {a.save.stat().st_size:,} bytes")
    plans: list[Plan] = []
    differ = max(_run_batch(a, model, batch, plans) for batch in batches)
    if a.page:
        where = f"an {_gpu_name(_library(True))}" if plans[0].gpu else "the CPU"
        _write(a.page, page_of(graph, plans, where) if a.page.suffix == ".html" else picture_of(graph, plans[-1]) + "\n")
    return differ


def _tune(a: argparse.Namespace, model: Network, batch: int) -> None:
    if a.cpu or a.reference:
        raise _weft.ArgumentError("weft: --tune measures kernels on a GPU; give it without --cpu and --reference")
    _nvrtc.check_gpu("--tune")
    result = model.tune(batch, progress=True)
    print(f"batch {batch} tuned: {result['before_us']:,.1f} us a run before, {result['after_us']:,.1f} us after")


def bytes_of(said: str) -> int:
    """Bytes of an amount of memory as people write it."""
    match = re.fullmatch(r"(\d{1,30}(?:\.\d{0,30})?)\s*(?:([kmg])(i?))?b?", said.strip().lower())
    count = int(Fraction(match[1]) * (1024 if match[3] else 1000) ** " kmg".index(match[2] or " ")) if match else 0
    if not 1 <= count < 2**63:
        raise _weft.ArgumentError(f"weft: --memory {said} is no amount of memory above 0 and below 2^63 bytes; give bytes, or a number with KB, MB, GB, "
                                  "KiB, MiB or GiB")
    return count


def _write(path: pathlib.Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _weft.ArgumentError(f"weft: --page {path}: {error.strerror or error}") from None
    print(f"{path}: {path.stat().st_size:,} bytes")


def _run_batch(a: argparse.Namespace, model: Network, batch: int, plans: list[Plan]) -> int:
    graph = model.graph
    if a.reference:
        inputs = inputs_of(graph, a.input, batch)
        seconds: dict[str, float] = {}
        outputs = run_reference(graph, inputs, seconds)
        total = sum(seconds.values())
        print(f"batch {batch}, formulas in numpy: {1e3 * total:.1f} ms")
        if a.profile:
            for name, taken in sorted(seconds.items(), key=lambda item: -item[1]):
                print(f"  {1e3 * taken:8.2f} ms  {100 * taken / total:5.1f} %  {name}")
    else:
        inputs, outputs = _run_network(a, model, batch, plans)
    for name, y in outputs.items():
        if a.input != "random" and y.ndim == 2:
            best = np.argsort(-y[0].astype(np.float64), kind="stable")[:5]  # of integers the least would have no opposite
            print(f"  {name}: the greatest are " + ", ".join(f"{i} ({y[0][i]:.4g})" for i in best))
    return compared(a.compare, a.model, graph, inputs, outputs) if a.compare else 0


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


def _run_network(a: argparse.Namespace, model: Network, batch: int, plans: list[Plan]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The inputs and the outputs of a run. The network is planned first, which refuses numbers of images whose arrays nobody could make."""
    library = None if a.cpu else _library(a.gpu)
    gpu = library is not None
    start = time.perf_counter()
    planned = model.planned(batch, gpu=gpu)
    print(f"batch {batch} on {'a GPU' if gpu else 'the CPU'}: made in {time.perf_counter() - start:.1f} s, arena {planned.arena_bytes:,} bytes, "
          f"filters {planned.constant_bytes:,} bytes")
    inputs = inputs_of(model.graph, a.input, batch)
    arrays = list(inputs.values())
    if library is not None:
        arrays = [library.from_numpy(x).cuda() if library.__name__ == "torch" else library.asarray(x) for x in arrays]
    wait = (lambda: None) if library is None else library.cuda.synchronize if library.__name__ == "torch" else library.cuda.runtime.deviceSynchronize
    outputs, seconds = _timed(lambda: model(*arrays), wait, repeats=20 if gpu else 1)
    print(f"  {1e3 * seconds:.3f} ms a run, {batch / seconds:,.0f} images/s")
    plans.append(model.profile(*arrays, repeats=None if gpu else 1) if a.profile else model.plan(batch, gpu=gpu))
    if a.profile:
        print(table_of(plans[-1]))
    made = outputs if isinstance(outputs, tuple) else (outputs,)
    from .._arrays import to_numpy

    return inputs, dict(zip(model.graph.outputs, map(to_numpy, made)))


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


def _gpu_name(library: Any) -> str:
    """The name of the current GPU, by torch or cupy."""
    if library.__name__ == "torch":
        return str(library.cuda.get_device_name())
    return str(library.cuda.runtime.getDeviceProperties(library.cuda.Device().id)["name"].decode())


def _library(asked: bool) -> Any:
    """torch or cupy, if there is a GPU; None otherwise, which is an error if a GPU was asked for."""
    try:
        _nvrtc.check_gpu("--gpu")
    except _weft.RunError:
        if asked:
            raise
        return None
    reason = ""
    for name in ("torch", "cupy"):
        try:
            library = __import__(name)
            if library.cuda.is_available():
                return library
            reason = f"the package {name} that is installed sees no GPU"
        except (ImportError, OSError) as error:  # OSError: a library of CUDA that does not load
            reason = reason or f"neither torch nor cupy is there, whose memory of the GPU it takes ({error})"
    if asked:
        raise _weft.RunError(f"weft: --gpu: {reason}")
    return None


if __name__ == "__main__":
    sys.exit(main())
