"""The table of perf/results/h200/gemm.json, for report.py."""

import json
import pathlib

FIELDS = {"layer": str, "kernel": str, "layout": str, "peer": str, "mismatches": int, "status": str}


def load(root, results):
    """The file as a list of one, or an empty list."""
    path = pathlib.Path(root) / results / "gemm.json"
    if not path.exists():
        return []
    result = json.loads(path.read_text())
    for row in result["rows"]:
        for field, kind in FIELDS.items():
            if not isinstance(row.get(field), kind):
                raise ValueError(f"{path}: row {row.get('layer')}: '{field}' is {row.get(field)!r}, not {kind}")
    return [result]


def number(row, field, digits=1):
    return f"{row[field]:.{digits}f}" if row.get(field) else "-"


def table(results):
    """One line for each kernel of ours."""
    result = results[-1]
    text = ("| product | A, B | ours us | TOPS | cuBLASLt's best us | its time / ours | its best on sm_80 kernels us | "
            "its time / ours | ours | status |\n"
            "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |\n")
    for row in result["rows"]:
        _, kind, size = row["layer"].split("_")
        tops = 2e-6 * int(size) ** 3 / row["ours_us"] if row["ours_us"] else 0
        layout = row["layout"].replace("-major A", "").replace("-major B", "")
        text += (f"| {kind} {size}^3 | {layout} | {number(row, 'ours_us')} | {tops:.1f} | {number(row, 'peer_us')} | "
                 f"{number(row, 'ratio', 3)} | {number(row, 'sm80_us')} | {number(row, 'sm80_ratio', 3)} | "
                 f"{row['kernel']} | {row['status'].replace('|', '/')} |\n")
    e = result["environment"]
    kernels = sorted({row[f] for row in result["rows"] for f in ("peer_kernels", "sm80_kernels") if row.get(f)})
    if kernels:
        text += "\ncuBLASLt's kernels: " + ", ".join(f"`{k}`" for k in kernels) + ".\n"
    return text + f"\n{e['device']}; commit {e['commit']}. {e['method'][0].upper()}{e['method'][1:]}.\n"
