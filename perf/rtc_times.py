"""rtc_times.py RESULT.json: what a user of operators from strings waits for, on this machine's GPU.

cold: seconds from weft.Conv2d(...) of a policy that no cache holds to the end of its first run, in a new process, and the CPU
seconds of that. warm: the same in another new process, which finds the policy in the cache. calls: microseconds of the host for a
call, medians over rounds: python of an operator with out=, new_output without, torch of weft.torch.function(op). rtc_times.py calls
prints these alone.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import libraries

POLICIES = {
    "simt": dict(layout="nc4"),
    "mma_nhwc": dict(layout="nhwc"),
    "wgmma": dict(layout="nc32", tile="Wgmma112x64"),
}
PROBLEM = "n2c64h14w14k64r3s1p1"


def arrays(op):
    import torch
    torch.manual_seed(0)
    x = torch.randint(-128, 128, op.src_shape, dtype=torch.int8, device="cuda")
    w = op.pack(torch.randint(-128, 128, (64, 64, 3, 3), dtype=torch.int8, device="cuda"))
    return x, w, dict(bias=torch.ones(64, device="cuda"), alpha=torch.full((64,), 2.0**-9, device="cuda"))


def first(name):
    """Prints the seconds of a first call in this process."""
    import torch
    import weft
    torch.zeros(1, device="cuda")
    make = lambda: weft.Conv2d(PROBLEM, epilogue=weft.Epilogue(
        "struct Mine { float scale = 1.0f; constexpr float operator()(float x) const { return x > 0.0f ? x * scale : 0.0f; } };",
        output_scale=False), **POLICIES[name])
    probe = torch.randint(-128, 128, (1,), dtype=torch.int8, device="cuda")
    del probe
    begin, cpu, children = time.perf_counter(), time.process_time(), os.times()
    op = make()
    made = time.perf_counter()
    x, w, more = arrays(op)
    torch.cuda.synchronize()
    ready = time.perf_counter()
    op(x, w, **more)
    torch.cuda.synchronize()
    end = time.perf_counter()
    after = os.times()
    print(json.dumps(dict(make_s=made - begin, run_s=end - ready, cpu_s=time.process_time() - cpu
                          + after.children_user + after.children_system - children.children_user - children.children_system)))


def calls():
    import torch
    import weft
    import weft.torch as wt
    out = {}
    for name in POLICIES:
        op = weft.Conv2d(PROBLEM, **POLICIES[name])
        x, w, more = arrays(op)
        y = op(x, w, **more)
        run = wt.function(op)
        run(x, w, **more)
        for label, call in (("python", lambda: op(x, w, out=y, **more)), ("new_output", lambda: op(x, w, **more)),
                            ("torch", lambda: run(x, w, **more))):
            rounds = []
            for _ in range(15):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                for _ in range(100):
                    call()
                rounds.append((time.perf_counter() - begin) * 1e4)
            out[f"{label}_{name}_us"] = statistics.median(rounds)
    print(json.dumps(out))


def child(*words, cache):
    text = subprocess.run([sys.executable, __file__, *words], env=dict(os.environ, XDG_CACHE_HOME=cache), check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text.splitlines()[-1])


def main(path):
    import torch
    result = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "commit": libraries.commit(), "first": {}}
    for name in POLICIES:
        runs = {"cold": [], "warm": []}
        for _ in range(2):
            cache = tempfile.mkdtemp()
            runs["cold"].append(child("first", name, cache=cache))
            runs["warm"].append(child("first", name, cache=cache))
            shutil.rmtree(cache)
        result["first"][name] = {state: {key: min(run[key] for run in all_) for key in all_[0]} for state, all_ in runs.items()}
    result["calls"] = child("calls", cache=tempfile.mkdtemp())
    with open(path, "w") as file:
        json.dump(result, file, indent=1)
    print(json.dumps(result, indent=1))


if sys.argv[1] == "first":
    first(sys.argv[2])
elif sys.argv[1] == "calls":
    calls()
else:
    main(*sys.argv[1:])
