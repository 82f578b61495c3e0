"""One self-contained HTML page of weft_perf's results: perf/report.py --html=FILE calls it."""

import html
import math

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1c2330; margin: 2em auto; max-width: 74em; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
p, li { max-width: 60em; } .small { color: #5a6475; font-size: .88em; }
svg { display: block; max-width: 100%; height: auto; margin: .6em 0; } svg text { font: 11px system-ui, sans-serif; fill: #1c2330; }
svg .mute { fill: #5a6475; } table { border-collapse: collapse; font-size: .88em; }
td, th { padding: .2em .7em; border-bottom: 1px solid #dfe3ea; text-align: right; white-space: nowrap; }
td.text, th.text { text-align: left; } td.status { white-space: normal; text-align: left; min-width: 14em; }
.wide { overflow-x: auto; }
"""
WIN, LOSS, BAD, LINE, GRID = "#2a7f62", "#c4713b", "#b3261e", "#3b5b92", "#dfe3ea"
BATCH_COLOURS = ("#3b5b92", "#2a7f62", "#c4713b", "#7a4e9c")


def escape(text):
    return html.escape(str(text))


def good(row):
    return row["mismatches"] == 0 and row["status"].startswith("ok") and "ours_us" in row


def compared(rows):
    return [r for r in rows if good(r) and "peer_us" in r]


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def svg(width, height, parts, title):
    return (f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-label="{escape(title)}"><title>{escape(title)}</title>' + "".join(parts) + "</svg>\n")


def text(x, y, words, anchor="start", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'


def line(x0, y0, x1, y1, colour=GRID, width=1, dash=""):
    return (f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"' + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")


def bars(rows):
    """A bar of peer / ours for each layer, on a linear axis with a line at 1."""
    left, width, step, top = 190, 620, 19, 26
    most = max([1.25] + [r["peer_us"] / r["ours_us"] for r in compared(rows)]) * 1.04
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
            parts.append(f'<rect x="{left}" y="{y}" width="6" height="13" fill="{BAD}"/>')
            parts.append(text(left + 12, y + 11, row["status"][:70]))
        elif "peer_us" not in row:
            parts.append(text(left + 6, y + 11, f"{row['ours_us']:.2f} us, no peer", kind="mute"))
        else:
            ratio = row["peer_us"] / row["ours_us"]
            colour = WIN if ratio >= 1 else LOSS
            parts.append(f'<rect x="{left}" y="{y}" width="{x(ratio) - left:.1f}" height="13" fill="{colour}">'
                         f"<title>{escape(row['kernel'])} against {escape(row['peer'])}</title></rect>")
            words = f"{ratio:.2f}  ({row['ours_us']:.2f} us)"
            # Within the bar if it has room and the line at 1 does not cross the words.
            inside = x(ratio) - left > 110 and not x(ratio) - 100 < x(1) < x(ratio)
            parts.append(f'<text x="{x(ratio) + (-5 if inside else 5):.1f}" y="{y + 11}" text-anchor='
                         f'"{"end" if inside else "start"}"{" style=" + chr(34) + "fill:#fff" + chr(34) if inside else ""}'
                         f">{words}</text>")
    parts.append(line(x(1), top - 3, x(1), height - 18, "#1c2330", 1.5))
    parts.append(text(x(1), height - 5, "1: as fast as the best peer", "middle", "mute"))
    return svg(left + width + 20, height, parts, "time of the best peer / ours")


def decades(low, high):
    return [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def roofline(results):
    """Achieved TOPS over operations a byte, both logarithmic, under the ceilings of the run."""
    e = results[-1]["environment"]
    tb_s, tops = e["copy_tb_s"], e["tensor_tops"]
    rows = [(i, r) for i, result in enumerate(results) for r in result["rows"]
            if good(r) and "tops" in r and r.get("bytes")]
    if not rows:
        return ""
    intensity = [r["operations"] / r["bytes"] for _, r in rows]
    x_low, x_high = min(intensity + [tops / tb_s]) / 1.5, max(intensity + [tops / tb_s]) * 1.6
    y_low, y_high = min(r["tops"] for _, r in rows) / 1.5, tops * 1.6
    left, top, width, height = 60, 12, 700, 380
    x = lambda v: left + width * math.log(v / x_low) / math.log(x_high / x_low)  # noqa: E731
    y = lambda v: top + height * (1 - math.log(v / y_low) / math.log(y_high / y_low))  # noqa: E731
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="{GRID}"/>']
    for v in decades(x_low, x_high):
        if x_low <= v <= x_high:
            parts += [line(x(v), top, x(v), top + height), text(x(v), top + height + 15, f"{v:g}", "middle", "mute")]
    for v in decades(y_low, y_high):
        if y_low <= v <= y_high:
            parts += [line(left, y(v), left + width, y(v)), text(left - 6, y(v) + 4, f"{v:g}", "end", "mute")]
    start = max(x_low, y_low / tb_s)
    parts += [line(x(start), y(start * tb_s), x(tops / tb_s), y(tops), "#1c2330", 1.5),
              line(x(tops / tb_s), y(tops), x(x_high), y(tops), "#1c2330", 1.5),
              text(x(x_high) - 6, y(tops) - 6, f"{tops:.0f} TOPS", "end"),
              text(x(start) + 34, y(start * tb_s) - 4, f"{tb_s:.2f} TB/s")]
    for i, row in rows:
        colour = BATCH_COLOURS[i % len(BATCH_COLOURS)]
        parts.append(f'<circle cx="{x(row["operations"] / row["bytes"]):.1f}" cy="{y(row["tops"]):.1f}" r="4" '
                     f'fill="{colour}" fill-opacity=".75"><title>{escape(row["layer"])} N={row["batch"]}: '
                     f'{row["tops"]:.0f} TOPS</title></circle>')
    for i, result in enumerate(results):
        colour = BATCH_COLOURS[i % len(BATCH_COLOURS)]
        parts += [f'<circle cx="{left + width + 18}" cy="{top + 14 + 20 * i}" r="4" fill="{colour}"/>',
                  text(left + width + 28, top + 18 + 20 * i, f"N = {result['environment']['batch']}")]
    parts += [text(left + width / 2, top + height + 34, "operations a byte, each tensor moved once", "middle"),
              text(left + 6, top + 16, "TOPS")]
    return svg(left + width + 100, top + height + 42, parts, "roofline")


def distribution(results):
    """The ratios of each batch in order: how many layers are below and above 1."""
    groups = [(r["environment"]["batch"], sorted(row["peer_us"] / row["ours_us"] for row in compared(r["rows"])))
              for r in results]
    groups = [(batch, ratios) for batch, ratios in groups if ratios]
    if not groups:
        return ""
    low = min([0.5] + [ratios[0] for _, ratios in groups]) / 1.1
    high = max([2.0] + [ratios[-1] for _, ratios in groups]) * 1.1
    left, top, width, height = 60, 12, 700, 260
    x = lambda share: left + width * share  # noqa: E731
    y = lambda v: top + height * (1 - math.log(v / low) / math.log(high / low))  # noqa: E731
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="{GRID}"/>']
    for v in (0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50):
        if low < v < high:
            parts += [line(left, y(v), left + width, y(v), "#1c2330" if v == 1 else GRID, 1.5 if v == 1 else 1),
                      text(left - 6, y(v) + 4, f"{v:g}", "end", "mute")]
    for i, (batch, ratios) in enumerate(groups):
        colour = BATCH_COLOURS[i % len(BATCH_COLOURS)]
        points = [(x((k + 0.5) / len(ratios)), y(ratio)) for k, ratio in enumerate(ratios)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.6" fill="{colour}"/>' for a, b in points]
        parts += [line(left + width + 10, top + 14 + 20 * i, left + width + 26, top + 14 + 20 * i, colour, 2),
                  text(left + width + 32, top + 18 + 20 * i, f"N = {batch}")]
    parts.append(text(left + width / 2, top + height + 20, "layers, from the slowest against the peer to the fastest",
                      "middle"))
    return svg(left + width + 110, top + height + 30, parts, "distribution of the ratios")


def summary(results):
    body = ""
    for result in results:
        rows = compared(result["rows"])
        ratios = [r["peer_us"] / r["ours_us"] for r in rows]
        over = [r["ours_us"] / r["floor_us"] for r in result["rows"] if good(r)]
        exact = sum(r["mismatches"] == 0 and "ours_us" in r for r in result["rows"])
        body += (f"<tr><td>{result['environment']['batch']}</td><td>{exact} of {len(result['rows'])}</td>"
                 f"<td>{geomean(ratios):.2f}</td><td>{sum(r >= 1 for r in ratios)} of {len(ratios)}</td>"
                 f"<td>{min(ratios, default=0):.2f} to {max(ratios, default=0):.2f}</td><td>{geomean(over):.2f}</td></tr>\n")
    return ("<table><tr><th>batch</th><th>layers exact</th><th>peer / ours, geometric mean</th><th>as fast or faster</th>"
            f"<th>from, to</th><th>ours / floor</th></tr>\n{body}</table>\n")


def span(row):
    return f"{row['ours_p10_us']:.2f} to {row['ours_p90_us']:.2f}" if "ours_p10_us" in row else "-"


def noise(row):
    return f"<td>{100 * row['noise']:.1f}%</td>" if "noise" in row else "<td>-</td>"


def table(rows):
    cell = lambda row, field, digits=2: f"<td>{row[field]:.{digits}f}</td>" if field in row else "<td>-</td>"  # noqa: E731
    body = ""
    for row in rows:
        body += (f"<tr><td class=text>{escape(row['layer'])}</td>{cell(row, 'ours_us')}"
                 f"<td>{span(row)}</td>{cell(row, 'peer_us')}"
                 f"{cell(row, 'ratio')}{noise(row)}{cell(row, 'ours_with_reformat_us')}"
                 f"{cell(row, 'peer_with_reformat_us')}{cell(row, 'floor_us')}{cell(row, 'tops', 0)}{cell(row, 'gb_s', 0)}"
                 f"<td class=text>{escape(row['layout'])} {escape(row['kernel'].removeprefix('mma_').removeprefix('simt_'))}</td>"
                 f"<td class=text>{escape(row['peer'].split(':')[0])}</td><td>{row['mismatches']}</td>"
                 f"<td class=status>{escape(row['status'])}</td></tr>\n")
    return ("<div class=wide><table><tr><th class=text>layer</th><th>ours us</th><th>p10 to p90</th><th>peer us</th><th>ratio</th>"
            "<th>noise</th><th>ours + ref.</th><th>peer + ref.</th><th>floor us</th><th>TOPS</th><th>GB/s</th><th class=text>kernel</th><th class=text>peer</th>"
            f"<th>wrong</th><th class=text>status</th></tr>\n{body}</table></div>\n")


def page(results):
    """`results`: weft_perf's files of one list, in the order of their batches."""
    e = results[-1]["environment"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Weft: {escape(e['list'])}</title><style>{STYLE}</style>\n<h1>Weft, layer list "
        f"{escape(e['list'])}</h1>\n<p>{escape(e['operator'])}. The ratio is the time of the fastest answer of cuDNN and "
        "cuBLASLt over ours, measured in turns in one run: above 1 we are faster. "
        f"Method: {escape(e['method'])}.</p>\n<p class=small>{escape(e['device'])}, driver {escape(e['driver'])}, CUDA "
        f"{escape(e['cuda'])}; {escape('; '.join(e.get('libraries', [])))}; {e['last_clock_mhz']} MHz under load, throttling "
        f"{escape(e.get('throttle_reasons', '-'))}; ceilings of the run: copy {e['copy_tb_s']} TB/s, int8 tensor cores {e['tensor_tops']} "
        f"TOPS ({escape(e.get('tensor_tops_source', 'a constant'))}); commit "
        f"{escape(e['commit'])}, {escape(e['date'])}. "
        "ours + ref., peer + ref.: between tensors in the user's format. docs/performance.md says how to read this page.</p>\n",
        summary(results),
        "<h2>Roofline</h2><p class=small>A dot is a layer: how many operations it has for each byte that must move, and "
        "how many it does a second. The line is what the GPU can do at most.</p>", roofline(results),
        "<h2>Distribution</h2><p class=small>The ratios in order. What lies above the dark line is at least as fast as "
        "the best peer.</p>", distribution(results)]
    for result in results:
        parts += [f"<h2>N = {result['environment']['batch']}: time of the best peer / ours</h2>", bars(result["rows"]),
                  table(result["rows"])]
    return "".join(parts) + "</html>\n"
