#!/usr/bin/env python3
"""Compares two builds of weft_perf, or of gemm_bench, tile by tile and interleaved.

    perf/ab.py OLD/weft_perf NEW/weft_perf --list=anchors --batch=1,16,64 --json=ab.json --markdown=ab.md
    perf/ab.py OLD/gemm_bench NEW/gemm_bench --sizes=4096,16x4096x4096 --json=ab.json
    perf/ab.py --table ab1.json ab2.json      # the Markdown of results that are there

For each layer, or size of a product, the two programs take turns: A B, B A, A B, ... Every turn is a process of its
own that measures the layer's batches without peers, or the products of that size, and checks every tile. A tile's time
is the median of its turns'; `best` is weft_perf's long measurement of the row's best tile, of the layout that was
fastest, and the fastest tile of gemm_bench. Ratios are A / B: above 1, B is faster.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def layers_of(lists):
    names = []
    for name in lists.split(","):
        path = ROOT / "layers" / (name + ".txt")
        if not path.exists():
            sys.exit(f"ab.py: {path} does not exist")
        for line in path.read_text().splitlines():
            words = line.split("#")[0].split()
            if words and words[0] not in names:
                names.append(words[0])
    return names


def measure(command):
    """Runs one turn of one program, whose last argument names files in a {folder}: (row, environment) of each row that it
    wrote there, or a string that says why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        command = command[:-1] + [command[-1].format(folder=folder)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        results = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
        rows = [(row, result["environment"]) for result in results for row in result["rows"]]
        return rows or f"{command[0]} returned {done.returncode} and no rows: {done.stdout.strip()[-300:]}"


def convolutions(binary, layer, args):
    """{(layer, batch): row} of one turn of a weft_perf."""
    found = measure([binary, "--layer=" + layer, "--batch=" + args.batch, "--peer=none", *args.args.split(),
                     "--json={folder}"])
    if isinstance(found, str):
        return found
    return {(layer, row["batch"]): {**row, "environment": environment} for row, environment in found}


def products(binary, size, args):
    """{(product, batch): row} of one turn of a gemm_bench, which writes a row for each tile: rows as weft_perf's."""
    found = measure([binary, "--sizes=" + size, *args.args.split(), "--json={folder}/products.json"])
    if isinstance(found, str):
        return found
    rows = {}
    for tile, environment in found:
        name = f"{tile['layer']}, {tile['layout']}"
        elements = tile["layer"].removeprefix("gemm_").rsplit("_", 1)[0]
        row = rows.setdefault((name, tile["batch"]), {"environment": environment, "status": "ok", "kernel": "none",
                                                      "ours_us": None, "layouts": {"": {"tiles_us": {}}}})
        if tile["status"] != "ok":
            row["status"] = f"{tile['kernel']}: {tile['status']}"
            continue
        row["layouts"][""]["tiles_us"][f"{elements} {tile['kernel']}"] = tile["ours_us"]
        if row["ours_us"] is None or tile["ours_us"] < row["ours_us"]:
            row["ours_us"], row["kernel"] = tile["ours_us"], tile["kernel"]
    return rows


def median(values):
    values = [v for v in values if v]
    return round(statistics.median(values), 3) if values else None


def collect(layer, batch, turns):
    """The row of one layer and batch from {"a": [row...], "b": [row...]}."""
    row = {"layer": layer, "batch": batch, "best": {}, "kernel": {}, "tiles": {}, "bad": []}
    for side, rows in turns.items():
        row["best"][side] = median([r.get("ours_us") for r in rows])
        kernels = [r["kernel"] for r in rows]
        row["kernel"][side] = max(sorted(set(kernels)), key=kernels.count) if kernels else "none"
        row["bad"] += sorted({f"{side}: {r['status']}" for r in rows if not r["status"].startswith("ok")})
        times = {}
        for r in rows:
            for layout, contender in r["layouts"].items():
                for tile, us in contender.get("tiles_us", {}).items():
                    times.setdefault(f"{layout} {tile}".strip(), []).append(us)
        for tile, samples in times.items():
            row["tiles"].setdefault(tile, {})[side] = median(samples)
    return row


def ratio(pair):
    return pair["a"] / pair["b"] if pair.get("a") and pair.get("b") else None


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def markdown(rows):
    """Layers, then tiles; above each table what it comes to."""
    best = [(ratio(r["best"]), r) for r in rows if ratio(r["best"])]
    tiles = {}  # name -> [(ratio, row)]
    for row in rows:
        for tile, pair in row["tiles"].items():
            if ratio(pair):
                tiles.setdefault(tile, []).append((ratio(pair), row))
    if not best:
        return "No row was measured by both programs.\n"
    place = lambda r: f"{r['layer']}, N = {r['batch']}"
    text = "Ratios are A / B: above 1, B is faster.\n\n"
    text += "| N | layers | best tile: geomean | worst | all tiles: geomean | worst |\n| --- | --- | --- | --- | --- | --- |\n"
    for batch in sorted({r["batch"] for r in rows}) + ["all"]:
        some = [(x, r) for x, r in best if batch in (r["batch"], "all")]
        every = [(x, r, t) for t, pairs in tiles.items() for x, r in pairs if batch in (r["batch"], "all")]
        if not some or not every:
            continue
        least, tile = min(some, key=lambda p: p[0]), min(every, key=lambda p: p[0])
        text += (f"| {batch} | {len(some)} | {geomean([x for x, _ in some]):.4f} | {least[0]:.3f} ({place(least[1])}) "
                 f"| {geomean([x for x, _, _ in every]):.4f} | {tile[0]:.3f} ({tile[2]}, {place(tile[1])}) |\n")
    text += "\n| layer | N | A us | B us | A / B | tiles: geomean | worst | kernel of B |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    for value, row in best:
        each = [ratio(p) for p in row["tiles"].values() if ratio(p)] or [float("nan")]
        text += (f"| {row['layer']} | {row['batch']} | {row['best']['a']:.2f} | {row['best']['b']:.2f} | {value:.3f} "
                 f"| {geomean(each):.3f} | {min(each):.3f} | {row['kernel']['b']} |\n")
    text += "\n| tile | rows | geomean | worst |\n| --- | --- | --- | --- |\n"
    for tile, pairs in tiles.items():
        least = min(pairs, key=lambda p: p[0])
        text += f"| {tile} | {len(pairs)} | {geomean([x for x, _ in pairs]):.4f} | {least[0]:.3f} ({place(least[1])}) |\n"
    single = sorted({t for r in rows for t, pair in r["tiles"].items() if not ratio(pair)} - set(tiles))
    if single:
        text += "\nOnly one program has: " + ", ".join(single) + ".\n"
    for row in rows:
        for bad in row["bad"]:
            text += f"\n{place(row)}: {bad}.\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="A, then B")
    parser.add_argument("--table", nargs="+", metavar="JSON", help="results to show, instead of measuring")
    parser.add_argument("--list", default="anchors", help="layer lists of perf/layers/")
    parser.add_argument("--layer", help="layers by name, instead of lists")
    parser.add_argument("--sizes", help="products of two builds of gemm_bench, such as 4096,16x4096x4096")
    parser.add_argument("--filter", default="", help="a regular expression that layers' names contain")
    parser.add_argument("--batch", default="1,16,64")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each program on each layer")
    parser.add_argument("--limit_s", type=float, default=540, help="start no further layer after so many seconds")
    parser.add_argument("--json", help="file to write after each layer")
    parser.add_argument("--markdown", help="file for the tables, which otherwise are printed")
    parser.add_argument("--args", default="", help="more flags for both programs, such as '--layout=nc32'")
    args = parser.parse_args()
    rows, failures, start = [], [], time.time()
    if args.table:
        try:
            rows = [row for path in args.table for row in json.loads(Path(path).read_text())["rows"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"ab.py: not a result of this program: {error}")
    elif len(args.programs) != 2:
        parser.error("give two programs, or --table")
    else:
        sides = dict(zip("ab", (os.path.abspath(p) for p in args.programs)))
        one = products if args.sizes else convolutions
        layers = (args.sizes or args.layer or "").split(",") if args.sizes or args.layer else layers_of(args.list)
        layers = [layer for layer in layers if re.search(args.filter, layer)]
        result = {"a": {"program": sides["a"]}, "b": {"program": sides["b"]}, "rounds": args.rounds, "rows": rows}
        for number, layer in enumerate(layers):
            if time.time() - start > args.limit_s:
                failures.append(f"not measured, --limit_s: {' '.join(layers[number:])}")
                break
            turns = {}
            for turn in range(args.rounds):
                for side in "ab" if turn % 2 == 0 else "ba":
                    found = one(sides[side], layer, args)
                    if isinstance(found, str):
                        failures.append(f"{layer}: {found}")
                        continue
                    for key, row in found.items():
                        result[side]["environment"] = row.pop("environment")
                        turns.setdefault(key, {"a": [], "b": []})[side].append(row)
            for name, batch in sorted(turns):
                rows.append(collect(name, batch, turns[name, batch]))
                value = ratio(rows[-1]["best"])
                print(f"{name:28} {batch:4}  {f'{value:.3f}' if value else 'failed'}", file=sys.stderr)
            if args.json:
                Path(args.json).write_text(json.dumps(result, indent=1) + "\n")
    text = markdown(rows)
    if args.markdown:
        Path(args.markdown).write_text(text)
    else:
        print(text, end="")
    failures += [f"{row['layer']}, N = {row['batch']}: {bad}" for row in rows for bad in row["bad"]]
    for failure in failures:
        print("ab.py: " + failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
