#!/usr/bin/env python3
"""Writes the tables of perf/results/ into the Markdown files that show them.

    perf/report.py           rewrites what lies between the markers
    perf/report.py --check   says which files are stale (exit 1) and changes nothing
    perf/report.py --html=FILE [RESULT.json ...]    one HTML page of weft_perf's results; without
                             names, those of the list `anchors`

A marked place looks like

    <!-- weft:perf NAME begin -->
    <!-- weft:perf NAME end -->

where NAME is `nc4` (one line for each batch) or `nc4-layers` (one for each layer), which come from
perf/results/h200/anchors-nc4-n<batch>.json of nc4_bench, or `anchors` or `anchors-layers`, which come
from anchors-n<batch>.json of weft_perf.
"""

import argparse
import json
import math
import pathlib
import re
import sys

import report_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/performance.md")
RESULTS = "perf/results/h200"
MARKED = re.compile(
    r"(<!-- weft:perf (?P<name>[a-z0-9-]+) begin -->\n)(?P<body>.*?)"
    r"(<!-- weft:perf (?P=name) end -->)", re.DOTALL)
ROW_FIELDS = {"layer": str, "batch": int, "kernel": str, "layout": str, "peer": str,
              "floor_us": (int, float), "mismatches": int, "status": str}
NOTHING = "Not measured yet.\n"


def load(root, name="anchors-nc4"):
    """The result files <name>-n<batch>.json, by batch."""
    return read(path for path in sorted((root / RESULTS).glob(f"{name}-n*.json"))
                if re.fullmatch(r"\d+", path.stem[len(name) + 2:]))


def read(files):
    results = []
    for path in files:
        result = json.loads(pathlib.Path(path).read_text())
        for row in result["rows"]:
            for field, kind in ROW_FIELDS.items():
                if not isinstance(row.get(field), kind):
                    raise ValueError(f"{path}: row {row.get('layer')}: '{field}' is "
                                     f"{row.get(field)!r}, not {kind}")
        results.append(result)
    return sorted(results, key=lambda r: r["environment"]["batch"])


def good(row):
    return row["mismatches"] == 0 and row["status"].startswith("ok") and "ours_us" in row


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def line(name, rows):
    compared = [r for r in rows if good(r) and "peer_us" in r]
    ratios = [r["peer_us"] / r["ours_us"] for r in compared]
    chosen = [r["peer_us"] / r["model_us"] for r in compared if "model_us" in r]
    exact = sum(r["mismatches"] == 0 and "ours_us" in r for r in rows)
    return (f"| {name} | {exact} of {len(rows)} | {len(compared)} | {geomean(ratios):.2f} | "
            f"{sum(r >= 1 for r in ratios)} | {min(ratios, default=0):.2f} to "
            f"{max(ratios, default=0):.2f} | {geomean(chosen):.2f} |\n")


def machine(results):
    e = results[-1]["environment"]
    return (f"{e['device']}, driver {e['driver']}, CUDA {e['cuda']}, cuDNN {e['cudnn']}, "
            f"{e['last_clock_mhz']} MHz under load; commit {e['commit']}, {e['date']}. "
            f"Ceilings measured in the same run: copy {e['copy_tb_s']} TB/s, "
            f"dp4a {e['dp4a_tops']} TOPS.\n")


def nc4(results):
    """One line for each batch."""
    text = ("| batch | layers exact | with a cuDNN time | cuDNN time / ours, geometric mean | "
            "layers at least as fast | from, to | the same with the model's tile |\n"
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
    for result in results:
        text += line(result["environment"]["batch"], result["rows"])
    if len(results) > 1:
        text += line("all", [row for result in results for row in result["rows"]])
    return text + "\n" + machine(results)


def number(row, field, digits=1):
    return f"{row[field]:.{digits}f}" if field in row else "-"


def nc4_layers(results):
    """One line for each layer."""
    text = ""
    for result in results:
        text += (f"N = {result['environment']['batch']}\n\n"
                 "| layer | ours us | p10 to p90 | cuDNN us | ratio | model us | TOPS | floor us | "
                 "tile | differs from cuDNN | status |\n"
                 "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | --- |\n")
        for row in result["rows"]:
            differs = row.get("peer_differences", "-")
            if differs not in (0, "-"):
                differs = f"{differs}, by {row['peer_largest_difference']}"
            status = row["status"].replace("|", "/")
            text += (f"| {row['layer']} | {number(row, 'ours_us', 2)} | "
                     f"{number(row, 'ours_p10_us', 2)} to {number(row, 'ours_p90_us', 2)} | "
                     f"{number(row, 'peer_us', 2)} | {number(row, 'ratio', 2)} | "
                     f"{number(row, 'model_us', 2)} | {number(row, 'tops')} | "
                     f"{number(row, 'floor_us', 2)} | {row['kernel'].removeprefix('simt_')} | "
                     f"{differs} | {status} |\n")
        text += "\n"
    return text + machine(results)


def best(results):
    """One line for each batch of weft_perf."""
    text = ("| batch | layers exact | best peer's time / ours, geometric mean | at least as fast | from, to | "
            "ours / floor |\n| ---: | ---: | ---: | ---: | ---: | ---: |\n")
    for result in results:
        rows = result["rows"]
        ratios = [r["peer_us"] / r["ours_us"] for r in rows if good(r) and "peer_us" in r]
        over = [r["ours_us"] / r["floor_us"] for r in rows if good(r)]
        exact = sum(r["mismatches"] == 0 and "ours_us" in r for r in rows)
        text += (f"| {result['environment']['batch']} | {exact} of {len(rows)} | {geomean(ratios):.2f} | "
                 f"{sum(r >= 1 for r in ratios)} of {len(ratios)} | {min(ratios, default=0):.2f} to "
                 f"{max(ratios, default=0):.2f} | {geomean(over):.2f} |\n")
    e = results[-1]["environment"]
    return text + (f"\n{e['device']}, driver {e['driver']}, CUDA {e['cuda']}, "
                   f"{', '.join(l.split(' (')[0] for l in e['libraries'])}, {e['last_clock_mhz']} MHz under load; "
                   f"commit {e['commit']}, {e['date']}.\n")


def best_layers(results):
    """One line for each layer of weft_perf."""
    text = ""
    for result in results:
        text += (f"N = {result['environment']['batch']}\n\n"
                 "| layer | ours us | p10 to p90 | peer us | ratio | floor us | TOPS | ours | peer | status |\n"
                 "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |\n")
        for row in result["rows"]:
            text += (f"| {row['layer']} | {number(row, 'ours_us', 2)} | {number(row, 'ours_p10_us', 2)} to "
                     f"{number(row, 'ours_p90_us', 2)} | {number(row, 'peer_us', 2)} | {number(row, 'ratio', 2)} | "
                     f"{number(row, 'floor_us', 2)} | {number(row, 'tops')} | {row['layout']} "
                     f"{row['kernel'].removeprefix('mma_')} | {row['peer'].split(':')[0]} | "
                     f"{row['status'].replace('|', '/')} |\n")
        text += "\n"
    return text.removesuffix("\n")


# Of a table: what makes it, and from which files.
RENDERERS = {"nc4": (nc4, "anchors-nc4"), "nc4-layers": (nc4_layers, "anchors-nc4"),
             "anchors": (best, "anchors"), "anchors-layers": (best_layers, "anchors")}


def rewritten(text, results, page="page"):
    """`text` with what lies between its markers made anew; `results` of each name in RENDERERS."""

    def replace(match):
        name = match["name"]
        if name not in RENDERERS:
            raise ValueError(f"{page}: no table '{name}'; there are {', '.join(RENDERERS)}")
        render, files = RENDERERS[name]
        body = render(results[files]) if results.get(files) else NOTHING
        return match[1] + body + match[4]

    return MARKED.sub(replace, text)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the repository")
    parser.add_argument("--html", type=pathlib.Path, help="write a page of weft_perf's results")
    parser.add_argument("files", nargs="*", help="of the page")
    options = parser.parse_args(arguments)
    try:
        if options.html:
            results = read(options.files) if options.files else load(options.root, "anchors")
            if not results:
                raise ValueError("no results of weft_perf; name its JSON files")
            options.html.write_text(report_page.page(results))
            print(f"{options.html}: written")
            return 0
        results = {name: load(options.root, name) for name in ("anchors-nc4", "anchors")}
        stale = []
        for page in PAGES:
            path = options.root / page
            if not path.exists():
                continue
            old = path.read_text()
            new = rewritten(old, results, page)
            if new == old:
                continue
            stale.append(page)
            if not options.check:
                path.write_text(new)
    except (ValueError, KeyError) as error:
        print(f"report.py: {error!r}", file=sys.stderr)
        return 2
    for page in stale:
        print(f"{page}: " + ("stale; run perf/report.py" if options.check else "rewritten"))
    if not stale:
        print(f"the tables agree with the {sum(map(len, results.values()))} files of {RESULTS}")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
