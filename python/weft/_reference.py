"""The plain reference: integer sums, and the same roundings one after the other, in numpy."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _weft
from ._floats import fma
from ._problem import pair_of, problem_of


def sums(problem: Any, x: Any, w: Any) -> np.ndarray:
    """The exact sums [n][k][p][q] of a convolution, int64. x: (n, c, h, w); w: (k, c / groups, r, s), or with n in front."""
    p, x, w = problem_of(problem), np.asarray(x), np.asarray(w)
    if x.shape != (p.n, p.c, p.h, p.w):
        raise _weft.ArgumentError(f"weft: x.shape={x.shape} is not {(p.n, p.c, p.h, p.w)}, NCHW of {p}")
    one = (p.k, p.c // p.groups, p.r, p.s)
    if w.shape not in (one, (p.n, *one)):
        raise _weft.ArgumentError(f"weft: w.shape={w.shape} is not {one}, KCRS of {p}")
    w = np.broadcast_to(w.astype(np.int64), (p.n, *one))
    if p.flipped:
        w = w[..., ::-1, ::-1]
    padded = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (p.pad_top, p.pad_bottom), (p.pad_left, p.pad_right)))
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


def transposed_sums(problem: Any, x: Any, w: Any, output_padding: Any = 0) -> np.ndarray:
    """The exact sums [n][k][p][q] of a transposed convolution, int64. x: (n, c, h, w); w: (c, k, r, s), PyTorch's order."""
    p, x, w = problem_of(problem), np.asarray(x), np.asarray(w)
    more_h, more_w = pair_of(output_padding, "output_padding")
    rows, columns = (p.h - 1) * p.stride_h + (p.r - 1) * p.dilation_h + 1, (p.w - 1) * p.stride_w + (p.s - 1) * p.dilation_w + 1
    spread = np.zeros((p.n, p.k, rows + more_h, columns + more_w), np.int64)
    for r in range(p.r):
        for s in range(p.s):
            at = np.s_[:, :, r * p.dilation_h :, s * p.dilation_w :]
            spread[at][:, :, : (p.h - 1) * p.stride_h + 1 : p.stride_h, : (p.w - 1) * p.stride_w + 1 : p.stride_w] += np.einsum(
                "nchw,ck->nkhw", x.astype(np.int64), w[:, :, r, s].astype(np.int64))
    return spread[:, :, p.pad_top : spread.shape[2] - p.pad_bottom, p.pad_left : spread.shape[3] - p.pad_right]


def epilogue(total: Any, *, bias: Any = None, residual: Any = None, alpha: Any = 1.0, beta: float = 1.0, gamma: float = 1.0,
             activation: Callable[[np.ndarray], np.ndarray] | None = None, output_scale: float | None = None,
             zero_point: float = 0.0, dtype: str = "int8") -> np.ndarray:
    """What exact sums (n, k, p, q) become, each stage rounded once. The arguments are those of reference."""
    if dtype == "int32":
        return np.asarray(total).astype(np.int32)
    with np.errstate(all="ignore"):
        t = np.zeros(total.shape, np.float32)
        if residual is not None:
            t = np.float32(gamma) * np.asarray(residual).astype(np.float32)
        scale = np.asarray(alpha, np.float32)
        t = fma(scale.reshape(-1, 1, 1) if scale.ndim else scale, total.astype(np.float32), t)
        if bias is not None:
            t = fma(np.float32(beta), np.asarray(bias).astype(np.float32).reshape(-1, 1, 1), t)
        if activation is not None:
            t = np.asarray(activation(t), np.float32)
        if output_scale is not None:
            t = t * (np.float32(1) / np.float32(output_scale))
        if dtype in ("float32", "float16"):
            return t.astype(dtype)
        t = t + np.float32(zero_point)
        limits = np.iinfo(dtype)
        return np.clip(np.rint(np.where(np.isnan(t), np.float32(0), t)), limits.min, limits.max).astype(dtype)


def reference(problem: Any, x: Any, w: Any, **arguments: Any) -> np.ndarray:
    """What a convolution is defined to give, by plain loops: (n, k, p, q), to the bit.

    problem: see weft.problem_of. x: (n, c, h, w); w: (k, c / groups, r, s), or with n in front, a filter for each image.
    bias: k numbers. residual: (n, k, p, q). alpha, beta, gamma, output_scale, zero_point: as at a call of an operator.
    activation: a function of an array of float32 to one, or None. dtype: of the result.
    """
    return epilogue(sums(problem, x, w), **arguments)


def reference_transposed(problem: Any, x: Any, w: Any, output_padding: Any = 0, **arguments: Any) -> np.ndarray:
    """What a transposed convolution is defined to give: (n, k, p, q), to the bit. w: (c, k, r, s); the rest as reference's."""
    return epilogue(transposed_sums(problem, x, w, output_padding), **arguments)
