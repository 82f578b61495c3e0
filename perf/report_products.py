"""Tables of gemm_bench: whole matrix products against cuBLASLt's."""

import statistics

FIELDS = {"layer": str, "kernel": str, "layout": str, "peer": str, "mismatches": int, "status": str}
ORDERS = {"row": "R", "column": "C"}


def named(row):
    """Element types and size of a row: gemm_f16_x_s8_over_f16_4096 is ("f16 x s8", "4096"), over the type of the instructions."""
    kind, size = row["layer"].removeprefix("gemm_").rsplit("_", 1)
    return kind.split("_over_")[0].replace("_", " "), size


def shape(size):
    return size.replace("x", " x ") if "x" in size else f"{size}^3"


def orders(row):
    """RC: A row-major, B column-major."""
    return "".join(ORDERS.get(part.split("-")[0], part) for part in row["layout"].split(", "))


def best(result):
    return [r for r in result["rows"] if r.get("best", True)]


def grid(result, table):
    """Every type and order, a line each, at several sizes: our best tile's time and the ratio."""
    rows = best(result)
    sizes = list(dict.fromkeys(named(r)[1] for r in rows))
    found = {(*named(r), orders(r)): r for r in sorted(rows, key=lambda r: r["status"] == "ok")}

    def cell(r):
        if r is None:
            return ""
        if r["status"] != "ok":
            return r["status"].split(":")[0]
        return f"{r['ours_us']:.1f} ({r['ratio']:.2f})" if r.get("ratio") else f"{r['ours_us']:.1f}"
    kinds = list(dict.fromkeys((named(r)[0], orders(r)) for r in rows))
    return table(("types", "A, B", *(f"{shape(size)}:" for size in sizes)),
                 [(kind, order, *(cell(found.get((kind, size, order))) for size in sizes)) for kind, order in kinds])


def types(result, table):
    """For each element type how the ratios of its sizes and orders lie."""
    found = {}
    for r in best(result):
        if r.get("ratio") and r["status"] == "ok":
            found.setdefault(named(r)[0], []).append((r["ratio"], f"{shape(named(r)[1])}, {orders(r)}"))
    return table(("types", "products:", "cuBLASLt / ours:", "least:", "of"),
                 [(kind, len(ratios), f"{statistics.geometric_mean(x for x, _ in ratios):.2f}", f"{min(ratios)[0]:.2f}", min(ratios)[1])
                  for kind, ratios in found.items()])
