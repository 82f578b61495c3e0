"""Operators: a convolution, a transposed one or a matrix product of one shape, compiled when it is made."""
from __future__ import annotations

import concurrent.futures
import hashlib
import os
import threading
from typing import Any, Callable, Sequence

from . import _arrays, _floats, _nvrtc, _packing, _text, _weft
from ._problem import pair_of, problem_of, whole_number

_compiled: dict[bytes, _weft.Compiled] = {}
_compiling: dict[bytes, threading.Lock] = {}
_lock = threading.Lock()


def compile_text(source: str, policy: str = "", values: Sequence[str] = ()) -> _weft.Compiled:
    """What the C++ text defines, compiled once for each text in a process."""
    for name, text in (("source", source), ("policy", policy), *(("values", value) for value in values)):
        if not isinstance(text, str):
            raise _weft.ArgumentTypeError(f"weft: {name} has {text!r}, which is no text")
    key = hashlib.sha256("\0".join([source, policy, *values]).encode()).digest()
    with _lock:
        if not _compiling:
            _nvrtc.load()
        of_this = _compiling.setdefault(key, threading.Lock())
    with of_this:
        if key not in _compiled:
            _compiled[key] = _weft.compile(source, policy, list(values))
        return _compiled[key]


class Operator(_weft.Operator):
    """A policy given as C++ text, for one problem.

    source: text that defines a policy struct (docs/custom_operators.md); weft/conv/ready_made.hpp is included before it.
    problem: see weft.problem_of.
    policy: the name of the struct; the last type of the text unless given.
    values: names of members of Weft's own functors that are to be set by name, such as "high"; those of the functors
        in the text are known.
    source_zero_point: the integer of x that stands for 0, of a policy whose epilogue has the stage SourceZeroPoint.

    Calling it runs it:

        y = op(x, w, *, bias=None, residual=None, alpha=1.0, beta=1.0, gamma=1.0, output_scale=0.0, zero_point=0.0, out=None,
               stream=None)

    x: an array of shape op.src_shape and dtype op.src_dtype, in layout op.src_layout.
    w: the packed filter, what op.pack made.
    bias: k numbers of the epilogue's type. It is multiplied by beta and added to alpha times the exact sum.
    residual: an array of the output's shape, multiplied by gamma.
    alpha: the scale of the sum, one number, or k of float32: the real value of a step of x times that of a step of w.
    output_scale: the real value of a step of the output, where the epilogue has one. zero_point: what 0 becomes there.
    out: where the output goes, of shape op.dst_shape and dtype op.dst_dtype. Unless given the call makes an array of x's
        library, in x's memory. It is what the call returns.
    stream: on a GPU, an address or a stream of torch or cupy; the current stream of x's library unless given.

    All arrays are dense, lie in one memory and are read there: nothing is copied or converted. In host memory the output
    has been computed when the call returns; on a GPU the kernel has been enqueued, and nothing waits for it.

    A value of a functor is an attribute: op.scale = 0.5. A call uses those that were set before it. What is refused is a
    weft.Error, whose sentence says what would be accepted.
    """

    def __init__(self, source: str, problem: Any, *, policy: str = "", values: Sequence[str] = (), source_zero_point: int = 0) -> None:
        self._start(source, problem_of(problem), policy, values, source_zero_point=source_zero_point)

    _with_tile: Callable[[str], Operator] | None = None  # the same operator with another tile, of one that is made of parts
    _tile = ""

    def _start(self, source: str, problem: _weft.Problem, policy: str, values: Sequence[str], **form: Any) -> None:
        _weft.Operator.__init__(self, compile_text(source, policy, tuple(values)), problem, **form)
        object.__setattr__(self, "source", source)

    def _start_of_parts(self, problem: _weft.Problem, layout: str, dst: str | None, dtype: str, dst_dtype: str | None, epilogue: Any,
                        prologue: str, tile: str | None, source_zero_point: int, **form: Any) -> None:
        epilogue = _text.epilogue_of(epilogue)
        text, policy, values = _text.convolution(layout, dst, dtype, dst_dtype, epilogue, prologue, tile, problem, source_zero_point != 0)
        try:
            self._start(text, problem, policy, values, source_zero_point=source_zero_point, **form)
        except _weft.ArgumentError as error:
            raise _weft.ArgumentError(_text.in_words_of_parts(str(error), layout, tile)) from None

        def with_tile(other: str) -> Operator:
            op = Operator.__new__(Operator)
            op._start_of_parts(problem, layout, dst, dtype, dst_dtype, epilogue, prologue, other, source_zero_point, **form)
            return op

        object.__setattr__(self, "_with_tile", with_tile)
        object.__setattr__(self, "_tile", tile or _text.default_tile(layout, prologue))

    src_layout = property(lambda self: self._src[0], doc="The layout of x, such as NCxHWx<32>.")
    src_shape = property(lambda self: self._src[1], doc="The shape of x.")
    src_dtype = property(lambda self: self._src[2], doc="The dtype of x, by name.")
    dst_layout = property(lambda self: self._dst[0], doc="The layout of the output.")
    dst_shape = property(lambda self: self._dst[1], doc="The shape of the output.")
    dst_dtype = property(lambda self: self._dst[2], doc="The dtype of the output, by name.")

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name):
            raise _weft.ArgumentError(f"weft: op.{name} is the operator's own; op.set({name!r}, ...) sets a functor's member of that name")
        self.set(name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.values:
            raise AttributeError(f"weft: the operator has no attribute {name}, and its functors have "
                                 + (f"the values {', '.join(self.values)}" if self.values else "no values"))
        return self.get(name)

    def __repr__(self) -> str:
        return f"<weft operator: {self.describe()}>"

    def pack(self, w: Any) -> Any:
        """The filter in the order in which the kernel reads it, to be given as w: an array of w's library, in its memory.

        w: int8, of shape (k, c / groups, r, s), PyTorch's; of a depthwise operator (k, 1, r, s). Of one that has a filter for
        each image (n, k, c, r, s), and for each output pixel (p * q, k, c, r, s). Packing takes place in host memory.
        """
        return _arrays.like(_packing.convolution(self, w), w)

    def tune(self, most: int = 8) -> list[tuple[str, float]]:
        """Measures tiles for this problem on the current GPU, and uses the quickest from then on.

        most: how many, the quickest by the model of times, beside the one that the operator has. Each is compiled, which takes a
        second or two of a processor, and called over arrays of random bytes in turn that the L2 cache does not hold together.
        Returns the tiles and their microseconds, the quickest first. Outputs are the same bits before and after, and so are packed
        filters. No other thread may call the operator meanwhile. weft.network.Network.tune tunes the operators of a network together.
        """
        if self._with_tile is None:
            raise _weft.ArgumentError("weft: tune chooses among the tiles of operators that are made of parts, such as weft.Conv2d, and "
                                      "this one is C++ text that names its tile itself")
        most = whole_number(most, "most")
        if most < 1:
            raise _weft.ArgumentError(f"weft: most={most} is no number of tiles; give 1 or more")
        _nvrtc.check_gpu("op.tune()")
        names = _weft.candidate_tiles(self)[:most]
        names += [self._tile] if self._tile not in names else []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            tried = list(pool.map(self._tried, names))
        made = [op for op in tried if isinstance(op, Operator)]
        errors = [error for error in tried if isinstance(error, _weft.Error)]
        if errors and not made:
            raise errors[-1]
        measured = sorted((us, op._tile, op) for us, op in zip(_weft.times(made), made) if us >= 0.0)
        if measured:
            _weft.adopt(self, measured[0][2])
            for name in ("source", "_tile"):
                object.__setattr__(self, name, getattr(measured[0][2], name))
        return [(tile, us) for us, tile, _ in measured]

    def _tried(self, tile: str) -> Operator | _weft.Error:
        """The operator with another tile, compiled and loaded; the error if the tile does not take its problem or its stages."""
        try:
            op = self._with_tile(tile)
            op.prepare()
        except (_weft.ArgumentError, _weft.RunError) as error:
            return error
        return op


class Conv2d(Operator):
    """A convolution of int8 or uint8 for one problem, of parts that have names.

    problem: see weft.problem_of.
    layout: of x: "nc32" (n, ceil(c / 32), h, w, 32), "nhwc" (n, h, w, c), "nc4" (n, ceil(c / 4), h, w, 4).
    dtype: of x, "int8" or "uint8". Filters are int8.
    dst, dst_dtype: layout and dtype of the output; layouts also "nc64" and "nchw", dtypes also "float32", "float16",
        "bfloat16" and "int32". Those of x unless given.
    epilogue: a weft.Epilogue, the name of a ready-made one ("bias_relu", "bias_silu", "residual_bias_relu", "sums" ...), or
        C++ text as weft.Epilogue takes it.
    prologue: which filter an output has: "shared"; "per_sample", one for each image; "local", one for each output pixel;
        "grouped" where the problem has groups.
    tile: a name of docs/tiles.md; one that suits any problem of the layout unless given.
    source_zero_point: the integer of x that stands for 0, which pads an image, too. op.pack writes what it adds to the sums
        behind the filter.

    Calling it runs it, as weft.Operator describes.
    """

    def __init__(self, problem: Any, layout: str = "nc32", *, dtype: str = "int8", dst: str | None = None, dst_dtype: str | None = None,
                 epilogue: Any = "bias_relu", prologue: str | None = None, tile: str | None = None, source_zero_point: int = 0) -> None:
        problem = problem_of(problem)
        chosen = _text.one_of("prologue", prologue or ("grouped" if problem.groups > 1 else "shared"), _text.PROLOGUES)
        self._start_of_parts(problem, layout, dst, dtype, dst_dtype, epilogue, chosen, tile, source_zero_point)


class Depthwise(Operator):
    """A depthwise convolution: groups = c, which the problem need not say, and k a multiple of c. The rest as Conv2d's."""

    def __init__(self, problem: Any, layout: str = "nc32", *, dtype: str = "int8", dst: str | None = None, dst_dtype: str | None = None,
                 epilogue: Any = "bias_relu", tile: str | None = None, source_zero_point: int = 0) -> None:
        problem = problem_of(problem)
        if problem.groups == 1:
            problem = problem.replace(groups=problem.c)
        self._start_of_parts(problem, layout, dst, dtype, dst_dtype, epilogue, "Depthwise", tile, source_zero_point)


class ConvTranspose2d(Operator):
    """A transposed convolution, PyTorch's ConvTranspose2d: each pixel of x is spread over the output.

    problem: as Conv2d's, of the input: n images of c channels and h x w pixels, k output channels, an r x s filter; stride is
        the distance at which pixels are spread, and padding cuts the output. Its pixels are
        (h - 1) * stride - 2 * padding + (r - 1) * dilation + 1 + output_padding rows, and columns likewise. Without groups.
    output_padding: further rows and columns of the output, one number or two.
    The rest is Conv2d's. A call launches a kernel for each phase of the stride: stride_h * stride_w of them.
    """

    def __init__(self, problem: Any, layout: str = "nc32", *, output_padding: Any = 0, dtype: str = "int8", dst: str | None = None,
                 dst_dtype: str | None = None, epilogue: Any = "bias_relu", tile: str | None = None, source_zero_point: int = 0) -> None:
        self._start_of_parts(problem_of(problem), layout, dst, dtype, dst_dtype, epilogue, "PerPhase", tile, source_zero_point,
                             output_padding=pair_of(output_padding, "output_padding"))

    def pack(self, w: Any) -> Any:
        """The filter, to be given as w: an array of w's library. w: int8, of shape (c, k, r, s), PyTorch's and ONNX's order."""
        return _arrays.like(_packing.transposed(self, w), w)


def _count_of(experts: Any) -> int:
    """How many experts there are, at least 1: what is no array, or has none, is refused by its type or shape."""
    return max([1, *getattr(experts, "shape", ())[:1]])


class CondConv(Operator):
    """A convolution whose filter is mixed for each image from expert filters (docs/condconv.md).

        y = op(x, experts, routing, *, expert_scale=None, ...)

    experts: what op.pack made of int8 (e, k, c, r, s). routing: float32 (n, e), each image's weights. expert_scale: float32 (e, k),
    the step of an expert's integers in a channel, in steps of the mixed filter's; ones unless given. The mixed filter of image
    n is the sum of routing[n][e] * expert_scale[e] * experts[e], rounded to int8. The further arguments are those of any
    operator. The mix is made by array operations of experts' library, to the bits of C++'s CondConv, whose kernel for it is
    faster. problem, layout and the rest: as Conv2d's.
    """

    def __init__(self, problem: Any, layout: str = "nc32", *, dtype: str = "int8", dst: str | None = None, dst_dtype: str | None = None,
                 epilogue: Any = "bias_relu", tile: str | None = None) -> None:
        self._start_of_parts(problem_of(problem), layout, dst, dtype, dst_dtype, epilogue, "PerSample", tile, 0)

    def pack(self, experts: Any) -> Any:
        """The experts, to be given to a call: an array of their library. experts: int8, of shape (e, k, c, r, s)."""
        return _arrays.like(_packing.convolution(self, experts, "experts", experts=_count_of(experts)), experts)

    def mix(self, experts: Any, routing: Any, expert_scale: Any = None) -> Any:
        """The packed filter of each image, what a convolution with the prologue "per_sample" takes."""
        count, shape = _count_of(experts), tuple(self._filter[6][1:])
        _arrays.check(experts, "experts", "int8", (count, *shape), "experts and one packed filter of each; op.pack(experts) makes it of EKCRS")
        _arrays.check(routing, "routing", "float32", (self.problem.n, count), "images and experts")
        _arrays.check_together(routing, "routing", experts, "experts")
        if expert_scale is not None:
            _arrays.check(expert_scale, "expert_scale", "float32", (count, self.problem.k), "experts and output channels")
            _arrays.check_together(expert_scale, "expert_scale", experts, "experts")
            blocked = len(shape) == 5  # (c blocks, r, s, k, block), else (k, r, s, c)
            scale = _arrays.empty_like(expert_scale, (count, shape[3] if blocked else shape[0]), "float32")
            scale[...] = 0
            scale[:, : self.problem.k] = expert_scale
            expert_scale = scale.reshape((count, 1, 1, 1, -1, 1) if blocked else (count, -1, 1, 1, 1))
        return _floats.mix(experts, routing, expert_scale)

    def __call__(self, x: Any, experts: Any, routing: Any, *, expert_scale: Any = None, **arguments: Any) -> Any:  # type: ignore[override]
        return super().__call__(x, self.mix(experts, routing, expert_scale), **arguments)


class Gemm(Operator):
    """A matrix product of int8 or uint8, c = epilogue(a b): the 1 x 1 convolution over NHWC with a row of a as a pixel.

        y = op(a, w, bias=..., alpha=..., ...)

    a: (m, k), row after row. w: what op.pack made of b. The output is (m, n), row after row; bias and alpha are by column. k is
    a multiple of 4. The further arguments are those of any operator; epilogue, dtypes and tile as Conv2d's. Products of
    half, float and others, groups and batches are C++ alone so far (docs/operators.md).
    """

    def __init__(self, m: int, n: int, k: int, *, dtype: str = "int8", dst_dtype: str | None = None, epilogue: Any = "bias_identity",
                 tile: str | None = None, source_zero_point: int = 0) -> None:
        m, n, k = (whole_number(value, name) for name, value in dict(m=m, n=n, k=k).items())
        problem = problem_of(dict(n=1, h=m, w=1, c=k, k=n))
        if k % 4:
            raise _weft.ArgumentError(f"weft: k={k} is not a multiple of 4; pad a's rows and b's columns with zeros to k={k + -k % 4}")
        self._start_of_parts(problem, "nhwc", "nhwc", dtype, dst_dtype, epilogue, "SharedFilter", tile, source_zero_point, matrices=True)

    def pack(self, b: Any) -> Any:
        """The right matrix, to be given as w: an array of its library. b: int8, of shape (k, n)."""
        p = self.problem
        _arrays.check(b, "b", "int8", (p.c, p.k), "k and n")
        return _arrays.like(_packing.convolution(self, _arrays.permute(b, (1, 0)).reshape(p.k, p.c, 1, 1)), b)

