// Convolutions whose dst is a slice of the channels of a wider tensor: the slice has what a tensor of its own would have,
// and nothing else of the wider tensor is written.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/policy/nc32_policies.hpp"
#include "tests/conv/policy/policies.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"

namespace weft::conv {

struct SliceDepthwise {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = KRSx4x4;
  using DstLayout = NCxHWx<32>;
  using Prologue = prologues::Depthwise;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr auto config = DepthwiseConfig(2, 8, 64, 4);
};

namespace {

// Runs the problem to a tensor of its own and to channels `first` on of one with `channels`, full of other bytes.
template <class P>
void RunSlice(const Problem& problem, std::int64_t first, std::int64_t channels) {
  using Dst = typename P::DstLayout;
  SCOPED_TRACE(absl::StrCat(ToString(problem), " to channel ", first, " of ", channels));
  const auto op = Convolution<P>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const Inputs<typename P::SrcLayout, typename P::FilterLayout, typename P::Prologue> inputs(
      problem, 5);
  const OperatorMemory<float> bias(inputs.tensors.bias), alpha(inputs.tensors.channel_alpha);
  const TensorExtents wide = {problem.n, channels, problem.p(), problem.q()};
  const std::vector<std::int8_t> garbage(static_cast<std::size_t>(Dst::Size(wide)), 0x5a);
  const OperatorMemory<std::int8_t> alone(
      std::vector<std::int8_t>(static_cast<std::size_t>(op->dst_size()))),
      slice(garbage);
  typename Convolution<P>::Arguments args;
  inputs.Fill(&args);
  args.bias = bias.get(), args.channel_alpha = alpha.get();
  const auto run = [&] {
#if defined(WEFT_CUDA_BACKEND)
    EXPECT_TRUE(op->Run(args, nullptr).ok());
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
    const absl::Status status = op->RunOnCpu(args);
    EXPECT_TRUE(status.ok()) << status;
#endif
  };
  args.dst = alone.get();
  run();
  args.dst = slice.get() + Dst::ChannelOffset(wide, first);
  args.dst_channels = channels;
  run();
  std::vector<std::int8_t> want = garbage;
  const std::vector<std::int8_t> own = alone.Read();
  const std::int64_t image = Dst::ImageStride(problem.dst());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(own.size()); ++i) {
    const std::int64_t at =
        i / image * Dst::ImageStride(wide) + Dst::ChannelOffset(wide, first) + i % image;
    want[static_cast<std::size_t>(at)] = own[static_cast<std::size_t>(i)];
  }
  EXPECT_EQ(slice.Read(), want);
}

template <class P>
void RunSlices() {
  for (const std::int64_t n : {1, 3}) {
    Problem p = SquareProblem(n, 64, 7, 64, 3, 1, 1);
    if (std::is_same_v<typename P::Prologue, prologues::Depthwise>) p.groups = 64;
    RunSlice<P>(p, 0, 96);
    RunSlice<P>(p, 32, 160);
    if (p.groups > 1) continue;
    p.k = 40;  // zeros fill the last block
    RunSlice<P>(p, 64, 104);
  }
}

using SliceSimt = TestPolicy<NCxHWx<32>, epilogues::BiasRelu<>>;
using SliceMma = Nc32Policy<NCxHWx<32>, epilogues::BiasRelu<>, MmaSm80Tile<64, 64, 64, 32, 32, 3>>;
using SliceFour = TestPolicy<NCxHWx<4>, epilogues::BiasRelu<>>;

TEST(Slices, AreWrittenByEveryStore) {
  RunSlices<SliceSimt>();
  RunSlices<SliceMma>();
  RunSlices<WithEpilogue<epilogues::BiasRelu<>>>();
  RunSlices<SliceDepthwise>();
}

TEST(Slices, OfBlocksOfFour) {
  RunSlice<SliceFour>(SquareProblem(2, 8, 5, 12, 3, 1, 1), 4, 20);
}

TEST(Slices, AreChecked) {
  const Problem problem = SquareProblem(2, 4, 4, 32, 1, 0, 1);
  const auto says = [&]<class P>(const Problem& p, std::int64_t channels, std::int64_t src_at = 0) {
    const auto op = Convolution<P>::Create(p);
    const Inputs<typename P::SrcLayout, typename P::FilterLayout, typename P::Prologue> inputs(p,
                                                                                               5);
    const OperatorMemory<float> bias(inputs.tensors.bias);
    const OperatorMemory<std::int8_t> dst(std::vector<std::int8_t>(2 * 4 * 4 * 96));
    typename Convolution<P>::Arguments args;
    inputs.Fill(&args);
    args.bias = bias.get(), args.dst = dst.get(), args.dst_channels = channels;
    if (src_at > 0) args.src = dst.get() + src_at;
    if constexpr (P::Epilogue::kHasResidual) args.residual = dst.get();
    return std::string(op->CheckArguments(args).message());
  };
  EXPECT_EQ(says.template operator()<SliceSimt>(problem, 96), "");
  EXPECT_EQ(says.template operator()<SliceSimt>(problem, 16),
            "conv: args.dst_channels=16 is less than problem.k=32; give the channels of the tensor "
            "that dst is a slice of, or 0");
  using Residual = TestPolicy<NCxHWx<32>, epilogues::ResidualBiasRelu<>>;
  EXPECT_EQ(says.template operator()<Residual>(problem, 96),
            "conv: args.dst_channels=96 is set, but the policy's Epilogue has a Residual stage, "
            "whose tensor is no slice; leave it 0");
  using Nhwc = TestPolicy<NHWC, epilogues::BiasRelu<>>;
  EXPECT_EQ(says.template operator()<Nhwc>(problem, 96),
            "conv: args.dst_channels=96 is set, but DstLayout=NHWC has no blocks of channels; "
            "leave it 0, or take NCxHWx");
  // What the slice leaves of the wider tensor may be read; of the second image it writes bytes 1536 to 2047.
  const Problem small = SquareProblem(1, 4, 4, 32, 1, 0, 1);
  EXPECT_EQ(says.template operator()<SliceSimt>(small, 96, 512), "");
  EXPECT_NE(says.template operator()<SliceSimt>(small, 96, 256), "");
  EXPECT_EQ(says.template operator()<SliceSimt>(problem, 96, 1024), "");
  EXPECT_NE(says.template operator()<SliceSimt>(problem, 96, 1472), "");
}

}  // namespace
}  // namespace weft::conv
