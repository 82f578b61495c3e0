"""Tests of perf/report.py: which files are one set, pages, marked places, pictures."""

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

TEMPLATE = """# On an {{device}}

Commit {{commit}}, {{date}}, {{folder}}, {{tiles}}. {{other}}

{{machine}}

## Lists

Before.

{{lists}}

After.

## Not there

{{nc4}}

## Parent

### Part

{{layers-anchors}}

### Part without results

{{layers-vgg16}}

## Parent of nothing

### Nothing

{{deconv}}

## Words alone

Words.
"""
MARKED = "before\n<!-- weft:perf {} begin -->\nold\n<!-- weft:perf {} end -->\nafter\n"


def row(**changes):
    result = {"layer": "c64h56w56k64r3s1", "batch": 16, "count": 2, "kernel": "mma_<a>", "layout": "NHWC",
              "ours_us": 10.0, "ours_p10_us": 9.0, "ours_p90_us": 11.0, "peer_us": 20.0,
              "peer": "cudnn_graph: e", "ratio": 2.0, "noise": 0.002, "floor_us": 5.0, "mismatches": 0,
              "status": "ok", "operations": 1e6, "bytes": 1e4, "tops": 1.0, "gb_s": 5.0,
              "layouts": {"nhwc": {"time_us": 10.0, "model_over_best": 1.25}},
              "peers": {"cudnn_graph": {"time_us": 20.0}, "cudnn_nhwc": {"short_us": 14.0}, "cublaslt": {"time_us": 9.0}}}
    result.update(changes)
    return {key: value for key, value in result.items() if value is not None}


def result(batch, rows, **environment):
    return {"environment": {"batch": batch, "device": "NVIDIA H200", "driver": "580", "cuda": "13.0",
                            "libraries": ["cuDNN 9.19.0 (/a/path)"], "last_clock_mhz": 1980, "throttle_reasons": "0x0",
                            "commit": "abc", "date": "2026-11-21 10:00 UTC", "copy_tb_s": 4.3, "dp4a_tops": 130.0,
                            "tensor_tops": 1690.5, "tensor_tops_source": "measured: cublaslt", "list": "anchors",
                            "operator": "conv", "method": "medians", **environment},
            "rows": rows}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for each in ("perf/results/h200", "perf/results/h100", "perf/results/earlier/h100", "docs/images"):
            (self.root / each).mkdir(parents=True)
        (self.root / report.TEMPLATE).write_text(TEMPLATE)

    def write(self, name, content, folder="h200"):
        (self.root / "perf/results" / folder / name).write_text(json.dumps(content))

    def run_report(self, *arguments):
        self.said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(self.said):
            return report.main([*arguments, "--root", str(self.root)])

    def text(self, page="docs/performance.md"):
        return (self.root / page).read_text()


class Pages(Case):
    def test_sections_without_results_are_left_out(self):
        self.write("anchors-n16.json", result(16, [row(), row(layer="b")]))
        self.assertEqual(self.run_report(), 0)
        text = self.text()
        self.assertIn("# On an NVIDIA H200\n\nCommit abc, 2026-11-21, perf/results/h200, all tiles of `perf/tiles.def`.", text)
        self.assertIn("Driver 580, CUDA 13.0, cuDNN 9.19.0; 1980 MHz under load.", text)
        self.assertEqual([line for line in text.splitlines() if line.startswith("##")],
                         ["## Lists", "## Parent", "### Part", "## Words alone"])
        self.assertRegex(text, r"Before\.\n\n\| list .*\n\| ---.*\n.*\n\nAfter\.\n\n## Parent\n\n### Part\n\n\| layer")
        self.assertFalse((self.root / "docs/performance_h100.md").exists())

    def test_each_gpu_has_a_page(self):
        self.write("anchors-n16.json", result(16, [row()]))
        self.write("anchors-n1.json", result(1, [row(batch=1)], device="NVIDIA H100", commit="def"), "h100")
        self.assertEqual(self.run_report(), 0)
        self.assertIn("[The same on another GPU](performance_h100.md).", self.text())
        self.assertIn("# On an NVIDIA H100\n\nCommit def,", self.text("docs/performance_h100.md"))
        self.assertNotIn("{{", self.text() + self.text("docs/performance_h100.md"))

    def test_a_set_is_of_one_commit_one_device_and_one_driver(self):
        self.write("anchors-n16.json", result(16, [row()]))
        for field in ("commit", "device", "driver"):
            self.write("anchors-n64.json", result(64, [row(batch=64)], **{field: "another"}))
            for arguments in ((), ("--check",)):
                self.assertEqual(self.run_report(*arguments), 2)
                self.assertIn(f"h200 mixes results: anchors-n64.json is of {field} another, anchors-n16.json of", self.said.getvalue())
        self.write("anchors-n64.json", {"rows": []})
        self.assertEqual(self.run_report(), 2)
        self.assertFalse((self.root / "docs/performance.md").exists())

    def test_check_changes_nothing_and_says_what_is_stale(self):
        self.write("anchors-n16.json", result(16, [row()]))
        self.assertEqual(self.run_report("--check"), 1)
        self.assertFalse((self.root / "docs/performance.md").exists())
        self.assertEqual((self.run_report(), self.run_report("--check")), (0, 0))
        self.write("anchors-n16.json", result(16, [row(ours_us=40.0)]))
        self.assertEqual(self.run_report("--check"), 1)

    def test_rows_that_were_not_run_are_not_shown(self):
        late = row(layer="c8", ours_us=None, status="failed: not run: --stop_after_s was reached")
        self.write("anchors-n16.json", result(16, [row(), late]))
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| anchors | 16 | 1 of 2 | 1 | 2.00 | 1 of 1 |", self.text())
        self.assertNotIn("c8", self.text())

    def test_the_committed_template_names_only_tables_that_exist(self):
        found = report.Set(report.ROOT / report.RESULTS / "h200")
        known = {"device", "folder", "commit", "date", "machine", "other", "tiles", "speed", "lists", "residual",
                 "hswish", "nc4", "reformat", "first-layer", "depthwise", "energy", "check", "cutlass", "products", "product-types",
                 *report.report_benches.BENCHES, *(f"layers-{name}" for name in (*report.LISTS, *report.EPILOGUES.values(), "anchors-nc4"))}
        self.assertLessEqual(set(report.NAME.findall((report.ROOT / report.TEMPLATE).read_text())), known)
        self.assertLessEqual(set(report.tables_of(found, report.ROOT, True)), known | {"anchors", "depthwise"})


class Marked(Case):
    def mark(self, name):
        (self.root / "README.md").write_text(MARKED.format(name, name))

    def test_what_surrounds_the_table_stays(self):
        self.mark("anchors")
        self.write("anchors-n16.json", result(16, [row(), row(layer="b")]))
        self.assertEqual(self.run_report(), 0)
        text = self.text("README.md")
        self.assertTrue(text.startswith("before\n<!-- weft:perf anchors begin -->\n| list"))
        self.assertTrue(text.endswith("\nNVIDIA H200, commit abc, 2026-11-21.\n<!-- weft:perf anchors end -->\nafter\n"))

    def test_speed_has_a_column_for_each_batch(self):
        self.mark("speed")
        for batch in (64, 1):
            self.write(f"resnet50-n{batch}.json", result(batch, [row(batch=batch)]))
            self.write(f"resnet50-residual-n{batch}.json", result(batch, [row(batch=batch, peer_us=15.0)]))
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| best peer's time / ours | N = 1 | N = 64 |\n| --- | ---: | ---: |\n"
                      "| ResNet-50's layers, bias and ReLU | 2.00 | 2.00 |\n| the same with a residual | 1.50 | 1.50 |\n",
                      self.text("README.md"))

    def test_what_the_set_lacks_is_of_the_newest_file(self):
        self.mark("deconv")
        self.assertEqual(self.run_report(), 0)
        self.assertIn(report.NOTHING, self.text("README.md"))
        bench = lambda us, date: {"environment": {"device": "H", "commit": us, "date": date, "method": "how"},  # noqa: E731
                                  "rows": [{"layer": "n16c8", "ours_us": us, "peer_us": 25.5, "ratio": 2.55, "status": "ok"}]}
        self.write("deconv.json", bench(10.0, "2026-11-22"), "earlier/h100")
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| n16c8 | 10.00 | 25.50 | 2.55 |\n\nH, 10.0, 2026-11-22. How.\n", self.text("README.md"))
        self.write("deconv.json", bench(11.0, "2026-11-23") | {}, "h100")
        (self.root / "perf/results/h100/deconv.json").write_text(
            (self.root / "perf/results/h100/deconv.json").read_text().replace('"method"', '"driver": "1", "method"'))
        (self.root / report.TEMPLATE).unlink()
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| n16c8 | 11.00 |", self.text("README.md"))

    def test_unknown_names_are_refused(self):
        with self.assertRaisesRegex(ValueError, "no table 'nc5'; there are speed"):
            report.rewritten(MARKED.format("nc5", "nc5"), {})

    def test_unknown_files_are_sentences(self):
        for content in ("{", "[1, 2]", "hello", "{}", '{"environment": 1, "rows": 2}'):
            (self.root / "perf/results/h200/anchors-n16.json").write_text(content)
            self.assertEqual(self.run_report(), 2, content)
            self.assertIn("no result file of this kind", self.said.getvalue(), content)
        self.write("anchors-n16.json", result(16, [row(mismatches="none")]))
        self.assertEqual(self.run_report(), 2)
        self.assertIn("is no result file of this kind", self.said.getvalue())


class Pictures(Case):
    def test_the_picture_is_made_and_checked(self):
        picture = self.root / report.PICTURE
        self.write("anchors-n16.json", result(16, [row(), row(layer="b", ours_us=40.0)]))
        self.assertEqual(self.run_report("--check"), 1)
        self.assertFalse(picture.exists())
        self.assertEqual(self.run_report(), 0)
        xml.etree.ElementTree.fromstring(picture.read_text())
        self.assertIn("b N=16: 0.50", picture.read_text())


if __name__ == "__main__":
    unittest.main()
