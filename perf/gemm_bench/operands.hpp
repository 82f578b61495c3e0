// The operands of gemm_bench's products.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/gemm_bench/elements.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/parallel.hpp"
#include "weft/gemm/policy/gemm_policy.hpp"

namespace weft::perf {

// A, B and C of a product.
struct Set {
  DeviceBuffer a, b, c;
  // What we read where it is not what the peer does.
  DeviceBuffer a_memory, b_memory;
};

// Of a policy: s8; f16_sums_f16 of halves whose sums are halves; f16_to_f16 where C holds sums that were
// rounded. Where an operand becomes Elements on its way (gemm/policy/load_functor.hpp) the peer,
// which has no such product, multiplies two matrices of Elements: f16_x_s4_over_f16.
template <class P>
std::string TypeName() {
  const std::string element =
      absl::StrCat(Type<typename P::Element>::kName, gemm::kHalfSums<P> ? "_sums_f16" : "");
  const auto of = [&](bool loads, int bits) { return !loads ? element : absl::StrCat("s", bits); };
  constexpr bool kLoadsA = gemm::kLoads<gemm::LoadOf<P, true>>;
  constexpr bool kLoadsB = gemm::kLoads<gemm::LoadOf<P, false>>;
  using Output = typename P::Epilogue::Output;
  if constexpr (!kLoadsA && !kLoadsB && gemm::kFloat16<Output> && !gemm::kHalfSums<P>) {
    return absl::StrCat(element, "_to_", Type<Output>::kName);
  }
  if (!kLoadsA && !kLoadsB) return element;
  return absl::StrCat(of(kLoadsA, gemm::kOperandBits<P, true>), "_x_",
                      of(kLoadsB, gemm::kOperandBits<P, false>), "_over_", element);
}

// Whether cuBLASLt multiplies matrices of Elements only where k runs along both.
template <class Element>
inline constexpr bool kPeerWantsKMajor =
    std::is_same_v<Element, Float8E4m3> || std::is_same_v<Element, Float8E5m2>;

// `lines` lines of `line` elements as the peer multiplies them, and as they are in our memory where that is
// something else. kKMajor: k runs along them; if not, the peer may have them the other way round.
template <class Element, class Load, bool kKMajor>
struct RandomMatrix {
  using Memory = gemm::OperandElement<Element, Load>;
  using Value = typename PeerElementOf<Element>::type;
  static constexpr bool kTransposed = kPeerWantsKMajor<Element> && !kKMajor;
  static constexpr bool kOwnMemory =
      gemm::kLoads<Load> || !std::is_same_v<Value, gemm::StoredElement<Element>> || kTransposed;
  std::vector<Value> values;
  std::vector<Memory> memory;

  RandomMatrix(std::int64_t lines, std::int64_t line, std::uint64_t seed) {
    const std::int64_t count = lines * line;
    if constexpr (!kOwnMemory) {
      values.resize(count);
      ForEachIndex(count, [&](std::int64_t i) { values[i] = Type<Element>::Random(seed, i); });
    } else if constexpr (!gemm::kLoads<Load>) {
      memory.resize(count);
      values.resize(count);
      ForEachIndex(count, [&](std::int64_t i) {
        memory[i] = Type<Element>::Random(seed, i);
        const std::int64_t to = kTransposed ? i % line * lines + i / line : i;
        values[to] = Value::FromFloat(memory[i].ToFloat());
      });
    } else {
      using Source = gemm::internal::LoadSource<typename Load::Source>;
      memory.resize(gemm::BytesOfElements<Source::kBits>(count));
      constexpr int kOfByte = 8 / Source::kBits;
      values.resize(memory.size() * kOfByte);
      ForEachIndex(static_cast<std::int64_t>(memory.size()), [&](std::int64_t i) {
        const auto byte = static_cast<std::uint8_t>(RandomInt8(seed, i));
        memory[i] = static_cast<Memory>(byte);
        for (int j = 0; j < kOfByte; ++j) {
          values[i * kOfByte + j] = Load{}(Source::FromBits(byte >> (j * Source::kBits)));
        }
      });
      values.resize(count);
    }
  }
};

}  // namespace weft::perf
