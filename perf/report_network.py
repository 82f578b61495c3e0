"""The table of perf/results/h200/<network>-network.json, for report.py."""

import json
import pathlib

FIELDS = {"batch": int, "mismatches": int, "status": str, "layers": list}


def load(root, results, network="resnet50"):
    """The file as a list of one, or an empty list."""
    path = pathlib.Path(root) / results / f"{network}-network.json"
    if not path.exists():
        return []
    result = json.loads(path.read_text())
    for row in result["rows"]:
        for field, kind in FIELDS.items():
            if not isinstance(row.get(field), kind):
                raise ValueError(f"{path}: batch {row.get('batch')}: '{field}' is "
                                 f"{row.get(field)!r}, not {kind}")
    return [result]


def number(row, field, form):
    return format(row[field], form) if field in row else "-"


def differences(row):
    if "output_differences" not in row:
        return "-"
    if row["output_differences"] == 0:
        return "none"
    return (f"{row['output_differences']} of {row['outputs']}, "
            f"by at most {row['output_largest_difference']}")


def table(results):
    """One line for each batch."""
    result = results[-1]
    text = ("| batch | ours ms | images/s | cuDNN ms | images/s | cuDNN / ours | without conv1 | the model's tiles ms | "
            "wrong outputs | differs from cuDNN's chain | status |\n"
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |\n")
    for row in sorted(result["rows"], key=lambda r: r["batch"]):
        text += (f"| {row['batch']} | {number(row, 'ours_ms', '.3f')} | "
                 f"{number(row, 'ours_images_per_s', '.0f')} | {number(row, 'cudnn_ms', '.3f')} | "
                 f"{number(row, 'cudnn_images_per_s', '.0f')} | {number(row, 'ratio', '.2f')} | "
                 f"{number(row, 'ratio_without_first', '.2f')} | "
                 f"{number(row, 'model_choice_ms', '.3f')} | {row['mismatches']} | {differences(row)} | "
                 f"{row['status'].replace('|', '/')} |\n")
    layers = [layer for row in result["rows"] for layer in row["layers"]]
    if layers:
        text += (f"\nActivations: {100 * min(l['zeros'] for l in layers):.0f}% to "
                 f"{100 * max(l['zeros'] for l in layers):.0f}% zeros, at most "
                 f"{100 * max(l['saturated'] for l in layers):.1f}% saturated in any layer.\n")
    e = result["environment"]
    return text + (f"\n{e['device']}, driver {e['driver']}, CUDA {e['cuda']}, "
                   f"{', '.join(l.split(' (')[0] for l in e['libraries'])}, {e['last_clock_mhz']} MHz under load; "
                   f"commit {e['commit']}, {e['date']}. {e['method'][0].upper()}{e['method'][1:]}.\n")
