#!/usr/bin/env python3
"""Times of tiles out of result files of weft_perf and gemm_bench, in a compact file that model_check reads.

    perf/tile_times.py perf/results/tiles/anchors.json anchors-*.json

The file has, for each layout, the names of its tiles and a row [layer, batch, epilogue, microseconds of each tile] for
each layer or product; null where a tile did not run. Files may have different tiles of a row; of a tile that several have, the
last one counts. All files must be of one GPU.
"""
import json
import sys

KEPT = ("list", "batch", "epilogue", "commit", "date", "driver", "cuda", "max_clock_mhz", "method")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    output, inputs = sys.argv[1], sys.argv[2:]
    sources, devices, rows = [], set(), {}
    for path in inputs:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        environment = result["environment"]
        devices.add(environment["device"])
        sources.append({key: environment[key] for key in KEPT if key in environment})
        for row in result["rows"]:
            if "family" in row and "ours_us" in row:  # of gemm_bench: a row is one tile
                key = (row["layer"], row["batch"], "sums")
                rows.setdefault(row["family"], {}).setdefault(key, {})[row["kernel"]] = row["ours_us"]
            for layout, ours in (row.get("layouts") or {}).items():
                if ours.get("tiles_us"):
                    key = (row["layer"], row["batch"], environment["epilogue"])
                    rows.setdefault(layout, {}).setdefault(key, {}).update(ours["tiles_us"])
    if len(devices) != 1:
        sys.exit(f"tile_times.py: the files are of {sorted(devices)}, not of one GPU")
    methods = {source.pop("method", "") for source in sources}
    parts = []
    for layout, of in rows.items():
        tiles = list(dict.fromkeys(name for times in of.values() for name in times))
        lines = [json.dumps([*key, [times.get(name) for name in tiles]], separators=(",", ":"))
                 for key, times in of.items()]
        parts.append(f'"{layout}": {{"tiles": {json.dumps(tiles)}, "rows": [\n' + ",\n".join(lines) + "]}")
    with open(output, "w", encoding="utf-8") as file:
        file.write(f'{{"device": "{devices.pop()}", "methods": {json.dumps(sorted(methods))}, "sources": [\n')
        file.write(",\n".join(json.dumps(source) for source in sources))
        file.write('],\n"layouts": {' + ",\n".join(parts) + "}}\n")


if __name__ == "__main__":
    main()
