// block_bench [--json=FILE] [--layers=PART] [--commit=HASH]: thousands of small products, one gemm::Block each, against the fastest
// algorithm that cuBLASLt's heuristic offers for them as a strided batch, and against whole kernels of ours over that batch.
//
// The operands of a run are larger than the L2. Every element is compared with the peer's: int8
// exactly, floats within what their sums may differ by.
#include "perf/peers/bench.hpp"

#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/block_bench/kernels.hpp"
#include "perf/block_bench/whole.hpp"
#include "perf/gemm_bench/elements.hpp"
#include "perf/peers/lt_product.hpp"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/dispatch.hpp"

namespace weft::perf {
namespace {

constexpr std::int64_t kBytes = std::int64_t{512} << 20;  // of A, B and C of a run, together
constexpr double kSampleMicroseconds = 4000;
constexpr int kMostOffers = 32;
constexpr const char* kSuffix[] = {"", "_wgmma", "_global"};  // of rows, for a CubeWay

// The fastest of the algorithms offered; -1 if none runs.
absl::StatusOr<int> Fastest(const Stopwatch& watch, const LtProduct& product,
                            const std::function<absl::Status(int algorithm)>& run) {
  int best = -1;
  double least = 0;
  for (int i = 0; i < product.algorithms(); ++i) {
    const absl::StatusOr<double> us =
        watch.Short([&](int) { return run(i); }, 1, kSampleMicroseconds);
    if (!us.ok()) {
      (void)cudaGetLastError();
      continue;
    }
    if (best < 0 || *us < least) best = i, least = *us;
  }
  return best;
}

// A whole kernel of ours.
struct Whole {
  std::string name;
  Contestant contestant;
};
// Those that take `products` cubes, with GPU code here.
template <class Element>
std::vector<Whole> WholeKernels(const Stopwatch& watch, std::int64_t size, int products,
                                const CubeParams<Element>& p) {
  using Op = gemm::Dispatch<WholeOf<Element>>;
  const gemm::GemmProblem problem = {.m = size, .n = size, .k = size, .batch = products};
  std::vector<Whole> found;
  for (int i = 0; i < Op::kPolicies; ++i) {
    const absl::StatusOr<Op> op = Op::CreateAt(problem, i);
    if (!op.ok()) continue;
    const auto run = [op = *op, p, stream = watch.stream()](int) {
      return op.Run({.a = p.a, .b = p.b, .c = p.c}, stream);
    };
    if (!run(0).ok()) continue;
    found.emplace_back();
    found.back().name = gemm::PolicyName(Op::Configs()[i]);
    found.back().contestant.enqueue = run;
  }
  return found;
}

template <class Element>
absl::Status Measure(Bench& bench, CubeWay way, int index, Json* row) {
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
  WEFT_LET(const int algorithm, Fastest(watch, product, run_peer));
  if (algorithm < 0) return absl::NotFoundError("cuBLASLt has no algorithm that runs");
  Contestant peer, ours;
  peer.enqueue = [&](int) { return run_peer(algorithm); };
  const CubeParams<Element> params{on_a.as<Element>(), on_b.as<Element>(), on_c.as<Sum>()};
  ours.enqueue = [&](int) -> absl::Status {
    const arch::LaunchResult result = LaunchCubes(way, index, products, params, watch.stream());
    return result.ok() ? absl::OkStatus() : absl::InternalError(result.message);
  };
  WEFT_TRY(watch.Prepare(peer, 1, kSampleMicroseconds));
  WEFT_LET(const std::vector<Sum> want, on_c.Read<Sum>());
  // Each of two sums of values below 1 in magnitude is within size^2 2^-23 of the true one.
  const double most = std::is_same_v<Sum, float> ? 2.0 * static_cast<double>(area) * 0x1p-23 : 0.0;
  std::int64_t wrong = 0, zeros = 0;
  for (const Sum x : want) zeros += x == 0;
  std::vector<Whole> wholes = WholeKernels<Element>(watch, size, products, params);
  std::vector<Contestant*> all = {&ours, &peer};
  for (Whole& whole : wholes) all.push_back(&whole.contestant);
  for (Contestant* one : all) {
    if (one == &peer) continue;
    WEFT_TRY(on_c.Fill(0x7f));
    WEFT_TRY(watch.Prepare(*one, 1, kSampleMicroseconds));
    WEFT_LET(const std::vector<Sum> got, on_c.Read<Sum>());
    for (std::size_t i = 0; i < got.size(); ++i) {
      wrong += !(std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])) <= most);
    }
  }
  if (2 * zeros > static_cast<std::int64_t>(want.size())) wrong = -1;  // nothing was compared
  WEFT_TRY(watch.Interleave(all, 15, 2e6));

  const double us = Quantile(ours.samples, 0.5), peer_us = Quantile(peer.samples, 0.5);
  double whole_us = 0.0;
  for (const Whole& whole : wholes) {
    const double each_us = Quantile(whole.contestant.samples, 0.5);
    if (whole_us > 0.0 && whole_us <= each_us) continue;
    whole_us = each_us;
    (*row)["whole_kernel"] = whole.name;
  }
  if (whole_us > 0.0) {
    row->update({{"whole_us", Rounded(whole_us)}, {"whole_ratio", Rounded(whole_us / us)}});
  }
  const double floor_us = products * each / bench.machine().ceilings(false).bytes_per_us;
  row->update({{"batch", products},
               {"kernel", absl::StrCat("block", kSuffix[static_cast<int>(way)])},
               {"ours_us", Rounded(us)},
               {"ours_tops", Rounded(2e-6 * products * size * area / us)},
               {"floor_us", Rounded(floor_us)},
               {"peer_us", Rounded(peer_us)},
               {"peer", product.Name(algorithm)},
               {"ratio", Rounded(peer_us / us)},
               {"mismatches", wrong}});
  return bench.ReadClock(ours, row);
}

template <class Element>
absl::Status Row(Bench& bench, CubeWay way, int index) {
  if (!HasWay<Element>(way, index)) return absl::OkStatus();
  return bench.Row(absl::StrCat("block_", Type<Element>::kName, "_", kCubeSizes[index],
                                kSuffix[static_cast<int>(way)]),
                   [&](Json* row) { return Measure<Element>(bench, way, index, row); });
}

absl::Status MeasureAll(Bench& bench) {
  const bool has_wgmma = CubeKernel<Half, 64, CubeWay::kWgmma>::kRequires.Fits(
      arch::QueryDevice().limits.compute_capability);
  for (int i = 0; i < static_cast<int>(std::size(kCubeSizes)); ++i) {
    for (const CubeWay way : {CubeWay::kWhole, CubeWay::kWgmma, CubeWay::kGlobal}) {
      if (way == CubeWay::kWgmma && !has_wgmma) continue;
      WEFT_TRY(Row<std::int8_t>(bench, way, i));
      WEFT_TRY(Row<Half>(bench, way, i));
      WEFT_TRY(Row<float>(bench, way, i));
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

int main(int argc, char** argv) {
  constexpr weft::perf::BenchProgram kProgram = {
      "block_bench", "gemm::Block against a strided batch of cuBLASLt",
      "random data, 512 MB of A, B and C in a run; one block a product; CUDA graphs; medians of "
      "interleaved samples; the peer is the fastest algorithm of cuBLASLt's heuristic for the "
      "strided batch, TF32 off; floor_us is from bytes alone"};
#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT
  return weft::perf::BenchMain(argc, argv, kProgram, weft::perf::MeasureAll);
#else
  return weft::perf::BenchMain(argc, argv, kProgram, nullptr);
#endif
}
