"""A network over arrays of numpy, torch and cupy, planned for each batch that it is called with."""
from __future__ import annotations

import contextlib
import os
import pathlib
import threading
from typing import Any, Iterable

import numpy as np

from .. import _arrays, _nvrtc, _weft
from .._problem import names_of, number_of
from ._file import write_graph
from ._graph import Graph
from ._profile import Plan, plan_of, with_times
from ._tiles import checked, report_of

_ARENA_ALIGNMENT = 256  # bytes


class Network:
    """A network that is called with arrays.

        model = weft.load("resnet18.onnx")
        logits = model(images)

    images: an array for each input, by position or by name, of shape (n, c, h, w), or (n, c) of one pixel, and of the input's
        dtype: model.inputs has them.
    out: where the outputs go, an array, or a list of one for each output. Unless given the call makes arrays of the first
        input's library.
    stream: on a GPU, an address or a stream of torch or cupy; the current stream of the first input's library unless given.
        What the call allocates belongs to it: whoever reads outputs on another stream has to wait for this one, and of torch's
        tensors to call record_stream before they go.

    The outputs come in the order of model.outputs: an array if there is one, else a tuple.

    It runs where the first input lies: arrays of torch and cupy on a GPU are read there, and the call waits for nothing. For
    each number of images the network is planned and compiled at its first call; `prepare` does so before.

    graph: see weft.network.import_onnx. fuse: whether nodes share a kernel where that is possible; the
    bits are the same. tiles: for runs on a GPU, by numbers of images what `tiles` gave after `tune`: {64: model.tiles(64)}, also
    as json writes it. layouts: what tensors of integers may lie in, one of "nhwc", "nc4" and "nc32", or a list of some; on a GPU
    the model of times chooses among them. Unless given, blocks of 32 channels, and of 4 where there are at most 4.
    memory: how many bytes the arena of a run may have at most; a number of images that takes more is refused, with the number that
    fits. None: any. blocks: which bottlenecks of residual networks are one kernel, and which first layers pool, "where_quicker", "always" (also on the CPU, which
    is slow) or "never"; describe() says of each whether it is, and why not. file: the bytes of the .weft file that the graph was read from, whose compiled kernels are then used; these were
    made with a fuse, layouts and blocks of their own, and those that are given have no effect on them.
    """

    def __init__(
        self, graph: Graph, *, fuse: bool = True, tiles: Any = None, layouts: str | Iterable[str] = (), memory: int | None = None,
        blocks: str = "where_quicker", file: bytes | None = None
    ) -> None:
        if not isinstance(fuse, (bool, np.bool_)):
            raise _weft.ArgumentTypeError(f"weft: fuse={fuse!r} is neither True nor False")
        self.graph, self._fuse, self._file = graph, bool(fuse), write_graph(graph) if file is None else file
        if not isinstance(blocks, str) or blocks not in ("where_quicker", "always", "never"):
            raise _weft.ArgumentError(f'weft: blocks={blocks!r} is none; give "where_quicker", "always" or "never"')
        self._blocks = blocks
        self._memory = 0 if memory is None else _bytes_of(memory)
        self._tiles, self._layouts = checked(tiles), names_of(layouts, "layouts", '"nhwc", "nc4" and "nc32"')
        self._planned: dict[tuple[int, bool], Any] = {}
        self._lock = threading.Lock()

    @property
    def inputs(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """Of each input its name, dtype and shape behind the batch."""
        return [self._port(name) for name in self.graph.inputs]

    @property
    def outputs(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """Of each output its name, dtype and shape behind the batch."""
        return [self._port(name) for name in self.graph.outputs]

    def _port(self, name: str) -> tuple[str, str, tuple[int, ...]]:
        tensor = self.graph.tensors[name]
        return name, str(tensor.dtype), tensor.seen_shape

    def planned(self, batch: int = 1, *, gpu: bool = False) -> Any:
        """The network for a number of images, on the current GPU or on the CPU: compiled, with its arena's size and description."""
        batch = number_of(batch, "batch")
        key = (batch, gpu)
        planned = self._planned.get(key)  # a call does not wait while another batch is compiled
        if planned is not None:
            return planned
        with self._lock:
            if key not in self._planned:
                if gpu:
                    _nvrtc.check_gpu(f"a plan of {batch} image{'s' if batch > 1 else ''} for the current GPU")
                    _nvrtc.load()
                self._planned[key] = self._plan(batch, gpu)
            return self._planned[key]

    def _plan(self, batch: int, gpu: bool) -> Any:
        tiles = self._tiles.get(batch, {}) if gpu else {}
        return _weft.Network(self._file, batch, gpu, self._fuse, tiles, self._layouts, memory=self._memory, blocks=self._blocks)

    def tiles(self, batch: int = 1) -> dict[str, str]:
        """The tile of each convolution's kernel on a GPU, by its name: what json can write, for weft.load(..., tiles={batch: ...})."""
        return self.planned(batch, gpu=True).tiles

    def tune(self, batch: int = 1, *, most: int = 8, progress: Any = None) -> dict[str, Any]:
        """Finds the tiles with which a run of this many images is quickest on the current GPU; later runs have them.

        The whole network is measured with each candidate, over memory that is allocated for it; nothing else should run on the
        GPU, and a run has the same bits before and after. It takes about half a minute for a ResNet-50 on 16 processors.
        most: how many tiles are tried for each group of equal convolutions, the quickest by the model of times, beside the one that they
        have. progress: True prints a line for each candidate; a function is called with a dict of groups, candidates, group, step,
        steps, tile, us, before_us and kept. Returns a dict: tiles, as `tiles` gives them; before_us and after_us, microseconds of a
        run; refused, a line for each candidate that could not be tried.
        """
        batch, most, report = number_of(batch, "batch"), number_of(most, "most"), report_of(progress)
        result = self.planned(batch, gpu=True).tune(report, most)
        with self._lock:
            self._tiles[batch] = dict(result["tiles"])
            self._planned[batch, True] = self._plan(batch, True)
        return result

    def prepare(self, batch: int = 1, *, gpu: bool = False) -> None:
        """Plans and compiles for a number of images, and on a GPU loads kernels and filters, as the first call does."""
        planned = self.planned(batch, gpu=gpu)
        if gpu:
            planned.prepare()

    def describe(self, batch: int = 1, *, gpu: bool = False) -> str:
        """A line for each kernel."""
        return self.planned(batch, gpu=gpu).describe()

    def plan(self, batch: int = 1, *, gpu: bool = False) -> Plan:
        """The kernels, their nodes, tensors, formats and bytes, as data."""
        return plan_of(self.planned(batch, gpu=gpu), batch, gpu)

    def profile(self, *images: Any, repeats: int | None = None, stream: Any = None, **named: Any) -> Plan:
        """The plan of a call's images, with the time of each kernel: medians of several runs, on a GPU by its own clock.

        It waits for the runs. repeats: how many there are, 20 on a GPU and 3 on the CPU unless given.
        """
        runs = None if repeats is None else number_of(repeats, "repeats", bits=31)
        batch, gpu, *arrays = self._arrays_of(images, named, None, stream)
        planned = self.planned(batch, gpu=gpu)
        times, run = planned.measure(*arrays, stream, runs or (20 if gpu else 3))
        return with_times(plan_of(planned, batch, gpu), times, run)

    def save(self, path: str | os.PathLike[str], *, on: str | Iterable[str] = (), batch: int | Iterable[int] = 1) -> None:
        """Writes a .weft file, which weft.load reads without onnx, and C++'s weft::network::Network::Load.

            model.save("resnet18.weft", on=["H200", "cpu"], batch=[1, 64])

        on: machines whose compiled kernels the file has, so that a network of it needs neither NVRTC nor g++ there and is made at
            once: "gpu" is the current GPU, "cpu" the CPU; names such as "H200" and architectures such as "90a" are of GPUs that
            need not be here, whose tiles are those that were tuned or given. Without machines the file has what this network's own
            had: of an ONNX model, the graph.
        batch: the numbers of images that these kernels are for.
        """
        machines = names_of(on, "on", '"gpu", "cpu" and "H200"')
        several = isinstance(batch, Iterable) and getattr(batch, "shape", None) != ()  # an array of numpy's may be one number
        batches = [number_of(n, "batch") for n in (batch if several else [batch])]
        if machines and not batches:
            raise _weft.ArgumentError("weft: batch has no number of images; give one or several, for which kernels are saved")
        data = _weft.save_engine([self._planned_on(machine, n) for machine in machines for n in batches]) if machines else self._file
        try:
            pathlib.Path(path).write_bytes(data)
        except OSError as error:
            raise _weft.ArgumentError(f"weft: {path}: {error.strerror or error}") from None

    def _planned_on(self, machine: str, batch: int) -> Any:
        if machine in ("cpu", "gpu"):
            return self.planned(batch, gpu=machine == "gpu")
        _nvrtc.load()
        return _weft.Network(
            self._file, batch, True, self._fuse, self._tiles.get(batch, {}), layouts=self._layouts, machine=machine, memory=self._memory,
            blocks=self._blocks
        )

    def __call__(self, *images: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
        batch, gpu, inputs, outputs, arena = self._arrays_of(images, named, out, stream)
        self.planned(batch, gpu=gpu).run(inputs, outputs, arena, stream)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _arrays_of(self, images: tuple[Any, ...], named: dict[str, Any], out: Any, stream: Any) -> tuple[int, bool, list[Any], list[Any], Any]:
        """Of a call the number of images, whether they lie on a GPU, the inputs, the outputs and the arena."""
        inputs = self._given(images, named)
        first = inputs[0]
        if not getattr(first, "shape", ()):
            raise _weft.ArgumentTypeError(f"weft: {self.graph.inputs[0]} is a {type(first).__name__}; give an array (n, ...)")
        batch, gpu = int(first.shape[0]), _on_gpu(first)
        planned = self.planned(batch, gpu=gpu)
        with _allocating_on(first, stream):
            if out is None:
                outputs = [_arrays.empty_like(first, (batch, *shape), dtype) for _, dtype, shape in self.outputs]
            else:
                outputs = list(out) if isinstance(out, (list, tuple)) else [out]
            arena = _arena(first, planned.arena_bytes)
        return batch, gpu, inputs, outputs, arena

    def _given(self, images: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        names = self.graph.inputs
        given = dict(zip(names, images))
        for name, x in named.items():
            if name not in names or name in given:
                raise _weft.ArgumentError(f"weft: {name} is no input or is given twice; the inputs are {', '.join(names)}")
            given[name] = x
        if len(images) > len(names) or len(given) != len(names):
            raise _weft.ArgumentError(f"weft: {len(images) + len(named)} inputs are given; the network has {', '.join(names)}")
        return [given[name] for name in names]


def _bytes_of(memory: Any) -> int:
    try:
        return number_of(memory, "memory")
    except _weft.Error:
        raise _weft.ArgumentError(f"weft: memory={memory!r} is no number of bytes; give a whole number from 1 to 2^63 - 1, or None") from None


def _on_gpu(x: Any) -> bool:
    return bool(getattr(x, "is_cuda", False)) or hasattr(x, "__cuda_array_interface__")


def _allocating_on(x: Any, stream: Any) -> contextlib.ExitStack:
    """Within it x's library allocates for `stream`, and not for its current stream.

    The arena goes when the call returns, while kernels still use it. The allocators of torch and cupy give memory only to later
    work of the stream that it was allocated for, which has to be the one that the kernels run on.
    """
    stack = contextlib.ExitStack()
    library = _arrays.library_of(x)
    address = _address(stream)
    if address is None or not _on_gpu(x) or library is np:
        return stack
    if library.__name__ == "torch":
        if isinstance(stream, library.cuda.Stream):
            own = stream
        elif address in (0, 1):  # the default stream, which torch does not take as an external one
            own = library.cuda.default_stream(x.device)
        else:
            own = library.cuda.ExternalStream(address, device=x.device)
        stack.enter_context(library.cuda.stream(own))
    else:
        stack.enter_context(library.cuda.Device(x.device.id))
        stack.enter_context(stream if isinstance(stream, library.cuda.Stream) else library.cuda.ExternalStream(address, x.device.id))
    return stack


def _address(stream: Any) -> int | None:
    """The address of a stream as C++ finds it; None of what is none, about which C++ has a sentence."""
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):
        stream = getattr(stream, name, stream)
    return stream if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0 else None


def _arena(x: Any, size: int) -> Any:
    """Memory for one run where x lies. The libraries' allocators keep it for the next, in the order of the stream."""
    size = max(size, 1)
    if _on_gpu(x):
        return _arrays.empty_like(x, (size,), "uint8")
    memory = np.empty(size + _ARENA_ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % _ARENA_ALIGNMENT
    return memory[first : first + size]
