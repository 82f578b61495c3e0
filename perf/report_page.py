"""What report.py draws: one self-contained HTML page of weft_perf's results, and the picture of the README."""

import collections
import html
import math

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1c2330; margin: 2em auto; max-width: 88em; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
p, li { max-width: 60em; } .small { color: #5a6475; font-size: .88em; }
svg { display: block; max-width: 100%; height: auto; margin: .6em 0; }
table { border-collapse: collapse; font-size: .8em; }
td, th { padding: .2em .4em; border-bottom: 1px solid #dfe3ea; text-align: right; white-space: nowrap; }
td.text, th.text { text-align: left; } th { white-space: normal; }
td.wrap { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 12em; }
.wide { overflow-x: auto; }
"""
TEXT_STYLE = "text { font: 11px system-ui, sans-serif; fill: #1c2330; } .mute { fill: #5a6475; }"
WIN, LOSS, BAD, GRID, DARK = "#2a7f62", "#c4713b", "#b3261e", "#dfe3ea", "#1c2330"
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


def short(kernel):
    return kernel.removeprefix("mma_").removeprefix("simt_")


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


def bars(rows):
    """A bar of peer / ours for each layer, on a linear axis with a line at 1."""
    left, width, step, top = 190, 620, 19, 26
    most = max([1.25] + ratios_of(rows)) * 1.04
    height = top + step * len(rows) + 24
    x = lambda ratio: left + width * ratio / most  # noqa: E731
    parts = []
    tick = 0.25 if most < 2.2 else 0.5 if most < 5 else 1 if most < 12 else 5
    for i in range(int(most / tick) + 1):
        parts += [line(x(i * tick), top, x(i * tick), height - 18),
                  text(x(i * tick), top - 8, f"{i * tick:g}", "middle", "mute")]
    for i, row in enumerate(rows):
        y = top + step * i + 3
        parts.append(text(left - 8, y + 11, row["layer"], "end"))
        if not good(row):
            parts += [f'<rect x="{left}" y="{y}" width="6" height="13" fill="{BAD}"/>',
                      text(left + 12, y + 11, row["status"][:70])]
        elif "peer_us" not in row:
            parts.append(text(left + 6, y + 11, f"{row['ours_us']:.2f} us, no peer", kind="mute"))
        else:
            ratio = row["peer_us"] / row["ours_us"]
            parts += [f'<rect x="{left}" y="{y}" width="{x(ratio) - left:.1f}" height="13" '
                      f'fill="{WIN if ratio >= 1 else LOSS}"><title>{escape(row["kernel"])} against '
                      f'{escape(row["peer"])}</title></rect>',
                      text(x(ratio) + 5, y + 11, f"{ratio:.2f}  ({row['ours_us']:.2f} us)")]
    parts += [line(x(1), top - 3, x(1), height - 18, DARK, 1.5),
              text(x(1), height - 5, "1: as fast as the best peer", "middle", "mute")]
    return svg(left + width + 110, height, parts, "time of the best peer / ours")


def roofline(results):
    """Achieved TOPS over operations a byte, both logarithmic, under the ceilings of the run."""
    e = results[-1]["environment"]
    rows = [(i, r) for i, result in enumerate(results) for r in result["rows"]
            if good(r) and "tops" in r and r.get("bytes")]
    if not rows or not e.get("tensor_tops"):
        return ""
    tb_s, tops = e["copy_tb_s"], e["tensor_tops"]
    intensity = [r["operations"] / r["bytes"] for _, r in rows] + [tops / tb_s]
    x_low, x_high = min(intensity) / 1.5, max(intensity) * 1.6
    y_low, y_high = min(r["tops"] for _, r in rows) / 1.5, tops * 1.6
    left, top, width, height = 60, 12, 700, 380
    x = lambda v: left + width * math.log(v / x_low) / math.log(x_high / x_low)  # noqa: E731
    y = lambda v: top + height * (1 - math.log(v / y_low) / math.log(y_high / y_low))  # noqa: E731
    parts = [frame(left, top, width, height)]
    for v in (10.0 ** e for e in range(-3, 7)):
        if x_low <= v <= x_high:
            parts += [line(x(v), top, x(v), top + height), text(x(v), top + height + 15, f"{v:g}", "middle", "mute")]
        if y_low <= v <= y_high:
            parts += [line(left, y(v), left + width, y(v)), text(left - 6, y(v) + 4, f"{v:g}", "end", "mute")]
    start = max(x_low, y_low / tb_s)
    parts += [line(x(start), y(start * tb_s), x(tops / tb_s), y(tops), DARK, 1.5),
              line(x(tops / tb_s), y(tops), x(x_high), y(tops), DARK, 1.5),
              text(x(x_high) - 6, y(tops) - 6, f"{tops:.0f} TOPS", "end"),
              text(x(start) + 34, y(start * tb_s) - 4, f"{tb_s:.2f} TB/s")]
    parts += [dot(x(r["operations"] / r["bytes"]), y(r["tops"]), BATCH_COLOURS[i % 4],
                  f"{r['layer']} N={r['batch']}: {r['tops']:.0f} TOPS") for i, r in rows]
    parts += legend(results, left + width + 18, top + 14)
    parts += [text(left + width / 2, top + height + 34, "operations a byte, each tensor moved once", "middle"),
              text(left + 6, top + 16, "TOPS")]
    return svg(left + width + 100, top + height + 42, parts, "roofline")


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


def summary(results):
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in (r["environment"]["batch"], *numbers(r["rows"]))) + "</tr>\n"
                   for r in results)
    return ("<table><tr><th>batch</th><th>layers exact</th><th>peer / ours, geometric mean</th><th>as fast or faster</th>"
            f"<th>from, to</th><th>ours / floor</th></tr>\n{body}</table>\n")


def table(rows):
    cell = lambda row, field, digits=2: f"{row[field]:.{digits}f}" if field in row else "-"  # noqa: E731
    body = ""
    for r in rows:
        span = f"{r['ours_p10_us']:.2f} to {r['ours_p90_us']:.2f}" if "ours_p10_us" in r else "-"
        noise = f"{100 * r['noise']:.1f}%" if "noise" in r else "-"
        cells = (cell(r, "ours_us"), span, cell(r, "peer_us"), cell(r, "ratio"), noise, cell(r, "ours_with_reformat_us"),
                 cell(r, "peer_with_reformat_us"), cell(r, "floor_us"), cell(r, "tops", 0), cell(r, "gb_s", 0))
        body += (f"<tr><td class=text>{escape(r['layer'])}</td>" + "".join(f"<td>{c}</td>" for c in cells)
                 + f"<td class=text>{escape(r['layout'])} {escape(short(r['kernel']))}</td>"
                 f"<td class=text>{escape(r['peer'].split(':')[0])}</td><td>{r['mismatches']}</td>"
                 f"<td class=wrap>{escape(r['status'])}</td></tr>\n")
    return ("<div class=wide><table><tr><th class=text>layer</th><th>ours us</th><th>p10 to p90</th><th>peer us</th>"
            "<th>ratio</th><th>noise</th><th>ours + ref.</th><th>peer + ref.</th><th>floor us</th><th>TOPS</th><th>GB/s</th>"
            "<th class=text>kernel</th><th class=text>peer</th><th>wrong</th><th class=text>status</th></tr>\n"
            f"{body}</table></div>\n")


def page(results):
    """`results`: weft_perf's files of one list, in the order of their batches."""
    e = results[-1]["environment"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Weft: {escape(e['list'])}</title><style>{STYLE}</style>\n<h1>Weft, layer list "
        f"{escape(e['list'])}</h1>\n<p>{escape(e['operator'])}. The ratio is the time of the fastest answer of cuDNN and "
        "cuBLASLt over ours, measured in turns in one run: above 1 we are faster. "
        f"Method: {escape(e['method'])}.</p>\n<p class=small>{escape(e['device'])}, driver {escape(e['driver'])}, CUDA "
        f"{escape(e['cuda'])}; {escape('; '.join(libraries(e)))}; {e.get('last_clock_mhz', '-')} MHz under load, "
        f"throttling {escape(e.get('throttle_reasons', '-'))}; ceilings of the run: copy {e['copy_tb_s']} TB/s, int8 tensor "
        f"cores {e.get('tensor_tops', '-')} TOPS ({escape(e.get('tensor_tops_source', 'a constant'))}); commit "
        f"{escape(e['commit'])}, {escape(e['date'])}. "
        "ours + ref., peer + ref.: between tensors in the user's format. docs/measuring.md says how to read this page.</p>\n",
        summary(results),
        "<h2>Roofline</h2><p class=small>A dot is a layer: how many operations it has for each byte that must move, and "
        "how many it does a second. The line is what the GPU can do at most.</p>", roofline(results),
        "<h2>Distribution</h2><p class=small>The ratios in order. What lies above the dark line is at least as fast as "
        "the best peer.</p>", distribution(results)]
    for result in results:
        parts += [f"<h2>N = {result['environment']['batch']}: time of the best peer / ours</h2>", bars(result["rows"]),
                  table(result["rows"])]
    return "".join(parts) + "</html>\n"
