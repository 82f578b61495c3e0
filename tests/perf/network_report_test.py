"""Tests of the table of networks in perf/report.py."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))
import report  # noqa: E402

PAGE = "<!-- weft:perf network begin -->\n<!-- weft:perf network end -->\n"


def row(**changes):
    result = {"batch": 16, "ours_ms": 0.5, "ours_images_per_s": 32000, "cudnn_ms": 0.4,
              "cudnn_images_per_s": 40000, "ratio": 0.8, "ratio_without_first": 0.7, "model_choice_ms": 0.55, "mismatches": 0,
              "outputs": 1000, "output_differences": 7, "output_largest_difference": 2, "status": "ok",
              "layers": [{"name": "conv1", "zeros": 0.5, "saturated": 0.01},
                         {"name": "a", "zeros": 0.25, "saturated": 0.0}]}
    result.update(changes)
    return {key: value for key, value in result.items() if value is not None}


class NetworkReport(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / report.RESULTS).mkdir(parents=True)
        (self.root / "README.md").write_text(PAGE)

    def write(self, *rows):
        environment = {"device": "H200", "driver": "580", "cuda": "13.0", "libraries": ["cuDNN 9.19.0 (/x)"],
                       "last_clock_mhz": 1980, "commit": "abc", "date": "2026-11-21", "method": "how"}
        path = self.root / report.RESULTS / "resnet50-network.json"
        path.write_text(json.dumps({"environment": environment, "rows": list(rows)}))

    def run_report(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return report.main([*arguments, "--root", str(self.root)])

    def page(self):
        return (self.root / "README.md").read_text()

    def test_without_results_says_so(self):
        self.assertEqual(self.run_report(), 0)
        self.assertIn("Not measured yet.", self.page())

    def test_table(self):
        self.write(row(batch=64), row())
        self.assertEqual(self.run_report(), 0)
        page = self.page()
        self.assertIn("| 16 | 0.500 | 32000 | 0.400 | 40000 | 0.80 | 0.70 | 0.550 | 0 | 7 of 1000, by at most 2 | ok |",
                      page)
        self.assertLess(page.index("| 16 |"), page.index("| 64 |"))
        self.assertIn("25% to 50% zeros, at most 1.0% saturated", page)
        self.assertIn("cuDNN 9.19.0, 1980 MHz", page)
        self.assertEqual(self.run_report("--check"), 0)

    def test_failed_rows_stay_in(self):
        self.write(row(ours_ms=None, ours_images_per_s=None, cudnn_ms=None, cudnn_images_per_s=None,
                       ratio=None, ratio_without_first=None, model_choice_ms=None, output_differences=None, status="failed: a | b",
                       layers=[]))
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| 16 | - | - | - | - | - | - | - | 0 | - | failed: a / b |", self.page())

    def test_a_file_of_another_shape_is_an_error(self):
        self.write(row(mismatches="none"))
        self.assertEqual(self.run_report(), 2)


if __name__ == "__main__":
    unittest.main()
