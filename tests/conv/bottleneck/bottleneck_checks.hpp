// Runs a Bottleneck on random data and compares it with plain loops, convolution by convolution.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/conv/harness.hpp"
#include "weft/conv/bottleneck.hpp"

namespace weft::conv {

using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::QuantizedAdd;
using epilogues::QuantizeSteps;
using epilogues::RoundFirst;
using epilogues::Scale;
using epilogues::SumBias;

using ToU8 = Chain<SumBias, Scale, RoundFirst, ClampTo<std::uint8_t>>;
using ToS8 = Chain<SumBias, Scale, RoundFirst, ClampTo<std::int8_t>>;
template <class Type, bool kSumIsFirst>
using AddTo =
    Chain<SumBias, Scale, QuantizeSteps<Type>, QuantizedAdd<Type, kSumIsFirst>, ClampTo<Type>>;

// As networks of uint8 have them, with x and with a projection of x; of int8, whose t1 has a zero point;
// of any other epilogues; without a residual.
struct U8Block : S8Bottleneck<ToU8, ToU8, AddTo<std::uint8_t, true>, BottleneckTile<14, 2, 3>> {
  using Element = std::uint8_t;
};
struct U8Projected : ProjectedS8Bottleneck<ToU8, ToU8, AddTo<std::uint8_t, false>, ToU8,
                                           BottleneckTile<14, 2, 3>> {
  using Element = std::uint8_t;
};
struct S8Block : S8Bottleneck<ToS8, ToS8, AddTo<std::int8_t, false>, BottleneckTile<8, 3, 4>> {};
struct S8Projected
    : ProjectedS8Bottleneck<ToS8, ToU8, AddTo<std::uint8_t, true>, ToU8, BottleneckTile<8, 3, 4>> {
};
struct ReluBlock : S8Bottleneck<epilogues::BiasRelu<>, epilogues::BiasRelu<>,
                                epilogues::ResidualBiasRelu<>, BottleneckTile<4, 1, 2>> {};
struct ReluProjected : ProjectedS8Bottleneck<epilogues::BiasRelu<std::int32_t>,
                                             epilogues::BiasRelu<>, epilogues::ResidualBiasRelu<>,
                                             epilogues::BiasIdentity<>, BottleneckTile<4, 1, 2>> {};
struct NoResidual : S8Bottleneck<epilogues::BiasRelu<>, ToU8,
                                 Chain<SumBias, Scale, RoundFirst, ClampTo<std::int8_t, -20, 90>>,
                                 BottleneckTile<6, 2, 3>> {};

// The constants of a convolution, and what the reference makes of its source.
template <class EpilogueT>
struct PartData {
  using Epilogue = EpilogueT;
  using Bias = typename Epilogue::BiasElement;

  Problem problem;
  std::vector<std::int8_t> filter;  // KCRS
  std::vector<float> alpha;
  std::vector<Bias> bias;
  float zero_point = 0.0f, gamma = 1.0f;
  Epilogue epilogue{};
  PackedFilterBuffer<CxRSKx<32>, std::int8_t> packed;
  OperatorMemory<std::int8_t> filter_memory;
  std::optional<OperatorMemory<float>> alpha_memory;  // Rescale makes it anew
  OperatorMemory<Bias> bias_memory;

  PartData(const Problem& p, std::mt19937& engine)
      : problem(p),
        filter(Filter(p, engine)),
        alpha(Alpha(p, engine)),
        bias(Biases(p, engine)),
        packed(PackFilter<CxRSKx<32>>(p.filter(), filter).value()),
        filter_memory({packed.data(), packed.data() + packed.size()}),
        alpha_memory(alpha),
        bias_memory(bias) {}

  static std::vector<std::int8_t> Filter(const Problem& p, std::mt19937& engine) {
    std::vector<std::int8_t> values(static_cast<std::size_t>(p.k * p.c * p.r * p.s));
    for (auto& v : values) v = static_cast<std::int8_t>(Pick(engine, -128, 127));
    return values;
  }
  static std::vector<float> Alpha(const Problem& p, std::mt19937& engine) {
    const double sums = 74.0 * 74.0 * std::sqrt(double(p.c * p.r * p.s));
    std::vector<float> values(static_cast<std::size_t>(p.k));
    for (float& v : values) v = static_cast<float>(double(Pick(engine, 30, 60)) / sums);
    return values;
  }
  std::vector<Bias> Biases(const Problem& p, std::mt19937& engine) const {
    std::vector<Bias> values;
    for (std::int64_t k = 0; k < p.k; ++k) {
      const double steps = double(Pick(engine, -40, 80)) / 4.0;
      const bool sums = Epilogue::kBiasInSum;
      values.push_back(
          static_cast<Bias>(sums ? steps / alpha[static_cast<std::size_t>(k)] : steps));
    }
    return values;
  }

  void Rescale(float all, float of_one) {
    for (float& value : alpha) value *= all;
    alpha[1] *= of_one;
    alpha_memory.emplace(alpha);
  }

  template <class Args>
  void Fill(Args* args) const {
    args->filter = packed.At(filter_memory.get());
    args->channel_alpha = alpha_memory->get();
    args->bias = bias_memory.get();
    args->zero_point = zero_point;
    args->epilogue = epilogue;
  }

  // In NCHW; pixels outside the image are `padding`.
  template <class Src>
  std::vector<typename Epilogue::Output> Want(const std::vector<Src>& src, int padding,
                                              const std::vector<int>& residual = {}) const {
    const Problem& p = problem;
    std::vector<typename Epilogue::Output> dst;
    for (std::int64_t n = 0; n < p.n; ++n) {
      for (std::int64_t k = 0; k < p.k; ++k) {
        for (std::int64_t y = 0; y < p.h; ++y) {
          for (std::int64_t x = 0; x < p.w; ++x) {
            std::int32_t sum = 0;
            for (std::int64_t c = 0; c < p.c; ++c) {
              for (std::int64_t r = 0; r < p.r; ++r) {
                for (std::int64_t s = 0; s < p.s; ++s) {
                  const std::int64_t h = y + r - p.pad_top, w = x + s - p.pad_left;
                  const bool inside = h >= 0 && h < p.h && w >= 0 && w < p.w;
                  const int value =
                      inside
                          ? int{src[static_cast<std::size_t>(((n * p.c + c) * p.h + h) * p.w + w)]}
                          : padding;
                  sum +=
                      value * filter[static_cast<std::size_t>(((k * p.c + c) * p.r + r) * p.s + s)];
                }
              }
            }
            epilogues::StageInputs in;
            in.accumulator = sum;
            in.alpha = alpha[static_cast<std::size_t>(k)];
            if constexpr (Epilogue::kBiasInSum) {
              in.sum_bias = bias[static_cast<std::size_t>(k)];
            } else {
              in.bias = static_cast<float>(bias[static_cast<std::size_t>(k)]);
            }
            in.zero_point = zero_point, in.gamma = gamma;
            if (!residual.empty()) in.residual = static_cast<float>(residual[dst.size()]);
            dst.push_back(epilogue(in, {}));
          }
        }
      }
    }
    return dst;
  }
};
// Where there is no projection.
template <>
struct PartData<void> {
  PartData(const Problem&, std::mt19937&) {}
  void Rescale(float, float) {}
};

template <class Type>
std::vector<Type> ToBlocks(const TensorExtents& e, const std::vector<Type>& nchw) {
  return ConvertTensor<NCHW, NCxHWx<32>, Type>(e, nchw).value();
}

struct BottleneckOptions {
  RunOptions run;
  int padding = 0;
  float second_zero_point = 0.0f;  // of t2; t1's is the padding
  bool filters_are_constant = false;
  float steps = 1.0f;  // factor of all scales
  bool has_odd_one =
      false;  // a channel of each part whose numbers take the way that all numbers may
};

// Sets the numbers of a QuantizedAdd.
template <class Epilogue>
void SetAddition(Epilogue* epilogue, float* gamma) {
  if constexpr (Epilogue::kAddsQuantized) {
    using Add = typename Epilogue::ResidualStage;
    auto& add = epilogue->template Get<Add>();
    add.sum_ratio = 0.71f, add.fixed = 13.25f;
    epilogue->template Get<QuantizeSteps<typename Epilogue::Output>>().zero_point = 7.0f;
    *gamma = 0.43f;
  } else if constexpr (Epilogue::kHasResidual) {
    *gamma = 0.5f;
  }
}

// All data of a block of policy P.
template <class P>
struct BottleneckData {
  using Element = typename P::Element;
  using Output = typename P::Epilogue::Output;

  BottleneckProblem problem;
  BottleneckOptions options;
  std::mt19937 engine;
  std::vector<Element> x;
  PartData<typename P::FirstEpilogue> first;
  PartData<typename P::SecondEpilogue> second;
  PartData<typename P::Projection> projection;
  PartData<typename P::Epilogue> third;
  OperatorMemory<Element> src;
  OperatorMemory<Output> dst;

  BottleneckData(const BottleneckProblem& p, const BottleneckOptions& with)
      : problem(p),
        options(with),
        engine(with.run.seed),
        x(Source(p, engine)),
        first(p.first(), engine),
        second(p.second(), engine),
        projection(p.projection(), engine),
        third(p.third(), engine),
        src(ToBlocks(p.src(), x)),
        dst(std::vector<Output>(static_cast<std::size_t>(p.n * p.k * p.h * p.w), Output{77})) {
    first.Rescale(options.steps, options.has_odd_one ? -1.0f : 1.0f);
    second.Rescale(options.steps, options.has_odd_one ? 1e-3f : 1.0f);
    third.Rescale(options.steps, options.has_odd_one ? 1e3f : 1.0f);
    projection.Rescale(options.steps, options.has_odd_one ? -1.0f : 1.0f);
    first.zero_point = static_cast<float>(options.padding);
    second.zero_point = options.second_zero_point;
    SetAddition(&third.epilogue, &third.gamma);
  }

  static std::vector<Element> Source(const BottleneckProblem& p, std::mt19937& engine) {
    std::vector<Element> values(static_cast<std::size_t>(p.n * p.c * p.h * p.w));
    for (auto& v : values) {
      v = static_cast<Element>(Pick(engine, (std::numeric_limits<Element>::min)(),
                                    (std::numeric_limits<Element>::max)()));
    }
    return values;
  }

  typename Bottleneck<P>::Arguments Args() const {
    typename Bottleneck<P>::Arguments args;
    args.src = src.get();
    first.Fill(&args.first);
    second.Fill(&args.second);
    if constexpr (kProjects<P>) projection.Fill(&args.projection);
    third.Fill(&args);
    args.gamma = third.gamma;
    args.dst = dst.get();
    args.padding = options.padding;
    args.filters_are_constant = options.filters_are_constant;
    return args;
  }

  std::vector<Output> Want() const {
    const auto t1 = first.Want(x, 0);
    const auto t2 = second.Want(t1, options.padding);
    std::vector<int> residual;
    if constexpr (kProjects<P>) {
      const auto bytes = projection.Want(x, 0);
      residual.assign(bytes.begin(), bytes.end());
    } else if constexpr (P::Epilogue::kHasResidual) {
      residual.assign(x.begin(), x.end());
    }
    return ToBlocks(problem.dst(), third.Want(t2, 0, residual));
  }
};

template <class Output>
void ExpectSame(const std::vector<Output>& got, const std::vector<Output>& want) {
  ASSERT_EQ(got.size(), want.size());
  std::size_t wrong = 0, values = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    values += want[i] != want[0];
    if (got[i] == want[i]) continue;
    if (++wrong <= 3) ADD_FAILURE() << "byte " << i << " is " << +got[i] << ", not " << +want[i];
  }
  EXPECT_EQ(wrong, 0u) << "of " << want.size();
  EXPECT_TRUE(want.size() < 64 || values > want.size() / 2) << "the data compare nothing";
}

template <class P>
void ExpectBottleneck(const BottleneckProblem& problem, const BottleneckOptions& options = {}) {
  SCOPED_TRACE(absl::StrCat(ProblemName(problem), " seed ", options.run.seed));
  const auto op = Bottleneck<P>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const BottleneckData<P> data(problem, options);
  const absl::Status status = RunHere(*op, data.Args(), options.run);
  ASSERT_TRUE(status.ok()) << status;
  ExpectSame(data.dst.Read(), data.Want());
}

}  // namespace weft::conv
