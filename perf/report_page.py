"""What rows of weft_perf come to, and the picture of the README."""

import collections
import html
import math

TEXT_STYLE = "text { font: 11px system-ui, sans-serif; fill: #1c2330; } .mute { fill: #5a6475; }"
GRID, DARK = "#dfe3ea", "#1c2330"
BATCH_COLOURS = ("#3b5b92", "#2a7f62", "#c4713b", "#7a4e9c")


def good(row):
    return row["mismatches"] == 0 and row["status"].startswith("ok") and "ours_us" in row


def compared(rows):
    return [r for r in rows if good(r) and "peer_us" in r]


def ratios_of(rows):
    return [r["peer_us"] / r["ours_us"] for r in compared(rows)]


def exact(rows):
    return sum(r["mismatches"] == 0 and "ours_us" in r for r in rows)


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


Numbers = collections.namedtuple("Numbers", "exact geomean won span over_floor")


def numbers(rows):
    """What a group of layers comes to, as text."""
    ratios = ratios_of(rows)
    over = [r["ours_us"] / r["floor_us"] for r in rows if good(r) and r["floor_us"]]
    return Numbers(f"{exact(rows)} of {len(rows)}", f"{geomean(ratios):.2f}",
                   f"{sum(r >= 1 for r in ratios)} of {len(ratios)}",
                   f"{min(ratios, default=0):.2f} to {max(ratios, default=0):.2f}", f"{geomean(over):.2f}")


def libraries(environment):
    """Names and versions, without the folders of the machine that measured."""
    return [text.split(" (")[0] for text in environment.get("libraries", [])]


def escape(text):
    return html.escape(str(text))


def svg(width, height, parts, title):
    return (f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{escape(title)}"><title>{escape(title)}</title><style>{TEXT_STYLE}</style>'
            + "".join(parts) + "</svg>\n")


def text(x, y, words, anchor="start", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'


def line(x0, y0, x1, y1, colour=GRID, width=1):
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def dot(x, y, colour, title=""):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}" fill-opacity=".8"><title>{escape(title)}</title></circle>'


def frame(left, top, width, height):
    return f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="{GRID}"/>'


def legend(results, x, y):
    return [part for i, r in enumerate(results) for part in (
        dot(x, y + 20 * i, BATCH_COLOURS[i % 4]), text(x + 10, y + 4 + 20 * i, f"N = {r['environment']['batch']}"))]


def distribution(results):
    """The ratios of each batch in order: how many layers are below and above 1."""
    ordered = [sorted(compared(r["rows"]), key=lambda row: row["peer_us"] / row["ours_us"]) for r in results]
    every = [ratio for rows in ordered for ratio in ratios_of(rows)]
    if not every:
        return ""
    low, high = min(0.5, *every) / 1.1, max(2.0, *every) * 1.1
    left, top, width, height = 60, 12, 700, 260
    y = lambda v: top + height * (1 - math.log(v / low) / math.log(high / low))  # noqa: E731
    parts = [frame(left, top, width, height)]
    for v in (0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50):
        if low < v < high:
            parts += [line(left, y(v), left + width, y(v), DARK if v == 1 else GRID, 1.5 if v == 1 else 1),
                      text(left - 6, y(v) + 4, f"{v:g}", "end", "mute")]
    for i, rows in enumerate(ordered):
        points = [(left + width * (k + 0.5) / len(rows), y(ratio)) for k, ratio in enumerate(ratios_of(rows))]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{BATCH_COLOURS[i % 4]}" stroke-width="2"/>')
        parts += [dot(a, b, BATCH_COLOURS[i % 4], f"{row['layer']} N={row['batch']}: {row['peer_us'] / row['ours_us']:.2f}")
                  for (a, b), row in zip(points, rows)]
    parts += legend(results, left + width + 18, top + 14)
    parts.append(text(left + width / 2, top + height + 20,
                      "layers, from the slowest against the best peer to the fastest; above the dark line we are faster",
                      "middle"))
    return svg(left + width + 100, top + height + 30, parts, "time of the best peer / ours, layer by layer")


def picture(results):
    """Of the README: a file of its own."""
    return distribution(results).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
