"""run_there.sh with programs of shell: stages by name, its limit of time, what comes back."""
import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).resolve().parents[2] / "perf" / "run_there.sh"


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = Path(self.folder.name)
        self.there, self.out = root / "there", root / "out"
        self.out.mkdir()
        self.environment = {**os.environ, "WEFT_THERE": str(self.there), "OUT": str(self.out),
                            "WEFT_RESULTS": str(root / "results")}

    def program(self, name, text):
        (self.there / name).parent.mkdir(parents=True, exist_ok=True)
        (self.there / name).write_text("#!/bin/bash\n" + text)
        (self.there / name).chmod(0o755)

    def run_stages(self, *stages, **environment):
        return subprocess.run([RUN, *stages], text=True, capture_output=True, timeout=60,
                              env={**self.environment, **environment})

    def packed(self):
        with tarfile.open(self.out / "results.tar.gz") as tar:
            return {name.removeprefix("./") for name in tar.getnames()}

    def test_a_failure_is_in_the_summary_and_the_others_go_on(self):
        self.program("tests/gpu_a_test", "exit 3\n")
        self.program("tests/gpu_b_test", "echo PASSED\n")
        self.program("bin/weft_demo", "echo seen\n")
        run = self.run_stages("tests", "demo", WEFT_TESTS="gpu_a_test gpu_b_test")
        self.assertEqual(run.returncode, 1)
        self.assertIn("gpu_a_test FAILED (3)", run.stdout)
        self.assertRegex((self.out / "summary.txt").read_text(), r"tests +FAILED \(1\).*\ndemo +ok")
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["results.tar.gz", "summary.txt"])
        self.assertLessEqual({"tests.log", "demo.log"}, self.packed())
        self.assertEqual(self.run_stages("tests", WEFT_TESTS="gpu_b_test").returncode, 0)

    def test_the_limit_ends_a_stage_and_leaves_out_the_rest(self):
        self.program("bin/weft_demo", "sleep 30\n")
        self.program("tests/gpu_b_test", "echo PASSED\n")
        run = self.run_stages("demo", "tests", WEFT_LIMIT_S="13", WEFT_TESTS="gpu_b_test")
        self.assertEqual(run.returncode, 1)
        self.assertRegex((self.out / "summary.txt").read_text(), r"demo +FAILED \(124\).*\ntests +NOT RUN")
        self.assertIn("demo.log", self.packed())
        self.assertNotIn("tests.log", self.packed())

    def test_wrong_stages_run_nothing(self):
        run = self.run_stages("demo", "dmeo")
        self.assertEqual(run.returncode, 2)
        self.assertIn("no stage 'dmeo'; the stages are tests", run.stdout)

    def test_one_command(self):
        self.program("bin/weft_perf", 'echo "got $1"; exit 7\n')
        run = self.run_stages("--", str(self.there / "bin/weft_perf"), "--help")
        self.assertEqual(run.returncode, 7)
        self.assertIn("got --help", run.stdout)


if __name__ == "__main__":
    unittest.main()
