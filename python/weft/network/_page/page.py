"""A network as a page that needs nothing but a browser: its graph beside its plan, where time goes, its memory, and all numbers."""
from __future__ import annotations

from typing import Sequence

from .._graph import Graph
from .memory import arena_of, strip_of
from .picture import measure_of, picture_of
from .._profile import Plan, Step
from .svg import STYLE, element, plain
from .._table import amount, bytes_in_words, cells_of

_STYLE = """
body { margin: 0; background: #ffffff; color: #1b2430; font: 14px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1220px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 26px; margin: 0; } h2 { font-size: 18px; margin: 34px 0 4px; }
p { margin: 2px 0 12px; color: #5a6675; } nav a { margin-right: 14px; }
section + section { border-top: 3px solid #1b2430; margin-top: 50px; padding-top: 30px; }
.tiles { display: flex; flex-wrap: wrap; gap: 10px; margin: 18px 0 6px; }
.tile { border: 1px solid #dfe4ea; border-radius: 8px; padding: 7px 13px; min-width: 70px; }
.tile b { display: block; font-size: 18px; font-weight: 650; font-variant-numeric: tabular-nums; } .tile span { color: #5a6675; font-size: 12px; }
svg { display: block; max-width: 100%; height: auto; }
text.light { fill: #ffffff; }
table { border-collapse: collapse; margin-top: 12px; font-size: 12.5px; font-variant-numeric: tabular-nums; }
td, th { padding: 3px 12px 3px 0; text-align: left; border-bottom: 1px solid #eef1f4; white-space: nowrap; }
td.number, th.number { text-align: right; } tr:last-child td { font-weight: 600; }
.bar { display: inline-block; height: 9px; border-radius: 2px; background: #51606f; }
.wide { overflow-x: auto; } summary { cursor: pointer; margin: 30px 0 8px; font-size: 18px; font-weight: 600; }
"""
_CHANGE = "change of format"


def page_of(graph: Graph, plans: Sequence[Plan], where: str) -> str:
    """The page. plans: one for each number of images. where: what they run on, such as "an NVIDIA H200"."""
    name = graph.name or "network"
    links = "".join(element("a", f"batch {plan.batch}", href=f"#batch-{plan.batch}") for plan in plans)
    head = element("h1", plain(name)) + (element("nav", links) if len(plans) > 1 else "")
    sections = "\n".join(_section(graph, plan, where) for plan in plans)
    # Of the elements that HTML does not end none has another inside, so that a page is well-formed XML, too.
    return ('<!DOCTYPE html>\n<html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/>'
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
            f"<title>{plain(name)}</title>\n<style>{plain(STYLE + _STYLE)}</style></head>\n<body><main>{head}\n{sections}\n</main></body></html>\n")


def _section(graph: Graph, plan: Plan, where: str) -> str:
    unit, _ = measure_of(plan)
    parts = [element("p", plain(f"{plan.batch} image{'s' if plan.batch > 1 else ''} a run, on {where}")), _tiles(graph, plan)]
    what = {"us": "Where time goes", "MB": "Which bytes are moved"}.get(unit, "What bytes and operations take at least")
    parts += [element("h2", what), element("p", "Each kernel is as wide as its part, in the order in which they run; its colour is the format that it writes. Rest the mouse on anything to see more."),
              strip_of(plan), _kinds(graph, plan)]
    parts += [element("h2", "From the graph to its kernels"),
              element("p", "Nodes in a yellow box are one kernel. Kernels and the lines between them have the colour of a tensor's format; where it changes, a kernel has two colours."),
              element("div", picture_of(graph, plan, styled=False), class_="wide")]
    parts += [element("h2", f"Memory: an arena of {bytes_in_words(plan.arena_bytes)}"),
              element("p", "Kernels from left to right, bytes of the arena upwards: each tensor from the kernel that writes it to the last one that reads it. "
                           "The broken line is what they take together."), arena_of(plan), _table(plan)]
    return element("section", "\n".join(parts), id=f"batch-{plan.batch}")


def _tiles(graph: Graph, plan: Plan) -> str:
    tiles = []
    if plan.us:
        tiles += [(f"{1e6 * plan.batch / plan.us:,.0f}", "images/s"), (f"{plan.us / 1e3:,.3f}", "ms a run")]
    if plan.floor_us:
        tiles.append((f"{plan.floor_us / 1e3:,.3f}", "ms, sum of floors"))
    tiles += [(str(len(graph.nodes)), "nodes"), (str(len(plan.steps)), "kernels"), (amount(sum(step.operations for step in plan.steps) / 1e9), "Gop"),
              (bytes_in_words(plan.arena_bytes), "arena"), (bytes_in_words(plan.arena_bytes // plan.batch), "arena an image"), (bytes_in_words(plan.constant_bytes), "filters")]
    return element("div", "".join(element("div", element("b", plain(value)) + element("span", what), class_="tile") for value, what in tiles), class_="tiles")


def _kinds(graph: Graph, plan: Plan) -> str:
    """A line for each kind of kernel: how much there is of it."""
    kind_of = {node.name: node.kind for node in graph.nodes}
    depthwise = {node.name for node in graph.nodes if node.groups > 1 and node.groups == graph.tensors[node.inputs[0]].shape[0]}

    def kind(step: Step) -> str:
        if not step.nodes:
            return _CHANGE
        kinds = ["depthwise convolution" if name in depthwise else kind_of[name].replace("_", " ") for name in step.nodes]
        return " + ".join(dict.fromkeys(kinds))

    unit, measure = measure_of(plan)
    kinds: dict[str, list[Step]] = {}
    for step in plan.steps:
        kinds.setdefault(kind(step), []).append(step)
    total = sum(map(measure, plan.steps)) or 1.0
    timed = plan.us is not None and plan.gpu
    lines = []
    for name, steps in sorted(kinds.items(), key=lambda item: (-sum(map(measure, item[1])), item[0])):
        taken = sum(map(measure, steps))
        lines.append([name, str(len(steps)), amount(taken), *([amount(sum(step.floor_us or 0.0 for step in steps))] if timed else []), f"{100 * taken / total:.1f} %"])
    lines.append(["all", str(len(plan.steps)), amount(total), *([amount(plan.floor_us or 0.0)] if timed else []), "100.0 %"])
    head = ["kernels", "", unit, *(["floor, us"] if timed else []), "share"]
    return _rows(head, lines, text=1, bars=[float(line[-1].split()[0]) for line in lines[:-1]])


def _table(plan: Plan) -> str:
    head, *lines = cells_of(plan)
    texts = 4
    return element("details", element("summary", "All kernels as a table") + element("div", _rows(head, lines, text=-texts), class_="wide"))


def _rows(head: list[str], lines: list[list[str]], text: int, bars: Sequence[float] = ()) -> str:
    """A table. text: how many columns are words, the first ones, or the last ones if it is negative; all others are numbers."""
    def row(tag: str, cells: list[str], more: str = "") -> str:
        is_text = lambda at: at < text if text > 0 else at >= len(cells) + text
        return element("tr", "".join(element(tag, plain(cell) or " ", class_=None if is_text(at) else "number") for at, cell in enumerate(cells)) + more)

    made = [row("th", head, element("th", " ") if bars else "")]
    for at, cells in enumerate(lines):
        bar = element("td", element("span", " ", class_="bar", style=f"width: {2.6 * bars[at]:.0f}px") if at < len(bars) else " ") if bars else ""
        made.append(row("td", cells, bar))
    return element("table", "".join(made))
