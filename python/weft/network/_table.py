"""A plan as lines of text: what weft_run --profile prints."""
from __future__ import annotations

from ._profile import Plan, Step


def cells_of(plan: Plan) -> list[list[str]]:
    """A heading, a line for each kernel, and one of all; times where they were measured, floors on a GPU. The last four columns are words."""
    timed, floors = plan.us is not None, plan.gpu
    head = ["", *(["us"] if timed else []), *(["floor"] if floors else []), *(["share"] if timed else []), "MB", "Gop", "kernel", "format", "output", "nodes"]
    return [head, *([str(at), *_cells(step, timed, floors)] for at, step in enumerate(plan.steps)), _sums(plan, timed, floors)]


def table_of(plan: Plan) -> str:
    """The cells in columns, and what memory a run takes."""
    rows = cells_of(plan)
    head = rows[0]
    numbers = len(head) - 4  # the columns that are set to the right
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = []
    for row in rows:
        cells = (cell.rjust(width) if column < numbers else cell.ljust(width) for column, (cell, width) in enumerate(zip(row, widths)))
        lines.append(("  " + "  ".join(cells)).rstrip())
    return "\n".join([*lines, *_summary(plan)])


def format_of(step: Step) -> str:
    """The formats of a step: one if it keeps it."""
    source, destination = step.source.format, step.destination.format
    return source if source == destination else f"{source} > {destination}"


def name_of(step: Step) -> str:
    """A step's nodes, or what it is there for, its windows, and which channels it writes where these are not all."""
    said = [step.name if step.nodes else f"({step.source.name} in another format)", detail_of(step)]
    return ", ".join(filter(None, said))


def detail_of(step: Step) -> str:
    """Windows, and which channels a step writes where these are not all; or nothing."""
    begin, end = step.channels
    part = f"channels {begin} to {end - 1}" if end - begin != step.destination.shape[1] else ""
    return ", ".join(filter(None, (step.detail, part)))


def extents_of(shape: tuple[int, int, int, int]) -> str:
    """Channels, and rows and columns where there are several pixels."""
    return "x".join(map(str, shape[1:] if shape[2:] != (1, 1) else shape[1:2]))


def bytes_in_words(count: int) -> str:
    """A number of bytes as people say it."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} bytes"


def amount(number: float) -> str:
    """A number with as many digits as are worth reading."""
    return f"{number:,.{3 if number < 1 else 2}f}"


def _cells(step: Step, timed: bool, floors: bool) -> list[str]:
    cells = [f"{step.us:,.1f}"] if timed else []
    cells += [f"{step.floor_us:,.1f}"] if floors else []
    cells += [f"{100 * (step.share or 0):.1f} %"] if timed else []
    return [*cells, amount(step.bytes / 1e6), amount(step.operations / 1e9) if step.operations else "-", step.kernel, format_of(step),
            extents_of(step.destination.shape), name_of(step)]


def _sums(plan: Plan, timed: bool, floors: bool) -> list[str]:
    cells = [f"{sum(step.us or 0.0 for step in plan.steps):,.1f}"] if timed else []
    cells += [f"{plan.floor_us:,.1f}"] if floors else []
    cells += ["100.0 %"] if timed else []
    return ["sum", *cells, amount(sum(step.bytes for step in plan.steps) / 1e6), amount(sum(step.operations for step in plan.steps) / 1e9),
            f"{len(plan.steps)} kernels", "", "", ""]


def _summary(plan: Plan) -> list[str]:
    lines = []
    if plan.us:
        lines.append(f"  a run: {plan.us:,.1f} us, {1e6 * plan.batch / plan.us:,.0f} images/s")
    return [*lines, f"  memory: {bytes_in_words(plan.arena_bytes)} of arena ({bytes_in_words(plan.arena_bytes // plan.batch)} an image), "
                    f"{bytes_in_words(plan.port_bytes)} of inputs and outputs, {bytes_in_words(plan.constant_bytes)} of filters",
            *(f"  block {block.name}: {'one kernel' if block.why_apart is None else 'kernels of their own: ' + block.why_apart}" for block in plan.blocks)]
