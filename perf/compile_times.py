#!/usr/bin/env python3
"""Times nvcc on single operators: the lines of perf/compile_times/instances.txt, each a file for one GPU.

    perf/compile_times.py                      all of them, three times each; perf/results/compile-times.json
    perf/compile_times.py --only=Wgmma --json=FILE --repetitions=1

A project of a user's is configured around the clone (perf/compile_times/CMakeLists.txt), with the nvcc of PATH and as Release;
its commands are run one at a time, without ccache, on a machine that should be quiet: a row has the CPU's time beside the
clock's, and the load average of before. Medians of each. perf/report.py makes the table.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = ROOT / "perf/compile_times"
METHOD = ("one nvcc command at a time, for one GPU, with the flags that weft_add_operators gives a user's Release build, without "
          "ccache; medians of the repetitions, of the clock's seconds and of the CPU's (user and system)")


def instances():
    """(name, GPU, words) of each line."""
    lines = [line.split(" ", 3) for line in (PROJECT / "instances.txt").read_text().splitlines() if re.match("[a-z]", line)]
    return [(name, f"sm_{gpu}", words) for _, gpu, name, words in lines]


def commands(build, nvcc):
    """Configures the project: for each instance the command of its file and where the object would go."""
    subprocess.run(["cmake", "-G", "Ninja", "-S", PROJECT, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                    f"-DCMAKE_CUDA_COMPILER={nvcc}"], check=True, stdout=subprocess.DEVNULL)
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if target := re.match(r"CMakeFiles/(\w+)\.dir/", words[-1]):  # of the project itself, not of Weft's folder
            found[target[1]] = words
    return found


def measured(command, folder):
    """Seconds of the clock, of the CPU, and the load average before."""
    load = os.getloadavg()[0]
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as said:  # remarks of ptxas
        child = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, env={**os.environ, "CCACHE_DISABLE": "1"})
        _, status, usage = os.wait4(child.pid, 0)  # with all that nvcc started
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            said.seek(0)
            raise RuntimeError(f"{said.read()}{shlex.join(command)}: exit status {child.returncode}")
    return wall, usage.ru_utime, usage.ru_stime, load


def kernels(path):
    """How many kernels an object has: the host's functions that stand for them (arch/cuda_launch.cuh)."""
    text = subprocess.run(["nm", "--defined-only", path], check=True, text=True, stdout=subprocess.PIPE).stdout
    return len(re.findall(r" [tTW] \w*on_cudaL?\d+EntryI\w*$", text, re.MULTILINE))


def row(name, gpu, words, command, folder, repetitions):
    (folder / command[-1]).parent.mkdir(parents=True, exist_ok=True)
    wall, user, system, load = zip(*(measured(command, folder) for _ in range(repetitions)))
    return {"instance": name, "gpu": gpu, "words": words, "kernels": kernels(folder / command[-1]),
            "wall_s": round(statistics.median(wall), 2), "user_s": round(statistics.median(user), 2),
            "system_s": round(statistics.median(system), 2), "wall_s_each": [round(x, 2) for x in wall],
            "user_s_each": [round(x, 2) for x in user], "load_each": [round(x, 2) for x in load]}


def environment(nvcc):
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    version = re.search(r"V(\d[\d.]*)", subprocess.run([nvcc, "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout)
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=10"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"program": "compile_times.py", "device": processor[1] if processor else "unknown processor",
            "processors": os.cpu_count(), "nvcc": version[1], "commit": commit, "date": f"{now:%Y-%m-%d %H:%M} UTC",
            "method": METHOD}


def text(result):
    """The file: a line for each row, as perf/support/json.cpp writes it."""
    rows = ",\n".join(json.dumps(row) for row in result["rows"])
    return f'{{\n"environment": {json.dumps(result["environment"], indent=1)},\n"rows": [\n{rows}\n]}}\n'


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="instances with that in their name")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "perf/results/compile-times.json")
    options = parser.parse_args(arguments)
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        print("compile_times.py: no nvcc in PATH", file=sys.stderr)
        return 3
    result = {"environment": environment(nvcc), "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        found = commands(build, nvcc)
        for name, gpu, words in instances():
            if options.only in name:
                result["rows"].append(row(name, gpu, words, found[re.sub(r"\W", "_", name)], build, options.repetitions))
                r = result["rows"][-1]
                print(f"{r['wall_s']:6.2f} s, CPU {r['user_s'] + r['system_s']:6.2f} s, load {max(r['load_each'])}  "
                      f"{gpu:6} {r['kernels']} kernels  {words}", flush=True)
    options.json.write_text(text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
