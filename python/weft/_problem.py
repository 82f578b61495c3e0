"""The shape of a convolution, from what a user writes."""
from __future__ import annotations

from typing import Any

from . import _weft

# Fields of a problem that one number sets for both directions.
_BOTH = {"hw": ("h", "w"), "rs": ("r", "s"), "stride": ("stride_h", "stride_w"), "dilation": ("dilation_h", "dilation_w"),
         "padding": ("pad_top", "pad_left", "pad_bottom", "pad_right")}
_FIELDS = {"n", "h", "w", "c", "k", "r", "s", "pad_top", "pad_left", "pad_bottom", "pad_right", "stride_h", "stride_w",
           "dilation_h", "dilation_w", "groups", "flipped"}


def problem_of(problem: Any, **fields: Any) -> _weft.Problem:
    """The shape of a convolution: a Problem.

    problem: a Problem; its name, as "n1c64h56w56k64r3s1p1" (n images, c channels, h x w pixels, k output channels, r x r
        filter, stride s, padding p, dilation d, groups g; r3x5, s1x2, d1x2 where the directions differ; without p the
        padding is half the filter); or a dictionary of n, c, h, w, k, r, s, stride, padding, dilation, groups, flipped, in
        which a direction of its own is stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, pad_bottom, pad_right,
        hw is h and w, and rs is r and s.
    """
    if isinstance(problem, _weft.Problem):
        result = problem.copy()
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


def pair_of(value: Any, name: str) -> tuple[int, int]:
    """Two whole numbers, of which one may be given for both."""
    try:
        first, second = (value, value) if isinstance(value, int) else value
        return int(first), int(second)
    except (TypeError, ValueError):
        raise _weft.ArgumentTypeError(f"weft: {name}={value!r} is neither a whole number nor two of them") from None
