// Products of which an operand has a load functor, against plain loops.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/gemm/product.hpp"
#include "weft/gemm/dispatch.hpp"
#include "weft/gemm/ready_made.hpp"

namespace weft::gemm {

// A zero point: not 0 where memory is.
template <class Element, class From>
struct LessZero {
  using Source = From;
  float zero = 0.0f;
  constexpr Element operator()(typename internal::LoadSource<From>::Value x) const {
    return Element::FromFloat(static_cast<float>(x) - zero);
  }
};

template <class Element, class A, class B, class C, class LoadAT, class LoadBT, class Tile,
          class Epilogue = Chain<ToSums<typename SumOf<Element>::type>>>
struct MixedPolicy : TypedGemm<Element, A, B, C, Epilogue, Tile> {
  using LoadA = LoadAT;
  using LoadB = LoadBT;
};

namespace {

constexpr float kZero = 3.0f;
template <class Load>
Load WithZero() {
  Load load{};
  if constexpr (requires { load.zero; }) load.zero = kZero;
  return load;
}

template <class Element>
double NumberOf(Element x) {
  if constexpr (std::is_class_v<Element>) {
    return x.ToFloat();
  } else {
    return x;
  }
}

// An operand in memory, with garbage where there is none, and the numbers that it stands for.
template <class Element, class Load>
struct MixedMatrix {
  using Stored = OperandElement<Element, Load>;
  std::vector<Stored> stored;
  std::vector<double> number;

  // `count` elements, of which those are used whose place(i) is.
  template <class Used>
  MixedMatrix(std::mt19937& engine, std::int64_t count, bool exact, const Used& used) {
    number.resize(count);
    if constexpr (!kLoads<Load>) {
      stored = Values<Element>(engine, count, exact);
      for (std::int64_t i = 0; i < count; ++i) {
        number[i] = NumberOf(stored[i]);
        if (!used(i)) stored[i] = Garbage<Element>();
      }
    } else {
      using Source = internal::LoadSource<typename Load::Source>;
      const Load load = WithZero<Load>();
      std::vector<std::uint8_t> bytes(BytesOfElements<Source::kBits>(count), 0x7f);
      for (std::int64_t i = 0; i < count; ++i) {
        // Garbage of 4 bits is 7; of 8-bit floats NaN.
        if (!used(i)) continue;
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
        number[i] = NumberOf<Element>(load(Source::FromBits(bits)));
      }
      stored.resize(bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) stored[i] = std::bit_cast<Stored>(bytes[i]);
    }
  }
};

template <class P>
void ExpectMixed(const GemmProblem& problem, std::uint32_t seed, bool exact,
                 const std::vector<std::int32_t>& group_offsets = {}) {
  using Element = typename P::Element;
  using Output = typename P::Epilogue::Output;
  SCOPED_TRACE(absl::StrCat("m", problem.m, " n", problem.n, " k", problem.k, " batch ",
                            problem.batch, " seed ", seed));
  const auto op = Gemm<P>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const GemmProblem p = op->problem();
  constexpr Orders kOrders = kOrdersOf<P>;
  std::mt19937 engine(seed);
  // Of all products: the elements from the first to the last, whole lines.
  const auto make = [&]<class T, class Load>(std::type_identity<T>, std::type_identity<Load>,
                                             bool lines, std::int64_t extent, std::int64_t pitch,
                                             std::int64_t stride) {
    const std::int64_t count = (p.batch - 1) * stride + (lines ? extent : p.k) * pitch;
    std::vector<bool> used(count);
    for (std::int64_t b = 0; b < p.batch; ++b) {
      for (std::int64_t x = 0; x < extent; ++x) {
        for (std::int64_t k = 0; k < p.k; ++k) {
          used[b * stride + (lines ? x * pitch + k : k * pitch + x)] = true;
        }
      }
    }
    return MixedMatrix<T, Load>(engine, count, exact, [&](std::int64_t i) { return used[i]; });
  };
  using LoadA = LoadOf<P, true>;
  using LoadB = LoadOf<P, false>;
  const auto a = make(std::type_identity<Element>(), std::type_identity<LoadA>(),
                      kOrders.lines_of_a, p.m, p.lda, p.stride_a);
  const auto b = make(std::type_identity<ElementOfB<Element>>(), std::type_identity<LoadB>(),
                      kOrders.lines_of_b, p.n, p.ldb, p.stride_b);
  const std::int64_t c_size =
      (p.batch - 1) * p.stride_c + (kOrders.row_major_c ? p.m : p.n) * p.ldc;
  std::vector<Output> want(c_size);
  std::vector<float> alphas(p.n);
  for (float& x : alphas) x = 0.25f * static_cast<float>(1 + engine() % 3);
  const OperatorMemory<OperandElement<Element, LoadA>> a_memory(a.stored);
  const OperatorMemory<OperandElement<Element, LoadB>> b_memory(b.stored);
  const OperatorMemory<Output> c_memory(want);
  const OperatorMemory<float> alphas_memory(alphas);
  const OperatorMemory<std::int32_t> group_offsets_memory(group_offsets);
  typename Gemm<P>::Arguments args;
  args.a = a_memory.get(), args.b = b_memory.get(), args.c = c_memory.get();
  args.load_a = WithZero<LoadA>(), args.load_b = WithZero<LoadB>();
  if constexpr (P::Epilogue::kHasScale) args.channel_alpha = alphas_memory.get();
  if (!group_offsets.empty()) args.group_offsets = group_offsets_memory.get();
  RunHere(*op, args, static_cast<int>(seed));
  if (testing::Test::HasFatalFailure()) return;
  const std::vector<Output> got = c_memory.Read();
  for (std::int64_t g = 0; g < p.batch; ++g) {
    const std::int64_t begin = group_offsets.empty() || g == 0 ? 0 : group_offsets[g - 1];
    const std::int64_t end = group_offsets.empty() ? p.m : group_offsets[g];
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0.0, magnitude = 0.0;
        for (std::int64_t k = 0; k < p.k; ++k) {
          const double product =
              a.number[g * p.stride_a + (kOrders.lines_of_a ? i * p.lda + k : k * p.lda + i)] *
              b.number[g * p.stride_b + (kOrders.lines_of_b ? j * p.ldb + k : k * p.ldb + j)];
          sum += product, magnitude += std::abs(product);
        }
        const std::int64_t at =
            g * p.stride_c + (kOrders.row_major_c ? i * p.ldc + j : j * p.ldc + i);
        if constexpr (std::is_same_v<Output, float>) {
          if (!exact) {
            ASSERT_NEAR(got[at], sum, (p.k + 1) * magnitude * 0x1p-23) << "at " << i << ", " << j;
            want[at] = got[at];
            continue;
          }
        }
        using Sum = typename SumOf<Element>::type;
        epilogues::StageInputsOf<Sum> in;
        in.accumulator = static_cast<Sum>(sum);
        if constexpr (P::Epilogue::kHasScale) in.alpha = alphas[j];
        want[at] = typename P::Epilogue{}(in, {});
      }
    }
  }
  EXPECT_EQ(got, want);
}

// Ragged sizes, dense or with longer lines.
template <class P>
void ExpectRandomMixed(std::uint32_t seed, bool exact = true, int problems = 6) {
  constexpr int kLoadA = kOperandAccess<P, true>, kLoadB = kOperandAccess<P, false>;
  constexpr int kStore =
      P::config.alignment.dst / static_cast<int>(sizeof(typename P::Epilogue::Output));
  constexpr Orders kOrders = kOrdersOf<P>;
  std::mt19937 engine(seed);
  const int count = ProblemsHere(problems);
  for (int i = 0; i <= count; ++i) {
    GemmProblem p;
    p.m = 1 + engine() % 150, p.n = 1 + engine() % 150, p.k = 1 + engine() % 150;
    if (i == count) p.k = 0;  // C is the epilogue of 0
    if (kOrders.row_major_c) p.n = RoundUp(p.n, kStore);
    p.lda = RoundUp(kOrders.lines_of_a ? p.k : p.m, kLoadA) + i % 2 * kLoadA;
    p.ldb = RoundUp(kOrders.lines_of_b ? p.k : p.n, kLoadB) + i % 2 * 3 * kLoadB;
    p.ldc = (kOrders.row_major_c ? p.n : p.m) + i % 2 * kStore;
    ExpectMixed<P>(p, seed + i, exact);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace weft::gemm
