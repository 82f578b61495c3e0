// Filters of int4 through every mainloop that takes them, against the reference; shared by both
// back ends.
#pragma once

#include <gmock/gmock.h>

#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/run_random.hpp"
#include "tests/conv/wgmma_policies.hpp"
#include "tests/conv/zero_point_cases.hpp"

namespace weft::conv {

// Named: the GPU code of a policy without linkage cannot be found.
using Nc64 = PairedInt4<NCxHWx<64>>;
template <class P>
struct OverNc64 : P {
  using SrcLayout = Nc64;
};
template <class P>
struct OfInt4 : OverNc64<P> {
  using FilterLayout = PackedInt4<CxRSKx<64>>;
};

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

// Two warps of 16 columns and of two k groups each, twice; eight warps of all columns.
TEST(Int4Filter, WarpsShareSlices) {
  RunInt4<Nc32Policy<NCxHWx<32>, Relu, SlicedTile<16, 32, 128, 16, 16, 64, 4, 4>>>(8, 16);
  RunInt4<Nc32Policy<NCxHWx<32>, Relu, SlicedTile<16, 32, 256, 16, 32, 32, 3>>>(8, 17);
}

// Rows of R S C values that are no whole blocks, whatever the width of the source's loads.
TEST(Int4Filter, Nhwc) {
  RunInt4<S8ConvNhwc<Relu, NHWC, Mma64x64, 4, 1>>(12, 7, 4);
}

// Blocks that the copy engine brings become bytes in the registers of the warps that multiply: slices of
// one step, of two, of an odd number and of many; one and two blocks of 64 columns to a warpgroup.
TEST(Int4Filter, WgmmaSm90) {
  RunInt4<WgmmaPolicy<NCxHWx<32>, Relu, SmallTile64>>(12, 51);
  RunInt4<WgmmaPolicy<NCxHWx<4>, Relu, WgmmaTile<24, 64, 32, 24, 64, 2, 4>>>(8, 52);
  RunInt4<WgmmaPolicy<NHWC, Relu, WgmmaTile<64, 128, 96, 32, 128, 1, 4>>>(8, 53, 1, 4);
  RunInt4<WgmmaPolicy<NCxHWx<32>, Relu, WgmmaTile<128, 128, 128, 64, 64>>>(6, 54);
}

// As many taps as a slice can have steps, and more; strides and dilations.
TEST(Int4Filter, WgmmaSm90LargeFilters) {
  using P = Int4Filter<WgmmaPolicy<NCxHWx<32>, Relu, SmallTile64>>;
  const reference::ReluActivation relu;
  ExpectMatchesReference<P>(SquareProblem(2, 40, 9, 20, 7, 3, 2), relu);
  Problem p = SquareProblem(1, 70, 12, 33, 8, 4, 1);
  p.s = 9, p.dilation_h = 2, p.pad_top = 5;
  p.mode = Mode::kConvolution;
  ExpectMatchesReference<P>(p, relu);
}

TEST(Int4Filter, WgmmaSm90Split) {
  RunInt4<WgmmaPolicy<NCxHWx<32>, Relu, Split<WgmmaTile<64, 64, 128, 64, 64>, 4>>>(6, 55);
  RunInt4<WgmmaPolicy<NCxHWx<32>, Relu, Split<WgmmaTile<32, 64, 256, 32, 64>, 4>>>(6, 56);
}

TEST(Int4Filter, Prologues) {
  const auto run = [](auto type, int seed) {
    RunRandomPrologue<Int4Filter<typename decltype(type)::type>>(6, seed,
                                                                 reference::ReluActivation{});
  };
  using prologues::Grouped;
  using prologues::LocalFilter;
  using LocalTile = Tile<16, 64, 64, 16, 32, 2, 8>;
  run(std::type_identity<Nc4Prologue<LocalFilter, NCxHWx<4>, LocalTile>>(), 9);
  run(std::type_identity<Nc32Prologue<LocalFilter, NCxHWx<32>, 32, 64, 64, 32, 32, 3, 8>>(), 10);
  run(std::type_identity<NhwcPrologue<Grouped, NHWC, 64, 64, 16, 4>>(), 11);
  run(std::type_identity<WgmmaPrologue<Grouped, NCxHWx<32>, SmallTile64>>(), 12);
  run(std::type_identity<WgmmaPrologue<prologues::PerSample, NCxHWx<32>, SmallTile64>>(), 13);
}

// Sources of uint8 and zero points: the table of corrections is made of int4 too.
TEST(Int4Filter, ZeroPoints) {
  RunAsymmetric<Int4Filter<ZeroFilterSm80>>(4, 15);
}

TEST(Int4Filter, WgmmaSm90ZeroPoints) {
  RunAsymmetric<Int4Filter<ZeroWgmma>>(6, 61);
  RunAsymmetric<Int4Filter<ZeroTurns>>(4, 62);
}

// Sources of 4 bits, which become bytes on their way to shared memory.
TEST(Int4Source, Simt) {
  RunRandom<Int4Source<Int4Filter<S8Conv4<Relu, NCxHWx<4>, Tile32x32>>>>(8, 31);
}

TEST(Int4Source, MmaSm75) {
  RunRandom<Int4Source<Nc32Policy<NCxHWx<32>, Relu, ArticleTile>>>(6, 32);
}

// Blocks of 64 channels are walked as two of 32, in tables of up to 16 taps and by im2col beyond.
TEST(Int4Source, Nc64) {
  using P = OverNc64<Nc32Policy<NCxHWx<32>, Relu, MmaSm80Tile<64, 64, 64, 32, 32, 4>>>;
  RunRandom<Int4Filter<P>>(12, 33);
  RunRandom<P>(1, 34);
}

TEST(Int4Source, Nhwc) {
  RunRandom<Int4Source<Int4Filter<S8ConvNhwc<Relu, NHWC, Mma64x64, 16, 1>>>>(6, 35, 32);
  RunRandom<Int4Source<S8ConvNhwc<Relu, NHWC, Mma64x64, 4, 1>>>(6, 36, 8);
}

// 0 to 15, each less a zero point at the border too.
TEST(Int4Source, UnsignedWithZeroPoints) {
  RunAsymmetric<OverNc64<Int4Filter<ZeroFilterSm80>>>(4, 37);
}

// Instructions of 4 bits, which read both operands as they are in memory.
TEST(Int4Products, MmaSm80) {
  RunRandom<S4Mma64<Relu, NCxHWx<32>, Mma64x64>>(12, 41);
}
TEST(Int4Products, MmaSm75) {
  RunRandom<OfInt4<Nc32Policy<NCxHWx<32>, Relu, ArticleTile>>>(6, 43);
}
TEST(Int4Products, UnsignedWithZeroPoints) {
  RunAsymmetric<OfInt4<ZeroFilterSm80>>(4, 42);
}

template <class T, class... First>
using ToInt4 = epilogues::Chain<
    First..., epilogues::Scale, epilogues::Bias<>,
    epilogues::ClampTo<T, std::is_signed_v<T> ? -8 : 0, std::is_signed_v<T> ? 7 : 15>>;

// Outputs of 4 bits, any K: surplus channels are zeros.
template <class P>
void RunToInt4(int count, std::uint32_t seed, int multiple_k = 1, int multiple_c = 1) {
  using Output = typename P::Epilogue::Output;
  constexpr bool kSigned = std::is_signed_v<Output>;
  std::mt19937 engine(seed);
  for (int i = 0; i < count; ++i) {
    Problem p = RandomProblem(engine);
    p.k = RoundUp(p.k, multiple_k);
    p.c = RoundUp(p.c, multiple_c);
    // Scales that bring typical sums into the range, with some values clamped.
    const float alpha = (kIsInt4<typename P::FilterLayout> ? 16.0f : 1.0f) *
                        (kIsInt4<typename P::SrcLayout> ? 16.0f : 1.0f) * 4.0f /
                        (5500.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s)));
    ExpectMatchesReference<P>(p, reference::NoActivation{},
                              {.seed = static_cast<std::uint32_t>(engine()),
                               .per_tensor_alpha = true,
                               .alpha = alpha,
                               .beta = 0.1f,
                               .gamma = P::Epilogue::kHasResidual ? 0.03f : 1.0f,
                               .zero_point = kSigned ? 0.0f : 6.0f},
                              {}, {kSigned ? -8 : 0, kSigned ? 7 : 15});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Int4Output, EveryLayout) {
  using S4 = ToInt4<std::int8_t>;
  using U4 = ToInt4<std::uint8_t, epilogues::Residual<std::int8_t, NHWC>>;
  RunToInt4<TestPolicy<PairedInt4<NCxHWx<4>>, S4, SmallTile<2>>>(8, 21);
  RunToInt4<Nc32Policy<PairedInt4<NCxHWx<64>>, U4, MmaSm80Tile<64, 64, 64, 32, 32, 3, 4>>>(8, 23);
  RunToInt4<Nc32Policy<PairedInt4<NCxHWx<32>>, S4, MmaSm75Tile<64, 32, 64, 16, 32, 8>>>(8, 24);
  RunToInt4<Int4Filter<S8ConvNhwc<S4, PairedInt4<NHWC>, Mma64x32, 4, 2>>>(8, 25, 2, 4);
  RunToInt4<S4Conv64<S4Bias, Nc64, Mma64x64>>(8, 26);  // and what it reads
}

}  // namespace
}  // namespace weft::conv
