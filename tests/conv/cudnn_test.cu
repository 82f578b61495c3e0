// Weft's results next to cuDNN's: NHWC int8 with a scale per channel, bias and ReLU through the
// graph API, and INT8x32 with filters reordered by us. Where they differ, the exact value must lie
// next to the middle between two integers: docs/cudnn_differences.md. Skipped, and said to be
// skipped, where there is no GPU or no cuDNN.
//
// Each comparison prints a line "difference: ..."; perf/run_there.sh keeps them.
// "% 0", behind an ||, of a static_assert in gemm/epilogue/epilogue_store.hpp.
#pragma nv_diag_suppress 179
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "perf/peers/libraries.hpp"
#include "perf/peers/peer.hpp"
#include "tests/conv/cudnn_reorder.hpp"
#include "tests/conv/harness.hpp"
#include "weft/conv/instantiate.cuh"
#include "weft/conv/problem/problem_name.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

#if !WEFT_HAVE_CUDNN

TEST(Cudnn, IsComparedWith) {
  GTEST_SKIP() << "built without cudnn.h";
}

#else

using epilogues::BiasRelu;
using perf::CudnnApi;
// What BiasRelu rounds, and the sums alone: whole numbers below 2^24, which float holds.
using Unrounded =
    epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;
using Sums = epilogues::Chain<epilogues::Scale, epilogues::ToFloat>;

// Why nothing can be compared here; empty if it can.
std::string Missing() {
  const arch::DeviceQuery device = arch::QueryDevice();
  if (!device.result.ok()) return absl::StrCat("no GPU: ", device.result.message);
  if (device.limits.compute_capability < 80) return "this GPU has no m16n8k32";
  const auto api = CudnnApi::Get();
  return api.ok() ? "" : absl::StrCat("no cuDNN: ", std::string(api.status().message()));
}

std::vector<Problem> Problems() {
  return {SquareProblem(4, 64, 28, 64, 3, 1, 1), SquareProblem(2, 256, 28, 128, 1, 0, 2),
          SquareProblem(2, 128, 19, 96, 3, 1, 2), SquareProblem(3, 32, 23, 256, 1, 0, 1),
          SquareProblem(16, 64, 56, 256, 1, 0, 1)};
}

// Random scales and biases; or powers of two and whole numbers, with which float arithmetic is
// exact in any order, so that only the rounding of ties is left to differ.
enum class Numbers { kRandom, kExact };
constexpr Numbers kBothNumbers[] = {Numbers::kRandom, Numbers::kExact};

struct Data {
  Data(const Problem& p, Numbers numbers) : problem(p), numbers(numbers), t(p, 5) {
    if (numbers == Numbers::kExact) {
      const auto exponent = std::ilogb(60.0f / (5500.0f * std::sqrt(float(p.c * p.r * p.s))));
      for (float& alpha : t.channel_alpha) alpha = std::ldexp(1.0f, exponent);
      for (float& bias : t.bias) bias = std::nearbyint(bias);
    }
  }
  std::string Name() const {
    return absl::StrCat(ProblemName(problem), numbers == Numbers::kExact ? " exact" : " random");
  }
  Problem problem;
  Numbers numbers;
  RandomTensors t;
};

// P's output, in its layout. One scale for all channels if `one_scale`.
template <class P>
std::vector<typename P::Epilogue::Output> Ours(const Data& data, bool one_scale) {
  using Op = Convolution<P>;
  using Output = typename Op::Output;
  const Problem& p = data.problem;
  const auto op = Op::Create(p);
  EXPECT_TRUE(op.ok()) << op.status();
  const auto packed =
      *PackFilter<typename P::FilterLayout, KCRS, std::int8_t>(p.filter(), data.t.filter);
  const OperatorMemory<std::int8_t> src(
      *ConvertTensor<NCHW, typename P::SrcLayout, std::int8_t>(p.src(), data.t.src)),
      filter(std::vector<std::int8_t>(packed.data(), packed.data() + packed.size()));
  const OperatorMemory<float> bias(data.t.bias), scales(data.t.channel_alpha);
  const OperatorMemory<Output> dst(std::vector<Output>(op->dst_size()));
  typename Op::Arguments args;
  args.src = src.get(), args.filter = packed.At(filter.get()), args.bias = bias.get();
  args.dst = dst.get();
  if constexpr (!P::Epilogue::kHasBias) {
    args.bias = nullptr;
  } else if (one_scale) {
    args.alpha = data.t.channel_alpha[0];
  } else {
    args.channel_alpha = scales.get();
  }
  const absl::Status status = op->Run(args, nullptr);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return dst.Read();
}

// Ours in three stages, in Dst's layout.
template <class Dst>
struct OurResults {
  std::vector<std::int8_t> rounded;
  std::vector<float> unrounded, sums;
  bool one_scale;

  // Output i from exact sums by other orders of arithmetic than ours, which rounds the product and
  // then the sum: by one fma, and without any rounding before the last.
  struct Orders {
    std::int8_t ours, fused, exact;
  };
  Orders Recompute(const Data& data, std::size_t i) const {
    const Problem& p = data.problem;
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t k =
        Dst::kChannelRun == 0 ? at % p.k : at / (p.p() * p.q() * 32) % (p.k / 32) * 32 + at % 32;
    const float alpha = data.t.channel_alpha[one_scale ? 0 : k], bias = data.t.bias[k];
    const auto round = [](auto t) {
      return static_cast<std::int8_t>(std::nearbyint(std::clamp<decltype(t)>(t, 0, 127)));
    };
    const volatile float product = alpha * sums[i];
    const float twice = product + bias;
    return {round(twice), round(std::fma(alpha, sums[i], bias)),
            round(double{alpha} * double{sums[i]} + double{bias})};
  }
};

template <class Dst>
OurResults<Dst> RunOurs(const Data& data, bool one_scale) {
  const auto run = [&](auto epilogue) {
    using E = decltype(epilogue);
    if constexpr (std::is_same_v<Dst, NHWC>) {
      return Ours<S8ConvNhwc<E, NHWC, Mma64x64> >(data, one_scale);
    } else {
      return Ours<S8Conv32<E, Dst, Mma64x64> >(data, one_scale);
    }
  };
  return {run(BiasRelu<>()), run(Unrounded()), run(Sums()), one_scale};
}

// Every difference is of 1, where the exact value is so near the middle that the order of float
// operations, or the rule for ties, decides.
template <class Dst>
void ExpectNear(const std::string& peer, const Data& data, const std::vector<std::int8_t>& theirs,
                const OurResults<Dst>& ours) {
  ASSERT_EQ(theirs.size(), ours.rounded.size());
  std::int64_t differ = 0, at_ties = 0, ties = 0, wrong = 0, fused = 0, exact = 0;
  int largest = 0;
  double farthest = 0.0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const float value = ours.unrounded[i];
    const bool tie = value < 127.0f && value - std::floor(value) == 0.5f;
    const auto orders = ours.Recompute(data, i);
    ties += tie;
    wrong += ours.rounded[i] != orders.ours;
    fused += theirs[i] != orders.fused;
    exact += theirs[i] != orders.exact;
    if (ours.rounded[i] == theirs[i]) continue;
    ++differ;
    at_ties += tie;
    largest = std::max(largest, std::abs(ours.rounded[i] - theirs[i]));
    farthest = std::max(farthest, std::abs(value - 0.5 * (ours.rounded[i] + theirs[i])));
  }
  const auto number = [](std::int64_t n) { return static_cast<long long>(n); };
  std::printf(
      "difference: cudnn=%s peer=\"%s\" problem=%s numbers=%s outputs=%zu ties=%lld differ=%lld "
      "differ_at_ties=%lld largest=%d farthest_from_middle=%.3g differ_from_fma=%lld "
      "differ_from_exact=%lld\n",
      (*CudnnApi::Get())->version.c_str(), peer.c_str(), ProblemName(data.problem).c_str(),
      data.numbers == Numbers::kExact ? "exact" : "random", theirs.size(), number(ties),
      number(differ), number(at_ties), largest, farthest, number(fused), number(exact));
  EXPECT_EQ(wrong, 0) << "our own order of arithmetic";
  EXPECT_LE(largest, 1) << peer << ", " << data.Name();
  // Below 256 floats are 2^-15 apart or less; a product and a sum are each half of that off.
  EXPECT_LE(farthest, 0x1p-15) << peer << ", " << data.Name();
}

TEST(Cudnn, NhwcGraph) {
  if (const std::string missing = Missing(); !missing.empty()) GTEST_SKIP() << missing;
  int compared = 0;
  for (const Problem& p : Problems()) {
    for (const Numbers numbers : kBothNumbers) {
      const Data data(p, numbers);
      const auto ours = RunOurs<NHWC>(data, false);
      const OperatorMemory<std::int8_t> src(
          *ConvertTensor<NCHW, NHWC, std::int8_t>(p.src(), data.t.src));
      const auto packed = *PackFilter<KRSC, KCRS, std::int8_t>(p.filter(), data.t.filter);
      const OperatorMemory<std::int8_t> filter(
          std::vector<std::int8_t>(packed.data(), packed.data() + packed.size()));
      const OperatorMemory<float> bias(data.t.bias), scales(data.t.channel_alpha);
      const OperatorMemory<std::int8_t> dst(std::vector<std::int8_t>(ours.rounded.size()));
      perf::PeerTensors tensors;
      tensors.sets = {{.src = src.get(),
                       .filter = filter.get(),
                       .channel_alpha = scales.get(),
                       .bias = bias.get()}};
      perf::PeerProblem problem;
      problem.problem = p;
      perf::PeerOptions options;
      options.most_variants = 6;
      options.build_threads = 6;
      auto peer = *perf::MakePeer("cudnn_graph");
      const absl::Status prepared = peer->Prepare(problem, tensors, options, nullptr);
      ASSERT_TRUE(prepared.ok()) << prepared;
      for (int v = 0; v < static_cast<int>(peer->variants().size()); ++v) {
        if (!peer->Build(v).ok()) continue;
        ASSERT_TRUE(peer->Poison(0, nullptr).ok());
        ASSERT_EQ(peer->Enqueue(v, 0, nullptr), absl::OkStatus());
        ASSERT_EQ(peer->Output(0, dst.get(), nullptr), absl::OkStatus());
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        ExpectNear(peer->variants()[v].name, data, dst.Read(), ours);
        peer->Release(v);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0) << "cuDNN offered no plan";
}

// cudnnConvolutionBiasActivationForward over INT8x32, and its descriptors.
class Int8x32 {
 public:
  explicit Int8x32(const Problem& p) : api_(**CudnnApi::Get()), handle_(*api_.MainHandle()) {
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    Expect(api_.CreateTensorDescriptor(&src_));
    Expect(api_.CreateTensorDescriptor(&dst_));
    Expect(api_.CreateTensorDescriptor(&bias_));
    Expect(api_.CreateFilterDescriptor(&filter_));
    Expect(api_.CreateConvolutionDescriptor(&conv_));
    Expect(api_.CreateActivationDescriptor(&relu_));
    Expect(api_.SetTensor4dDescriptor(src_, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x32,
                                      as_int(p.n), as_int(p.c), as_int(p.h), as_int(p.w)));
    Expect(api_.SetTensor4dDescriptor(dst_, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x32,
                                      as_int(p.n), as_int(p.k), as_int(p.p()), as_int(p.q())));
    Expect(api_.SetTensor4dDescriptor(bias_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, as_int(p.k), 1,
                                      1));
    Expect(api_.SetFilter4dDescriptor(filter_, CUDNN_DATA_INT8x32, CUDNN_TENSOR_NCHW_VECT_C,
                                      as_int(p.k), as_int(p.c), as_int(p.r), as_int(p.s)));
    Expect(api_.SetConvolution2dDescriptor(conv_, as_int(p.pad_top), as_int(p.pad_left),
                                           as_int(p.stride_h), as_int(p.stride_w), 1, 1,
                                           CUDNN_CROSS_CORRELATION, CUDNN_DATA_INT32));
    Expect(api_.SetConvolutionReorderType(conv_, CUDNN_NO_REORDER));
    Expect(api_.SetConvolutionMathType(conv_, CUDNN_TENSOR_OP_MATH));
    Expect(api_.SetActivationDescriptor(relu_, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    Expect(api_.SetStream(handle_, nullptr));
  }
  ~Int8x32() {
    api_.DestroyTensorDescriptor(src_);
    api_.DestroyTensorDescriptor(dst_);
    api_.DestroyTensorDescriptor(bias_);
    api_.DestroyFilterDescriptor(filter_);
    api_.DestroyConvolutionDescriptor(conv_);
    api_.DestroyActivationDescriptor(relu_);
  }

  // Filter and bias as cuDNN reorders them: `filter` is (K, C/32, R, S, 32).
  void Reorder(const std::vector<std::int8_t>& filter, const std::vector<float>& bias,
               std::vector<std::int8_t>* reordered, std::vector<float>* reordered_bias) {
    const OperatorMemory<std::int8_t> from(filter), to(filter);
    const OperatorMemory<float> bias_from(bias), bias_to(bias);
    Expect(api_.ReorderFilterAndBias(handle_, filter_, CUDNN_DEFAULT_REORDER, from.get(), to.get(),
                                     1, bias_from.get(), bias_to.get()));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    *reordered = to.Read();
    *reordered_bias = bias_to.Read();
  }

  std::vector<std::int8_t> Run(const std::vector<std::int8_t>& src,
                               const std::vector<std::int8_t>& filter,
                               const std::vector<float>& bias, float alpha, std::int64_t outputs) {
    const OperatorMemory<std::int8_t> src_memory(src), filter_memory(filter),
        dst_memory(std::vector<std::int8_t>(outputs, -1));
    const OperatorMemory<float> bias_memory(bias);
    constexpr auto kAlgorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    std::size_t bytes = 0;
    Expect(api_.GetConvolutionForwardWorkspaceSize(handle_, src_, filter_, conv_, dst_, kAlgorithm,
                                                   &bytes));
    const OperatorMemory<std::int8_t> workspace(std::vector<std::int8_t>(bytes + 256));
    const float zero = 0.0f;
    Expect(api_.ConvolutionBiasActivationForward(
        handle_, &alpha, src_, src_memory.get(), filter_, filter_memory.get(), conv_, kAlgorithm,
        workspace.get(), bytes, &zero, dst_, dst_memory.get(), bias_, bias_memory.get(), relu_,
        dst_, dst_memory.get()));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return dst_memory.Read();
  }

 private:
  void Expect(cudnnStatus_t status) {
    const absl::Status s = api_.Check(status, "cuDNN");
    EXPECT_TRUE(s.ok()) << s;
  }

  const CudnnApi& api_;
  cudnnHandle_t handle_;
  cudnnTensorDescriptor_t src_ = nullptr, dst_ = nullptr, bias_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t conv_ = nullptr;
  cudnnActivationDescriptor_t relu_ = nullptr;
};

TEST(Cudnn, OurReorderingIsCudnns) {
  if (const std::string missing = Missing(); !missing.empty()) GTEST_SKIP() << missing;
  for (const Problem& p : Problems()) {
    const Data data(p, Numbers::kRandom);
    // As tensors, a filter's output channels are images: (K, C/32, R, S, 32).
    const TensorExtents e{p.k, p.c, p.r, p.s};
    const auto blocked = *ConvertTensor<NCHW, NCxHWx<32>, std::int8_t>(e, data.t.filter);
    std::vector<std::int8_t> filter;
    std::vector<float> bias;
    Int8x32(p).Reorder(blocked, data.t.bias, &filter, &bias);
    EXPECT_TRUE(filter == CudnnFilter(p.filter(), data.t.filter)) << ProblemName(p);
    EXPECT_EQ(bias, CudnnBias(data.t.bias)) << ProblemName(p);
  }
}

TEST(Cudnn, Int8x32WithOurReordering) {
  if (const std::string missing = Missing(); !missing.empty()) GTEST_SKIP() << missing;
  for (const Problem& p : Problems()) {
    for (const Numbers numbers : kBothNumbers) {
      const Data data(p, numbers);
      const auto ours = RunOurs<NCxHWx<32> >(data, true);
      const auto src = *ConvertTensor<NCHW, NCxHWx<32>, std::int8_t>(p.src(), data.t.src);
      const auto theirs =
          Int8x32(p).Run(src, CudnnFilter(p.filter(), data.t.filter), CudnnBias(data.t.bias),
                         data.t.channel_alpha[0], static_cast<std::int64_t>(ours.rounded.size()));
      ExpectNear("INT8x32 CUDNN_NO_REORDER", data, theirs, ours);
    }
  }
}

#endif  // WEFT_HAVE_CUDNN

}  // namespace
}  // namespace weft::conv
