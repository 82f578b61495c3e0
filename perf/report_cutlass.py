"""Our NCxHWx<32> times against CUTLASS's sm80 kernels over the same layout, for report.py."""

import math
import pathlib


def read(root):
    """perf/layers/cutlass_us.csv: (layer, batch) -> microseconds, measured in an earlier run."""
    path = pathlib.Path(root) / "perf/layers/cutlass_us.csv"
    if not path.exists():
        return {}
    lines = [line.split(",") for line in path.read_text().splitlines() if line and not line.startswith(("#", "layer,"))]
    return {(layer, int(n)): float(us) for layer, n, us in lines}


def ours_us(row):
    """The best NCxHWx<32> time of a row, or None."""
    layout = row.get("layouts", {}).get("nc32", {})
    return layout.get("time_us", layout.get("short_us"))


def table(results, cutlass):
    """One line for each batch."""
    text = ("| batch | layers | CUTLASS's time / ours, geometric mean | not slower on | slower on |\n"
            "| ---: | ---: | ---: | ---: | --- |\n")
    for result in results:
        batch = result["environment"]["batch"]
        ratios = [(cutlass[r["layer"], batch] / ours_us(r), r["layer"])
                  for r in result["rows"] if ours_us(r) and (r["layer"], batch) in cutlass]
        if not ratios:
            continue
        mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
        slower = sorted((ratio, layer) for ratio, layer in ratios if ratio < 1)
        text += (f"| {batch} | {len(ratios)} | {mean:.3f} | {len(ratios) - len(slower)} | "
                 f"{', '.join(f'{layer} {ratio:.2f}' for ratio, layer in slower) or 'none'} |\n")
    return text
