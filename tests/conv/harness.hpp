// Runs one operator on random data and compares every output with the reference, exactly. Compiled
// by g++ the operator runs on the CPU, compiled by nvcc on the GPU; the tests are the same.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/conv/kernel/prologue_bank.hpp"
#include "tests/operator_memory.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/layouts/packed_filter.hpp"

namespace weft::conv {

inline std::string ToString(const Problem& p) {
  return absl::StrCat("n", p.n, "h", p.h, "w", p.w, "c", p.c, "k", p.k, "r", p.r, "s", p.s, " pad ",
                      p.pad_top, ",", p.pad_left, ",", p.pad_bottom, ",", p.pad_right, " stride ",
                      p.stride_h, ",", p.stride_w, " dilation ", p.dilation_h, ",", p.dilation_w,
                      p.groups == 1 ? "" : absl::StrCat(" groups ", p.groups),
                      p.mode == Mode::kConvolution ? " flipped" : "");
}

// Random tensors of one problem, planar; `filter` is a bank of `filters`, one after the other, of
// values of `filter_bits`, and the source of `src_bits`.
struct RandomTensors {
  std::vector<std::int8_t> src, filter, residual;
  std::vector<float> channel_alpha, bias;
  std::vector<std::int32_t> bias_int32, sum_bias;

  RandomTensors(const Problem& p, std::uint32_t seed, std::int64_t filters = 1, int filter_bits = 8,
                int src_bits = 8)
      : engine(seed) {
    src = Bytes(p.n * p.c * p.h * p.w);
    for (std::int8_t& x : src) x = static_cast<std::int8_t>(x >> (8 - src_bits));
    filter = Bytes(filters * KCRS::Size(p.filter()));
    for (std::int8_t& x : filter) x = static_cast<std::int8_t>(x >> (8 - filter_bits));
    residual = Bytes(p.n * p.k * p.p() * p.q());
    // Scales that bring typical sums into the int8 range, with some values clamped.
    std::uniform_real_distribution<float> scale(0.5f, 2.0f), offset(-40.0f, 40.0f);
    const float typical =
        std::ldexp(60.0f / (5500.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s))),
                   16 - filter_bits - src_bits);
    for (std::int64_t k = 0; k < p.k; ++k) {
      channel_alpha.push_back(typical * scale(engine));
      bias.push_back(offset(engine));
      bias_int32.push_back(static_cast<std::int32_t>(offset(engine)));
      sum_bias.push_back(bias_int32.back() * 997);
    }
  }

  std::vector<std::int8_t> Bytes(std::int64_t count) {
    std::vector<std::int8_t> v(count);
    for (auto& x : v) x = static_cast<std::int8_t>(engine() >> 24);
    return v;
  }

  std::mt19937 engine;
};

struct RunOptions {
  std::uint32_t seed = 1;
  bool per_tensor_alpha = false;
  float alpha = 0.0f;  // the tensor's; 0: a random one
  float beta = 1.0f;
  float gamma = 1.0f;
  float zero_point = 0.0f;
  // With an OutputScale: what a step of the values without one is in real numbers, and a step of the output.
  float real_step = 0.125f;
  float output_scale = 0.11f;
  bool late_residual = false;  // the epilogue's residual comes after its activation
  float residual_zero_point = 0.0f;
#if defined(WEFT_CPU_BACKEND)
  arch::CpuOptions cpu = arch::CpuOptions::FromEnvironment();
  arch::CpuStats* stats = nullptr;
#endif
};

template <class T>
constexpr reference::OutputRange<T> FullRange() {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return {-128, 127};
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return {0, 255};
  } else {
    return {};
  }
}

// A bank as a user packs it.
template <class Prologue, class FilterLayout>
PackedFilterBuffer<FilterLayout, std::int8_t, Prologue> PackBank(
    const Problem& p, std::int64_t filters, const std::vector<std::int8_t>& values) {
  if constexpr (std::is_same_v<Prologue, prologues::Depthwise>) {
    return PackDepthwiseFilter({p.k, 1, p.r, p.s}, values).value();
  } else {
    return PackFilters<Prologue, FilterLayout>(p.filter(), filters, values).value();
  }
}

template <class T>
inline constexpr bool kSixteenBits = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

// A tensor's element of 16 bits as a float, and any other as it is; + makes numbers of bytes.
template <class T>
auto Number(T x) {
  if constexpr (kSixteenBits<T>) {
    return x.ToFloat();
  } else {
    return +x;
  }
}

// Random bytes as residuals of type T: of fractions, if there are any.
template <class T>
std::vector<T> ResidualOf(const std::vector<std::int8_t>& bytes) {
  std::vector<T> values;
  for (const std::int8_t byte : bytes) {
    if constexpr (kSixteenBits<T>) {
      values.push_back(T::FromFloat(static_cast<float>(byte) * 0.37f));
    } else if constexpr (std::is_same_v<T, float>) {
      values.push_back(static_cast<float>(byte) * 0.37f);
    } else {
      values.push_back(static_cast<T>(byte));
    }
  }
  return values;
}

// What an operator reads, in its own memory: what depends on the layouts and the prologue only, so
// that it is compiled once for many policies.
template <class Src, class FilterLayout, class Prologue>
struct Inputs {
  explicit Inputs(const Problem& problem, std::uint32_t seed)
      : bank(problem, seed),
        tensors(problem, seed, bank.filters, kIsInt4<FilterLayout> ? 4 : 8, kIsInt4<Src> ? 4 : 8),
        packed(PackBank<Prologue, FilterLayout>(problem, bank.filters, tensors.filter)),
        src(ConvertTensor<NCHW, Src, std::int8_t>(problem.src(), tensors.src).value()),
        filter(BytesOf(packed)) {}

  template <class Arguments>
  void Fill(Arguments* args) const {
    args->src = src.get();
    args->filter = packed.At(filter.get());
    args->prologue = bank.prologue;
  }

  template <class Packed>
  static std::vector<std::int8_t> BytesOf(const Packed& packed) {
    const auto* bytes = reinterpret_cast<const std::int8_t*>(packed.data());
    return {bytes, bytes + packed.bytes()};
  }

  PrologueBank<Prologue> bank;
  RandomTensors tensors;
  PackedFilterBuffer<FilterLayout, std::int8_t, Prologue> packed;
  OperatorMemory<std::int8_t> src, filter;
};

// The rest of its arguments, and what must come out: by epilogue and destination layout.
template <class Epilogue, class Dst>
class Results {
  using Output = typename Epilogue::Output;
  using ResidualLayout = typename Epilogue::template ResidualLayout<Dst>;
  using Residual = typename Epilogue::ResidualElement;

 public:
  Results(const Problem& problem, const RandomTensors& t, const RunOptions& options)
      : problem_(problem),
        t_(t),
        bias_(t.bias),
        channel_alpha_(Times(kRealStep ? options.real_step : 1.0f, t.channel_alpha)),
        alpha_(channel_alpha_),
        bias_int32_(Epilogue::kBiasInSum ? t.sum_bias : t.bias_int32),
        residual_values_(ResidualOf<Residual>(t.residual)),
        residual_zero_point_(options.residual_zero_point),
        residual_(Epilogue::kHasResidual ? ConvertTensor<NCHW, ResidualLayout, Residual>(
                                               problem.dst(), residual_values_)
                                               .value()
                                         : std::vector<Residual>()),
        pooled_(kPool.Of(problem.dst())),
        dst_(Garbage(Dst::Size(pooled_) / (kIsInt4<Dst> ? 2 : 1))) {
    const float step = kRealStep ? options.real_step : 1.0f;
    data_.zero_point = options.zero_point;
    data_.beta = options.beta * (Epilogue::kHasBias && !Epilogue::kBiasInSum ? step : 1.0f);
    data_.gamma = options.gamma * (Epilogue::kHasResidual ? step : 1.0f);
    if (kRealStep) data_.output_scale = options.output_scale;
    if constexpr (Epilogue::kHasScale) {
      if (options.per_tensor_alpha) {
        data_.alpha = step * (options.alpha != 0.0f ? options.alpha : t.channel_alpha[0]);
      } else {
        data_.channel_alpha = channel_alpha_.data();
      }
    }
    if constexpr (Epilogue::kHasBias) {
      if constexpr (Epilogue::kBiasInSum) {
        data_.sum_bias = t.sum_bias.data();
      } else if constexpr (kFloatBias) {
        data_.bias = t.bias.data();
      } else {
        data_.bias_int32 = t.bias_int32.data();
      }
    }
    if constexpr (Epilogue::kHasResidual) {
      if (std::is_same_v<Residual, std::int8_t> && !options.late_residual &&
          options.residual_zero_point == 0.0f) {
        data_.residual = t.residual.data();
      } else {
        for (const Residual x : residual_values_) {
          residual_floats_.push_back(static_cast<float>(Number(x)) - options.residual_zero_point);
        }
        (options.late_residual ? data_.late_residual : data_.float_residual) =
            residual_floats_.data();
      }
    }
  }

  template <class Arguments>
  void Fill(Arguments* args) const {
    FillScaleAndBias(args);
    args->dst = dst_.get();
    args->gamma = data_.gamma;
    if constexpr (Epilogue::kHasResidual) {
      using Stage = typename Epilogue::ResidualStage;
      args->residual = residual_.get();
      if constexpr (requires(Stage s) { s.zero_point; }) {
        args->epilogue.template Get<Stage>().zero_point = residual_zero_point_;
      }
    }
  }
  template <class Arguments>
  void FillScaleAndBias(Arguments* args) const {
    args->alpha = data_.alpha;
    args->output_scale = data_.output_scale;
    args->zero_point = data_.zero_point;
    args->beta = data_.beta;
    if (data_.channel_alpha != nullptr) args->channel_alpha = alpha_.get();
    if constexpr (kFloatBias) {
      args->bias = bias_.get();
    } else if constexpr (Epilogue::kHasBias) {
      args->bias = bias_int32_.get();
    }
  }

  // dst as it is now.
  std::vector<Output> Read() const { return dst_.Read(); }

  // `which`: the filter of each output.
  template <class Activation>
  void ExpectEqual(const FilterOf& which, const Activation& activation,
                   const reference::OutputRange<Output>& range) const {
    ExpectEqual(Want(which, activation, range));
  }
  // What must come out, planar.
  template <class Activation>
  std::vector<Output> Want(const FilterOf& which, const Activation& activation,
                           const reference::OutputRange<Output>& range) const {
    return reference::Convolve<Output>(problem_, t_.src.data(), t_.filter.data(), data_, activation,
                                       range, 1, which);
  }

  // planar: what must come out, before a MaxPool.
  void ExpectEqual(std::vector<Output> planar) const {
    if constexpr (kPool.exists()) {
      planar = reference::MaxPool(planar, problem_.p(), problem_.q(), kPool.size, kPool.step,
                                  kPool.padding);
    }
    const std::vector<Output> got = dst_.Read();
    const std::vector<Output> want =
        ConvertTensor<NCHW, Dst, Output>(pooled_, absl::MakeConstSpan(planar)).value();
    ASSERT_EQ(got.size(), want.size());
    std::int64_t mismatches = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      // memcmp: floats are compared to the bit.
      if (std::memcmp(&got[i], &want[i], sizeof(Output)) != 0 && ++mismatches <= 5) {
        ADD_FAILURE() << "dst[" << i << "]=" << Number(got[i]) << ", the reference has "
                      << Number(want[i]);
      }
    }
    EXPECT_EQ(mismatches, 0) << "of " << got.size();
  }

  const reference::EpilogueData& data() const { return data_; }

 private:
  static constexpr bool kFloatBias = [] {
    if constexpr (Epilogue::kHasBias) {
      return std::is_same_v<typename Epilogue::BiasElement, float>;
    } else {
      return false;
    }
  }();

  static constexpr PoolFacts kPool = PoolOf<Epilogue>();
  static constexpr bool kRealStep = Epilogue::kHasOutputScale;
  static std::vector<float> Times(float factor, std::vector<float> values) {
    for (float& value : values) value *= factor;
    return values;
  }

  // So that an output nobody writes shows.
  static std::vector<Output> Garbage(std::int64_t size) {
    std::vector<Output> v(size);
    std::memset(static_cast<void*>(v.data()), 0x77, size * sizeof(Output));
    return v;
  }

  const Problem problem_;
  const RandomTensors& t_;
  const OperatorMemory<float> bias_;
  const std::vector<float> channel_alpha_;
  const OperatorMemory<float> alpha_;
  const OperatorMemory<std::int32_t> bias_int32_;
  const std::vector<Residual> residual_values_;  // planar
  std::vector<float> residual_floats_;
  const float residual_zero_point_;
  const OperatorMemory<Residual> residual_;
  const TensorExtents pooled_;
  const OperatorMemory<Output> dst_;
  reference::EpilogueData data_;
};

// Runs `op` on the GPU in files compiled by nvcc, else on the CPU.
template <class Op>
absl::Status RunHere(const Op& op, const typename Op::Arguments& args,
                     [[maybe_unused]] const RunOptions& options = {}) {
#if defined(WEFT_CUDA_BACKEND)
  const absl::Status status = op.Run(args, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return status;
#else
  if constexpr (requires { op.RunOnCpu(args, options.cpu, options.stats); }) {
    return op.RunOnCpu(args, options.cpu, options.stats);
  } else {
    return op.RunOnCpu(args, options.cpu);
  }
#endif
}

// Runs P on random data for `problem`, with a bank of filters for P::Prologue (PrologueBank); every
// output must equal the reference's, whose activation is `activation`, and every surplus channel
// must be zero. Op: P's operator, or one that chooses among policies of which P is one.
template <class P, class Op = Convolution<P>, class Activation>
void ExpectMatchesReference(const Problem& problem, const Activation& activation,
                            const RunOptions& options = {}, typename P::Epilogue epilogue = {},
                            reference::OutputRange<typename P::Epilogue::Output> range =
                                FullRange<typename P::Epilogue::Output>()) {
  SCOPED_TRACE(absl::StrCat(ToString(problem), " seed ", options.seed));
  const absl::StatusOr<Op> op = Op::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const Inputs<typename P::SrcLayout, typename P::FilterLayout, typename P::Prologue> inputs(
      problem, options.seed);
  const Results<typename P::Epilogue, typename P::DstLayout> results(problem, inputs.tensors,
                                                                     options);
  typename Op::Arguments args;
  args.epilogue = epilogue;
  inputs.Fill(&args);
  results.Fill(&args);
  args.filter_is_constant = options.seed % 2 == 0;
  const absl::Status status = RunHere(*op, args, options);
  ASSERT_TRUE(status.ok()) << status;
  results.ExpectEqual(inputs.bank.which, activation, range);
}

// From low to high.
inline std::int64_t Pick(std::mt19937& engine, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(engine() % static_cast<std::uint32_t>(high - low + 1));
}

// A small random problem: ragged extents, asymmetric padding, strides, dilations, both modes.
inline Problem RandomProblem(std::mt19937& engine) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return Pick(engine, low, high); };
  for (;;) {
    Problem p;
    p.n = pick(1, 3), p.h = pick(1, 11), p.w = pick(1, 11), p.c = pick(1, 21), p.k = pick(1, 70);
    p.r = pick(1, 5), p.s = pick(1, 5);
    p.pad_top = pick(0, 3), p.pad_left = pick(0, 3);
    p.pad_bottom = pick(0, 3), p.pad_right = pick(0, 3);
    p.stride_h = pick(1, 3), p.stride_w = pick(1, 3);
    p.dilation_h = pick(1, 2), p.dilation_w = pick(1, 2);
    p.mode = engine() % 4 == 0 ? Mode::kConvolution : Mode::kCrossCorrelation;
    if (CheckProblem(p).ok()) return p;
  }
}

}  // namespace weft::conv
