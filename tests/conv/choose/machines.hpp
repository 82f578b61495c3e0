// GPUs that Dispatch chooses for in tests, and what it chose of wgmma_sm90.
#pragma once

#include <utility>

#include "weft/conv/dispatch.hpp"
#include "weft/gemm/arch/device.hpp"

namespace weft::conv {

inline arch::DeviceLimits Turing() {
  return {.compute_capability = 75,
          .sm_count = 40,
          .shared_memory_per_block = 64 * 1024,
          .shared_memory_per_sm = 64 * 1024,
          .registers_per_sm = 65536,
          .max_threads_per_sm = 1024,
          .l2_bytes = 4 << 20};
}

inline arch::DeviceLimits Gpu(int compute_capability, int multiprocessors, int kilobytes) {
  return {.compute_capability = compute_capability,
          .sm_count = multiprocessors,
          .shared_memory_per_block = kilobytes * 1024,
          .shared_memory_per_sm = (kilobytes + 1) * 1024,
          .registers_per_sm = 65536,
          .max_threads_per_sm = 1536,
          .l2_bytes = 40 << 20};
}

inline bool IsWgmma(const TileDescription& c) {
  return c.mainloop == gemm::Mainloop::kWgmmaSm90;
}

// How many of an operator's candidates run through wgmma_sm90, and how many of those are refused.
template <class Op>
std::pair<int, int> WgmmaCandidates(const Op& op) {
  std::pair<int, int> count;
  for (const Candidate& c : op.candidates()) {
    if (!IsWgmma(c.facts.config)) continue;
    ++count.first;
    count.second += !c.status.ok();
  }
  return count;
}

template <class Op>
bool RefusesAllWgmma(const Op& op) {
  const auto [all, refused] = WgmmaCandidates(op);
  return all > 0 && refused == all;
}

}  // namespace weft::conv
