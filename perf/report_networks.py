"""The tables of docs/networks.md: whole networks (networks.py) and tensor operators beside copies (tensor_bench)."""
import collections
import json
import math
import re

FILES = ("networks-h200.json", "networks-h200-small.json")
TENSORS = "tensors-h200.json"
LARGE = 56  # rows and columns from which an operator is held against a copy


def networks(folder, table):
    """Of each network the time and the images a second, from the newest file that has it."""
    rows, sources = {}, []
    for name in FILES:
        if not (folder / name).exists():
            continue
        result = json.loads((folder / name).read_text())
        sources.append(f"{result['commit']} (`{name}`)")
        for network in result["networks"]:
            rows.setdefault(network["name"], [
                (f"`{network['name']}`", time["batch"], f"{time['ms']:.3f}", f"{time['images_per_s']:,}", f"{time['arena_mb_per_image']:.2f}",
                 f"{network['differ']} of {network['outputs']}", result["commit"]) for time in network["times"]])
        gpu = result["gpu"]
    if not rows:
        return None
    lines = [line for name in sorted(rows, key=lambda name: (name != "resnet50_224_u8", name)) for line in rows[name]]
    return table(("network", "N:", "ms:", "images/s:", "MB of arena an image:", "outputs that differ:", "commit"), lines) + (
        f"\n{gpu}, commits {', '.join(sources)}. The number behind a name is the rows of its images; all but `resnet50_224_u8` are narrower than "
        "the published ones.\n")


def tensors(folder, table):
    """Of each kind of operator how many rows there are, and the rate of a copy of as many bytes over the operator's time."""
    if not (folder / TENSORS).exists():
        return None
    result = json.loads((folder / TENSORS).read_text())
    kinds = collections.defaultdict(list)
    for row in result["rows"]:
        found = re.match(r"(\w+) of \w+ (\w+) 64x\d+x(\d+)x\d+.* to (\w+) (\w+) [^,]*(, .*)?$", row["kernel"])
        if found is None or int(found[3]) < LARGE:
            continue
        moved = found[1] if found[1] != "convert" else "convert, another format" if found[2] != found[5] else "convert, another scale"
        kinds[moved + (found[6] or "")].append(row["copy_us"] / row["ours_us"])
    lines = [(f"`{kind}`" if "," not in kind else kind, len(shares), f"{math.exp(sum(map(math.log, shares)) / len(shares)):.2f}", f"{min(shares):.2f}")
             for kind, shares in sorted(kinds.items())]
    environment = result["environment"]
    return table(("operator", "rows:", "copy / operator, geometric mean:", "worst:"), lines) + (
        f"\n{environment['device']}, commit {environment['commit']}, uint8, N = 64, images of {LARGE} x {LARGE} and more, blocked formats and NHWC.\n")
