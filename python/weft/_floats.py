"""Arithmetic of float32 to the bit, in arrays of numpy, torch and cupy."""
from __future__ import annotations

from typing import Any

from . import _arrays


def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c of float32, rounded once. At least one of a, b, c has the result's shape; all are arrays of one library."""
    library = _arrays.library_of(c)
    a, b, c = (_arrays.cast(v, "float64") for v in (a, b, c))
    product = a * b  # exact: 48 of 53 bits
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    # Rounded to odd, the sum in double rounds to float as the exact one does.
    bits = total.view(library.int64)
    even = (bits & 1) == 0
    infinity = float("inf")
    toward = library.where(error > 0, library.full_like(total, infinity), library.full_like(total, -infinity))
    odd = library.where((error != 0) & even & library.isfinite(total), library.nextafter(total, toward), total)
    return _arrays.cast(odd, "float32")


def mix(experts: Any, routing: Any, expert_scale: Any = None) -> Any:
    """The filters of a CondConv: (n, ...) of int8, as conv::CondConv rounds them (docs/condconv.md).

    experts: (e, ...) of int8. routing: (n, e) of float32. expert_scale: float32 that broadcasts over experts, or None.
    All are arrays of one library in one memory.
    """
    library = _arrays.library_of(experts)
    values = _arrays.cast(experts, "float32")
    if expert_scale is not None:
        values = expert_scale * values
    filters = _arrays.empty_like(experts, (routing.shape[0], *experts.shape[1:]), "int8")
    for n in range(routing.shape[0]):
        mixed = library.zeros_like(values[0])
        for e in range(values.shape[0]):
            mixed = fma(routing[n, e], values[e], mixed)
        mixed = library.where(library.isnan(mixed), library.zeros_like(mixed), mixed)
        rounded = library.round(mixed) if library.__name__ == "torch" else library.rint(mixed)
        filters[n] = _arrays.cast(library.clip(rounded, -128, 127), "int8")
    return filters
