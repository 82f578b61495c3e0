"""Tables of fused_bench and deconv_bench: a row for each problem, ours beside one other way."""

FIELDS = {"layer": str, "kernel": str}

# Of a table: its file, and for each column its heading (a colon: to the right), its field and its digits.
BENCHES = {
    "depthwise-pointwise": ("fused.json", (
        ("problem", "layer", None), ("one kernel us:", "ours_us", 2), ("two kernels us:", "two_us", 2),
        ("depthwise us:", "depthwise_us", 2), ("1x1 us:", "pointwise_us", 2), ("two / one:", "ratio", 2),
        ("floor us:", "floor_us", 2), ("tile", "kernel", None))),
    "deconv": ("deconv.json", (
        ("problem", "layer", None), ("ours us:", "ours_us", 2), ("cuDNN's, in half, us:", "peer_us", 2),
        ("cuDNN / ours:", "ratio", 2), ("tile", "kernel", None))),
}


def bench(name, result, table):
    """One line for each row of the result file."""
    columns = BENCHES[name][1]

    def cell(row, field, digits):
        value = row.get(field)
        return "-" if value is None else value if digits is None else f"{value:.{digits}f}"
    e = result["environment"]
    text = table(tuple(heading for heading, _, _ in columns),
                 [tuple(cell(row, field, digits) for _, field, digits in columns) for row in result["rows"]])
    where = ", ".join(str(e[key]) for key in ("device", "commit", "date") if e.get(key))
    return text + (f"\n{where}. {e['method'][0].upper()}{e['method'][1:]}.\n" if where else "")
