"""The picture of a graph beside its plan: which nodes became one kernel, the formats between kernels, and where time goes."""
from __future__ import annotations

from typing import Callable

from .._graph import Graph, Node
from .._profile import Plan, PlannedTensor, Step
from .rows import Block, Net, blocks_of, lanes_of, nets_of_graph, nets_of_plan, next_rows
from .svg import COLORS, MEANINGS, STYLE, element, fill_of, gradients, plain, shortened, text
from .._table import amount, bytes_in_words, detail_of, extents_of, format_of, name_of

_ROW, _BOX, _LANE, _TOP = 34.0, 27.0, 8.0, 62.0  # heights of a row and of its box, between two lanes, and of what stands above
_NODE_WIDTH, _GAP, _KERNEL_WIDTH, _NUMBERS, _WIDTH = 232.0, 46.0, 330.0, 110.0, 1160.0


def picture_of(graph: Graph, plan: Plan, styled: bool = True) -> str:
    """An element svg. styled: with its own style, as a file by itself needs it."""
    return _Picture(graph, plan).svg(styled)


def measure_of(plan: Plan) -> tuple[str, Callable[[Step], float]]:
    """What bars show, and how much of it a step has: its time if it was measured, else its floor, or on the CPU its bytes."""
    if plan.us is not None:
        return "us", lambda step: step.us or 0.0
    if plan.gpu:
        return "us at least", lambda step: step.floor_us or 0.0
    return "MB", lambda step: step.bytes / 1e6


def detail_of_node(node: Node) -> str:
    """Window, stride and groups of a node, where it has any."""
    said = [f"{node.window[0]}x{node.window[1]}"] if node.window != (1, 1) or node.kind == "convolution" else []
    said += [f"/ {node.stride[0]}x{node.stride[1]}"] if node.stride != (1, 1) else []
    said += [f"in {node.groups} groups"] if node.groups > 1 else []
    return " ".join(said)


def title_of_step(plan: Plan, step: Step) -> str:
    """What is shown of a kernel where the mouse rests on it."""
    lines = [name_of(step), f"kernel: {step.kernel}"]
    lines += [f"reads {_tensor(tensor)}" for tensor in (step.source, step.other) if tensor]
    lines += [f"writes {_tensor(step.destination)}", f"moves {bytes_in_words(step.bytes)} at least, computes {step.operations / 1e9:,.3f} Gop"]
    if step.us is not None:
        lines.append(f"{step.us:,.1f} us, {100 * (step.share or 0):.1f} % of all kernels")
    if step.floor_us is not None:
        lines.append(f"{step.floor_us:,.1f} us at the GPU's rates of bytes and operations")
    return "\n".join(lines)


def _tensor(tensor: PlannedTensor) -> str:
    where = f"the arena from byte {tensor.offset:,} on" if tensor.where == "arena" else f"the {tensor.where}"
    return f"{tensor.name}: {tensor.element} {'x'.join(map(str, tensor.shape))} {tensor.format}, {bytes_in_words(tensor.bytes)} in {where}"


class _Picture:
    def __init__(self, graph: Graph, plan: Plan) -> None:
        self.graph, self.plan, self.blocks = graph, plan, blocks_of(graph, plan)
        self.kinds = {node.name: node.kind for node in graph.nodes}
        self.rows = self.blocks[-1].begin + self.blocks[-1].rows if self.blocks else 0
        self.node_row = {node.name: block.begin + i for block in self.blocks for i, node in enumerate(block.nodes)}
        steps = {block.step: block for block in self.blocks if block.step is not None}
        self.of_step = [steps[at] for at in range(len(plan.steps))]
        self.nets = nets_of_graph(graph, self.node_row, self.rows)
        self.wires = nets_of_plan(plan, [block.begin for block in self.of_step], self.rows)
        self.follows_node = next_rows([-1, self.rows, *self.node_row.values()])
        self.follows_step = next_rows([-1, self.rows, *(block.begin for block in self.of_step)])
        self.net_lanes, left = lanes_of(self.nets, self.follows_node)
        self.wire_lanes, right = lanes_of(self.wires, self.follows_step)
        self.node_x = 18 + _LANE * left
        self.kernel_x = self.node_x + _NODE_WIDTH + _GAP
        self.bar_x = self.kernel_x + _KERNEL_WIDTH + 20 + _LANE * right
        self.bar_width = max(180.0, _WIDTH - self.bar_x - _NUMBERS)
        self.width, self.height = self.bar_x + self.bar_width + _NUMBERS, _TOP + _ROW * (self.rows + 2) + 6
        self.heights = {block.begin: self._bottom(block) - self._y(block.begin) for block in self.of_step}

    def svg(self, styled: bool) -> str:
        ground = element("rect", width=self.width, height=self.height, fill="#ffffff")  # where a reader's own is dark
        parts = [element("style", plain(STYLE)) + ground if styled else "", gradients([(s.source.format, s.destination.format) for s in self.plan.steps]), self._head()]
        parts += [self._link(block) for block in self.blocks]
        parts += [self._straight(net, self.follows_node, self.node_x + _NODE_WIDTH / 2, "edge") for net in self.nets]
        parts += [self._lane(net, self.node_x, -1, lane, "edge") for net, lane in self.net_lanes]
        parts += [self._straight(net, self.follows_step, self.kernel_x + _KERNEL_WIDTH / 2, "wire") for net in self.wires]
        parts += [self._lane(net, self.kernel_x + _KERNEL_WIDTH, 1, lane, "wire") for net, lane in self.wire_lanes]
        parts += [self._port(-1, "input", self.graph.inputs), self._port(self.rows, "output", self.graph.outputs)]
        parts += [self._node(node, self.node_row[node.name]) for block in self.blocks for node in block.nodes]
        _, measure = measure_of(self.plan)
        most = max([measure(step) for step in self.plan.steps] + [step.floor_us or 0.0 for step in self.plan.steps if self.plan.us is not None] + [1e-9])
        parts += [self._kernel(at, step, block, most) for at, (step, block) in enumerate(zip(self.plan.steps, self.of_step))]
        return element("svg", "\n".join(filter(None, parts)), xmlns="http://www.w3.org/2000/svg", width=self.width, height=self.height,
                       viewBox=f"0 0 {self.width:.0f} {self.height:.0f}", role="img")

    def _y(self, row: int) -> float:
        return _TOP + _ROW * (row + 1)

    def _bottom(self, block: Block) -> float:
        return self._y(block.begin + block.rows - 1) + _BOX

    def _head(self) -> str:
        unit, _ = measure_of(self.plan)
        bars = {"us": "time of each kernel, us", "MB": "bytes of each kernel, MB"}.get(unit, "floor of each kernel, us")
        parts = [text(self.node_x, 18.0, f"as imported: {len(self.graph.nodes)} nodes", "head"),
                 text(self.kernel_x, 18.0, f"as planned: {len(self.plan.steps)} kernels", "head"), text(self.bar_x, 18.0, bars, "head")]
        x = self.kernel_x
        used = {tensor.format for tensor in self.plan.tensors}
        for name in (name for name in COLORS if name in used):
            parts += [element("rect", x=x, y=30.0, width=12, height=12, rx=2, fill=COLORS[name]), text(x + 16, 40.0, MEANINGS[name], "small")]
            x += 30 + 5.2 * len(MEANINGS[name])
        parts += [element("rect", x=self.node_x, y=30.0, width=12, height=12, rx=2, class_="fused"), text(self.node_x + 16, 40.0, "nodes that are one kernel", "small")]
        if self.plan.gpu and self.plan.us is not None:
            parts += [element("rect", x=x, y=32.0, width=12, height=8, class_="floor"), text(x + 16, 40.0, "floor: bytes and operations at the GPU's rates", "small")]
        return "".join(parts)

    def _link(self, block: Block) -> str:
        """What joins nodes to their kernel; behind several nodes a box around them."""
        if block.step is None or not block.nodes:
            return ""
        top, bottom, right = self._y(block.begin), self._bottom(block), self.node_x + _NODE_WIDTH
        several = len(block.nodes) > 1
        link = element("rect", x=right, y=top + 3, width=_GAP, height=bottom - top - 6, class_="link several" if several else "link")
        around = element("rect", x=self.node_x - 5, y=top - 3.5, width=_NODE_WIDTH + 10, height=bottom - top + 7, rx=6, class_="fused") if several else ""
        return link + around

    def _straight(self, net: Net, following: dict[int, int], x: float, class_: str) -> str:
        """The line to what stands right below."""
        begin = net.writers[0]
        if len(net.writers) > 1 or following.get(begin) not in net.readers:
            return ""
        top = self._y(begin) + (self.heights.get(begin, _BOX) if class_ == "wire" else _BOX)
        return element("path", d=f"M{x:.1f} {top:.1f}V{self._y(following[begin]):.1f}", class_=class_, stroke=COLORS.get(net.format))

    def _lane(self, net: Net, x: float, side: int, lane: int, class_: str) -> str:
        """A line beside the boxes, with a branch to whoever writes or reads what does not stand right below."""
        at = x + side * (12 + _LANE * lane)
        middle = lambda row: self._y(row) + (self.heights.get(row, _BOX) if class_ == "wire" else _BOX) / 2
        straight = (self.follows_step if class_ == "wire" else self.follows_node).get(net.writers[0]) if len(net.writers) == 1 else None
        writers = [middle(row) + 5 for row in net.writers]
        readers = [middle(row) - 5 for row in net.readers if row != straight]
        path = [f"M{at:.1f} {min(writers):.1f}V{max(readers + writers):.1f}"] + [f"M{x:.1f} {y:.1f}H{at:.1f}" for y in writers + readers]
        marks = "".join(element("circle", cx=x, cy=y, r=2.4, fill=COLORS.get(net.format, "#9aa5b1")) for y in readers)
        return element("path", d="".join(path), class_=class_, stroke=COLORS.get(net.format)) + marks

    def _port(self, row: int, what: str, names: list[str]) -> str:
        tensors = [self.graph.tensors[name] for name in names]
        said = ", ".join(f"{t.name}: {t.element} {'x'.join(map(str, t.seen_shape))}" for t in tensors)
        parts = [element("title", plain(f"{what} {said}"))]
        for x, width in ((self.node_x, _NODE_WIDTH), (self.kernel_x, _KERNEL_WIDTH)):
            parts += [element("rect", x=x, y=self._y(row), width=width, height=_BOX, rx=13, class_="box"),
                      text(x + width / 2, self._y(row) + 17.5, shortened(f"{what} {said}", width - 20), "middle")]
        return element("g", "".join(parts), class_="port")

    def _node(self, node: Node, row: int) -> str:
        tensor, y, x = self.graph.tensors[node.output], self._y(row), self.node_x
        extents = "x".join(map(str, tensor.seen_shape))
        detail = detail_of_node(node)
        title = f"{node.name}: {node.kind}{', ' + detail if detail else ''}\nreads {', '.join(node.inputs)}\nwrites {tensor.name}: {tensor.element} {extents}"
        if tensor.element != "float":
            title += f", scale {tensor.scale:.6g}, zero point {tensor.zero_point}"
        parts = [element("title", plain(title)), element("rect", x=x, y=y, width=_NODE_WIDTH, height=_BOX, rx=4, class_="box"),
                 text(x + 8, y + 11.5, shortened(node.name, _NODE_WIDTH - 24 - 6.2 * len(extents))), text(x + _NODE_WIDTH - 8, y + 11.5, extents, "small right"),
                 text(x + 8, y + 22.5, f"{node.kind.replace('_', ' ')} {detail}", "small")]
        return element("g", "".join(parts), class_="node")

    def _kernel(self, at: int, step: Step, block: Block, most: float) -> str:
        x, top, height = self.kernel_x, self._y(block.begin), self.heights[block.begin]
        y = top + (height - _BOX) / 2
        extents, formats = extents_of(step.destination.shape), format_of(step).replace(">", "\u2192")
        # The first node's name and what the others are: their names stand beside it.
        others = [self.kinds[name].replace("_", " ") for name in step.nodes[1:]]
        name, detail = " + ".join([step.nodes[0], *others]) if step.nodes else "change of format", detail_of(step)
        words, room = x + 34, _KERNEL_WIDTH - 50
        parts = [element("title", plain(title_of_step(self.plan, step))),
                 element("rect", x=x, y=top, width=_KERNEL_WIDTH, height=height, rx=4, class_="box", fill=fill_of(step.source.format, step.destination.format),
                         stroke=COLORS[step.destination.format]),
                 text(x + 26, y + 17.5, at, "right"),
                 text(words, y + 11.5, shortened(name, room - 6.6 * len(extents), 12.2), "strong"), text(x + _KERNEL_WIDTH - 8, y + 11.5, extents, "small right"),
                 text(words, y + 22.5, shortened(f"{step.kernel.replace('_', ' ')}{', ' + detail if detail else ''}", room - 5.6 * len(formats), 9.5), "small"),
                 text(x + _KERNEL_WIDTH - 8, y + 22.5, formats, "small right"), self._bar(step, y, most)]
        return element("g", "".join(parts), class_="kernel" if step.nodes else "kernel added")

    def _bar(self, step: Step, y: float, most: float) -> str:
        unit, measure = measure_of(self.plan)
        wide = lambda value: max(0.8, self.bar_width * value / most)
        parts = [element("rect", x=self.bar_x, y=y + 6, width=wide(measure(step)), height=15, rx=2, fill=COLORS[step.destination.format])]
        if self.plan.us is not None and step.floor_us is not None:
            parts.append(element("rect", x=self.bar_x, y=y + 10, width=wide(step.floor_us), height=7, class_="floor"))
        longest = max(measure(step), step.floor_us or 0.0 if self.plan.us is not None else 0.0)
        said = amount(measure(step)) if unit == "MB" else f"{measure(step):,.1f}"
        parts.append(text(self.bar_x + wide(longest) + 6, y + 17.5, said, "strong"))
        if step.share is not None:
            parts.append(text(self.bar_x + wide(longest) + 12 + 6.6 * len(said), y + 17.5, f"{100 * step.share:.1f} %", "small"))
        return "".join(parts)
