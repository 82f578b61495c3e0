"""Convolutions of your own, on NVIDIA GPUs and on the CPU: docs/python.md begins with an activation in ten lines."""
from ._arrays import aligned, empty, from_layout, to_layout
from ._problem import problem_of
from ._reference import reference, reference_transposed
from ._text import Epilogue
from ._weft import ArgumentError, ArgumentTypeError, Error, Problem, RunError, __version__
from .network import load
from .operators import CondConv, Conv2d, ConvTranspose2d, Depthwise, Gemm, Operator

__all__ = ["ArgumentError", "ArgumentTypeError", "CondConv", "Conv2d", "ConvTranspose2d", "Depthwise", "Epilogue", "Error", "Gemm",
           "Operator", "Problem", "RunError", "aligned", "empty", "from_layout", "load", "problem_of", "reference", "reference_transposed",
           "to_layout"]
