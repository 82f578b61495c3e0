"""Tables of gemm_bench: whole matrix products against cuBLASLt's."""

import math
import statistics

GRID = "gemm-grid"
FILES = ("gemm-wgmma", "gemm", "gemm-skinny", "gemm-f64", "gemm-c32", "gemm-c64", "gemm-streamed", "gemm-batch", GRID, "gemm-grid-turned")
LEAST = 0.85  # of cuBLASLt's time over ours, wanted of every product
FIELDS = {"layer": str, "kernel": str, "layout": str, "peer": str, "mismatches": int, "status": str}


def named(row):
    """Element types and size of a row: gemm_f16_x_s8_over_f16_4096 is ("f16 x s8", "4096"), over the type of the instructions."""
    kind, size = row["layer"].removeprefix("gemm_").rsplit("_", 1)
    return kind.split("_over_")[0].replace("_", " "), size


def shape(size):
    return size.replace("x", " x ") if "x" in size else f"{size}^3"


def by_type(rows):
    """For each element type how the ratios of its sizes and layouts lie, in a sentence each."""
    found = {}
    for r in rows:
        if r.get("ratio"):
            found.setdefault(named(r)[0], []).append((r["ratio"], f"{shape(named(r)[1])}, {r['layout']}"))
    return [(kind, len(ratios), f"{statistics.geometric_mean(x for x, _ in ratios):.3f}", f"{min(ratios)[0]:.3f}", min(ratios)[1])
            for kind, ratios in found.items()]


def orders(row):
    return row["layout"].replace("-major A", "").replace("-major B", "")


def grid(result, table):
    """Every type and order, a line each, at several sizes: our best tile's time and the ratio."""
    rows = [r for r in result["rows"] if r.get("best", True)]
    sizes = list(dict.fromkeys(named(r)[1] for r in rows))
    found = {(*named(r), orders(r)): r for r in sorted(rows, key=lambda r: r["status"] == "ok")}

    def cell(r):
        if r is None:
            return "-"
        if r["status"] != "ok":
            return r["status"].split(":")[0]
        return f"{r['ours_us']:.1f} ({r['ratio']:.3f})" if r.get("ratio") else f"{r['ours_us']:.1f}"
    kinds = list(dict.fromkeys((named(r)[0], orders(r)) for r in rows))
    text = table(("type", "A, B", *(f"{shape(size)}:" for size in sizes)),
                 [(kind, order, *(cell(found.get((kind, size, order))) for size in sizes)) for kind, order in kinds])
    good = [r for r in found.values() if r["status"] == "ok"]
    text += "\n" + types(good, table)
    ratios = [r["ratio"] for r in good if r.get("ratio")]
    e = result["environment"]
    enough = sum(x >= LEAST for x in ratios)
    bad = sum(r["status"] not in ("ok", "not run: no time was left") for r in result["rows"])
    return text + (
        f"\nIn a cell our best tile's us and, in parentheses, cuBLASLt's time over it: {LEAST} or more in {enough} of "
        f"{len(ratios)}. Without a time of ours: {len(found) - len(good)} of {len(found)} products; wrong or failed: {bad} "
        f"tiles. Tiles: {e.get('tiles', 'all')}.\n"
        f"\n{e['device']}; commit {e['commit']}. {e['method'][0].upper()}{e['method'][1:]}.\n")


def render(name, result, table):
    return grid(result, table) if name.startswith(GRID) else products(result, table)


def types(rows, table):
    return table(("element types", "products:", "cuBLASLt's time / ours, geometric mean:", "worst:", "which"), by_type(rows))


def products(result, table):
    """One line for each product's best kernel of ours; for each kernel of files that name no best."""
    lines = []
    rows = [r for r in result["rows"] if r.get("best", True)]
    for r in rows:
        kind, size = named(r)
        extents = [int(x) for x in size.split("x")] * (1 if "x" in size else 3)
        operations = 8 if kind in ("c32", "c64") else 2  # of a product of two elements, and its sum
        tops = 1e-6 * operations * math.prod(extents) / r["ours_us"] if r.get("ours_us") else 0

        def shown(field, digits, r=r):
            return f"{r[field]:.{digits}f}" if r.get(field) else "-"
        lines.append((f"{kind} {shape(size)}", orders(r),
                      shown("ours_us", 1), f"{tops:.1f}", shown("peer_us", 1), shown("ratio", 3), shown("sm80_us", 1),
                      shown("sm80_ratio", 3), r["kernel"], r["status"]))
    text = table(("product", "A, B", "ours us:", "TOPS:", "cuBLASLt's best us:", "its time / ours:",
                  "its best on sm_80 kernels us:", "its time / ours:", "ours", "status"), lines)
    text += "\n" + types(rows, table)
    if over := [r["model_over_best"] for r in rows if r.get("model_over_best")]:
        text += (f"\nThe tile that `gemm::Dispatch` chooses without measuring takes {statistics.geometric_mean(over):.3f} "
                 f"times the best one's time (geometric mean of {len(over)} products), {max(over):.3f} at most.\n")
    if full := [f"{' '.join(named(r))} {r['full_us']:.1f} us ({r['full_ratio']:.3f})" for r in rows if r.get("full_ratio")]:
        text += f"\nWith sums in float cuBLASLt takes (its time / ours): {', '.join(full)}.\n"
    kernels = sorted({r[f] for r in result["rows"] for f in ("peer_kernels", "sm80_kernels", "full_kernels") if r.get(f)})
    if kernels:
        text += "\ncuBLASLt's kernels: " + ", ".join(f"`{k}`" for k in kernels) + ".\n"
    e = result["environment"]
    method = e["method"]
    return text + f"\n{e['device']}; commit {e['commit']}. {method[0].upper()}{method[1:]}.\n"
