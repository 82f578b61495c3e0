"""GPUs that are not there, and NVRTC as pip installs it (nvidia-cuda-nvrtc), of which the system's loader knows nothing."""
from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib

from . import _weft


def of_packages() -> pathlib.Path | None:
    """The newest libnvrtc among NVIDIA's packages of this Python, if there is one."""
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or []) if spec else []
    found = [path for folder in folders for path in pathlib.Path(folder).glob("*/lib/libnvrtc.so.*")]
    return max(found, key=lambda path: int("0" + path.suffix[1:])) if found else None


def check_gpu(what: str) -> None:
    """Refuses what takes a GPU where there is none."""
    gpu = _weft.gpu()
    if not gpu.startswith("compute capability"):
        reason = gpu.removesuffix("; give arrays of host memory")  # which is for calls of operators
        raise _weft.RunError(f"weft: {what} takes a GPU, and there is none: {reason}")


def load() -> None:
    """Loads it, unless WEFT_NVRTC names another one: the module takes one that the process has loaded."""
    path = None if os.environ.get("WEFT_NVRTC") else of_packages()
    if path:
        try:
            ctypes.CDLL(str(path))
        except OSError:
            pass  # the module looks elsewhere, and says where
