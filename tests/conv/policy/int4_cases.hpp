// Filters and sources of int4 with prologues and zero points; shared by both back ends. What else there is of
// them is in table/operators.def.
#pragma once

#include <gmock/gmock.h>

#include "tests/conv/kernel/prologue_cases.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "tests/conv/zero_point/zero_point_cases.hpp"
#include "tests/kinds.hpp"

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

TEST(Int4Filter, Prologues) {
  const auto run = [](auto type, int seed) {
    RunRandomPrologue<Int4Filter<typename decltype(type)::type>>(6, seed);
  };
  using prologues::Grouped;
  using prologues::LocalFilter;
#if !WEFT_ONE_OF_EACH_KIND
  using LocalTile = Tile<16, 64, 64, 16, 32, 2, 8>;
  run(std::type_identity<Nc4Prologue<LocalFilter, NCxHWx<4>, LocalTile>>(), 9);
  run(std::type_identity<WgmmaPrologue<Grouped, NCxHWx<32>, SmallTile64>>(), 12);
#endif
  run(std::type_identity<Nc32Prologue<LocalFilter, NCxHWx<32>, 32, 64, 64, 32, 32, 3, 8>>(), 10);
  run(std::type_identity<NhwcPrologue<Grouped, NHWC, 64, 64, 16, 4>>(), 11);
  run(std::type_identity<WgmmaPrologue<prologues::PerSample, NCxHWx<32>, SmallTile64>>(), 13);
}

// Sources of uint8 and zero points: the table of corrections is made of int4 too.
TEST(Int4Filter, ZeroPoints) {
  RunAsymmetric<Int4Filter<ZeroFilterSm80>>(4, 15);
}

TEST(Int4Filter, WgmmaSm90ZeroPoints) {
  RunAsymmetric<Int4Filter<ZeroWgmma>>(6, 61);
  RunAsymmetric<Int4Filter<ZeroPingPong>>(4, 62);
}

// 0 to 15, each less a zero point at the border too.
TEST(Int4Source, UnsignedWithZeroPoints) {
  RunAsymmetric<OverNc64<Int4Filter<ZeroFilterSm80>>>(4, 37);
}

TEST(Int4Products, UnsignedWithZeroPoints) {
  RunAsymmetric<OfInt4<ZeroFilterSm80>>(4, 42);
}

}  // namespace
}  // namespace weft::conv
