"""The shape of a convolution, from what a user writes."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import _weft


def problem_of(problem: Any, **fields: Any) -> _weft.Problem:
    """The shape of a convolution: a Problem.

    problem: a Problem; its name, as "n1c64h56w56k64r3s1p1" (n images, c channels, h x w pixels, k output channels, r x r
        filter, stride s, padding p, dilation d, groups g; r3x5, s1x2, d1x2 where the directions differ; without p the
        padding is half the filter); or a dictionary of n, c, h, w, k, r, s, stride, padding, dilation, groups, flipped, in
        which a direction of its own is stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, pad_bottom, pad_right,
        hw is h and w, and rs is r and s.
    fields: as the dictionary's; they come behind the problem's own.
    """
    if isinstance(problem, _weft.Problem):
        return problem.replace(**fields)
    if isinstance(problem, dict):
        return _weft.Problem(**{str(name): value for name, value in problem.items()}).replace(**fields)
    if problem is None or isinstance(problem, str):
        return _weft.Problem(problem, **fields)
    raise _weft.ArgumentTypeError(f"weft: problem is a {type(problem).__name__}; give a name such as \"n1c64h56w56k64r3s1p1\", a dictionary or a weft.Problem")


def whole_number(value: Any, name: str) -> int:
    """A whole number, of Python's or of numpy's; what has a fraction is refused, and not rounded."""
    try:
        return operator.index(value)
    except TypeError:
        raise _weft.ArgumentTypeError(f"weft: {name}={value!r} is no whole number") from None


def number_of(value: Any, name: str, bits: int = 63) -> int:
    """A whole number above 0 that fits the integer of C++ that it becomes. bits: those of its greatest value."""
    number = whole_number(value, name)
    if not 1 <= number < 2**bits or isinstance(value, (bool, np.bool_)):
        raise _weft.ArgumentError(f"weft: {name}={value!r} is no whole number from 1 to 2^{bits} - 1")
    return number


def names_of(value: Any, name: str, such: str) -> list[str]:
    """A list of names, of which one may be given alone. such: what would be one."""
    try:
        names = [value] if isinstance(value, str) else list(value)
    except TypeError:
        names = [value]
    wrong = [text for text in names if not isinstance(text, str) or not text]
    if wrong:
        kind = _weft.ArgumentError if isinstance(wrong[0], str) else _weft.ArgumentTypeError
        raise kind(f"weft: {name}={value!r} has {wrong[0]!r}, which is no name; give one or a list of them, such as {such}")
    return names


def pair_of(value: Any, name: str) -> tuple[int, int]:
    """Two whole numbers, of which one may be given for both."""
    try:
        first, second = value if isinstance(value, (tuple, list)) else (value, value)
        return operator.index(first), operator.index(second)
    except (TypeError, ValueError):
        raise _weft.ArgumentTypeError(f"weft: {name}={value!r} is neither a whole number nor two of them") from None
