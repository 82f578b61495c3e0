#!/usr/bin/env python3
"""Writes the tables and the picture of perf/results/ into the files that show them.

    perf/report.py           rewrites what lies between the markers, and the pictures
    perf/report.py --check   says which files are stale (exit 1) and changes nothing
    perf/report.py --html=FILE [RESULT.json ...]    one HTML page of weft_perf's results; without
                             names, those of the list `anchors`

A marked place looks like

    <!-- weft:perf NAME begin -->
    <!-- weft:perf NAME end -->

where NAME is one of RENDERERS below. All come from perf/results/h200: <list>-n<batch>.json and
resnet50-network.json of weft_perf, gemm.json of gemm_bench, and the log of run_h200.sh's stage `cudnn`. Those whose
name ends in -h100 come from perf/results/h100, compile-times from perf/results itself.
"""

import argparse
import collections
import json
import math
import pathlib
import re
import shlex
import statistics
import sys

import report_benches
import report_compile
import report_ladder
import report_ncu
import report_page
import report_products
from report_page import compared, exact, geomean, good, ratios_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/performance.md", "docs/cudnn_differences.md", "docs/deconvolution.md", "docs/depthwise_pointwise.md",
         "docs/condconv.md", "docs/ladder.md", "docs/block_gemm.md")
PICTURE = "docs/images/ratios.svg"
LADDER_PICTURE = "docs/images/ladder.svg"
RESULTS = "perf/results/h200"
H100 = "perf/results/h100"
MARKED = re.compile(
    r"(<!-- weft:perf (?P<name>[a-z0-9-]+) begin -->\n)(?P<body>.*?)"
    r"(<!-- weft:perf (?P=name) end -->)", re.DOTALL)
LAYER_FIELDS = {"layer": str, "batch": int, "kernel": str, "layout": str, "peer": str,
                "floor_us": (int, float), "mismatches": int, "status": str}
NETWORK_FIELDS = {"batch": int, "mismatches": int, "status": str, "layers": list}
INT8_CUDNN = ("cudnn_graph", "cudnn_nhwc", "cudnn_int8x4", "cudnn_int8x32")
NOTHING = "Not measured yet.\n"


def read(path, fields, environment):
    """A result file, or a ValueError that says what it is not."""
    try:
        result = json.loads(pathlib.Path(path).read_text())
        missing = [name for name in environment if name not in result["environment"]]
        if missing:
            raise ValueError(f"its environment has no '{missing[0]}'")
        for row in result["rows"]:
            for field, kind in fields.items():
                if not isinstance(row.get(field), kind):
                    raise ValueError(f"row {row.get('layer', row.get('batch'))}: '{field}' is {row.get(field)!r}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no result file of this kind: {error}") from error
    return result


def not_run(row):
    return row["status"].startswith("failed: not run")


def read_layers(files):
    """weft_perf's files of one list, in the order of their batches. The rows that a file has not run are those of its
    <name>-rest.json, a later run on the same device, if there is one."""
    wanted = ("batch", "list", "device", "driver", "cuda", "operator", "method", "copy_tb_s", "commit", "date")
    results = []
    for path in map(pathlib.Path, files):
        result = read(path, LAYER_FIELDS, wanted)
        later = path.with_name(path.stem + "-rest.json")
        if later.exists():
            rest = read(later, LAYER_FIELDS, wanted)
            of, found = result["environment"], {row["layer"]: row for row in rest["rows"]}
            if any(of[field] != rest["environment"][field] for field in ("device", "batch")):
                raise ValueError(f"{later} is of another device or batch than {path}")
            result["rows"] = [found.get(row["layer"], row) if not_run(row) else row for row in result["rows"]]
            if of["commit"][:7] != rest["environment"]["commit"][:7]:
                of["commit"] = f"{of['commit'][:7]} and {rest['environment']['commit'][:7]}"
        results.append(result)
    return sorted(results, key=lambda r: r["environment"]["batch"])


def load(root, name, folder=RESULTS):
    """The result files <name>-n<batch>.json, by batch."""
    return read_layers(path for path in sorted((root / folder).glob(f"{name}-n*.json"))
                       if re.fullmatch(r"\d+", path.stem[len(name) + 2:]))


def load_one(root, name, fields, environment=("device", "commit", "method"), folder=RESULTS):
    """The file as a list of one, or an empty list."""
    path = root / folder / name
    return [read(path, fields, environment)] if path.exists() else []


def read_times(root, name):
    """perf/layers/<name>: (layer, batch) -> microseconds of the third column, measured earlier."""
    path = root / "perf/layers" / name
    if not path.exists():
        return {}
    lines = [line.split(",") for line in path.read_text().splitlines() if line and not line.startswith(("#", "layer,"))]
    return {(line[0], int(line[1])): float(line[2]) for line in lines}


def table(columns, rows):
    """Markdown; a column whose name ends in ':' is right-aligned."""
    return ("| " + " | ".join(c.removesuffix(":") for c in columns) + " |\n| "
            + " | ".join("---:" if c.endswith(":") else "---" for c in columns) + " |\n"
            + "".join("| " + " | ".join(str(cell).replace("|", "/") for cell in row) + " |\n" for row in rows))


def number(row, field, digits=1):
    return f"{row[field]:.{digits}f}" if row.get(field) is not None else "-"


def libraries(e):
    """Names and versions, without paths."""
    return ", ".join(x.split(" (")[0] for x in e.get("libraries", []))


def sentence(text):
    return text[0].upper() + text[1:]


def machine(results):
    e = results[-1]["environment"]
    noise = sorted(r["noise"] for result in results for r in result["rows"] if "noise" in r)
    stated = f" Noise of a ratio: {100 * noise[len(noise) // 2]:.1f}% (median of the rows)." if noise else ""
    return (f"\n{e['device']}, driver {e['driver']}, CUDA {e['cuda']}, {libraries(e)}, "
            f"{e.get('last_clock_mhz', '-')} MHz under load, throttling {e.get('throttle_reasons', '-')}; "
            f"commit {e['commit']}, {e['date']}. Ceilings: copy {e['copy_tb_s']} TB/s, int8 tensor cores "
            f"{e.get('tensor_tops')} TOPS ({e.get('tensor_tops_source', 'not measured').split(':')[0]}), "
            f"dp4a {e.get('dp4a_tops')} TOPS.{stated}\n")


def summary(results):
    """One line for each batch."""
    groups = [(r["environment"]["batch"], r["rows"]) for r in results]
    if len(results) > 1:
        groups.append(("all", [row for result in results for row in result["rows"]]))
    lines = []
    for name, rows in groups:
        n = report_page.numbers(rows)
        loss = geomean([c["model_over_best"] for r in rows if good(r) for c in r.get("layouts", {}).values()
                        if c.get("model_over_best")])
        lines.append((name, n.exact, n.geomean, n.won, n.span, n.over_floor, f"{loss:.2f}"))
    return table(("batch:", "layers exact:", "best peer's time / ours, geometric mean:", "at least as fast:",
                  "from, to:", "ours / floor:", "model's tile / best tile:"), lines) + machine(results)


def layers(results):
    """One line for each layer."""
    text = ""
    copied = any("copy_us" in r for result in results for r in result["rows"])  # not in older files
    for result in results:
        rows = [(r["layer"], number(r, "ours_us", 2), f"{number(r, 'ours_p10_us', 2)} to {number(r, 'ours_p90_us', 2)}",
                 number(r, "ours_plain_us", 2), number(r, "peer_us", 2), number(r, "ratio", 2), f"{100 * r['noise']:.1f}%" if "noise" in r else "-",
                 number(r, "floor_us", 2), *((number(r, "copy_us", 2), number(r, "copy_over_ours", 2)) if copied else ()),
                 number(r, "tops"), number(r, "gb_s", 0), f"{r['layout']} {report_page.short(r['kernel'])}", r["peer"].split(":")[0], r["status"])
                for r in result["rows"]]
        text += f"N = {result['environment']['batch']}\n\n" + table(
            ("layer", "ours us:", "p10 to p90:", "plain us:", "peer us:", "ratio:", "noise:", "floor us:", *(("copy us:", "copy / ours:") if copied else ()),
             "TOPS:", "GB/s:", "ours", "peer", "status"), rows) + "\n"
    return text.removesuffix("\n")


def lists(by_list):
    """One line for each list and batch."""
    lines = []
    for name, results in by_list.items():
        for result in results:
            e, rows = result["environment"], result["rows"]
            n = report_page.numbers(rows)
            plain = [r["peer_us"] / r["ours_plain_us"] for r in compared(rows) if r.get("ours_plain_us")]
            total = lambda field: sum(r[field] * r.get("count", 1) for r in compared(rows))  # noqa: E731,B023
            most = geomean([r["peer_us"] / r["floor_us"] for r in compared(rows) if r.get("floor_us")])
            lines.append((name, e["batch"], n.exact, n.geomean, n.won, n.span, n.over_floor, f"{most:.2f}",
                          f"{geomean(plain):.2f} of {len(plain)}" if plain else "-", f"{total('ours_us'):.0f}",
                          f"{total('peer_us'):.0f}", e["commit"] if " and " in e["commit"] else e["commit"][:7]))
    return table(("list", "batch:", "layers exact:", "best peer's time / ours, geometric mean:", "at least as fast:", "from, to:",
                  "ours / floor:", "peer / floor:", "without dependent launch:", "ours, all layers with their counts, us:", "peers, likewise:",
                  "commit"), lines) + machine(next(iter(by_list.values())))


def energy(by_list):
    """Where the clock was at the limit of power: joules of both sides, beside their times."""
    lines = {}
    for r in (row for results in by_list.values() for result in results for row in result["rows"]):
        if good(r) and "ours_joules" in r and "peer_joules" in r:
            of = lambda side: f"{1e12 * r[side + '_joules'] / r['operations']:.2f}"  # noqa: E731,B023
            lines[r["layer"], r["batch"]] = (
                r["layer"], r["batch"], number(r, "ours_us", 1), number(r, "ratio", 2), f"{r['peer_joules'] / r['ours_joules']:.2f}",
                of("ours"), of("peer"), number(r, "ours_watts", 0), number(r, "peer_watts", 0), r["clock_mhz"])
    return table(("layer", "batch:", "ours us:", "peer's time / ours:", "peer's energy / ours:", "ours, pJ an operation:", "peer:",
                  "ours, W:", "peer:", "clock under ours, MHz:"), lines.values()) + "".join(
        f"\n{e['device']}, commit {e['commit']}.\n" for e in [next(iter(by_list.values()))[-1]["environment"]])


def large(results):
    """Images a second of larger batches."""
    return table(("batch:", "ours ms:", "images/s:", "TOPS:", "wrong outputs:", "clock MHz:", "throttling"),
                 [(r["batch"], number(r, "ours_ms", 3), number(r, "ours_images_per_s", 0), number(r, "ours_tops", 0), r["mismatches"],
                   r["clock_mhz"], r["throttle_reasons"]) for r in results[0]["rows"]]) + (
        f"\n{results[0]['environment']['device']}, commit {results[0]['environment']['commit']}, "
        f"{results[0]['environment']['date']}.\n")


def cudnn_us(row):
    """cuDNN's best int8 time in a row, or None."""
    times = [p.get("time_us", p.get("short_us")) for name, p in row.get("peers", {}).items() if name in INT8_CUDNN]
    return min((t for t in times if t), default=None)


def check(results, anchors):
    """cuDNN's best int8 answer in this run over that of perf/layers/anchors_us.csv."""
    lines = []
    for result in results:
        batch = result["environment"]["batch"]
        found = [(r["layer"], cudnn_us(r) / anchors[r["layer"], batch], anchors[r["layer"], batch])
                 for r in result["rows"] if cudnn_us(r) and anchors.get((r["layer"], batch), -1) > 0]
        above = [(layer, ratio) for layer, ratio, earlier in found if earlier > 10]
        outside = [f"{layer} {ratio:.2f}" for layer, ratio in above if not 0.9 <= ratio <= 1.1]
        lines.append((batch, len(found), f"{geomean([ratio for _, ratio, _ in found]):.3f}", len(above),
                      len(above) - len(outside), ", ".join(outside) or "none"))
    return table(("batch:", "layers:", "this run / earlier, geometric mean:", "layers above 10 us:",
                  "of these within 10%:", "outside"), lines)


def cutlass(results, times):
    """Our NCxHWx<32> times against CUTLASS's sm80 kernels over the same layout."""
    lines = []
    for result in results:
        batch = result["environment"]["batch"]
        ours = {r["layer"]: r.get("layouts", {}).get("nc32", {}) for r in result["rows"]}
        ratios = [(times[layer, batch] / us, layer) for layer, c in ours.items()
                  if (us := c.get("time_us", c.get("short_us"))) and (layer, batch) in times]
        if not ratios:
            continue
        slower = [f"{layer} {ratio:.2f}" for ratio, layer in sorted(ratios) if ratio < 1]
        lines.append((batch, len(ratios), f"{geomean([r for r, _ in ratios]):.3f}", len(ratios) - len(slower),
                      ", ".join(slower) or "none"))
    return table(("batch:", "layers:", "CUTLASS's time / ours, geometric mean:", "not slower on:", "slower on"), lines)


def reformat(by_list):
    """What each side takes between tensors in the user's formats."""
    lines = []
    for name in ("reformat", "small_k"):
        for r in (row for result in by_list.get(name, []) for row in result["rows"]):
            lines.append((name, r["batch"], r["layer"], r.get("tensors", "-"), f"{number(r, 'ours_us', 2)} ({r['layout']})",
                          f"{number(r, 'ours_with_reformat_us', 2)} ({r.get('ours_with_reformat', '-')})",
                          f"{number(r, 'peer_us', 2)} ({r['peer'].split(':')[0]})",
                          f"{number(r, 'peer_with_reformat_us', 2)} ({r.get('peer_with_reformat', '-')})",
                          number(r, "ratio", 2), number(r, "ratio_with_reformat", 2)))
    every = [r for results in by_list.values() for result in results for r in result["rows"]
             if good(r) and "ratio_with_reformat" in r and "ratio" in r]
    unique = {(r["layer"], r["batch"]): r for r in every}.values()
    plain, full = [r["ratio"] for r in unique], [r["ratio_with_reformat"] for r in unique]
    return table(("list", "batch:", "layer", "user's tensors", "ours us:", "with reformat:", "peer us:", "with reformat:",
                  "ratio:", "with reformat:"), lines) + (
        f"\nOver the {len(full)} layers and batches that were measured with reformats: best peer's time / ours {geomean(plain):.2f}, "
        f"with the reformats {geomean(full):.2f}, geometric means.\n")


def fused(by_list):
    """The first layer into NCxHWx<32>: one operator against convolution and reformat."""
    lines = []
    for r in (row for result in by_list.get("reformat", []) for row in result["rows"]):
        plain, one = r["layouts"].get("nc4", {}), r["layouts"].get("nc4_nc32", {})
        saved = "-"
        if plain.get("with_reformat_us") and one.get("time_us"):
            saved = f"{100 * (1 - one['time_us'] / plain['with_reformat_us']):.0f}%"
        lines.append((r["batch"], number(plain, "time_us", 2), number(plain, "with_reformat_us", 2),
                      number(one, "time_us", 2), saved))
    return table(("batch:", "convolution NCxHWx<4> to NCxHWx<4> us:", "the same and a reformat:",
                  "convolution into NCxHWx<32>:", "saved:"), lines)


def network(results):
    """One line for each format and batch."""
    lines = []
    rows = [r for result in results for r in result["rows"]]
    for r in sorted(rows, key=lambda r: (r["batch"], r.get("tensors", ""))):
        differs = "-"
        if "output_differences" in r:
            differs = "none" if r["output_differences"] == 0 else (
                f"{r['output_differences']} of {r['outputs']}, by at most {r['output_largest_difference']}")
        lines.append((r["batch"], r.get("tensors", "NCxHWx<32>"), number(r, "ours_ms", 3), number(r, "ours_images_per_s", 0), number(r, "cudnn_ms", 3),
                      number(r, "cudnn_images_per_s", 0), number(r, "ratio", 2), number(r, "ratio_without_first", 2),
                      number(r, "model_choice_ms", 3), r["mismatches"], differs, r["status"]))
    text = table(("batch:", "our tensors", "ours ms:", "images/s:", "cuDNN ms:", "images/s:", "cuDNN / ours:", "without conv1:",
                  "the model's tiles ms:", "wrong outputs:", "differs from cuDNN's chain", "status"), lines)
    each = [layer for row in rows for layer in row["layers"]]
    if each:
        text += (f"\nActivations: {100 * min(l['zeros'] for l in each):.0f}% to {100 * max(l['zeros'] for l in each):.0f}% "
                 f"zeros, at most {100 * max(l['saturated'] for l in each):.1f}% saturated in any layer.\n")
    for e in [result["environment"] for result in results]:
        text += (f"\n{e['device']}, driver {e['driver']}, CUDA {e['cuda']}, {libraries(e)}, {e['last_clock_mhz']} MHz under "
                 f"load; commit {e['commit']}, {e['date']}.\n")
    if any("cudnn_ms" not in r for r in rows):
        text += ("\nRows without a time of cuDNN's say why in their status; its chain is the same for either format of ours, so "
                 "its time in the other row of that batch is what to compare with.\n")
    return text + f"\n{sentence(results[-1]['environment']['method'])}.\n"


def cudnn_differences(text):
    """The log of stage `cudnn`: one line for each call, problem and kind of numbers; plans that agree are counted."""
    rows = [dict(part.split("=", 1) for part in shlex.split(line[len("difference: "):]))
            for line in text.splitlines() if line.startswith("difference: ")]
    if not rows:
        raise ValueError("cudnn.log: no line begins with 'difference: '")
    groups = collections.Counter()
    for r in rows:
        peer = "graph API, NHWC" if r["peer"].startswith("cudnn_graph") else "INT8x32, reordered by us"
        groups[peer, f"`{r['problem']}`", *(r[k] for k in (
            "numbers", "outputs", "ties", "differ", "differ_at_ties", "largest", "farthest_from_middle",
            "differ_from_fma"))] += 1
    device, driver = text.splitlines()[0].split(",")[:2]
    return table(("cuDNN", "plans:", "problem", "scales", "outputs:", "ties:", "differ:", "of those, ties:", "largest:",
                  "farthest from the middle:", "differ from one fma:"),
                 [(peer, plans, *rest) for (peer, *rest), plans in groups.items()]) + (
        f"\n{device.strip()}, driver {driver.strip()}, cuDNN {rows[0]['cudnn']}.\n")


H100_PRODUCTS = ("gemm-halves", "gemm-halves-8192", "gemm-batch", "gemm-grid", "gemm-grid-new", "gemm-grid-mixed", "gemm-grid-orders", "gemm-grid-float8",
                 "gemm-grid-8192")
LISTS = ("t4_17", "resnet50", "small_k", "reformat", "vgg16", "detection", "mobile1x1", "fully_connected")

# Of a table: what makes it from the files by list, and the list without which there is nothing to show.
RENDERERS = {
    "nc4": (lambda found, root: summary(found["anchors-nc4"]), "anchors-nc4"),
    "nc4-layers": (lambda found, root: layers(found["anchors-nc4"]), "anchors-nc4"),
    "anchors": (lambda found, root: summary(found["anchors"]), "anchors"),
    "anchors-layers": (lambda found, root: layers(found["anchors"]), "anchors"),
    "check": (lambda found, root: check(found["anchors"], read_times(root, "anchors_us.csv")), "anchors"),
    "cutlass": (lambda found, root: cutlass(found["anchors"], read_times(root, "cutlass_us.csv")), "anchors"),
    "lists": (lambda found, root: lists({k: found[k] for k in LISTS if found.get(k)}), "resnet50"),
    "reformat": (lambda found, root: reformat({k: found[k] for k in found if k not in NOT_LISTS}), "reformat"),
    "fused": (lambda found, root: fused(found), "reformat"),
    "residual": (lambda found, root: summary(found["resnet50-residual"]), "resnet50-residual"),
    "hswish": (lambda found, root: summary(found["resnet50-hswish"]), "resnet50-hswish"),
    "depthwise": (lambda found, root: layers(found["depthwise"]), "depthwise"),
    "network": (lambda found, root: network(found["network"]), "network"),
    "anchors-h100": (lambda found, root: summary(found["anchors-h100"]), "anchors-h100"),
    "depthwise-h100": (lambda found, root: layers(found["depthwise-h100"]), "depthwise-h100"),
    "lists-h100": (lambda found, root: lists({k: found[f"{k}-h100"] for k in LISTS if found.get(f"{k}-h100")}), "resnet50-h100"),
    "network-h100": (lambda found, root: network(found["network-h100"]), "network-h100"),
    "large-h100": (lambda found, root: large(found["large-h100"]), "large-h100"),
    "energy-h100": (lambda found, root: energy({k: found[f"{k}-h100"] for k in ("anchors", *LISTS)}), "anchors-h100"),
    **{f"{name}-h100": (lambda found, root, name=name: report_benches.bench(name, found[f"{name}-h100"][0], table), f"{name}-h100")
       for name in report_benches.BENCHES},
    **{f"{name}-h100": (lambda found, root, name=name: report_products.render(name, found[f"{name}-h100"][0], table), f"{name}-h100")
       for name in H100_PRODUCTS},
    "ncu-h100": (lambda found, root: report_ncu.ncu(found["ncu-h100"][0], table), "ncu-h100"),
    "cudnn": (lambda found, root: cudnn_differences(found["cudnn"][0]), "cudnn"),
    "compile-times": (lambda found, root: report_compile.times(found["compile-times"][0], table), "compile-times"),
}
RENDERERS |= {name: (lambda found, root, name=name: report_benches.bench(name, found[name][0], table), name)
              for name in report_benches.BENCHES}
RENDERERS |= {f"{name}{gpu}": (lambda found, root, render=render, gpu=gpu: render(found[f"ladder{gpu}"][0], table), f"ladder{gpu}")
              for name, render in report_ladder.TABLES.items() for gpu in ("", "-h100")}
RENDERERS |= {name: (lambda found, root, name=name: report_products.render(name, found[name][0], table), name)
              for name in report_products.FILES}
NOT_LISTS = (*report_benches.BENCHES, *report_products.FILES, "ladder", "anchors-nc4", "depthwise", "network", "cudnn", "compile-times",
             *(f"{name}-h100" for name in ("anchors", "depthwise", *LISTS, "network", "large", "ladder", *report_benches.BENCHES, *H100_PRODUCTS, "ncu")))


def load_all(root):
    log, profile = root / RESULTS / "cudnn.log", root / H100 / "ncu.log"
    return {**{name: load(root, name) for name in ("anchors-nc4", "anchors", *LISTS, "depthwise", "resnet50-residual", "resnet50-hswish")},
            **{name: [x for format in ("", "-nhwc") for x in load_one(root, f"resnet50{format}-network.json", NETWORK_FIELDS,
                                                                      folder=folder)]
               for name, folder in (("network", RESULTS), ("network-h100", H100))},
            **{f"{name}-h100": load(root, name, H100) for name in ("anchors", "depthwise", *LISTS)},
            "large-h100": load_one(root, "resnet50-nhwc-large.json", NETWORK_FIELDS, folder=H100),
            **{f"{name}-h100": load_one(root, file, report_benches.FIELDS, (), H100) for name, (file, _) in report_benches.BENCHES.items()},
            **{f"{name}-h100": load_one(root, f"{name}.json", report_products.FIELDS, folder=H100) for name in H100_PRODUCTS},
            "ncu-h100": [profile.read_text()] if profile.exists() else [],
            **{name: load_one(root, file, report_benches.FIELDS, ()) for name, (file, _) in report_benches.BENCHES.items()},
            **{name: load_one(root, f"{name}.json", report_products.FIELDS) for name in report_products.FILES},
            "ladder": load_one(root, "ladder.json", report_ladder.FIELDS),
            "ladder-h100": load_one(root, "ladder.json", report_ladder.FIELDS, folder=H100),
            "compile-times": load_one(root, report_compile.FILE, report_compile.FIELDS, report_compile.ENVIRONMENT, "perf/results"),
            "cudnn": [log.read_text()] if log.exists() else []}


def rewritten(text, results, root=ROOT, page="page"):
    """`text` with what lies between its markers made anew from `results`, files by list."""

    def replace(match):
        if match["name"] not in RENDERERS:
            raise ValueError(f"{page}: no table '{match['name']}'; there are {', '.join(RENDERERS)}")
        render, needed = RENDERERS[match["name"]]
        return match[1] + (render(results, root) if results.get(needed) else NOTHING) + match[4]

    return MARKED.sub(replace, text)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the repository")
    parser.add_argument("--html", type=pathlib.Path, help="write a page of weft_perf's results")
    parser.add_argument("files", nargs="*", help="of the page")
    options = parser.parse_args(arguments)
    root = options.root
    try:
        if options.html:
            results = read_layers(options.files) if options.files else load(root, "anchors")
            if not results:
                raise ValueError("no results of weft_perf; name its JSON files")
            options.html.write_text(report_page.page(results))
            print(f"{options.html}: written")
            return 0
        results = load_all(root)
        files = {page: rewritten((root / page).read_text(), results, root, page)
                 for page in PAGES if (root / page).exists()}
        if results["anchors"] and (root / PICTURE).parent.exists():
            files[PICTURE] = report_page.picture(results["anchors"])
        if results["ladder"] and (root / LADDER_PICTURE).parent.exists():
            files[LADDER_PICTURE] = report_ladder.picture(results["ladder"][0])
        stale = [name for name, text in files.items()
                 if not (root / name).exists() or (root / name).read_text() != text]
        for name in stale:
            if not options.check:
                (root / name).write_text(files[name])
    except (OSError, ValueError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    except (KeyError, TypeError) as error:
        print(f"report.py: a result file lacks something: {error!r}", file=sys.stderr)
        return 2
    for name in stale:
        print(f"{name}: " + ("stale; run perf/report.py" if options.check else "rewritten"))
    if not stale:
        print(f"the tables agree with the {sum(map(len, results.values()))} files of {RESULTS} and {H100}")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
