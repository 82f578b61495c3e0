"""Tables of gemm_bench: whole matrix products against cuBLASLt's."""

import math
import statistics

FILES = ("gemm-wgmma", "gemm", "gemm-skinny", "gemm-f64", "gemm-c32", "gemm-c64", "gemm-streamed")
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
        lines.append((f"{kind} {shape(size)}", r["layout"].replace("-major A", "").replace("-major B", ""),
                      shown("ours_us", 1), f"{tops:.1f}", shown("peer_us", 1), shown("ratio", 3), shown("sm80_us", 1),
                      shown("sm80_ratio", 3), r["kernel"], r["status"]))
    text = table(("product", "A, B", "ours us:", "TOPS:", "cuBLASLt's best us:", "its time / ours:",
                  "its best on sm_80 kernels us:", "its time / ours:", "ours", "status"), lines)
    text += "\n" + table(("element types", "products:", "cuBLASLt's time / ours, geometric mean:", "worst:", "which"), by_type(rows))
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
