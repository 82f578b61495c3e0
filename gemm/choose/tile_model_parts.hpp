// What the parts of the tile model (gemm/choose/tile_model.cpp) share.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "weft/gemm/choose/tile_model.hpp"
#include "weft/gemm/choose/tile_model_constants.hpp"

namespace weft::gemm::internal {

inline constexpr double kLanesPerClock = 128.0;  // instruction lanes of a multiprocessor

// Of parts that overlap, but not wholly: between the longest and their sum.
inline double Overlapped(std::initializer_list<double> parts) {
  double cubes = 0.0;
  for (const double part : parts) cubes += part * part * part;
  return std::cbrt(cubes);
}
// The same, nearer to the sum the smaller `power` is, which is 1 or more.
inline double Overlapped(double power, std::initializer_list<double> parts) {
  double sum = 0.0;
  for (const double part : parts) sum += std::pow(part, power);
  return std::pow(sum, 1.0 / power);
}

// Microseconds of computing and of memory, which overlap but for the share `next` of the lesser.
inline double Together(double compute, double memory, double next, Prediction* result) {
  result->memory_bound = memory > compute;
  return (std::max)(compute, memory) + next * (std::min)(compute, memory);
}

// How the blocks of a plan spread over a machine: a Prediction but for its time, which is infinite if there is no
// block or none fits on the GPU. *per_sm, *per_thread: blocks of the busiest multiprocessor or thread.
Prediction SpreadOverGpu(const PlanCounts& counts, const TileFacts& tile, const GpuFacts& gpu,
                         double* per_sm);
Prediction SpreadOverCpu(const PlanCounts& counts, const TileFacts& tile, const CpuFacts& cpu,
                         double* per_thread);

// gemm::Predict with other constants than the fitted ones.
Prediction Predict(const PlanCounts& counts, const TileFacts& tile, const GpuFacts& gpu,
                   const ModelConstants& constants);

// Microseconds of the GPU's memory. The less of the L2 a kernel's bytes take, the more of them it still has, or keeps
// to be written later.
double MemoryMicroseconds(const PlanCounts& counts, const GpuFacts& gpu,
                          const MemoryConstants& constants);

// Microseconds of kernels of simt and simt_async, of mma_sm75 and mma_sm80, and of wgmma_sm90. per_sm: blocks of
// the busiest multiprocessor. They set result->memory_bound and read result->blocks_per_sm; wgmma_sm90's may set
// result->busy.
double SimtMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                        const GpuFacts& gpu, const SimtConstants& constants,
                        const MemoryConstants& memory, Prediction* result);
double MmaMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                       const GpuFacts& gpu, const MmaConstants& constants,
                       const MemoryConstants& memory, Prediction* result);
double WgmmaMicroseconds(const TileFacts& tile, const PlanCounts& counts, const GpuFacts& gpu,
                         const WgmmaConstants& constants, const MemoryConstants& memory,
                         Prediction* result);
double WholeKMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                          const GpuFacts& gpu, const WholeKConstants& constants,
                          const MemoryConstants& memory, Prediction* result);

// Of stores of fewer than 8 channels, how many more than one 8 channels take.
double NarrowStores(const TileFacts& tile);

}  // namespace weft::gemm::internal
