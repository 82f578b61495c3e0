// Kernels of TiledMma and TiledCopy (tiled_kernels.hpp) on the back end at hand, against plain loops:
// integers, and floats that are small integers, so exact in any order; FmaAtom bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/gemm/tiled_kernels.hpp"
#include "tests/kinds.hpp"
#include "tests/operator_memory.hpp"

#if defined(WEFT_CUDA_BACKEND)
#include "weft/gemm/arch/cuda_launch.cuh"
#else
#include "tests/gemm/arch/harness.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"
#endif

namespace weft::gemm {
namespace {

template <class Kernel>
void RunTiled(arch::Dim3 grid, const typename Kernel::Params& params, int schedule) {
#if defined(WEFT_CUDA_BACKEND)
  (void)schedule;
  const arch::LaunchResult result = arch::LaunchOnCuda<Kernel>(grid, params, nullptr);
  ASSERT_TRUE(result.ok()) << result.message;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  const auto all = arch::testing::AllSchedules();
  const arch::CpuReport report =
      arch::LaunchOnCpu<Kernel>(grid, params, all[schedule % all.size()]);
  ASSERT_EQ(report.error, "");
#endif
}

template <class T>
T TiledValue(std::mt19937& engine) {
  const int byte = static_cast<int>(engine() >> 24) - (std::is_same_v<T, std::uint8_t> ? 0 : 128);
  if constexpr (requires { T::FromFloat(0.0f); }) {
    return T::FromFloat(static_cast<float>(byte / 16));
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::ldexp(static_cast<T>(byte), static_cast<int>(engine() % 9) - 4);
  } else {
    return static_cast<T>(byte);
  }
}
template <class T>
auto TiledNumber(T x) {
  if constexpr (requires { x.ToFloat(); }) {
    return x.ToFloat();
  } else {
    return x;
  }
}

// m x n x k; `room`: elements between the lines of a and b, which hold garbage.
template <class Case>
void TestTiled(int m, int n, int k, int room) {
  SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k);
  using Kernel = TiledKernel<Case>;
  using T = typename Kernel::T;
  using B = typename Kernel::B;
  using Sum = typename Kernel::Sum;
  constexpr bool kRows = std::is_same_v<typename Case::Order, layouts::RowMajor>;
  std::mt19937 engine(static_cast<unsigned>(m * 7919 + n * 104729 + k));
  const int lines = kRows ? (m > n ? m : n) : k;
  const int pitch = (kRows ? k : (m > n ? m : n)) + room;
  std::vector<T> a(static_cast<std::size_t>(lines) * pitch);
  std::vector<B> b(a.size());
  for (T& x : a) x = TiledValue<T>(engine);
  for (B& x : b) x = TiledValue<B>(engine);
  std::vector<Sum> start(static_cast<std::size_t>(m) * n);
  for (Sum& x : start) x = static_cast<Sum>(static_cast<int>(engine() >> 24) - 128);
  const auto at = [&](const auto& x, int row, int col) {
    return TiledNumber(x[kRows ? row * pitch + col : col * pitch + row]);
  };
  std::vector<Sum> expected = start;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      Sum& sum = expected[i * n + j];
      for (int l = 0; l < k; ++l) {
        if constexpr (std::is_same_v<Sum, float>) {
          sum = std::fma(at(a, i, l), at(b, j, l), sum);
        } else {
          sum += at(a, i, l) * at(b, j, l);
        }
      }
      sum += static_cast<Sum>(3 * i - j);
    }
  }
  const OperatorMemory<T> on_a(a);
  const OperatorMemory<B> on_b(b);
  const OperatorMemory<Sum> on_start(start), on_c(std::vector<Sum>(start.size(), Sum{77}));
  RunTiled<Kernel>({(m + Kernel::kM - 1) / Kernel::kM, (n + Kernel::kN - 1) / Kernel::kN},
                   {on_a.get(), on_b.get(), on_start.get(), on_c.get(), m, n, k, pitch}, m + n + k);
  EXPECT_EQ(on_c.Read(), expected);
}

// Lines of A and B in whole accesses of a copy, which asynchronous ones ask for.
template <class Case>
void TestTiledSizes(int step) {
  const auto room = [&](int k) { return (step - k % step) % step + step; };
  const auto test = [&](int m, int n, int k) { TestTiled<Case>(m, n, k, room(k)); };
  test(1, 1, 1);
  test(7, 4, 33);
  test(Case::Mma::kM, Case::Mma::kN, 2 * Case::kDepth);  // whole tiles
  test(Case::Mma::kM + 1, 2 * Case::Mma::kN - 4, Case::kDepth + 5);
}

TEST(Tiled, S8) {
  TestTiledSizes<S8Tiles>(16);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(Tiled, U8) {
  TestTiledSizes<U8Tiles>(1);
}
#endif
#if !defined(__SANITIZE_ADDRESS__)  // copies of these are S8's and Float's, of other elements
TEST(Tiled, Half) {
  const auto even = [](int m, int n, int k) { TestTiled<HalfTiles>(m, n, k, 2 + k % 2); };
  even(1, 2, 1);
  even(31, 66, 63);
  even(64, 64, 128);
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(Tiled, Bfloat16) {
  TestTiledSizes<Bfloat16Tiles>(1);
}
#endif
TEST(Tiled, Double) {
  TestTiled<DoubleTiles>(31, 34, 17, 2);
  TestTiled<DoubleTiles>(64, 32, 32, 3);
}
TEST(Tiled, S8OfSm75) {
  TestTiledSizes<S8OldTiles>(4);
}
TEST(Tiled, Dp4a) {
  TestTiledSizes<Dp4aTiles>(4);
}
#endif
TEST(Tiled, Float) {
  TestTiled<FloatTiles>(1, 4, 1, 3);
  TestTiled<FloatTiles>(33, 36, 17, 0);
  TestTiled<FloatTiles>(64, 32, 16, 5);
}

// Each element is its place, row + 1000 k.
TEST(Tiled, PartitionsOfViews) {
  using M = S8Tiles::Mma;
  constexpr int kDepth = 2 * M::kStepK;
  using Kernel = PartitionKernel<M, kDepth>;
  std::vector<std::int32_t> places(64 * kDepth);
  for (int i = 0; i < 64 * kDepth; ++i) places[i] = i / kDepth + 1000 * (i % kDepth);
  const OperatorMemory<std::int32_t> in(places);
  constexpr int kSize = Kernel::kSizeA + Kernel::kSizeB;
  const OperatorMemory<std::int32_t> out(std::vector<std::int32_t>(M::kThreads * kSize, -1));
  RunTiled<Kernel>({1}, {in.get(), in.get(), out.get()}, 0);
  std::vector<std::int32_t> expected;
  const auto add = [&](auto layout, int thread, int size) {
    constexpr int kValues = layouts::Size<1>(layout);
    for (int v = 0; v < size; ++v) {
      const int index = layout(thread, v % kValues), k = index / 64 + v / kValues * M::kStepK;
      expected.push_back(index % 64 + 1000 * k);
    }
  };
  for (int thread = 0; thread < M::kThreads; ++thread) {
    add(M::LayoutA(), thread, Kernel::kSizeA);
    add(M::LayoutB(), thread, Kernel::kSizeB);
  }
  EXPECT_EQ(out.Read(), expected);
}

}  // namespace
}  // namespace weft::gemm
