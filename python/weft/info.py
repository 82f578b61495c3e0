"""python -m weft.info: what this machine has for Weft, and what the package was built as."""
import importlib
import os
import platform
import shutil
import subprocess

from . import __version__, _nvrtc, _weft


def _version_of(command):
    try:
        return subprocess.run([command, "--version"], capture_output=True, text=True, timeout=30).stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "does not run"


def lines():
    """The facts, one a line."""
    yield f"weft {__version__}, Python {platform.python_version()}, {platform.machine()}"
    wanted = (os.environ.get("CXX") or "").split()[:1] or ["g++", "c++"]
    found = next(filter(None, map(shutil.which, wanted)), None)
    yield f"C++ compiler for the CPU: {found}, {_version_of(found)}" if found else (
        f"C++ compiler for the CPU: none of {', '.join(wanted)} on the PATH; install g++ 11 or newer, or name one in CXX")
    yield f"GPU: {_weft.gpu()}"
    _nvrtc.load()
    yield f"compiler for a GPU: {_weft.nvrtc()}"
    for name in ("numpy", "torch", "cupy", "onnx", "onnxruntime"):
        try:
            yield f"{name} {importlib.import_module(name).__version__}"
        except ImportError:
            yield f"{name}: not installed"


if __name__ == "__main__":
    print("\n".join(lines()))
