// On the CPU; and what is refused.
#include <gmock/gmock.h>

#include "tests/conv/zero_point/zero_point_depthwise_cases.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;

Problem Small() {
  Problem p = SquareProblem(1, 8, 5, 8, 3, 1, 1);
  p.groups = 8;
  return p;
}
auto Pack(const Problem& p) {
  return PackDepthwiseFilter({p.k, 1, p.r, p.s}, std::vector<std::int8_t>(p.k * p.r * p.s, 2))
      .value();
}

// The largest products of uint8, of either sign; a filter of uint8 is one of int8, 128 less.
TEST(ZeroPointDepthwise, LargestSums) {
  using P = UnsignedSource<S8Depthwise32<ConvIntegerWithFilter>>;
  for (const std::int64_t filter : {3, 5, 7, 4}) {
    Problem p = SquareProblem(1, 4, 2 * filter, 4, filter, filter - 1, 1);
    p.groups = 4;
    const auto op = Convolution<P>::Create(p);
    ASSERT_TRUE(op.ok()) << op.status();
    // Channels: filter values and zero points of uint8.
    const int w[] = {255, 0, 255, 7}, zw[] = {0, 255, 255, 128};
    std::vector<std::int8_t> values;
    std::vector<std::int32_t> zeros;
    for (int k = 0; k < 4; ++k) {
      values.insert(values.end(), p.r * p.s, static_cast<std::int8_t>(w[k] - 128));
      zeros.push_back(zw[k] - 128);
    }
    const auto packed = PackDepthwiseFilter({4, 1, p.r, p.s}, values).value();
    for (const int x : {0, 255}) {
      const int zx = 255 - x;
      const auto table = MakeSourceCorrection(p, packed, zx, zeros).value();
      const OperatorMemory<std::uint8_t> src(std::vector<std::uint8_t>(op->src_size(), x));
      const OperatorMemory<std::int32_t> dst(std::vector<std::int32_t>(op->dst_size(), 1));
      RunOrFail(*op, {.src = src.get(),
                      .filter = packed.view(),
                      .dst = dst.get(),
                      .source_correction = table.view(),
                      .filter_zero_point = zeros.data()});
      const std::vector<std::int32_t> got = dst.Read();
      for (std::int64_t row = 0; row < p.p(); ++row) {
        for (std::int64_t q = 0; q < p.q(); ++q) {
          const auto seen = [&](std::int64_t at) {  // taps in the image
            const std::int64_t first = at - (filter - 1);
            return std::min(first + filter, 2 * filter) - std::max<std::int64_t>(first, 0);
          };
          for (int k = 0; k < 4; ++k) {
            ASSERT_EQ(got[NCxHWx<32>::Offset(p.dst(), 0, k, row, q)],
                      seen(row) * seen(q) * (x - zx) * (w[k] - zw[k]))
                << filter << " at " << row << ", " << q << " of channel " << k;
          }
        }
      }
    }
  }
}

TEST(ZeroPointDepthwise, RefusesFiltersOfAnother) {
  const Problem p = Small();
  Problem fewer = p;
  fewer.c = fewer.k = fewer.groups = 4;
  EXPECT_THAT(MakeSourceCorrection(p, Pack(fewer), 3).status().message(),
              HasSubstr("the filter of a source correction is packed for k=4 c=1 r=3 s=3"));
}

TEST(ZeroPointDepthwise, RefusesZeroPointsOfAnotherFilter) {
  const Problem p = Small();
  std::vector<std::int32_t> zeros(7, 1);
  EXPECT_EQ(MakeSourceCorrection(p, Pack(p), 3, zeros).status().message(),
            "conv: filter_zero_point has 7 values; give k=8, one for each output channel");
  zeros.push_back(200);
  const absl::Status outside = MakeSourceCorrection(p, Pack(p), 3, zeros).status();
  EXPECT_EQ(outside.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(outside.message(),
            "conv: filter_zero_point[7]=200 is no value of an int8 filter; give one from -128 to "
            "127");
  Problem dense = p;
  dense.groups = 1;
  const auto packed =
      PackFilter<CxRSKx<4>>(dense.filter(), std::vector<std::int8_t>(8 * 8 * 9, 1)).value();
  EXPECT_THAT(MakeSourceCorrection(dense, packed, 3, zeros).status().message(),
              HasSubstr("filter_zero_point is given for a convolution that is not depthwise"));
}

template <class P>
std::string Refusal(const SourceCorrection& table, const std::int32_t* filter_zero_point,
                    const std::int32_t* window_sums = nullptr) {
  alignas(16) static std::uint8_t src[200] = {}, dst[200] = {};
  alignas(16) static std::int32_t bias[8] = {};
  const auto filter = Pack(Small());
  typename Convolution<P>::Arguments args{
      .src = src, .filter = filter.view(), .bias = bias, .dst = dst};
  args.source_correction = table;
  args.filter_zero_point = filter_zero_point;
  args.window_sums = window_sums;
  return std::string(Convolution<P>::Create(Small())->CheckArguments(args).message());
}

TEST(ZeroPointDepthwise, RefusesArgumentsOfOtherStages) {
  const Problem p = Small();
  const std::vector<std::int32_t> zeros(8, 1);
  const auto with = MakeSourceCorrection(p, Pack(p), 3, zeros).value();
  const auto without = MakeSourceCorrection(p, Pack(p), 3).value();
  EXPECT_EQ(Refusal<ZeroFilterDepthwise4>(with.view(), zeros.data()), "");
  EXPECT_EQ(Refusal<ZeroFilterDepthwise4>(without.view(), zeros.data()),
            "conv: args.source_correction was made without the filter's zero points; give "
            "conv::MakeSourceCorrection the k values of args.filter_zero_point, in host memory");
  EXPECT_EQ(Refusal<ZeroDepthwise4>(with.view(), nullptr),
            "conv: args.source_correction was made with the filter's zero points, which go with a "
            "depthwise convolution that has a FilterZeroPoint stage; make one without");
  EXPECT_EQ(Refusal<ZeroFilterDepthwise4>(with.view(), nullptr),
            "conv: args.filter_zero_point is null; give the address of k int32 numbers");
  EXPECT_EQ(Refusal<ZeroFilterDepthwise4>(with.view(), zeros.data(), zeros.data()),
            "conv: args.window_sums is set but a depthwise convolution sums its windows itself; "
            "leave it null");
  EXPECT_EQ(Refusal<ZeroDepthwise4>(without.view(), zeros.data()),
            "conv: args.filter_zero_point is set but the policy's Epilogue has no FilterZeroPoint "
            "stage; leave it null");
}

}  // namespace
}  // namespace weft::conv
