// One product of a test: random operands in the operator's memory, and what must come out.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/gemm/table/policies.hpp"
#include "tests/gemm/table/problems.hpp"
#include "tests/gemm/table/sums.hpp"
#include "tests/operator_memory.hpp"
#include "tests/reference/reference.hpp"

namespace weft::gemm::table {

#if defined(WEFT_CUDA_BACKEND)
inline constexpr bool kOnGpu = true;
#else
inline constexpr bool kOnGpu = false;
#endif

// Integers if `exact`, else numbers of many binades; `small`: those whose sums have few bits.
template <class T>
T RandomValue(std::mt19937& engine, bool exact, bool small) {
  const auto byte = static_cast<std::int8_t>(engine() >> 24);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(byte);
  } else if constexpr (kIsComplex<T>) {
    const auto part = [&] { return RandomValue<decltype(T{}.re)>(engine, exact, small); };
    const auto re = part();
    return {re, part()};
  } else {
    double x = small ? byte % 4 : byte;
    if (!exact) {
      x = std::ldexp(x + static_cast<double>(engine() >> 8) * 0x1p-24, int(engine() % 13) - 6);
      if (small) x /= 16.0;
      if (sizeof(T) == 8) x += std::ldexp(static_cast<double>(engine()), -60);
    }
    if constexpr (std::is_class_v<T>) {
      return T::FromFloat(static_cast<float>(x));
    } else {
      return static_cast<T>(x);
    }
  }
}

// Not a number where the type has one: what must not be read.
template <class T>
T Garbage() {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(0x55);
  } else if constexpr (kIsComplex<T>) {
    return {0, std::numeric_limits<decltype(T{}.re)>::quiet_NaN()};
  } else if constexpr (std::is_class_v<T>) {
    return T::FromFloat(std::numeric_limits<float>::quiet_NaN());
  } else {
    return std::numeric_limits<T>::quiet_NaN();
  }
}

template <class T>
void SetNumber(const T& x, std::size_t i, Numbers* numbers) {
  if constexpr (kIsComplex<T>) {
    numbers->re[i] = x.re, numbers->im[i] = x.im;
  } else if constexpr (std::is_class_v<T>) {
    numbers->re[i] = x.ToFloat();
  } else {
    numbers->re[i] = static_cast<double>(x);
  }
}

template <class Load>
Load MakeLoad() {
  Load load{};
  if constexpr (requires { load.zero; }) load.zero = 3.0f;
  return load;
}

// An operand as a kernel reads it, with garbage where there is none, and the numbers that it stands for.
template <class Element, class Load>
struct Matrix {
  using Stored = OperandElement<Element, Load>;
  std::vector<Stored> stored;
  Numbers numbers;

  // used: of each element, whether it is one of the matrix.
  Matrix(std::mt19937& engine, const std::vector<bool>& used, const Values& values, bool small) {
    numbers.re.resize(used.size());
    if (kIsComplex<Element>) numbers.im.resize(used.size());
    if constexpr (!kLoads<Load>) {
      using Type = StoredElement<Element>;
      stored.assign(used.size(), Garbage<Stored>());
      for (std::size_t i = 0; i < used.size(); ++i) {
        if (!used[i]) continue;
        stored[i] = RandomValue<Type>(engine, values.exact, small);
        if constexpr (std::is_same_v<Element, Type>) {
          SetNumber(stored[i], i, &numbers);
        } else {
          SetNumber(Element{stored[i]}, i, &numbers);
        }
      }
    } else {
      using Source = internal::LoadSource<typename Load::Source>;
      const Load load = MakeLoad<Load>();
      // Garbage of 4 bits is 7, of 8-bit floats NaN.
      std::vector<std::uint8_t> bytes(
          BytesOfElements<Source::kBits>(static_cast<std::int64_t>(used.size())), 0x7f);
      for (std::size_t i = 0; i < used.size(); ++i) {
        if (!used[i]) continue;
        auto bits = static_cast<std::uint8_t>(engine() >> 24);
        if constexpr (std::is_class_v<typename Source::Value>) {
          bits = Source::Value::FromFloat(static_cast<float>(bits % 9) - 4.0f).bits;
        }
        if constexpr (Source::kBits == 4) {
          const int shift = static_cast<int>(i % 2) * 4;
          std::uint8_t& byte = bytes[i / 2];
          byte = static_cast<std::uint8_t>((byte & ~(15 << shift)) | (bits & 15) << shift);
        } else {
          bytes[i] = bits;
        }
        SetNumber<Element>(load(Source::FromBits(bits)), i, &numbers);
      }
      stored.resize(bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) stored[i] = std::bit_cast<Stored>(bytes[i]);
    }
  }
};

// Of `batch` matrices of `lines` lines of `length` elements, the elements that they have.
inline std::vector<bool> UsedElements(std::int64_t lines, std::int64_t length, std::int64_t pitch,
                                      std::int64_t batch, std::int64_t stride) {
  if (batch == 0) return {};
  std::vector<bool> used((batch - 1) * stride + lines * pitch);
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < lines; ++i) {
      for (std::int64_t j = 0; j < length; ++j) used[b * stride + i * pitch + j] = true;
    }
  }
  return used;
}

template <class T>
T WholeNumber(std::uint32_t x) {
  if constexpr (kFloat16<T>) {
    return T::FromFloat(static_cast<float>(x));
  } else if constexpr (kIsComplex<T>) {
    return {static_cast<decltype(T{}.re)>(x), static_cast<decltype(T{}.re)>(x % 7)};
  } else {
    return static_cast<T>(x);
  }
}

template <class Element, class Epilogue, class LoadA, class LoadB>
class Product {
 public:
  using Output = typename Epilogue::Output;
  using SumType = typename SumOf<Element>::type;
  using Value = typename Epilogue::Value;
  using BiasElement = typename Epilogue::BiasElement;
  using ResidualElement = typename Epilogue::ResidualElement;
  static constexpr bool kSameElement = std::is_same_v<Output, ResidualElement>;

  // p: problem.product with its leading dimensions and strides. number: of the product in a list.
  Product(const GemmProblem& p, const Problem& problem, const Facts& facts, std::uint32_t seed,
          int number)
      : p_(p),
        facts_(facts),
        // Other epilogues round once more.
        exact_(problem.values.exact || (facts.step > 0.0 && !Epilogue::OutputStage::kOnlySums)),
        in_place_(Epilogue::kHasResidual && kSameElement && problem.values.in_place),
        number_(number),
        group_offsets_(problem.group_offsets),
        engine_(seed),
        a_(engine_,
           facts.a_k_major ? UsedElements(p.m, p.k, p.lda, p.batch, p.stride_a)
                           : UsedElements(p.k, p.m, p.lda, p.batch, p.stride_a),
           {exact_, false}, facts.small_values),
        b_(engine_,
           facts.b_k_major ? UsedElements(p.n, p.k, p.ldb, p.batch, p.stride_b)
                           : UsedElements(p.k, p.n, p.ldb, p.batch, p.stride_b),
           {exact_, false}, facts.small_values) {
    bias_.resize(p_.n * (p_.own_bias ? p_.batch : 1));
    for (BiasElement& x : bias_) {
      x = static_cast<BiasElement>(static_cast<int>(engine_() % 41) - 20);
    }
    alphas_.resize(bias_.size());
    for (Value& x : alphas_) x = Alpha(static_cast<int>(1 + engine_() % 3));
    slopes_.resize(bias_.size());
    for (float& x : slopes_) x = static_cast<float>(engine_() % 41) * 0.125f - 2.0f;
    const std::int64_t size =
        p_.batch == 0 ? 0
                      : (p_.batch - 1) * p_.stride_c + (facts.row_major_c ? p_.m : p_.n) * p_.ldc;
    residual_.resize(size);
    for (auto& x : residual_) x = WholeNumber<ResidualElement>(engine_() % 100);
    before_.assign(size, Output{});
    if constexpr (kSameElement) {
      if (in_place_) before_ = residual_;
    }
    a_memory_.emplace(a_.stored), b_memory_.emplace(b_.stored), bias_memory_.emplace(bias_);
    residual_memory_.emplace(residual_), c_memory_.emplace(before_);
    alphas_memory_.emplace(alphas_), group_offsets_memory_.emplace(group_offsets_);
    slopes_memory_.emplace(slopes_);
  }

  template <class Arguments>
  Arguments Args() const {
    Arguments args;
    args.a = a_memory_->get(), args.b = b_memory_->get(), args.c = c_memory_->get();
    args.load_a = MakeLoad<LoadA>(), args.load_b = MakeLoad<LoadB>();
    if (!group_offsets_.empty()) args.group_offsets = group_offsets_memory_->get();
    if constexpr (Epilogue::kHasScale) {
      if (p_.own_bias) {
        args.channel_alpha = alphas_memory_->get();
      } else {
        args.alpha = Alpha(1);
      }
    }
    if constexpr (Epilogue::kHasBias) args.bias = bias_memory_->get();
    if constexpr (kScaledBias) args.beta = kBeta;
    if constexpr (Epilogue::kHasOutputScale) args.output_scale = kOutputScale;
    if constexpr (Epilogue::kHasChannelValues) {
      args.epilogue.template Get<epilogues::PRelu>().slope = slopes_memory_->get();
    }
    if constexpr (Epilogue::kHasResidual) {
      args.gamma = Gamma();
      args.residual = residual_memory_->get();
      if constexpr (kSameElement) {
        if (in_place_) args.residual = c_memory_->get();
      }
    }
    return args;
  }

  std::vector<Output> Result() const { return c_memory_->Read(); }

  void ExpectResult() const {
    std::vector<Output> want = before_;  // the gaps of C stay as they were
    const std::vector<Output> got = c_memory_->Read();
    for (std::int64_t b = 0; b < p_.batch; ++b) {
      const std::int64_t begin = group_offsets_.empty() || b == 0 ? 0 : group_offsets_[b - 1];
      const std::int64_t end = group_offsets_.empty() ? p_.m : group_offsets_[b];
      const std::vector<Sum> sums = SumsOf(facts_, p_, a_.numbers, b_.numbers, b, begin, end);
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t j = 0; j < p_.n; ++j) {
          const Sum& sum = sums[(i - begin) * p_.n + j];
          const std::int64_t at =
              b * p_.stride_c + (facts_.row_major_c ? i * p_.ldc + j : j * p_.ldc + i);
          want[at] = Wanted(sum, b, i, j, at);
          if (facts_.step > 0.0 && !exact_) ExpectNear(sum, i, j, got[at], &want[at]);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
    EXPECT_EQ(got, want);
  }

 private:
  static constexpr bool kScaledBias = Epilogue::kHasBias && !Epilogue::kBiasInSum;
  static constexpr float kBeta = 0.5f, kOutputScale = 0.7f;
  // Of doubles and complex numbers some that no float is.
  static Value Alpha(int factor) {
    if constexpr (kIsComplex<Value>) {
      using Real = decltype(Value{}.re);
      return {Real(0.3) * static_cast<Real>(factor), Real(-0.7)};
    } else if constexpr (std::is_same_v<Value, double>) {
      return factor / 3.0;
    } else {
      return 0.25f * static_cast<float>(factor);
    }
  }
  static Value Gamma() {
    if constexpr (kIsComplex<Value>) {
      using Real = decltype(Value{}.re);
      return {Real(1.1), Real(0.4)};
    } else {
      return Value(std::is_same_v<Value, double> ? 0.1 : 2.0);
    }
  }

  Output Wanted(const Sum& sum, std::int64_t b, std::int64_t i, std::int64_t j,
                std::int64_t at) const {
    const std::int64_t value = j + (p_.own_bias ? b * p_.n : 0);
    epilogues::StageInputsOf<SumType> in;
    if constexpr (kIsComplex<SumType>) {
      using Real = decltype(SumType{}.re);
      in.accumulator = {static_cast<Real>(sum.re), static_cast<Real>(sum.im)};
    } else {
      in.accumulator = static_cast<SumType>(sum.re);
    }
    in.alpha = Value{1}, in.gamma = Value{1};
    if (Epilogue::kHasScale) in.alpha = p_.own_bias ? alphas_[value] : Alpha(1);
    if constexpr (Epilogue::kBiasInSum) in.sum_bias = bias_[value];
    if constexpr (kScaledBias) in.bias = bias_[value], in.beta = kBeta;
    if constexpr (Epilogue::kHasOutputScale) in.inverse_output_scale = 1.0f / kOutputScale;
    if constexpr (Epilogue::kHasChannelValues) in.channel_value = slopes_[value];
    if constexpr (Epilogue::kHasResidual) {
      in.gamma = Gamma();
      if constexpr (kFloat16<ResidualElement>) {
        in.residual = residual_[at].ToFloat();
      } else {
        in.residual = static_cast<Value>(residual_[at]);
      }
    }
    return Epilogue{}(
        in,
        {.n = b + number_, .k = static_cast<std::int32_t>(j), .q = static_cast<std::int32_t>(i)});
  }

  // Sums in any order, each product and each partial sum rounded or truncated once. alpha is less than 1.
  void ExpectNear(const Sum& sum, std::int64_t i, std::int64_t j, const Output& got,
                  Output* want) const {
    const double bound = static_cast<double>(p_.k + 1) * (sum.magnitude + 0x1p-14) * facts_.step;
    if constexpr (kIsComplex<Output>) {
      const double rest = 200.0 * facts_.step;  // of the residual's
      ASSERT_NEAR(got.re, want->re, bound + rest) << "at " << i << ", " << j;
      ASSERT_NEAR(got.im, want->im, bound + rest) << "at " << i << ", " << j;
    } else if constexpr (std::is_same_v<Output, double>) {
      ASSERT_NEAR(got, *want, bound + std::abs(*want) * facts_.step) << "at " << i << ", " << j;
    } else if constexpr (std::is_same_v<Output, float>) {
      ASSERT_NEAR(got, sum.exact, bound) << "at " << i << ", " << j;
    }
    *want = got;
  }

  GemmProblem p_;
  Facts facts_;
  bool exact_, in_place_;
  int number_;
  std::vector<std::int32_t> group_offsets_;
  std::mt19937 engine_;
  Matrix<Element, LoadA> a_;
  Matrix<ElementOfB<Element>, LoadB> b_;
  std::vector<BiasElement> bias_;
  std::vector<Value> alphas_;
  std::vector<float> slopes_;
  std::vector<ResidualElement> residual_;
  std::vector<Output> before_;
  std::optional<OperatorMemory<OperandElement<Element, LoadA>>> a_memory_;
  std::optional<OperatorMemory<OperandElement<ElementOfB<Element>, LoadB>>> b_memory_;
  std::optional<OperatorMemory<BiasElement>> bias_memory_;
  std::optional<OperatorMemory<Value>> alphas_memory_;
  std::optional<OperatorMemory<float>> slopes_memory_;
  std::optional<OperatorMemory<std::int32_t>> group_offsets_memory_;
  std::optional<OperatorMemory<ResidualElement>> residual_memory_;
  std::optional<OperatorMemory<Output>> c_memory_;
};

}  // namespace weft::gemm::table
