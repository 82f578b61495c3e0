"""Tables of weft_perf's results: lists, layers, what reformats and energy come to, the machine."""

import report_page
from report_page import exact, geomean, good, ratios_of

INT8_CUDNN = ("cudnn_graph", "cudnn_nhwc", "cudnn_int8x4", "cudnn_int8x32")


def table(columns, rows):
    """Markdown; a column whose name ends in ':' is right-aligned."""
    return ("| " + " | ".join(c.removesuffix(":") for c in columns) + " |\n| "
            + " | ".join("---:" if c.endswith(":") else "---" for c in columns) + " |\n"
            + "".join("| " + " | ".join(str(cell).replace("|", "/") for cell in row) + " |\n" for row in rows))


def number(row, field, digits=1):
    return f"{row[field]:.{digits}f}" if row.get(field) is not None else "-"


def significant(value):
    """Three digits."""
    return "-" if value is None else f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def model_loss(rows):
    """What the tile that Dispatch takes without measuring loses to the best one, geometric mean over layers and layouts."""
    losses = [c["model_over_best"] for r in rows if good(r) for c in r.get("layouts", {}).values() if c.get("model_over_best")]
    return f"{geomean(losses):.2f}" if losses else "-"


def of_all(result):
    """Of how many layers, with those that are missing."""
    return len(result["rows"]) + result["environment"].get("not_run", 0)


def lists(by_list):
    """One line for each list of more than one layer, and batch."""
    lines = []
    for name, results in by_list.items():
        if max(map(of_all, results)) == 1:
            continue
        for result in results:
            rows = result["rows"]
            n = report_page.numbers(rows)
            layers = len(rows) if of_all(result) == len(rows) else f"{len(rows)} of {of_all(result)}"
            lines.append((name, result["environment"]["batch"], layers, exact(rows), n.geomean, n.won, n.span, n.over_floor,
                          model_loss(rows)))
    return table(("list", "N:", "layers:", "exact:", "peer / ours:", "not slower:", "from, to:", "ours / floor:", "model / best:"), lines)


def layers(results):
    """One line for each layer of a list, a pair of columns for each batch."""
    batches = [r["environment"]["batch"] for r in results]
    found = {(row["layer"], row["batch"]): row for result in results for row in result["rows"]}
    lines = []
    for layer in dict.fromkeys(layer for layer, _ in found):
        cells = []
        for batch in batches:
            row = found.get((layer, batch))
            if row is None:
                cells += ["", ""]
            elif not good(row):
                cells += [row["status"].split(":")[0], ""]
            else:
                cells += [significant(row["ours_us"]), significant(row["peer_us"] / row["ours_us"]) if "peer_us" in row else ""]
        lines.append((layer, *cells))
    columns = [column for batch in batches for column in (f"N = {batch}, us:", "ratio:")]
    if not any(ratios_of(result["rows"]) for result in results):  # nobody to compare with
        columns, lines = columns[::2], [(line[0], *line[1::2]) for line in lines]
    return table(("layer", *columns), lines)


def best(results):
    """One line for each layer and batch: the quickest of our layouts, and what the model's choice among its tiles loses."""
    lines = []
    for r in (row for result in results for row in result["rows"] if good(row)):
        model = next((c.get("model_over_best") for c in r.get("layouts", {}).values() if c.get("best") == r["kernel"]), None)
        lines.append((r["layer"], r["batch"], r["layout"], f"`{r['kernel']}`", significant(r["ours_us"]), significant(r["floor_us"]),
                      significant(model), significant(r.get("ratio"))))
    left = [of_all(result) - len(result["rows"]) for result in results]
    return table(("layer", "N:", "layout", "tile", "ours, us:", "floor, us:", "model / best:", "peer / ours:"), lines) + (
        f"\nOf each batch {max(left)} further layers of the list were not run.\n" if any(left) else "")


def copies(results):
    """Layers that move bytes: beside a copy of as many."""
    lines = [(r["layer"], r["batch"], number(r, "ours_us", 2), number(r, "copy_us", 2), number(r, "copy_over_ours", 2),
              number(r, "floor_us", 2), number(r, "peer_us", 2)) for result in results for r in result["rows"] if good(r)]
    return table(("layer", "N:", "ours, us:", "a copy, us:", "copy / ours:", "floor, us:", "cuDNN, us:"), lines)


def energy(by_list):
    """Where the clock was at the limit of power: joules of both sides, beside their times."""
    lines = {}
    for r in (row for results in by_list.values() for result in results for row in result["rows"]):
        if good(r) and "ours_joules" in r and "peer_joules" in r:
            of = lambda side: f"{1e12 * r[side + '_joules'] / r['operations']:.2f}"  # noqa: E731,B023
            lines[r["layer"], r["batch"]] = (
                r["layer"], r["batch"], number(r, "ours_us", 1), number(r, "ratio", 2), f"{r['peer_joules'] / r['ours_joules']:.2f}",
                of("ours"), of("peer"), number(r, "ours_watts", 0), number(r, "peer_watts", 0), r["clock_mhz"])
    return table(("layer", "N:", "ours, us:", "peer / ours:", "energy, peer / ours:", "ours, pJ:", "peer, pJ:",
                  "ours, W:", "peer, W:", "MHz:"), lines.values()) if lines else ""


def cudnn_us(row):
    """cuDNN's best int8 time in a row, or None."""
    times = [p.get("time_us", p.get("short_us")) for name, p in row.get("peers", {}).items() if name in INT8_CUDNN]
    return min((t for t in times if t), default=None)


def check(results, anchors):
    """cuDNN's best int8 answer in this run over that of perf/layers/anchors_us.csv."""
    lines = []
    for result in results:
        batch = result["environment"]["batch"]
        found = [(r["layer"], cudnn_us(r) / anchors[r["layer"], batch], anchors[r["layer"], batch])
                 for r in result["rows"] if cudnn_us(r) and anchors.get((r["layer"], batch), -1) > 0]
        above = [(layer, ratio) for layer, ratio, earlier in found if earlier > 10]
        outside = [f"{layer} {ratio:.2f}" for layer, ratio in above if not 0.9 <= ratio <= 1.1]
        lines.append((batch, len(found), f"{geomean([ratio for _, ratio, _ in found]):.3f}", len(above),
                      len(above) - len(outside), ", ".join(outside) or "none"))
    return table(("N:", "layers:", "now / then:", "above 10 us:", "within 10%:", "outside"), lines)


def cutlass(results, times):
    """Our NCxHWx<32> times against CUTLASS's sm80 kernels over the same layout."""
    lines = []
    for result in results:
        batch = result["environment"]["batch"]
        ours = {r["layer"]: r.get("layouts", {}).get("nc32", {}) for r in result["rows"]}
        ratios = [(times[layer, batch] / us, layer) for layer, c in ours.items()
                  if (us := c.get("time_us", c.get("short_us"))) and (layer, batch) in times]
        if not ratios:
            continue
        slower = [f"{layer} {ratio:.2f}" for ratio, layer in sorted(ratios) if ratio < 1]
        lines.append((batch, len(ratios), f"{geomean([r for r, _ in ratios]):.3f}", len(ratios) - len(slower),
                      ", ".join(slower) or "none"))
    return table(("N:", "layers:", "CUTLASS / ours:", "not slower:", "slower on"), lines) if lines else ""


def reformat(by_list):
    """What each side takes between tensors in NCxHWx<32>, over the layers of a list."""
    lines = []
    for name, results in by_list.items():
        for result in results:
            rows = [r for r in result["rows"] if good(r) and "ratio_with_reformat" in r and "ratio" in r]
            if rows:
                lines.append((name, result["environment"]["batch"], len(rows), f"{geomean([r['ratio'] for r in rows]):.2f}",
                              f"{geomean([r['ratio_with_reformat'] for r in rows]):.2f}"))
    return table(("list", "N:", "layers:", "peer / ours:", "with reformats:"), lines) if lines else ""


def first_layer(results):
    """The first layer into NCxHWx<32>: one operator against convolution and reformat."""
    lines = []
    for r in (row for result in results for row in result["rows"]):
        plain, one = r["layouts"].get("nc4", {}), r["layouts"].get("nc4_nc32", {})
        saved = "-"
        if plain.get("with_reformat_us") and one.get("time_us"):
            saved = f"{100 * (1 - one['time_us'] / plain['with_reformat_us']):.0f}%"
        lines.append((r["batch"], number(plain, "time_us", 2), number(plain, "with_reformat_us", 2),
                      number(one, "time_us", 2), saved))
    return table(("N:", "into NCxHWx<4>, us:", "and a reformat, us:", "into NCxHWx<32>, us:", "saved:"), lines)


def speed(named, chain):
    """For a reader in a hurry: the ratio of every kind of layers, a column for each batch. chain: a result of network_bench, or None."""
    batches = sorted({result["environment"]["batch"] for results in named.values() for result in results})
    lines = []
    for name, results in named.items():
        found = {r["environment"]["batch"]: ratios_of(r["rows"]) for r in results}
        lines.append((name, *(f"{geomean(found[n]):.2f}" if found.get(n) else "" for n in batches)))
    best = {}
    for r in (row for row in chain["rows"] if row.get("ratio")) if chain else ():
        best[r["batch"]] = max(best.get(r["batch"], 0), r["ratio"])
    if best:
        lines.append(("ResNet-50's 53 convolutions as one CUDA graph", *(f"{best[n]:.2f}" if n in best else "" for n in batches)))
    return table(("best peer's time / ours", *(f"N = {n}:" for n in batches)), lines)


def machine(results):
    """The GPU, the libraries and the ceilings, in a sentence each."""
    e = results[-1]["environment"]
    noise = sorted(r["noise"] for result in results for r in result["rows"] if "noise" in r)
    stated = f" A ratio's noise is {100 * noise[len(noise) // 2]:.1f}% (median of the rows)." if noise else ""
    libraries = ", ".join(report_page.libraries(e))
    return (f"Driver {e['driver']}, CUDA {e['cuda']}, {libraries}; {e.get('last_clock_mhz', '-')} MHz under load. Ceilings of the "
            f"run: a copy moves {e['copy_tb_s']} TB/s, int8 tensor cores reach {e.get('tensor_tops')} TOPS "
            f"({e.get('tensor_tops_source', 'not measured').split(':')[0]}), dp4a {e.get('dp4a_tops')} TOPS.{stated}\n")
