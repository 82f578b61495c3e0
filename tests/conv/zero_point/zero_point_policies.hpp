// The operators that the tests of zero points run.
#pragma once

#include "tests/conv/policy/nc32_policies.hpp"
#include "tests/conv/policy/policies.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {

using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::ConvInteger;
using epilogues::FilterZeroPoint;
using epilogues::QLinear;
using epilogues::RoundFirst;
using epilogues::Scale;
using epilogues::SourceZeroPoint;
using epilogues::SumBias;
using epilogues::ToAccumulator;

template <class T>
using QLinearWithFilter =
    Chain<SourceZeroPoint, FilterZeroPoint, SumBias, Scale, RoundFirst, ClampTo<T>>;
using ConvIntegerWithFilter = Chain<SourceZeroPoint, FilterZeroPoint, ToAccumulator>;
// Without SumBias the corrections stand alone; without SourceZeroPoint the source's is 0.
using FloatBias =
    Chain<SourceZeroPoint, Scale, epilogues::Bias<>, RoundFirst, ClampTo<std::int8_t>>;
using OnlyFilter = Chain<FilterZeroPoint, ToAccumulator>;

using ZeroSimt = UnsignedSource<TestPolicy<NCxHWx<4>, QLinear<>>>;
using ZeroSm75 = Nc32Policy<NCxHWx<32>, FloatBias, MmaSm75Tile<32, 32, 64, 16, 32>>;
using ZeroSm75U8 =
    UnsignedSource<Nc32Policy<NHWC, ConvInteger, MmaSm75Tile<32, 32, 64, 16, 32, 4>>>;
using ZeroSm80 =
    UnsignedSource<Nc32Policy<NHWC, QLinear<std::int8_t>, MmaSm80Tile<64, 32, 64, 32, 32, 3, 4>>>;
using ZeroFilterSm80 = UnsignedSource<
    Nc32Policy<NCxHWx<32>, QLinearWithFilter<std::uint8_t>, MmaSm80Tile<64, 32, 64, 32, 32, 3>>>;

struct ZeroGrouped : UnsignedSource<TestPolicy<NCHW, ConvInteger, SmallTile<4>>> {
  using Prologue = prologues::Grouped;
};
struct ZeroFilterGrouped : TestPolicy<NCHW, OnlyFilter, SmallTile<4>> {
  using Prologue = prologues::Grouped;
};

using ZeroWgmma = UnsignedSource<WithEpilogue<QLinear<>>>;
using ZeroWgmmaSums = WgmmaNhwcPolicy<NHWC, ConvInteger, WgmmaTile<48, 64, 128, 48, 64, 1, 4>>;
// Blocks of a cluster, and warpgroups that share rows.
using ZeroWgmmaSplitK =
    WgmmaPolicy<NHWC, ConvInteger, SplitK<WgmmaTile<64, 128, 64, 64, 64, 1, 4>, 2>>;
using ZeroWgmmaFirst = UnsignedSource<
    WgmmaFirstPolicy<NCxHWx<32>, QLinear<std::int8_t>, WgmmaTile<128, 64, 64, 64, 64>>>;
// Which pools its sums, and which cannot.
using ZeroPooled =
    UnsignedSource<WgmmaFirstPolicy<NCxHWx<32>,
                                    Chain<SourceZeroPoint, SumBias, Scale, RoundFirst,
                                          epilogues::MaxPool<3, 2, 1>, ClampTo<std::uint8_t>>,
                                    WgmmaTile<64, 64, 64, 16, 64>>>;
using ZeroFilterPooled = UnsignedSource<
    WgmmaFirstPolicy<NHWC,
                     Chain<SourceZeroPoint, FilterZeroPoint, SumBias, Scale, RoundFirst,
                           epilogues::MaxPool<2, 2>, ClampTo<std::int8_t>>,
                     WgmmaTile<128, 64, 64, 32, 64, 1, 8>>>;
struct ZeroWgmmaPackedRows : UnsignedSource<WithEpilogue<QLinear<>>> {
  static constexpr auto config = WithPackedRows(WithEpilogue<QLinear<>>::config, 2);
};
struct ZeroPingPong : ZeroWgmma {
  static constexpr auto config = WithPingPong(ZeroWgmma::config);
};
struct ZeroFilterWgmmaPackedRows : WithEpilogue<QLinearWithFilter<std::int8_t>, NHWC, 4> {
  static constexpr auto config = WithPackedRows(WithEpilogue<QLinear<>, NHWC, 4>::config, 2);
};
using ZeroFilterWgmma = WithEpilogue<QLinearWithFilter<std::int8_t>, NHWC, 4>;
struct ZeroFilterPingPong : ZeroFilterWgmma {
  static constexpr auto config = WithPingPong(ZeroFilterWgmma::config);
};

}  // namespace weft::conv
