// Zero points through the mainloops whose operands threads copy.
#pragma once

#include "tests/conv/zero_point/zero_point_cases.hpp"

namespace weft::conv {
namespace {

TEST(ZeroPoint, Simt) {
  RunBorders<ZeroSimt>();
  RunAsymmetric<ZeroSimt>(40, 1);
}

TEST(ZeroPoint, MmaSm75) {
  RunBorders<ZeroSm75>();
  RunAsymmetric<ZeroSm75>(15, 2);
  RunAsymmetric<ZeroSm75U8>(15, 3, 1, 4);
}

TEST(ZeroPoint, MmaSm80) {
  RunBorders<ZeroSm80>();
  RunAsymmetric<ZeroSm80>(30, 4, 1, 4);
}

TEST(ZeroPoint, OfTheFilterToo) {
  RunBorders<ZeroFilterSm80>();
  RunAsymmetric<ZeroFilterSm80>(15, 5);
}

TEST(ZeroPoint, Groups) {
  for (const std::int64_t groups : {2, 3}) {
    Problem p{.n = 2, .h = 6, .w = 5, .c = 8 * groups, .k = 5 * groups, .r = 3, .s = 3};
    p.pad_top = p.pad_left = p.pad_right = 1;
    p.groups = groups;
    ExpectExact<ZeroGrouped>(p, 6);
    ExpectExact<ZeroFilterGrouped>(p, 7);
  }
}

// As many products as may be added up, all of them the largest.
TEST(ZeroPoint, LargestSums) {
  constexpr std::int64_t kMost = 65793;  // floor((2^31 - 1) / (255 * 128))
  const Problem p{.n = 1, .h = 1, .w = 1, .c = kMost, .k = 1, .r = 1, .s = 1};
  using Op = Convolution<ZeroSm75U8>;
  Problem wide = p;
  wide.k = 4;
  const auto op = Op::Create(wide);
  ASSERT_TRUE(op.ok()) << op.status();
  const auto packed = PackFilter<CxRSKx<32>, KCRS, std::int8_t>(
                          wide.filter(), std::vector<std::int8_t>(4 * kMost, -128))
                          .value();
  const auto src =
      ConvertTensor<NCHW, NCxHWx<32>, std::uint8_t>(wide.src(), std::vector<std::uint8_t>(kMost, 0))
          .value();
  const auto table = MakeSourceCorrection(wide, packed, 255).value();
  const OperatorMemory<std::uint8_t> x(src);
  const OperatorMemory<std::int8_t> w(
      std::vector<std::int8_t>(packed.data(), packed.data() + packed.size()));
  const OperatorMemory<std::int32_t> correction(
      std::vector<std::int32_t>(table.data(), table.data() + table.bytes() / 4));
  const OperatorMemory<std::int32_t> y(std::vector<std::int32_t>(4));
  RunOrFail(*op, {.src = x.get(),
                  .filter = packed.At(w.get()),
                  .dst = y.get(),
                  .source_correction = table.At(correction.get())});
  EXPECT_EQ(y.Read(), std::vector<std::int32_t>(4, 255 * 128 * kMost));
  wide.c = kMost + 1;
  EXPECT_EQ(
      Op::Create(wide).status().message(),
      "conv: c*r*s=65794 products of two bytes and their zero points, up to 32640 each, can "
      "overflow the int32 accumulator; at most 65793 are accepted, so split the channels over "
      "several convolutions");
}

}  // namespace
}  // namespace weft::conv
