#include "weft/conv/kernel/average_start.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "weft/conv/kernel/average_kernel.hpp"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv {
namespace {

constexpr gemm::TileFacts kFacts{};  // the kernels run on any GPU
constexpr int kThreads = AverageKernel<std::int8_t>::kThreads;

// The bytes of an output of kernel `kernel`: kernels 0 and 1 write integers, 2 floats.
constexpr int BytesOf(int kernel) {
  return kernel == 2 ? 4 : 1;
}

}  // namespace

absl::StatusOr<AveragePlan> PlanAverage(std::int64_t n, std::int64_t k, int interleave,
                                        int kernel) {
  if (n < 0 || k < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: PooledAverage of n=", n, " images of k=", k, " channels; give 0 or more of each"));
  }
  constexpr std::int64_t kMost = gemm::kInt32Max - kThreads;
  const std::int64_t padded_k = k > kMost - interleave ? 0 : RoundUp(k, std::int64_t{interleave});
  if (n > kMost || k > kMost - interleave || padded_k > kMost / std::max(n, std::int64_t{1})) {
    return absl::OutOfRangeError(absl::StrCat("conv: PooledAverage of n=", n, " images of k=", k,
                                              " channels has more than ", kMost,
                                              " outputs; split the batch"));
  }
  return AveragePlan{.n = n, .k = k, .padded_k = padded_k, .kernel = kernel};
}

absl::Status CheckArguments(const AveragePlan& plan, const AverageRun& run) {
  if (plan.sums() == 0) return absl::OkStatus();
  const int bytes = BytesOf(plan.kernel);
  const gemm::TensorArgument sums = {
      .field = "sums",
      .address = run.sums,
      .alignment = alignof(std::int32_t),
      .line_bytes = plan.sums() * std::int64_t{sizeof(std::int32_t)}};
  const gemm::TensorArgument dst = {
      .field = "dst", .address = run.dst, .alignment = bytes, .line_bytes = plan.outputs() * bytes};
  gemm::EpilogueFacts facts;
  facts.scale = true;
  facts.zero_point = bytes == 1;
  // zero_point may also stand for the zero point of the sums' integers, so it is not limited to the
  // output's type.
  facts.whole_zero_point = false;
  facts.least_zero_point = std::numeric_limits<float>::lowest();
  facts.most_zero_point = std::numeric_limits<float>::max();
  gemm::OutputRun numbers;
  numbers.alpha_number = run.alpha;
  numbers.zero_point = run.zero_point;
  return gemm::CheckArguments("conv", absl::MakeConstSpan(&sums, 1), dst,
                              gemm::EpilogueArguments{.facts = facts, .run = numbers});
}

template <class BackEnd>
absl::Status Start(const AveragePlan& plan, const AverageRun& run, const BackEnd& on) {
  if (absl::Status s = CheckArguments(plan, run); !s.ok() || plan.sums() == 0) return s;
  AverageParams params;
  params.sums = run.sums;
  params.dst = run.dst;
  params.alpha = run.alpha;
  params.zero_point = run.zero_point;
  params.k = gemm::Int32(plan.k);
  params.outputs = gemm::Int32(plan.outputs());
  params.padded_k = gemm::FastDivmod(gemm::Int32(plan.padded_k));
  const auto blocks = static_cast<int>(gemm::CeilDiv(plan.outputs(), std::int64_t{kThreads}));
  return on.template Run<AverageSums>(
      "conv", kFacts, {.kernel = plan.kernel, .params = &params, .grid = {blocks, 1, 1}});
}

template absl::Status Start(const AveragePlan&, const AverageRun&, const gemm::GpuBackEnd&);
template absl::Status Start(const AveragePlan&, const AverageRun&, const gemm::CpuBackEnd&);

}  // namespace weft::conv
