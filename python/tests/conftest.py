"""Operators that tests compile are kept in a folder of their own, and not among the user's."""
import os
import tempfile

_folder = tempfile.TemporaryDirectory(prefix="weft-tests-")
os.environ["XDG_CACHE_HOME"] = _folder.name
