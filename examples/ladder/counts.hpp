// What a step asks of memory, as the CPU executor counts it while it runs one block.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "examples/ladder/steps.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"

namespace ladder {

struct Counts {
  std::string error;       // what the executor reported; else empty
  double asked_bytes = 0;  // of global memory, by the threads and TMA of the grid
  double moved_bytes = 0;  // what has to move for it: whole sectors of 32 bytes
  double wavefronts = 0;   // passes over the banks for each one needed at least; 0: none counted
};

// Of a product size^3. One block of `Kernel` is run, with as many rows and columns as its tile has
// and all of k; all blocks of the grid are alike where tiles divide the size.
template <class Kernel>
Counts Count(int size) {
  const int m = std::min(size, Kernel::kTileM), n = std::min(size, Kernel::kTileN);
  const auto whole = [](std::int64_t bytes) { return (bytes + 127) / 128; };
  struct alignas(128) Line {
    std::int8_t bytes[128];
  };
  std::vector<Line> a(whole(std::int64_t{m} * size)), b(whole(std::int64_t{n} * size)),
      c(whole(std::int64_t{m} * n * 4));
  const Product one = MakeProduct(a.data()->bytes, b.data()->bytes,
                                  reinterpret_cast<std::int32_t*>(c.data()), m, n, size);
  typename Kernel::Params params{};
  const arch::LaunchResult made = MakeParams<Kernel>(one, arch::MakeCpuTensorMap, &params);
  if (!made.ok()) return {.error = made.message};
  const arch::CpuReport report = arch::LaunchOnCpu<Kernel>({1}, params);
  const arch::CpuStats& s = report.stats;
  const double blocks = ((size + m - 1) / m) * static_cast<double>((size + n - 1) / n);
  const double phases = s.shared_phases + s.ldmatrix_phases;
  return {.error = report.error,
          .asked_bytes = blocks * (s.global_loads.bytes + s.global_stores.bytes + s.bulk_bytes),
          .moved_bytes = blocks * (s.global_loads.MovedBytes() + s.global_stores.MovedBytes() +
                                   static_cast<double>(s.bulk_bytes)),
          .wavefronts = phases > 0 ? (s.shared_wavefronts + s.ldmatrix_wavefronts) / phases : 0.0};
}

}  // namespace ladder
