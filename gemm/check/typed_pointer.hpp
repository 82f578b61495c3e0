// The tensors of an operator's Arguments: pointers that may know how many elements they point to,
// and whose static_asserts say what is wrong with elements of another type.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/layouts/base/compiler.hpp"

namespace weft::gemm {

// Which argument a TypedPointer is.
enum class Argument { kSource, kOperandA, kOperandB, kBias, kResidual, kOutput, kNumbers };

// The number of elements that an argument was given with and the bytes of each. count is -1 where
// the argument is an address alone.
struct GivenElements {
  std::int64_t count = -1;
  int bytes = 1;
};

namespace internal {

// std::span, absl::Span, std::vector, std::array and whatever else has data() and size(). It
// excludes temporary containers, whose memory ends with the expression while Arguments keep its
// address.
template <class Range>
concept Elements =
    requires(Range& range) {
      requires std::is_pointer_v<decltype(range.data())>;
      { range.size() } -> std::convertible_to<std::size_t>;
    } &&
    (std::is_lvalue_reference_v<Range> || std::is_trivially_copyable_v<std::remove_cvref_t<Range>>);

// A container that such an expression owns.
template <class Range>
concept TemporaryElements =
    !Elements<Range> && Elements<Range&> && !std::is_lvalue_reference_v<Range>;

}  // namespace internal

// A Type* that converts from whatever converts to Type*, and from a span or a vector of such
// elements, whose size operators then compare with what the problem needs. A static_assert explains
// what is wrong with elements of another type.
template <class Type, Argument kArgument>
class TypedPointer {
 public:
  constexpr TypedPointer() = default;
  constexpr TypedPointer(std::nullptr_t) {}
  template <class Other>
  constexpr TypedPointer(Other* address) : address_(Checked(address)) {}
  template <internal::Elements Range>
  constexpr TypedPointer(Range&& range)  // NOLINT(runtime/explicit)
      : address_(Checked(range.data())), count_(static_cast<std::int64_t>(range.size())) {}

  template <internal::TemporaryElements Range>
  constexpr TypedPointer(Range&&) {  // NOLINT(runtime/explicit): the sentence is the point
    static_assert(sizeof(Range) == 0,
                  "weft: an argument is a temporary container, whose memory ends with this "
                  "expression, before a GPU's run does; keep it in a variable and pass that");
  }

  constexpr operator Type*() const { return address_; }
  constexpr GivenElements given() const { return {count_, sizeof(Type)}; }

 private:
  template <class Other>
  static constexpr Type* Checked(Other* address) {
    constexpr bool kSame = std::convertible_to<Other*, Type*>;
    // What is written must not be const.
    constexpr bool kConst = std::convertible_to<Other*, const Type*>;
    static_assert(
        kSame || kArgument != Argument::kSource,
        "weft: args.src does not point to the policy's Element (or, with a SourceFunctor, "
        "to its Source)");
    static_assert(kSame || kArgument != Argument::kOperandA,
                  "weft: args.a of a GEMM does not point to the policy's Element (float for Tf32; "
                  "with a LoadA, to its Source)");
    static_assert(kSame || kArgument != Argument::kOperandB,
                  "weft: args.b of a GEMM does not point to the policy's Element (std::int8_t for "
                  "std::uint8_t, float for Tf32; with a LoadB, to its Source)");
    static_assert(kSame || !kConst || kArgument != Argument::kOutput,
                  "weft: args.dst (c of a GEMM) is const, and a run writes to it; pass a pointer, "
                  "span or container of elements that are not const");
    static_assert(kSame || kArgument != Argument::kBias,
                  "weft: args.bias points to another type than the policy's bias stage reads: "
                  "Bias<T> reads T (float unless given), SumBias reads std::int32_t");
    static_assert(kSame || kArgument != Argument::kResidual,
                  "weft: args.residual points to another type than the policy's Residual stage "
                  "reads: Residual<T> reads T (std::int8_t unless given)");
    static_assert(kSame || kConst || kArgument != Argument::kOutput,
                  "weft: args.dst (c of a GEMM) points to another type than the policy's output "
                  "stage writes: ClampTo<T> and RoundTo<T> write T, ToFloat writes float, "
                  "ToAccumulator std::int32_t");
    static_assert(
        kSame || kArgument != Argument::kNumbers,
        "weft: this argument points to another type: channel_alpha, routing and expert_scale to "
        "float (channel_alpha of products of double or Complex to those), filter_zero_point, "
        "window_sums and group_offsets to std::int32_t");
    if constexpr (kSame) {
      return address;
    } else {
      return nullptr;
    }
  }

  Type* address_ = nullptr;
  std::int64_t count_ = -1;
};

template <class Type>
using SourcePointer = TypedPointer<const Type, Argument::kSource>;
template <class Type>
using OperandAPointer = TypedPointer<const Type, Argument::kOperandA>;
template <class Type>
using OperandBPointer = TypedPointer<const Type, Argument::kOperandB>;
template <class Type>
using BiasPointer = TypedPointer<const Type, Argument::kBias>;
template <class Type>
using ResidualPointer = TypedPointer<const Type, Argument::kResidual>;
template <class Type>
using OutputPointer = TypedPointer<Type, Argument::kOutput>;
// channel_alpha, zero points, window sums, group offsets: numbers that a kernel reads besides the
// operands.
template <class Type>
using NumbersPointer = TypedPointer<const Type, Argument::kNumbers>;

template <class Type, Argument kArgument>
constexpr GivenElements GivenOf(const TypedPointer<Type, kArgument>& argument) {
  return argument.given();
}
template <class Type>
constexpr GivenElements GivenOf(const Type*) {
  return {};
}

}  // namespace weft::gemm
