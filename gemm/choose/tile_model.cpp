#include "weft/gemm/choose/tile_model.hpp"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "weft/gemm/choose/tile_model_parts.hpp"

namespace weft::gemm {
namespace {

bool IsSimt(const TileDescription& config) {
  return config.mainloop == Mainloop::kSimt || config.mainloop == Mainloop::kSimtAsync;
}

int BlocksPerSm(const TileFacts& tile, const arch::DeviceLimits& limits) {
  const std::int64_t shared = tile.shared_bytes + 1024;  // CUDA takes 1 KB for each block itself
  return static_cast<int>(std::min<std::int64_t>(
      {std::int64_t{tile.blocks_by_registers} * limits.registers_per_sm / 65536,
       limits.shared_memory_per_sm / shared, limits.max_threads_per_sm / tile.threads}));
}

// How the plan's blocks spread over `processors` processors, `together` of which work on each tile.
// It sets blocks, processors, useful and busy of the Prediction. *per_sm: the tiles in which the
// busiest processor has a part.
Prediction Spread(const PlanCounts& counts, int split, int processors, int together,
                  double* per_sm) {
  Prediction result;
  const double tiles = counts.blocks();
  *per_sm = std::ceil(tiles / std::max(1, processors / together));
  result.blocks = counts.blocks() * split;
  result.processors = processors;
  result.useful = counts.useful;
  result.busy = tiles * together / (*per_sm * processors);
  return result;
}

}  // namespace

GpuFacts GpuFactsOf(const arch::DeviceLimits& limits, const std::string& name) {
  GpuFacts gpu;
  gpu.limits = limits;
  gpu.name = name;
  if (limits.compute_capability < 80) {
    gpu.clock_mhz = 1590.0, gpu.bytes_per_us = 0.28e6;  // T4
  } else if (limits.compute_capability == 80) {
    gpu.clock_mhz = 1410.0, gpu.bytes_per_us = 1.7e6;  // A100
  } else if (limits.compute_capability < 90) {
    gpu.clock_mhz = 2400.0, gpu.bytes_per_us = 0.75e6;  // L40
  }
  return gpu;
}

absl::Status CheckFacts(const char* who, const GpuFacts& gpu) {
  struct Fact {
    const char* name;
    double value, most;  // `most` is far above what any GPU has
  };
  const arch::DeviceLimits& limits = gpu.limits;
  const Fact facts[] = {
      {"limits.sm_count", double(limits.sm_count), 1 << 16},
      {"limits.shared_memory_per_sm", double(limits.shared_memory_per_sm), 1 << 26},
      {"limits.registers_per_sm", double(limits.registers_per_sm), 1 << 24},
      {"limits.max_threads_per_sm", double(limits.max_threads_per_sm), 1 << 16},
      {"clock_mhz", gpu.clock_mhz, 1e6},
      {"bytes_per_us", gpu.bytes_per_us, 1e12},
  };
  for (const Fact& fact : facts) {
    if (fact.value > 0.0 && fact.value <= fact.most) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(who, ": gpu.", fact.name, "=", fact.value,
                     " describes no GPU; give a positive number of at most ", fact.most,
                     ", or the limits that arch::QueryDevice has"));
  }
  return absl::OkStatus();
}

absl::Status CheckFacts(const char* who, const CpuFacts& cpu) {
  constexpr int kMost = 1 << 16;
  if (cpu.threads > kMost) {
    return absl::InvalidArgumentError(absl::StrCat(who, ": cpu.threads=", cpu.threads, " exceeds ",
                                                   kMost, "; give the threads that run together"));
  }
  if (cpu.threads > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(who, ": cpu.threads=", cpu.threads, " is not positive; give 1 or more"));
}

std::string MachineName(const GpuFacts& gpu) {
  return absl::StrCat("a GPU of ", gpu.limits.sm_count, " multiprocessors");
}

std::string MachineName(const CpuFacts& cpu) {
  return absl::StrCat(cpu.threads, cpu.threads == 1 ? " CPU thread" : " CPU threads");
}

Prediction internal::SpreadOverGpu(const PlanCounts& counts, const TileFacts& tile,
                                   const GpuFacts& gpu, double* per_sm) {
  const int split = tile.config.cluster_split_k;
  Prediction result = Spread(counts, split, gpu.limits.sm_count, split, per_sm);
  result.blocks_per_sm = BlocksPerSm(tile, gpu.limits);
  if (result.blocks_per_sm < 1 || counts.blocks() == 0) {
    result.microseconds = HUGE_VAL;
    return result;
  }
  result.waves = result.blocks / (double(result.processors) * result.blocks_per_sm);
  return result;
}

Prediction internal::SpreadOverCpu(const PlanCounts& counts, const TileFacts& tile,
                                   const CpuFacts& cpu, double* per_thread) {
  // The executor runs all blocks of a cluster on one thread.
  Prediction result =
      Spread(counts, tile.config.cluster_split_k, std::max(1, cpu.threads), 1, per_thread);
  result.blocks_per_sm = 1;
  result.waves = result.blocks / double(result.processors);
  return result;
}

Prediction internal::Predict(const PlanCounts& counts, const TileFacts& tile, const GpuFacts& gpu,
                             const ModelConstants& constants) {
  const TileDescription& config = tile.config;
  double per_sm = 0.0;
  Prediction result = SpreadOverGpu(counts, tile, gpu, &per_sm);
  if (std::isinf(result.microseconds)) return result;
  result.microseconds = [&] {
    switch (config.mainloop) {
      case Mainloop::kWgmmaSm90:
        return counts.wgmma.first_layer
                   ? FirstLayerMicroseconds(tile, counts, per_sm, gpu, constants.first_layer,
                                            constants.memory, &result)
                   : WgmmaMicroseconds(tile, counts, gpu, constants.wgmma, constants.memory,
                                       &result);
      case Mainloop::kSimt:
      case Mainloop::kSimtAsync:
        return SimtMicroseconds(tile, counts, per_sm, gpu, constants.simt, constants.memory,
                                &result);
      case Mainloop::kMmaSm75:
      case Mainloop::kMmaSm80:
        return MmaMicroseconds(tile, counts, per_sm, gpu, constants.mma, constants.memory, &result);
      case Mainloop::kOther:
        break;  // its operator has a model of its own
    }
    return HUGE_VAL;
  }();
  return result;
}

Prediction Predict(const PlanCounts& counts, const TileFacts& tile, const GpuFacts& gpu) {
  return internal::Predict(counts, tile, gpu, internal::ModelConstants());
}

// The CPU executor runs each thread of a block as a fiber, so a thread costs more than its
// arithmetic.
Prediction Predict(const PlanCounts& counts, const TileFacts& tile, const CpuFacts& cpu) {
  const TileDescription& config = tile.config;
  TileShape t = config.threadblock;
  if (counts.wgmma.first_layer) t.k = 32 * counts.wgmma.steps;
  double per_thread = 0.0;
  Prediction result = internal::SpreadOverCpu(counts, tile, cpu, &per_thread);
  const double gathered = (t.m + t.n) * double(t.k) * tile.element_bytes;
  double k_tile = 0.0;  // nanoseconds
  if (IsSimt(config)) {
    const double steps =
        double(tile.threads) * config.warp.k / config.instruction.k;  // packets of all threads
    k_tile = 0.06 * t.m * t.n * t.k + 15.0 * steps + 0.5 * gathered + 20.0 * tile.threads;
  } else {
    k_tile = 0.16 * t.m * t.n * t.k + 16.0 / config.alignment.src * gathered + 100.0 * tile.threads;
  }
  const double block = counts.k_tiles * k_tile +
                       (10.0 + (IsSimt(config) ? 0.0 : internal::NarrowStores(tile))) * t.m * t.n +
                       200.0 * tile.threads;
  result.microseconds = per_thread * block * 1e-3;
  return result;
}

}  // namespace weft::gemm
