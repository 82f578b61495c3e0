// Runs one operator on random data and compares every output with the reference, exactly. Compiled
// by g++ the operator runs on the CPU, compiled by nvcc on the GPU; the tests are the same.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/conv/prologue_bank.hpp"
#include "tests/operator_memory.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/layouts/packed_filter.hpp"

namespace weft::conv {

inline std::string ToString(const Problem& p) {
  return absl::StrCat("n", p.n, "h", p.h, "w", p.w, "c", p.c, "k", p.k, "r", p.r, "s", p.s, " pad ",
                      p.pad_top, ",", p.pad_left, ",", p.pad_bottom, ",", p.pad_right, " stride ",
                      p.stride_h, ",", p.stride_w, " dilation ", p.dilation_h, ",", p.dilation_w,
                      p.groups == 1 ? "" : absl::StrCat(" groups ", p.groups),
                      p.mode == Mode::kConvolution ? " flipped" : "");
}

// Random tensors of one problem, planar; `filter` is a bank of `filters`, one after the other.
struct RandomTensors {
  std::vector<std::int8_t> src, filter, residual;
  std::vector<float> channel_alpha, bias;
  std::vector<std::int32_t> bias_int32, sum_bias;

  RandomTensors(const Problem& p, std::uint32_t seed, std::int64_t filters = 1) : engine(seed) {
    src = Bytes(p.n * p.c * p.h * p.w);
    filter = Bytes(filters * KCRS::Size(p.filter()));
    residual = Bytes(p.n * p.k * p.p() * p.q());
    // Scales that bring typical sums into the int8 range, with some values clamped.
    std::uniform_real_distribution<float> scale(0.5f, 2.0f), offset(-40.0f, 40.0f);
    const float typical = 60.0f / (5500.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s)));
    for (std::int64_t k = 0; k < p.k; ++k) {
      channel_alpha.push_back(typical * scale(engine));
      bias.push_back(offset(engine));
      bias_int32.push_back(static_cast<std::int32_t>(offset(engine)));
      sum_bias.push_back(bias_int32.back() * 997);
    }
  }

  std::vector<std::int8_t> Bytes(std::int64_t count) {
    std::vector<std::int8_t> v(count);
    for (auto& x : v) x = static_cast<std::int8_t>(engine() >> 24);
    return v;
  }

  std::mt19937 engine;
};

struct RunOptions {
  std::uint32_t seed = 1;
  bool per_tensor_alpha = false;
  float beta = 1.0f;
  float gamma = 1.0f;
  float zero_point = 0.0f;
#if defined(WEFT_CPU_BACKEND)
  arch::CpuOptions cpu = arch::CpuOptions::FromEnvironment();
  arch::CpuStats* stats = nullptr;
#endif
};

template <class T>
constexpr reference::OutputRange<T> FullRange() {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return {-128, 127};
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return {0, 255};
  } else {
    return {};
  }
}

// Layout in which policy P takes its residual.
template <class P, class Stage>
struct ResidualLayoutOf {
  using type = typename P::DstLayout;
};
template <class P, class T, class Layout>
struct ResidualLayoutOf<P, epilogues::Residual<T, Layout>> {
  using type = Layout;
};
template <class P, class T>
struct ResidualLayoutOf<P, epilogues::Residual<T, epilogues::SameAsDst>> {
  using type = typename P::DstLayout;
};

// Runs P on random data for `problem`, with a bank of filters for P::Prologue (PrologueBank); every
// output must equal the reference's, whose activation is `activation`, and every surplus channel
// must be zero.
template <class P, class Activation>
void ExpectMatchesReference(const Problem& problem, const Activation& activation,
                            const RunOptions& options = {}, typename P::Epilogue epilogue = {},
                            reference::OutputRange<typename P::Epilogue::Output> range =
                                FullRange<typename P::Epilogue::Output>()) {
  SCOPED_TRACE(absl::StrCat(ToString(problem), " seed ", options.seed));
  using Op = Convolution<P>;
  using Output = typename Op::Output;
  using Epilogue = typename P::Epilogue;
  absl::StatusOr<Op> op = Op::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();

  using Prologue = typename P::Prologue;
  const PrologueBank<Prologue> bank(problem, options.seed);
  const RandomTensors t(problem, options.seed, bank.filters);
  const auto src = ConvertTensor<NCHW, typename P::SrcLayout, std::int8_t>(problem.src(), t.src);
  ASSERT_TRUE(src.ok()) << src.status();
  const auto filter = PackFilters<Prologue, typename P::FilterLayout, KCRS, std::int8_t>(
      problem.filter(), bank.filters, t.filter);
  ASSERT_TRUE(filter.ok()) << filter.status();

  const OperatorMemory<std::int8_t> src_memory(*src);
  const OperatorMemory<std::int8_t> filter_memory(
      std::vector<std::int8_t>(filter->data(), filter->data() + filter->size()));
  const OperatorMemory<float> bias_memory(t.bias), alpha_memory(t.channel_alpha);
  const OperatorMemory<std::int32_t> bias_int32_memory(t.bias_int32), sum_bias_memory(t.sum_bias);
  // Garbage, so that an output nobody writes shows.
  std::vector<Output> garbage(op->dst_size());
  std::memset(static_cast<void*>(garbage.data()), 0x77, garbage.size() * sizeof(Output));
  const OperatorMemory<Output> dst_memory(garbage);

  reference::EpilogueData data;
  typename Op::Arguments args;
  args.src = src_memory.get();
  args.filter = filter->At(filter_memory.get());
  args.dst = dst_memory.get();
  args.prologue = bank.prologue;
  args.filter_is_constant = options.seed % 2 == 0;
  args.epilogue = epilogue;
  args.zero_point = data.zero_point = options.zero_point;
  args.beta = data.beta = options.beta;
  args.gamma = data.gamma = options.gamma;
  if constexpr (Epilogue::kHasScale) {
    if (options.per_tensor_alpha) {
      args.alpha = data.alpha = t.channel_alpha[0];
    } else {
      args.channel_alpha = alpha_memory.get();
      data.channel_alpha = t.channel_alpha.data();
    }
  }
  if constexpr (Epilogue::kHasBias) {
    if constexpr (Epilogue::kBiasInSum) {
      args.bias = sum_bias_memory.get();
      data.sum_bias = t.sum_bias.data();
    } else if constexpr (std::is_same_v<typename Epilogue::BiasElement, float>) {
      args.bias = bias_memory.get();
      data.bias = t.bias.data();
    } else {
      args.bias = bias_int32_memory.get();
      data.bias_int32 = t.bias_int32.data();
    }
  }
  std::vector<std::int8_t> residual;
  if constexpr (Epilogue::kHasResidual) {
    using Layout = typename ResidualLayoutOf<P, typename Epilogue::ResidualStage>::type;
    residual = *ConvertTensor<NCHW, Layout, std::int8_t>(problem.dst(), t.residual);
    data.residual = t.residual.data();
  }
  const OperatorMemory<std::int8_t> residual_memory(residual);
  if constexpr (Epilogue::kHasResidual) args.residual = residual_memory.get();

#if defined(WEFT_CUDA_BACKEND)
  const absl::Status status = op->Run(args, nullptr);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  const absl::Status status = op->RunOnCpu(args, options.cpu, options.stats);
  ASSERT_TRUE(status.ok()) << status;
#endif

  const std::vector<Output> got = dst_memory.Read();
  const std::vector<Output> want = reference::Convolve<Output>(
      problem, t.src.data(), t.filter.data(), data, activation, range, 1, bank.which);
  using Dst = typename P::DstLayout;
  std::vector<Output> want_in_layout =
      *ConvertTensor<NCHW, Dst, Output>(problem.dst(), absl::MakeConstSpan(want));
  ASSERT_EQ(got.size(), want_in_layout.size());
  std::int64_t mismatches = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    // memcmp: floats are compared to the bit.
    if (std::memcmp(&got[i], &want_in_layout[i], sizeof(Output)) != 0 && ++mismatches <= 5) {
      ADD_FAILURE() << "dst[" << i << "]=" << +got[i] << ", the reference has "
                    << +want_in_layout[i];
    }
  }
  EXPECT_EQ(mismatches, 0) << "of " << got.size();
}

// A small random problem: ragged extents, asymmetric padding, strides, dilations, both modes.
inline Problem RandomProblem(std::mt19937& engine) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine() % static_cast<std::uint32_t>(high - low + 1));
  };
  for (;;) {
    Problem p;
    p.n = pick(1, 3), p.h = pick(1, 11), p.w = pick(1, 11), p.c = pick(1, 21), p.k = pick(1, 70);
    p.r = pick(1, 5), p.s = pick(1, 5);
    p.pad_top = pick(0, 3), p.pad_left = pick(0, 3);
    p.pad_bottom = pick(0, 3), p.pad_right = pick(0, 3);
    p.stride_h = pick(1, 3), p.stride_w = pick(1, 3);
    p.dilation_h = pick(1, 2), p.dilation_w = pick(1, 2);
    p.mode = engine() % 4 == 0 ? Mode::kConvolution : Mode::kCrossCorrelation;
    if (CheckProblem(p).ok()) return p;
  }
}

}  // namespace weft::conv
