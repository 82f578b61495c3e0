"""The plain reference: integer sums, and the same roundings one after the other, in numpy."""
import numpy as np

from . import _weft
from .operators import problem_of


def sums(problem, x, w):
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


def fma(a, b, c):
    """a * b + c of float32, rounded once."""
    a, b, c = (np.asarray(v, np.float32).astype(np.float64) for v in (a, b, c))
    product = a * b  # exact: 48 of 53 bits
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    # Rounded to odd, the sum in double rounds to float as the exact one does.
    even = (total.view(np.int64) & 1) == 0
    toward = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    return np.where((error != 0) & even & np.isfinite(total), toward, total).astype(np.float32)


def reference(problem, x, w, *, bias=None, residual=None, alpha=1.0, beta=1.0, gamma=1.0, activation=None, output_scale=None,
              zero_point=0.0, dtype="int8"):
    """What a convolution is defined to give, by plain loops: (n, k, p, q), to the bit.

    problem, x, w: as in sums. bias: k numbers. residual: (n, k, p, q). alpha, beta, gamma: as at a call of an operator.
    activation: a function of an array of float32 to one, or None. dtype: of the result.
    """
    total = sums(problem, x, w)
    if dtype == "int32":
        return total.astype(np.int32)
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
