#!/usr/bin/env python3
"""The best variant of every peer on every layer of result files, as weft_perf's --cache takes them.

    perf/choices.py >choices                  # from all of perf/results
    perf/choices.py --results=FOLDER --cudnn=9.19.0

Plans of cuDNN and algorithms of cuBLASLt are named for one version of the library, and mean nothing or something
else to another: only files of the given versions count, if none is given those of the newest file. Of several files
with a layer the newest counts.
"""
import argparse
import json
import re
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


def version(environment, library):
    """'9.19.0' of 'cuDNN 9.19.0 (/path)', '' if the run did not open it."""
    for text in environment.get("libraries", []):
        if found := re.match(rf"{library} (\S+)", text):
            return found[1]
    return ""


def read_files(folders):
    """weft_perf's files below them, oldest first."""
    files = [json.loads(path.read_text()) for folder in folders for path in sorted(Path(folder).rglob("*.json"))]
    files = [f for f in files if isinstance(f, dict) and f.get("environment", {}).get("program") == "weft_perf"]
    return sorted(files, key=lambda f: f["environment"]["date"])


def choices_of(file):
    """(layer, batch, peer as weft_perf names the choice) -> variant."""
    epilogue = file["environment"].get("epilogue", "bias_relu")
    suffix = "" if epilogue == "bias_relu" else "+" + epilogue
    found = {}
    for row in file["rows"]:
        for peer, result in row.get("peers", {}).items():
            if result.get("best"):
                found[row["layer"], row["batch"], peer + suffix] = result["best"]
    return found


def collect(folders, wanted):
    """Of the files below folders. wanted: library -> version or None. Returns the choices and the versions that they are of."""
    files = read_files(folders)
    for library in wanted:
        if not wanted[library]:
            wanted[library] = next((v for f in reversed(files) if (v := version(f["environment"], library))), "")
    choices = {}
    for file in files:
        for key, variant in choices_of(file).items():
            library = "cuBLASLt" if "cublaslt" in key[2] else "cuDNN"
            if version(file["environment"], library) == wanted[library]:
                choices[key] = variant
    return choices, wanted


def text(choices):
    """As weft_perf reads them."""
    return json.dumps({f"n{batch}{layer} {peer}": variant for (layer, batch, peer), variant in choices.items()}, indent=0,
                      sort_keys=True) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=RESULTS)
    parser.add_argument("--cudnn", help="version, such as 9.19.0")
    parser.add_argument("--cublaslt")
    args = parser.parse_args()
    choices, versions = collect([args.results], {"cuDNN": args.cudnn, "cuBLASLt": args.cublaslt})
    if not choices:
        sys.exit(f"choices.py: {args.results} has no results of weft_perf with {versions}")
    print(text(choices), end="")
    print(f"{len(choices)} choices, " + ", ".join(f"{k} {v}" for k, v in versions.items()), file=sys.stderr)


if __name__ == "__main__":
    main()
