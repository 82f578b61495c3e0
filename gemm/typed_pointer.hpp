// Pointers of an operator's Arguments that say what is wrong with a pointer of another type.
#pragma once

#include <concepts>
#include <cstddef>

#include "weft/layouts/compiler.hpp"

namespace weft::gemm {

// Which argument a TypedPointer is.
enum class Argument { kSource, kBias, kResidual, kOutput };

// A Type* that takes what a Type* takes, and answers any other pointer with a sentence.
template <class Type, Argument kArgument>
class TypedPointer {
 public:
  constexpr TypedPointer() = default;
  constexpr TypedPointer(std::nullptr_t) {}
  template <class Other>
  requires(std::convertible_to<Other*, Type*>) constexpr TypedPointer(Other* address)
      : address_(address) {}
  template <class Other>
  requires(!std::convertible_to<Other*, Type*>) TypedPointer(Other*) {  // NOLINT(runtime/explicit)
    static_assert(
        kArgument != Argument::kSource || sizeof(Other*) == 0,
        "weft: this operand of args does not point to the policy's Element; b of a GEMM of "
        "std::uint8_t is std::int8_t");
    static_assert(kArgument != Argument::kBias || sizeof(Other*) == 0,
                  "weft: args.bias points to another type than the policy's bias stage reads: "
                  "Bias<T> reads T (float unless given), SumBias reads std::int32_t");
    static_assert(kArgument != Argument::kResidual || sizeof(Other*) == 0,
                  "weft: args.residual points to another type than the policy's Residual stage "
                  "reads: Residual<T> reads T (std::int8_t unless given)");
    static_assert(kArgument != Argument::kOutput || sizeof(Other*) == 0,
                  "weft: args.dst (c of a GEMM) points to another type than the policy's output "
                  "stage writes: ClampTo<T> and RoundTo<T> write T, ToFloat writes float, "
                  "ToAccumulator std::int32_t");
  }

  constexpr operator Type*() const { return address_; }

 private:
  Type* address_ = nullptr;
};

template <class Type>
using SourcePointer = TypedPointer<const Type, Argument::kSource>;
template <class Type>
using BiasPointer = TypedPointer<const Type, Argument::kBias>;
template <class Type>
using ResidualPointer = TypedPointer<const Type, Argument::kResidual>;
template <class Type>
using OutputPointer = TypedPointer<Type, Argument::kOutput>;

}  // namespace weft::gemm
