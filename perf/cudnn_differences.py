#!/usr/bin/env python3
"""cudnn_differences.py [--check]: the table of docs/cudnn_differences.md from the log of run_h200.sh's stage `cudnn`.

--check changes nothing and fails if the page does not hold what the committed log says.
"""
import collections
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "perf/results/h200/cudnn.log"
PAGE = ROOT / "docs/cudnn_differences.md"
BLOCK = re.compile(r"(<!-- weft:cudnn begin -->\n).*?(<!-- weft:cudnn end -->)", re.DOTALL)


def rows(text):
    """The log's "difference:" lines as dictionaries."""
    found = []
    for line in text.splitlines():
        if line.startswith("difference: "):
            found.append(dict(part.split("=", 1) for part in shlex.split(line[len("difference: "):])))
    return found


def table(text):
    """Markdown: one line for each call, problem and kind of numbers; plans that agree are counted."""
    groups = collections.OrderedDict()
    for row in rows(text):
        peer = "graph API, NHWC" if row["peer"].startswith("cudnn_graph") else "INT8x32, reordered by us"
        same = (peer, row["problem"], row["numbers"], *(row[k] for k in (
            "outputs", "ties", "differ", "differ_at_ties", "largest", "farthest_from_middle",
            "differ_from_fma")))
        groups[same] = groups.get(same, 0) + 1
    if not groups:
        raise SystemExit(f"{LOG}: no line begins with 'difference: '")
    lines = ["| cuDNN | plans | problem | scales | outputs | ties | differ | of those, ties | largest "
             "| farthest from the middle | differ from one fma |",
             "| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for same, plans in groups.items():
        peer, problem, numbers, outputs, ties, differ, at_ties, largest, farthest, fma = same
        lines.append(f"| {peer} | {plans} | `{problem}` | {numbers} | {outputs} | {ties} | {differ} | {at_ties} "
                     f"| {largest} | {farthest} | {fma} |")
    machine = text.splitlines()[0].strip()
    version = rows(text)[0]["cudnn"]
    return "\n".join(lines) + f"\n\n{machine.split(',')[0]}, driver {machine.split(',')[1].strip()}, cuDNN {version}.\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit(__doc__)
    page = PAGE.read_text()
    made, count = BLOCK.subn(lambda m: m.group(1) + table(LOG.read_text()) + m.group(2), page)
    if count != 1:
        raise SystemExit(f"{PAGE}: there is no one block weft:cudnn")
    if sys.argv[1:] == ["--check"]:
        if made != page:
            raise SystemExit(f"{PAGE} is stale: run perf/cudnn_differences.py")
    else:
        PAGE.write_text(made)


if __name__ == "__main__":
    main()
