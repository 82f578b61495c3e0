"""Tables of the benches that measure one operator each (perf/bench/bench.hpp)."""

import collections
import statistics

FIELDS = {"layer": str}


def mean(values, digits=2):
    values = [v for v in values if v]
    return f"{statistics.geometric_mean(values):.{digits}f}" if values else "-"


def batch_of(row):
    """16 of n16c64h56w56k64r3s1."""
    return row["layer"].split("c")[0].removeprefix("n")


def over_relu(rows, table, title):
    """Operators over the same convolution with ReLU: a row for each, over all layers of a batch."""
    batches = list(dict.fromkeys(batch_of(r) for r in rows))
    lines = []
    for name in dict.fromkeys(r["variant"] for r in rows):
        good = [r for r in rows if r["variant"] == name and r["status"] == "ok"]
        all_of = [r for r in rows if r["variant"] == name]
        ratios = [r["over_relu"] for r in good if r.get("over_relu")]
        lines.append((name, *(mean([r.get("over_relu") for r in good if batch_of(r) == n]) for n in batches),
                      f"{max(ratios):.2f}" if ratios else "-", mean([r.get("best_over_relu") for r in good]),
                      "" if len(good) == len(all_of) else f"{len(all_of) - len(good)} failed"))
    shown = [("", *(f"N = {n}:" for n in batches), "at most:", "own tile:", "failures")]
    if not any(line[-1] for line in lines):
        shown, lines = [shown[0][:-1]], [line[:-1] for line in lines]
    return table((title, *shown[0][1:]), lines)


def costs(result, table):
    """epilogue_bench: activations, destinations, zero points, further outputs."""
    return over_relu([r for r in result["rows"] if r.get("variant") and r.get("kind") not in ("filter", "depthwise", "source", "type")],
                     table, "time over that with ReLU")


def types(result, table):
    """Functors of the source and other outputs; "own tile": over the quickest tile with ReLU of all."""
    return over_relu([r for r in result["rows"] if r.get("kind") in ("source", "type")], table, "time over that with ReLU")


def int4(result, table):
    """Filters of int4 against those of int8, where there is little else to read."""
    def cell(row, field, digits=2):
        return "-" if row.get(field) is None else f"{row[field]:.{digits}f}"
    return table(("layer", "filter of int8, KB:", "int8, us:", "int4, us:", "int8 / int4:", "quickest int8, us:", "over int4:"),
                 [(r["layer"], cell(r, "int8_filter_kb", 0), cell(r, "int8_us"), cell(r, "int4_us"), cell(r, "int8_over_int4"),
                   cell(r, "best_int8_us"), cell(r, "best_int8_over_int4"))
                  for r in result["rows"] if r.get("kind") == "filter" and r["status"] == "ok"])


def depthwise_zeros(result, table):
    """Depthwise convolutions with zero points over those without."""
    return table(("layer", "zero points", "without, us:", "with, us:", "with / without:"),
                 [(r["layer"], r["variant"], f"{r['relu_us']:.2f}", f"{r['ours_us']:.2f}", f"{r['over_relu']:.2f}")
                  for r in result["rows"] if r.get("kind") == "depthwise" and r.get("ours_us")])


def deconv_zeros(result, table):
    """Deconvolutions with zero points over the same tile without."""
    return table(("layer", "source's, us:", "over none:", "source's and filter's, us:", "over none:"),
                 [(r["layer"], f"{r['source_zero_us']:.2f}", f"{r['over_source_zero']:.2f}", f"{r['both_zeros_us']:.2f}",
                   f"{r['over_both_zeros']:.2f}") for r in result["rows"] if r.get("over_source_zero") and r.get("over_both_zeros")])


def condconv(result, table):
    """CondConv beside the plain convolution and beside libraries."""
    def cell(row, field):
        return f"{row[field]:.2f}" if row.get(field) else "-"

    def over(row, field, base):
        return f"{row[field] / row[base]:.2f}" if row.get(field) and row.get(base) else "-"
    return table(("layer", "filters, MB:", "ours, us:", "plain, us:", "ours / plain:", "in passes, us:", "libraries, us:",
                  "libraries / ours:", "in branches / ours:"),
                 [(r["layer"], cell(r, "mixed_mbytes"), cell(r, "ours_us"), cell(r, "plain_us"), over(r, "ours_us", "plain_us"),
                   cell(r, "passes_us"), cell(r, "libraries_us"), over(r, "libraries_us", "ours_us"),
                   over(r, "libraries_branched_us", "ours_us")) for r in result["rows"]])


def local_filter(result, table):
    """LocalFilter's layers of a batch and a width of weights together."""
    found = collections.defaultdict(list)
    for r in result["rows"]:
        if r["status"] == "ok" and r.get("share_of_copy"):
            found[int(batch_of(r)), r["filter_bits"]].append(r)
    return table(("N:", "bits of a weight:", "layers:", "share of a copy's rate:", "least:", "of", "copy / ours:"),
                 [(n, bits, len(rows), mean([r["share_of_copy"] for r in rows]), f"{(least := min(rows, key=lambda r: r['share_of_copy']))['share_of_copy']:.2f}",
                   least["layer"], mean([r.get("copy_over_ours") for r in rows])) for (n, bits), rows in sorted(found.items())])


# Of a table: its file, and either a function or, for a row for each of the file's, for each column its heading (a
# colon: to the right), its field and its digits.
BENCHES = {
    "depthwise-pointwise": ("fused.json", (
        ("problem", "layer", None), ("one kernel, us:", "ours_us", 2), ("two kernels, us:", "two_us", 2),
        ("depthwise, us:", "depthwise_us", 2), ("1x1, us:", "pointwise_us", 2), ("two / one:", "ratio", 2),
        ("floor, us:", "floor_us", 2))),
    "deconv": ("deconv.json", (
        ("problem", "layer", None), ("ours, us:", "ours_us", 2), ("cuDNN in half, us:", "peer_us", 2),
        ("cuDNN / ours:", "ratio", 2))),
    "deconv-zeros": ("deconv.json", deconv_zeros),
    "condconv": ("condconv.json", condconv),
    "block": ("block.json", (
        ("product", "layer", None), ("how many", "batch", None), ("ours, us:", "ours_us", 1), ("TOPS:", "ours_tops", 1),
        ("cuBLASLt, us:", "peer_us", 1), ("cuBLASLt / ours:", "ratio", 2), ("whole kernels, us:", "whole_us", 1),
        ("whole / ours:", "whole_ratio", 2), ("floor, us:", "floor_us", 1))),
    "local-filter": ("local-filter.json", local_filter),
    "epilogue-costs": ("epilogue-costs.json", costs),
    "epilogue-types": ("epilogue-costs.json", types),
    "int4": ("epilogue-costs.json", int4),
    "depthwise-zeros": ("epilogue-costs.json", depthwise_zeros),
    "lists-of-products": ("lists.json", (
        ("list", "layer", None), ("products:", "batch", None), ("ours, us:", "ours_us", 1), ("TOPS:", "ours_tops", 1),
        ("cuBLASLt, us:", "peer_us", 1), ("cuBLASLt / ours:", "ratio", 2), ("in 8 branches, us:", "branched_us", 1),
        ("branches / ours:", "branched_ratio", 2))),
}


def where(result):
    """Where a table comes from, and how it was measured."""
    e = result["environment"]
    of = ", ".join(str(e[key]) for key in ("device", "commit", "date") if e.get(key))
    return f"\n{of}. {e['method'][0].upper()}{e['method'][1:]}.\n" if of else ""


def bench(name, result, table):
    columns = BENCHES[name][1]

    def cell(row, field, digits):
        value = row.get(field)
        return "-" if value is None else value if digits is None else f"{value:.{digits}f}"
    if callable(columns):
        return columns(result, table)
    failed = [r for r in result["rows"] if r.get("status", "ok") != "ok"]
    rows = [r for r in result["rows"] if r not in failed]
    return table(tuple(heading for heading, _, _ in columns),
                 [tuple(cell(row, field, digits) for _, field, digits in columns) for row in rows]) + "".join(
        f"\n{r['layer']}: {r['status']}.\n" for r in failed)
