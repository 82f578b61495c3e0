#!/usr/bin/env python3
"""What building Weft costs: seconds of the CPU of the demo, an install, a family, and the tests.

    perf/build_costs.py --ci=build/ci        everything; perf/results/build-costs.json
    perf/build_costs.py --only=install       what has that in its words; the other rows stay as they are

Each build is made from nothing, in a temporary folder and without ccache. A row has the seconds that processes spent on the CPU,
user and system, which other work on the machine hardly changes; on p idle processors a build takes about 1/p of that. Of a
family eight files, evenly spread, are compiled by the commands that CMake has for them, and the row has their mean times all
files; a file has up to four policies.

--ci=FOLDER takes what README's lines took from the logs of .ci/run, which runs them in a bare Debian: first without a CUDA
toolkit, then in the same folder with one, so that the second has only what is added. perf/report.py makes the table.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import compile_times
from compile_times import ROOT

OUTPUT = ROOT / "perf/results/build-costs.json"
METHOD = ("seconds of the CPU, user and system, of builds from nothing without ccache; of a family at most eight files "
          "of up to four policies are compiled, evenly spread, and their mean is multiplied by the number of files")
FAMILIES = ("S8Conv4SmallFamily", "S8Conv32SmallFamily", "S8ConvNhwcSmallFamily", "S8Conv4Family", "S8Conv32Family",
            "S8ConvNhwcFamily")
FAMILY_GPU = "90a-real"
SAMPLE = 8
LINES = {1: "the demo: README's first line", 2: "the tests, built and run: README's second line"}


def seconds(command, folder):
    """Of the CPU, of the command and all that it starts."""
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=said, stderr=said,
                                 env={**os.environ, "CCACHE_DISABLE": "1"})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            said.seek(0)
            raise RuntimeError(f"{said.read()}{shlex.join(map(str, command))}: exit status {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def install(build, jobs, cuda):
    """README's third line, but for the copying."""
    configure = ["cmake", "--preset", "default", "-B", build, "-DWEFT_TESTS=OFF", "-DWEFT_PROGRAMS=OFF", "-DWEFT_CCACHE=OFF",
                 f"-DWEFT_CUDA={'ON' if cuda else 'OFF'}"]
    return seconds(configure, ROOT) + seconds(["cmake", "--build", build, "-j", jobs], ROOT)


def policies_of(family):
    """As docs/tiles.md says, which is made of the tables of tiles."""
    row = re.search(rf"^\|[^|]*`{family}`[^|]*\| (\d+) \|$", (ROOT / "docs/tiles.md").read_text(), re.MULTILINE)
    return int(row[1])


def family(name, build):
    """Seconds of all its files, how many these are, and how many were compiled."""
    (build / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(costs LANGUAGES CXX CUDA)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_subdirectory({ROOT} weft EXCLUDE_FROM_ALL)
add_library(family OBJECT)
weft_add_family(family weft/conv/ready_made.hpp {policies_of(name)} "weft::conv::{name}<>")
""")
    seconds(["cmake", "-G", "Ninja", "-S", build, "-B", build / "build", "-DCMAKE_BUILD_TYPE=Release", "-DWEFT_CCACHE=OFF",
             f"-DCMAKE_CUDA_ARCHITECTURES={FAMILY_GPU}"], build)
    commands = [entry for entry in json.loads((build / "build/compile_commands.json").read_text())
                if re.match(r"CMakeFiles/family\w*\.dir/", shlex.split(entry["command"])[-1]) and entry["file"].endswith(".cu")]
    commands.sort(key=lambda entry: [int(n) for n in re.findall(r"\d+", entry["file"])])
    some = [commands[i * len(commands) // SAMPLE] for i in range(SAMPLE)] if len(commands) > SAMPLE else commands
    total = 0.0
    for entry in some:
        words = shlex.split(entry["command"])
        (pathlib.Path(entry["directory"]) / words[-1]).parent.mkdir(parents=True, exist_ok=True)
        total += seconds(words, entry["directory"])
    return total / len(some) * len(commands), len(commands), len(some)


def of_ci(folder):
    """Rows of what the logs of .ci/run say."""
    for machine, toolkit in ("cpu", False), ("cuda", True):
        for line, words in LINES.items():
            text = (folder / f"{machine}-line{line}.log").read_text()
            user, system = re.search(r"^CPU seconds of cmake: ([\d.]+) \+ ([\d.]+)", text, re.MULTILINE).groups()
            yield {"build": f"line {line}", "words": words + (", what a toolkit adds" if toolkit else ""), "toolkit": toolkit,
                   "cpu_s": round(float(user) + float(system), 1)}


def measured(options):
    for cuda in False, True:
        if options.only in "install":
            with tempfile.TemporaryDirectory() as build:
                yield {"build": "install", "words": "an install: README's third line", "toolkit": cuda,
                       "cpu_s": round(install(build, options.jobs, cuda), 1)}
    for name in FAMILIES:
        if options.only in f"family {name}":
            with tempfile.TemporaryDirectory() as build:
                cost, files, compiled = family(name, pathlib.Path(build))
            count = policies_of(name)
            yield {"build": name, "words": f"weft_add_family of {name}, {count} policies, for {FAMILY_GPU}", "toolkit": True,
                   "cpu_s": round(cost, 1), "policies": count, "files": files, "compiled": compiled}
    if options.ci:
        yield from of_ci(options.ci)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="builds with that in their words: install, family, or a family's name")
    parser.add_argument("--ci", type=pathlib.Path, help="the folder of .ci/run's logs")
    parser.add_argument("--jobs", default=os.cpu_count(), help="of one build at a time")
    parser.add_argument("--json", type=pathlib.Path, default=OUTPUT)
    options = parser.parse_args(arguments)
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        print("build_costs.py: no nvcc in PATH", file=sys.stderr)
        return 3
    rows = list(json.loads(options.json.read_text())["rows"]) if options.json.exists() else []
    environment = compile_times.environment(nvcc) | {"program": "build_costs.py", "method": METHOD}
    for row in measured(options):
        row["commit"] = environment["commit"]
        rows = [r for r in rows if (r["build"], r["toolkit"]) != (row["build"], row["toolkit"])] + [row]
        print(f"{row['cpu_s']:8.1f} s  {row['words']}, {'with' if row['toolkit'] else 'without'} a CUDA toolkit", flush=True)
        options.json.write_text(compile_times.text({"environment": environment, "rows": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
