// The words of which operators.def makes policies: by source format, what a policy can be changed in, and
// epilogues.
#pragma once

#include <cstdint>

#include "tests/conv/policy/nc32_policies.hpp"
#include "tests/conv/policy/policies.hpp"
#include "tests/conv/policy/porting_policies.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "tests/conv/table/problems/source_functors.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv::table {

// P over another source format, and with the filter format that belongs to it.
template <class P, class Src, class Filter = typename P::FilterLayout>
struct Reads : P {
  using SrcLayout = Src;
  using FilterLayout = Filter;
};

// Source formats: Dst, epilogue, tile.
template <class Dst, class EpilogueT, class TileT>
using Nc4 = TestPolicy<Dst, EpilogueT, TileT>;
template <class Dst, class EpilogueT, class TileT>
using Nc32 = Nc32Policy<Dst, EpilogueT, TileT>;
// Loads of kSrcBytes.
template <class Dst, class EpilogueT, class TileT, int kSrcBytes = 16>
struct Nhwc : Reads<Nc32Policy<Dst, EpilogueT, TileT>, NHWC, KRSC> {
  static constexpr auto config = WithSrcAlignment(TileT::config, kSrcBytes);
};
template <class Dst, class EpilogueT, class TileT>
using WgmmaNc32 = WgmmaPolicy<Dst, EpilogueT, TileT>;
template <class Dst, class EpilogueT, class TileT>
using WgmmaNhwc = WgmmaNhwcPolicy<Dst, EpilogueT, TileT>;
template <class Dst, class EpilogueT, class TileT>
using WgmmaNc4 = WgmmaFirstPolicy<Dst, EpilogueT, TileT>;

// Element types. Sources of 4 bits keep their interleave, or have blocks of 64 channels.
template <class P>
using SourceU8 = UnsignedSource<P>;
template <class P>
using FilterS4 = Int4Filter<P>;
template <class P>
using SourceS4 = Int4Source<P>;
template <class P>
using SourceU4 = UnsignedSource<Int4Source<P>>;
template <class P>
struct SourceS4Nc64 : Reads<P, PairedInt4<NCxHWx<64>>> {};
template <class P>
using SourceU4Nc64 = UnsignedSource<SourceS4Nc64<P>>;
// Both, multiplied as they are.
template <class P>
struct ProductsS4 : Reads<P, PairedInt4<NCxHWx<64>>, PackedInt4<CxRSKx<64>>> {};
template <class P>
using ProductsU4 = UnsignedSource<ProductsS4<P>>;

template <class P>
using Centred = WithSource<P, Centre>;
template <class P>
using Requantised = WithSource<P, Requantise>;
template <class P>
struct Groups : P {
  using Prologue = prologues::Grouped;
};

using Nc4Dst = NCxHWx<4>;
using Nc32Dst = NCxHWx<32>;
using Nc64Dst = NCxHWx<64>;

// Epilogues.
using epilogues::Bias;
using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::Residual;
using epilogues::Scale;
using Relu = epilogues::BiasRelu<>;
using ReluOfInt32Bias = epilogues::BiasRelu<std::int32_t>;
using HSwish = epilogues::BiasHSwish<>;
template <class Layout>
using ResidualRelu =
    Chain<Residual<std::int8_t, Layout>, Scale, Bias<>, epilogues::Relu, ClampTo<std::int8_t>>;
using ResidualOfDst = ResidualRelu<epilogues::SameAsDst>;
template <class T>
using To = Chain<Scale, Bias<>, epilogues::RoundTo<T>>;
using ToFloat = Chain<Scale, Bias<>, epilogues::Relu, epilogues::ToFloat>;
using ToU8 = Chain<Scale, Bias<>, ClampTo<std::uint8_t>>;
using Sums = Chain<epilogues::ToAccumulator>;
using BiasedSums = Chain<epilogues::SumBias, epilogues::ToAccumulator>;
using SumBiasToU8 = Chain<epilogues::SumBias, Scale, epilogues::Relu, ClampTo<std::uint8_t>>;
using ResidualSumBias =
    Chain<Residual<>, epilogues::SumBias, Scale, epilogues::Relu, ClampTo<std::int8_t>>;
using SumBiasRelu = Chain<epilogues::SumBias, Scale, epilogues::Relu, ClampTo<std::int8_t>>;
using ToS4 = Chain<Scale, Bias<>, ClampTo<std::int8_t, -8, 7>>;
using ToU4 = Chain<Scale, Bias<>, ClampTo<std::uint8_t, 0, 15>>;
using ResidualToU4 =
    Chain<Residual<std::int8_t, NHWC>, Scale, Bias<>, ClampTo<std::uint8_t, 0, 15>>;

}  // namespace weft::conv::table
