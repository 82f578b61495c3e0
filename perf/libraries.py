#!/usr/bin/env python3
"""Where the cuDNN and cuBLASLt of PyTorch's wheels are, which are newer than a system's, and the commit that is measured.

    perf/libraries.py              their folders, as LD_LIBRARY_PATH has them, and the version of cuDNN
    perf/libraries.py --headers    the folders of their headers, as CMAKE_INCLUDE_PATH has them

Lines are empty where this Python has no such wheels.
"""
import glob
import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def folders(kind="lib"):
    """Of the wheels that this Python has: "lib" or "include"."""
    spec = importlib.util.find_spec("nvidia")
    roots = spec.submodule_search_locations if spec else []
    return [path for root in roots for part in ("cudnn", "cu13") for path in glob.glob(os.path.join(root, part, kind))]


def cudnn():
    """Its version, such as 9.19.0, or an empty text."""
    try:
        return ".".join(importlib.metadata.version("nvidia-cudnn-cu13").split(".")[:3])
    except importlib.metadata.PackageNotFoundError:
        return ""


def commit():
    """That of .carry/commit (perf/carry.sh), or else the last one of the checkout, an empty text where that is no checkout of git's."""
    carried = ROOT / ".carry/commit"
    return carried.read_text().strip() if carried.exists() else subprocess.run(
        ["git", "log", "-1", "--format=%h", "--abbrev=10"], cwd=ROOT, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    if "--headers" in sys.argv:
        print(";".join(folders("include")))
    else:
        print(":".join(folders()), cudnn(), sep="\n")
