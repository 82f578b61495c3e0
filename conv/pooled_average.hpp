// PooledAverage<Type, Format>: the second step of a global average pooling, whose first is the
// ImageSums stage of a convolution's epilogue (epilogues/README.md). It requantises averages of the
// sums that the stage made,
//     dst[n][k] = Type(clamp(round(fma(alpha, float(sums[n][k]), 0) + zero_point))),
// where each operation rounds once, to the nearest and halves to even; for Type = float only the
// fma remains. The sums become zeros, as the next run of the convolution needs them.
//
//     using Average = weft::conv::PooledAverage<std::int8_t, weft::NHWC>;
//     absl::StatusOr<Average> average = Average::Create(n, k);
//     average->Run({.sums = s, .dst = y, .alpha = src_scale / (dst_scale * p * q)}, stream);
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/kernel/average_start.hpp"
#include "weft/gemm/launch/planned_operator.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv {

// A PooledAverage's Arguments: GPU addresses for Run and host addresses for RunOnCpu.
template <class Type>
struct AverageArguments {
  std::int32_t* sums = nullptr;  // [n][k]; zeros after the run
  Type* dst = nullptr;           // n images of one pixel of k channels, in Format
  // The step of the sums' integers divided by that of dst's and by the pixels of an image. If the
  // integers x stand for x - z, zero_point also has -z times the ratio of the two steps.
  float alpha = 1.0f;
  float zero_point = 0.0f;  // of dst; 0 where Type is float
};

// An immutable operator. It is cheap to copy and safe to share between threads.
template <class Type = std::int8_t, TensorFormat Format = NHWC>
class PooledAverage
    : public gemm::RunnableOperator<PooledAverage<Type, Format>, AverageArguments<Type>> {
  static_assert(std::is_same_v<Type, std::int8_t> || std::is_same_v<Type, std::uint8_t> ||
                    std::is_same_v<Type, float>,
                "weft: PooledAverage<T> takes T = std::int8_t, std::uint8_t or float");

 public:
  // For n images of k channels; if either is 0, runs do nothing. InvalidArgument if one is
  // negative; OutOfRange if there are more than 2^31 - 129 outputs, with the zero channels of
  // blocked formats.
  static absl::StatusOr<PooledAverage> Create(std::int64_t n, std::int64_t k) {
    const absl::StatusOr<AveragePlan> plan = PlanAverage(n, k, Format::kInterleave, kKernel);
    if (!plan.ok()) return plan.status();
    return PooledAverage(*plan);
  }

  // Elements of dst in memory, the zero channels of blocked formats included.
  std::int64_t dst_size() const { return plan_.outputs(); }
  // Elements of the sums.
  std::int64_t sums_size() const { return plan_.sums(); }

  AverageRun RunOfArguments(const AverageArguments<Type>& args) const {
    return {args.sums, args.dst, args.alpha, args.zero_point};
  }
  absl::Status CheckRun(const AverageRun& run) const { return conv::CheckArguments(plan_, run); }
  template <class BackEnd>
  absl::Status StartRun(const AverageRun& run, const BackEnd& on) const {
    return Start(plan_, run, on);
  }

 private:
  static constexpr int kKernel =
      std::is_same_v<Type, float> ? 2 : std::is_same_v<Type, std::uint8_t>;

  explicit PooledAverage(const AveragePlan& plan) : plan_(plan) {}

  AveragePlan plan_;
};

}  // namespace weft::conv
