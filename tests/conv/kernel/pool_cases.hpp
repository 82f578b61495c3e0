// Global average pooling: sums that epilogues make of their outputs, and averages of them.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "weft/conv/pooled_average.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {

// Groups that begin within a block of channels. Named: the GPU code of a
// policy without linkage cannot be found.
template <class EpilogueT>
struct PoolOfGroups : S8Conv4<EpilogueT, NCxHWx<32>, Tile32x32> {
  using Prologue = prologues::Grouped;
};

namespace {

using namespace epilogues;  // NOLINT: a test file about them

// Runs P twice on random data: its output, if there is one, must be the reference's, and its sums twice
// the sums of that.
template <class P, class Activation>
void RunPool(const Problem& problem, std::uint32_t seed, const Activation& activation,
             RunOptions options = {}) {
  using Epilogue = typename P::Epilogue;
  using Output = typename Epilogue::Output;
  options.seed = seed;
  SCOPED_TRACE(absl::StrCat(ToString(problem), " seed ", seed));
  const auto op = Convolution<P>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const Inputs<typename P::SrcLayout, typename P::FilterLayout, typename P::Prologue> inputs(
      problem, seed);
  const Results<Epilogue, typename P::DstLayout> results(problem, inputs.tensors, options);
  const OperatorMemory<std::int32_t> sums(std::vector<std::int32_t>(problem.n * problem.k));
  typename Convolution<P>::Arguments args;
  inputs.Fill(&args);
  results.Fill(&args);
  if (!Epilogue::kWritesOutput) args.dst = nullptr;
  args.epilogue.template Get<typename Epilogue::SumsStage>().to = sums.get();
  for (int run = 0; run < 2; ++run) {
    const absl::Status status = RunHere(*op, args, options);
    ASSERT_TRUE(status.ok()) << status;
  }
  const std::vector<Output> planar = reference::Convolve<Output>(
      problem, inputs.tensors.src.data(), inputs.tensors.filter.data(), results.data(), activation,
      FullRange<Output>(), 1, inputs.bank.which);
  std::vector<std::int32_t> want(problem.n * problem.k);
  const std::int64_t pixels = problem.p() * problem.q();
  for (std::size_t i = 0; i < planar.size(); ++i) want[i / pixels] += 2 * planar[i];
  EXPECT_EQ(sums.Read(), want);
  if (Epilogue::kWritesOutput) results.ExpectEqual(planar);
}

// On problems whose images end anywhere in a tile, and on one of many small images.
template <class P, class Activation>
void RunPools(const Activation& activation, const RunOptions& options = {}) {
  std::mt19937 engine(11);
  for (int i = 0; i < 5; ++i) {
    Problem problem = RandomProblem(engine);
    if (i == 0) problem = SquareProblem(23, 32, 5, 48, 3, 0, 2);  // 2 x 2 pixels
    if (i == 1) problem = SquareProblem(3, 32, 7, 80, 1, 0, 1);
    if (P::SrcLayout::kChannelRun == 0) problem.c = RoundUp(problem.c, 16);
    if (P::DstLayout::kChannelRun == 0) problem.k = RoundUp(problem.k, 16);
    if (P::Prologue::kDepends.group) problem.groups = 3, problem.c = 12, problem.k = 36;
    if (CheckedPolicy<P>::kDepthwise) problem.c = problem.groups = 20, problem.k = 40;
    if (CheckedPolicy<P>::kFirstLayer) problem.stride_w = 1, problem.dilation_w = 1;
    RunPool<P>(problem, static_cast<std::uint32_t>(engine()), activation, options);
    if (testing::Test::HasFailure()) return;
  }
}

const reference::NoActivation kNone;
const reference::ReluActivation kRelu;

template <class T>
using WithImageSums = Chain<Scale, Bias<>, Relu, ImageSums, ClampTo<T>>;
template <class T>
using Alone = Chain<Scale, Bias<>, Relu, OnlyImageSums, ClampTo<T>>;
using Residue = Chain<Residual<>, Scale, Bias<>, Relu, OnlyImageSums, ClampTo<std::int8_t>>;

TEST(ConvolutionPool, Simt) {
  RunPools<S8Conv4<WithImageSums<std::int8_t>, NCxHWx<32>, Tile32x32>>(kRelu,
                                                                       {.zero_point = -100.0f});
  RunPools<S8Conv4<Alone<std::uint8_t>, NHWC, Tile64x64>>(kRelu, {.zero_point = 100.0f});
  RunPools<PoolOfGroups<Alone<std::int8_t>>>(kRelu);
}

TEST(ConvolutionPool, MmaSm80) {
  RunPools<S8Conv32<Residue, NCxHWx<32>, Mma64x32>>(kRelu, {.gamma = 0.7f});
  using Rounds = Chain<SumBias, Scale, RoundFirst, ImageSums, ClampTo<std::uint8_t>>;
  RunPools<S8ConvNhwc<Rounds, NHWC, Mma64x64>>(kNone, {.per_tensor_alpha = true});
}

TEST(ConvolutionPool, WgmmaSm90) {
  RunPools<S8Conv32<WithImageSums<std::uint8_t>, NCxHWx<32>, Wgmma32x64>>(kRelu,
                                                                          {.zero_point = 3.0f});
  RunPools<S8Conv32<Residue, NCxHWx<32>, Wgmma64x64>>(kRelu, {.gamma = 0.7f});
  RunPools<S8ConvNhwc<Alone<std::int8_t>, NHWC, Wgmma64x128>>(kRelu);
  RunPools<S8Conv32<WithImageSums<std::int8_t>, NCxHWx<32>, PingPong<Wgmma64x64>>>(kRelu);
  RunPools<S8Conv4<Alone<std::int8_t>, NCxHWx<32>, WgmmaFirst64x64>>(kRelu);
}

// Two output rows side by side.
TEST(ConvolutionPool, WgmmaSm90PackedRows) {
  const Problem p = SquareProblem(5, 48, 5, 32, 3, 1, 1);
  RunPool<S8Conv32<WithImageSums<std::uint8_t>, NCxHWx<32>, Wgmma64x64PackedRows>>(p, 3, kRelu);
  RunPool<S8Conv32<Residue, NCxHWx<32>, Wgmma160x64PackedRows>>(p, 4, kRelu, {.gamma = 0.7f});
  RunPool<S8ConvNhwc<Alone<std::int8_t>, NHWC, Wgmma64x64PackedRows>>(p, 5, kRelu);
}

TEST(ConvolutionPool, Depthwise) {
  RunPools<S8Depthwise32<WithImageSums<std::int8_t>>>(kRelu);
  RunPools<S8DepthwiseNhwc<Alone<std::uint8_t>>>(kRelu);
}

// Numbers whose averages are halfway between two integers, too small and too large.
template <class T, class Format>
void RunAverage(float alpha, float zero_point) {
  const std::int64_t n = 3, k = 37, padded = Format::PaddedC(k);
  std::vector<std::int32_t> values(n * k);
  std::mt19937 engine(5);
  for (auto& x : values) x = static_cast<std::int32_t>(engine()) >> (engine() % 24);
  for (int i = 0; i < 8; ++i) values[i] = 2 * i - 7;
  const OperatorMemory<std::int32_t> sums(values);
  const OperatorMemory<T> dst(std::vector<T>(n * padded, T{77}));
  const auto op = PooledAverage<T, Format>::Create(n, k);
  ASSERT_TRUE(op.ok()) << op.status();
  ASSERT_EQ(op->dst_size(), n * padded);
  typename PooledAverage<T, Format>::Arguments args;
  args.sums = sums.get(), args.dst = dst.get();
  args.alpha = alpha, args.zero_point = zero_point;
#if defined(WEFT_CUDA_BACKEND)
  const absl::Status status = op->Run(args, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  const absl::Status status = op->RunOnCpu(args);
#endif
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(sums.Read(), std::vector<std::int32_t>(n * k));
  std::vector<T> want(n * padded);
  for (std::int64_t i = 0; i < n * k; ++i) {
    const float t = alpha * static_cast<float>(values[i]);
    T& to = want[i / k * padded + i % k];
    if constexpr (std::is_same_v<T, float>) {
      to = t;
    } else {
      to = reference::Quantize<T>(t, zero_point, std::numeric_limits<T>::min(),
                                  std::numeric_limits<T>::max());
    }
  }
  EXPECT_EQ(dst.Read(), want);
}

TEST(PooledAverage, IsTheContracts) {
  RunAverage<std::int8_t, NHWC>(0.5f, 0.0f);
  RunAverage<std::int8_t, NCxHWx<32>>(1.0f / 49.0f, -3.5f);
  RunAverage<std::uint8_t, NCxHWx<4>>(0.01f, 100.0f);
  RunAverage<float, NCHW>(1.0f / 49.0f, 0.0f);
}

TEST(ConvolutionPool, ArgumentsAreChecked) {
  using P = S8Conv4<Alone<std::int8_t>, NCxHWx<4>, Tile32x32>;
  // Compiled by nvcc too, which once put the second of these into the first (policy_facts.hpp).
  static_assert(FactsOf<P>().output.residual_channel_run == 0);
  static_assert(FactsOf<P>().output.image_sums);
  const auto op = Convolution<P>::Create(SquareProblem(1, 4, 4, 8, 1, 0, 1));
  ASSERT_TRUE(op.ok());
  const OperatorMemory<std::int8_t> src(std::vector<std::int8_t>(op->src_size()));
  const OperatorMemory<float> bias(std::vector<float>(8));
  const OperatorMemory<std::int32_t> sums(std::vector<std::int32_t>(op->dst_size()));
  const auto filter = PackFilter<CxRSKx<4>, KCRS, std::int8_t>(op->problem().filter(),
                                                               std::vector<std::int8_t>(32));
  const OperatorMemory<std::int8_t> packed({filter->data(), filter->data() + filter->size()});
  Convolution<P>::Arguments args;
  args.src = src.get(), args.filter = filter->At(packed.get()), args.bias = bias.get();
  const auto message = [&] { return std::string(op->CheckArguments(args).message()); };
  EXPECT_EQ(message(),
            "conv: args.epilogue's array of sums is null; give args.epilogue.Get<ImageSums>() (or "
            "<OnlyImageSums>) the address of zeros, one int32 for each image and output channel");
  auto& to = args.epilogue.Get<OnlyImageSums>().to;
  to = reinterpret_cast<std::int32_t*>(src.get());
  EXPECT_EQ(
      message(),
      "conv: args.epilogue's array of sums overlaps args.src; blocks would read what others have "
      "written, so give epilogue's array of sums memory of its own");
  to = sums.get();
  EXPECT_EQ(message(), "");
  args.dst = reinterpret_cast<std::int8_t*>(sums.get() + 8);
  EXPECT_EQ(message(),
            "conv: args.dst is set but the policy's Epilogue has OnlyImageSums, which writes no "
            "output; leave it null, or take ImageSums");

  using Average = PooledAverage<float>;
  EXPECT_EQ(Average::Create(-1, 8).status().message(),
            "conv: PooledAverage of n=-1 images of k=8 channels; give 0 or more of each");
  EXPECT_TRUE(Average::Create(0, 8).ok());
  EXPECT_EQ(Average::Create(1 << 20, 1 << 11).status().message(),
            "conv: PooledAverage of n=1048576 images of k=2048 channels has more than 2147483519 "
            "outputs; split the batch");
  const auto average = Average::Create(1, 8);
  ASSERT_TRUE(average.ok());
  const auto complaint = [&](const Average::Arguments& a) {
    return std::string(average->CheckArguments(a).message());
  };
  EXPECT_EQ(complaint({}), "conv: args.sums is null; give the tensor's address");
  EXPECT_EQ(complaint({.sums = sums.get(), .dst = bias.get(), .zero_point = 2.0f}),
            "conv: args.zero_point=2 is set but the policy's Epilogue has no ClampTo stage; leave "
            "it 0");
  EXPECT_EQ(complaint({.sums = sums.get(), .dst = bias.get()}), "");

  Problem huge = SquareProblem(1, 4, 2902, 8, 1, 0, 1);
  huge.w = 2903;
  EXPECT_EQ(Convolution<P>::Create(huge).status().message(),
            "conv: p*q of ImageSums=8424506 exceeds 8421504; split the image");
}

}  // namespace
}  // namespace weft::conv
