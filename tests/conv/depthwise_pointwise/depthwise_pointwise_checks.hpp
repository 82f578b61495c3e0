// Runs a DepthwisePointwise on random data and compares it with the reference of its two halves,
// one after the other.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/conv/harness.hpp"
#include "weft/conv/depthwise_pointwise.hpp"

namespace weft::conv {

// Configs as types: nvcc 13.0 cannot write class-type template arguments into its host code.
template <int rows, int warps, int warp_n, int dst_alignment>
struct FusedTest {
  static constexpr auto config = DepthwisePointwiseConfig(rows, warps, warp_n, dst_alignment);
};

template <class Src, class Dst, class First, class Second, class FirstActivationT,
          class SecondActivationT, class ConfigT>
struct FusedPolicy {
  using Element = std::int8_t;
  using SrcLayout = Src;
  using DstLayout = Dst;
  using DepthwiseEpilogue = First;
  using Epilogue = Second;
  static constexpr auto config = ConfigT::config;
  using FirstActivation = FirstActivationT;  // the reference's
  using SecondActivation = SecondActivationT;
};

using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::Relu;
using epilogues::Scale;
using epilogues::SumBias;
using reference::HSwishActivation;
using reference::NoActivation;
using reference::ReluActivation;

using Fused32 =
    FusedPolicy<NCxHWx<32>, NCxHWx<32>, epilogues::BiasRelu<>, epilogues::ResidualBiasRelu<>,
                ReluActivation, ReluActivation, FusedTest<4, 3, 32, 8>>;
// Between the two, bytes without a sign.
using FusedNhwc = FusedPolicy<NHWC, NHWC, Chain<SumBias, Scale, Relu, ClampTo<std::uint8_t>>,
                              Chain<SumBias, Scale, ClampTo<std::int8_t>>, ReluActivation,
                              NoActivation, FusedTest<2, 2, 16, 1>>;
using Fused4ToPlanar = FusedPolicy<NCxHWx<4>, NCHW, epilogues::BiasHSwish<std::int32_t>,
                                   Chain<Scale, epilogues::Bias<>, epilogues::ToFloat>,
                                   HSwishActivation, NoActivation, FusedTest<7, 1, 16, 4>>;

// Its last columns lie past those of the filter, which has whole 32 of them.
using FusedTo64 = FusedPolicy<NHWC, NCxHWx<64>, epilogues::BiasRelu<>, epilogues::BiasRelu<>,
                              ReluActivation, ReluActivation, FusedTest<1, 2, 64, 8>>;

// Warps have 16 columns of the 32 or 64 that a block of the destination has, so that some write nothing but zeros.
using FusedNarrow32 =
    FusedPolicy<NCxHWx<32>, NCxHWx<32>, epilogues::BiasRelu<>, epilogues::BiasIdentity<>,
                ReluActivation, NoActivation, FusedTest<2, 3, 16, 4>>;
using FusedNarrow64 =
    FusedPolicy<NHWC, NCxHWx<64>, epilogues::BiasRelu<>, epilogues::ResidualBiasRelu<>,
                ReluActivation, ReluActivation, FusedTest<1, 1, 16, 4>>;

// `p` as the depthwise half: `multiplier` channels between the halves for each of the source's.
template <class P>
Problem AsFirstHalf(Problem p, std::int64_t multiplier) {
  if (std::is_same_v<typename P::SrcLayout, NHWC>) p.c = RoundUp(p.c, 4);
  p.groups = p.c;
  p.k = p.c * multiplier;
  return p;
}

struct FusedOptions {
  std::int64_t multiplier = 1;
  RunOptions run;
  float middle_zero_point = 0.0f;
  int runs = 1;
};

// Runs `op`, P's operator or one that chooses among policies of which P is one, for the problem.
template <class P, class Op>
void ExpectFusedBy(const Op& op, const DepthwisePointwiseProblem& both,
                   const FusedOptions& options) {
  using Middle = typename P::DepthwiseEpilogue::Output;
  const Problem depthwise = both.depthwise, pointwise = both.pointwise();

  const Inputs<typename P::SrcLayout, KRSx4x4, prologues::Depthwise> first(depthwise,
                                                                           options.run.seed);
  RunOptions first_options = options.run;
  first_options.zero_point = options.middle_zero_point;
  const Results<typename P::DepthwiseEpilogue, NCxHWx<32>> middle(depthwise, first.tensors,
                                                                  first_options);
  RandomTensors t(pointwise, options.run.seed + 1);
  const std::vector<Middle> between =
      middle.Want(first.bank.which, typename P::FirstActivation(), FullRange<Middle>());
  // The reference convolves bytes with a sign: those without are 128 more.
  constexpr int kShift = std::is_same_v<Middle, std::uint8_t> ? 128 : 0;
  t.src.clear();
  for (const Middle x : between) t.src.push_back(static_cast<std::int8_t>(x - kShift));
  const OperatorMemory<std::int32_t> sum_bias(t.sum_bias);
  for (std::int64_t k = 0; k < both.k; ++k) {
    for (std::int64_t c = 0; c < depthwise.k; ++c) {
      t.sum_bias[k] += kShift * t.filter[k * depthwise.k + c];
    }
  }
  const auto packed = PackFilter<CxRSKx<32>>(pointwise.filter(), t.filter).value();
  const OperatorMemory<std::int8_t> filter({packed.data(), packed.data() + packed.size()});
  const Results<typename P::Epilogue, typename P::DstLayout> results(pointwise, t, options.run);
  typename Op::Arguments args;
  results.Fill(&args);
  if constexpr (kShift != 0) args.bias = sum_bias.get();
  args.src = first.src.get();
  args.filter = packed.At(filter.get());
  args.depthwise.filter = first.packed.At(first.filter.get());
  middle.FillScaleAndBias(&args.depthwise);
  for (int i = 0; i < options.runs; ++i) {
    const absl::Status status = RunHere(op, args, options.run);
    ASSERT_TRUE(status.ok()) << status;
  }
  results.ExpectEqual([](std::int64_t, auto...) { return std::int64_t{0}; },
                      typename P::SecondActivation(), FullRange<typename Op::Output>());
}

// p.k: the output channels of the 1x1 convolution. more: for Op::Create.
template <class P, class Op = DepthwisePointwise<P>, class... More>
void ExpectFused(const Problem& p, const FusedOptions& options = {}, const More&... more) {
  const DepthwisePointwiseProblem both{AsFirstHalf<P>(p, options.multiplier), p.k};
  SCOPED_TRACE(absl::StrCat(ToString(both.depthwise), " then ", p.k, " seed ", options.run.seed));
  const absl::StatusOr<Op> op = Op::Create(both, more...);
  ASSERT_TRUE(op.ok()) << op.status();
  ExpectFusedBy<P>(*op, both, options);
}

}  // namespace weft::conv
