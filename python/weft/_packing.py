"""Filters in the order in which kernels read them."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _arrays, _weft


def _int8(w: Any, name: str, wanted: tuple[int, ...], what: str) -> np.ndarray:
    _arrays.check(w, name, "int8", wanted, what)
    return _arrays.to_numpy(w)


def _fill(packed: np.ndarray, bank: np.ndarray, interleave: int) -> None:
    """Writes filters (any, k, c, r, s) to where they are read, packed[any], behind which zeros fill the last blocks."""
    if interleave == 1:
        packed[...] = bank.transpose(0, 1, 3, 4, 2)
        return
    count, k, c, r, s = bank.shape
    padded = np.zeros((count, packed.shape[-2], packed.shape[1] * interleave, r, s), np.int8)
    padded[:, :k, :c] = bank
    packed[...] = padded.reshape(count, padded.shape[1], -1, interleave, r, s).transpose(0, 2, 4, 5, 1, 3)


def _corrected(op: _weft.Operator, packed: np.ndarray, sums_of: Callable[[int], np.ndarray]) -> np.ndarray:
    """A packed filter and behind it, if x has a zero point, what that adds to the sums of each step.

    sums_of: the sums (k, r, s) over the input channels of a part of the filter.
    """
    steps = op._corrected
    if not steps:
        return packed
    w = _arrays.empty(op._packed, np.int8)
    w[...] = 0
    w[: packed.size] = packed.reshape(-1)
    for step, part in steps:
        op._correct(step, np.ascontiguousarray(sums_of(part), np.int32), w)
    return w


def convolution(op: _weft.Operator, w: Any, name: str = "w", *, experts: int | None = None) -> np.ndarray:
    """The filter of a convolution, or its bank of filters. experts: a bank of so many, whatever the operator takes."""
    interleave, bits, depthwise, batched, prologue, filters, shape = op._filter
    if bits != 8:
        raise _weft.ArgumentError("weft: filters of 4 bits are packed in C++ alone so far, by weft::PackFilter<FilterLayout>")
    p = op.problem
    one = (p.k // (1 if depthwise else p.groups), 1 if depthwise else p.c // p.groups, p.r, p.s)
    batched = batched and not depthwise
    if experts is not None:
        filters, shape = experts, (experts, *shape[1:])
    if prologue == "Grouped" and tuple(getattr(w, "shape", ())) == (p.k, *one[1:]):
        w = w.reshape(filters, *one)
    w = _int8(w, name, (filters, *one) if batched else one, f"the filter of {p}, [k][c][r][s]" + (", one after the other" if batched else ""))
    packed = _arrays.empty(shape, np.int8)
    if depthwise:
        padded = np.zeros((shape[0] * 4, p.r, shape[2] * 4), np.int8)
        padded[: p.k, :, : p.s] = w[:, 0]
        packed[...] = padded.reshape(-1, 4, p.r, shape[2], 4).transpose(0, 2, 3, 1, 4)
    else:
        _fill(packed if batched else packed[None], w.reshape(-1, *one), interleave)
    return _corrected(op, packed, lambda part: w.reshape(-1, *one[1:]).sum(1, np.int32))


def transposed(op: _weft.Operator, w: Any) -> np.ndarray:
    """The filter of a transposed convolution, part after part: each has the taps that some of the output's pixels meet."""
    p = op.problem
    w = _int8(w, "w", (p.c, p.k, p.r, p.s), f"the filter of the transposed {p}, [c][k][r][s]").transpose(1, 0, 2, 3)
    interleave, *_, shape = op._filter
    packed = _arrays.empty(shape, np.int8)
    packed[...] = 0  # between the parts, and the part of zeros
    taps = []
    for offset, part_shape, row, column, step_h, step_w, zeros in op._parts:
        taps.append(np.zeros((p.k, p.c, 1, 1), np.int8) if zeros else w[:, :, row::step_h, column::step_w][..., ::-1, ::-1])
        _fill(packed[offset : offset + int(np.prod(part_shape))].reshape(part_shape)[None], taps[-1][None], interleave)
    return _corrected(op, packed, lambda part: taps[part].sum(1, np.int32))
