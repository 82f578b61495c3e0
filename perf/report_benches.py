"""Tables of the benches that measure one operator each (perf/peers/bench.hpp)."""

import statistics

FIELDS = {"layer": str}


def costs(result, table):
    """epilogue_bench's operators over the same convolution with ReLU: a row for each, a column for each layer."""
    rows = [r for r in result["rows"] if r.get("variant") and r.get("kind") not in ("filter", "depthwise", "source", "type")]
    layers = list(dict.fromkeys(r["layer"] for r in rows))
    lines = []
    for name in dict.fromkeys(r["variant"] for r in rows):
        found = {r["layer"]: r for r in rows if r["variant"] == name}
        good = [r for r in found.values() if r["status"] == "ok"]

        def mean(field, good=good):
            values = [r[field] for r in good if r.get(field)]
            return f"{statistics.geometric_mean(values):.3f}" if values else "-"
        cells = [f"{r['over_relu']:.3f}" if r and r["status"] == "ok" and r.get("over_relu") else "-"
                 for r in (found.get(layer) for layer in layers)]
        lines.append((name, *cells, mean("over_relu"), mean("best_over_relu"),
                      "ok" if len(good) == len(layers) else f"{len(layers) - len(good)} failed"))
    times = {r["layer"]: r["relu_us"] for r in rows if r["kind"] == "activation" and r.get("relu_us")}
    targets = []
    for kind, most in (("activation", 1.05), ("layout", 1.01), ("zero point", 1.03)):
        ratios = [r["over_relu"] for r in rows if r["kind"] == kind and r["variant"] != "ReLU again" and r.get("over_relu")]
        if ratios:
            targets.append(f"{kind}s {most:.2f}, {sum(x <= most for x in ratios)} of {len(ratios)}")
    wanted = f"\nWanted at most, and times that are no longer: {'; '.join(targets)}.\n" if targets else ""
    return table(("time over that with ReLU", *(layer + ":" for layer in layers), "geometric mean:", "over its own tile:", "status"),
                 [("ReLU, us", *(f"{times[layer]:.2f}" if layer in times else "-" for layer in layers), "", "", ""), *lines]) + wanted


def int4(result, table):
    """Filters of int4 against those of int8, where there is little else to read."""
    def cell(row, field, digits=2):
        return "-" if row.get(field) is None else f"{row[field]:.{digits}f}"
    return table(("layer", "filter int8, KB:", "int4, KB:", "int8 us:", "int4 us:", "int8 / int4:", "floor of int8 us:", "of int4 us:",
                  "quickest int8 us:", "over int4:", "its tile", "status"),
                 [(r["layer"], cell(r, "int8_filter_kb", 0), cell(r, "int4_filter_kb", 0), cell(r, "int8_us"), cell(r, "int4_us"),
                   cell(r, "int8_over_int4"), cell(r, "int8_floor_us"), cell(r, "int4_floor_us"), cell(r, "best_int8_us"),
                   cell(r, "best_int8_over_int4"), r.get("best_int8_kernel", "-"), r["status"])
                  for r in result["rows"] if r.get("kind") == "filter"])


def types(result, table):
    """Functors of the source and other outputs: over ReLU through the same tiles, and over the quickest with ReLU."""
    rows = [r for r in result["rows"] if r.get("kind") in ("source", "type")]

    def shown(row, field, digits):
        return f"{row[field]:.{digits}f}" if row.get(field) else "-"
    return table(("layer", "what", "ReLU, the same tiles us:", "us over its quickest tile:", "over ReLU:", "own quickest us:",
                  "over ReLU of wgmma_sm90:", "tile", "status"),
                 [(r["layer"], r["variant"], shown(r, "relu_us", 2), shown(r, "ours_us", 2), shown(r, "over_relu", 3),
                   shown(r, "best_us", 2), shown(r, "best_over_relu", 3), r.get("best_kernel", "-"), r["status"]) for r in rows])


def depthwise_zeros(result, table):
    """Depthwise convolutions with zero points over those without."""
    return table(("layer", "zero points", "without us:", "with us:", "with / without:", "tile", "status"),
                 [(r["layer"], r["variant"], f"{r['relu_us']:.2f}", f"{r['ours_us']:.2f}", f"{r['over_relu']:.3f}", r["kernel"], r["status"])
                  for r in result["rows"] if r.get("kind") == "depthwise" and r.get("ours_us")])


def deconv_zeros(result, table):
    """Deconvolutions with zero points over the same tile without."""
    return table(("layer", "source's zero point us:", "with / without:", "both us:", "with / without:"),
                 [(r["layer"], f"{r['source_zero_us']:.2f}", f"{r['over_source_zero']:.3f}", f"{r['both_zeros_us']:.2f}",
                   f"{r['over_both_zeros']:.3f}") for r in result["rows"] if r.get("over_source_zero") and r.get("over_both_zeros")])


def condconv(result, table):
    """CondConv beside the plain convolution and beside libraries."""
    def cell(row, field):
        return f"{row[field]:.2f}" if row.get(field) else "-"

    def over(row, field, base):
        return f"{row[field] / row[base]:.2f}" if row.get(field) and row.get(base) else "-"
    return table(("layer", "filters, MB:", "ours us:", "its convolution us:", "plain convolution us:", "ours / plain:",
                  "in passes us:", "libraries us:", "libraries / ours:", "in branches us:", "in branches / ours:", "tile"),
                 [(r["layer"], cell(r, "mixed_mbytes"), cell(r, "ours_us"), cell(r, "convolution_us"), cell(r, "plain_us"),
                   over(r, "ours_us", "plain_us"), cell(r, "passes_us"), cell(r, "libraries_us"),
                   over(r, "libraries_us", "ours_us"), cell(r, "libraries_branched_us"),
                   over(r, "libraries_branched_us", "ours_us"), r.get("ours_kernel", "-")) for r in result["rows"]])


# Of a table: its file, and either a function or, for a row for each of the file's, for each column its heading (a
# colon: to the right), its field and its digits; "newer" behind these: left out where no row of the file has it.
BENCHES = {
    "depthwise-pointwise": ("fused.json", (
        ("problem", "layer", None), ("one kernel us:", "ours_us", 2), ("two kernels us:", "two_us", 2),
        ("depthwise us:", "depthwise_us", 2), ("1x1 us:", "pointwise_us", 2), ("two / one:", "ratio", 2),
        ("floor us:", "floor_us", 2), ("tile", "kernel", None))),
    "deconv": ("deconv.json", (
        ("problem", "layer", None), ("ours us:", "ours_us", 2), ("cuDNN's, in half, us:", "peer_us", 2),
        ("cuDNN / ours:", "ratio", 2), ("tile", "kernel", None))),
    "condconv": ("condconv.json", condconv),
    "block": ("block.json", (
        ("product", "layer", None), ("how many", "batch", None), ("ours us:", "ours_us", 1), ("TOPS:", "ours_tops", 1),
        ("cuBLASLt's batch us:", "peer_us", 1), ("its time / ours:", "ratio", 3),
        ("our whole kernels' us:", "whole_us", 1), ("their time / ours:", "whole_ratio", 3), ("floor us:", "floor_us", 1))),
    "local-filter": ("local-filter.json", (
        ("problem", "layer", None), ("bits of a weight:", "filter_bits", None), ("ours us:", "ours_us", 2), ("MB:", "mbytes", 1),
        ("share of a copy's rate:", "share_of_copy", 2), ("copy us:", "copy_us", 2, "newer"), ("copy / ours:", "copy_over_ours", 2, "newer"),
        ("tile", "kernel", None), ("status", "status", None))),
    "epilogue-costs": ("epilogue-costs.json", costs),
    "int4": ("epilogue-costs.json", int4),
    # Rows of these kinds alone, of a later commit: --kinds='zero point,filter'.
    "epilogue-zeros": ("epilogue-zeros.json", costs),
    "int4-filters": ("epilogue-zeros.json", int4),
    "epilogue-types": ("epilogue-types.json", types),
    "depthwise-zeros": ("epilogue-types.json", depthwise_zeros),
    "deconv-zeros": ("deconv.json", deconv_zeros),
    "lists-of-products": ("lists.json", (
        ("list", "layer", None), ("products:", "batch", None), ("ours us:", "ours_us", 1), ("TOPS:", "ours_tops", 1),
        ("cuBLASLt, a call each, us:", "peer_us", 1), ("its time / ours:", "ratio", 3), ("in 8 branches us:", "branched_us", 1),
        ("its time / ours:", "branched_ratio", 3), ("floor us:", "floor_us", 1), ("tile", "kernel", None), ("status", "status", None))),
}


def bench(name, result, table):
    """A table, and where it comes from."""
    columns = BENCHES[name][1]

    def cell(row, field, digits):
        value = row.get(field)
        return "-" if value is None else value if digits is None else f"{value:.{digits}f}"
    e = result["environment"]
    if callable(columns):
        text = columns(result, table)
    else:
        shown = [column[:3] for column in columns if len(column) == 3 or any(column[1] in row for row in result["rows"])]
        text = table(tuple(heading for heading, _, _ in shown),
                     [tuple(cell(row, field, digits) for _, field, digits in shown) for row in result["rows"]])
    where = ", ".join(str(e[key]) for key in ("device", "commit", "date") if e.get(key))
    return text + (f"\n{where}. {e['method'][0].upper()}{e['method'][1:]}.\n" if where else "")
