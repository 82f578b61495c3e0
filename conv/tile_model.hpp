// A model of how long a convolution takes with a given tile, good enough to choose one without
// measuring.
//
// It counts the waves of blocks and, for each, the slower of the work that the multiprocessor's
// blocks share and the latency that one block cannot hide. The constants of the simt and mma_sm80
// families are fitted to measurements of an H200 (perf/results/h200/; docs/performance.md says how
// well it chooses); those of mma_sm75 and of older GPUs follow from them and from data sheets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/conv/problem.hpp"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/facts.hpp"

namespace weft::conv {

using gemm::TileFacts;

// An H200 unless told otherwise.
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

struct CpuFacts {
  int threads = 1;
};

// What the model expects of one tile. On the CPU a multiprocessor is a thread.
struct Prediction {
  double microseconds = 0.0;
  std::int64_t blocks = 0;
  int processors = 0;     // multiprocessors
  int blocks_per_sm = 0;  // that fit together; 0: not one does
  double waves = 0.0;     // blocks / (processors * blocks_per_sm)
  double useful = 0.0;    // of the multiply-accumulates; the rest is padding of m, n and k
  double busy = 0.0;      // mean over the multiprocessors of their share of blocks, busiest = 1
  bool memory_bound = false;
};

// `problem` is one that the tile's policy accepts.
Prediction Predict(const Problem& problem, const TileFacts& tile, const GpuFacts& gpu);
Prediction Predict(const Problem& problem, const TileFacts& tile, const CpuFacts& cpu);

}  // namespace weft::conv
