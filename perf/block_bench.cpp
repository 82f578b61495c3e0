// block_bench [FILE.json]: thousands of small products, one gemm::Block each, against the fastest
// algorithm that cuBLASLt's heuristic offers for them as a strided batch.
//
// The operands of a run are larger than the L2. Every element is compared with the peer's: int8
// exactly, floats within what their sums may differ by.
#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/block_bench/kernels.hpp"
#include "perf/gemm_bench/elements.hpp"
#include "perf/peers/lt_product.hpp"
#include "perf/peers/machine.hpp"
#include "perf/support/json.hpp"

namespace weft::perf {
namespace {

constexpr std::int64_t kBytes = std::int64_t{512} << 20;  // of A, B and C of a run, together
constexpr double kSampleMicroseconds = 4000;
constexpr int kMostOffers = 32;

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

template <class Element>
absl::Status Measure(const Machine& machine, int index, Json* rows) {
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
  const Stopwatch& watch = machine.watch();

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
  ours.enqueue = [&](int) -> absl::Status {
    const arch::LaunchResult result =
        LaunchCubes(index, products,
                    CubeParams<Element>{on_a.as<Element>(), on_b.as<Element>(), on_c.as<Sum>()},
                    watch.stream());
    return result.ok() ? absl::OkStatus() : absl::InternalError(result.message);
  };
  WEFT_TRY(watch.Prepare(peer, 1, kSampleMicroseconds));
  WEFT_LET(const std::vector<Sum> want, on_c.Read<Sum>());
  WEFT_TRY(on_c.Fill(0x7f));
  WEFT_TRY(watch.Prepare(ours, 1, kSampleMicroseconds));
  WEFT_LET(const std::vector<Sum> got, on_c.Read<Sum>());
  // Each of two sums of values below 1 in magnitude is within size^2 2^-23 of the true one.
  const double most = std::is_same_v<Sum, float> ? 2.0 * static_cast<double>(area) * 0x1p-23 : 0.0;
  std::int64_t wrong = 0, zeros = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    wrong += !(std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])) <= most);
    zeros += want[i] == 0;
  }
  if (2 * zeros > static_cast<std::int64_t>(got.size())) wrong = -1;  // nothing was compared
  WEFT_TRY(watch.Interleave({&ours, &peer}, 15, 2e6));

  const double us = Quantile(ours.samples, 0.5), peer_us = Quantile(peer.samples, 0.5);
  const double floor_us = products * each / machine.ceilings(false).bytes_per_us;
  const double tops = 2e-6 * products * size * area / us;
  std::printf(
      "%-4s %3d^3 x %7d %9.2f us %8.2f TOPS %5.2f of the floor, cuBLASLt %9.2f us, "
      "ratio %.3f, %lld wrong\n",
      Type<Element>::kName, static_cast<int>(size), products, us, tops, us / floor_us, peer_us,
      peer_us / us, static_cast<long long>(wrong));
  std::fflush(stdout);
  rows->push_back({{"layer", absl::StrCat("block_", Type<Element>::kName, "_", size)},
                   {"batch", products},
                   {"ours_us", Rounded(us)},
                   {"floor_us", Rounded(floor_us)},
                   {"peer_us", Rounded(peer_us)},
                   {"peer", product.Name(algorithm)},
                   {"ratio", Rounded(peer_us / us)},
                   {"mismatches", wrong},
                   {"status", wrong == 0 ? "ok" : "mismatch"}});
  return absl::OkStatus();
}

absl::Status Main(const char* file) {
  Machine machine;
  WEFT_TRY(machine.Init(Json::object(), true));
  Json rows = Json::array();
  for (int i = 0; i < static_cast<int>(std::size(kCubeSizes)); ++i) {
    WEFT_TRY(Measure<std::int8_t>(machine, i, &rows));
    WEFT_TRY(Measure<Half>(machine, i, &rows));
    WEFT_TRY(Measure<float>(machine, i, &rows));
  }
  bool fine = true;
  for (const Json& row : rows) fine = fine && row["status"] == "ok";
  if (file != nullptr) {
    Json environment = machine.environment();
    environment["method"] =
        "random data, 512 MB of A, B and C in a run; one block a product; CUDA graphs; medians of "
        "interleaved samples; the peer is the fastest algorithm of cuBLASLt's heuristic for the "
        "strided batch, TF32 off; floor_us is from bytes alone";
    WEFT_TRY(WriteFile(file, Json{{"environment", environment}, {"rows", rows}}.dump(1) + "\n"));
  }
  return fine ? absl::OkStatus() : absl::DataLossError("wrong outputs");
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  const absl::Status status = weft::perf::Main(argc > 1 ? argv[1] : nullptr);
  if (status.ok()) return 0;
  std::fprintf(stderr, "block_bench: %s\n", status.ToString().c_str());
  return 1;
}

#else

#include <cstdio>

int main() {
  std::puts("block_bench: built without CUDA or cuBLASLt's header, nothing to measure");
  return 1;
}

#endif
