// Matrix products through the convolution's mainloop, against three loops.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/kinds.hpp"
#include "tests/operator_memory.hpp"
#include "tests/reference/activations.hpp"
#include "tests/reference/reference.hpp"
#include "weft/gemm/gemm.hpp"

namespace weft::gemm {

using epilogues::Chain;
using epilogues::ToAccumulator;
using layouts::ColumnMajor;
using layouts::RowMajor;

// Tile shapes as a type: nvcc 13.0 cannot write class-type template arguments into its host code.
template <int src_alignment, int dst_alignment>
struct SmallTile {
  static constexpr auto config =
      SimtConfig({32, 32, 32}, {32, 16, 32}, {4, 4, 4}, {src_alignment, dst_alignment});
};
struct LargeTile {
  static constexpr auto config =
      SimtConfig({128, 128, 32}, {64, 32, 32}, {8, 8, 4}, Alignment{16, 16});
};

template <class EpilogueT, class C, class TileT>
struct TestGemm {
  using Element = std::int8_t;
  using LayoutA = RowMajor;
  using LayoutB = ColumnMajor;
  using LayoutC = C;
  using Epilogue = EpilogueT;
  static constexpr auto config = TileT::config;
};

using Sums = Chain<ToAccumulator>;
template <class C, int src_alignment = 4>
using SumsGemm = TestGemm<Sums, C, SmallTile<src_alignment, 4>>;

namespace {

template <class P>
void ExpectMatches(GemmProblem problem, std::uint32_t seed) {
  using Op = Gemm<P>;
  using Output = typename Op::Output;
  SCOPED_TRACE(absl::StrCat("m", problem.m, " n", problem.n, " k", problem.k, " seed ", seed));
  const auto op = Op::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  problem = op->problem();

  std::mt19937 engine(seed);
  const auto bytes = [&](std::int64_t count) {
    std::vector<std::int8_t> v(count);
    for (auto& x : v) x = static_cast<std::int8_t>(engine() >> 24);
    return v;
  };
  // What lies between k and the pitch is garbage that must not count.
  const auto a = bytes(problem.m * problem.lda), b = bytes(problem.n * problem.ldb);
  std::vector<float> bias(problem.n), alpha(problem.n);
  std::vector<std::int32_t> sum_bias(problem.n);
  for (std::int64_t j = 0; j < problem.n; ++j) {
    bias[j] = static_cast<float>(engine() % 41) - 20.0f;
    sum_bias[j] = 997 * static_cast<std::int32_t>(bias[j]);
    alpha[j] = (1.0f + static_cast<float>(engine() % 10)) / 16384.0f;
  }
  const bool row_major = std::is_same_v<typename P::LayoutC, RowMajor>;
  const std::int64_t c_size = (row_major ? problem.m : problem.n) * problem.ldc;
  std::vector<Output> untouched(c_size, static_cast<Output>(0x55));
  const OperatorMemory<std::int8_t> a_memory(a), b_memory(b);
  const OperatorMemory<float> bias_memory(bias), alpha_memory(alpha);
  const OperatorMemory<std::int32_t> sum_bias_memory(sum_bias);
  const OperatorMemory<Output> c_memory(untouched);

  typename Op::Arguments args;
  args.a = a_memory.get(), args.b = b_memory.get(), args.c = c_memory.get();
  if constexpr (P::Epilogue::kBiasInSum) {
    args.bias = sum_bias_memory.get();
  } else if constexpr (P::Epilogue::kHasBias) {
    args.bias = bias_memory.get();
  }
  if constexpr (P::Epilogue::kHasScale) args.channel_alpha = alpha_memory.get();
  constexpr float kOutputScale = P::Epilogue::kHasOutputScale ? 0.7f : 0.0f;
  args.output_scale = kOutputScale;
  if constexpr (P::Epilogue::kHasChannelValues) {
    args.epilogue.template Get<epilogues::PRelu>().slope = bias_memory.get();
  }
#if defined(WEFT_CUDA_BACKEND)
  const absl::Status status = op->Run(args, nullptr);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  const absl::Status status = op->RunOnCpu(args);
  ASSERT_TRUE(status.ok()) << status;
#endif

  std::vector<Output> want = untouched;  // the gaps of C stay as they were
  for (std::int64_t i = 0; i < problem.m; ++i) {
    for (std::int64_t j = 0; j < problem.n; ++j) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < problem.k; ++k) {
        sum += std::int64_t{a[i * problem.lda + k]} * b[j * problem.ldb + k];
      }
      if constexpr (P::Epilogue::kBiasInSum) sum += sum_bias[j];
      Output& out = want[row_major ? i * problem.ldc + j : j * problem.ldc + i];
      if constexpr (std::is_same_v<Output, std::int32_t>) {
        out = static_cast<Output>(sum);
      } else {
        reference::EpilogueData e;
        e.channel_alpha = alpha.data();
        e.output_scale = kOutputScale;
        if (!P::Epilogue::kBiasInSum) e.bias = bias.data();
        const auto quantized = [&](const auto& activation) {
          return reference::Quantize<Output>(reference::Value(sum, j, 0, e, activation), 0.0f, -128,
                                             127);
        };
        out = P::Epilogue::kHasChannelValues ? quantized(reference::PReluActivation{bias.data()})
                                             : quantized(reference::ReluActivation{});
      }
    }
  }
  EXPECT_EQ(c_memory.Read(), want);
}

template <class P>
void RunRandom(std::uint32_t seed, bool wide_pitch) {
  std::mt19937 engine(seed);
  for (int i = 0; i < ProblemsHere(40); ++i) {
    GemmProblem p;
    p.m = 1 + engine() % 70, p.n = 1 + engine() % 70, p.k = 1 + engine() % 150;
    p.lda = RoundUp(p.k, P::config.alignment.src) + (wide_pitch ? 16 : 0);
    p.ldb = RoundUp(p.k, P::config.alignment.src) + (wide_pitch ? 32 : 0);
    if (wide_pitch) p.ldc = 80;
    ExpectMatches<P>(p, seed + i);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Gemm, RowMajorSums) {
  RunRandom<SumsGemm<RowMajor>>(1, false);
}
TEST(Gemm, ColumnMajorSums) {
  RunRandom<SumsGemm<ColumnMajor>>(2, false);
}
TEST(Gemm, PitchesWiderThanTheMatrices) {
  RunRandom<SumsGemm<RowMajor>>(3, true);
}
TEST(Gemm, SixteenByteLoads) {
  RunRandom<SumsGemm<RowMajor, 16>>(4, true);
}

TEST(Gemm, QuantizedWithBiasReluAndScale) {
  RunRandom<TestGemm<epilogues::BiasActivation<epilogues::Relu>, RowMajor, SmallTile<4, 1>>>(5,
                                                                                             true);
}

#if !WEFT_ONE_OF_EACH_KIND
// A slope for each column.
TEST(Gemm, PRelu) {
  RunRandom<TestGemm<epilogues::BiasPRelu<>, RowMajor, SmallTile<4, 1>>>(10, true);
  RunRandom<TestGemm<epilogues::BiasPRelu<>, ColumnMajor, SmallTile<4, 1>>>(11, false);
}

TEST(Gemm, BiasInsideTheSum) {
  using epilogues::ClampTo, epilogues::Relu, epilogues::Scale, epilogues::SumBias;
  RunRandom<TestGemm<Chain<SumBias, ToAccumulator>, RowMajor, SmallTile<4, 4>>>(8, true);
  RunRandom<TestGemm<Chain<SumBias, Scale, Relu, ClampTo<std::int8_t>>, RowMajor, SmallTile<4, 1>>>(
      9, true);
}

TEST(Gemm, LargeTile) {
  using P = TestGemm<Sums, RowMajor, LargeTile>;
  ExpectMatches<P>({.m = 150, .n = 204, .k = 96}, 6);
  ExpectMatches<P>({.m = 5, .n = 4, .k = 400}, 7);
}
#endif

}  // namespace
}  // namespace weft::gemm
