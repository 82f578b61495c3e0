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

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/conv/kernel/average_kernel.hpp"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/formats.hpp"

WEFT_EXTERN_ON_CPU(weft::conv::AverageSums);

namespace weft::conv {

// An immutable operator. It is cheap to copy and safe to share between threads.
template <class Type = std::int8_t, TensorFormat Format = NHWC>
class PooledAverage {
  static_assert(std::is_same_v<Type, std::int8_t> || std::is_same_v<Type, std::uint8_t> ||
                    std::is_same_v<Type, float>,
                "weft: PooledAverage<T> takes T = std::int8_t, std::uint8_t or float");

 public:
  // GPU addresses for Run and host addresses for RunOnCpu.
  struct Arguments {
    std::int32_t* sums = nullptr;  // [n][k]; zeros after the run
    Type* dst = nullptr;           // n images of one pixel of k channels, in Format
    // The step of the sums' integers divided by that of dst's and by the pixels of an image. If the
    // integers x stand for x - z, zero_point also has -z times the ratio of the two steps.
    float alpha = 1.0f;
    float zero_point = 0.0f;  // of dst; 0 where Type is float
  };

  // For n images of k channels; if either is 0, runs do nothing. InvalidArgument if one is
  // negative; OutOfRange if there are more than 2^31 - 129 outputs, with the zero channels of
  // blocked formats.
  static absl::StatusOr<PooledAverage> Create(std::int64_t n, std::int64_t k) {
    if (n < 0 || k < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "conv: PooledAverage of n=", n, " images of k=", k, " channels; give 0 or more of each"));
    }
    constexpr std::int64_t kMost = gemm::kInt32Max - kThreads;
    if (n > kMost || k > kMost - Format::kInterleave ||
        Format::PaddedC(k) > kMost / (std::max)(n, std::int64_t{1})) {
      return absl::OutOfRangeError(absl::StrCat("conv: PooledAverage of n=", n, " images of k=", k,
                                                " channels has more than ", kMost,
                                                " outputs; split the batch"));
    }
    return PooledAverage(n, k);
  }

  // Elements of dst in memory, the zero channels of blocked formats included.
  std::int64_t dst_size() const { return n_ * Format::PaddedC(k_); }
  // Elements of the sums.
  std::int64_t sums_size() const { return n_ * k_; }

  // Enqueues the kernel on `stream` and returns; it can be captured in a CUDA graph.
  absl::Status Run(const Arguments& args, Stream stream,
                   const gemm::LaunchOptions& options = {}) const {
    return Start(args, gemm::GpuBackEnd{stream, options});
  }

  absl::Status RunOnCpu(const Arguments& args, const gemm::CpuOptions& options =
                                                   gemm::CpuOptions::FromEnvironment()) const {
    return Start(args, gemm::CpuBackEnd{options});
  }

  // Everything that Run checks before it launches.
  absl::Status CheckArguments(const Arguments& args) const {
    if (sums_size() == 0) return absl::OkStatus();
    const gemm::TensorArgument sums = {
        .field = "sums",
        .address = args.sums,
        .alignment = alignof(std::int32_t),
        .line_bytes = sums_size() * std::int64_t{sizeof(std::int32_t)}};
    const gemm::TensorArgument dst = {.field = "dst",
                                      .address = args.dst,
                                      .alignment = alignof(Type),
                                      .line_bytes = dst_size() * std::int64_t{sizeof(Type)}};
    gemm::EpilogueFacts facts;
    facts.scale = true;
    facts.zero_point = !std::is_same_v<Type, float>;
    // zero_point may also stand for the zero point of the sums' integers, so it is not limited to
    // Type.
    facts.whole_zero_point = false;
    facts.least_zero_point = std::numeric_limits<float>::lowest();
    facts.most_zero_point = (std::numeric_limits<float>::max)();
    gemm::OutputRun numbers;
    numbers.alpha_number = args.alpha;
    numbers.zero_point = args.zero_point;
    return gemm::CheckArguments("conv", absl::MakeConstSpan(&sums, 1), dst,
                                gemm::EpilogueArguments{.facts = facts, .run = numbers});
  }

 private:
  static constexpr int kThreads = AverageKernel<Type>::kThreads;
  static constexpr gemm::TileFacts kFacts{};  // it runs on any GPU
  static constexpr int kKernel =
      std::is_same_v<Type, float> ? 2 : std::is_same_v<Type, std::uint8_t>;

  PooledAverage(std::int64_t n, std::int64_t k) : n_(n), k_(k) {}

  template <class BackEnd>
  absl::Status Start(const Arguments& args, const BackEnd& on) const {
    if (absl::Status s = CheckArguments(args); !s.ok() || sums_size() == 0) return s;
    const AverageParams params = Params(args);
    return on.template Run<AverageSums>("conv", kFacts, Launch(&params));
  }

  AverageParams Params(const Arguments& args) const {
    AverageParams p;
    p.sums = args.sums;
    p.dst = args.dst;
    p.alpha = args.alpha;
    p.zero_point = args.zero_point;
    p.k = gemm::Int32(k_);
    p.outputs = gemm::Int32(dst_size());
    p.padded_k = gemm::FastDivmod(gemm::Int32(Format::PaddedC(k_)));
    return p;
  }
  gemm::Launch Launch(const AverageParams* params) const {
    const auto blocks = static_cast<int>(gemm::CeilDiv(dst_size(), std::int64_t{kThreads}));
    return {.kernel = kKernel, .params = params, .grid = {blocks, 1, 1}};
  }

  std::int64_t n_, k_;
};

}  // namespace weft::conv
