"""run_h200.sh with programs of shell: stages by name, its limit of time, what comes back."""
import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).resolve().parents[2] / "perf" / "run_h200.sh"


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = Path(self.folder.name)
        self.bin, self.out = root / "carry" / "bin", root / "out"
        self.bin.mkdir(parents=True)
        self.out.mkdir()
        (root / "carry" / "commit").write_text("abc123\n")
        self.environment = {**os.environ, "WEFT_CARRY": str(root / "carry"), "OUT": str(self.out),
                            "WEFT_RESULTS": str(root / "results"), "WEFT_CHOICES": "none",
                            "WEFT_GRID_KEPT": str(root / "kept.json")}

    def program(self, name, text):
        (self.bin / name).write_text("#!/bin/bash\nfor a; do case $a in --json=*) json=${a#--json=};; esac; done\n" + text)
        (self.bin / name).chmod(0o755)

    def run_stages(self, *stages, **environment):
        return subprocess.run([RUN, *stages], text=True, capture_output=True, timeout=60,
                              env={**self.environment, **environment})

    def packed(self):
        with tarfile.open(self.out / "results.tar.gz") as tar:
            return {name.removeprefix("./") for name in tar.getnames()}

    def test_stages_by_name_and_few_files(self):
        self.program("deconv_bench", 'echo "$@"; echo {} >$json\n')
        self.program("weft_perf", 'echo "$@"; for n in 1 16; do echo {} >$json/anchors-n$n.json; done\n')
        run = self.run_stages("deconv", "perf", WEFT_LIST="anchors")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("--commit=abc123", run.stdout)
        self.assertIn("--list=anchors --tensors=nc32", run.stdout)
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["results.tar.gz", "summary.txt"])
        self.assertLessEqual({"deconv.json", "deconv.log", "perf.log", "anchors-n1.json", "anchors-n16.json"},
                             self.packed())

    def test_a_failure_is_in_the_summary_and_the_others_go_on(self):
        self.program("gpu_a_test", "exit 3\n")
        self.program("gpu_b_test", "echo PASSED\n")
        self.program("block_bench", "echo {} >$json\n")
        run = self.run_stages("tests", "block")
        self.assertEqual(run.returncode, 1)
        self.assertIn("gpu_a_test FAILED (3)", run.stdout)
        self.assertRegex((self.out / "summary.txt").read_text(), r"tests +FAILED \(1\).*\nblock +ok")
        self.assertEqual(self.run_stages("tests", WEFT_TESTS="gpu_b_test").returncode, 0)

    def test_the_limit_ends_a_stage_and_leaves_out_the_rest(self):
        self.program("fused_bench", "echo half >$json; sleep 30\n")
        self.program("block_bench", "echo {} >$json\n")
        run = self.run_stages("fused", "block", WEFT_LIMIT_S="13")
        self.assertEqual(run.returncode, 1)
        self.assertRegex((self.out / "summary.txt").read_text(), r"fused +FAILED \(124\).*\nblock +NOT RUN")
        self.assertIn("fused.json", self.packed())
        self.assertNotIn("block.json", self.packed())

    def test_the_grid_goes_on_from_where_it_was(self):
        self.program("gemm_bench", 'echo "$@"; [ ! -f $json ] || cat $json; echo "rows of $(date +%N)" >>$json\n')
        self.assertIn("--resume --skip=Streamed --nosm80 --near=2 --stop_after_s=", self.run_stages("grid").stdout)
        again = self.run_stages("grid", WEFT_GRID_SIZES="64,128", WEFT_GRID_NEAR="0")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertRegex(again.stdout, r"--near=0 --stop_after_s=\d+ --sizes=64,128\nrows of")
        self.assertIn("gemm-grid.json", self.packed())

    def test_wrong_stages_run_nothing(self):
        run = self.run_stages("deconv", "decnov")
        self.assertEqual(run.returncode, 2)
        self.assertIn("no stage 'decnov'; the stages are tests", run.stdout)

    def test_one_command(self):
        self.program("weft_perf", 'echo "got $1"; exit 7\n')
        run = self.run_stages("--", str(self.bin / "weft_perf"), "--help")
        self.assertEqual(run.returncode, 7)
        self.assertIn("got --help", run.stdout)


if __name__ == "__main__":
    unittest.main()
