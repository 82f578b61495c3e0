"""Convolutions of your own, on NVIDIA GPUs and on the CPU: docs/python.md begins with an activation in ten lines."""
from ._arrays import aligned, empty, from_layout, to_layout
from ._reference import reference
from ._text import Epilogue
from ._weft import ArgumentError, ArgumentTypeError, Error, Problem, RunError, __version__
from .operators import Conv2d, Depthwise, Operator, problem_of

__all__ = ["ArgumentError", "ArgumentTypeError", "Conv2d", "Depthwise", "Epilogue", "Error", "Operator", "Problem", "RunError",
           "aligned", "empty", "from_layout", "problem_of", "reference", "to_layout"]
