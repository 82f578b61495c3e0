#!/usr/bin/env python3
"""Lays out in a folder what another machine needs to compile the GPU code of programs by itself.

    perf/carry_sources.py BUILD OUT PROGRAM...      # perf/carry.sh --compile-there calls it

BUILD is a folder configured for Ninja; what g++ compiles of the programs is built in it, here. OUT gets those objects
and archives, the generated .cu, third-party headers and static libraries, a build.ninja that compiles with nvcc and
links, and build.sh, which runs it: in the root of the same checkout, with OUT beside it.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

HEADERS = ["absl", "gtest", "gmock", "nlohmann", "boost/context"]
ON_ANY_MACHINE = {"librt.a", "libpthread.a", "libdl.a", "libm.a"}  # of the C library
# For the kernels' tests, not for measuring: another g++ than this one may warn of more.
LEFT_OUT = [r" --compress-mode=\S+", r" -Werror all-warnings", r" -Xptxas=-Werror", r" -isystem=\S*/cuda\S*"]

SCRIPT = """#!/bin/bash
# build.sh [program]...: compiles what perf/carry.sh --compile-there brought, all of it without arguments, for
# WEFT_BUILD_S (480) seconds at most. What is finished then is in @out@/bin, for perf/run_h200.sh.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
export PATH=$PATH:/usr/local/cuda/bin
nvcc=$(readlink -f "$(command -v nvcc)") || { echo "build.sh: there is no nvcc"; exit 2; }
there=build/there_@out@  # not in @out@, which a second call brings anew
mkdir -p "$there" @out@/bin
cp -a @out@/build/. "$there"
echo "cuda = ${nvcc%/bin/*}" >"$there/toolkit.ninja"
timeout -k 5 "${WEFT_BUILD_S:-480}" ninja -C "$there" -k 0 -j "$(nproc)" "$@"
status=$?
find "$there/bin" "$there/tests" -maxdepth 1 -type f -executable -exec cp {} @out@/bin \\;
echo "build.sh: $(find @out@/bin -type f | wc -l) programs after $SECONDS s$([ $status -eq 0 ] || echo ", NOT ALL ($status)")"
exit $status
"""


class Step:
    """A command of the build: what it makes, and from which other commands' files."""

    def __init__(self, command):
        self.command = command
        archive = re.search(r" qc (\S+)", command)
        self.output = archive.group(1) if archive else re.search(r" -o (\S+)", command).group(1)
        self.nvcc = "/nvcc " in command
        self.compiles = " -c " in command
        self.inputs = []
        self.there = False


def read_steps(build, programs):
    """The commands of programs, in order. Those that take GPU code, directly or not, run on the other machine."""
    text = subprocess.run(["ninja", "-C", build, "-t", "commands", *programs], check=True, text=True,
                          capture_output=True).stdout
    steps = {}
    for line in text.splitlines():
        if line.startswith("ninja: "):
            continue
        step = Step(line)
        if not step.compiles:
            step.inputs = list(dict.fromkeys(word for word in line.split() if word in steps))
        step.there = step.nvcc or any(steps[i].there for i in step.inputs) or not (
            step.compiles or step.output.endswith(".a"))
        steps[step.output] = step
    return steps


def command_there(step, build, root, out, libraries):
    """The command as it runs in a folder two below the root."""
    text = step.command
    if step.nvcc:
        text = "nvcc -isystem=../../" + out + "/include" + text[text.index("/nvcc ") + len("/nvcc"):]
        for flag in LEFT_OUT:
            text = re.sub(flag, "", text)
    text = re.sub(r": && \S*/cmake -E rm -f (\S+)", r"rm -f \1", text)
    text = re.sub(r"(?<=\s)/usr/bin/(c\+\+|ar|ranlib)(?=\s)", lambda m: {"c++": "g++"}.get(m[1], m[1]), " " + text)[1:]
    text = text.replace(str(build) + "/", "").replace(str(root), "../..").replace("$", "$$")
    text = re.sub(r"/usr/local/cuda[^/\s]*/lib\S*/(?=lib\S+\.a)", "$cuda/targets/x86_64-linux/lib/", text)
    text = re.sub(r"/usr/local/cuda[^/\s]*", "$cuda", text)
    for path in sorted(set(re.findall(r"(?<=\s)/\S+\.a(?=\s|$)", text))):
        name = Path(path).name
        if name in ON_ANY_MACHINE:
            text = text.replace(path, "-l" + name[3:-2])
        else:
            libraries.add(path)
            text = text.replace(path, f"../../{out}/lib/{name}")
    return text


def ninja_file(commands, first, last=""):
    """commands: (step, its command where it runs)."""
    lines = ["# Made by perf/carry_sources.py.", first, "rule run", "  command = $command", "  description = $out",
             "rule compile", "  command = $command", "  description = $out", "  depfile = $out.d", "  deps = gcc"]
    for step, command in commands:
        source = source_of(command)
        inputs = [source] if source else step.inputs
        lines += [f"build {step.output}: {'compile' if source else 'run'} {' '.join(inputs)}", f"  command = {command}"]
    return "\n".join(lines + [last, ""])


def source_of(command):
    found = re.search(r" -c (\S+)", command)
    return found.group(1) if found else None


def main(build, out, programs):
    root = Path.cwd()
    build = Path(build).resolve()
    steps = read_steps(build, programs)
    # Not with the build's own file, where what g++ compiles waits for libraries that hold GPU code.
    here = [(s, s.command.replace("$", "$$")) for s in steps.values() if not s.there]
    needed = {i for s in steps.values() if s.there for i in s.inputs if not steps[i].there}
    (build / "here").mkdir(exist_ok=True)
    (build / "here.ninja").write_text(ninja_file(here, "builddir = here"))
    subprocess.run(["ninja", "-C", build, "-f", "here.ninja", *sorted(needed)], check=True)

    shutil.rmtree(out, ignore_errors=True)
    tree = Path(out) / "build"
    libraries = set()
    there = [(s, command_there(s, build, root, out, libraries)) for s in steps.values() if s.there]
    for step, command in there:
        (tree / step.output).parent.mkdir(parents=True, exist_ok=True)
        source = source_of(command)
        if source and not source.startswith(".."):  # generated
            needed.add(source)
    names = {o.split("/")[-1]: o for o in steps}
    last = [f"build {program}: phony {names[program]}" for program in programs] + ["default " + " ".join(programs)]
    (tree / "build.ninja").write_text(ninja_file(there, "include toolkit.ninja", "\n".join(last)))
    for folder in ("bin", "tests"):
        (tree / folder).mkdir(exist_ok=True)
    for path in needed:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / path, tree / path)
    (Path(out) / "lib").mkdir()
    for path in libraries:
        shutil.copy2(path, Path(out) / "lib")
    for folder in HEADERS:
        shutil.copytree(Path("/usr/include") / folder, Path(out) / "include" / folder)
    script = Path(out) / "build.sh"
    script.write_text(SCRIPT.replace("@out@", out))
    script.chmod(0o755)
    compiled = sum(s.nvcc for s in steps.values())
    print(f"{out}: {len(programs)} programs of {compiled} .cu files, {len(needed)} files of this build")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
