"""Operators that tests compile are kept in a folder of their own, and not among the user's. Processes of pytest-xdist share it."""
import os
import tempfile

if "PYTEST_XDIST_WORKER" not in os.environ:
    _folder = tempfile.TemporaryDirectory(prefix="weft-tests-")
    os.environ["XDG_CACHE_HOME"] = _folder.name
