"""Tests of the table of matrix products in perf/report.py."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))
import report  # noqa: E402

PAGE = "<!-- weft:perf gemm begin -->\n<!-- weft:perf gemm end -->\n"
ROW = {"layer": "gemm_s8_4096", "kernel": "mma", "layout": "row-major A, column-major B", "ours_us": 200.0,
       "peer_us": 100.0, "peer": "cublasLt", "ratio": 0.5, "sm80_us": 180.0, "sm80_ratio": 0.9,
       "sm80_kernels": "sm80_x", "mismatches": 0, "status": "ok"}


class GemmReport(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / report.RESULTS).mkdir(parents=True)
        (self.root / "README.md").write_text(PAGE)

    def write(self, *rows):
        environment = {"device": "H200", "commit": "abc", "method": "how"}
        path = self.root / report.RESULTS / "gemm.json"
        path.write_text(json.dumps({"environment": environment, "rows": list(rows)}))

    def run_report(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return report.main([*arguments, "--root", str(self.root)])

    def page(self):
        return (self.root / "README.md").read_text()

    def test_nothing_measured(self):
        self.assertEqual(self.run_report(), 0)
        self.assertIn(report.NOTHING, self.page())

    def test_a_row(self):
        self.write(ROW)
        self.assertEqual(self.run_report("--check"), 1)
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| s8 4096^3 | row, column | 200.0 | 687.2 | 100.0 | 0.500 | 180.0 | 0.900 | mma | ok |",
                      self.page())
        self.assertIn("`sm80_x`", self.page())
        self.assertEqual(self.run_report("--check"), 0)

    def test_without_a_peer(self):
        self.write({k: v for k, v in ROW.items() if not k.startswith("sm80")} | {"peer_us": 0, "ratio": 0})
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| 687.2 | - | - | - | - | mma |", self.page())

    def test_a_field_is_missing(self):
        self.write({k: v for k, v in ROW.items() if k != "kernel"})
        self.assertEqual(self.run_report(), 2)


if __name__ == "__main__":
    unittest.main()
