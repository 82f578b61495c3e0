// Checks of gemm::Block on the back end at hand: a product in all its forms, against plain loops.
//
// Integers are compared exactly and float and double bit for bit (one fma for each k, ascending).
// Sums of 16-bit floats, whose order is the hardware's, stay within what one truncation of each
// partial sum allows. C = alpha A B + beta C follows to the bit from the sums that came out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/gemm/block/kernels.hpp"
#include "tests/operator_memory.hpp"

#if defined(WEFT_CUDA_BACKEND)
#include "weft/gemm/arch/cuda_launch.cuh"
#else
#include "tests/gemm/arch/harness.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"
#endif

namespace weft::gemm {
namespace {

#if defined(WEFT_CPU_BACKEND)
// What the executor counted in the last launch.
arch::CpuStats& LastStats() {
  static arch::CpuStats stats;
  return stats;
}
#endif

template <class Kernel>
void RunBlocks(int blocks, const typename Kernel::Params& params, int schedule) {
#if defined(WEFT_CUDA_BACKEND)
  (void)schedule;
  const arch::LaunchResult result = arch::LaunchOnCuda<Kernel>({blocks}, params, nullptr);
  ASSERT_TRUE(result.ok()) << result.message;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  const auto all = arch::testing::AllSchedules();
  const arch::CpuReport report =
      arch::LaunchOnCpu<Kernel>({blocks}, params, all[schedule % all.size()]);
  ASSERT_EQ(report.error, "");
  LastStats() = report.stats;
#endif
}

template <class T>
double Number(T x) {
  if constexpr (requires { x.ToFloat(); }) {
    return x.ToFloat();
  } else {
    return x;
  }
}

// How sums are made, and so how they are compared.
enum class Sums { kExact, kFloat, kDouble, kTensorFloat };
template <class D>
constexpr Sums kSumsOf = std::is_same_v<typename D::Sum, std::int32_t> ? Sums::kExact
                         : std::is_same_v<typename D::Sum, double>     ? Sums::kDouble
                         : CheckedBlock<D>::kMma                       ? Sums::kTensorFloat
                                                                       : Sums::kFloat;

// Values that every element type holds; `fine` adds many binades.
struct Values {
  std::mt19937 engine;
  bool fine;
  double Next(bool is_signed) {
    const int byte = static_cast<int>(engine() >> 24) - (is_signed ? 128 : 0);
    return fine ? std::ldexp(byte, static_cast<int>(engine() % 9) - 4) : byte;
  }
};

// A matrix and its memory, with garbage between the lines' ends and the pitch, which is a multiple of
// `alignment` bytes.
template <class T>
struct TestMatrix {
  int rows, cols;
  bool row_major;
  int pitch;
  std::vector<T> values;

  TestMatrix(int rows, int cols, bool row_major, int alignment, Values* source)
      : rows(rows), cols(cols), row_major(row_major) {
    const int step = alignment > int{sizeof(T)} ? alignment / int{sizeof(T)} : 1;
    pitch = CeilDiv(row_major ? cols : rows, step) * step + step;
    values.assign(static_cast<std::size_t>(row_major ? rows : cols) * pitch, Garbage());
    for (int i = 0; i < rows * cols; ++i) {
      const double x = source->Next(!std::is_same_v<T, std::uint8_t>);
      At(i / cols, i % cols) = internal::ConvertSum<T>(x);
    }
  }
  static T Garbage() {
    if constexpr (requires { T{}.ToFloat(); }) {
      return T::FromBits(0x7fff);
    } else if constexpr (std::is_floating_point_v<T>) {
      return std::numeric_limits<T>::quiet_NaN();
    } else {
      return static_cast<T>(0x5a);
    }
  }
  T& At(int i, int j) { return values[row_major ? i * pitch + j : j * pitch + i]; }
  double operator()(int i, int j) const {
    return Number(values[row_major ? i * pitch + j : j * pitch + i]);
  }
  layouts::Matrix<T> On(T* data) const {
    return {data, rows, cols, row_major ? pitch : 1, row_major ? 1 : pitch};
  }
};

// Sum (i, j) of A B, `times` times over, and what it may be off by.
struct Expected {
  double sum = 0, bound = 0;
};
template <class A, class B>
Expected Reference(const A& a, const B& b, int i, int j, Sums sums, int times) {
  Expected e;
  float f = 0;
  const int depth = std::min(a.cols, b.rows);
  for (int n = 0; n < times; ++n) {
    for (int k = 0; k < depth; ++k) {
      const double x = a(i, k), y = b(k, j);
      f = std::fma(static_cast<float>(x), static_cast<float>(y), f);
      e.sum = std::fma(x, y, e.sum);
      e.bound += std::abs(x * y);
    }
  }
  if (sums == Sums::kFloat) e.sum = f;
  e.bound = sums == Sums::kTensorFloat ? e.bound * (times * depth + 1) * 0x1p-23 : 0;
  return e;
}

// Extents of the matrices that are given, at most D's.
template <class D>
void CheckProduct(TileShape given, int seed) {
  using B = Block<D>;
  using Sum = typename D::Sum;
  using C = typename D::ElementC;
  using Kernel = BlockFormsKernel<D>;
  constexpr TileShape kFull = D::config.shape;
  constexpr bool kRowA = B::kKMajorA, kRowB = !B::kKMajorB, kRowC = B::kRowMajorC;
  Values source{std::mt19937(seed), kSumsOf<D> != Sums::kExact};
  TestMatrix<typename D::ElementA> a(given.m, given.k, kRowA, D::config.alignment, &source);
  TestMatrix<typename D::ElementB> b(given.k, given.n, kRowB, D::config.alignment, &source);
  TestMatrix<C> c(given.m, given.n, kRowC, D::config.alignment, &source);
  const std::size_t size = kFull.m * kFull.n;
  const OperatorMemory on_a(a.values);
  const OperatorMemory on_b(b.values);
  const OperatorMemory on_c(c.values);
  const OperatorMemory on_sums(std::vector<Sum>(size, Sum{77}));
  const OperatorMemory on_twice(std::vector<Sum>(size, Sum{77}));
  const OperatorMemory on_largest(std::vector<Sum>(kFull.m, Sum{77}));
  const OperatorMemory on_owner(std::vector<std::int32_t>(size, -1));
  const OperatorMemory on_count(std::vector<std::int32_t>(Kernel::kThreads, -1));
  RunBlocks<Kernel>(1,
                    {.a = a.On(on_a.get()),
                     .b = b.On(on_b.get()),
                     .c = c.On(on_c.get()),
                     .sums = on_sums.get(),
                     .twice = on_twice.get(),
                     .largest = on_largest.get(),
                     .owner = on_owner.get(),
                     .count = on_count.get(),
                     .alpha = Sum{2},
                     .beta = seed % 2 == 0 ? Sum{3} : Sum{0}},
                    seed);

  const std::vector<Sum> got = on_sums.Read(), twice = on_twice.Read(), largest = on_largest.Read();
  TestMatrix<C> result = c;
  result.values = on_c.Read();
  int different = 0;
  for (int i = 0; i < kFull.m; ++i) {
    double row_largest = -std::numeric_limits<double>::infinity();
    for (int j = 0; j < kFull.n; ++j) {
      const bool is_there = i < given.m && j < given.n;
      // Zeros, or what lay beside the matrix.
      if (!(i < given.m || B::kKMajorA) || !(j < given.n || B::kKMajorB)) continue;
      const Sum sum = got[i * kFull.n + j];
      Expected once, two;
      if (is_there) once = Reference(a, b, i, j, kSumsOf<D>, 1);
      if (is_there) two = Reference(a, b, i, j, kSumsOf<D>, 2);
      different += !(std::abs(Number(sum) - once.sum) <= once.bound);
      different += !(std::abs(Number(twice[i * kFull.n + j]) - two.sum) <= two.bound);
      if (j < given.n) row_largest = std::max(row_largest, Number(sum));
      if (!is_there) continue;
      const Sum beta = seed % 2 == 0 ? Sum{3} : Sum{0};
      Sum want;
      if constexpr (std::is_same_v<Sum, std::int32_t>) {
        want = 2 * sum + beta * static_cast<Sum>(c(i, j));
      } else {
        want = std::fma(Sum{2}, sum, beta * static_cast<Sum>(c(i, j)));
      }
      different += result(i, j) != Number(internal::ConvertSum<C>(want));
    }
    if (D::config.whole_rows && i < given.m) different += Number(largest[i]) != row_largest;
  }
  EXPECT_EQ(different, 0) << "m " << given.m << " n " << given.n << " k " << given.k;
  // Nothing beside the matrix was written.
  for (int line = 0; line < (kRowC ? given.m : given.n); ++line) {
    for (int e = kRowC ? given.n : given.m; e < c.pitch; ++e) {
      const C x = result.values[line * c.pitch + e], garbage = TestMatrix<C>::Garbage();
      ASSERT_EQ(std::memcmp(&x, &garbage, sizeof(x)), 0) << "line " << line << " element " << e;
    }
  }
  // Each sum has one owner, and threads without any say so.
  const std::vector<std::int32_t> owner = on_owner.Read(), count = on_count.Read();
  std::vector<std::int32_t> owned(Kernel::kThreads);
  for (const std::int32_t thread : owner) {
    ASSERT_TRUE(thread >= 0 && thread < B::Accumulators::kThreads);
    ++owned[thread];
  }
  EXPECT_EQ(owned, count);
}

template <class D>
void CheckProducts(int seed) {
  constexpr TileShape s = D::config.shape;
  CheckProduct<D>(s, seed);
  CheckProduct<D>({CeilDiv(s.m, 2), s.n - 1, CeilDiv(s.k, 3)}, seed + 1);
}

// D = convert(A B) C, the first product's sums in registers, and by way of shared memory.
template <class Chain>
void CheckChain(int seed) {
  using First = typename Chain::First;
  using Second = typename Chain::Second;
  using Element = typename First::ElementA;
  using Sum = typename Second::Sum;
  constexpr TileShape s = First::config.shape, u = Second::config.shape;
  Values source{std::mt19937(seed), false};
  // Larger than the operands, which take what is theirs.
  TestMatrix<Element> a(s.m + 3, s.k + 4, true, 16, &source);
  TestMatrix<Element> b(s.k + 4, s.n, !Block<First>::kKMajorB, 16, &source);
  TestMatrix<Element> c(u.k, u.n + 1, true, 16, &source);
  const std::size_t size = u.m * u.n;
  const OperatorMemory on_a(a.values);
  const OperatorMemory on_b(b.values);
  const OperatorMemory on_c(c.values);
  const OperatorMemory on_registers(std::vector<Sum>(size, Sum{77}));
  const OperatorMemory on_shared(std::vector<Sum>(size, Sum{77}));
  RunBlocks<BlockChainKernel<Chain>>(1,
                                     {.a = a.On(on_a.get()),
                                      .b = b.On(on_b.get()),
                                      .c = c.On(on_c.get()),
                                      .by_registers = on_registers.get(),
                                      .by_shared = on_shared.get()},
                                     seed);
  a.cols = s.k;
  TestMatrix<Element> between(s.m, s.n, true, 1, &source);
  for (int i = 0; i < s.m * s.n; ++i) {
    const Expected e = Reference(a, b, i / s.n, i % s.n, Sums::kExact, 1);
    between.At(i / s.n, i % s.n) = ChainConvert<Element>()(static_cast<typename First::Sum>(e.sum));
  }
  const std::vector<Sum> got = on_registers.Read();
  EXPECT_EQ(got, on_shared.Read());
  int different = 0;
  double largest = 0;
  for (int i = 0; i < u.m * u.n; ++i) {
    const Expected e = Reference(between, c, i / u.n, i % u.n, kSumsOf<Second>, 1);
    different += !(std::abs(Number(got[i]) - e.sum) <= e.bound);
    largest = std::max(largest, std::abs(e.sum));
  }
  EXPECT_EQ(different, 0);
  EXPECT_GT(largest, 1000.0);  // of any consequence
}

// Products of long k that the pipelines load, added to what the sums were.
template <class D>
void CheckLong(TileShape given, int seed) {
  using Sum = typename D::Sum;
  using B = Block<D>;
  Values source{std::mt19937(seed), false};
  const int alignment = D::config.alignment;
  TestMatrix<typename D::ElementA> a(given.m, given.k, B::kKMajorA, alignment, &source);
  TestMatrix<typename D::ElementB> b(given.k, given.n, !B::kKMajorB, alignment, &source);
  const OperatorMemory on_a(a.values);
  const OperatorMemory on_b(b.values);
  const OperatorMemory on_sums(std::vector<Sum>(given.m * given.n, Sum{77}));
  RunBlocks<BlockLongKernel<D>>(1, {a.On(on_a.get()), b.On(on_b.get()), on_sums.get()}, seed);
  const std::vector<Sum> got = on_sums.Read();
  int different = 0;
  for (int i = 0; i < given.m * given.n; ++i) {  // of integers, which are exact in any order
    different +=
        Number(got[i]) != 5 + Reference(a, b, i / given.n, i % given.n, Sums::kExact, 1).sum;
  }
  EXPECT_EQ(different, 0) << "k " << given.k;
}

}  // namespace
}  // namespace weft::gemm
