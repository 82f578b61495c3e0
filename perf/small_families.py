#!/usr/bin/env python3
"""What the small ready-made families cost beside the whole ones, and what other tiles would, from measured times.

    build/cpu/bin/model_check --predictions=build/predictions.json perf/results/tiles/*.json \
        perf/results/h200/*.json perf/results/earlier/h200/families-n*.json
    perf/small_families.py build/predictions.json            # writes perf/results/small_families.json
    perf/small_families.py --search build/predictions.json   # and searches tiles anew, for a minute or two

Each row of times (a layer, a batch, an epilogue) is one choice. `dispatch` is the time of the model's choice among the small
family's tiles over that of its choice among the whole family's, which is what a user loses; `best` is the quickest of the small
family over the quickest of the whole. Geometric means, and the worst row. Held-out layers are those that the model was not
fitted to (model_check). The search begins with the tiles that any GPU needs, adds the best one until there are enough, and
then exchanges single tiles while that helps; it also begins with the family as it is. It sees perf/results/tiles alone
(`selection`). The page's run, perf/results/h200 (`page`), has other samples, which for NCxHWx<32> also helped to choose; nothing was ever
chosen by those of families-n*.json (`independent`), the list `anchors` again. `older` are the same ratios of the tiles that are not
for Hopper, by their times on the H200. `lost` are the rows of the independent run whose quickest tile of the small family takes at least
LOST times the whole one's. `least` is what the best choice of wgmma_sm90 tiles, beside the small family's others, would lose, had the
independent run itself chosen them: all sets of as many tiles are tried. `traded` are searched families of the same size with fewer
tiles for GPUs before Hopper.
"""
import argparse
import collections
import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "perf/results/small_families.json"
LAYOUTS = ("nc4", "nc32", "nhwc")
LISTS = ("anchors", "held out", "mobile1x1")  # what the search counts
SIZES = range(6, 9)
LOST = 1.15
Row = collections.namedtuple("Row", "times best chosen")  # times: tile -> (predicted, measured)


def commits():
    """Of the times."""
    chosen = {source["commit"][:10] for path in (ROOT / "perf/results/tiles").glob("*.json")
              for source in json.loads(path.read_text())["sources"] if path.stem != "products"}
    of = lambda name: json.loads((ROOT / "perf/results" / name).read_text())["environment"]["commit"]
    return {"selection_commits": sorted(chosen), "page_commit": of("h200/anchors-n1.json"),
            "independent_commit": of("earlier/h200/families-n1.json")}


def list_of(path):
    name = pathlib.Path(path).stem.removesuffix("-nc4").split("-n")[0].replace("-nc4", "")
    return "anchors" if name == "families" else name


def source_of(file):
    return "selection" if "results/tiles/" in file else "independent" if "families-n" in file else "page"


def lost(path):
    """Rows of the independent run whose quickest tile of the small family takes at least LOST times the whole one's."""
    found = []
    for file, layout, layer, batch, *_, tiles in json.loads(pathlib.Path(path).read_text()):
        tiles = [tile for tile in tiles if tile[1]]
        inside = [tile for tile in tiles if tile[2]]
        if source_of(file) == "independent" and layout in LAYOUTS and inside:
            best, small = (min(pool, key=lambda t: t[3]) for pool in (tiles, inside))
            if small[3] >= LOST * best[3]:
                found.append({"layout": layout, "layer": layer, "batch": batch, "small": small[0], "small_us": small[3], "best": best[0],
                              "best_us": best[3], "ratio": round(small[3] / best[3], 3)})
    return sorted(found, key=lambda row: (row["layout"], -row["ratio"]))


def least(rows, tiles):
    """The set of as many wgmma_sm90 tiles as `tiles` has that loses least beside its others, of all such sets."""
    names = sorted({name for row in rows for name in row.times if name.startswith("wgmma")})
    others = [tile for tile in tiles if not tile.startswith("wgmma")]
    loss = lambda row, name: math.log(row.times[name][1] / row.best) if name in row.times else math.inf
    beside = [min(loss(row, name) for name in others) for row in rows]
    of_tile = [[loss(row, name) for row in rows] for name in names]

    def best_set(first, size, losses):
        """(sum of losses, indices) of the best `size` tiles from `first` on, beside tiles that lose `losses`."""
        if size == 0:
            return sum(losses), ()
        return min((total, (i, *more)) for i in range(first, len(names) - size + 1)
                   for total, more in [best_set(i + 1, size - 1, list(map(min, losses, of_tile[i])))])

    total, chosen = best_set(0, len(tiles) - len(others), beside)
    return {"policies": len(tiles), "sets": math.comb(len(names), len(chosen)), "best": round(math.exp(total / len(rows)), 3),
            "tiles": [*others, *(names[i] for i in chosen)]}


def read(path):
    """(layout, 'selection', 'page', 'independent' or 'older') -> list -> rows; and layout -> the small family's tiles."""
    groups, small = collections.defaultdict(lambda: collections.defaultdict(list)), collections.defaultdict(set)
    for file, layout, _, batch, _, held_out, tiles in json.loads(pathlib.Path(path).read_text()):
        if layout not in LAYOUTS:
            continue
        tiles = [tile for tile in tiles if tile[1]]
        small[layout] |= {tile[0] for tile in tiles if tile[2]}
        source = source_of(file)
        for kind, pool in ((source, tiles), ("older", [t for t in tiles if not t[0].startswith(("wgmma", "gather"))])):
            if not pool or (kind == "older" and (source != "selection" or len(pool) < 3)):
                continue
            row = Row({t[0]: (t[4], t[3]) for t in pool}, min(t[3] for t in pool), min(pool, key=lambda t: t[4])[3])
            for name in [list_of(file)] + (["held out"] if held_out else []):
                groups[layout, kind][name].append(row)
                groups[layout, kind][f"{name}, N = {batch}"].append(row)
    return groups, small


def costs(rows, tiles):
    """Means and worst; rows none of whose times is of these tiles (they take it, but it was not measured) are counted."""
    dispatch, best, over_best = [], [], []
    for row in rows:
        there = [row.times[tile] for tile in tiles if tile in row.times]
        if there:
            chosen = min(there)[1]
            dispatch.append(math.log(chosen / row.chosen))
            over_best.append(math.log(chosen / row.best))
            best.append(math.log(min(us for _, us in there) / row.best))
    if not dispatch:
        return None
    mean = lambda logarithms: round(math.exp(sum(logarithms) / len(logarithms)), 3)
    return {"rows": len(rows), "unmeasured": len(rows) - len(dispatch), "dispatch": mean(dispatch),
            "dispatch_worst": round(math.exp(max(dispatch)), 3), "best": mean(best), "dispatch_over_best": mean(over_best)}


def search(groups, fixed, size, there):
    """The tiles of a family of that size, and what the search minimises: the worst list's mean, and a share of the others'."""
    rows = {name: groups[name] for name in LISTS if name in groups}
    names = sorted({tile for of in rows.values() for row in of for tile in row.times})

    def cost(tiles):
        found = [costs(of, tiles) for of in rows.values()]
        if None in found:
            return math.inf
        means = [math.log(c["dispatch"]) + c["unmeasured"] / c["rows"] for c in found]
        return max(means) + 0.3 * sum(means) / len(means)

    def exchanged(tiles):
        while True:
            moves = [(cost([*tiles[:i], n, *tiles[i + 1:]]), i, n)
                     for i in range(len(fixed), size) for n in names if n not in tiles]
            least, i, n = min(moves, default=(math.inf, 0, ""))
            if least >= cost(tiles) - 1e-6:
                return cost(tiles), tiles
            tiles[i] = n

    tiles = list(fixed)
    while len(tiles) < size:
        tiles.append(min((n for n in names if n not in tiles), key=lambda n: cost([*tiles, n])))
    starts = [tiles] + ([[*fixed, *sorted(there - set(fixed))]] if len(there) == size else [])
    least, tiles = min(exchanged(start) for start in starts)
    return sorted(tiles), round(least, 4)


def text(result):
    lines = lambda rows: ",\n".join(json.dumps(row) for row in rows)
    return (f'{{"environment": {json.dumps(result["environment"])},\n"rows": [\n{lines(result["rows"])}],\n'
            f'"searched": [\n{lines(result["searched"])}],\n"lost": [\n{lines(result["lost"])}],\n'
            f'"least": [\n{lines(result["least"])}],\n"traded": [\n{lines(result["traded"])}]}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predictions")
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--json", type=pathlib.Path, default=OUTPUT)
    args = parser.parse_args()
    groups, small = read(args.predictions)
    result = {"environment": {"program": "small_families.py", "device": "NVIDIA H200", **commits(),
                              "tiles": {layout: sorted(small[layout]) for layout in LAYOUTS}}, "rows": [], "searched": [], "lost": lost(args.predictions), "least": [],
              "traded": []}
    for (layout, kind), lists in sorted(groups.items()):
        for name, rows in sorted(lists.items()):
            if found := costs(rows, small[layout]):
                result["rows"].append({"layout": layout, "times": kind, "list": name, **found})
    for layout in LAYOUTS if args.search else ():
        # What any GPU and any problem needs, as far as it was measured.
        fixed = sorted(t for t in small[layout] if layout != "nc4" and not t.startswith("wgmma"))
        for size in SIZES:
            if size - (layout == "nhwc") > len(fixed):  # over NHWC, of loads of 4 bytes, is not in these times
                tiles, cost = search(groups[layout, "selection"], fixed, size - (layout == "nhwc"), small[layout])
                result["searched"].append({"layout": layout, "policies": size, "cost": cost, "fixed": fixed, "tiles": tiles} | {
                    name: costs(groups[layout, "selection"][name], tiles) for name in LISTS})
    if args.search:
        result["least"].append({"layout": "nc32", "list": "anchors",
                                **least(groups["nc32", "independent"]["anchors"], sorted(small["nc32"]))})
        for without in ([], ["mma_32x32x256_16x32_s4"], ["mma_32x32x256_16x32_s4", "mma_128x64x64_64x32_s4"]):
            fixed = sorted(t for t in small["nc32"] if not t.startswith("wgmma") and t not in without)
            tiles, _ = search(groups["nc32", "selection"], fixed, len(small["nc32"]), small["nc32"])
            result["traded"].append({"layout": "nc32", "list": "anchors", "without": without, "tiles": tiles} | {
                kind: costs(groups["nc32", kind]["anchors"], tiles) for kind in ("independent", "older")})
    elif args.json.exists():
        result |= {name: json.loads(args.json.read_text()).get(name, []) for name in ("searched", "least", "traded")}
    args.json.write_text(text(result))
    for row in result["rows"]:
        if row["list"] in LISTS or row["times"] == "older":
            print(*(f"{value}" for value in row.values()), sep="  ")


if __name__ == "__main__":
    main()
