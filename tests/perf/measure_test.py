"""measure.py with programs of shell: it goes on where it stopped, and mixes no commits."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "perf"))
import measure  # noqa: E402

# Writes as many rows as the file $ROWS says, and its arguments.
PROGRAM = """#!/bin/bash
for a; do case $a in --json=*) json=${a#--json=};; --commit=*) commit=${a#--commit=};; esac; done
echo "$@" >>$SAID
rows=$(for ((i = 0; i < $(cat $ROWS); ++i)); do echo "$comma{\\"status\\": \\"ok\\"}"; comma=,; done)
echo "{\\"environment\\": {\\"commit\\": \\"$commit\\"}, \\"rows\\": [$rows]}" >$json
"""


class MeasureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        self.results, self.carry, self.out = root / "results", root / ".carry", root / "out"
        programs = root / "bin"
        for path in (self.results, self.carry, self.out, programs):
            path.mkdir()
        (self.carry / "commit").write_text("abc\n")
        self.script(programs / "one_bench", PROGRAM)
        self.script(programs / "two_bench", PROGRAM)
        self.script(programs / "build", f"#!/bin/bash\n[ $# = 0 ] || cp {programs}/one_bench {programs}/$1\n")
        self.script(programs / "nvidia-smi", "#!/bin/bash\necho NVIDIA H200, 580.1\n")
        self.said, self.rows = root / "said", root / "rows"
        self.rows.write_text("2")
        steps = (measure.Step("one", "one_bench", [], {"one": 2}, 1), measure.Step("two", "two_bench", ["--x"], {"two": 2}, 1))
        for name, value in (("RESULTS", self.results), ("KEPT", self.results), ("OUTPUT", root / "measure"), ("CARRY", self.carry),
                            ("PROGRAMS", programs), ("BUILD", programs / "build"), ("STEPS", steps)):
            patch = mock.patch.object(measure, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        environment = mock.patch.dict(os.environ, {"PATH": f"{programs}:{os.environ['PATH']}", "OUT": str(self.out),
                                                   "SAID": str(self.said), "ROWS": str(self.rows)})
        environment.start()
        self.addCleanup(environment.stop)

    def script(self, path, text):
        path.write_text(text)
        path.chmod(0o755)

    def measure(self, limit=600, names=()):
        self.said.write_text("")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            status = measure.measure(list(names), limit + measure.time.monotonic() - measure.START)
        return status, self.said.read_text().splitlines()

    def take(self):
        with contextlib.redirect_stdout(io.StringIO()):
            return measure.take(self.out)

    def test_measures_what_is_missing(self):
        self.rows.write_text("1")
        status, said = self.measure()
        self.assertEqual(status, 1)
        self.assertEqual(len(said), 2)
        self.assertIn("--commit=abc", said[0])
        self.assertTrue(said[1].endswith("two.json") and " --x " in said[1])
        self.rows.write_text("2")
        self.assertEqual(len(self.measure(names=["two"])[1]), 1)
        status, said = self.measure()
        self.assertEqual((status, len(said)), (0, 1))  # `one` alone
        self.assertEqual(self.measure(), (0, []))

    def test_goes_on_from_committed_results_of_this_commit(self):
        self.assertEqual(self.measure()[0], 0)
        self.take()
        self.assertEqual(sorted(p.name for p in (self.results / "h200").iterdir()), ["one.json", "two.json"])
        for path in measure.OUTPUT.glob("*/*"):
            path.unlink()
        self.assertEqual(self.measure(), (0, []))
        (self.carry / "commit").write_text("def\n")
        self.assertEqual(len(self.measure()[1]), 2)
        self.take()
        commits = {json.loads(p.read_text())["environment"]["commit"] for p in (self.results / "h200").iterdir()}
        self.assertEqual(commits, {"def"})

    def test_programs_come_back_and_are_not_built_again(self):
        (measure.PROGRAMS / "two_bench").unlink()
        with mock.patch.object(measure, "PIECE", 300):
            self.assertEqual(self.measure()[0], 0)
        self.assertGreater(len(list(self.out.glob("programs-*"))), 2)
        self.take()
        self.script(measure.BUILD, "#!/bin/bash\n[ $# = 0 ]\n")
        (measure.PROGRAMS / "two_bench").unlink()
        (measure.OUTPUT / "h200" / "two.json").unlink()
        (self.results / "h200" / "two.json").unlink()
        status, said = self.measure()
        self.assertEqual((status, len(said)), (0, 1))

    def test_without_time_nothing_starts(self):
        self.assertEqual(self.measure(limit=60), (1, []))

    def test_what_is_not_committed_is_not_measured(self):
        (self.carry / "commit").write_text("abc-dirty\n")
        self.assertEqual(self.measure()[0], 2)

    def test_every_step_has_its_layers(self):
        rows = {name: n for step in STEPS for name, n in step.files.items()}
        self.assertEqual((rows["anchors-n1"], rows["small_k-n16"], rows["resnet50-residual-n64"]), (25, 1, 23))
        self.assertNotIn("small_k-n1", rows)
        self.assertTrue(all(n for step in STEPS if step.program == "weft_perf" for n in step.files.values()))


STEPS = measure.STEPS

if __name__ == "__main__":
    unittest.main()
