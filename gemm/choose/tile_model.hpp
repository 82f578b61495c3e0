// A model of how long an operator takes with a given tile, good enough to choose a tile without
// measuring. The operator's plan makes the counts that it starts from (PlanCounts).
//
// It counts the waves of blocks and, for each, the slower of the work that the multiprocessor's
// blocks share and the latency that one block cannot hide. The constants of simt, mma_sm80 and
// wgmma_sm90 (gemm/choose/tile_model_constants.hpp) are fitted to products of int8 with four
// epilogues on an H200: `model_check --fit` makes them from perf/results/tiles/, and
// perf/results/tiles/model_check.txt says how well they choose. Those of mma_sm75, of other element
// types and of older GPUs follow from them and from data sheets. An operator of Mainloop::kOther
// has a model of its own, made of the parts in gemm/choose/tile_model_parts.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// What the model knows of a GPU. The defaults are those of an H200.
struct GpuFacts {
  arch::DeviceLimits limits = {.compute_capability = 90,
                               .sm_count = 132,
                               .shared_memory_per_block = 227 * 1024,
                               .shared_memory_per_sm = 228 * 1024,
                               .registers_per_sm = 65536,
                               .max_threads_per_sm = 2048,
                               .l2_bytes = std::int64_t{60} << 20};
  double clock_mhz = 1980.0;
  double bytes_per_us = 4.3e6;  // of device memory, reads plus writes
  // What tuning tables call it (arch::DeviceName).
  std::string name = "NVIDIA H200";
};

// The facts of a GPU with these limits; clock and bandwidth are those of its generation's data
// centre card. Without its name, no tuning table is looked into.
GpuFacts GpuFactsOf(const arch::DeviceLimits& limits, const std::string& name = "");

// Multiply-accumulates of int8 that all tensor cores of a GPU make in a microsecond at most, by its data sheet.
double Int8MacsPerMicrosecond(const GpuFacts& gpu);

struct CpuFacts {
  int threads = 1;
};

// What the model expects of one tile. For the CPU "multiprocessor" means a thread.
struct Prediction {
  double microseconds = 0.0;
  std::int64_t blocks = 0;
  int processors = 0;     // multiprocessors
  int blocks_per_sm = 0;  // blocks that a multiprocessor runs together; 0: not even one fits
  double waves = 0.0;     // blocks / (processors * blocks_per_sm)
  double useful = 0.0;    // share of the multiply-accumulates that are not padding of m, n and k
  double busy = 0.0;      // blocks of the average multiprocessor, over those of the busiest one
  bool memory_bound = false;
};

// counts: those of the plan that the tile's policy makes. A GPU's time is infinite for
// Mainloop::kOther.
Prediction Predict(const PlanCounts& counts, const TileFacts& tile, const GpuFacts& gpu);
Prediction Predict(const PlanCounts& counts, const TileFacts& tile, const CpuFacts& cpu);

// InvalidArgument, beginning with `who`, if the model cannot compute with them: counts that are not
// positive, a clock or a bandwidth that is not a positive number.
absl::Status CheckFacts(const char* who, const GpuFacts& gpu);
absl::Status CheckFacts(const char* who, const CpuFacts& cpu);

// "a GPU of 132 multiprocessors"
std::string MachineName(const GpuFacts& gpu);
std::string MachineName(const CpuFacts& cpu);

}  // namespace weft::gemm
