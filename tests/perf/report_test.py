"""Tests of perf/report.py."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))
import report  # noqa: E402

PAGE = "before\n<!-- weft:perf nc4 begin -->\nold\n<!-- weft:perf nc4 end -->\nafter\n"


def row(**changes):
    result = {"layer": "c64h56w56k64r3s1", "batch": 16, "kernel": "simt_a", "layout": "NCxHWx<4>",
              "ours_us": 10.0, "ours_p10_us": 9.0, "ours_p90_us": 11.0, "peer_us": 20.0,
              "peer": "cudnn", "ratio": 2.0, "floor_us": 5.0, "mismatches": 0, "status": "ok",
              "model_us": 12.5, "tops": 1.0, "peer_differences": 3, "peer_largest_difference": 1}
    result.update(changes)
    return {key: value for key, value in result.items() if value is not None}


def result(batch, rows):
    return {"environment": {"batch": batch, "device": "H200", "driver": "580", "cuda": "13.0",
                            "cudnn": "9.19.0", "last_clock_mhz": 1980, "commit": "abc",
                            "date": "2026-11-21", "copy_tb_s": 4.3, "dp4a_tops": 130.0},
            "rows": rows}


class Report(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / report.RESULTS).mkdir(parents=True)
        (self.root / "README.md").write_text(PAGE)

    def write(self, batch, rows):
        path = self.root / report.RESULTS / f"anchors-nc4-n{batch}.json"
        path.write_text(json.dumps(result(batch, rows)))

    def run_report(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return report.main([*arguments, "--root", str(self.root)])

    def test_without_results_says_so(self):
        self.assertEqual(self.run_report("--check"), 1)
        self.assertEqual(self.run_report(), 0)
        self.assertIn("Not measured yet.", (self.root / "README.md").read_text())
        self.assertEqual(self.run_report("--check"), 0)

    def test_check_changes_nothing(self):
        self.write(16, [row()])
        self.assertEqual(self.run_report("--check"), 1)
        self.assertEqual((self.root / "README.md").read_text(), PAGE)

    def test_stale_after_new_results(self):
        self.write(16, [row()])
        self.assertEqual(self.run_report(), 0)
        self.assertEqual(self.run_report("--check"), 0)
        self.write(16, [row(ours_us=40.0)])
        self.assertEqual(self.run_report("--check"), 1)

    def test_what_surrounds_the_table_stays(self):
        self.write(16, [row()])
        self.run_report()
        text = (self.root / "README.md").read_text()
        self.assertTrue(text.startswith("before\n<!-- weft:perf nc4 begin -->\n"))
        self.assertTrue(text.endswith("<!-- weft:perf nc4 end -->\nafter\n"))

    def test_geometric_mean_counts_only_good_rows(self):
        rows = [row(), row(ours_us=40.0), row(mismatches=1, peer_us=1e6),
                row(status="failed: x", ours_us=None), row(peer_us=None)]
        self.assertEqual(report.line(16, rows),
                         "| 16 | 3 of 5 | 2 | 1.00 | 1 | 0.50 to 2.00 | 1.60 |\n")

    def test_batches_are_in_order(self):
        for batch in (64, 1, 16):
            self.write(batch, [row(batch=batch)])
        self.assertEqual([r["environment"]["batch"] for r in report.load(self.root)], [1, 16, 64])
        self.assertIn("| all | 3 of 3 |", report.nc4(report.load(self.root)))

    def test_layers_show_failed_rows(self):
        text = report.nc4_layers([result(16, [row(ours_us=None, status="failed: no | memory")])])
        self.assertIn("| failed: no / memory |", text)

    def test_wrong_rows_and_names_are_refused(self):
        self.write(16, [row(mismatches="none")])
        self.assertEqual(self.run_report(), 2)
        with self.assertRaises(ValueError):
            report.rewritten(PAGE.replace("nc4", "nc5"), {})

    def best_row(self, **changes):
        return row(**{"layout": "NHWC", "kernel": "mma_<a>", "peer": "cudnn_graph: e", "operations": 1e6,
                      "bytes": 1e4, "gb_s": 5.0, "model_us": None, **changes})

    def best_result(self, batch, rows):
        made = result(batch, rows)
        made["environment"].update(list="anchors", operator="conv", method="medians", tensor_tops=1536,
                                   libraries=["cuDNN 9.19.0 (/a/path)"])
        return made

    def test_files_of_the_two_programs_do_not_mix(self):
        self.write(16, [row()])
        path = self.root / report.RESULTS / "anchors-n16.json"
        path.write_text(json.dumps(self.best_result(16, [self.best_row()])))
        self.assertEqual(len(report.load(self.root, "anchors")), 1)
        self.assertEqual(len(report.load(self.root)), 1)

    def test_table_of_weft_perf(self):
        rows = [self.best_row(), self.best_row(ours_us=40.0), self.best_row(peer_us=None),
                self.best_row(status="failed: x", ours_us=None, peer_us=None)]
        text = report.best([self.best_result(16, rows)])
        self.assertIn("| 16 | 3 of 4 | 1.00 | 1 of 2 | 0.50 to 2.00 | 3.17 |", text)
        self.assertIn("cuDNN 9.19.0, 1980 MHz", text)
        self.assertIn("| failed: x |", report.best_layers([self.best_result(16, rows)]))

    def test_page_is_well_formed_and_needs_nothing_else(self):
        rows = [self.best_row(), self.best_row(ours_us=40.0), self.best_row(peer_us=None),
                self.best_row(status="failed: <x>", ours_us=None, peer_us=None, tops=None)]
        page = report.report_page.page([self.best_result(n, rows) for n in (1, 16)])
        self.assertNotIn("<x>", page)
        for outside in ("http", "src=", "url(", "<script", "<link"):
            self.assertNotIn(outside, page)
        pictures = page.split("<svg")[1:]
        self.assertEqual(len(pictures), 4)  # roofline, distribution, bars of each batch
        for picture in pictures:
            xml.etree.ElementTree.fromstring("<svg" + picture.split("</svg>")[0] + "</svg>")

    def test_page_is_written(self):
        path = self.root / report.RESULTS / "anchors-n16.json"
        path.write_text(json.dumps(self.best_result(16, [self.best_row()])))
        page = self.root / "page.html"
        self.assertEqual(self.run_report(f"--html={page}"), 0)
        self.assertTrue(page.read_text().startswith("<!doctype html>"))
        path.unlink()
        self.assertEqual(self.run_report(f"--html={page}"), 2)


if __name__ == "__main__":
    unittest.main()
