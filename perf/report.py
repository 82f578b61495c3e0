#!/usr/bin/env python3
"""Makes the documents that show perf/results: pages, tables and pictures.

    perf/report.py           rewrites docs/performance.md and docs/performance_h100.md, what lies between the markers of
                             other documents, and the pictures
    perf/report.py --check   says which files are stale (exit 1) or which results are mixed (exit 2); changes nothing

A page is perf/performance_page.md.in with its {{names}} replaced by tables of one folder, perf/results/<gpu>, whose files
are all of one commit, device and driver; sections without a table are left out. Elsewhere a marked place looks like

    <!-- weft:perf NAME begin -->
    <!-- weft:perf NAME end -->

where NAME is one of MARKED_TABLES below, of the H200. What its folder lacks is of the newest file there is, of the H100 or of
perf/results/earlier. Each such table says of which GPU and commit it is.
"""

import argparse
import pathlib
import re
import shlex
import collections
import sys

import report_benches
import report_compile
import report_ladder
import report_networks
import report_page
import report_products
import report_rtc
import report_small
import report_tables as tables
from report_results import Set
from report_tables import table

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = "perf/results"
TEMPLATE = "perf/performance_page.md.in"
PAGES = {"h200": "docs/performance.md", "h100": "docs/performance_h100.md"}
MARKED_PAGES = ("README.md", "docs/cudnn_differences.md", "docs/deconvolution.md", "docs/depthwise_pointwise.md",
                "docs/condconv.md", "docs/bottleneck.md", "docs/ladder.md", "docs/block_gemm.md", "docs/measuring.md", "docs/installing.md",
                "docs/operators.md", "docs/networks.md", "docs/rtc.md", "docs/log/tiles_and_model.md")
PICTURE = "docs/images/ratios.svg"
LADDER_PICTURE = "docs/images/ladder.svg"
MARKED = re.compile(
    r"(<!-- weft:perf (?P<name>[a-z0-9-]+) begin -->\n)(?P<body>.*?)"
    r"(<!-- weft:perf (?P=name) end -->)", re.DOTALL)
NAME = re.compile(r"\{\{([a-z0-9-]+)\}\}")
NOTHING = "Not measured.\n"
LISTS = ("anchors", "resnet50", "t4_17", "small_k", "reformat", "mobile1x1", "eight", "vgg16", "detection", "fully_connected",
         "patches")
EPILOGUES = {"residual": "resnet50-residual", "hswish": "resnet50-hswish"}


def read_times(root, name):
    """perf/layers/<name>: (layer, batch) -> microseconds of the third column, measured earlier."""
    path = root / "perf/layers" / name
    if not path.exists():
        return {}
    lines = [line.split(",") for line in path.read_text().splitlines() if line and not line.startswith(("#", "layer,"))]
    return {(line[0], int(line[1])): float(line[2]) for line in lines}


def tables_of(found, root, own):
    """name -> text of everything that a page or a marked place may show, without what there are no results of. `own`: of
    the GPU that the earlier times of perf/layers are of."""
    lists = {name: results for name in LISTS if (results := found.layers(name))}
    epilogues = {name: results for name, file in EPILOGUES.items() if (results := found.layers(file))}
    nc4, depthwise = found.layers("anchors-nc4"), found.layers("depthwise")
    chain = report_networks.chain_of(root / RESULTS, found.folder.name)
    anchors = lists.get("anchors")
    every = {**lists, **{EPILOGUES[name]: results for name, results in epilogues.items()}, "anchors-nc4": nc4}
    named = {"ResNet-50's layers, bias and ReLU": lists.get("resnet50") or anchors, "the same with a residual": epilogues.get("residual"),
             "the same with hard swish": epilogues.get("hswish"), "the same over NCxHWx<4>, against INT8x4": nc4}
    named = {name: results for name, results in named.items() if results}
    made = {
        "speed": tables.speed(named, chain) if named else "",
        "lists": tables.lists(lists) if lists else "",
        "anchors": tables.lists({"anchors": anchors}) if anchors else "",
        **{name: tables.lists({EPILOGUES[name]: results}) for name, results in epilogues.items()},
        "nc4": tables.lists({"anchors": nc4}) if nc4 else "",
        "reformat": tables.reformat(lists),
        "first-layer": tables.first_layer(lists["reformat"]) if "reformat" in lists else "",
        "depthwise": tables.copies(depthwise) if depthwise else "",
        "energy": tables.energy({"anchors": anchors}) if anchors else "",
        "check": tables.check(anchors, read_times(root, "anchors_us.csv")) if anchors and own else "",
        "cutlass": tables.cutlass(anchors, read_times(root, "cutlass_us.csv")) if anchors and own else "",
        **{f"layers-{name}": tables.layers(results) for name, results in every.items() if results}}
    for name, (file, *_) in report_benches.BENCHES.items():
        if result := found.one(file, report_benches.FIELDS, ()):
            made[name] = report_benches.bench(name, result, table)
    if result := found.one("gemm-grid.json", report_products.FIELDS):
        made["products"], made["product-types"] = report_products.grid(result, table), report_products.types(result, table)
    return {name: text for name, text in made.items() if text and text.count("\n") > 2}


def page(template, found, made, folder, others):
    """The template with what there is. Sections of which nothing is there are left out."""
    machine = [result for name in LISTS for result in found.layers(name)]
    values = {**made, **others, "folder": folder, "commit": machine[-1]["environment"]["commit"],
              "device": machine[-1]["environment"]["device"], "date": found.newest(),
              "tiles": "tiles that `conv::Dispatch` chooses from" if "ready-made families" in machine[-1]["environment"].get(
                  "settings", "") else "all tiles of `perf/tiles.def`",
              "machine": tables.machine(machine) if "copy_tb_s" in machine[-1]["environment"] else ""}

    def filled(part):
        """The part with its values, or nothing if it has tables and there are results for none of them."""
        wanted = [name for name in NAME.findall(part) if name not in values or name in made]
        if wanted and not any(name in made for name in wanted):
            return ""
        return re.sub(r"\n{3,}", "\n\n", NAME.sub(lambda m: values.get(m[1], "").rstrip("\n"), part))

    intro, *sections = re.split(r"(?m)^(?=## )", template)
    text = filled(intro)
    for section in sections:
        first, *parts = re.split(r"(?m)^(?=### )", section)
        shown = [filled(part) for part in parts]
        if any(shown) or (not parts and NAME.search(first) is None):
            text += filled(first) or first.splitlines()[0] + "\n\n"
        elif NAME.search(first):
            text += filled(first)
        text += "".join(shown)
    return text.rstrip("\n") + "\n"


def cudnn_differences(text):
    """The log of run_there.sh's stage `cudnn`: one line for each call, problem and kind of numbers; plans that agree are
    counted."""
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


def marked_tables(found, made, root):
    """What documents between pages show, each with its commit."""
    marked = {}
    for name in ("speed", "anchors", "lists", "nc4"):
        if name in made:
            results = found.layers("anchors") or found.layers("resnet50")
            e = results[-1]["environment"]
            marked[name] = made[name] + f"\n{e['device']}, commit {e['commit']}, {found.newest()}.\n"
    if patches := found.layers("patches") or Set(found.earlier).layers("patches"):
        e = patches[-1]["environment"]
        marked["patches"] = tables.best(patches) + f"\n{e['device']}, commit {e['commit']}, {e['date']}.\n"
    for name, (file, *_) in report_benches.BENCHES.items():
        earlier = [r for gpu in PAGES for part in ("", "earlier/")
                   if (r := Set(root / RESULTS / f"{part}{gpu}").one(file, report_benches.FIELDS, ()))]
        if result := found.one(file, report_benches.FIELDS, ()) or max(
                earlier, key=lambda r: r["environment"].get("date", ""), default=None):
            marked[name] = report_benches.bench(name, result, table) + report_benches.where(result)
    if result := found.one("ladder.json", report_ladder.FIELDS, earlier=True):
        marked |= {name: render(result, table) for name, render in report_ladder.TABLES.items()}
    for log in (found.folder / "cudnn.log", found.earlier / "cudnn.log"):
        if log.exists() and "cudnn" not in marked:
            marked["cudnn"] = cudnn_differences(log.read_text())
    if result := Set(root / RESULTS).one(report_compile.FILE, report_compile.FIELDS, report_compile.ENVIRONMENT):
        marked["compile-times"] = report_compile.times(result, table)
    if result := Set(root / RESULTS).one(report_compile.BUILDS, report_compile.BUILD_FIELDS, report_compile.ENVIRONMENT):
        marked["build-costs"] = report_compile.builds(result, table)
    if result := Set(root / RESULTS).one(report_small.FILE, report_small.FIELDS, report_small.ENVIRONMENT):
        marked["small-families"] = report_small.small(result, table)
        marked["small-families-lost"] = report_small.lost(result, table)
    for name, render in (("networks", report_networks.networks), ("tensors", report_networks.tensors), ("chain", report_networks.chain),
                         ("rtc-times", report_rtc.times), ("rtc-kernels", report_rtc.kernels)):
        if made := render(root / RESULTS, table):
            marked[name] = made
    return marked


MARKED_TABLES = ("speed", "anchors", "lists", "nc4", *report_benches.BENCHES, *report_ladder.TABLES, "cudnn", "compile-times",
                 "build-costs", "small-families", "small-families-lost", "networks", "tensors", "chain", "rtc-times", "rtc-kernels", "patches")


def rewritten(text, marked, name="page"):
    """`text` with what lies between its markers made anew."""

    def replace(match):
        if match["name"] not in MARKED_TABLES:
            raise ValueError(f"{name}: no table '{match['name']}'; there are {', '.join(MARKED_TABLES)}")
        return match[1] + marked.get(match["name"], NOTHING) + match[4]

    return MARKED.sub(replace, text)


def documents(root):
    """path -> text of every document and picture that shows results."""
    files = {}
    sets = {gpu: Set(root / RESULTS / gpu, root / RESULTS / "earlier" / gpu) for gpu in PAGES}
    shown = [gpu for gpu, found in sets.items() if found.check()]
    template = (root / TEMPLATE).read_text() if (root / TEMPLATE).exists() else ""
    for gpu in shown if template else ():
        made = tables_of(sets[gpu], root, own=gpu == "h200")
        other = "".join(f"[The same on another GPU]({pathlib.Path(PAGES[each]).name})." for each in shown if each != gpu)
        files[PAGES[gpu]] = page(template, sets[gpu], made, f"{RESULTS}/{gpu}", {"other": other})
    found = sets["h200"]
    marked = marked_tables(found, tables_of(found, root, True), root)
    for name in MARKED_PAGES:
        if (root / name).exists():
            files[name] = rewritten((root / name).read_text(), marked, name)
    if (root / PICTURE).parent.exists():
        if anchors := found.layers("anchors"):
            files[PICTURE] = report_page.picture(anchors)
        if ladder := found.one("ladder.json", report_ladder.FIELDS, earlier=True):
            files[LADDER_PICTURE] = report_ladder.picture(ladder)
    return files


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the repository")
    options = parser.parse_args(arguments)
    root = options.root
    try:
        files = documents(root)
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
        print(f"{len(files)} documents and pictures agree with {RESULTS}")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
