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


def local_filter(result, table):
    """LocalFilter's layers of a batch and a width of weights together."""
    found = collections.defaultdict(list)
    for r in result["rows"]:
        if r["status"] == "ok" and r.get("share_of_copy"):
            found[int(batch_of(r)), r["filter_bits"]].append(r)
    return table(("N:", "bits of a weight:", "layers:", "share of a copy's rate:", "least:", "of", "copy / ours:"),
                 [(n, bits, len(rows), mean([r["share_of_copy"] for r in rows]), f"{(least := min(rows, key=lambda r: r['share_of_copy']))['share_of_copy']:.2f}",
                   least["layer"], mean([r.get("copy_over_ours") for r in rows])) for (n, bits), rows in sorted(found.items())])


def of_kind(kind, field):
    """Rows of epilogue_bench that have a value."""
    return lambda r: r.get("kind") == kind and r.get("status") == "ok" and r.get(field)


# Of a table: its file; a function, or for each column its heading (a colon: to the right), its field, or two of which it is the
# ratio, and its digits; and which rows are shown, where that is not all, with those that failed below the table.
BENCHES = {
    "depthwise-pointwise": ("fused.json", (
        ("problem", "layer", None), ("one kernel, us:", "ours_us", 2), ("two kernels, us:", "two_us", 2),
        ("depthwise, us:", "depthwise_us", 2), ("1x1, us:", "pointwise_us", 2), ("two / one:", "ratio", 2),
        ("floor, us:", "floor_us", 2))),
    "bottleneck": ("bottleneck.json", (
        ("problem", "layer", None), ("tile", "kernel", None), ("one kernel, us:", "ours_us", 2), ("apart, us:", "apart_us", 2),
        ("apart / one:", "ratio", 2), ("floor, us:", "floor_us", 2))),
    "deconv": ("deconv.json", (
        ("problem", "layer", None), ("ours, us:", "ours_us", 2), ("cuDNN in half, us:", "peer_us", 2),
        ("cuDNN / ours:", "ratio", 2))),
    "deconv-zeros": ("deconv.json", (
        ("layer", "layer", None), ("source's, us:", "source_zero_us", 2), ("over none:", "over_source_zero", 2),
        ("source's and filter's, us:", "both_zeros_us", 2), ("over none:", "over_both_zeros", 2)),
        lambda r: r.get("over_source_zero") and r.get("over_both_zeros")),
    "condconv": ("condconv.json", (
        ("layer", "layer", None), ("filters, MB:", "mixed_mbytes", 2), ("ours, us:", "ours_us", 2), ("plain, us:", "plain_us", 2),
        ("ours / plain:", ("ours_us", "plain_us"), 2), ("in passes, us:", "passes_us", 2), ("libraries, us:", "libraries_us", 2),
        ("libraries / ours:", ("libraries_us", "ours_us"), 2), ("in branches / ours:", ("libraries_branched_us", "ours_us"), 2)),
        lambda r: True),
    "block": ("block.json", (
        ("product", "layer", None), ("how many", "batch", None), ("ours, us:", "ours_us", 1), ("TOPS:", "ours_tops", 1),
        ("cuBLASLt, us:", "peer_us", 1), ("cuBLASLt / ours:", "ratio", 2), ("whole kernels, us:", "whole_us", 1),
        ("whole / ours:", "whole_ratio", 2), ("floor, us:", "floor_us", 1))),
    "local-filter": ("local-filter.json", local_filter),
    "epilogue-costs": ("epilogue-costs.json", costs),
    "epilogue-types": ("epilogue-costs.json", types),
    "int4": ("epilogue-costs.json", (
        ("layer", "layer", None), ("filter of int8, KB:", "int8_filter_kb", 0), ("int8, us:", "int8_us", 2), ("int4, us:", "int4_us", 2),
        ("int8 / int4:", "int8_over_int4", 2), ("quickest int8, us:", "best_int8_us", 2), ("over int4:", "best_int8_over_int4", 2)),
        of_kind("filter", "int4_us")),
    "depthwise-zeros": ("epilogue-costs.json", (
        ("layer", "layer", None), ("zero points", "variant", None), ("without, us:", "relu_us", 2), ("with, us:", "ours_us", 2),
        ("with / without:", "over_relu", 2)), of_kind("depthwise", "ours_us")),
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


def cell(row, field, digits):
    """A field, or the ratio of two; "-" for what is not there."""
    values = [row.get(each) for each in ([field] if isinstance(field, str) else field)]
    if any(value is None for value in values):
        return "-"
    return values[0] if digits is None else f"{values[0] / values[1] if len(values) > 1 else values[0]:.{digits}f}"


def bench(name, result, table):
    _, columns, *shown = BENCHES[name]
    if callable(columns):
        return columns(result, table)
    failed = [] if shown else [r for r in result["rows"] if r.get("status", "ok") != "ok"]
    rows = [r for r in result["rows"] if (shown[0](r) if shown else r not in failed)]
    return table(tuple(heading for heading, _, _ in columns),
                 [tuple(cell(row, field, digits) for _, field, digits in columns) for row in rows]) + "".join(
        f"\n{r['layer']}: {r['status']}.\n" for r in failed)
