// Plans, checks and starts a PooledAverage of any type and format.
#pragma once

#include <cstdint>

#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// All of a launch but the addresses and numbers of a run.
struct AveragePlan {
  std::int64_t n = 0, k = 0, padded_k = 0;  // padded_k: the channels of an image of dst in memory
  int kernel = 0;                           // an index of gemm::KernelList<AverageSums>

  std::int64_t sums() const { return n * k; }
  std::int64_t outputs() const { return n * padded_k; }
};

// InvalidArgument if n or k is negative; OutOfRange if there are more than 2^31 - 129 outputs. interleave: of
// dst's format.
absl::StatusOr<AveragePlan> PlanAverage(std::int64_t n, std::int64_t k, int interleave, int kernel);

struct AverageRun {
  std::int32_t* sums = nullptr;
  void* dst = nullptr;
  float alpha = 1.0f, zero_point = 0.0f;
};

// Everything that is checked before a launch. Where there are no sums, any run is right.
absl::Status CheckArguments(const AveragePlan& plan, const AverageRun& run);

// Checks the run and starts the plan's kernel. BackEnd: gemm::GpuBackEnd or gemm::CpuBackEnd.
template <class BackEnd>
absl::Status Start(const AveragePlan& plan, const AverageRun& run, const BackEnd& on);

}  // namespace weft::conv
