"""The tables of docs/networks.md: whole networks (networks.py), tensor operators beside copies (tensor_bench), and the chain of
ResNet-50's convolutions beside cuDNN's (network_bench)."""
import collections
import json
import math
import re

FILES = ("networks-h200.json", "networks-h200-small.json", "earlier/h200/networks-0bf17fb41f.json")
TENSORS = "tensors-h200.json"
LARGE = 56  # rows and columns from which an operator is held against a copy
WHOLE = ("resnet50_224_u8", "resnet18_224_u8", "vgg16_224_u8", "mobilenet_v2_224_u8", "mobilenet_v3_224_u8", "efficientnet_224_u8", "yolo_320_u8")


def networks(folder, table):
    """Of each network the time and the images a second, from the newest file that has it, and the best time of the same network by PyTorch in half."""
    rows, sources, torch = {}, [], ""
    for name in FILES:
        if not (folder / name).exists():
            continue
        result = json.loads((folder / name).read_text())
        sources.append(f"{result['commit']} (`{name}`)")
        for network in result["networks"]:
            if network["name"].startswith("placed"):  # random models, which are there for their bits
                continue
            bits = f"{network['differ']} of {network['outputs']}"
            if not network["times"]:  # of --bits
                rows.setdefault(network["name"], [(f"`{network['name']}`", *[""] * 7, bits, result["commit"])])
                continue
            rows.setdefault(network["name"], [
                (f"`{network['name']}`", time["batch"], "tuned" if "tuned_after_us" in time else "model's", f"{time['ms']:.3f}", f"{time['images_per_s']:,}", *peer(time), f"{time['arena_mb_per_image']:.2f}",
                 bits, result["commit"]) for time in network["times"]])
            if any("ratio" in time for time in network["times"]):
                torch = f" PyTorch {result['torch']}."
        gpu = result["gpu"]
    if not rows:
        return None
    order = {name: at for at, name in enumerate(WHOLE)}
    lines = [line for name in sorted(rows, key=lambda name: (order.get(name, len(order)), name)) for line in rows[name]]
    names = ["network", "N:", "tiles", "ms:", "images/s:", "torch half, ms:", "torch / ours:", "MB of arena an image:", "outputs that differ:", "commit"]
    note = ("*torch half* is the same network of floats by `torch.compile`, channels last, in a CUDA graph, in the fastest of the modes that were tried.")
    if not torch:  # nobody has measured a peer
        names, note = names[:5] + names[7:], ""
        lines = [line[:5] + line[7:] for line in lines]
    published = "MobileNet-V3 is the large one, EfficientNet B0" + (", YOLO YOLOv5s" if "yolo_320_u8" in rows else "")
    return table(names, lines) + (
        f"\n{gpu}, commits {', '.join(sources)}.{torch} The number behind a name is the rows of its images; of more than 64 the network is as it was "
        f"published ({published}), others are narrower. {note}".rstrip() + "\n")


def peer(time):
    """The peer's milliseconds and what it takes of ours."""
    if "ratio" not in time:
        return "", ""
    return f"{min(time['torch_half_ms'].values()):.3f}", f"{time['ratio']:.2f}"


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


def chain_of(folder, gpu):
    """network_bench's result on a GPU, such as h200; None without."""
    path = folder / f"chain-{gpu}.json"
    return json.loads(path.read_text()) if path.exists() else None


def chain(folder, table):
    """One line for each batch and format of our tensors."""
    result = chain_of(folder, "h200")
    if result is None:
        return None

    def number(row, field, digits):
        return f"{row[field]:,.{digits}f}" if row.get(field) is not None else "-"

    lines = [(r["batch"], r.get("layout", "-"), number(r, "ours_ms", 3), number(r, "ours_images_per_s", 0), number(r, "model_choice_ms", 3),
              number(r, "cudnn_ms", 3), number(r, "ratio", 2), number(r, "ratio_without_first", 2),
              r["mismatches"] if r["status"].startswith("ok") else r["status"]) for r in sorted(result["rows"], key=lambda r: r["batch"])]
    of = result["environment"]
    return table(("N:", "our tensors", "ours, ms:", "images/s:", "with the model's tiles, ms:", "cuDNN, ms:", "cuDNN / ours:", "without conv1:",
                  "wrong outputs:"), lines) + (
        f"\n{of['device']}, driver {of['driver']}, CUDA {of['cuda']}, {', '.join(of['libraries'])}, commit {of['commit']} (`chain-h200.json`).\n")
