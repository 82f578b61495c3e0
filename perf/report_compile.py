"""The tables of compile_times.py and build_costs.py: what nvcc takes for one operator, and what whole builds take."""

FILE = "compile-times.json"
FIELDS = {"instance": str, "gpu": str, "words": str, "kernels": int, "wall_s": (int, float), "user_s": (int, float),
          "system_s": (int, float), "load_each": list}
ENVIRONMENT = ("device", "processors", "nvcc", "commit", "date", "method")
WANTED_S = 10  # at most, of one product
BUILDS = "build-costs.json"
BUILD_FIELDS = {"words": str, "toolkit": bool, "cpu_s": (int, float), "commit": str}


def times(result, table):
    """One line for each operator, and which products take longer than is wanted."""
    e, rows = result["environment"], result["rows"]
    text = table(("operator", "for", "kernels:", "seconds:", "seconds of the CPU:", "load before:"),
                 [(r["words"], r["gpu"], r["kernels"], f"{r['wall_s']:.1f}", f"{r['user_s'] + r['system_s']:.1f}",
                   f"{max(r['load_each']):.1f}") for r in rows])
    products = [r for r in rows if not r["words"].startswith("convolution")]
    longer = [f"{r['words']} ({r['wall_s']:.1f} s)" for r in products if r["wall_s"] >= WANTED_S]
    text += (f"\nProducts in less than {WANTED_S} s, as is wanted: {len(products) - len(longer)} of {len(products)}"
             + (f"; not {', '.join(longer)}" if longer else "") + ".\n")
    return text + (f"\n{e['device']}, {e['processors']} processors, nvcc {e['nvcc']}; commit {e['commit']}, {e['date']}. "
                   f"{e['method'][0].upper()}{e['method'][1:]}.\n")


def builds(result, table):
    """One line for each build."""
    e, rows = result["environment"], result["rows"]
    text = table(("build", "CUDA toolkit", "seconds of the CPU:"),
                 [(r["words"], "with" if r["toolkit"] else "without", f"{r['cpu_s']:.0f}") for r in rows])
    commits = ", ".join(dict.fromkeys(r["commit"] for r in rows))
    return text + (f"\n{e['device']}, nvcc {e['nvcc']}; commit {commits}, {e['date']}. "
                   f"{e['method'][0].upper()}{e['method'][1:]}.\n")
