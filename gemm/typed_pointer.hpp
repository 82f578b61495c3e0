// Pointers of an operator's Arguments that say what is wrong with a pointer of another type.
#pragma once

#include <concepts>
#include <cstddef>

namespace weft::gemm {

// Which argument a TypedPointer is.
enum class Argument { kSource, kBias, kResidual, kOutput };

// A T* that takes what a T* takes, and answers any other pointer with a sentence.
template <class T, Argument kArgument>
class TypedPointer {
 public:
  constexpr TypedPointer() = default;
  constexpr TypedPointer(std::nullptr_t) {}
  template <class U>
  requires(std::convertible_to<U*, T*>) constexpr TypedPointer(U* address) : address_(address) {}
  template <class U>
  requires(!std::convertible_to<U*, T*>) TypedPointer(U*) {  // NOLINT(runtime/explicit)
    static_assert(
        kArgument != Argument::kSource || sizeof(U*) == 0,
        "weft: this operand of args does not point to the policy's Element; b of a GEMM of "
        "std::uint8_t is std::int8_t");
    static_assert(kArgument != Argument::kBias || sizeof(U*) == 0,
                  "weft: args.bias points to another type than the policy's bias stage reads: "
                  "Bias<T> reads T (float unless given), SumBias reads std::int32_t");
    static_assert(kArgument != Argument::kResidual || sizeof(U*) == 0,
                  "weft: args.residual points to another type than the policy's Residual stage "
                  "reads: Residual<T> reads T (std::int8_t unless given)");
    static_assert(kArgument != Argument::kOutput || sizeof(U*) == 0,
                  "weft: args.dst (c of a GEMM) points to another type than the policy's output "
                  "stage writes: ClampTo<T> and RoundTo<T> write T, ToFloat writes float, "
                  "ToAccumulator std::int32_t");
  }

  constexpr operator T*() const { return address_; }

 private:
  T* address_ = nullptr;
};

template <class T>
using SourcePointer = TypedPointer<const T, Argument::kSource>;
template <class T>
using BiasPointer = TypedPointer<const T, Argument::kBias>;
template <class T>
using ResidualPointer = TypedPointer<const T, Argument::kResidual>;
template <class T>
using OutputPointer = TypedPointer<T, Argument::kOutput>;

}  // namespace weft::gemm
