"""The tables of docs/rtc.md: what users of operators from strings wait for (rtc_times.py), and these operators beside the same ahead
of time (rtc_bench)."""
import json
import math

TIMES, KERNELS = "rtc-h200.json", "rtc-kernels-h200.json"
NAMES = {"simt": "`simt` over NCxHWx<4>", "mma_nhwc": "`mma_sm80` over NHWC", "wgmma": "`wgmma_sm90` over NCxHWx<32>"}
CALLS = (("python", "`op(x, w, out=y)`"), ("new_output", "`op(x, w)`"), ("torch", "`weft.torch.function(op)(x, w)`"))


def times(folder, table):
    """First calls of a policy in a new process, cold and warm, and the host's time of calls."""
    if not (folder / TIMES).exists():
        return None
    result = json.loads((folder / TIMES).read_text())
    first = [(NAMES[name], *(f"{states['cold'][key]:.2f}" for key in ("make_s", "run_s", "cpu_s")),
              f"{1e3 * (states['warm']['make_s'] + states['warm']['run_s']):.1f}") for name, states in result["first"].items()]
    calls = [(words, *(f"{result['calls'][f'{kind}_{name}_us']:.1f}" for name in NAMES)) for kind, words in CALLS
             if f"{kind}_simt_us" in result["calls"]]
    commit = result.get("commit")
    of = f"commit {commit}" if commit else f"calls at commit {result['calls_commit']}, compiling at an earlier one"
    return (table(("a policy that is new to a process", "cold, to make, s:", "first run, s:", "CPU s of both:", "warm, both, ms:"), first) + "\n"
            + table(("host's time of a call, us", *(f"{words}:" for words in NAMES.values())), calls)
            + f"\n{result['gpu']}, torch {result['torch']}, {of}. *Cold*: no cache holds it; *warm*: another process had "
            f"it compiled. Calls have bias and a scale for each channel.\n")


def kernels(folder, table):
    """A row for each policy, and what they come to."""
    if not (folder / KERNELS).exists():
        return None
    result = json.loads((folder / KERNELS).read_text())
    good = [row for row in result["rows"] if row["status"] == "ok"]
    lines = [(f"`{row['case']}`", row["layer"], f"{row['ahead_us']:.2f}", f"{row['run_time_us']:.2f}", f"{row['over_ahead']:.3f}",
              f"{row['mismatches']} of {row['bytes']:,}", f"{row['host_ahead_us']:.1f}", f"{row['host_run_time_us']:.1f}")
             for row in result["rows"] if "over_ahead" in row]
    failed = [f"`{row['case']}` {row['status']}" for row in result["rows"] if row["status"] != "ok"]
    ratios = [row["over_ahead"] for row in good]
    environment = result["environment"]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    return table(("policy", "layer", "nvcc, us:", "NVRTC, us:", "ratio:", "bytes that differ:", "host, nvcc, us:", "host, NVRTC, us:"), lines) + (
        f"\nGeometric mean of {len(ratios)} ratios {mean:.3f}, worst {max(ratios, default=math.nan):.3f}. "
        + (f"Not right or not run: {', '.join(failed)}. " if failed else "")
        + f"{environment['device']}, commit {environment['commit']}; `perf/rtc_bench/cases.def` has the policies, and *host* is the time of a call in C++.\n")
