"""Operators: a convolution for one problem, compiled when it is made."""
import hashlib
import pathlib
import threading

import numpy as np

from . import _arrays, _text, _weft

_INCLUDE = pathlib.Path(__file__).resolve().parent / "include"
_compiled, _lock = {}, threading.Lock()

# Fields of a problem that one number sets for both directions.
_BOTH = {"hw": ("h", "w"), "rs": ("r", "s"), "stride": ("stride_h", "stride_w"), "dilation": ("dilation_h", "dilation_w"),
         "padding": ("pad_top", "pad_left", "pad_bottom", "pad_right")}
_FIELDS = {"n", "h", "w", "c", "k", "r", "s", "pad_top", "pad_left", "pad_bottom", "pad_right", "stride_h", "stride_w",
           "dilation_h", "dilation_w", "groups", "flipped"}


def problem_of(problem, **fields):
    """The shape of a convolution: a Problem.

    problem: a Problem; its name, as "n1c64h56w56k64r3s1p1" (n images, c channels, h x w pixels, k output channels, r x r
        filter, stride s, padding p, dilation d, groups g; r3x5, s1x2, d1x2 where the directions differ; without p the
        padding is half the filter); or a dictionary of n, c, h, w, k, r, s, stride, padding, dilation, groups, flipped, in
        which a direction of its own is stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, pad_bottom, pad_right,
        hw is h and w, and rs is r and s.
    """
    if isinstance(problem, _weft.Problem):
        result = problem
    elif isinstance(problem, str):
        result = _weft.Problem.parse(problem)
    elif isinstance(problem, dict):
        result, fields = _weft.Problem(), {**problem, **fields}
    elif problem is None:
        result = _weft.Problem()
    else:
        raise _weft.ArgumentTypeError(f"weft: problem is a {type(problem).__name__}; give a name such as \"n1c64h56w56k64r3s1p1\", a dictionary or a weft.Problem")
    for name, value in fields.items():
        targets = _BOTH.get(name, (name,))
        if name not in _BOTH and name not in _FIELDS:
            raise _weft.ArgumentError(f"weft: problem has no field {name}; it has {', '.join(sorted([*_BOTH, *_FIELDS]))}")
        for target in targets:
            try:
                setattr(result, target, value)
            except TypeError:
                raise _weft.ArgumentTypeError(f"weft: problem.{name}={value!r} is no whole number of 64 bits") from None
    return result


def compile_text(source, policy="", values=()):
    """What the C++ text defines, compiled once for each text in a process."""
    key = hashlib.sha256("\0".join([source, policy, *values]).encode()).digest()
    with _lock:
        if key not in _compiled:
            include = str(_INCLUDE) if _INCLUDE.is_dir() else ""
            _compiled[key] = _weft.compile(source, policy, list(values), include)
        return _compiled[key]


class Operator(_weft.Operator):
    """A policy given as C++ text, for one problem.

    source: text that defines a policy struct (docs/custom_operators.md); weft/conv/ready_made.hpp is included before it.
    problem: see weft.problem_of.
    policy: the name of the struct; the last type of the text unless given.
    values: names of members of Weft's own functors that are to be set by name, such as "high"; those of the functors
        in the text are known.

    Calling it runs it:

        y = op(x, w, bias=None, residual=None, alpha=1.0, beta=1.0, gamma=1.0, output_scale=0.0, zero_point=0.0, out=None)

    x: op.src_shape of op.src_dtype. w: what op.pack made, or an array on a GPU with the same bytes. bias: k numbers.
    residual: as the output. alpha: the scale of the sum, a number or k of float32; beta that of the bias, gamma that of the
    residual. output_scale: the real value of a step of the output, where the epilogue has one. zero_point: of the
    output. out: where the output goes; a new array of x's library unless given. All arrays are dense, in one memory, and
    read where they lie. On a GPU the call only enqueues the kernel on the current stream of x's library.

    A value of a functor is an attribute: op.scale = 0.5. What is refused is a weft.Error that says what to change.
    """

    def __init__(self, source, problem, *, policy="", values=()):
        super().__init__(compile_text(source, policy, tuple(values)), problem_of(problem))
        object.__setattr__(self, "source", source)

    src_layout = property(lambda self: self._src[0], doc="The layout of x, such as NCxHWx<32>.")
    src_shape = property(lambda self: self._src[1], doc="The shape of x.")
    src_dtype = property(lambda self: self._src[2], doc="The dtype of x.")
    dst_layout = property(lambda self: self._dst[0], doc="The layout of the output.")
    dst_shape = property(lambda self: self._dst[1], doc="The shape of the output.")
    dst_dtype = property(lambda self: self._dst[2], doc="The dtype of the output.")

    def __setattr__(self, name, value):
        if name.startswith("_") or hasattr(type(self), name):
            object.__setattr__(self, name, value)
        else:
            self.set(name, value)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.values:
            raise AttributeError(f"weft: the operator has no attribute {name}, and its functors have "
                                 + (f"the values {', '.join(self.values)}" if self.values else "no values"))
        return self.get(name)

    def __repr__(self):
        return f"<weft operator: {self.describe()}>"

    def pack(self, w):
        """The filter in the order in which the kernel reads it: a numpy array, aligned, to be given as w.

        w: numpy, int8, of shape (k / groups, c / groups, r, s), PyTorch's; of a depthwise operator (k, 1, r, s); of one whose
        filter depends on the image, pixel or group, with these in front: (n, k, c, r, s), (p * q, k, c, r, s), and grouped
        (groups, k / groups, c / groups, r, s) or PyTorch's (k, c / groups, r, s).
        """
        interleave, bits, depthwise, batched, prologue, filters, shape = self._filter
        if bits != 8:
            raise _weft.ArgumentError("weft: filters of 4 bits are packed in C++ alone so far, by weft::PackFilter<FilterLayout>")
        w, p = np.asarray(w), self.problem
        if w.dtype != np.int8:
            raise _weft.ArgumentTypeError(f"weft: w.dtype={w.dtype} is not int8; nothing is converted silently, so convert it yourself")
        k, c = p.k // (1 if depthwise else p.groups), 1 if depthwise else p.c // p.groups
        one = (k, c, p.r, p.s)
        wanted = (filters, *one) if batched and not depthwise else one
        if prologue == "Grouped" and w.shape == (p.k, c, p.r, p.s):
            w = w.reshape(wanted)
        if w.shape != wanted:
            raise _weft.ArgumentError(f"weft: w.shape={w.shape} is not {wanted}, the filter of {p}, [k][c][r][s]")
        packed = _arrays.empty(shape, np.int8)
        if depthwise:
            padded = np.zeros((-(-k // 4) * 4, p.r, -(-p.s // 4) * 4), np.int8)
            padded[:k, :, : p.s] = w[:, 0]
            packed[...] = padded.reshape(-1, 4, p.r, padded.shape[2] // 4, 4).transpose(0, 2, 3, 1, 4)
            return packed
        bank = w.reshape(-1, *one)
        if interleave == 1:
            packed.reshape(-1, *shape[-4:])[...] = bank.transpose(0, 1, 3, 4, 2)
        else:
            x = interleave
            padded = np.zeros((bank.shape[0], -(-k // x) * x, -(-c // x) * x, p.r, p.s), np.int8)
            padded[:, :k, :c] = bank
            blocks = padded.reshape(bank.shape[0], padded.shape[1], -1, x, p.r, p.s)
            packed.reshape(-1, *shape[-5:])[...] = blocks.transpose(0, 2, 4, 5, 1, 3)
        return packed


class Conv2d(Operator):
    """A convolution for one problem, of parts that have names.

    problem: see weft.problem_of.
    layout: of x: "nc32" (blocks of 32 channels), "nhwc", "nc4".
    dtype: of x, "int8" or "uint8". Filters are int8.
    dst, dst_dtype: layout and dtype of the output; layouts also "nc64" and "nchw", dtypes also "float32", "float16",
        "bfloat16" and "int32". Those of x unless given.
    epilogue: a weft.Epilogue, the name of a ready-made one ("bias_relu", "bias_silu", "residual_bias_relu", "sums" ...), or
        C++ text as weft.Epilogue takes it.
    prologue: which filter an output has: "shared"; "per_sample", one for each image; "local", one for each output pixel;
        "grouped" where the problem has groups.
    tile: a name of docs/tiles.md; one that suits any problem of the layout unless given.
    """

    def __init__(self, problem, layout="nc32", *, dtype="int8", dst=None, dst_dtype=None, epilogue="bias_relu", prologue=None, tile=None):
        problem = problem_of(problem)
        prologue = _text.one_of("prologue", prologue or ("grouped" if problem.groups > 1 else "shared"), _text.PROLOGUES)
        text, policy, values = _text.convolution(layout, dst, dtype, dst_dtype, _text.epilogue_of(epilogue), prologue, tile, problem)
        super().__init__(text, problem, policy=policy, values=values)


class Depthwise(Operator):
    """A depthwise convolution: groups = c, which the problem need not say, and k a multiple of c. The rest as Conv2d's."""

    def __init__(self, problem, layout="nc32", *, dtype="int8", dst=None, dst_dtype=None, epilogue="bias_relu", tile=None):
        problem = problem_of(problem)
        if problem.groups == 1:
            problem = problem_of(problem, groups=problem.c)
        text, policy, values = _text.convolution(layout, dst, dtype, dst_dtype, _text.epilogue_of(epilogue), "Depthwise", tile, problem, depthwise=True)
        super().__init__(text, problem, policy=policy, values=values)
