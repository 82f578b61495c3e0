"""choices.py: which variants of which files are kept, and that weft_perf's keys are met."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHOICES = Path(__file__).resolve().parents[2] / "perf" / "choices.py"


def result(date, peers, cudnn="9.19.0", **environment):
    libraries = ["cuBLASLt 13.1.0 (/lib/libcublasLt.so.13)", f"cuDNN {cudnn} (/lib/libcudnn.so.9)"]
    return {"environment": {"program": "weft_perf", "date": date, "libraries": libraries, **environment},
            "rows": [{"layer": "c4h8w8k8r1s1", "batch": 16, "peers": {p: {"best": v} for p, v in peers.items()}}]}


class ChoicesTest(unittest.TestCase):
    def run_on(self, files, *flags):
        with tempfile.TemporaryDirectory() as folder:
            for i, file in enumerate(files):
                (Path(folder) / f"{i}.json").write_text(json.dumps(file))
            return subprocess.run([sys.executable, "-B", CHOICES, "--results=" + folder, *flags], text=True,
                                  capture_output=True)

    def choices(self, files, *flags):
        run = self.run_on(files, *flags)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_the_newest_file_counts_whatever_its_name(self):
        new = result("2026-11-22 20:08 UTC", {"cudnn_nhwc": "cudnn_nhwc b"}, epilogue="bias_relu")
        old = result("2026-11-21 06:11 UTC", {"cudnn_nhwc": "cudnn_nhwc a", "cublaslt": "cublaslt #0"})
        self.assertEqual(self.choices([new, old]), {"n16c4h8w8k8r1s1 cublaslt": "cublaslt #0",
                                                  "n16c4h8w8k8r1s1 cudnn_nhwc": "cudnn_nhwc b"})

    def test_other_epilogues_are_other_choices_and_what_did_not_run_is_none(self):
        file = result("2026-11-22 20:08 UTC", {"cudnn_f16": "cudnn_f16 eng4", "cublaslt": ""}, epilogue="residual")
        self.assertEqual(self.choices([file]), {"n16c4h8w8k8r1s1 cudnn_f16+residual": "cudnn_f16 eng4"})

    def test_plans_of_another_cudnn_are_left_out(self):
        files = [result("2026-11-22 09:00 UTC", {"cudnn_nhwc": "of 9.14", "cublaslt": "#1"}, cudnn="9.14.0"),
                 result("2026-11-21 06:11 UTC", {"cudnn_nhwc": "of 9.19"}),
                 result("2026-11-22 20:08 UTC", {"cudnn_int8x4": "int8x4"})]
        lt = {"n16c4h8w8k8r1s1 cublaslt": "#1"}
        self.assertEqual(self.choices(files), {**lt, "n16c4h8w8k8r1s1 cudnn_int8x4": "int8x4",
                                             "n16c4h8w8k8r1s1 cudnn_nhwc": "of 9.19"})
        self.assertEqual(self.choices(files, "--cudnn=9.14.0"), {**lt, "n16c4h8w8k8r1s1 cudnn_nhwc": "of 9.14"})

    def test_other_files_are_passed_over_and_nothing_is_an_error(self):
        run = self.run_on([{"rows": []}, [1], {"environment": {"program": "gemm_bench"}}])
        self.assertEqual(run.returncode, 1)
        self.assertIn("has no results of weft_perf", run.stderr)

    def test_the_committed_results_have_every_anchor(self):
        run = subprocess.run([sys.executable, "-B", CHOICES], text=True, capture_output=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        graph = [key for key in json.loads(run.stdout) if key.split(" ", 1)[1] == "cudnn_graph"]
        self.assertGreaterEqual(len(graph), 75)


if __name__ == "__main__":
    unittest.main()
