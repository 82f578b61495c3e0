"""What the kernels of a planned network do and how long they take, as data: tables and pages are made of it."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Sequence

import numpy as np

from ._graph import Graph


@dataclass(frozen=True)
class PlannedTensor:
    """A tensor of the graph, or a copy of it in another format, in memory."""

    name: str  # of the graph's tensor
    element: str  # "int8", "uint8" or "float"
    shape: tuple[int, int, int, int]  # n, c, h, w
    format: str  # "nchw", "nhwc", or "nc4" and "nc32" of blocks of channels
    bytes: int
    where: str  # "arena", "input" or "output"
    offset: int  # in the arena, bytes from its beginning


@dataclass(frozen=True)
class Step:
    """A kernel of a plan."""

    name: str  # those of its nodes
    nodes: tuple[str, ...]  # names of the graph's nodes that it computes; none where it only changes a tensor's format
    kernel: str  # the tile of a convolution or a bottleneck, or what another operator is called
    detail: str  # windows, strides and groups, such as "3x3 / 2x2"; or empty
    source: PlannedTensor
    other: PlannedTensor | None  # what it reads besides, such as the other operand of an addition
    destination: PlannedTensor
    channels: tuple[int, int]  # of the destination, from the first on and before the second: not all where it is a concat's
    bytes: int  # that it has to read and write at least, of tensors, filters and tables
    operations: float  # multiplications and additions of products
    floor_us: float | None  # what bytes and operations take at the rates of the GPU's data sheet at least; None on the CPU
    us: float | None = None  # microseconds that it took; None unless it was measured
    share: float | None = None  # its part of the time of all kernels, 0 to 1


@dataclass(frozen=True)
class Block:
    """A bottleneck of a residual network: three convolutions, an addition, and one convolution of what is added, if it has that."""

    name: str  # those of its nodes
    why_apart: str | None  # why it is several kernels; None: it is one


@dataclass(frozen=True)
class Plan:
    """A network for a number of images: its kernels in their order. Network.plan makes it, and Network.profile one with times."""

    batch: int
    gpu: bool
    tensors: tuple[PlannedTensor, ...]
    steps: tuple[Step, ...]
    arena_bytes: int  # of the memory in which tensors between inputs and outputs lie
    constant_bytes: int  # of filters and their like
    blocks: tuple[Block, ...] = ()
    us: float | None = None  # of a run without anything between its kernels, which on a GPU is less than their sum

    @property
    def port_bytes(self) -> int:
        """Bytes of inputs and outputs."""
        return sum(tensor.bytes for tensor in self.tensors if tensor.where != "arena")

    @property
    def floor_us(self) -> float | None:
        """The sum of all floors; None on the CPU."""
        return sum(step.floor_us or 0.0 for step in self.steps) if self.gpu else None

    def lives(self) -> list[tuple[PlannedTensor, int, int]]:
        """Each tensor of the arena, the place of the first step that has it and that of the last one."""
        first: dict[PlannedTensor, int] = {}
        last: dict[PlannedTensor, int] = {}
        for at, step in enumerate(self.steps):
            for tensor in (step.source, step.other, step.destination):
                if tensor is not None and tensor.where == "arena":
                    first.setdefault(tensor, at)
                    last[tensor] = at
        return [(tensor, first[tensor], last[tensor]) for tensor in first]


def plan_of(planned: Any, batch: int, gpu: bool) -> Plan:
    """The plan of a weft._weft.Network."""
    tensors = tuple(PlannedTensor(**tensor) for tensor in planned.tensors())
    steps = tuple(Step(**{**step, "source": tensors[step["source"]], "destination": tensors[step["destination"]],
                          "other": None if step["other"] is None else tensors[step["other"]]}) for step in planned.steps())
    blocks = tuple(Block(**block) for block in planned.blocks())
    return Plan(batch, gpu, tensors, steps, planned.arena_bytes, planned.constant_bytes, blocks)


def with_times(plan: Plan, microseconds: Sequence[float], run: float) -> Plan:
    """The plan with the time of each step and that of a run."""
    total = sum(microseconds)
    steps = (replace(step, us=us, share=us / total if total else 0.0) for step, us in zip(plan.steps, microseconds))
    return replace(plan, steps=tuple(steps), us=run)


def random_inputs(graph: Graph, batch: int) -> dict[str, np.ndarray]:
    """Arrays for a run, the same at each call: floats of a normal distribution, and integers of the whole range."""
    random = np.random.default_rng(0)
    inputs = {}
    for name in graph.inputs:
        tensor = graph.tensors[name]
        shape = (batch, *tensor.seen_shape)
        if tensor.element == "float":
            inputs[name] = random.normal(size=shape).astype(np.float32)
        else:
            limits = np.iinfo(tensor.dtype)
            inputs[name] = random.integers(limits.min, limits.max + 1, shape).astype(tensor.dtype)
    return inputs
