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
    result = {"layer": "c64h56w56k64r3s1", "batch": 16, "count": 2, "kernel": "mma_<a>", "layout": "NHWC",
              "ours_us": 10.0, "ours_p10_us": 9.0, "ours_p90_us": 11.0, "peer_us": 20.0,
              "peer": "cudnn_graph: e", "ratio": 2.0, "noise": 0.002, "floor_us": 5.0, "mismatches": 0,
              "status": "ok", "operations": 1e6, "bytes": 1e4, "tops": 1.0, "gb_s": 5.0,
              "layouts": {"nhwc": {"time_us": 10.0, "model_over_best": 1.25}},
              "peers": {"cudnn_graph": {"time_us": 20.0}, "cudnn_nhwc": {"short_us": 14.0}, "cublaslt": {"time_us": 9.0}}}
    result.update(changes)
    return {key: value for key, value in result.items() if value is not None}


def result(batch, rows):
    return {"environment": {"batch": batch, "device": "H200", "driver": "580", "cuda": "13.0",
                            "libraries": ["cuDNN 9.19.0 (/a/path)"], "last_clock_mhz": 1980, "throttle_reasons": "0x0",
                            "commit": "abc", "date": "2026-11-21", "copy_tb_s": 4.3, "dp4a_tops": 130.0,
                            "tensor_tops": 1690.5, "tensor_tops_source": "measured: cublaslt", "list": "anchors",
                            "operator": "conv", "method": "medians"},
            "rows": rows}


class Case(unittest.TestCase):
    page_text = PAGE

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / report.RESULTS).mkdir(parents=True)
        (self.root / "README.md").write_text(self.page_text)

    def run_report(self, *arguments):
        self.said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(self.said):
            return report.main([*arguments, "--root", str(self.root)])

    def page(self):
        return (self.root / "README.md").read_text()


class Report(Case):

    def write(self, batch, rows, name="anchors-nc4", folder=report.RESULTS):
        path = self.root / folder / f"{name}-n{batch}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result(batch, rows)))

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

    def test_summary_counts_only_good_rows(self):
        rows = [row(), row(ours_us=40.0), row(mismatches=1, peer_us=1e6),
                row(status="failed: x", ours_us=None), row(peer_us=None)]
        text = report.summary([result(16, rows)])
        self.assertIn("| 16 | 3 of 5 | 1.00 | 1 of 2 | 0.50 to 2.00 | 3.17 | 1.25 |\n", text)
        self.assertIn("cuDNN 9.19.0, 1980 MHz", text)
        self.assertIn("int8 tensor cores 1690.5 TOPS (measured)", text)
        self.assertIn("Noise of a ratio: 0.2%", text)

    def test_batches_are_in_order(self):
        for batch in (64, 1, 16):
            self.write(batch, [row(batch=batch)])
        found = report.load(self.root, "anchors-nc4")
        self.assertEqual([r["environment"]["batch"] for r in found], [1, 16, 64])
        self.assertIn("| all | 3 of 3 |", report.summary(found))

    def test_layers_show_failed_rows(self):
        text = report.layers([result(16, [row(), row(ours_us=None, status="failed: no | memory")])])
        self.assertIn("| 10.00 | 9.00 to 11.00 | - | 20.00 | 2.00 | 0.2% | 5.00 | 1.0 | 5 | NHWC <a> | cudnn_graph | ok |", text)
        self.assertIn("| failed: no / memory |", text)

    def test_layers_show_copies_where_a_row_has_one(self):
        self.assertNotIn("copy us", report.layers([result(16, [row()])]))
        text = report.layers([result(16, [row(copy_us=7.5, copy_over_ours=0.75), row()])])
        self.assertIn("| floor us | copy us | copy / ours | TOPS |", text)
        self.assertIn("| 5.00 | 7.50 | 0.75 | 1.0 |", text)
        self.assertIn("| 5.00 | - | - | 1.0 |", text)

    def test_wrong_rows_and_names_are_refused(self):
        self.write(16, [row(mismatches="none")])
        self.assertEqual(self.run_report(), 2)
        with self.assertRaises(ValueError):
            report.rewritten(PAGE.replace("nc4", "nc5"), {})

    def test_lists_do_not_mix(self):
        self.write(16, [row()])
        self.write(16, [row()], "anchors")
        self.assertEqual(len(report.load(self.root, "anchors")), 1)
        self.assertEqual(len(report.load(self.root, "anchors-nc4")), 1)

    def test_lists_add_up_layers_with_their_counts(self):
        text = report.lists({"resnet50": [result(16, [row(), row(count=3)])]})
        self.assertIn("| resnet50 | 16 | 2 of 2 | 2.00 | 2 of 2 | 2.00 to 2.00 | 2.00 | 4.00 | - | 50 | 100 | abc |", text)

    def test_rows_not_run_come_from_a_later_run(self):
        late = row(layer="c8", ours_us=None, status="failed: not run: --stop_after_s was reached")
        self.write(16, [row(layer="c4"), late])
        self.assertIn("1 of 2", self.run_and_read())
        path = self.root / report.RESULTS / "anchors-nc4-n16-rest.json"
        path.write_text(json.dumps(result(16, [row(layer="c8"), row(layer="c4", ratio=9.0)])))
        text = self.run_and_read()
        self.assertIn("2 of 2", text)
        self.assertIn("2.00 to 2.00", text)  # c4 stays as it was
        path.write_text(path.read_text().replace("H200", "H100"))
        self.assertEqual(self.run_report(), 2)
        self.assertIn("another device", self.said.getvalue())

    def run_and_read(self):
        self.assertEqual(self.run_report(), 0)
        return self.page()

    def test_check_compares_the_best_int8_answer_of_cudnn(self):
        anchors = {("c64h56w56k64r3s1", 16): 14.0, ("b", 16): 10.5, ("c", 16): 5.0}
        rows = [row(), row(layer="b"), row(layer="c"), row(layer="unknown")]
        text = report.check([result(16, rows)], anchors)
        # 14 / 14, 14 / 10.5, 14 / 5; the last is below 10 us.
        self.assertIn("| 16 | 3 | 1.551 | 2 | 1 | b 1.33 |", text)

    def test_anchors_are_read(self):
        (self.root / "perf/layers").mkdir()
        (self.root / "perf/layers/anchors_us.csv").write_text("# note\nlayer,n,cudnn,f16\na,64,2.5,-1.0\n")
        self.assertEqual(report.read_times(self.root, "anchors_us.csv"), {("a", 64): 2.5})

    def test_cutlass_compares_our_nc32_times(self):
        (self.root / "perf/layers").mkdir()
        (self.root / "perf/layers/cutlass_us.csv").write_text("# note\nlayer,n,cutl80x32\na,16,20.0\nb,16,9.0\n")
        rows = [row(layer=layer, layouts={"nc32": {"time_us": 10.0}}) for layer in ("a", "b", "unknown")]
        text = report.cutlass([result(16, rows)], report.read_times(self.root, "cutlass_us.csv"))
        self.assertIn("| 16 | 2 | 1.342 | 1 | b 0.90 |", text)

    def test_reformats(self):
        fields = {"tensors": "NHWC to NCxHWx<32>", "ours_with_reformat": "NCxHWx<32>", "ours_with_reformat_us": 12.0,
                  "peer_with_reformat": "cudnn_nhwc", "peer_with_reformat_us": 36.0, "ratio_with_reformat": 3.0}
        layouts = {"nc4": {"time_us": 10.0, "with_reformat_us": 16.0}, "nc4_nc32": {"time_us": 12.0}}
        found = {"reformat": [result(16, [row(**fields, layouts=layouts)])]}
        text = report.reformat(found)
        self.assertIn("| 12.00 (NCxHWx<32>) | 20.00 (cudnn_graph) | 36.00 (cudnn_nhwc) | 2.00 | 3.00 |", text)
        self.assertIn("1 layers and batches that were measured with reformats: best peer's time / ours 2.00, with the reformats 3.00", text)
        self.assertIn("| 16 | 10.00 | 16.00 | 12.00 | 25% |", report.fused(found))

    def test_every_table_can_be_made(self):
        for name in ("anchors-nc4", "anchors", "resnet50", "reformat", "resnet50-residual", "resnet50-hswish",
                     "depthwise"):
            self.write(16, [row()], name)
        for name in ("anchors", "resnet50", "depthwise"):
            self.write(16, [row()], name, report.H100)
        elsewhere = {*report.report_benches.BENCHES, *report.report_ladder.TABLES,
                     *(f"{name}-h100" for name in ("ncu", *report.report_benches.BENCHES, *report.report_ladder.TABLES))}
        names = [name for name in report.RENDERERS
                 if not name.startswith(("network", "large", "gemm", "cudnn", "compile")) and name not in elsewhere]
        page = "".join(f"<!-- weft:perf {name} begin -->\n<!-- weft:perf {name} end -->\n" for name in names)
        (self.root / "README.md").write_text(page)
        self.assertEqual(self.run_report(), 0)
        self.assertNotIn(report.NOTHING, (self.root / "README.md").read_text())
        self.assertEqual(self.run_report("--check"), 0)

    def test_energy_is_of_rows_at_the_limit_of_power(self):
        rows = [row(operations=2e9, ours_joules=1e-3, peer_joules=1.5e-3, ours_watts=600, peer_watts=650, clock_mhz=1600), row(layer="b")]
        text = report.energy({"anchors": [result(16, rows)], "resnet50": [result(16, rows)]})
        self.assertIn("| 16 | 10.0 | 2.00 | 1.50 | 0.50 | 0.75 | 600 | 650 | 1600 |", text)
        self.assertEqual(len(text.splitlines()), 5)

    def test_kernels_of_a_profile(self):
        stall = report.report_ncu.STALL
        log = "\n".join((
            "c64h56w56k64r3s1  64  0.00 0.00 0.00 0.00 0.00 0.00 0.00 0 0.0% 0 0 none; none; ok",
            "==PROF== Disconnected from process 7",
            f"    {report.report_ncu.PIPE}   %   58.12", f"    {stall}wait_per_issue_active.ratio  inst  3.00",
            f"    {stall}selected_per_issue_active.ratio  inst  1.00", "    Memory Throughput   %   37.08",
            "    Duration   us   1,017.98", "    Issue Slots Busy  %  23.36", "    Memory Throughput  Gbyte/s  739.36",
            "    Achieved Occupancy  %  13.35"))
        text = report.report_ncu.ncu(log, report.table)
        self.assertIn("| c64h56w56k64r3s1 | 64 | 1018.0 | 0.74 | 58% | 23% | 13% | wait 75% |", text)

    def test_page_is_well_formed_and_needs_nothing_else(self):
        rows = [row(), row(ours_us=40.0), row(peer_us=None),
                row(status="failed: <x>", ours_us=None, peer_us=None, tops=None)]
        page = report.report_page.page([result(n, rows) for n in (1, 16)])
        self.assertNotIn("<x>", page)
        for outside in ("http", "src=", "url(", "<script", "<link"):
            self.assertNotIn(outside, page)
        pictures = page.split("<svg")[1:]
        self.assertEqual(len(pictures), 4)  # roofline, distribution, bars of each batch
        for picture in pictures:
            xml.etree.ElementTree.fromstring("<svg" + picture.split("</svg>")[0] + "</svg>")

    def test_unknown_files_are_sentences(self):
        files = {"list.json": "[1, 2]", "text.json": "hello", "empty.json": "{}", "rows.json": '{"environment": 1, "rows": 2}',
                 "other.json": json.dumps({"environment": {"device": "x"}, "rows": []})}
        for name, content in files.items():
            (self.root / name).write_text(content)
        for name in (*files, "missing.json", "."):
            self.assertEqual(self.run_report(f"--html={self.root}/page.html", str(self.root / name)), 2, name)
            self.assertIn("is no result file of this kind", self.said.getvalue())
        (self.root / report.RESULTS / "anchors-n16.json").write_text("{")
        self.assertEqual(self.run_report(), 2)

    def test_picture_is_made_and_checked(self):
        picture = self.root / report.PICTURE
        picture.parent.mkdir(parents=True)
        self.write(16, [row(), row(layer="b", ours_us=40.0)], "anchors")
        self.assertEqual(self.run_report("--check"), 1)
        self.assertFalse(picture.exists())
        self.assertEqual(self.run_report(), 0)
        xml.etree.ElementTree.fromstring(picture.read_text())
        self.assertIn("b N=16: 0.50", picture.read_text())
        self.assertEqual(self.run_report("--check"), 0)
        self.write(16, [row()], "anchors")
        self.assertEqual(self.run_report("--check"), 1)

    def test_page_is_written(self):
        path = self.root / report.RESULTS / "anchors-n16.json"
        path.write_text(json.dumps(result(16, [row()])))
        page = self.root / "page.html"
        self.assertEqual(self.run_report(f"--html={page}"), 0)
        self.assertTrue(page.read_text().startswith("<!doctype html>"))
        path.unlink()
        self.assertEqual(self.run_report(f"--html={page}"), 2)


ROW = {"layer": "gemm_s8_4096", "kernel": "mma", "layout": "row-major A, column-major B", "ours_us": 200.0,
       "peer_us": 100.0, "peer": "cublasLt", "ratio": 0.5, "sm80_us": 180.0, "sm80_ratio": 0.9,
       "sm80_kernels": "sm80_x", "mismatches": 0, "status": "ok"}


class GemmReport(Case):
    page_text = PAGE.replace("nc4", "gemm")

    def write(self, *rows):
        environment = {"device": "H200", "commit": "abc", "method": "how"}
        path = self.root / report.RESULTS / "gemm.json"
        path.write_text(json.dumps({"environment": environment, "rows": list(rows)}))

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

    def test_complex_numbers_and_two_types(self):
        self.write(ROW | {"layer": "gemm_c32_4096"}, ROW | {"layer": "gemm_f16_x_s4_over_f16_4096"})
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| c32 4096^3 | row, column | 200.0 | 2748.8 |", self.page())
        self.assertIn("| f16 x s4 4096^3 | row, column | 200.0 | 687.2 |", self.page())

    def test_sums_in_float(self):
        self.write(ROW | {"layer": "gemm_e4m3_4096", "full_us": 120.0, "full_ratio": 0.6, "full_kernels": "whole"})
        self.assertEqual(self.run_report(), 0)
        self.assertIn("With sums in float cuBLASLt takes (its time / ours): e4m3 4096 120.0 us (0.600).", self.page())
        self.assertIn("`whole`", self.page())

    def test_of_several_tiles_the_best(self):
        of = {"layer": "gemm_s8_10240x4096x4096"}
        self.write(ROW | of | {"best": False, "kernel": "slow"},
                   ROW | of | {"best": True, "model_over_best": 1.25},
                   ROW | {"best": True, "model": True, "model_over_best": 1})
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| s8 10240 x 4096 x 4096 | row, column | 200.0 | 1718.0 | 100.0 | 0.500 | 180.0 | 0.900 | mma | ok |",
                      self.page())
        self.assertIn("| s8 4096^3 |", self.page())
        self.assertNotIn("slow", self.page())
        self.assertIn("1.118 times the best one's time (geometric mean of 2 products), 1.250 at most.", self.page())

    def test_without_a_peer(self):
        self.write({k: v for k, v in ROW.items() if not k.startswith("sm80")} | {"peer_us": 0, "ratio": 0})
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| 687.2 | - | - | - | - | mma |", self.page())

    def test_a_field_is_missing(self):
        self.write({k: v for k, v in ROW.items() if k != "kernel"})
        self.assertEqual(self.run_report(), 2)


class GridReport(Case):
    page_text = PAGE.replace("nc4", "gemm-grid")

    def test_a_line_for_each_type_and_order(self):
        rows = [ROW | {"best": False}, ROW | {"best": True}, ROW | {"status": "failed: x", "ours_us": None},
                ROW | {"layer": "gemm_s8_16x64x64", "ratio": 1.5},
                ROW | {"layout": "row-major A, row-major B"},
                {k: v for k, v in ROW.items() if not k.startswith(("ours", "ratio"))}
                | {"layer": "gemm_f16_x_s4_over_f16_4096", "kernel": "none", "status": "not run: no time was left"}]
        (self.root / report.RESULTS / "gemm-grid.json").write_text(json.dumps(
            {"environment": {"device": "H200", "commit": "abc", "method": "how", "tiles": "some"}, "rows": rows}))
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| type | A, B | 4096^3 | 16 x 64 x 64 |\n| --- | --- | ---: | ---: |\n"
                      "| s8 | row, column | 200.0 (0.500) | 200.0 (1.500) |\n| s8 | row, row | 200.0 (0.500) | - |\n"
                      "| f16 x s4 | row, column | not run | - |\n", self.page())
        self.assertIn("0.85 or more in 1 of 3. Without a time of ours: 1 of 4 products; wrong or failed: 1 tiles. Tiles: some.",
                      self.page())
        self.assertEqual(self.run_report("--check"), 0)


def network_row(**changes):
    result = {"batch": 16, "ours_ms": 0.5, "ours_images_per_s": 32000, "cudnn_ms": 0.4,
              "cudnn_images_per_s": 40000, "ratio": 0.8, "ratio_without_first": 0.7, "model_choice_ms": 0.55, "mismatches": 0,
              "outputs": 1000, "output_differences": 7, "output_largest_difference": 2, "status": "ok",
              "layers": [{"name": "conv1", "zeros": 0.5, "saturated": 0.01},
                         {"name": "a", "zeros": 0.25, "saturated": 0.0}]}
    result.update(changes)
    return {key: value for key, value in result.items() if value is not None}


class BenchReport(Case):
    page_text = PAGE.replace("nc4", "deconv")

    def test_table(self):
        path = self.root / report.RESULTS / "deconv.json"
        path.write_text(json.dumps({"environment": {"program": "deconv_bench"}, "rows": [
            {"layer": "n16c8", "kernel": "tile", "ours_us": 10.0, "peer_us": 25.5, "ratio": 2.55},
            {"layer": "n64c8", "kernel": "none"}]}))
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| n16c8 | 10.00 | 25.50 | 2.55 | tile |\n| n64c8 | - | - | - | none |", self.page())
        self.assertEqual(self.run_report("--check"), 0)


class CompileReport(Case):
    page_text = PAGE.replace("nc4", "compile-times")

    def write(self, **changes):
        rows = [{"instance": "A", "gpu": "sm_90a", "words": "product of a | b", "kernels": 1, "wall_s": 2.25, "user_s": 1.5,
                 "system_s": 0.5, "load_each": [0.5, 1.25]},
                {"instance": "B", "gpu": "sm_80", "words": "product of c", "kernels": 2, "wall_s": 12, "user_s": 11, "system_s": 1,
                 "load_each": [1]},
                {"instance": "C", "gpu": "sm_80", "words": "convolution", "kernels": 3, "wall_s": 11, "user_s": 10, "system_s": 1,
                 "load_each": [1], **changes}]
        environment = {"device": "CPU", "processors": 2, "nvcc": "13.0", "commit": "abc", "date": "2026-11-25", "method": "how"}
        (self.root / "perf/results/compile-times.json").write_text(json.dumps({"environment": environment, "rows": rows}))

    def test_table(self):
        self.write()
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| product of a / b | sm_90a | 1 | 2.2 | 2.0 | 1.2 |\n| product of c | sm_80 | 2 | 12.0 | 12.0 | 1.0 |",
                      self.page())
        self.assertIn("\nProducts in less than 10 s, as is wanted: 1 of 2; not product of c (12.0 s).\n", self.page())
        self.assertIn("\nCPU, 2 processors, nvcc 13.0; commit abc, 2026-11-25. How.\n", self.page())
        self.assertEqual(self.run_report("--check"), 0)

    def test_another_file_is_refused(self):
        self.write(kernels="three")
        self.assertEqual(self.run_report(), 2)


class CostsReport(Case):
    page_text = PAGE.replace("nc4", "epilogue-costs") + PAGE.replace("nc4", "int4")

    def test_tables(self):
        variant = {"kernel": "tile", "kind": "activation", "relu_us": 4.0, "status": "ok"}
        rows = [{**variant, "layer": "n16a", "variant": "tanh", "over_relu": 1.25, "best_over_relu": 1.0},
                {**variant, "layer": "n64a", "variant": "tanh", "over_relu": 1.0, "best_over_relu": 1.0},
                {**variant, "layer": "n16a", "variant": "GELU", "best_over_relu": 1.5},
                {"layer": "n64a", "kernel": "none", "kind": "activation", "variant": "GELU", "status": "failed: why"},
                {"layer": "n1a", "kernel": "tile", "kind": "filter", "variant": "filters of int4", "int8_us": 3.0, "int4_us": 2.0,
                 "int8_over_int4": 1.5, "int8_filter_kb": 64, "status": "ok"}]
        path = self.root / report.RESULTS / "epilogue-costs.json"
        path.write_text(json.dumps({"environment": {"program": "epilogue_bench"}, "rows": rows}))
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| ReLU, us | 4.00 | 4.00 |  |  |  |\n| tanh | 1.250 | 1.000 | 1.118 | 1.000 | ok |\n"
                      "| GELU | - | - | - | 1.500 | 1 failed |", self.page())
        self.assertIn("\nWanted at most, and times that are no longer: activations 1.05, 1 of 2.\n", self.page())
        self.assertIn("| n1a | 64 | - | 3.00 | 2.00 | 1.50 | - | - | - | - | - | ok |", self.page())
        self.assertEqual(self.run_report("--check"), 0)


class TypesReport(Case):
    page_text = "".join(PAGE.replace("nc4", name) for name in ("epilogue-types", "depthwise-zeros", "deconv-zeros", "lists-of-products"))

    def write(self, name, *rows):
        (self.root / report.RESULTS / name).write_text(json.dumps({"environment": {"program": "bench", "method": "how"}, "rows": rows}))

    def test_tables(self):
        ok = {"kernel": "tile", "status": "ok"}
        self.write("epilogue-types.json",
                   {**ok, "layer": "n16a", "kind": "type", "variant": "half", "relu_us": 4.0, "ours_us": 5.0, "over_relu": 1.25,
                    "best_us": 4.5, "best_over_relu": 1.2, "best_kernel": "other"},
                   {**ok, "layer": "n16b", "kind": "source", "variant": "bytes", "status": "failed: why"},
                   {**ok, "layer": "n64d", "kind": "depthwise", "variant": "source zero point", "relu_us": 4.0, "ours_us": 5.0,
                    "over_relu": 1.25})
        self.write("deconv.json", {**ok, "layer": "old"},
                   {**ok, "layer": "new", "source_zero_us": 5.0, "over_source_zero": 1.1, "both_zeros_us": 6.0, "over_both_zeros": 1.2})
        self.write("lists.json", {**ok, "layer": "s8, x", "batch": 32, "ours_us": 10.0, "peer_us": 25.0, "ratio": 2.5})
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| n16a | half | 4.00 | 5.00 | 1.250 | 4.50 | 1.200 | other | ok |\n"
                      "| n16b | bytes | - | - | - | - | - | - | failed: why |", self.page())
        self.assertIn("| n64d | source zero point | 4.00 | 5.00 | 1.250 | tile | ok |", self.page())
        self.assertIn("| new | 5.00 | 1.100 | 6.00 | 1.200 |", self.page())
        self.assertNotIn("| old |", self.page())
        self.assertIn("| s8, x | 32 | 10.0 | - | 25.0 | 2.500 | - | - | - | tile | ok |", self.page())
        self.assertEqual(self.run_report("--check"), 0)


class LocalReport(Case):
    page_text = PAGE.replace("nc4", "local-filter")

    def test_copies_where_a_row_has_one(self):
        old = {"layer": "a", "filter_bits": 8, "ours_us": 10.0, "mbytes": 20.0, "share_of_copy": 0.5, "kernel": "tile", "status": "ok"}
        path = self.root / report.RESULTS / "local-filter.json"
        for new, shown in (({}, "| 0.50 | tile |"), ({"copy_us": 8.0, "copy_over_ours": 0.8}, "| 0.50 | 8.00 | 0.80 | tile |")):
            path.write_text(json.dumps({"environment": {"program": "bench", "method": "how"}, "rows": [{**old, **new}]}))
            self.assertEqual(self.run_report(), 0)
            self.assertIn(shown, self.page())


class NetworkReport(Case):
    page_text = PAGE.replace("nc4", "network")

    def write(self, *rows):
        environment = {"device": "H200", "driver": "580", "cuda": "13.0", "libraries": ["cuDNN 9.19.0 (/x)"],
                       "last_clock_mhz": 1980, "commit": "abc", "date": "2026-11-21", "method": "how"}
        path = self.root / report.RESULTS / "resnet50-network.json"
        path.write_text(json.dumps({"environment": environment, "rows": list(rows)}))

    def test_without_results_says_so(self):
        self.assertEqual(self.run_report(), 0)
        self.assertIn("Not measured yet.", self.page())

    def test_table(self):
        self.write(network_row(batch=64), network_row())
        self.assertEqual(self.run_report(), 0)
        page = self.page()
        self.assertIn("| 16 | NCxHWx<32> | 0.500 | 32000 | 0.400 | 40000 | 0.80 | 0.70 | 0.550 | 0 | 7 of 1000, by at most 2 | ok |",
                      page)
        self.assertLess(page.index("| 16 |"), page.index("| 64 |"))
        self.assertIn("25% to 50% zeros, at most 1.0% saturated", page)
        self.assertIn("cuDNN 9.19.0, 1980 MHz", page)
        self.assertEqual(self.run_report("--check"), 0)

    def test_failed_rows_stay_in(self):
        self.write(network_row(ours_ms=None, ours_images_per_s=None, cudnn_ms=None, cudnn_images_per_s=None,
                       ratio=None, ratio_without_first=None, model_choice_ms=None, output_differences=None, status="failed: a | b",
                       layers=[]))
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| 16 | NCxHWx<32> | - | - | - | - | - | - | - | 0 | - | failed: a / b |", self.page())

    def test_a_file_of_another_shape_is_an_error(self):
        self.write(network_row(mismatches="none"))
        self.assertEqual(self.run_report(), 2)


class CudnnReport(Case):
    page_text = PAGE.replace("nc4", "cudnn")
    line = ("difference: cudnn=9.19.0 peer={} problem=n1 numbers=random outputs=10 ties=1 differ=2 differ_at_ties=1 "
            "largest=1 farthest_from_middle=0.1 differ_from_fma=3\n")

    def test_plans_that_agree_are_counted(self):
        log = "NVIDIA H200, 580.1, 1980 MHz\n" + 2 * self.line.format("'cudnn_graph eng1'") + self.line.format("INT8x32")
        (self.root / report.RESULTS / "cudnn.log").write_text(log)
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| graph API, NHWC | 2 | `n1` | random | 10 | 1 | 2 | 1 | 1 | 0.1 | 3 |", self.page())
        self.assertIn("| INT8x32, reordered by us | 1 |", self.page())
        self.assertIn("NVIDIA H200, driver 580.1, cuDNN 9.19.0.", self.page())

    def test_a_log_without_differences_is_refused(self):
        (self.root / report.RESULTS / "cudnn.log").write_text("nothing\n")
        self.assertEqual(self.run_report(), 2)


class LadderReport(Case):
    page_text = PAGE.replace("nc4", "ladder") + PAGE.replace("nc4", "ladder-sizes") + PAGE.replace("nc4", "ladder-traffic")

    def write(self, **changes):
        rows = [dict(step=step, layer=f"step {step}", size=size, asked_mb=1.0, moved_mb=2.0 * size, conflicts=None, **changes)
                for size in (4096, 128) for step in (1, 2)]
        result = {"environment": {"device": "H200", "commit": "abc", "method": "medians"}, "rows": rows}
        (self.root / report.RESULTS / "ladder.json").write_text(json.dumps(result))
        (self.root / "docs/images").mkdir(parents=True, exist_ok=True)

    def test_tables_and_picture(self):
        self.write(ours_us=250.0, peer_us=5.0, ratio=0.02, tops=1.5, status="ok")
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| 2 | step 2 | 1 | 8192 | - | 250 | 1.50 | 0.0200 | ok |", self.page())
        self.assertIn("| 1 step 1 | 250 (0.0200) | 250 (0.0200) |\n", self.page())
        self.assertIn("| cuBLASLt | 5.00 | 5.00 |\n", self.page())
        self.assertIn("| 1 step 1 | 256 | 8192 |\n", self.page())
        picture = xml.etree.ElementTree.parse(self.root / report.LADDER_PICTURE).getroot()
        self.assertEqual(sum(element.tag.endswith("circle") for element in picture.iter()), 2 * 4 + 2)

    def test_counts_without_times(self):
        self.write()
        self.assertEqual(self.run_report(), 0)
        self.assertIn("| 2 | step 2 | 1 | 8192 | - | - | - | - | not timed |", self.page())


if __name__ == "__main__":
    unittest.main()
