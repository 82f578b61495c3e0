"""Tests of the tables that perf/report.py shows."""

import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "perf"), str(pathlib.Path(__file__).resolve().parent)]
import report  # noqa: E402
import report_benches  # noqa: E402
import report_compile  # noqa: E402
import report_ladder  # noqa: E402
import report_networks  # noqa: E402
import report_products  # noqa: E402
import report_tables as tables  # noqa: E402
from report_test import result, row  # noqa: E402


class Layers(unittest.TestCase):
    def test_lists_count_only_good_rows(self):
        rows = [row(), row(ours_us=40.0), row(mismatches=1, peer_us=1e6),
                row(status="failed: x", ours_us=None), row(peer_us=None)]
        text = tables.lists({"anchors": [result(16, rows)], "one": [result(16, [row()])]})
        self.assertIn("| anchors | 16 | 5 | 3 | 1.00 | 1 of 2 | 0.50 to 2.00 | 3.17 | 1.25 |\n", text)
        self.assertNotIn("| one |", text)  # lists of one layer are parts of others

    def test_layers_have_a_pair_of_columns_for_each_batch(self):
        text = tables.layers([result(1, [row(batch=1), row(batch=1, layer="c8", ours_us=123.4)]),
                              result(16, [row(status="mismatch: 3", mismatches=3)])])
        self.assertEqual(text, "| layer | N = 1, us | ratio | N = 16, us | ratio |\n| --- | ---: | ---: | ---: | ---: |\n"
                         "| c64h56w56k64r3s1 | 10.0 | 2.00 | mismatch |  |\n| c8 | 123 | 0.16 |  |  |\n")
        self.assertIn("| layer | N = 16, us |\n", tables.layers([result(16, [row(peer_us=None)])]))

    def test_copies(self):
        text = tables.copies([result(16, [row(copy_us=7.5, copy_over_ours=0.75, peer_us=None)])])
        self.assertIn("| c64h56w56k64r3s1 | 16 | 10.00 | 7.50 | 0.75 | 5.00 | - |", text)

    def test_check_compares_the_best_int8_answer_of_cudnn(self):
        anchors = {("c64h56w56k64r3s1", 16): 14.0, ("b", 16): 10.5, ("c", 16): 5.0}
        rows = [row(), row(layer="b"), row(layer="c"), row(layer="unknown")]
        # 14 / 14, 14 / 10.5, 14 / 5; the last is below 10 us.
        self.assertIn("| 16 | 3 | 1.551 | 2 | 1 | b 1.33 |", tables.check([result(16, rows)], anchors))

    def test_cutlass_compares_our_nc32_times(self):
        rows = [row(layer=layer, layouts={"nc32": {"time_us": 10.0}}) for layer in ("a", "b", "unknown")]
        text = tables.cutlass([result(16, rows)], {("a", 16): 20.0, ("b", 16): 9.0})
        self.assertIn("| 16 | 2 | 1.342 | 1 | b 0.90 |", text)

    def test_earlier_times_are_read(self):
        times = report.read_times(report.ROOT, "anchors_us.csv")
        self.assertGreater(times["c64h56w56k64r3s1", 64], 0)

    def test_reformats(self):
        layouts = {"nc4": {"time_us": 10.0, "with_reformat_us": 16.0}, "nc4_nc32": {"time_us": 12.0}}
        found = [result(16, [row(ratio_with_reformat=3.0, layouts=layouts), row()])]
        self.assertIn("| reformat | 16 | 1 | 2.00 | 3.00 |", tables.reformat({"reformat": found}))
        self.assertIn("| 16 | 10.00 | 16.00 | 12.00 | 25% |", tables.first_layer([result(16, [row(layouts=layouts)])]))

    def test_energy_is_of_rows_at_the_limit_of_power(self):
        rows = [row(operations=2e9, ours_joules=1e-3, peer_joules=1.5e-3, ours_watts=600, peer_watts=650, clock_mhz=1600), row(layer="b")]
        text = tables.energy({"anchors": [result(16, rows)], "resnet50": [result(16, rows)]})
        self.assertIn("| 16 | 10.0 | 2.00 | 1.50 | 0.50 | 0.75 | 600 | 650 | 1600 |", text)
        self.assertEqual(len(text.splitlines()), 3)
        self.assertEqual(tables.energy({"anchors": [result(16, [row()])]}), "")


class Networks(unittest.TestCase):
    def test_chain(self):
        of = {"ours_ms": 0.5, "ours_images_per_s": 32000, "cudnn_ms": 0.4, "ratio": 0.8, "ratio_without_first": 0.7, "layout": "nhwc",
              "model_choice_ms": 0.55, "mismatches": 0, "status": "ok"}
        rows = [{**of, "batch": 64}, {**of, "batch": 16}, {"batch": 1, "mismatches": 0, "status": "failed: a"}]
        environment = {"device": "a GPU", "driver": "1", "cuda": "13.0", "libraries": ["cuDNN 9"], "commit": "c0ffee"}
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(report_networks.chain(pathlib.Path(folder), tables.table))
            (pathlib.Path(folder) / "chain-h200.json").write_text(json.dumps({"environment": environment, "rows": rows}))
            text = report_networks.chain(pathlib.Path(folder), tables.table)
            self.assertIn("| 1 | - | - | - | - | - | - | - | failed: a |\n"
                          "| 16 | nhwc | 0.500 | 32,000 | 0.550 | 0.400 | 0.80 | 0.70 | 0 |\n| 64 |", text)
            self.assertIn("commit c0ffee", text)
            chain = report_networks.chain_of(pathlib.Path(folder), "h200")
            self.assertIn("| ResNet-50's 53 convolutions as one CUDA graph | 0.80 |", tables.speed({"all": [result(16, [row()])]}, chain))

    def test_peers_and_order(self):
        time = {"batch": 1, "ms": 0.2, "images_per_s": 5000, "arena_mb_per_image": 1.5}
        peers = {"torch_half_ms": {"default": 0.6, "max-autotune-no-cudagraphs": 0.5}, "ratio": 2.5}
        rows = [{"name": name, "outputs": 400, "differ": 0, "times": [times]} for name, times in
                (("a_64_u8", {**time, "tuned_after_us": 198.0}), ("yolo_320_u8", {**time, **peers}), ("resnet50_224_u8", time), ("placed0_8_u8", time))]
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(report_networks.networks(pathlib.Path(folder), tables.table))
            result = {"commit": "c0ffee", "gpu": "a GPU", "torch": "2.11", "networks": rows}
            (pathlib.Path(folder) / report_networks.FILES[0]).write_text(json.dumps(result))
            (pathlib.Path(folder) / report_networks.FILES[1]).write_text(json.dumps({**result, "commit": "older"}))
            text = report_networks.networks(pathlib.Path(folder), tables.table)
        self.assertIn("| `yolo_320_u8` | 1 | model's | 0.200 | 5,000 | 0.500 | 2.50 | 1.50 | 0 of 400 | c0ffee |", text)
        self.assertLess(text.index("resnet50"), text.index("yolo"))
        self.assertLess(text.index("yolo"), text.index("| 1 | tuned | 0.200 | 5,000 |  |  | 1.50 | 0 of 400 | c0ffee |\n\na GPU, commits c0ffee"))
        self.assertIn(" PyTorch 2.11. ", text)
        self.assertNotIn("placed", text)

    def test_bits_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            row = {"name": "a_64_s8", "outputs": 400, "differ": 3, "times": []}
            (pathlib.Path(folder) / report_networks.FILES[0]).write_text(json.dumps({"commit": "c0ffee", "gpu": "a GPU", "networks": [row]}))
            text = report_networks.networks(pathlib.Path(folder), tables.table)
        self.assertIn("| `a_64_s8` |  |  |  |  |  | 3 of 400 | c0ffee |", text)


class Benches(unittest.TestCase):
    def bench(self, name, *rows):
        return report_benches.bench(name, {"environment": {}, "rows": list(rows)}, tables.table)

    def test_columns_and_failed_rows(self):
        text = self.bench("deconv", {"layer": "n16c8", "ours_us": 10.0, "peer_us": 25.5, "ratio": 2.55, "status": "ok"},
                          {"layer": "n64c8", "status": "failed: why"})
        self.assertTrue(text.endswith("| n16c8 | 10.00 | 25.50 | 2.55 |\n\nn64c8: failed: why.\n"))

    def test_costs(self):
        variant = {"kind": "activation", "relu_us": 4.0, "status": "ok"}
        rows = [{**variant, "layer": "n16c1", "variant": "tanh", "over_relu": 1.25, "best_over_relu": 1.0},
                {**variant, "layer": "n64c1", "variant": "tanh", "over_relu": 1.0, "best_over_relu": 1.0},
                {**variant, "layer": "n16c1", "variant": "GELU", "best_over_relu": 1.5},
                {"layer": "n64c1", "kind": "activation", "variant": "GELU", "status": "failed: why"},
                {"layer": "n16c1", "kind": "type", "variant": "half", "over_relu": 1.5, "best_over_relu": 1.2, "status": "ok"},
                {"layer": "n1c1", "kind": "filter", "variant": "filters of int4", "int8_us": 3.0, "int4_us": 2.0,
                 "int8_over_int4": 1.5, "int8_filter_kb": 64, "status": "ok"},
                {"layer": "n64d", "kind": "depthwise", "variant": "both", "relu_us": 4.0, "ours_us": 5.0, "over_relu": 1.25, "status": "ok"}]
        self.assertIn("| tanh | 1.25 | 1.00 | 1.25 | 1.00 |  |\n| GELU | - | - | - | 1.50 | 1 failed |", self.bench("epilogue-costs", *rows))
        self.assertIn("| half | 1.50 | 1.50 | 1.20 |", self.bench("epilogue-types", *rows))
        self.assertIn("| n1c1 | 64 | 3.00 | 2.00 | 1.50 | - | - |", self.bench("int4", *rows))
        self.assertIn("| n64d | both | 4.00 | 5.00 | 1.25 |", self.bench("depthwise-zeros", *rows))

    def test_local_filters_by_batch_and_width(self):
        of = {"status": "ok", "filter_bits": 8, "copy_over_ours": 0.5}
        text = self.bench("local-filter", {**of, "layer": "n16c8", "share_of_copy": 0.5}, {**of, "layer": "n16c9", "share_of_copy": 0.8},
                          {**of, "layer": "n1c9", "share_of_copy": 0.8})
        self.assertIn("| 1 | 8 | 1 | 0.80 | 0.80 | n1c9 | 0.50 |\n| 16 | 8 | 2 | 0.63 | 0.50 | n16c8 | 0.50 |\n", text)

    def test_every_bench_can_be_empty(self):
        for name in report_benches.BENCHES:
            self.assertEqual(self.bench(name).count("\n"), 2, name)


class Products(unittest.TestCase):
    ROW = {"layer": "gemm_s8_4096", "kernel": "mma", "layout": "row-major A, column-major B", "ours_us": 200.0,
           "peer_us": 100.0, "peer": "cublasLt", "ratio": 0.5, "mismatches": 0, "status": "ok"}

    def test_a_line_for_each_type_and_order(self):
        rows = [self.ROW | {"best": False}, self.ROW | {"best": True}, self.ROW | {"status": "failed: x", "ours_us": None},
                self.ROW | {"layer": "gemm_s8_16x64x64", "ratio": 1.5},
                self.ROW | {"layout": "row-major A, row-major B"},
                self.ROW | {"layer": "gemm_f16_x_s4_over_f16_4096", "status": "failed: y"}]
        self.assertEqual(report_products.grid({"rows": rows}, tables.table),
                         "| types | A, B | 4096^3 | 16 x 64 x 64 |\n| --- | --- | ---: | ---: |\n"
                         "| s8 | RC | 200.0 (0.50) | 200.0 (1.50) |\n| s8 | RR | 200.0 (0.50) |  |\n| f16 x s4 | RC | failed |  |\n")
        self.assertIn("| s8 | 3 | 0.72 | 0.50 | 4096^3, RC |\n", report_products.types({"rows": rows}, tables.table))


class Others(unittest.TestCase):
    def test_compile_times(self):
        of = {"gpu": "sm_90a", "kernels": 1, "user_s": 1.5, "system_s": 0.5, "load_each": [0.5, 1.25]}
        text = report_compile.times({"environment": {"device": "CPU", "processors": 2, "nvcc": "13.0", "commit": "abc", "date": "today",
                                                     "method": "how"},
                                     "rows": [{**of, "words": "product of a | b", "wall_s": 2.25}, {**of, "words": "product of c", "wall_s": 12},
                                              {**of, "words": "convolution", "wall_s": 11}]}, tables.table)
        self.assertIn("| product of a / b | sm_90a | 1 | 2.2 | 2.0 | 1.2 |\n", text)
        self.assertIn("\nProducts in less than 10 s, as is wanted: 1 of 2; not product of c (12.0 s).\n", text)

    def test_build_costs(self):
        rows = [{"words": "an install", "toolkit": toolkit, "cpu_s": 88.6, "commit": "abc"} for toolkit in (False, True)]
        text = report_compile.builds({"environment": {"device": "CPU", "nvcc": "13.0", "date": "today", "method": "how"}, "rows": rows},
                                     tables.table)
        self.assertIn("| an install | without | 89 |\n| an install | with | 89 |\n", text)
        self.assertIn("\nCPU, nvcc 13.0; commit abc, today. How.\n", text)

    def test_plans_of_cudnn_that_agree_are_counted(self):
        line = ("difference: cudnn=9.19.0 peer={} problem=n1 numbers=random outputs=10 ties=1 differ=2 differ_at_ties=1 "
                "largest=1 farthest_from_middle=0.1 differ_from_fma=3\n")
        text = report.cudnn_differences("NVIDIA H200, 580.1, 1980 MHz\n" + 2 * line.format("'cudnn_graph eng1'") + line.format("INT8x32"))
        self.assertIn("| graph API, NHWC | 2 | `n1` | random | 10 | 1 | 2 | 1 | 1 | 0.1 | 3 |", text)
        self.assertIn("| INT8x32, reordered by us | 1 |", text)
        self.assertIn("NVIDIA H200, driver 580.1, cuDNN 9.19.0.", text)
        with self.assertRaises(ValueError):
            report.cudnn_differences("nothing\n")

    def test_the_ladder(self):
        def ladder(**changes):
            rows = [dict(step=step, layer=f"step {step}", size=size, asked_mb=1.0, moved_mb=2.0 * size, conflicts=None, **changes)
                    for size in (4096, 128) for step in (1, 2)]
            return {"environment": {"device": "H200", "commit": "abc", "method": "medians"}, "rows": rows}
        timed = ladder(ours_us=250.0, peer_us=5.0, ratio=0.02, tops=1.5, status="ok")
        self.assertIn("| 2 | step 2 | 1 | 8192 | - | 250 | 1.50 | 0.0200 | ok |", report_ladder.steps(timed, tables.table))
        self.assertIn("| 1 step 1 | 250 (0.0200) | 250 (0.0200) |\n", report_ladder.sizes(timed, tables.table))
        self.assertIn("| 1 step 1 | 256 | 8192 |\n", report_ladder.traffic(timed, tables.table))
        self.assertIn("| 2 | step 2 | 1 | 8192 | - | - | - | - | not timed |", report_ladder.steps(ladder(), tables.table))
        picture = xml.etree.ElementTree.fromstring(report_ladder.picture(timed))
        self.assertEqual(sum(element.tag.endswith("circle") for element in picture.iter()), 2 * 4 + 2)


if __name__ == "__main__":
    unittest.main()
