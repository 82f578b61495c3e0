// On the CPU; and what is refused.
#include "tests/conv/zero_point_copied_cases.hpp"

namespace weft::conv {
namespace {

template <class... P>
constexpr bool IsUnsignedFamily(Family<P...>*) {
  return CheckedFamily<P...>::kValid && (std::is_same_v<typename P::Element, std::uint8_t> && ...);
}
static_assert(IsUnsignedFamily(static_cast<U8Conv4Family<>*>(nullptr)));
static_assert(IsUnsignedFamily(static_cast<U8Conv32Family<>*>(nullptr)));
static_assert(IsUnsignedFamily(static_cast<U8ConvNhwcFamily<>*>(nullptr)));

struct Tensors {
  Problem problem = SquareProblem(1, 8, 6, 8, 3, 1, 1);
  PackedFilterBuffer<CxRSKx<4>> packed = Pack(problem);
  std::vector<std::uint8_t> src = std::vector<std::uint8_t>(8 * 6 * 6, 9);
  std::vector<std::int32_t> bias = std::vector<std::int32_t>(8),
                            sums = std::vector<std::int32_t>(36);
  std::vector<std::uint8_t> dst = std::vector<std::uint8_t>(8 * 6 * 6);

  static PackedFilterBuffer<CxRSKx<4>> Pack(const Problem& p) {
    return PackFilter<CxRSKx<4>, KCRS, std::int8_t>(
               p.filter(), std::vector<std::int8_t>(KCRS::Size(p.filter()), 1))
        .value();
  }
  SourceCorrectionBuffer Table(const Problem& p, std::int32_t zero_point) const {
    return MakeSourceCorrection(p, Pack(p), zero_point).value();
  }
  template <class P>
  std::string Run(const SourceCorrection& table, const std::int32_t* filter_zero_point = nullptr,
                  const std::int32_t* window_sums = nullptr) {
    typename Convolution<P>::Arguments args{
        .src = src.data(), .filter = packed.view(), .dst = dst.data()};
    args.source_correction = table;
    args.filter_zero_point = filter_zero_point;
    args.window_sums = window_sums;
    if constexpr (P::Epilogue::kHasBias) args.bias = bias.data();
    return std::string(Convolution<P>::Create(problem)->RunOnCpu(args).message());
  }
};

using ZeroFilterSimt = UnsignedSource<TestPolicy<NCxHWx<4>, QLinearWithFilter<std::uint8_t>>>;
using WithoutZeroPoint = UnsignedSource<TestPolicy<NCxHWx<4>, Chain<Scale, ClampTo<std::uint8_t>>>>;

TEST(ZeroPointRefused, TablesOfAnotherRun) {
  Tensors t;
  EXPECT_EQ(
      t.Run<ZeroSimt>({}),
      "conv: args.source_correction is missing; call conv::MakeSourceCorrection with the packed "
      "filter and pass its view(), or At(device_pointer) after a copy to the GPU");
  Problem other = t.problem;
  other.pad_top = 0;
  EXPECT_EQ(t.Run<ZeroSimt>(t.Table(other, 3).view()),
            "conv: args.source_correction was made for n1c8h6w6k8r3s1p0x1x1x1, this operator has "
            "n1c8h6w6k8r3s1p1; make the one that belongs to the problem and its filter");
  EXPECT_EQ(t.Run<ZeroSimt>(t.Table(t.problem, -5).view()),
            "conv: args.source_correction.zero_point()=-5 is no value of a uint8 source; give one "
            "from 0 to 255");
  EXPECT_EQ(t.Run<WithoutZeroPoint>(t.Table(t.problem, 5).view()),
            "conv: args.source_correction is set but the policy's Epilogue has no SourceZeroPoint "
            "stage; leave it empty");
  const SourceCorrectionBuffer table = t.Table(t.problem, 5);
  EXPECT_EQ(t.Run<ZeroSimt>(table.At(t.dst.data())),
            "conv: args.dst overlaps args.source_correction; blocks would read what others have "
            "written, so give dst memory of its own");
  std::vector<std::int8_t> weights(static_cast<std::size_t>(KCRS::Size(t.problem.filter())), 1);
  weights.back() = 2;
  const auto packed = PackFilter<CxRSKx<4>, KCRS, std::int8_t>(t.problem.filter(), weights).value();
  EXPECT_EQ(
      t.Run<ZeroSimt>(MakeSourceCorrection(t.problem, packed, 5)->view()),
      "conv: args.source_correction was made of other weights than those of args.filter; give "
      "conv::MakeSourceCorrection the filter that runs, each time that it changes");
  // The same weights in another format are the same.
  const auto krsc = PackFilter<KRSC, KCRS, std::int8_t>(t.problem.filter(), weights).value();
  EXPECT_EQ(krsc.fingerprint(), packed.fingerprint());
  Problem many = t.problem;
  many.n = 40;
  EXPECT_EQ(t.Run<ZeroSimt>(t.Table(many, 5).view()), "") << "images do not count";
}

TEST(ZeroPointRefused, WhatTheFilterLacks) {
  Tensors t;
  const SourceCorrectionBuffer table = t.Table(t.problem, 5);
  EXPECT_EQ(t.Run<ZeroFilterSimt>(table.view(), nullptr, t.sums.data()),
            "conv: args.filter_zero_point is null; give the address of k int32 numbers");
  EXPECT_EQ(t.Run<ZeroFilterSimt>(table.view(), t.bias.data()),
            "conv: args.window_sums is null; give what conv::WindowSums made of the same source");
  EXPECT_EQ(t.Run<ZeroSimt>(table.view(), t.bias.data()),
            "conv: args.filter_zero_point is set but the policy's Epilogue has no FilterZeroPoint "
            "stage; leave it null");
  EXPECT_EQ(t.Run<ZeroSimt>(table.view(), nullptr, t.sums.data()),
            "conv: args.window_sums is set but the policy's Epilogue has no FilterZeroPoint stage; "
            "leave it null");
}

TEST(ZeroPointRefused, TablesThatCannotBe) {
  const Tensors t;
  EXPECT_EQ(MakeSourceCorrection(t.problem, t.packed, 256).status().message(),
            "conv: zero_point=256 is no value of int8 or uint8; give one from -128 to 255");
  Problem other = t.problem;
  other.c = 4;
  EXPECT_EQ(
      MakeSourceCorrection(other, t.packed, 1).status().message(),
      "conv: the filter of a source correction is packed for k=8 c=8 r=3 s=3, 1 of them; this "
      "problem has k=8 c=4 r=3 s=3 in each of its 1 groups, so pack the filter that belongs to "
      "it");
  other.c = 0;
  EXPECT_EQ(MakeSourceCorrection(other, t.packed, 1).status().message(),
            "conv: c=0 is not positive; give 1 or more");
}

// Tables are small: what a 3x3 filter with padding has are 9 kinds of pixels.
TEST(ZeroPoint, SizeOfTheTable) {
  const Tensors t;
  EXPECT_EQ(t.Table(t.problem, 5).bytes(), 4 * (6 + 6 + 8 + 9 * 8));
  Problem inside = t.problem;
  inside.pad_top = inside.pad_bottom = inside.pad_left = inside.pad_right = 0;
  const SourceCorrectionBuffer table = t.Table(inside, 5);
  EXPECT_EQ(table.bytes(), 4 * (4 + 4 + 8 + 8));
  EXPECT_EQ(table.view().edge_rows(), nullptr);
  EXPECT_EQ(table.view().corrections()[0], -5 * 8 * 9);
}

TEST(ZeroPointRefused, DestinationsThatAreNoIntegers) {
  Tensors t;
  const SourceCorrectionBuffer table = t.Table(t.problem, 5);
  Convolution<ZeroSimt>::Arguments args{.src = t.src.data(),
                                        .filter = t.packed.view(),
                                        .bias = t.bias.data(),
                                        .dst = t.dst.data(),
                                        .source_correction = table.view()};
  const auto op = Convolution<ZeroSimt>::Create(t.problem);
  args.zero_point = 0.5f;
  EXPECT_EQ(op->CheckArguments(args).message(),
            "conv: args.zero_point=0.5 is not an integer, as the values of an output of its type "
            "are; give one from 0 to 255");
  args.zero_point = 256.0f;
  EXPECT_EQ(op->CheckArguments(args).message(),
            "conv: args.zero_point=256 is outside 0 to 255, the values of an output of its type; "
            "give one of "
            "them");
}

// Ties, and numbers that adding the zero point would make one.
TEST(ZeroPoint, RoundsBeforeTheDestinationsIsAdded) {
  const auto run = [](float value, float zero_point) {
    const epilogues::StageInputs in{.accumulator = 1, .alpha = value, .zero_point = zero_point};
    const Chain<Scale, RoundFirst, ClampTo<std::uint8_t>> chain;
    const int result = chain(in, {});
    // What kernels do in two steps.
    const float unrounded =
        zero_point == 0.0f ? chain.Unrounded<false>(in, {}) : chain.Unrounded(in, {});
    EXPECT_EQ(reference::Quantize<std::uint8_t>(unrounded, 0.0f, 0, 255), result);
    return result;
  };
  EXPECT_EQ(run(0.5f, 7), 7);
  EXPECT_EQ(run(1.5f, 7), 9);
  EXPECT_EQ(run(-0.5f, 7), 7);
  EXPECT_EQ(run(std::nextafter(1.5f, 0.0f), 128), 129);
  EXPECT_EQ(run(1e9f, 7), 255);
  EXPECT_EQ(run(-1e9f, 7), 0);
  EXPECT_EQ(run(4194304.5f, 0), 255);
  EXPECT_EQ(run(0.5f, 0), 0);
  EXPECT_EQ(run(1.5f, 0), 2);
  EXPECT_EQ(run(std::nanf(""), 7), 0);
  const epilogues::StageInputs in{
      .accumulator = 1, .alpha = std::nextafter(1.5f, 0.0f), .zero_point = 128};
  EXPECT_EQ((Chain<Scale, ClampTo<std::uint8_t>>{}(in, {})), 130) << "what RoundFirst is for";
}

}  // namespace
}  // namespace weft::conv
