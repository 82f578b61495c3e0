// What the parts of the tile model (gemm/choose/tile_model.cpp) share.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "weft/gemm/choose/tile_model.hpp"
#include "weft/gemm/choose/tile_model_constants.hpp"

namespace weft::gemm::internal {

inline constexpr double kLanesPerClock = 128.0;  // instruction lanes of a multiprocessor

// How long parts take together that overlap, but not wholly: between the longest and their sum.
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

// The time of `compute` and `memory` microseconds, which overlap but for the share `next` of the
// lesser.
inline double Together(double compute, double memory, double next, Prediction* result) {
  result->memory_bound = memory > compute;
  return (std::max)(compute, memory) + next * (std::min)(compute, memory);
}

// How the blocks of a plan spread over a machine: a Prediction without its time. The time is
// infinite if there is no block or none fits on the GPU. *per_sm, *per_thread: tiles of the busiest
// multiprocessor or thread.
Prediction SpreadOverGpu(const PlanCounts& counts, const TileFacts& tile, const GpuFacts& gpu,
                         double* per_sm);
Prediction SpreadOverCpu(const PlanCounts& counts, const TileFacts& tile, const CpuFacts& cpu,
                         double* per_thread);

// gemm::Predict with other constants than the fitted ones.
Prediction Predict(const PlanCounts& counts, const TileFacts& tile, const GpuFacts& gpu,
                   const ModelConstants& constants);

// Microseconds that the GPU's memory takes for a plan's bytes. The fewer bytes a kernel moves,
// compared with the size of the L2, the larger the share of them that the L2 still holds from the
// kernel before, or keeps to be written later.
double MemoryMicroseconds(const PlanCounts& counts, const GpuFacts& gpu,
                          const MemoryConstants& constants);

// Microseconds of a kernel of simt or simt_async, of mma_sm75 or mma_sm80, and of wgmma_sm90
// (FirstLayer: where one k tile holds all k of a tile). per_sm: tiles of the busiest multiprocessor.
// Each sets result->memory_bound; those of simt and mma read result->blocks_per_sm.
double SimtMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                        const GpuFacts& gpu, const SimtConstants& constants,
                        const MemoryConstants& memory, Prediction* result);
double MmaMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                       const GpuFacts& gpu, const MmaConstants& constants,
                       const MemoryConstants& memory, Prediction* result);
double WgmmaMicroseconds(const TileFacts& tile, const PlanCounts& counts, const GpuFacts& gpu,
                         const WgmmaConstants& constants, const MemoryConstants& memory,
                         Prediction* result);
double FirstLayerMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                              const GpuFacts& gpu, const FirstLayerConstants& constants,
                              const MemoryConstants& memory, Prediction* result);

// How many more stores than one 8 channels take where a store (config.alignment.dst) holds fewer.
double NarrowStores(const TileFacts& tile);

}  // namespace weft::gemm::internal
