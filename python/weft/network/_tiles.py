"""Tiles of a network's convolutions: what weft.load(..., tiles=...) is given, and what tuning says while it goes on."""
from __future__ import annotations

import operator
import sys
from typing import Any, Callable, Mapping

import numpy as np

from .. import _weft


def checked(tiles: Any) -> dict[int, dict[str, str]]:
    """The tiles by numbers of images. Their keys may be text, as json writes them."""
    if tiles is None:
        return {}
    wanted = 'give {64: model.tiles(64)} for instance, also as json writes it'
    if not isinstance(tiles, Mapping):
        raise _weft.ArgumentTypeError(f"weft: tiles is a {type(tiles).__name__}; {wanted}")
    found: dict[int, dict[str, str]] = {}
    for batch, names in tiles.items():
        try:
            number = int(batch) if isinstance(batch, str) and batch.isdecimal() else operator.index(batch)
        except (TypeError, ValueError):  # ValueError: text of thousands of digits
            number = 0
        if number < 1 or isinstance(batch, (bool, np.bool_)):
            raise _weft.ArgumentError(f"weft: tiles has the key {batch!r}, which is no number of images; {wanted}")
        if not isinstance(names, Mapping) or not all(isinstance(text, str) for item in names.items() for text in item):
            raise _weft.ArgumentError(f"weft: tiles[{batch!r}] is no dict of a tile's name for each convolution's; {wanted}")
        found[number] = dict(names)
    return found


def report_of(progress: Any) -> Callable[[dict[str, Any]], None] | None:
    """The function that is called while a network is tuned."""
    if progress is True:
        return _show
    if progress is None or progress is False:
        return None
    if not callable(progress):
        raise _weft.ArgumentTypeError(f"weft: progress={progress!r} is no function; give one, or True, which prints lines")
    return progress


def _show(now: dict[str, Any]) -> None:
    if not now["group"]:
        print(f"tuning: {now['candidates']} candidates for {now['groups']} groups of convolutions", file=sys.stderr, flush=True)
        return
    others = f" and {now['steps'] - 1} alike" if now["steps"] > 1 else ""
    print(f"{now['group']:3} of {now['groups']}  {now['us']:10.2f} us, {'kept' if now['kept'] else 'not'} instead of {now['before_us']:.2f} us  "
          f"{now['tile']}: {now['step']}{others}", file=sys.stderr, flush=True)
