// Tensor-core convolutions over NCxHWx<32>.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/policies.hpp"

namespace weft::conv {

template <int block_m, int block_n, int block_k, int warp_m, int warp_n, int stages,
          int dst_alignment = 8>
struct MmaTile {
  static constexpr Config config =
      MmaSm80Config({block_m, block_n, block_k}, {warp_m, warp_n, block_k}, stages, dst_alignment);
};

template <class Dst, class EpilogueT, class TileT>
struct MmaPolicy {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = CxRSKx<32>;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr Config config = TileT::config;
};

namespace {

using epilogues::BiasRelu;

template <class P>
void RunRandom(int count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  for (int i = 0; i < count; ++i) {
    Problem problem = RandomProblem(engine);
    if (i % 2 == 0) problem.c += 60;  // several packets
    ExpectMatchesReference<P>(problem, reference::ReluActivation{},
                              {.seed = static_cast<std::uint32_t>(engine())});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(MmaSm80, Nc32ToNc32) {
  RunRandom<MmaPolicy<NCxHWx<32>, BiasRelu<>, MmaTile<64, 64, 64, 32, 32, 3>>>(40, 1);
}

TEST(MmaSm80, Nc32ToNc4) {
  RunRandom<MmaPolicy<NCxHWx<4>, BiasRelu<>, MmaTile<64, 32, 32, 32, 32, 4, 4>>>(30, 2);
}

TEST(MmaSm80, Nc32ToNhwc) {
  RunRandom<MmaPolicy<NHWC, BiasRelu<>, MmaTile<32, 64, 64, 32, 32, 3, 1>>>(30, 3);
}

TEST(MmaSm80, LargeTile) {
  using P = MmaPolicy<NCxHWx<32>, BiasRelu<>, MmaTile<128, 128, 64, 64, 32, 3>>;
  RunRandom<P>(15, 4);
  ExpectMatchesReference<P>(SquareProblem(2, 64, 14, 150, 3, 1, 1), reference::ReluActivation{});
  ExpectMatchesReference<P>(SquareProblem(1, 200, 9, 70, 1, 0, 2), reference::ReluActivation{});
}

TEST(MmaSm80, SmallK) {
  using P = MmaPolicy<NCxHWx<32>, BiasRelu<>, MmaTile<128, 32, 64, 32, 32, 3>>;
  RunRandom<P>(15, 5);
}

}  // namespace
}  // namespace weft::conv
