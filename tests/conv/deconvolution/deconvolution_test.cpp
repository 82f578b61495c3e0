// On the CPU: the reference itself, how a problem falls into phases, schedules, and what is refused.
#include <gmock/gmock.h>

#include <string>

#include "tests/conv/deconvolution/deconvolution_cases.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;

template <class... P>
constexpr bool IsOfPhases(Family<P...>*) {
  return (kPerPhase<typename P::Prologue> && ...);
}
static_assert(IsOfPhases(static_cast<S8Deconv4Family<>*>(nullptr)));
static_assert(IsOfPhases(static_cast<S8Deconv32Family<>*>(nullptr)));
static_assert(IsOfPhases(static_cast<S8DeconvNhwcFamily<>*>(nullptr)));

using Op = Deconvolution<Simple>;

// The reference gathers; this spreads each pixel over the destination, as the definition has it.
TEST(DeconvolutionReference, IsSpreading) {
  std::mt19937 engine(3);
  for (int i = 0; i < 30; ++i) {
    const DeconvolutionProblem d = RandomDeconvolution(engine, 4, 3);
    SCOPED_TRACE(Text(d));
    RandomTensors t(OfDestination(d), static_cast<std::uint32_t>(i));
    const auto src = t.Bytes(NCHW::Size(d.src())), filter = t.Bytes(d.c * d.k * d.r * d.s);
    std::vector<std::int32_t> spread(NCHW::Size(d.dst()));
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(src.size()); ++j) {
      const std::int64_t w = j % d.w, h = j / d.w % d.h, c = j / (d.w * d.h) % d.c;
      const std::int64_t n = j / (d.w * d.h * d.c);
      for (std::int64_t f = 0; f < d.k * d.r * d.s; ++f) {
        const std::int64_t k = f / (d.r * d.s), r = f / d.s % d.r, s = f % d.s;
        const std::int64_t p = h * d.stride_h - d.pad_top + r * d.dilation_h;
        const std::int64_t q = w * d.stride_w - d.pad_left + s * d.dilation_w;
        if (p < 0 || p >= d.p() || q < 0 || q >= d.q()) continue;
        spread[NCHW::Offset(d.dst(), n, k, p, q)] += src[j] * filter[c * d.k * d.r * d.s + f];
      }
    }
    EXPECT_EQ(reference::Deconvolve(d, src.data(), filter.data(), {}, reference::NoActivation{},
                                    reference::kRawInt32),
              spread);
  }
}

// All phases together have the taps of the filter, and the destination's pixels.
TEST(Deconvolution, PhasesShareTheWork) {
  const DeconvolutionProblem d = SquareDeconvolution(1, 8, 7, 8, 3, 1, 2, 1);
  const std::vector<Phase> phases = PhasesOf(d);
  ASSERT_EQ(phases.size(), 4u);
  double macs = 0;
  for (const Phase& phase : phases) {
    EXPECT_EQ(phase.problem.p() * phase.problem.q(), 7 * 7);
    macs += phase.problem.macs();
  }
  EXPECT_EQ(macs, d.macs());
  EXPECT_EQ(PartsOf(d).count(), 4);
  EXPECT_EQ(PhasesOf(SquareDeconvolution(1, 8, 7, 8, 5, 2, 1)).size(), 1u);
  // A destination of one row has one row of phases.
  DeconvolutionProblem row = SquareDeconvolution(1, 8, 1, 8, 1, 0, 3);
  row.w = 5;
  EXPECT_EQ(PhasesOf(row).size(), 3u);
  EXPECT_EQ(PartsOf(row).count(), 2);  // the tap, and zeros
}

TEST(Deconvolution, Schedules) {
  for (const arch::Schedule schedule :
       {arch::Schedule::kReverse, arch::Schedule::kPriority, arch::Schedule::kRandom}) {
    RunOptions options;
    options.cpu.schedule = schedule;
    options.cpu.workers = 2;
    ExpectDeconvolved<Simple>(SquareDeconvolution(2, 9, 5, 40, 3, 1, 2, 1), options);
  }
}

// Coordinates of an activation, a copy beside the output and filters in the other order, KRSC.
struct PlusPlace {
  constexpr float operator()(float x, const epilogues::OutputCoord& at) const {
    return x + static_cast<float>(at.p * 1000 + at.q * 10 + at.k);
  }
};
TEST(Deconvolution, CoordinatesAndCopies) {
  using Epilogue = epilogues::Chain<epilogues::Scale, PlusPlace, epilogues::Copy<float, NCHW>,
                                    epilogues::Relu, epilogues::ToFloat>;
  using P = Nc4Prologue<PerPhase, NHWC, SmallTile<4>, Epilogue>;
  const DeconvolutionProblem d = SquareDeconvolution(2, 5, 3, 6, 3, 1, 2, 1);
  RandomTensors t(OfDestination(d), 5);
  const auto src = t.Bytes(NCHW::Size(d.src())), filter = t.Bytes(d.c * d.k * d.r * d.s);
  std::vector<std::int8_t> krsc(filter.size());
  ASSERT_EQ((weft::internal::ConvertFilterInto<KCRS, KRSC>({d.c, d.k, d.r, d.s}, filter.data(),
                                                           krsc.data())),
            absl::OkStatus());
  const auto packed = PackDeconvolutionFilter<CxRSKx<4>, KRSC>(d, krsc).value();
  const auto blocked = ConvertTensor<NCHW, NCxHWx<4>>(d.src(), src).value();
  std::vector<float> dst(NHWC::Size(d.dst())), copy(NCHW::Size(d.dst()));
  Deconvolution<P>::Arguments args;
  args.src = blocked.data(), args.filter = packed.view(), args.dst = dst.data();
  args.epilogue.Get<epilogues::Copy<float, NCHW>>().to = copy.data();
  const absl::Status status = Deconvolution<P>::Create(d)->RunOnCpu(args);
  ASSERT_TRUE(status.ok()) << status;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(copy.size()); ++i) {
    const std::int64_t q = i % d.q(), p = i / d.q() % d.p(), k = i / (d.p() * d.q()) % d.k;
    const std::int64_t n = i / (d.p() * d.q() * d.k);
    const auto sum = reference::AccumulateSpread(d, src.data(), filter.data(), n, k, p, q);
    const float want = static_cast<float>(sum) + static_cast<float>(p * 1000 + q * 10 + k);
    ASSERT_EQ(copy[i], want) << i;
    ASSERT_EQ(dst[NHWC::Offset(d.dst(), n, k, p, q)], want < 0.0f ? 0.0f : want);
  }
}

std::string CreateMessage(const DeconvolutionProblem& d,
                          absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  const absl::Status status = Op::Create(d).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(PackDeconvolutionFilter<CxRSKx<4>>(d, std::vector<std::int8_t>()).status().code(),
            code);
  return std::string(status.message());
}

DeconvolutionProblem Good() {
  return SquareDeconvolution(2, 8, 5, 12, 3, 1, 2, 1);
}

TEST(Deconvolution, RefusesFields) {
  const struct {
    const char* name;
    std::int64_t DeconvolutionProblem::* field;
    bool may_be_zero;
  } fields[] = {{"n", &DeconvolutionProblem::n, true},
                {"h", &DeconvolutionProblem::h, true},
                {"w", &DeconvolutionProblem::w, true},
                {"c", &DeconvolutionProblem::c, false},
                {"k", &DeconvolutionProblem::k, true},
                {"r", &DeconvolutionProblem::r, false},
                {"s", &DeconvolutionProblem::s, false},
                {"stride_h", &DeconvolutionProblem::stride_h, false},
                {"stride_w", &DeconvolutionProblem::stride_w, false},
                {"dilation_h", &DeconvolutionProblem::dilation_h, false},
                {"dilation_w", &DeconvolutionProblem::dilation_w, false},
                {"pad_top", &DeconvolutionProblem::pad_top, true},
                {"pad_left", &DeconvolutionProblem::pad_left, true},
                {"pad_bottom", &DeconvolutionProblem::pad_bottom, true},
                {"pad_right", &DeconvolutionProblem::pad_right, true},
                {"output_pad_h", &DeconvolutionProblem::output_pad_h, true},
                {"output_pad_w", &DeconvolutionProblem::output_pad_w, true}};
  for (const auto& field : fields) {
    DeconvolutionProblem bad = Good();
    bad.*field.field = field.may_be_zero ? -1 : 0;
    EXPECT_THAT(CreateMessage(bad),
                HasSubstr(absl::StrCat(
                    "conv: ", field.name,
                    field.may_be_zero ? "=-1 is negative; give 0" : "=0 is not positive; give 1")));
    bad.*field.field = (std::int64_t{1} << 30) + 1;
    EXPECT_THAT(
        CreateMessage(bad, absl::StatusCode::kOutOfRange),
        HasSubstr(absl::StrCat("conv: ", field.name, "=1073741825 exceeds 1073741824; no")));
  }
}

TEST(Deconvolution, RefusesShapes) {
  DeconvolutionProblem bad = Good();
  bad.output_pad_w = 2;
  EXPECT_THAT(CreateMessage(bad), HasSubstr("conv: output_pad_w=2 is not below stride_w=2 or "
                                            "dilation_w=1; give 0 to 1"));
  bad = Good();
  bad.pad_top = bad.pad_bottom = 6;
  EXPECT_THAT(CreateMessage(bad),
              HasSubstr("conv: p=0 rows are left of the 12 that h, stride, r, dilation and "
                        "output_pad give, less padding 6 and 6; use less padding"));
  bad = Good();
  bad.w = std::int64_t{1} << 30;
  EXPECT_THAT(
      CreateMessage(bad, absl::StatusCode::kOutOfRange),
      HasSubstr(
          "conv: (w-1)*stride_w+(s-1)*dilation_w+1+output_pad_w=2147483650 exceeds 1073741824"));
  bad = Good();
  bad.stride_h = bad.stride_w = 33;
  EXPECT_THAT(CreateMessage(bad, absl::StatusCode::kOutOfRange),
              HasSubstr("conv: stride_h*stride_w=1089 exceeds 1024"));
  bad = Good();
  bad.n = 1 << 30;
  EXPECT_THAT(CreateMessage(bad, absl::StatusCode::kOutOfRange), HasSubstr("conv: n*p*q=10737"));
  // What a phase refuses: 60000 products of 4 taps.
  bad = Good();
  bad.c = 60000;
  EXPECT_THAT(std::string(Op::Create(bad).status().message()),
              HasSubstr("conv: c*r*s=240000 products of two int8 values can overflow the int32 "
                        "accumulator; at most 131071 are accepted, so split the channels over "
                        "several convolutions; said of phase (1, 1) of a deconvolution"));
}

// Each phase alone would do: 3000 x 3000 outputs in 4 of them.
TEST(Deconvolution, RefusesSumsOfLargeImages) {
  using epilogues::Bias, epilogues::Scale, epilogues::ImageSums;
  using Sums = epilogues::Chain<Scale, Bias<>, ImageSums, epilogues::ClampTo<std::int8_t>>;
  using Pooled = Nc4Prologue<PerPhase, NCxHWx<32>, SmallTile<4>, Sums>;
  DeconvolutionProblem bad = SquareDeconvolution(1, 4, 1500, 8, 2, 0, 2);
  EXPECT_THAT(std::string(Deconvolution<Pooled>::Create(bad).status().message()),
              "conv: p*q of ImageSums=9000000 exceeds 8421504; split the image");
  bad.w = 1400;
  EXPECT_TRUE(Deconvolution<Pooled>::Create(bad).ok());
}

// Arguments that run, to get one thing wrong.
struct Arguments {
  Arguments() : op(Op::Create(Good()).value()) {
    args.src = src, args.bias = bias, args.dst = dst, args.residual = dst, args.output_scale = 1.0f;
    args.filter = filter.view();
  }
  static PackedDeconvolutionFilterBuffer<CxRSKx<4>> Pack(const DeconvolutionProblem& d) {
    return PackDeconvolutionFilter<CxRSKx<4>>(d, std::vector<std::int8_t>(d.c * d.k * d.r * d.s, 1))
        .value();
  }
  std::string Message() const {
    const absl::Status status = op.RunOnCpu(args);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(op.Run(args, nullptr).message(), status.message());
    return std::string(status.message());
  }

  Op op;
  PackedDeconvolutionFilterBuffer<CxRSKx<4>> filter = Pack(Good());
  alignas(64) std::int8_t src[2 * 8 * 25] = {}, dst[2 * 32 * 100] = {};
  float bias[12] = {};
  Op::Arguments args;
};

// dst is its own residual.
TEST(Deconvolution, GoodArgumentsRun) {
  Arguments good;
  ASSERT_EQ(good.op.src_size(), 2 * 8 * 25);
  ASSERT_EQ(good.op.dst_size(), 2 * 32 * 100);
  std::fill(std::begin(good.src), std::end(good.src), std::int8_t{1});
  std::fill(std::begin(good.dst), std::end(good.dst), std::int8_t{50});
  const absl::Status status = good.op.RunOnCpu(good.args);
  ASSERT_TRUE(status.ok()) << status;
  const TensorExtents e = Good().dst();
  // 8 channels; the pixel (0, 0) meets one tap, (1, 1) four, the last the corner's alone.
  EXPECT_EQ(good.dst[NCxHWx<32>::Offset(e, 0, 0, 0, 0)], 50 + 8);
  EXPECT_EQ(good.dst[NCxHWx<32>::Offset(e, 1, 11, 1, 1)], 50 + 32);
  EXPECT_EQ(good.dst[NCxHWx<32>::Offset(e, 1, 11, 9, 9)], 50 + 8);
  EXPECT_EQ(good.dst[NCxHWx<32>::Offset(e, 1, 12, 9, 9)], 0);
}

TEST(Deconvolution, RefusesFilters) {
  Arguments bad;
  bad.args.filter = {};
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.filter is not packed; call "
                                       "weft::conv::PackDeconvolutionFilter and pass its view()"));
  DeconvolutionProblem other = Good();
  other.stride_w = 3;
  const auto packed = Arguments::Pack(other);
  bad.args.filter = packed.view();
  EXPECT_THAT(bad.Message(),
              HasSubstr("conv: args.filter was packed for k=12 c=8 r=3 s=3 with stride 2x3 and "
                        "dilation 1x1, this operator has k=12 c=8 r=3 s=3 with stride 2x2"));
  bad.args.filter = bad.filter.At(bad.filter.data() + 8);
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.filter=0x"));
  EXPECT_THAT(std::string(PackDeconvolutionFilter<CxRSKx<4>>(Good(), std::vector<std::int8_t>(7))
                              .status()
                              .message()),
              HasSubstr("source.size()=7 is not 864, the elements of KCRS"));
}

TEST(Deconvolution, RefusesWhatTheConvolutionRefuses) {
  Arguments bad;
  bad.args.bias = nullptr;
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.bias is null"));
  bad.args.bias = bad.bias;
  bad.args.residual = bad.dst + 32;  // overlaps by the whole destination, not by a phase's pixels
  EXPECT_THAT(bad.Message(), HasSubstr("overlaps"));
}

// A phase's policy is no operator by itself.
TEST(Deconvolution, ConvolutionOfAPhaseWantsItsPlace) {
  using Conv = Convolution<Simple>;
  const Problem p = SquareProblem(1, 8, 5, 12, 3, 1, 1);
  alignas(64) std::int8_t memory[32 * 25] = {};
  const auto packed = PackFilters<PerPhase, CxRSKx<4>>(
                          p.filter(), 1, std::vector<std::int8_t>(KCRS::Size(p.filter())))
                          .value();
  Conv::Arguments args;
  args.src = memory, args.dst = memory, args.filter = packed.view();
  EXPECT_THAT(std::string(Conv::Create(p)->RunOnCpu(args).message()),
              HasSubstr("conv: args.prologue of PerPhase has no destination; conv::Deconvolution"));
}

TEST(Deconvolution, Describes) {
  const std::string text = Op::Create(Good())->Describe();
  EXPECT_THAT(text, HasSubstr("4 phases of 1x1, 1x2, 2x1, 2x2 taps; the last: simt 32x32x32"));
}

}  // namespace
}  // namespace weft::conv
