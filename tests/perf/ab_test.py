"""ab.py with two programs of shell and known times: ratios, geomeans, failures."""
import json
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

AB = Path(__file__).resolve().parents[2] / "perf" / "ab.py"

FAKE = """#!/usr/bin/env python3
import json, sys
flags = dict(a[2:].split("=", 1) for a in sys.argv[1:])
assert flags["peer"] == "none"
for batch in flags["batch"].split(","):
    us = {us} * int(batch)
    row = {{"layer": flags["layer"], "batch": int(batch), "kernel": "t1", "status": "{status}", "ours_us": us,
           "layouts": {{"nc32": {{"tiles_us": {{"t1": us, "t2": 4 * us, "{own}": 1.0}}}}}}}}
    with open(flags["json"] + "/layers-n" + batch + ".json", "w") as file:
        json.dump({{"environment": {{"device": "X"}}, "rows": [row]}}, file)
"""


class AbTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, us, status="ok", own="both"):
        path = self.path / name
        path.write_text(FAKE.format(us=us, status=status, own=own))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def run_ab(self, *args):
        return subprocess.run([sys.executable, AB, *args], capture_output=True, text=True)

    def test_ratios(self):
        out = self.path / "ab.json"
        done = self.run_ab(self.program("a", 3.0, own="old"), self.program("b", 2.0, own="new"), "--layer=x,y",
                           "--batch=1,16", "--json=" + str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(out.read_text())
        self.assertEqual(len(result["rows"]), 4)
        self.assertEqual(result["rows"][1]["best"], {"a": 48.0, "b": 32.0})
        self.assertIn("| all | 4 | 1.5000 | 1.500", done.stdout)
        self.assertIn("| y | 16 | 48.00 | 32.00 | 1.500 | 1.500 | 1.500 | t1 |", done.stdout)
        self.assertIn("| nc32 t2 | 4 | 1.5000 |", done.stdout)
        self.assertIn("Only one program has: nc32 new, nc32 old.", done.stdout)
        again = self.run_ab("--table", str(out))
        self.assertEqual(again.stdout, done.stdout)

    def test_mismatch_and_crash_fail(self):
        good = self.program("a", 1.0)
        wrong = self.run_ab(good, self.program("b", 1.0, status="mismatch"), "--layer=x", "--batch=1")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("b: mismatch", wrong.stderr)
        gone = self.run_ab(good, str(self.path / "missing"), "--layer=x", "--batch=1")
        self.assertEqual(gone.returncode, 1)
        self.assertIn("No such file", gone.stderr)

    def test_bad_arguments_are_sentences(self):
        self.assertIn("does not exist", self.run_ab("a", "b", "--list=nothing").stderr)
        other = self.path / "other.json"
        other.write_text("[1]")
        self.assertIn("not a result of this program", self.run_ab("--table", str(other)).stderr)


if __name__ == "__main__":
    unittest.main()
