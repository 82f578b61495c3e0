"""Operators in torch graphs: weft.torch.function(op) can be traced, compiled by torch.compile, exported and captured in CUDA graphs.

It needs torch 2.4 or newer, which weft itself does not ask for.
"""
from __future__ import annotations

import itertools
from typing import Callable

import torch

from ._weft import ArgumentTypeError
from .operators import CondConv, Operator

_operators: dict[int, Operator] = {}
_numbers = itertools.count()

# One operator of torch for all of ours, which it knows by number. torch.library.custom_op would do, and take longer at each call.
torch.library.define(
    "weft::run",
    "(int op, Tensor x, Tensor w, Tensor? bias, Tensor? residual, Tensor? scales, float alpha, float beta, float gamma, "
    "float output_scale, float zero_point) -> Tensor",
    tags=(torch.Tag.needs_fixed_stride_order, torch.Tag.pt2_compliant_tag),
)
_through_dispatcher = torch.ops.weft.run.default

# What torch's dispatcher looks at in a thread where nothing traces, batches or intercepts operators: in inference mode, and else.
try:
    _keys_of_thread = torch._C._dispatch_tls_local_include_set
    _inference = torch._C.DispatchKeySet(torch._C.DispatchKey.BackendSelect)
    _PLAIN = {keys.raw_repr() for keys in (_inference, _inference.add(torch._C.DispatchKey.ADInplaceOrView))}
except AttributeError:  # a torch that has other names for them: its dispatcher is always asked
    _PLAIN = set()


@torch.library.impl("weft::run", ("cpu", "cuda"))
def _run(op, x, w, bias, residual, scales, alpha, beta, gamma, output_scale, zero_point):
    return _operators[op](x, w, bias=bias, residual=residual, alpha=alpha if scales is None else scales, beta=beta, gamma=gamma,
                          output_scale=output_scale, zero_point=zero_point)


@torch.library.register_fake("weft::run")
def _fake(op, x, w, bias, residual, scales, alpha, beta, gamma, output_scale, zero_point):
    made = _operators[op]
    return x.new_empty(made.dst_shape, dtype=getattr(torch, made.dst_dtype))


def function(op: Operator) -> Callable[..., torch.Tensor]:
    """A function of tensors that runs an operator as torch.ops.weft.run, which torch's tracers know.

        f = weft.torch.function(op)
        y = f(x, w, bias=None, residual=None, alpha=1.0, beta=1.0, gamma=1.0, output_scale=0.0, zero_point=0.0)

    The arguments are those of the operator; alpha is a number or a tensor of k float32. There are no gradients. The operator
    is kept for as long as the process lives, and a value that is set later, as op.scale = 0.5, holds for later runs.
    """
    if isinstance(op, CondConv):
        raise ArgumentTypeError("weft: op is a CondConv, which has no operator of torch; give weft.Conv2d(..., prologue=\"per_sample\"), "
                                "and as w what mix(experts, routing) of the CondConv returns")
    if not isinstance(op, Operator):
        raise ArgumentTypeError(f"weft: op is a {type(op).__name__}; give a weft.Operator")
    number = next(_numbers)
    _operators[number] = op

    def run(x, w, *, bias=None, residual=None, alpha=1.0, beta=1.0, gamma=1.0, output_scale=0.0, zero_point=0.0):
        # Where torch would do nothing but call the kernel: its dispatcher takes longer than the call itself.
        if _PLAIN and not torch.compiler.is_compiling() and type(x) is torch.Tensor and _keys_of_thread().raw_repr() in _PLAIN:
            return op(x, w, bias=bias, residual=residual, alpha=alpha, beta=beta, gamma=gamma, output_scale=output_scale, zero_point=zero_point)
        scales = alpha if isinstance(alpha, torch.Tensor) else None
        return _through_dispatcher(number, x, w, bias, residual, scales, 1.0 if scales is not None else float(alpha), float(beta),
                                   float(gamma), float(output_scale), float(zero_point))

    return run
