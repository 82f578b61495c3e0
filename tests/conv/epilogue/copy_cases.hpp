// Chains that write beside the output. A second output must be what a chain that ends where it is
// would give; the range of a channel is that of such an output.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {

// Groups that begin within a block of channels. Named: the GPU code of a policy without linkage cannot be found.
template <class EpilogueT>
struct CopyOfGroups : S8Conv4<EpilogueT, NCxHWx<32>, Tile32x32> {
  using Prologue = prologues::Grouped;
};

namespace {

using namespace epilogues;  // NOLINT: a test file about them

template <class T, class... Stages>
using EndingIn = std::conditional_t<std::is_same_v<T, float>, Chain<Stages..., ToFloat>,
                                    Chain<Stages..., RoundTo<T>>>;

// Checks the ranges of the channels of `values`, which lie as in Layout; they began with `low_before` and
// `high_before`.
template <class Layout>
void ExpectRanges(const Problem& problem, const std::vector<float>& values,
                  const OperatorMemory<float>& low, const OperatorMemory<float>& high,
                  float low_before, float high_before) {
  std::vector<float> want_low(problem.k, low_before), want_high(problem.k, high_before);
  const std::int64_t pixels = problem.p() * problem.q();
  for (std::int64_t i = 0; i < problem.n * problem.k * pixels; ++i) {
    const std::int64_t k = i / pixels % problem.k;
    const float x = values[Layout::Offset(problem.dst(), i / (pixels * problem.k), k,
                                          i % pixels / problem.q(), i % problem.q())];
    want_low[k] = std::min(want_low[k], x);
    want_high[k] = std::max(want_high[k], x);
  }
  EXPECT_EQ(low.Read(), want_low);
  EXPECT_EQ(high.Read(), want_high);
}

// Checks both outputs of P, whose copy has what Single gives with `activation`, the other what it
// gives with `whole`.
template <class P, class Single, class Activation, class Whole>
void RunCopy(const Activation& activation, const Whole& whole, RunOptions options = {}) {
  using Layout = typename P::Epilogue::template CopyLayout<typename P::DstLayout>;
  std::mt19937 engine(7);
  for (int i = 0; i < 6; ++i) {
    Problem problem = RandomProblem(engine);
    if (gemm::TileDescription(P::config).packed_rows > 1) {
      problem = SquareProblem(1 + i % 3, 40, 4 + i, 5 * i + 1, 3, 1, 1);
    }
    if (P::DstLayout::kChannelRun == 0) problem.k = RoundUp(problem.k, 16);
    if (P::SrcLayout::kChannelRun == 0) problem.c = RoundUp(problem.c, 16);
    if (P::Prologue::kDepends.group) problem.groups = 3, problem.c = 12, problem.k = 36;
    options.seed = static_cast<std::uint32_t>(engine());
    SCOPED_TRACE(ToString(problem));
    const auto op = Convolution<P>::Create(problem);
    ASSERT_TRUE(op.ok()) << op.status();
    const Inputs<typename P::SrcLayout, typename P::FilterLayout, typename P::Prologue> inputs(
        problem, options.seed);
    const Results<typename P::Epilogue, typename P::DstLayout> results(problem, inputs.tensors,
                                                                       options);
    const Results<Single, Layout> copy(problem, inputs.tensors, options);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const OperatorMemory<float> low(std::vector<float>(problem.k, kInfinity));
    const OperatorMemory<float> high(std::vector<float>(problem.k, -kInfinity));
    typename Convolution<P>::Arguments args;
    ConvolutionArguments<std::int8_t, typename Convolution<P>::Filter, Single> alone;
    inputs.Fill(&args);
    results.Fill(&args);
    copy.Fill(&alone);
    args.epilogue.template Get<typename P::Epilogue::CopyStage>().to = alone.dst;
    if constexpr (P::Epilogue::kHasRange) {
      args.epilogue.template Get<ChannelRange>() =
          ChannelRange{.low = low.get(), .high = high.get()};
    }
    const absl::Status status = RunHere(*op, args, options);
    ASSERT_TRUE(status.ok()) << status;
    results.ExpectEqual(inputs.bank.which, whole, FullRange<typename P::Epilogue::Output>());
    copy.ExpectEqual(inputs.bank.which, activation, FullRange<typename Single::Output>());
    if constexpr (P::Epilogue::kHasRange) {
      ExpectRanges<Layout>(problem, copy.Read(), low, high, kInfinity, -kInfinity);
    }
    if (testing::Test::HasFailure()) return;
  }
}

// Checks the output of P, and the ranges of what Single gives with `activation`.
template <class P, class Single, class Activation, class Whole>
void RunRange(const Activation& activation, const Whole& whole, RunOptions options = {}) {
  std::mt19937 engine(11);
  for (int i = 0; i < 5; ++i) {
    Problem problem = RandomProblem(engine);
    problem.n += i;
    if (P::Prologue::kDepends.group) problem.groups = 3, problem.c = 96, problem.k = 72;
    if (CheckedPolicy<P>::kDepthwise) problem.groups = problem.k = problem.c;
    options.seed = static_cast<std::uint32_t>(engine());
    SCOPED_TRACE(ToString(problem));
    const auto op = Convolution<P>::Create(problem);
    ASSERT_TRUE(op.ok()) << op.status();
    const Inputs<typename P::SrcLayout, typename P::FilterLayout, typename P::Prologue> inputs(
        problem, options.seed);
    const Results<typename P::Epilogue, typename P::DstLayout> results(problem, inputs.tensors,
                                                                       options);
    const Results<Single, NCHW> single(problem, inputs.tensors, options);
    const OperatorMemory<float> low(std::vector<float>(problem.k, 1.0f));
    const OperatorMemory<float> high(std::vector<float>(problem.k, -1.0f));
    typename Convolution<P>::Arguments args;
    inputs.Fill(&args);
    results.Fill(&args);
    args.epilogue.template Get<ChannelRange>() = {.low = low.get(), .high = high.get()};
    const absl::Status status = RunHere(*op, args, options);
    ASSERT_TRUE(status.ok()) << status;
    results.ExpectEqual(inputs.bank.which, whole, FullRange<typename P::Epilogue::Output>());
    ExpectRanges<NCHW>(
        problem, single.Want(inputs.bank.which, activation, FullRange<typename Single::Output>()),
        low, high, 1.0f, -1.0f);
    if (testing::Test::HasFailure()) return;
  }
}

const reference::NoActivation kNone;
const reference::ReluActivation kRelu;

// Of the value before the activation, and of the one behind it.
TEST(ConvolutionCopy, Simt) {
  using Before = Chain<Scale, Bias<>, Copy<float, NCHW>, Relu, ClampTo<std::int8_t>>;
  RunCopy<S8Conv4<Before, NCxHWx<32>, Tile32x32>, EndingIn<float, Scale, Bias<>>>(kNone, kRelu);
  using Behind = Chain<Scale, Bias<>, Relu, Copy<Half>, ClampTo<std::int8_t>>;
  RunCopy<S8Conv4<Behind, NCxHWx<32>, Tile32x32>, EndingIn<Half, Scale, Bias<>, Relu>>(kRelu,
                                                                                       kRelu);
  using OfWords = Chain<Scale, Bias<>, Relu, Copy<float>, ToFloat>;
  RunCopy<S8Conv4<OfWords, NHWC, Tile32x32>, EndingIn<float, Scale, Bias<>, Relu>>(kRelu, kRelu);
}

TEST(ConvolutionCopy, MmaSm80) {
  using Residue = Chain<Residual<>, Scale, Bias<>, Relu, Copy<Bfloat16>, ClampTo<std::int8_t>>;
  RunCopy<S8Conv32<Residue, NCxHWx<32>, Mma64x32>,
          EndingIn<Bfloat16, Residual<>, Scale, Bias<>, Relu>>(kRelu, kRelu, {.gamma = 0.7f});
  using ToNhwc = Chain<Scale, Bias<>, Copy<float, NHWC>, ClampTo<std::int8_t>>;
  RunCopy<S8Conv32<ToNhwc, NCxHWx<4>, Mma64x32>, EndingIn<float, Scale, Bias<>>>(kNone, kNone);
}

TEST(ConvolutionCopy, WgmmaSm90) {
  using Same = Chain<Scale, Bias<>, Relu, Copy<Half>, ClampTo<std::int8_t>>;
  RunCopy<S8Conv32<Same, NCxHWx<32>, Wgmma32x64>, EndingIn<Half, Scale, Bias<>, Relu>>(kRelu,
                                                                                       kRelu);
  using Planar = Chain<Scale, Bias<>, Copy<float, NCHW>, Relu, ToFloat>;
  RunCopy<S8Conv32<Planar, NHWC, Wgmma32x64>, EndingIn<float, Scale, Bias<>>>(kNone, kRelu);
  RunCopy<S8Conv32<Same, NCxHWx<32>, Wgmma64x64PackedRows>, EndingIn<Half, Scale, Bias<>, Relu>>(
      kRelu, kRelu);
}

// Of 16 bits: a warp's at a time where they lie as the output does, whatever the order of the columns.
TEST(ConvolutionCopy, WgmmaSm90Sixteen) {
  using Halves = Chain<Scale, Bias<>, Copy<Half>, Relu, ClampTo<std::int8_t>>;
  using Single = EndingIn<Half, Scale, Bias<>>;
  RunCopy<S8Conv32<Halves, NHWC, Wgmma32x64>, Single>(kNone, kRelu);
  RunCopy<S8Conv32<Halves, NCxHWx<4>, Wgmma32x64>, Single>(kNone, kRelu);
  RunCopy<S8ConvNhwc<Halves, NHWC, Wgmma64x128>, Single>(kNone, kRelu);
  using Brain = Chain<Scale, Bias<>, Relu, Copy<Bfloat16>, ClampTo<std::int8_t>>;
  RunCopy<S8ConvNhwc<Brain, NCxHWx<64>, Wgmma64x64>, EndingIn<Bfloat16, Scale, Bias<>, Relu>>(
      kRelu, kRelu);
}

TEST(ConvolutionCopy, OfGroups) {
  using Behind = Chain<Scale, Bias<>, Relu, Copy<Half>, ClampTo<std::int8_t>>;
  RunCopy<CopyOfGroups<Behind>, EndingIn<Half, Scale, Bias<>, Relu>>(kRelu, kRelu);
}

// The copy tells what values there were; padded channels and pixels have no part.
TEST(ConvolutionCopy, RangeOfEachChannel) {
  using Before = Chain<Scale, Bias<>, Copy<float, NCHW>, ChannelRange, Relu, ClampTo<std::int8_t>>;
  using Single = EndingIn<float, Scale, Bias<>>;
  RunCopy<S8Conv4<Before, NCxHWx<32>, Tile32x32>, Single>(kNone, kRelu);
  RunCopy<S8Conv32<Before, NCxHWx<32>, Mma64x32>, Single>(kNone, kRelu);
  RunCopy<S8Conv32<Before, NCxHWx<32>, Wgmma32x64>, Single>(kNone, kRelu);
  RunCopy<S8Conv32<Before, NCxHWx<32>, Wgmma160x64PackedRows>, Single>(kNone, kRelu);
  using Behind = Chain<Scale, Bias<>, Relu, Copy<float, NHWC>, ChannelRange, ToFloat>;
  RunCopy<S8Conv32<Behind, NCHW, Wgmma32x64>, EndingIn<float, Scale, Bias<>, Relu>>(kRelu, kRelu);
}

// Without a copy, from two warpgroups of rows and two of columns, over a residual, of groups.
TEST(ConvolutionCopy, RangeAlone) {
  using Before = Chain<Scale, Bias<>, ChannelRange, Relu, ClampTo<std::int8_t>>;
  using Single = EndingIn<float, Scale, Bias<>>;
  RunRange<S8Conv32<Before, NCxHWx<32>, Wgmma192x64>, Single>(kNone, kRelu, {.zero_point = 3.0f});
  using Sum = Chain<Residual<>, Scale, Bias<>, ChannelRange, ClampTo<std::int8_t>>;
  RunRange<S8Conv32<Sum, NCxHWx<32>, Wgmma64x128>, EndingIn<float, Residual<>, Scale, Bias<>>>(
      kNone, kNone, {.gamma = 0.7f});
  RunRange<S8Conv32<Before, NCxHWx<32>, PingPong<Wgmma64x64>>, Single>(kNone, kRelu);
  RunRange<CopyOfGroups<Before>, Single>(kNone, kRelu);
  RunRange<S8Depthwise32<Before>, Single>(kNone, kRelu);
}

TEST(ConvolutionCopy, ArgumentsAreChecked) {
  using E = Chain<Scale, Copy<float>, ChannelRange, ClampTo<std::int8_t>>;
  using P = S8Conv4<E, NCxHWx<4>, Tile32x32>;
  const auto op = Convolution<P>::Create(SquareProblem(1, 4, 4, 8, 1, 0, 1));
  ASSERT_TRUE(op.ok());
  const OperatorMemory<std::int8_t> src(std::vector<std::int8_t>(op->src_size()));
  const OperatorMemory<float> out(std::vector<float>(2 * op->dst_size()));
  const auto filter = PackFilter<CxRSKx<4>, KCRS, std::int8_t>(op->problem().filter(),
                                                               std::vector<std::int8_t>(32));
  const OperatorMemory<std::int8_t> packed({filter->data(), filter->data() + filter->size()});
  Convolution<P>::Arguments args;
  args.src = src.get(), args.filter = filter->At(packed.get());
  args.dst = reinterpret_cast<std::int8_t*>(out.get());
  float*& to = args.epilogue.Get<Copy<float>>().to;
  const auto message = [&] { return std::string(op->CheckArguments(args).message()); };
  EXPECT_EQ(message(),
            "conv: args.epilogue's copy is null; give args.epilogue.Get<Copy<T, Format>>().to");
  to = out.get() + 4;
  EXPECT_EQ(message(),
            "conv: args.dst overlaps args.epilogue's copy; give each of them memory of its own");
  to = reinterpret_cast<float*>(src.get());
  EXPECT_EQ(message(),
            "conv: args.epilogue's copy overlaps args.src; blocks would read what others have "
            "written, so give epilogue's copy memory of its own");
  to = out.get() + op->dst_size() + 1;
  EXPECT_NE(message().find("is not 16-byte aligned"), std::string::npos) << message();
  to = out.get() + op->dst_size();
  EXPECT_EQ(message(),
            "conv: args.epilogue's low is null; give args.epilogue.Get<ChannelRange>() the "
            "addresses of one number for each output channel");
  const OperatorMemory<float> range(std::vector<float>(16));
  args.epilogue.Get<ChannelRange>() = ChannelRange{.low = range.get(), .high = range.get() + 7};
  EXPECT_EQ(message(),
            "conv: args.epilogue's low overlaps args.epilogue's high; give each of them memory of "
            "its own");
  args.epilogue.Get<ChannelRange>().high = range.get() + 8;
  EXPECT_EQ(message(), "");
}

}  // namespace
}  // namespace weft::conv
