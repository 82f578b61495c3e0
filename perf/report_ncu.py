"""The table of the log that run_h200.sh's stage `ncu` writes: what kernels wait for."""

import re

STALL = "smsp__average_warps_issue_stalled_"
PIPE = "sm__pipe_tensor_op_imma_cycles_active.avg.pct_of_peak_sustained_active"
# Not what a warp waits for: to be chosen among those that are ready, and the issue itself.
NO_WAIT = ("selected", "not_selected")


def kernels(text):
    """One for each kernel: its layer, batch and what was measured, by the names of the log."""
    found = []
    layer = None
    for line in text.splitlines():
        words = line.split()
        if len(words) > 10 and re.fullmatch(r"c\d+h\d+\S*", words[0]):
            layer = words[:2]
        elif line.startswith("==PROF== Disconnected"):
            found.append({"layer": layer})
        elif found and len(words) >= 2 and re.fullmatch(r"[\d.,]+", words[-1]):
            name = words[0] if "__" in words[0] else " ".join(words[:-2])
            value = float(words[-1].replace(",", ""))
            # Of two that share a name the first: shares come before rates.
            found[-1].setdefault(name + (" TB/s" if "Tbyte/s" in words else " GB/s" if "Gbyte/s" in words else ""), value)
    return [k for k in found if k.get("Duration")]


def ncu(text, table):
    lines = []
    for k in kernels(text):
        stalls = {name[len(STALL):].removesuffix("_per_issue_active.ratio"): value for name, value in k.items()
                  if name.startswith(STALL)}
        total = sum(stalls.values())
        waits = sorted(((value, name) for name, value in stalls.items() if name not in NO_WAIT), reverse=True)
        rate = k.get("Memory Throughput TB/s") or k.get("Memory Throughput GB/s", 0) / 1000
        lines.append((k["layer"][0], k["layer"][1], f"{k['Duration']:.1f}", f"{rate:.2f}", f"{k[PIPE]:.0f}%",
                      f"{k['Issue Slots Busy']:.0f}%", f"{k['Achieved Occupancy']:.0f}%",
                      ", ".join(f"{name} {100 * value / total:.0f}%" for value, name in waits[:4])))
    return table(("layer", "batch:", "alone, cold, us:", "DRAM TB/s:", "tensor pipe:", "issue slots:", "warps:",
                  "of the warps' time, largest waits"), lines)
