#!/usr/bin/env python3
"""Measures what docs/performance.md and docs/performance_h100.md show, and goes on where an earlier call stopped.

    perf/measure.py              on the machine with the GPU: builds what is missing, measures what is missing, the
                                 most important first, until WEFT_LIMIT_S (570) seconds are over
    perf/measure.py --list       the steps: how many of their rows there are
    perf/measure.py --steps=anchors,residual    only these
    perf/measure.py --take=FOLDER                here: what came back in FOLDER goes into perf/results

All rows are of one commit, that of .carry/commit (perf/carry.sh). Rows of this commit, GPU and driver that
perf/results/<gpu> has are kept. Files are written after each row to build/measure/<gpu>; $OUT, if it is set, gets all
of them as one results.tar.gz after each step. It also gets the programs that were built, in pieces of 15 MB, which
--take puts into .carry: a later call, with .carry beside the checkout, does not build them again.
"""
import argparse
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import choices
import libraries

START = time.monotonic()
ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "perf" / "results"
KEPT = RESULTS  # where earlier rows are
OUTPUT = ROOT / "build" / "measure"
PROGRAMS = ROOT / "build" / "there" / "bin"
BUILD = ROOT / "perf" / "build_there.sh"
CARRY = ROOT / ".carry"
BATCHES = (1, 16, 64)
PIECE = 15 << 20          # bytes of a file that comes back
MOST_PROGRAMS = 30 << 20  # bytes of programs that come back: with the checkout they must travel again
TO_PACK_S = 20            # for the last files
TO_START_S = 25           # of a step: starting libraries, ceilings, and one row


class Step:
    """Some result files of one program. `files`: name -> how many rows are expected, 0 if that is not known."""

    def __init__(self, name, program, flags, files, seconds):
        self.name, self.program, self.flags, self.files, self.seconds = name, program, flags, files, seconds

    def command(self, folder, commit, left):
        """The program, for as long as there are `left` seconds."""
        flags = [f"--commit={commit}", f"--stop_after_s={max(left - TO_START_S, 1)}", "--resume", *self.flags]
        if self.program == "weft_perf":
            flags += [f"--json={folder}", f"--cache={folder}/choices", f"--threads={os.cpu_count()}"]
        else:
            flags += [f"--json={folder}/{next(iter(self.files))}.json"]
        return [self.program, *flags]

    def have(self, folder):
        """Rows of its files."""
        return sum(measured(folder / f"{name}.json") for name in self.files)

    def complete(self, folder):
        return all(measured(folder / f"{name}.json") >= max(rows, 1) and whole(folder / f"{name}.json")
                   for name, rows in self.files.items())


def read(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def is_measured(row):
    return not str(row.get("status", "ok")).startswith(("failed", "not run"))


def measured(path):
    return sum(map(is_measured, read(path).get("rows", [])))


def whole(path):
    """Nothing was left out for want of time."""
    file = read(path)
    return not file.get("environment", {}).get("not_run") and not any(
        str(r.get("status")).startswith("not run") for r in file.get("rows", []))


def layers_of(name, batch):
    """How many layers of perf/layers/<name>.txt are measured at a batch."""
    lines = [line.split()[0] for line in (ROOT / "perf/layers" / f"{name}.txt").read_text().splitlines()
             if line.strip() and not line.startswith("#")]
    return sum(not (own := re.match(r"n(\d+)c", line)) or int(own[1]) == batch for line in lines)


def weft_perf(name, lists, seconds, *flags, called=None):
    """The layers of lists at every batch, with the tiles that conv::Dispatch chooses from."""
    files = {f"{called or each}-n{n}": rows for each in lists for n in BATCHES if (rows := layers_of(each, n))}
    named = [f"--name={called}"] if called else []
    return Step(name, "weft_perf", [f"--list={','.join(lists)}", f"--batch={','.join(map(str, BATCHES))}", "--family",
                                    *named, *flags], files, seconds)


# The most important first; the seconds are what they took on an H200, or a guess.
STEPS = (
    weft_perf("anchors", ("anchors", "resnet50", "t4_17", "small_k", "reformat"), 190, "--tensors=nc32"),
    weft_perf("residual", ("resnet50",), 250, "--epilogue=residual", called="resnet50-residual"),
    weft_perf("hswish", ("resnet50",), 250, "--epilogue=hswish", called="resnet50-hswish"),
    weft_perf("nc4", ("anchors",), 60, "--layout=nc4", "--peer=cudnn_int8x4", called="anchors-nc4"),
    weft_perf("mobile1x1", ("mobile1x1", "eight"), 240),
    weft_perf("depthwise", ("depthwise",), 40),
    weft_perf("patches", ("patches",), 90),
    weft_perf("vgg16", ("vgg16",), 150),
    weft_perf("detection", ("detection",), 250),
    Step("condconv", "condconv_bench", [], {"condconv": 0}, 40),
    Step("deconv", "deconv_bench", [], {"deconv": 0}, 40),
    Step("fused", "fused_bench", [], {"fused": 0}, 40),
    Step("bottleneck", "bottleneck_bench", [], {"bottleneck": 0}, 40),
    Step("local", "local_bench", [], {"local-filter": 0}, 40),
    Step("block", "block_bench", [], {"block": 0}, 40),
    Step("lists", "list_bench", [], {"lists": 0}, 30),
    Step("costs", "epilogue_bench", [], {"epilogue-costs": 0}, 150),
    Step("gemm", "gemm_bench", ["--near=2",
                                "--sizes=4096,16x4096x4096,4096x16x4096,10240x4096x4096,8192"], {"gemm-grid": 0}, 500),
)


def environment():
    """For programs: the libraries of PyTorch's wheels, then those of the packages that were brought."""
    folders = [*libraries.folders(), str(ROOT / "build/there/packages/usr/lib/x86_64-linux-gnu")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders + [os.environ.get("LD_LIBRARY_PATH", "")]).strip(":"),
            "PATH": os.environ["PATH"] + ":/usr/local/cuda/bin"}


class Run:
    def __init__(self, limit):
        self.limit = limit
        self.commit = (CARRY / "commit").read_text().strip()
        name, self.driver = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True, text=True,
            capture_output=True).stdout.splitlines()[0].split(", ")
        self.gpu = name.split()[1].lower()  # h200 of "NVIDIA H200"
        self.folder = OUTPUT / self.gpu
        self.folder.mkdir(parents=True, exist_ok=True)
        self.built = False
        print(f"{name}, driver {self.driver}, commit {self.commit}", flush=True)

    def left(self):
        return self.limit - (time.monotonic() - START) - TO_PACK_S

    def keep(self):
        """Files of this commit, GPU and driver that came with the checkout; others of the folder go."""
        mine = lambda path: (lambda e: e.get("commit") == self.commit and e.get("driver", self.driver) == self.driver)(  # noqa: E731
            read(path).get("environment", {}))
        for path in self.folder.glob("*.json"):
            if not mine(path):
                path.unlink()
        for path in (KEPT / self.gpu).glob("*.json"):
            if mine(path) and measured(path) > measured(self.folder / path.name):
                shutil.copy2(path, self.folder)

    def write_choices(self):
        """Of each peer what was best in an earlier run here, else on another GPU."""
        wanted = {"cuDNN": libraries.cudnn() or None, "cuBLASLt": None}
        found, _ = choices.collect([KEPT], dict(wanted))
        found |= choices.collect([*KEPT.glob(f"**/{self.gpu}"), self.folder], wanted)[0]
        (self.folder / "choices").write_text(choices.text(found))

    def program(self, name):
        """Its path, built if need be; None if there is no time, or it cannot be built."""
        subprocess.run([BUILD], check=True)  # forgets programs of other commits, and unpacks libraries
        carried = CARRY / "programs" / self.commit / f"{name}.gz"
        if carried.exists() and not (PROGRAMS / name).exists():
            PROGRAMS.mkdir(parents=True, exist_ok=True)
            (PROGRAMS / name).write_bytes(gzip.decompress(carried.read_bytes()))
            (PROGRAMS / name).chmod(0o755)
        if (PROGRAMS / name).exists():
            return PROGRAMS / name
        print(f"building {name}", flush=True)
        built = subprocess.run([BUILD, name], check=False,
                               env={**os.environ, "WEFT_BUILD_S": str(max(int(self.left()), 1))})
        self.built |= built.returncode == 0
        return PROGRAMS / name if built.returncode == 0 else None

    def step(self, step):
        if self.left() < 2 * TO_START_S or (program := self.program(step.program)) is None or self.left() < 2 * TO_START_S:
            return
        print(f"##### {step.name}: {step.have(self.folder)} of {sum(step.files.values()) or '?'} rows", flush=True)
        _, *flags = step.command(self.folder, self.commit, self.left())
        with open(self.folder / f"{step.name}.log", "w") as log:
            began = time.monotonic()
            try:
                status = subprocess.run([program, *flags], env=environment(), stdout=log, stderr=subprocess.STDOUT,
                                        timeout=self.left(), check=False).returncode
            except subprocess.TimeoutExpired:
                status = "stopped"
        lines = (self.folder / f"{step.name}.log").read_text(errors="replace").splitlines()
        print("\n".join(line[:190] for line in lines[-6:]))
        print(f"{step.name}: {step.have(self.folder)} rows, {time.monotonic() - began:.0f} s, status {status}", flush=True)
        self.pack()

    def pack(self):
        """What there is so far."""
        if out := os.environ.get("OUT"):
            with tarfile.open(Path(out) / "results.tar.gz", "w:gz") as tar:
                tar.add(self.folder, self.gpu)

    def pack_programs(self):
        """What was built, weft_perf first, as far as it is not too much; in pieces."""
        if not os.environ.get("OUT") or not self.built:
            return
        whole_tar = io.BytesIO()
        with tarfile.open(fileobj=whole_tar, mode="w") as tar:
            for name in dict.fromkeys(step.program for step in STEPS if (PROGRAMS / step.program).exists()):
                subprocess.run(["strip", PROGRAMS / name], check=False, stderr=subprocess.DEVNULL)
                packed = gzip.compress((PROGRAMS / name).read_bytes(), 1)
                if whole_tar.tell() + len(packed) > MOST_PROGRAMS:
                    print(f"{name}, {len(packed) >> 20} MB, stays here")
                    continue
                member = tarfile.TarInfo(f"{self.commit}/{name}.gz")
                member.size = len(packed)
                tar.addfile(member, io.BytesIO(packed))
        data = whole_tar.getvalue()
        for i in range(0, len(data), PIECE):
            (Path(os.environ["OUT"]) / f"programs-{i // PIECE}").write_bytes(data[i:i + PIECE])


def measure(names, limit):
    run = Run(limit)
    if run.commit.endswith("-dirty"):
        print("measure.py: .carry/commit is of changes that are not committed; commit them and run perf/carry.sh",
              file=sys.stderr)
        return 2
    run.keep()
    run.write_choices()
    steps = [s for s in STEPS if not names or s.name in names]
    for step in steps:
        if not step.complete(run.folder):
            run.step(step)
    run.pack()
    run.pack_programs()
    missing = [s.name for s in steps if not s.complete(run.folder)]
    print(f"after {time.monotonic() - START:.0f} s " +
          (f"there are rows missing of {', '.join(missing)}: the same command again goes on" if missing else "all is measured"))
    return 1 if missing else 0


def unpack(tar, folder):
    """Debian 12's Python 3.11.2 has no filters yet; there it unpacks as it did before there were any."""
    tar.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def take(folder):
    """Unpacks results.tar.gz and the programs of a folder that came back. Files of other commits than theirs go."""
    with tarfile.open(folder / "results.tar.gz") as tar:
        unpack(tar, OUTPUT)
        gpus = {name.split("/")[0] for name in tar.getnames()}
    for gpu in gpus:
        new = {p.name: p for p in (OUTPUT / gpu).glob("*.json") if measured(p)}
        commits = {read(p)["environment"]["commit"] for p in new.values()}
        (RESULTS / gpu).mkdir(parents=True, exist_ok=True)
        for path in (RESULTS / gpu).glob("*.json"):
            if read(path).get("environment", {}).get("commit") not in commits:
                path.unlink()
        for path in new.values():
            shutil.copy2(path, RESULTS / gpu)
        print(f"perf/results/{gpu}: {len(new)} files of {', '.join(sorted(commits))}")
    if pieces := sorted(folder.glob("programs-*"), key=lambda p: int(p.name.split("-")[1])):
        shutil.rmtree(CARRY / "programs", ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(b"".join(p.read_bytes() for p in pieces))) as tar:
            unpack(tar, CARRY / "programs")
            print(f".carry/programs: {', '.join(tar.getnames())}")
    return 0


def show():
    for gpu in sorted(p.name for p in OUTPUT.glob("*") if p.is_dir()):
        for step in STEPS:
            print(f"{gpu}  {step.name:12} {step.have(OUTPUT / gpu):4} of {sum(step.files.values()) or '?':>4} rows, "
                  f"about {step.seconds} s in all: {', '.join(step.files)}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=lambda text: text.split(","), default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--take", type=Path)
    options = parser.parse_args()
    if unknown := set(options.steps) - {s.name for s in STEPS}:
        parser.error(f"no step {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in STEPS)}")
    if options.take:
        return take(options.take)
    return show() if options.list else measure(options.steps, float(os.environ.get("WEFT_LIMIT_S", 570)))


if __name__ == "__main__":
    sys.exit(main())
