// Deconvolution against the reference, exactly.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/conv/deconvolution/deconvolution_problems.hpp"
#include "tests/conv/kernel/prologue_cases.hpp"
#include "tests/conv/policy/nc32_policies.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "tests/reference/deconvolution.hpp"
#include "weft/conv/deconvolution.hpp"

namespace weft::conv {

template <class Base>
struct ResidualOfDst : Base {
  using Epilogue = epilogues::ResidualBiasRelu<>;
};

// Tiles of two rows of a phase.
struct PackedRowsPhases : WgmmaPrologue<prologues::PerPhase, NCxHWx<32>, SmallTile64> {
  static constexpr auto config = WithPackedRows(SmallTile64::config, 2);
};

namespace {

using prologues::PerPhase;

// A convolution whose source and destination both have the deconvolution's destination's extents, for
// what makes and compares tensors of those.
inline Problem OfDestination(const DeconvolutionProblem& deconvolution) {
  const TensorExtents dst = deconvolution.dst();
  Problem p;
  p.n = dst.n, p.c = p.k = dst.c, p.h = dst.h, p.w = dst.w;
  return p;
}

// P: a policy, or a family of policies of which First is one.
template <class P, class First = P>
void ExpectDeconvolved(const DeconvolutionProblem& problem, const RunOptions& options = {}) {
  SCOPED_TRACE(absl::StrCat(Text(problem), " seed ", options.seed));
  using Op = Deconvolution<P>;
  using Layout = typename First::FilterLayout;
  using Output = typename First::Epilogue::Output;
  const absl::StatusOr<Op> op = Op::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();

  RandomTensors t(OfDestination(problem), options.seed);
  // Sums as small as those of a phase.
  const double taps = static_cast<double>(problem.c * gemm::CeilDiv(problem.r, problem.stride_h) *
                                          gemm::CeilDiv(problem.s, problem.stride_w));
  for (float& alpha : t.channel_alpha) {
    alpha *= static_cast<float>(std::sqrt(static_cast<double>(problem.k) / taps));
  }
  const std::vector<std::int8_t> src = t.Bytes(NCHW::Size(problem.src()));
  const std::vector<std::int8_t> filter = t.Bytes(problem.c * problem.k * problem.r * problem.s);
  const auto packed = PackDeconvolutionFilter<Layout>(problem, filter).value();

  const OperatorMemory<std::int8_t> src_memory(
      *ConvertTensor<NCHW, typename First::SrcLayout, std::int8_t>(problem.src(), src));
  const OperatorMemory<std::int8_t> filter_memory({packed.data(), packed.data() + packed.bytes()});
  const Results<typename First::Epilogue, typename First::DstLayout> results(OfDestination(problem),
                                                                             t, options);
  typename Op::Arguments args;
  args.src = src_memory.get();
  args.filter = packed.At(filter_memory.get());
  args.filter_is_constant = options.seed % 2 == 0;
  results.Fill(&args);
#if defined(WEFT_CUDA_BACKEND)
  const absl::Status status = op->Run(args, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  const absl::Status status = op->RunOnCpu(args, options.cpu);
#endif
  ASSERT_TRUE(status.ok()) << status;
  results.ExpectEqual(reference::Deconvolve<Output>(problem, src.data(), filter.data(),
                                                    results.data(), reference::ReluActivation{},
                                                    FullRange<Output>()));
}

// C and K as the loads and stores of P take them.
template <class P>
DeconvolutionProblem FitPhases(DeconvolutionProblem p) {
  if (std::is_same_v<typename P::SrcLayout, NHWC>) p.c = RoundUp(p.c, P::kChannelsOfLoad);
  if (std::is_same_v<typename P::DstLayout, NHWC>) p.k = RoundUp(p.k, P::kChannelsOfStore);
  return p;
}

template <class P>
class DeconvolutionTest : public testing::Test {};

using WithResidual = epilogues::ResidualBiasRelu<>;
using OfRealValues =
    epilogues::Chain<epilogues::Residual<>, epilogues::Scale, epilogues::Bias<>, epilogues::Relu,
                     epilogues::OutputScale, epilogues::ClampTo<std::int8_t>>;
using Simple = Nc4Prologue<PerPhase, NCxHWx<32>, SmallTile<4>, OfRealValues>;
using Windows = WgmmaFirstPrologue<PerPhase, NCxHWx<4>, WgmmaTile<64, 64, 64, 64, 64, 1, 4>>;

using DeconvolutionPolicies =
    testing::Types<Simple, Nc4Prologue<PerPhase, NCHW>,
                   Nc32Prologue<PerPhase, NCxHWx<32>, 64, 64, 64, 32, 32, 3, 8, WithResidual>,
                   ProloguePolicy<PerPhase, NCxHWx<32>, CxRSKx<32>, NCxHWx<4>, ReluTo<NCxHWx<4>>,
                                  MmaSm75Tile<64, 32, 32, 32, 32, 4>, 32, 4>,
                   NhwcPrologue<PerPhase, NHWC, 64, 64, 4, 4>,
                   ResidualOfDst<WgmmaPrologue<PerPhase, NCxHWx<32>, SmallTile64>>,
                   WgmmaNhwcPrologue<PerPhase, NHWC, SmallTile64>, Windows>;
TYPED_TEST_SUITE(DeconvolutionTest, DeconvolutionPolicies);

// What networks have, in small: each kernel kind with phases of different taps.
TYPED_TEST(DeconvolutionTest, Common) {
  for (const DeconvolutionProblem& p : {
           SquareDeconvolution(1, 1, 1, 1, 1, 0, 1),
           SquareDeconvolution(2, 33, 5, 37, 3, 1, 2, 1),  // the gradient of a 3x3 of stride 2
           SquareDeconvolution(2, 20, 4, 40, 4, 1, 2),     // as generators have
           SquareDeconvolution(1, 40, 6, 24, 2, 0, 2),     // as U-Net has
           SquareDeconvolution(3, 16, 4, 33, 1, 0, 2),     // three phases without taps
           SquareDeconvolution(2, 33, 7, 36, 3, 1, 1),
           SquareDeconvolution(1, 8, 3, 8, 2, 1, 2),  // phases that begin inside the source
       }) {
    ExpectDeconvolved<TypeParam>(FitPhases<TypeParam>(p));
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(DeconvolutionTest, Random) {
  constexpr bool kWindows = std::is_same_v<TypeParam, Windows>;  // no dilation along a row
  std::mt19937 engine(7);
  for (int i = 0; i < 15; ++i) {
    const DeconvolutionProblem p = RandomDeconvolution(engine, 3, kWindows ? 1 : 3);
    ExpectDeconvolved<TypeParam>(FitPhases<TypeParam>(p),
                                 {.seed = static_cast<std::uint32_t>(engine())});
    if (this->HasFailure()) return;
  }
}

TEST(Deconvolution, LargeStridesAndDilations) {
  std::mt19937 engine(11);
  for (int i = 0; i < 20; ++i) {
    DeconvolutionProblem p = RandomDeconvolution(engine, 6, 6);
    if (i % 2 == 0) p.n = 1, p.c = 5, p.k = 3;
    ExpectDeconvolved<Simple>(p, {.seed = static_cast<std::uint32_t>(i)});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Deconvolution, PackedRows) {  // phases of three rows of taps, and the only one
  ExpectDeconvolved<PackedRowsPhases>(SquareDeconvolution(2, 33, 7, 20, 6, 2, 2));
  ExpectDeconvolved<PackedRowsPhases>(SquareDeconvolution(2, 33, 6, 32, 3, 1, 1));
}

TEST(Deconvolution, OfAFamily) {
  using Wide = Nc4Prologue<PerPhase, NCxHWx<32>, Tile<64, 32, 32, 32, 16, 4, 4>, OfRealValues>;
  ExpectDeconvolved<Family<Simple, Wide>, Simple>(SquareDeconvolution(3, 9, 5, 12, 3, 1, 2, 1));
}

}  // namespace
}  // namespace weft::conv
