// The compiled operators as values: which there are, which suits a layer, running one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/support/backend.hpp"
#include "weft/conv/policy.hpp"
#include "weft/conv/problem.hpp"
#include "weft/conv/tile_model.hpp"

namespace weft_demo {

enum class Operator {
  kRelu,            // NCxHWx<4>, simt
  kHSwishReformat,  // NCxHWx<4> -> NCxHWx<32>, simt
  kRelu32,          // NCxHWx<32>, tensor cores
  kHSwish32,        // NCxHWx<32>, tensor cores
};

constexpr bool IsRelu(Operator op) {
  return op == Operator::kRelu || op == Operator::kRelu32;
}

// Random tensors of one layer, planar (NCHW, KCRS), and scales that bring sums into int8's range.
struct LayerData {
  explicit LayerData(const weft::conv::Problem& problem);

  weft::conv::Problem problem;
  std::vector<std::int8_t> src;
  std::vector<std::int8_t> filter;
  std::vector<float> channel_alpha;
  std::vector<float> bias;
};

struct Measurement {
  double milliseconds = 0.0;     // of one launch
  std::int64_t mismatches = -1;  // bytes of dst that differ from `want`; -1: not compared
};

// One operator compiled for one tile.
struct Kernel {
  Operator op = Operator::kRelu;
  int index = 0;  // of its family
  weft::conv::TileDescription config;
  const char* src_layout = "";
  const char* dst_layout = "";

  // Runs the kernel and compares all of dst with `want` (planar), unless that is null. On the CPU
  // the time is that of the fastest of a few launches, on the GPU the mean of many, from CUDA
  // events.
  absl::StatusOr<Measurement> (*run_at)(const LayerData& data, int index, examples::Backend backend,
                                        const std::vector<std::int8_t>* want) = nullptr;
  absl::StatusOr<Measurement> run(const LayerData& data, examples::Backend backend,
                                  const std::vector<std::int8_t>* want) const {
    return run_at(data, index, backend, want);
  }

  std::string tile() const;  // "128x64x32": pixels, output channels, depth of a step
};

const std::vector<Kernel>& Kernels();

// What runs the blocks of a kernel.
struct Machine {
  examples::Backend backend = examples::Backend::kCpu;
  weft::conv::GpuFacts gpu;  // for Backend::kCuda
  weft::conv::CpuFacts cpu;  // for Backend::kCpu
};

// The kernel of `op` that conv::Dispatch chooses; if `tile` is not empty, the one with that tile
// (MxNxK, or MxN for the first such). NotFound names the tiles there are; otherwise the error is
// Dispatch's.
absl::StatusOr<Kernel> ChooseKernel(Operator op, const weft::conv::Problem& problem,
                                    const Machine& machine, const std::string& tile);

// What the operator must give, planar.
std::vector<std::int8_t> Reference(Operator op, const LayerData& data);

}  // namespace weft_demo
