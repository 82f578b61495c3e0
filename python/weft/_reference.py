"""The plain reference: integer sums, and the same roundings one after the other, in numpy."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _weft
from ._floats import fma
from ._problem import pair_of, problem_of, whole_number


_DTYPES = ("int8", "uint8", "int32", "float32", "float16")


def _integers(x: Any, name: str, shapes: list[tuple[int, ...]], what: str) -> np.ndarray:
    """An array of integers in int64. shapes: the shapes that it may have, of which a sentence names the first."""
    x = np.asarray(x)
    if x.dtype.kind not in "iu":
        raise _weft.ArgumentTypeError(f"weft: {name}.dtype={x.dtype} is no type of integers; nothing is rounded silently, so convert it yourself")
    if x.shape not in shapes:
        raise _weft.ArgumentError(f"weft: {name}.shape={x.shape} is not {shapes[0]}, {what}")
    return x.astype(np.int64)


def _floats(x: Any, name: str, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Numbers in float32: an array of this shape, or one number where the shape is ()."""
    try:
        numbers = np.asarray(x).astype(np.float32)
    except (TypeError, ValueError):
        raise _weft.ArgumentTypeError(f"weft: {name}={x!r} is no number, nor an array of them; give {what}") from None
    if numbers.shape != shape:
        raise _weft.ArgumentError(f"weft: {name}.shape={numbers.shape} is not {shape}; give {what}")
    return numbers


def sums(problem: Any, x: Any, w: Any, source_zero_point: int = 0) -> np.ndarray:
    """The exact sums [n][k][p][q] of a convolution, int64. x: (n, c, h, w); w: (k, c / groups, r, s), or with n in front."""
    p = problem_of(problem)
    _weft.check(p)
    one = (p.k, p.c // p.groups, p.r, p.s)
    x = _integers(x, "x", [(p.n, p.c, p.h, p.w)], f"NCHW of {p}") - whole_number(source_zero_point, "source_zero_point")
    w = np.broadcast_to(_integers(w, "w", [one, (p.n, *one)], f"KCRS of {p}"), (p.n, *one))
    if p.flipped:
        w = w[..., ::-1, ::-1]
    padded = np.pad(x, ((0, 0), (0, 0), (p.pad_top, p.pad_bottom), (p.pad_left, p.pad_right)))
    result = np.zeros((p.n, p.k, p.p, p.q), np.int64)
    k, c = p.k // p.groups, p.c // p.groups
    for r in range(p.r):
        for s in range(p.s):
            rows = r * p.dilation_h + p.stride_h * np.arange(p.p)
            columns = s * p.dilation_w + p.stride_w * np.arange(p.q)
            tap = padded[:, :, rows[:, None], columns]
            for g in range(p.groups):
                result[:, g * k : (g + 1) * k] += np.einsum("nchw,nkc->nkhw", tap[:, g * c : (g + 1) * c], w[:, g * k : (g + 1) * k, :, r, s])
    return result


def transposed_sums(problem: Any, x: Any, w: Any, output_padding: Any = 0, source_zero_point: int = 0) -> np.ndarray:
    """The exact sums [n][k][p][q] of a transposed convolution, int64. x: (n, c, h, w); w: (c, k, r, s), PyTorch's order."""
    p = problem_of(problem)
    more_h, more_w = pair_of(output_padding, "output_padding")
    _weft.check_transposed(p, (more_h, more_w))
    x = _integers(x, "x", [(p.n, p.c, p.h, p.w)], f"NCHW of {p}") - whole_number(source_zero_point, "source_zero_point")
    w = _integers(w, "w", [(p.c, p.k, p.r, p.s)], f"CKRS of the transposed {p}")
    rows, columns = (p.h - 1) * p.stride_h + (p.r - 1) * p.dilation_h + 1, (p.w - 1) * p.stride_w + (p.s - 1) * p.dilation_w + 1
    spread = np.zeros((p.n, p.k, rows + more_h, columns + more_w), np.int64)
    for r in range(p.r):
        for s in range(p.s):
            at = np.s_[:, :, r * p.dilation_h :, s * p.dilation_w :]
            spread[at][:, :, : (p.h - 1) * p.stride_h + 1 : p.stride_h, : (p.w - 1) * p.stride_w + 1 : p.stride_w] += np.einsum(
                "nchw,ck->nkhw", x, w[:, :, r, s])
    return spread[:, :, p.pad_top : spread.shape[2] - p.pad_bottom, p.pad_left : spread.shape[3] - p.pad_right]


def epilogue(total: np.ndarray, *, bias: Any = None, sum_bias: Any = None, residual: Any = None, alpha: Any = 1.0, beta: float = 1.0,
             gamma: float = 1.0, activation: Callable[[np.ndarray], np.ndarray] | None = None, output_scale: float | None = None,
             round_first: bool = False, zero_point: float = 0.0, dtype: str = "int8") -> np.ndarray:
    """What exact sums (n, k, p, q) become, each stage rounded once. The arguments are those of reference."""
    k = total.shape[1]
    if dtype not in _DTYPES:
        raise _weft.ArgumentError(f"weft: dtype={dtype!r} is none of {', '.join(_DTYPES)}")
    if sum_bias is not None:
        total = total + _integers(sum_bias, "sum_bias", [(k,)], "one for each output channel").reshape(-1, 1, 1)
    if dtype == "int32":
        for name, value in dict(bias=bias, residual=residual, activation=activation, output_scale=output_scale).items():
            if value is not None:
                raise _weft.ArgumentError(f"weft: {name} is given, and dtype=int32 is the sums as they are, with sum_bias; leave it out")
        return total.astype(np.int32)
    numbers = {name: _floats(v, name, (), "a number") for name, v in dict(beta=beta, gamma=gamma, zero_point=zero_point).items()}
    scale = _floats(alpha, "alpha", () if np.ndim(alpha) == 0 else (k,), "a number, or one for each output channel")
    with np.errstate(all="ignore"):
        t: Any = np.zeros(total.shape, np.float32)
        if residual is not None:
            t = numbers["gamma"] * _floats(residual, "residual", total.shape, "an array of the output's shape")
        t = fma(scale.reshape(-1, 1, 1) if scale.ndim else scale, total.astype(np.float32), t)
        if bias is not None:
            t = fma(numbers["beta"], _floats(bias, "bias", (k,), "one for each output channel").reshape(-1, 1, 1), t)
        if activation is not None:
            if not callable(activation):
                raise _weft.ArgumentTypeError(f"weft: activation={activation!r} is no function of an array of float32; give one, or None")
            t = _floats(activation(t), "activation(t)", total.shape, "a function whose result has its argument's shape")
        if output_scale is not None:
            step = _floats(output_scale, "output_scale", (), "a number")
            if not (np.isfinite(step) and step > 0):
                raise _weft.ArgumentError(f"weft: output_scale={output_scale!r} is not a finite number above 0; give the real value of a step of the output")
            t = t * (np.float32(1) / step)
        if dtype in ("float32", "float16"):
            return t.astype(dtype)
        t = (np.rint(t) if round_first else t) + numbers["zero_point"]
        limits = np.iinfo(dtype)
        return np.clip(np.rint(np.where(np.isnan(t), np.float32(0), t)), limits.min, limits.max).astype(dtype)


def reference(problem: Any, x: Any, w: Any, *, source_zero_point: int = 0, **arguments: Any) -> np.ndarray:
    """What a convolution is defined to give, by plain loops: (n, k, p, q), to the bit.

    problem: see weft.problem_of. x: integers (n, c, h, w); w: integers (k, c / groups, r, s), or with n in front, a filter
        for each image.
    bias: k numbers. sum_bias: k integers, added to the sums. residual: (n, k, p, q). alpha: a number, or k. beta, gamma,
        output_scale, zero_point: as at a call of an operator. source_zero_point: the integer of x that stands for 0.
    activation: a function of an array of float32 to one, or None. round_first: whether t is rounded before zero_point is
        added, too. dtype: of the result.
    """
    return epilogue(sums(problem, x, w, source_zero_point), **arguments)


def reference_transposed(problem: Any, x: Any, w: Any, output_padding: Any = 0, *, source_zero_point: int = 0,
                         **arguments: Any) -> np.ndarray:
    """What a transposed convolution is defined to give: (n, k, p, q), to the bit. w: (c, k, r, s); the rest as reference's."""
    return epilogue(transposed_sums(problem, x, w, output_padding, source_zero_point), **arguments)
