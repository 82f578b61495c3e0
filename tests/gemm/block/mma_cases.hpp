// Products of gemm::Block on the back end at hand.
#pragma once

#include "tests/gemm/block/checks.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {
namespace {

TEST(BlockProduct, BytesOfTensorCores) {
  CheckProducts<S8Ragged>(1);
  CheckProducts<S8MnMajor>(12);
#if !WEFT_ONE_OF_EACH_KIND
  CheckProducts<U8Small>(23);
#endif
}

TEST(BlockProduct, BytesOfDp4a) {
  CheckProducts<S8Simt>(4);
#if !WEFT_ONE_OF_EACH_KIND
  CheckProducts<U8SimtMnMajor>(15);
#endif
}

TEST(BlockProduct, SixteenBitFloats) {
  CheckProducts<HalfRagged>(6);
  CheckProducts<HalfRows>(17);
#if !WEFT_ONE_OF_EACH_KIND
  CheckProducts<Bfloat16MnMajor>(8);
#endif
}

TEST(BlockProduct, FloatsAndDoubles) {
  CheckProducts<FloatSmall>(9);
  CheckProducts<FloatRows>(20);
#if !WEFT_ONE_OF_EACH_KIND
  CheckProducts<FloatRagged>(11);
#endif
  CheckProducts<DoubleSquare>(2);
}

TEST(BlockProduct, FloatsAndDoublesAsync) {
  for (int seed = 0; seed < 36; ++seed) CheckProducts<FloatAsyncTiny>(seed);
  CheckProducts<FloatAsyncSquare>(3);
  CheckProducts<FloatAsyncRows>(14);
  CheckProducts<DoubleAsync>(5);
}

TEST(BlockProduct, ComplexNumbersInSharedMemory) {
  std::vector<Complex<float>> a(9 * 7), b(7 * 12), c(9 * 12), want;
  for (int i = 0; i < 9 * 12; ++i) {
    const auto x = static_cast<float>(i);
    if (i < 9 * 7) a[i] = {x - 30.0f, 2.0f * x};
    if (i < 7 * 12) b[i] = {5.0f - x, x};
    c[i] = {x, -x};
  }
  const Complex<float> alpha{0.5f, 1.0f}, beta{2.0f, -1.0f};
  for (int i = 0; i < 9 * 12; ++i) {
    Complex<float> sum{};
    for (int k = 0; k < 7; ++k) sum = MulAdd(a[i / 12 * 7 + k], b[i % 12 * 7 + k], sum);
    want.push_back(MulAdd(alpha, sum, MulAdd(beta, c[i], Complex<float>{})));
  }
  const OperatorMemory on_a(a), on_b(b), on_c(c);
  RunBlocks<BlockComplexKernel>(1, {on_a.get(), on_b.get(), on_c.get(), alpha, beta}, 3);
  EXPECT_EQ(on_c.Read(), want);
}

TEST(BlockChain, SumsBecomeOperandA) {
  CheckChain<HalfChain>(1);
  CheckChain<ByteChain>(2);
}

TEST(BlockProduct, LongSumsFromGlobalMemory) {
  CheckLong<HalfRows>({60, 48, 500}, 3);
  CheckLong<HalfRows>({64, 41, 8}, 10);
  CheckLong<S8MnMajor>({64, 72, 300}, 4);
  CheckLong<FloatRows>({64, 60, 333}, 11);
  for (int seed = 0; seed < 36; ++seed) CheckLong<FloatAsyncSquare>({60, 64, 1 + 9 * seed}, seed);
  CheckLong<FloatAsyncRows>({30, 37, 150}, 2);
  CheckLong<DoubleAsync>({45, 39, 101}, 6);
}

// Bytes that become halves on their way are the halves that they stand for.
TEST(BlockCopy, LoadFunctor) {
  using D = HalfRows;
  constexpr TileShape s = D::config.shape;
  Values source{std::mt19937(3), false};
  TestMatrix<std::int8_t> bytes(s.m - 5, s.k - 3, false, 1, &source);
  const OperatorMemory on_bytes(bytes.values);
  const OperatorMemory on_out(std::vector<float>(s.m * s.k, 77.0f));
  RunBlocks<BlockLoadKernel<D>>(1, {bytes.On(on_bytes.get()), on_out.get()}, 5);
  const std::vector<float> got = on_out.Read();
  int different = 0;
  for (int i = 0; i < s.m * s.k; ++i) {
    const int row = i / s.k, k = i % s.k;
    const bool is_there = row < bytes.rows && k < bytes.cols;
    different += got[i] != (is_there ? 0.5 * bytes(row, k) : 0.0);
  }
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace weft::gemm
