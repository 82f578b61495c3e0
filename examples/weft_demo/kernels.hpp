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

namespace weft_demo {

enum class Operator { kRelu, kHSwishReformat };

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
  weft::conv::Config config;
  const char* src_layout = "";
  const char* dst_layout = "";

  // Whether the operator takes the problem; its sentence if not.
  absl::Status (*check)(const weft::conv::Problem& problem) = nullptr;

  // Runs the operator and compares all of dst with `want` (planar), unless that is null. On the CPU
  // the time is that of the fastest of a few launches, on the GPU the mean of many, from CUDA
  // events.
  absl::StatusOr<Measurement> (*run)(const LayerData& data, examples::Backend backend,
                                     const std::vector<std::int8_t>* want) = nullptr;

  std::string tile() const;  // "128x64"
};

const std::vector<Kernel>& Kernels();

// What runs the blocks of a kernel.
struct Machine {
  examples::Backend backend = examples::Backend::kCpu;
  int processors = 1;  // multiprocessors, or threads of the CPU
};

// The kernel of `op` that a simple model expects to be fastest; if `tile` is not empty, the one
// with that tile. NotFound names the tiles there are.
absl::StatusOr<Kernel> ChooseKernel(Operator op, const weft::conv::Problem& problem,
                                    const Machine& machine, const std::string& tile);

// What the operator must give, planar.
std::vector<std::int8_t> Reference(Operator op, const LayerData& data);

}  // namespace weft_demo
