// block_bench: thousands of products of one size, one gemm::Block each, against cuBLASLt's strided batch and against whole
// kernels of ours (gemm::Gemm) that take them as a batch, each the fastest of a few tiles. Cubes of int8, half and float; of
// 64 and more also by wgmma, and floats in k tiles. The fastest algorithm of cuBLASLt's heuristic counts, and every output
// is compared with its answer: int8 exactly, others by the rounding that an order of summation makes.
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/bench/bench.hpp"
#include "perf/block_bench/kernels.hpp"
#include "perf/block_bench/policies.hpp"
#include "perf/gemm_bench/elements.hpp"
#include "perf/peers/lt_product.hpp"
#include "perf/support/device_data.hpp"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/dispatch.hpp"

namespace weft::perf {
namespace {

constexpr std::int64_t kBytes = std::int64_t{512} << 20;  // of A, B and C of a run, together
constexpr double kSampleMicroseconds = 4000;
constexpr int kMostOffers = 32;
constexpr const char* kSuffix[] = {"", "_wgmma", "_global"};  // of rows, for a CubeWay

template <class Element>
absl::Status Measure(Bench& bench, CubeWay cube_way, int index, Json* row) {
  using Sum = typename gemm::SumOf<Element>::type;
  const std::int64_t size = kCubeSizes[index], area = size * size;
  const std::int64_t each = area * (2 * sizeof(Element) + sizeof(Sum));
  const auto products = static_cast<int>(kBytes / each);
  std::vector<Element> a(products * area), b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = Type<Element>::Random(1, i), b[i] = Type<Element>::Random(2, i);
  }
  WEFT_LET(const DeviceBuffer on_a, DeviceBuffer::From(a));
  WEFT_LET(const DeviceBuffer on_b, DeviceBuffer::From(b));
  WEFT_LET(const DeviceBuffer on_c, DeviceBuffer::Create(a.size() * sizeof(Sum)));
  const Stopwatch& watch = bench.watch();
  const CubeParams<Element> params{on_a.as<Element>(), on_b.as<Element>(), on_c.as<Sum>()};

  // In column-major words C^T = B^T A^T; a column-major B needs transposing to be B^T.
  WEFT_LET(const LtProduct product,
           LtProduct::Create({.rows = size,
                              .columns = size,
                              .depth = size,
                              .transpose_a = true,
                              .operand = Type<Element>::kCuda,
                              .result = std::is_same_v<Sum, float> ? CUDA_R_32F : CUDA_R_32I,
                              .batch = products},
                             kMostOffers));
  const auto run_peer = [&](int algorithm) {
    return product.Run(algorithm, on_b.data(), on_a.data(), on_c.data(), watch.stream());
  };
  WEFT_LET(const int algorithm, FastestAnswer(product.algorithms(), "cuBLASLt", [&](int i) {
             return watch.Short([&](int) { return run_peer(i); }, 1, kSampleMicroseconds);
           }));
  Race race(watch, 1);
  WEFT_TRY(race.Add("peer", {product.Name(algorithm), [&](int) { return run_peer(algorithm); }},
                    kSampleMicroseconds));
  WEFT_LET(const std::vector<Sum> want, on_c.Read<Sum>());
  // Each of two sums of values below 1 in magnitude is within size^2 2^-23 of the true one.
  const double most = std::is_same_v<Sum, float> ? 2.0 * static_cast<double>(area) * 0x1p-23 : 0.0;
  std::int64_t wrong = 0, zeros = 0;
  for (const Sum x : want) zeros += x == 0;
  const auto add = [&](const std::string& what, const Way& way) -> absl::Status {
    WEFT_TRY(on_c.Fill(0x7f));
    WEFT_TRY(race.Add(what, way, kSampleMicroseconds));
    WEFT_LET(const std::vector<Sum> got, on_c.Read<Sum>());
    for (std::size_t i = 0; i < got.size(); ++i) {
      wrong += !(std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])) <= most);
    }
    return absl::OkStatus();
  };
  WEFT_TRY(add("ours", {absl::StrCat("block", kSuffix[static_cast<int>(cube_way)]), [&](int) {
                          return LaunchStatus(
                              LaunchCubes(cube_way, index, products, params, watch.stream()),
                              "block");
                        }}));
  // Whole kernels that take the products, with GPU code here.
  using Op = gemm::Dispatch<WholeOf<Element>>;
  std::vector<std::string> wholes;
  for (int i = 0; i < Op::kPolicies; ++i) {
    const absl::StatusOr<Op> op =
        Op::CreateAt({.m = size, .n = size, .k = size, .batch = products}, i);
    if (!op.ok()) continue;
    const Way way = {gemm::PolicyName(Op::Configs()[i]), [&, op = *op](int) {
                       return op.Run({.a = params.a, .b = params.b, .c = params.c}, watch.stream());
                     }};
    if (!way.enqueue(0).ok()) continue;
    wholes.push_back(absl::StrCat("whole ", i));
    WEFT_TRY(add(wholes.back(), way));
  }
  if (2 * zeros > static_cast<std::int64_t>(want.size())) wrong = -1;  // nothing was compared
  WEFT_TRY(race.Run(2e6));

  const double us = race.us("ours");
  double whole_us = 0.0;
  for (const std::string& whole : wholes) {
    if (whole_us > 0.0 && whole_us <= race.us(whole)) continue;
    whole_us = race.us(whole);
    row->update({{"whole_kernel", race.name(whole)},
                 {"whole_us", Rounded(whole_us)},
                 {"whole_ratio", Rounded(whole_us / us)}});
  }
  row->update({{"batch", products},
               {"kernel", race.name("ours")},
               {"ours_us", Rounded(us)},
               {"ours_tops", Rounded(2e-6 * products * size * area / us)},
               {"floor_us", Rounded(bench.CopyMicroseconds(static_cast<double>(products * each)))},
               {"peer_us", Rounded(race.us("peer"))},
               {"peer", race.name("peer")},
               {"ratio", Rounded(race.us("peer") / us)},
               {"mismatches", wrong}});
  return bench.ReadClock(race.contestant("ours"), row);
}

template <class Element>
void Add(Bench& bench, CubeWay way, int index) {
  if (!HasWay<Element>(way, index)) return;
  bench.AddRow(absl::StrCat("block_", Type<Element>::kName, "_", kCubeSizes[index],
                            kSuffix[static_cast<int>(way)]),
               [=, &bench](Json* row) { return Measure<Element>(bench, way, index, row); });
}

absl::Status MeasureAll(Bench& bench) {
  const bool has_wgmma = CubeKernel<Half, 64, CubeWay::kWgmma>::kRequires.Fits(
      arch::QueryDevice().limits.compute_capability);
  for (int i = 0; i < static_cast<int>(std::size(kCubeSizes)); ++i) {
    for (const CubeWay way : {CubeWay::kWhole, CubeWay::kWgmma, CubeWay::kGlobal}) {
      if (way == CubeWay::kWgmma && !has_wgmma) continue;
      Add<std::int8_t>(bench, way, i);
      Add<Half>(bench, way, i);
      Add<float>(bench, way, i);
    }
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"block_bench", "gemm::Block against a strided batch of cuBLASLt",
       "random data, 512 MB of A, B and C in a run; one block a product; CUDA graphs; medians of "
       "interleaved samples; the peer is the fastest algorithm of cuBLASLt's heuristic for the "
       "strided batch, TF32 off; floor_us is from bytes alone"},
      weft::perf::MeasureAll);
}
