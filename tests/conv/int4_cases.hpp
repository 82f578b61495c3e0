// Filters of int4 through every mainloop that takes them, against the reference; shared by both
// back ends.
#pragma once

#include <gmock/gmock.h>

#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/run_random.hpp"
#include "tests/conv/zero_point_cases.hpp"

namespace weft::conv {
namespace {

using Relu = epilogues::BiasRelu<>;

template <class P>
void RunInt4(int count, std::uint32_t seed, int multiple_c = 1, int multiple_k = 1) {
  RunRandom<Int4Filter<P>>(count, seed, multiple_c, multiple_k);
}

TEST(Int4Filter, Simt) {
  RunInt4<TestPolicy<NCxHWx<4>, Relu>>(12, 1);  // of its threads, half bring a block of int4
}

TEST(Int4Filter, MmaSm75) {
  RunInt4<Nc32Policy<NCxHWx<32>, Relu, ArticleTile>>(8, 3);
}

TEST(Int4Filter, MmaSm80) {
  RunInt4<Nc32Policy<NCxHWx<32>, Relu, MmaSm80Tile<64, 64, 64, 32, 32, 4>>>(12, 4);
  // Fragments of B loaded ahead; warps of 16 columns, whose blocks one ldmatrix.x2 brings.
  RunInt4<Nc32Policy<NCxHWx<32>, Relu, MmaSm80Tile<128, 128, 64, 64, 64, 3>>>(4, 5);
  RunInt4<Nc32Policy<NCxHWx<4>, Relu, MmaSm80Tile<64, 32, 32, 32, 16, 3, 4>>>(6, 6);
}

// Rows of R S C values that are no whole blocks, whatever the width of the source's loads.
TEST(Int4Filter, Nhwc) {
  RunInt4<S8ConvNhwc<Relu, NHWC, Mma64x64, 4, 1>>(12, 7, 4);
}

TEST(Int4Filter, Prologues) {
  const auto run = [](auto type, int seed) {
    RunRandomPrologue<Int4Filter<typename decltype(type)::type>>(6, seed,
                                                                 reference::ReluActivation{});
  };
  using prologues::Grouped;
  using prologues::LocalFilter;
  using prologues::PerSample;
  using LocalTile = Tile<16, 64, 64, 16, 32, 2, 8>;
  run(std::type_identity<Nc4Prologue<LocalFilter, NCxHWx<4>, LocalTile>>(), 9);
  run(std::type_identity<Nc32Prologue<LocalFilter, NCxHWx<32>, 32, 64, 64, 32, 32, 3, 8>>(), 10);
  run(std::type_identity<NhwcPrologue<PerSample, NHWC, 64, 64, 16, 4>>(), 12);
  run(std::type_identity<NhwcPrologue<Grouped, NHWC, 64, 64, 4, 4>>(), 13);
}

// Sources of uint8 and zero points: the table of corrections is made of int4 too.
TEST(Int4Filter, ZeroPoints) {
  RunAsymmetric<Int4Filter<ZeroFilterSm80>>(4, 15);
}

}  // namespace
}  // namespace weft::conv
