// pool_bench: a first layer whose epilogue pools (epilogues::MaxPool), against the same layer and the pooling of a network
// behind it: 7x7 with stride 2 of images of 224 x 224 pixels, uint8 with a zero point, NCxHWx<4> to NCxHWx<32>, and windows
// of 3 x 3 pixels two apart. All bytes of the two are compared.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/bench/bench.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/random.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/network/operators/tensor_operator.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::perf {
namespace {

// The layer by a tile, with or without its pooling.
absl::StatusOr<rtc::Operator> Layer(const std::string& tile, bool pools) {
  return rtc::Compile(absl::StrCat(
      "namespace layer { using namespace weft::epilogues; struct Epilogue : Chain<SourceZeroPoint, "
      "SumBias, Scale, RoundFirst, ",
      pools ? "MaxPool<3, 2, 1>, " : "",
      "ClampTo<std::uint8_t>> {}; }\n"
      "struct Layer : weft::conv::S8Conv4<layer::Epilogue, weft::NCxHWx<32>, weft::conv::",
      tile, "> { using Element = std::uint8_t; };\n"));
}

struct Set {
  DeviceBuffer src, between, dst;
};

absl::Status Measure(Bench& bench, std::int64_t n, const std::string& tile, Json* row) {
  const conv::Problem p = conv::SquareProblem(n, 3, 224, 64, 7, 3, 2);
  WEFT_LET(const rtc::Operator layer, Layer(tile, false));
  WEFT_LET(const rtc::Operator pooled, Layer(tile, true));
  WEFT_LET(const conv::ConvPlan plan, layer.Plan(p));
  WEFT_LET(const conv::ConvPlan pooled_plan, pooled.Plan(p));
  network::TensorProblem pooling{.kind = network::Kind::kMaxPool};
  pooling.src = {
      .element = network::Element::kUint8, .extents = p.dst(), .format = network::Format::kNc32};
  pooling.dst = pooling.src, pooling.dst.extents = pooled_plan.dst();
  pooling.window = {.h = 3,
                    .w = 3,
                    .stride_h = 2,
                    .stride_w = 2,
                    .pad_top = 1,
                    .pad_left = 1,
                    .pad_bottom = 0,
                    .pad_right = 0};
  WEFT_LET(const network::TensorOperator pool, network::TensorOperator::Create(pooling));
  WEFT_TRY(pool.Prepare());

  const std::int64_t src_bytes = layer.src_bytes(plan), between_bytes = layer.dst_bytes(plan),
                     dst_bytes = pooled.dst_bytes(pooled_plan);
  const std::vector<std::int8_t> weights = RandomInt8s(KCRS::Size(p.filter()), 1);
  WEFT_LET(const auto packed, PackFilter<CxRSKx<4>>(p.filter(), weights));
  WEFT_LET(const auto table, conv::MakeSourceCorrection(p, packed, 114));
  WEFT_LET(const DeviceBuffer filter, DeviceBuffer::FromBytes(packed.data(), packed.bytes()));
  WEFT_LET(const DeviceBuffer correction, DeviceBuffer::FromBytes(table.data(), table.bytes()));
  WEFT_LET(const DeviceBuffer bias, DeviceBuffer::From(std::vector<std::int32_t>(64, 1000)));
  WEFT_LET(const DeviceBuffer alpha, DeviceBuffer::From(std::vector<float>(64, 0.0005f)));
  std::vector<Set> sets(static_cast<std::size_t>(BufferSets(src_bytes + dst_bytes)));
  for (Set& set : sets) {
    WEFT_LET(set.src, DeviceBuffer::Create(src_bytes));
    WEFT_TRY(FillPlanar(set.src.as<std::int8_t>(), src_bytes, 2, bench.stream()));
    WEFT_LET(set.between, DeviceBuffer::Create(between_bytes));
    WEFT_LET(set.dst, DeviceBuffer::Create(dst_bytes));
  }
  const auto run = [&](const rtc::Operator& op, const conv::ConvPlan& of, const Set& set,
                       void* dst) {
    rtc::Arguments args;
    args.src = set.src.data(), args.filter = rtc::FilterOf(packed.At(filter.data()));
    args.bias = bias.data(), args.channel_alpha = alpha.as<float>(), args.dst = dst;
    args.source_correction = table.At(correction.data());
    args.filter_is_constant = true;
    return op.Run(of, args, bench.stream());
  };
  const auto set_of = [&](int number) -> const Set& {
    return sets[static_cast<std::size_t>(number)];
  };
  const auto one = [&](int i) { return run(layer, plan, set_of(i), set_of(i).between.data()); };
  const auto two = [&](int i) {
    return pool.Run({.src = set_of(i).between.data(), .dst = set_of(i).dst.data()}, bench.stream());
  };
  const auto both = [&](int i) {
    WEFT_TRY(one(i));
    return two(i);
  };
  const auto fused = [&](int i) {
    return run(pooled, pooled_plan, set_of(i), set_of(i).dst.data());
  };

  WEFT_LET(const DeviceBuffer want, CopyOf(sets[0].dst, 0x55, both, bench.stream()));
  WEFT_LET(const std::int64_t wrong, WrongBytes(sets[0].dst, 0x77, fused, want, bench.stream()));

  Race race(bench.watch(), static_cast<int>(sets.size()));
  WEFT_TRY(race.Add("pooled", {pooled.Describe(pooled_plan), fused}));
  WEFT_TRY(race.Add("layer", {layer.Describe(plan), one}));
  WEFT_TRY(race.Add("pool", {pool.Describe(), two}));
  WEFT_TRY(race.Add("both", {"the layer and its pooling", both}));
  WEFT_TRY(race.Run());
  row->update(
      {{"kernel", pooled.Describe(pooled_plan)},
       {"pooled_us", Rounded(race.us("pooled"))},
       {"layer_us", Rounded(race.us("layer"))},
       {"pool_us", Rounded(race.us("pool"))},
       {"both_us", Rounded(race.us("both"))},
       {"both_over_pooled", Rounded(race.us("both") / race.us("pooled"))},
       {"floor_us", Rounded(bench.CopyMicroseconds(static_cast<double>(src_bytes + dst_bytes)))},
       {"buffer_sets", sets.size()},
       {"mismatches", wrong}});
  return bench.ReadClock(race.contestant("pooled"), row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const std::int64_t n : {1, 16, 64, 128, 256, 512}) {
    for (const char* tile : {"WgmmaFirst512x64", "WgmmaFirst448x64"}) {
      bench.AddRow(absl::StrCat("n", n, " ", tile),
                   [&bench, n, tile](Json* row) { return Measure(bench, n, tile, row); });
    }
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"pool_bench", "a first layer that pools its output, against the two kernels",
       "random data; buffers rotated past the L2; CUDA graphs; medians of interleaved samples; "
       "floor_us: what a copy of the image's and the pooled bytes takes; kernels compiled by "
       "NVRTC"},
      weft::perf::MeasureAll);
}
