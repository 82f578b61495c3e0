"""Tables and picture of examples/ladder: a row for each step and size."""

import math

from report_page import DARK, dot, frame, line, svg, text

FIELDS = {"step": int, "layer": str, "size": int, "asked_mb": (int, float), "moved_mb": (int, float)}
ONE_SIZE = 4096
COLOURS = ("#9db4d8", "#7a9bc9", "#5b80b4", "#3b5b92", "#2a7f62", "#c4713b", "#7a4e9c")


def shown(row, field, digits):
    return f"{row[field]:.{digits}f}" if row.get(field) is not None else "-"


def significant(value):
    """Three digits at least."""
    return "-" if value is None else f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def grid(rows):
    """The steps' names in order, the sizes, and (step, size) -> row."""
    names = dict(sorted((r["step"], r["layer"]) for r in rows))
    return names, sorted({r["size"] for r in rows}), {(r["step"], r["size"]): r for r in rows}


def where(e):
    return (f"\n{e['device']}, {', '.join(str(e[key]) for key in ('commit', 'date') if e.get(key))}. "
            f"{e['method'][0].upper()}{e['method'][1:]}.\n")


def steps(result, table):
    """Everything about one size."""
    rows = [r for r in result["rows"] if r["size"] == ONE_SIZE]
    return table(("step:", f"at {ONE_SIZE}^3", "asked MB:", "moved MB:", "bank conflicts:", "us:", "TOPS:", "cuBLASLt's time / ours:",
                  "status"),
                 [(r["step"], r["layer"], shown(r, "asked_mb", 0), shown(r, "moved_mb", 0), shown(r, "conflicts", 2),
                   significant(r.get("ours_us")), significant(r.get("tops")), significant(r.get("ratio")), r.get("status", "not timed"))
                  for r in rows]) + where(result["environment"])


def sizes(result, table):
    """Time and ratio at every size."""
    names, extents, found = grid(result["rows"])
    peers = {size: found[step, size]["peer_us"] for step, size in found if found[step, size].get("peer_us")}

    def cell(step, size):
        r = found.get((step, size), {})
        return f"{significant(r['ours_us'])} ({significant(r['ratio'])})" if r.get("ours_us") else r.get("status", "-")
    return table(("us (cuBLASLt's time / ours)", *(f"{size}^3:" for size in extents)),
                 [(f"{step} {name}", *(cell(step, size) for size in extents)) for step, name in names.items()]
                 + [("cuBLASLt", *(significant(peers.get(size)) for size in extents))])


def traffic(result, table):
    """What moves at every size, and the least that could."""
    names, extents, found = grid(result["rows"])
    return table(("moved MB", *(f"{size}^3:" for size in extents)),
                 [(f"{step} {name}", *(significant(found.get((step, size), {}).get("moved_mb")) for size in extents))
                  for step, name in names.items()]
                 + [("A, B and C once", *(significant(6e-6 * size * size) for size in extents))])


TABLES = {"ladder": steps, "ladder-sizes": sizes, "ladder-traffic": traffic}


def picture(result):
    """Above the ratios by step, a line for each size; below what moves over the least that could. Both logarithmic."""
    names, extents, found = grid(result["rows"])
    left, width, top, height, between = 70, 740, 34, 250, 40
    x = lambda step: left + width * (step - 0.5) / len(names)  # noqa: E731
    parts, panels = [], (
        ("time of cuBLASLt / ours", lambda r: r.get("ratio")),
        ("bytes moved / bytes of A, B and C", lambda r: r["moved_mb"] / (6e-6 * r["size"] ** 2)))
    for number, (title, value) in enumerate(panels):
        y0 = top + number * (height + between)
        values = [v for r in result["rows"] if (v := value(r))]
        if not values:
            continue
        low, high = min(1.0, *values) / 1.3, max(1.0, *values) * 1.3
        y = lambda v, y0=y0, low=low, high=high: y0 + height * (1 - math.log(v / low) / math.log(high / low))  # noqa: E731
        parts += [frame(left, y0, width, height), text(left, y0 - 8, title)]
        for power in range(-5, 7):
            if low <= 10.0 ** power <= high:
                parts += [line(left, y(10.0 ** power), left + width, y(10.0 ** power)),
                          text(left - 6, y(10.0 ** power) + 4, f"{10.0 ** power:g}", "end", "mute")]
        parts.append(line(left, y(1), left + width, y(1), DARK, 1.5))
        for i, size in enumerate(extents):
            colour = COLOURS[i % len(COLOURS)]
            points = [(x(step), y(v), v, name) for step, name in names.items() if (step, size) in found
                      and (v := value(found[step, size]))]
            parts += [line(a[0], a[1], b[0], b[1], colour, 1.5) for a, b in zip(points, points[1:])]
            parts += [dot(px, py, colour, f"{name}, {size}^3: {v:.3g}") for px, py, v, name in points]
    for i, size in enumerate(extents):
        parts += [dot(left + width + 16, top + 14 + 20 * i, COLOURS[i % len(COLOURS)]),
                  text(left + width + 26, top + 18 + 20 * i, f"{size}^3")]
    bottom = top + 2 * height + between
    largest = extents[-1]
    for step, name in names.items():
        conflicts = found.get((step, largest), {}).get("conflicts")
        parts += [text(x(step), bottom + 16 + 13 * (step % 2), name, "middle"),
                  text(x(step), bottom + 46, f"{conflicts:.1f}" if conflicts else "-", "middle", "mute")]
    parts.append(text(left - 6, bottom + 46, "conflicts", "end", "mute"))
    return svg(left + width + 90, bottom + 54, parts, "the ladder: ratio to cuBLASLt, global traffic and bank conflicts by step"
               ).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
