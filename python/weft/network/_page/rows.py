"""Where a picture has what: a row for each node of a graph beside the kernel that computes it, and lanes for tensors."""
from __future__ import annotations

from dataclasses import dataclass

from .._graph import Graph, Node
from .._profile import Plan


@dataclass(frozen=True)
class Block:
    """Rows that belong together: the nodes of one kernel, a kernel without a node of its own, or nodes without a kernel."""

    begin: int  # its first row
    nodes: tuple[Node, ...]
    step: int | None  # the kernel's place in the plan

    @property
    def rows(self) -> int:
        return max(1, len(self.nodes))


def blocks_of(graph: Graph, plan: Plan) -> list[Block]:
    """All of a graph and of its plan, in the order of the kernels. A node that several kernels compute stands beside the last one."""
    owner = {name: at for at, step in enumerate(plan.steps) for name in step.nodes}
    place = {node.name: at for at, node in enumerate(graph.nodes)}
    idle = [node for node in graph.nodes if node.name not in owner]  # that a plan does without
    blocks: list[Block] = []

    def add(nodes: list[Node], step: int | None) -> None:
        begin = blocks[-1].begin + blocks[-1].rows if blocks else 0
        blocks.append(Block(begin, tuple(nodes), step))

    for at, step in enumerate(plan.steps):
        nodes = [graph.nodes[place[name]] for name in step.nodes if owner[name] == at]
        while idle and nodes and place[idle[0].name] < place[nodes[-1].name]:
            add([idle.pop(0)], None)
        add(nodes, at)
    for node in idle:
        add([node], None)
    return blocks


@dataclass(frozen=True)
class Net:
    """Who writes and who reads a tensor, as rows."""

    tensor: str
    format: str  # empty of a graph's
    writers: tuple[int, ...]
    readers: tuple[int, ...]


def nets_of_graph(graph: Graph, row: dict[str, int], last: int) -> list[Net]:
    """The tensors between nodes. row: of each node; inputs stand in row -1, outputs in row `last`."""
    writer = {**dict.fromkeys(graph.inputs, -1), **{node.output: row[node.name] for node in graph.nodes}}
    readers: dict[str, list[int]] = {name: [] for name in writer}
    for node in graph.nodes:
        for name in node.inputs:
            readers[name].append(row[node.name])
    for name in graph.outputs:
        readers[name].append(last)
    return [Net(name, "", (at,), tuple(sorted(set(readers[name])))) for name, at in writer.items() if readers[name]]


def nets_of_plan(plan: Plan, row: list[int], last: int) -> list[Net]:
    """The tensors between kernels. row: of each step; inputs stand in row -1, outputs in row `last`."""
    nets = []
    for tensor in plan.tensors:
        writers = [row[at] for at, step in enumerate(plan.steps) if step.destination == tensor]
        readers = [row[at] for at, step in enumerate(plan.steps) if tensor in (step.source, step.other)]
        writers += [-1] if tensor.where == "input" else []
        readers += [last] if tensor.where == "output" else []
        if writers and readers:
            nets.append(Net(tensor.name, tensor.format, tuple(sorted(set(writers))), tuple(sorted(set(readers)))))
    return nets


def next_rows(rows: list[int]) -> dict[int, int]:
    """Of each row that has something the next one that has."""
    ordered = sorted(set(rows))
    return dict(zip(ordered, ordered[1:]))


def lanes_of(nets: list[Net], following: dict[int, int]) -> tuple[list[tuple[Net, int]], int]:
    """The nets that need a lane, because something stands between their ends, each with its lane; and how many lanes there are.

    A net whose only ends stand one below the other needs none. Short nets lie next to the boxes.
    """
    long = [net for net in nets if len(net.writers) > 1 or any(following.get(net.writers[0]) != reader for reader in net.readers)]
    lanes: list[list[tuple[int, int]]] = []
    placed = []
    for net in sorted(long, key=lambda net: (net.readers[-1] - net.writers[0], net.writers[0], net.tensor, net.format)):
        begin, end = net.writers[0], max(net.readers[-1], net.writers[-1])
        for at, lane in enumerate(lanes):
            if all(end <= b or e <= begin for b, e in lane):
                break
        else:
            at = len(lanes)
            lanes.append([])
        lanes[at].append((begin, end))
        placed.append((net, at))
    return placed, len(lanes)
