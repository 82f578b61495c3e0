// Products of random matrices of every element type and layout, against plain loops.
//
// Bytes are compared exactly, float and double bit for bit with one fma for each k in ascending
// order, of each part where warps share k tiles. The sums of other floats on tensor cores, and on a GPU's those of
// double, are not defined to the bit: integers that every order sums exactly are compared exactly, other values
// within the bound that follows from one truncation of each product and partial sum.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/gemm/gemm_types_policies.hpp"
#include "tests/kinds.hpp"
#include "tests/operator_memory.hpp"
#include "tests/reference/reference.hpp"

#if !defined(WEFT_CUDA_BACKEND)
#include "tests/gemm/arch/harness.hpp"
#endif

namespace weft::gemm {

namespace {

template <class T>
inline constexpr bool kSmallFloat = kFloat16<T> || kTensorFloat<T>;

// What a product of Ts reads of x.
template <class T>
double ValueOf(StoredElement<T> x) {
  if constexpr (kSmallFloat<T>) {
    return T{x}.ToFloat();
  } else {
    return x;
  }
}

// Integers if `exact`, else values of many binades.
template <class T>
std::vector<StoredElement<T>> Values(std::mt19937& engine, std::int64_t count, bool exact) {
  std::vector<StoredElement<T>> v(count);
  for (auto& x : v) {
    const auto byte = static_cast<std::int8_t>(engine() >> 24);
    if constexpr (kByte<T>) {
      x = static_cast<T>(byte);
    } else {
      // Of 8 bits those whose sums have few bits.
      float f = static_cast<float>(sizeof(T) == 1 ? byte % 5 : byte);
      if (!exact) {
        f = std::ldexp(f + static_cast<float>(engine() >> 8) * 0x1p-24f, int(engine() % 13) - 6);
      }
      if constexpr (std::is_class_v<StoredElement<T>>) {
        x = T::FromFloat(f);
      } else {
        x = f;
        if (sizeof(T) == 8 && !exact)
          x += static_cast<StoredElement<T>>(std::ldexp(double(engine()), -60));
      }
    }
  }
  return v;
}

template <class T>
T Whole(std::uint32_t x) {
  if constexpr (kFloat16<T>) {
    return T::FromFloat(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

// Not a number where the type has one: what must not be read.
template <class T>
T Garbage() {
  if constexpr (kByte<T>) {
    return 0x55;
  } else if constexpr (kSmallFloat<T>) {
    return T::FromFloat(std::numeric_limits<float>::quiet_NaN());
  } else {
    return std::numeric_limits<T>::quiet_NaN();
  }
}

// `batch` matrices of major x minor elements, stride apart, with garbage around them.
template <class T>
std::vector<StoredElement<T>> Padded(std::mt19937& engine, std::int64_t major, std::int64_t minor,
                                     std::int64_t pitch, std::int64_t batch, std::int64_t stride,
                                     bool exact) {
  std::vector<StoredElement<T>> v = Values<T>(engine, (batch - 1) * stride + major * pitch, exact);
  std::vector<bool> used(v.size());
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < major; ++i) {
      for (std::int64_t j = 0; j < minor; ++j) used[b * stride + i * pitch + j] = true;
    }
  }
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (!used[i]) v[i] = Garbage<StoredElement<T>>();
  }
  return v;
}

// Runs args on the back end at hand, under one of the CPU's schedules; run(): on the GPU.
template <class Op, class Arguments, class RunFunction>
void LaunchBy(const Op& op, const Arguments& args, int schedule, const RunFunction& run) {
#if defined(WEFT_CUDA_BACKEND)
  (void)op, (void)args, (void)schedule;
  const absl::Status status = run();
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  (void)run;
  const auto all = arch::testing::AllSchedules();
  const absl::Status status = op.RunOnCpu(args, all[schedule % all.size()]);
  ASSERT_TRUE(status.ok()) << status;
#endif
}

template <class Op>
void RunHere(const Op& op, const typename Op::Arguments& args, int schedule) {
  LaunchBy(op, args, schedule, [&] { return op.Run(args, nullptr); });
}

// The layouts of a product as values: what does not depend on a policy is compiled once for many.
struct Orders {
  bool lines_of_a, lines_of_b, row_major_c;
  int k_tile = 1, part = 1;  // of k, each part of which is added up by itself
};
template <class P>
constexpr Orders kOrdersOf = {kKMajorA<P>, kKMajorB<P>,
                              std::is_same_v<typename P::LayoutC, RowMajor>,
                              P::config.threadblock.k, P::config.warp.k};

// Random operands in the operator's memory, and what must come out.
template <class Element, class Epilogue>
class Product {
 public:
  using Output = typename Epilogue::Output;
  using Stored = StoredElement<Element>;
  using StoredB = StoredElement<ElementOfB<Element>>;
  using Sum = typename SumOf<Element>::type;
  using Value = typename Epilogue::Value;
  using ResidualElement = typename decltype([] {
    if constexpr (Epilogue::kHasResidual) {
      return std::type_identity<typename Epilogue::ResidualElement>();
    } else {
      return std::type_identity<std::int8_t>();
    }
  }())::type;
  static constexpr bool kSameElement = std::is_same_v<Output, ResidualElement>;
  // What neighbouring partial sums differ by, in parts of them.
  static constexpr double kStep = sizeof(Element) == 1   ? 0x1p-12
                                  : sizeof(Element) == 8 ? 0x1p-52
                                                         : 0x1p-23;

  // ends: of the groups, with Grouped. ordered: sums of doubles are one fma for each k in ascending order.
  Product(const GemmProblem& problem, Orders orders, std::uint32_t seed, bool exact, bool in_place,
          const std::vector<std::int32_t>& group_offsets = {}, bool ordered = true)
      : p_(problem),
        orders_(orders),
        exact_(exact),
        in_place_(in_place && kSameElement),
        group_offsets_(group_offsets),
        ordered_(ordered) {
    std::mt19937 engine(seed);
    const auto matrix = [&]<class T>(std::type_identity<T>, bool lines, std::int64_t extent,
                                     std::int64_t pitch, std::int64_t stride) {
      return Padded<T>(engine, lines ? extent : p_.k, lines ? p_.k : extent, pitch, p_.batch,
                       stride, exact);
    };
    a_ = matrix(std::type_identity<Element>(), orders.lines_of_a, p_.m, p_.lda, p_.stride_a);
    b_ = matrix(std::type_identity<ElementOfB<Element>>(), orders.lines_of_b, p_.n, p_.ldb,
                p_.stride_b);
    bias_.resize(p_.n * (p_.own_bias ? p_.batch : 1));
    for (float& x : bias_) x = static_cast<float>(engine() % 41) - 20.0f;
    alphas_.resize(bias_.size());
    for (Value& x : alphas_) x = kAlpha * static_cast<float>(1 + engine() % 3);
    const std::int64_t c_size =
        (p_.batch - 1) * p_.stride_c + (orders.row_major_c ? p_.m : p_.n) * p_.ldc;
    residual_.resize(c_size);
    for (auto& x : residual_) x = Whole<ResidualElement>(engine() % 100);
    before_.resize(c_size);
    if constexpr (kSameElement) {
      if (in_place) before_ = residual_;
    }
    a_memory_.emplace(a_), b_memory_.emplace(b_), bias_memory_.emplace(bias_);
    residual_memory_.emplace(residual_), c_memory_.emplace(before_);
    alphas_memory_.emplace(alphas_), group_offsets_memory_.emplace(group_offsets_);
  }

  template <class Arguments>
  Arguments Args() const {
    Arguments args;
    args.a = a_memory_->get(), args.b = b_memory_->get(), args.c = c_memory_->get();
    if (!group_offsets_.empty()) args.group_offsets = group_offsets_memory_->get();
    if constexpr (Epilogue::kHasScale) {
      if (p_.own_bias) {
        args.channel_alpha = alphas_memory_->get();
      } else {
        args.alpha = kAlpha;
      }
    }
    if constexpr (Epilogue::kHasBias) args.bias = bias_memory_->get(), args.beta = kBeta;
    if constexpr (Epilogue::kHasResidual) {
      args.gamma = kGamma;
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
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t j = 0; j < p_.n; ++j) ExpectOutput(b, i, j, got, want);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    EXPECT_EQ(got, want);
  }

 private:
  void ExpectOutput(std::int64_t b, std::int64_t i, std::int64_t j, const std::vector<Output>& got,
                    std::vector<Output>& want) const {
    const auto [sum, exact_sum, magnitude] =
        Accumulate(a_.data() + b * p_.stride_a, b_.data() + b * p_.stride_b, i, j);
    const std::int64_t at =
        b * p_.stride_c + (orders_.row_major_c ? i * p_.ldc + j : j * p_.ldc + i);
    if constexpr (kSmallFloat<Element> && std::is_same_v<Output, float>) {
      if (!exact_) {
        ASSERT_NEAR(got[at], exact_sum, (p_.k + 1) * magnitude * kStep) << "at " << i << ", " << j;
        want[at] = got[at];
        return;
      }
    }
    const std::int64_t value = j + (p_.own_bias ? b * p_.n : 0);
    epilogues::StageInputsOf<Sum> in;
    in.accumulator = sum;
    in.alpha = !Epilogue::kHasScale ? 1.0f : p_.own_bias ? alphas_[value] : kAlpha;
    in.beta = Epilogue::kHasBias ? kBeta : 1.0f;
    in.gamma = Epilogue::kHasResidual ? kGamma : 1.0f;
    in.bias = bias_[value], in.residual = ResidualOf(residual_[at]);
    want[at] = Epilogue{}(in, {});
    if constexpr (std::is_same_v<Element, double>) {
      if (exact_ || ordered_) return;
      // alpha is less than 1
      ASSERT_NEAR(got[at], want[at], ((p_.k + 1) * magnitude + std::abs(want[at])) * kStep)
          << "at " << i << ", " << j;
      want[at] = got[at];
    }
  }
  static Value ResidualOf(ResidualElement x) {
    if constexpr (kFloat16<ResidualElement>) {
      return x.ToFloat();
    } else {
      return static_cast<Value>(x);
    }
  }
  struct Sums {
    Sum sum;
    double exact, magnitude;  // of kSmallFloat and, the latter, of double
  };
  // The products behind output (i, j).
  WEFT_REFERENCE_LOOPS Sums Accumulate(const Stored* a, const StoredB* b, std::int64_t i,
                                       std::int64_t j) const {
    Sums s = {};
    for (std::int64_t first = 0; first < orders_.k_tile; first += orders_.part) {
      Sum sum = {};
      for (std::int64_t begin = first; begin < p_.k; begin += orders_.k_tile) {
        for (std::int64_t k = begin; k < std::min(p_.k, begin + orders_.part); ++k) {
          const Stored x = a[orders_.lines_of_a ? i * p_.lda + k : k * p_.lda + i];
          const StoredB y = b[orders_.lines_of_b ? j * p_.ldb + k : k * p_.ldb + j];
          if constexpr (kByte<Element>) {
            sum += Sum{x} * y;
          } else if constexpr (kSmallFloat<Element>) {
            s.exact += ValueOf<Element>(x) * ValueOf<Element>(y);
            s.magnitude += std::abs(ValueOf<Element>(x) * ValueOf<Element>(y));
          } else {
            sum = std::fma(x, y, sum);
            s.magnitude += std::abs(double{x} * y);
          }
        }
      }
      s.sum = first == 0 ? sum : s.sum + sum;
    }
    if constexpr (kSmallFloat<Element>) s.sum = static_cast<float>(s.exact);
    return s;
  }

  static constexpr float kAlpha = 0.25f, kBeta = 0.5f, kGamma = 2.0f;

  GemmProblem p_;
  Orders orders_;
  bool exact_, in_place_;
  std::vector<Stored> a_;
  std::vector<StoredB> b_;
  std::vector<float> bias_;
  std::vector<Value> alphas_;
  std::vector<std::int32_t> group_offsets_;
  bool ordered_;
  std::vector<ResidualElement> residual_;
  std::vector<Output> before_;
  std::optional<OperatorMemory<Stored>> a_memory_;
  std::optional<OperatorMemory<StoredB>> b_memory_;
  std::optional<OperatorMemory<float>> bias_memory_;
  std::optional<OperatorMemory<Value>> alphas_memory_;
  std::optional<OperatorMemory<std::int32_t>> group_offsets_memory_;
  std::optional<OperatorMemory<ResidualElement>> residual_memory_;
  std::optional<OperatorMemory<Output>> c_memory_;
};

// Whether sums of doubles are defined to the bit here.
#if defined(WEFT_CUDA_BACKEND)
template <class P>
inline constexpr bool kOrdered = P::config.kMainloop != Mainloop::kMmaSm80;
#else
template <class P>
inline constexpr bool kOrdered = true;
#endif

template <class P>
void ExpectProduct(const GemmProblem& problem, std::uint32_t seed, bool exact,
                   bool in_place = false, const std::vector<std::int32_t>& group_offsets = {}) {
  SCOPED_TRACE(absl::StrCat("m", problem.m, " n", problem.n, " k", problem.k, " batch ",
                            problem.batch, " seed ", seed));
  const auto op = Gemm<P>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const Product<typename P::Element, typename P::Epilogue> product(
      op->problem(), kOrdersOf<P>, seed, exact, in_place, group_offsets, kOrdered<P>);
  RunHere(*op, product.template Args<typename Gemm<P>::Arguments>(), static_cast<int>(seed));
  if (!testing::Test::HasFatalFailure()) product.ExpectResult();
}

// The next of an engine's problems: ragged sizes, dense or with padded leading dimensions. Loads and
// stores in elements.
inline GemmProblem RandomProblem(std::mt19937& engine, Orders orders, int load, int store, bool pad,
                                 int most_k) {
  GemmProblem p;
  p.m = 1 + engine() % 150, p.n = 1 + engine() % 150, p.k = 1 + engine() % most_k;
  if (orders.row_major_c) p.n = RoundUp(p.n, store);
  p.lda = RoundUp(orders.lines_of_a ? p.k : p.m, load) + pad * load;
  p.ldb = RoundUp(orders.lines_of_b ? p.k : p.n, load) + pad * 3 * load;
  p.ldc = (orders.row_major_c ? p.n : p.m) + pad * store;
  return p;
}

template <class P>
void ExpectRandom(std::uint32_t seed, bool exact = true, int problems = 16, int most_k = 200) {
  constexpr int kLoad = P::config.alignment.src / static_cast<int>(sizeof(typename P::Element));
  constexpr int kStore =
      P::config.alignment.dst / static_cast<int>(sizeof(typename P::Epilogue::Output));
  std::mt19937 engine(seed);
  for (int i = 0; i < ProblemsHere(problems); ++i) {
    const GemmProblem p = RandomProblem(engine, kOrdersOf<P>, kLoad, kStore, i % 2 == 1, most_k);
    ExpectProduct<P>(p, seed + i, exact);
    if (testing::Test::HasFailure()) return;
  }
  // Of sums of nothing C is the epilogue of 0.
  GemmProblem p = RandomProblem(engine, kOrdersOf<P>, kLoad, kStore, true, most_k);
  p.k = 0;
  ExpectProduct<P>(p, seed + problems, exact);
}

template <class Element, class Sum, class A, class B, class C, class Tile>
void ExpectSums(std::uint32_t seed, bool exact, int problems = 6, int most_k = 200) {
  ExpectRandom<TypedGemm<Element, A, B, C, Chain<ToSums<Sum>>, Tile>>(seed, exact, problems,
                                                                      most_k);
}

// Every two of the three layouts together: the operands do not know of each other, nor the store of
// them.
template <class Element, class Sum, class Tile>
void ExpectAllLayouts(std::uint32_t seed, bool exact = true) {
  ExpectSums<Element, Sum, RowMajor, ColumnMajor, RowMajor, Tile>(seed, exact);
#if WEFT_ONE_OF_EACH_KIND  // each layout of each matrix
  ExpectSums<Element, Sum, ColumnMajor, RowMajor, ColumnMajor, Tile>(seed + 10, exact);
#else
  ExpectSums<Element, Sum, RowMajor, RowMajor, ColumnMajor, Tile>(seed + 10, exact);
  ExpectSums<Element, Sum, ColumnMajor, ColumnMajor, ColumnMajor, Tile>(seed + 20, exact);
  ExpectSums<Element, Sum, ColumnMajor, RowMajor, RowMajor, Tile>(seed + 30, exact);
#endif
}

// Each layout of each matrix once: for tiles, accesses and types of mainloops that run all above.
template <class Element, class Sum, class Tile>
void ExpectEachLayout(std::uint32_t seed, bool exact = true) {
  ExpectSums<Element, Sum, RowMajor, ColumnMajor, RowMajor, Tile>(seed, exact, 12);
  ExpectSums<Element, Sum, ColumnMajor, RowMajor, ColumnMajor, Tile>(seed + 10, exact, 12);
}

}  // namespace
}  // namespace weft::gemm
