#!/usr/bin/env python3
"""Writes the tables of perf/results/ into the Markdown files that show them.

    perf/report.py           rewrites what lies between the markers
    perf/report.py --check   says which files are stale (exit 1) and changes nothing
    perf/report.py --html=FILE [RESULT.json ...]    one HTML page of weft_perf's results; without
                             names, those of the list `anchors`

A marked place looks like

    <!-- weft:perf NAME begin -->
    <!-- weft:perf NAME end -->

where NAME is one of RENDERERS below: `nc4`, `anchors` (one line for each batch), the same with `-layers`
(one for each layer), `lists` (one for each list and batch), `check` (how well the run reproduces what
was measured earlier) and `reformat` (what reformats cost). All come from perf/results/h200/<list>-n<batch>.json,
which weft_perf writes; those of `nc4` are called anchors-nc4-n<batch>.json.
"""

import argparse
import json
import math
import pathlib
import re
import sys

import report_cutlass
import report_gemm
import report_network
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


def load(root, name):
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


def number(row, field, digits=1):
    return f"{row[field]:.{digits}f}" if field in row else "-"


def ratios_of(rows):
    return [r["peer_us"] / r["ours_us"] for r in rows if good(r) and "peer_us" in r]


def exact(rows):
    return sum(r["mismatches"] == 0 and "ours_us" in r for r in rows)


def libraries(e):
    """Names and versions, without paths."""
    return ", ".join(x.split(" (")[0] for x in e.get("libraries", []))


def machine(results):
    e = results[-1]["environment"]
    noise = sorted(r["noise"] for result in results for r in result["rows"] if "noise" in r)
    stated = f" Noise of a ratio: {100 * noise[len(noise) // 2]:.1f}% (median of the rows)." if noise else ""
    return (f"{e['device']}, driver {e['driver']}, CUDA {e['cuda']}, {libraries(e)}, "
            f"{e['last_clock_mhz']} MHz under load, throttling {e['throttle_reasons']}; commit {e['commit']}, "
            f"{e['date']}. Ceilings: copy {e['copy_tb_s']} TB/s, int8 tensor cores {e.get('tensor_tops')} TOPS "
            f"({e.get('tensor_tops_source', 'not measured').split(':')[0]}), dp4a {e.get('dp4a_tops')} TOPS.{stated}\n")


def model_loss(rows):
    """What Dispatch's choice without a table takes, over the best tile: geometric mean over rows and layouts."""
    return geomean([c["model_over_best"] for r in rows if good(r) for c in r.get("layouts", {}).values()
                    if c.get("model_over_best")])


def summary(results, floor=True):
    """One line for each batch."""
    text = ("| batch | layers exact | best peer's time / ours, geometric mean | at least as fast | from, to | "
            "ours / floor | model's tile / best tile |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")

    def line(name, rows):
        ratios = ratios_of(rows)
        over = [r["ours_us"] / r["floor_us"] for r in rows if good(r)]
        return (f"| {name} | {exact(rows)} of {len(rows)} | {geomean(ratios):.2f} | "
                f"{sum(r >= 1 for r in ratios)} of {len(ratios)} | {min(ratios, default=0):.2f} to "
                f"{max(ratios, default=0):.2f} | {geomean(over):.2f} | {model_loss(rows):.2f} |\n")

    for result in results:
        text += line(result["environment"]["batch"], result["rows"])
    if len(results) > 1:
        text += line("all", [row for result in results for row in result["rows"]])
    return text + "\n" + machine(results)


def layers(results):
    """One line for each layer."""
    text = ""
    for result in results:
        text += (f"N = {result['environment']['batch']}\n\n"
                 "| layer | ours us | p10 to p90 | peer us | ratio | noise | floor us | TOPS | GB/s | ours | peer | "
                 "status |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |\n")
        for row in result["rows"]:
            noise = f"{100 * row['noise']:.1f}%" if "noise" in row else "-"
            text += (f"| {row['layer']} | {number(row, 'ours_us', 2)} | {number(row, 'ours_p10_us', 2)} to "
                     f"{number(row, 'ours_p90_us', 2)} | {number(row, 'peer_us', 2)} | {number(row, 'ratio', 2)} | {noise} | "
                     f"{number(row, 'floor_us', 2)} | {number(row, 'tops')} | {number(row, 'gb_s', 0)} | {row['layout']} "
                     f"{row['kernel'].removeprefix('mma_').removeprefix('simt_')} | {row['peer'].split(':')[0]} | "
                     f"{row['status'].replace('|', '/')} |\n")
        text += "\n"
    return text.removesuffix("\n")


def lists(by_list):
    """One line for each list and batch."""
    text = ("| list | batch | layers exact | best peer's time / ours, geometric mean | at least as fast | "
            "ours, all layers with their counts, us | peers, likewise |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
    for name, results in by_list.items():
        for result in results:
            rows = result["rows"]
            both = [r for r in rows if good(r) and "peer_us" in r]
            ratios = ratios_of(rows)
            total = lambda field: sum(r[field] * r.get("count", 1) for r in both)  # noqa: E731
            text += (f"| {name} | {result['environment']['batch']} | {exact(rows)} of {len(rows)} | {geomean(ratios):.2f} | "
                     f"{sum(r >= 1 for r in ratios)} of {len(ratios)} | {total('ours_us'):.0f} | {total('peer_us'):.0f} |\n")
    return text + "\n" + machine(next(iter(by_list.values())))


INT8_CUDNN = ("cudnn_graph", "cudnn_nhwc", "cudnn_int8x4", "cudnn_int8x32")


def cudnn_us(row):
    """cuDNN's best int8 time in a row, or None."""
    times = [p.get("time_us", p.get("short_us")) for name, p in row.get("peers", {}).items() if name in INT8_CUDNN]
    return min((t for t in times if t), default=None)


def check(results, anchors):
    """cuDNN's best int8 answer in this run over that of perf/layers/anchors_us.csv."""
    text = ("| batch | layers | this run / earlier, geometric mean | layers above 10 us | of these within 10% | outside |\n"
            "| ---: | ---: | ---: | ---: | ---: | --- |\n")
    for result in results:
        batch = result["environment"]["batch"]
        found = [(r["layer"], cudnn_us(r) / anchors[r["layer"], batch], anchors[r["layer"], batch])
                 for r in result["rows"] if cudnn_us(r) and anchors.get((r["layer"], batch), -1) > 0]
        above = [(layer, ratio) for layer, ratio, earlier in found if earlier > 10]
        outside = [f"{layer} {ratio:.2f}" for layer, ratio in above if not 0.9 <= ratio <= 1.1]
        text += (f"| {batch} | {len(found)} | {geomean([ratio for _, ratio, _ in found]):.3f} | {len(above)} | "
                 f"{len(above) - len(outside)} | {', '.join(outside) or 'none'} |\n")
    return text


def read_anchors(root):
    """perf/layers/anchors_us.csv: (layer, batch) -> microseconds of cuDNN's best int8 answer."""
    path = root / "perf/layers/anchors_us.csv"
    if not path.exists():
        return {}
    lines = [line.split(",") for line in path.read_text().splitlines() if line and not line.startswith(("#", "layer,"))]
    return {(layer, int(n)): float(cudnn) for layer, n, cudnn, _ in lines}


def reformat(by_list):
    """What each side takes between tensors in the user's formats."""
    text = ("| list | batch | layer | user's tensors | ours us | with reformat | peer us | with reformat | ratio | "
            "with reformat |\n| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
    for name in ("reformat", "small_k"):
        for result in by_list.get(name, []):
            for r in result["rows"]:
                ours = f"{number(r, 'ours_with_reformat_us', 2)} ({r.get('ours_with_reformat', '-')})"
                peer = f"{number(r, 'peer_with_reformat_us', 2)} ({r.get('peer_with_reformat', '-')})"
                text += (f"| {name} | {r['batch']} | {r['layer']} | {r.get('tensors', '-')} | {number(r, 'ours_us', 2)} "
                         f"({r['layout']}) | {ours} | {number(r, 'peer_us', 2)} ({r['peer'].split(':')[0]}) | {peer} | "
                         f"{number(r, 'ratio', 2)} | {number(r, 'ratio_with_reformat', 2)} |\n")
    every = [r for results in by_list.values() for result in results for r in result["rows"]
             if good(r) and "ratio_with_reformat" in r and "ratio" in r]
    unique = {(r["layer"], r["batch"]): r for r in every}.values()
    plain, full = [r["ratio"] for r in unique], [r["ratio_with_reformat"] for r in unique]
    text += (f"\nOver all {len(full)} layers and batches of the lists: best peer's time / ours {geomean(plain):.2f}, "
             f"with the reformats {geomean(full):.2f}, geometric means.\n")
    return text


def fused(by_list):
    """The first layer into NCxHWx<32>: one operator against convolution and reformat."""
    text = ("| batch | convolution NCxHWx<4> to NCxHWx<4> us | the same and a reformat | convolution into NCxHWx<32> | "
            "saved |\n| ---: | ---: | ---: | ---: | ---: |\n")
    for result in by_list.get("reformat", []):
        for r in result["rows"]:
            plain, one = r["layouts"].get("nc4", {}), r["layouts"].get("nc4_nc32", {})
            saved = "-"
            if plain.get("with_reformat_us") and one.get("time_us"):
                saved = f"{100 * (1 - one['time_us'] / plain['with_reformat_us']):.0f}%"
            text += (f"| {r['batch']} | {number(plain, 'time_us', 2)} | {number(plain, 'with_reformat_us', 2)} | "
                     f"{number(one, 'time_us', 2)} | {saved} |\n")
    return text


LISTS = ("t4_17", "resnet50", "small_k", "reformat", "vgg16", "detection", "mobile1x1")

# Of a table: what makes it from the files by list, and the list without which there is nothing to show.
RENDERERS = {
    "nc4": (lambda found, root: summary(found["anchors-nc4"]), "anchors-nc4"),
    "nc4-layers": (lambda found, root: layers(found["anchors-nc4"]), "anchors-nc4"),
    "anchors": (lambda found, root: summary(found["anchors"]), "anchors"),
    "anchors-layers": (lambda found, root: layers(found["anchors"]), "anchors"),
    "check": (lambda found, root: check(found["anchors"], read_anchors(root)), "anchors"),
    "cutlass": (lambda found, root: report_cutlass.table(found["anchors"], report_cutlass.read(root)), "anchors"),
    "lists": (lambda found, root: lists({k: found[k] for k in LISTS if found.get(k)}), "resnet50"),
    "reformat": (lambda found, root: reformat({k: v for k, v in found.items() if k != "anchors-nc4"}), "reformat"),
    "fused": (lambda found, root: fused(found), "reformat"),
    "residual": (lambda found, root: summary(found["resnet50-residual"]), "resnet50-residual"),
    "hswish": (lambda found, root: summary(found["resnet50-hswish"]), "resnet50-hswish"),
    "gemm": (lambda found, root: report_gemm.table(found["gemm"]), "gemm"),
    "network": (lambda found, root: report_network.table(found["resnet50-network"]), "resnet50-network"),
}


def load_all(root):
    names = ("anchors-nc4", "anchors", *LISTS, "resnet50-residual", "resnet50-hswish")
    return {**{name: load(root, name) for name in names}, "resnet50-network": report_network.load(root, RESULTS),
            "gemm": report_gemm.load(root, RESULTS)}


def rewritten(text, results, root=ROOT, page="page"):
    """`text` with what lies between its markers made anew from `results`, files by list."""

    def replace(match):
        name = match["name"]
        if name not in RENDERERS:
            raise ValueError(f"{page}: no table '{name}'; there are {', '.join(RENDERERS)}")
        render, needed = RENDERERS[name]
        body = render(results, root) if results.get(needed) else NOTHING
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
        results = load_all(options.root)
        stale = []
        for page in PAGES:
            path = options.root / page
            if not path.exists():
                continue
            old = path.read_text()
            new = rewritten(old, results, options.root, page)
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
