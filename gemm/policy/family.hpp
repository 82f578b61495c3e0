// Families of policies: what Dispatch (gemm/dispatch.hpp) chooses from. Like the policies' headers
// this one needs neither Abseil nor CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "weft/gemm/policy/gemm_policy.hpp"

namespace weft::gemm {

// Policies that differ in their config only: one operator, several tiles. A type and not a list of
// configs, because nvcc 13 cannot write class-type template arguments into its host code.
template <class... Policies>
struct Family {};

template <class PolicyT>
class Gemm;

// A family is no policy. This says so to who wrote Gemm where Dispatch was meant.
template <class... Policies>
struct CheckedGemmPolicy<Family<Policies...>> {
  static_assert(sizeof...(Policies) == static_cast<std::size_t>(-1),
                "weft: Gemm takes one policy; weft::gemm::Dispatch<Family> chooses among those of "
                "a family");
  static constexpr bool kValid = false;
};

// The kind of operator that a family's policies describe. Each kind specialises it, matrix products
// here and convolutions in conv/policy/family.hpp:
//     using Operator = ...;   // of one policy
//     using Checked = ...;    // instantiating it checks the policy
//     using Same = std::tuple<...>;  // the types that policies of one family share
//     static constexpr const char* kWho;               // begins error messages: "gemm", "conv"
//     static constexpr const char* kFrom, *kBy, *kTo;  // operands and layouts, in tuning tables
//     static constexpr const char* kCMake;  // the function that compiles a policy for the GPU
//     static constexpr bool kIntegerSums;   // int32 accumulators: all tiles give the same bits
// What a policy that is of no kind has in the place of an operator.
struct NoOperator {
  static constexpr bool kValid = false;
  struct Problem {
    std::int64_t m, n, h, w, c, k, r, s, pad_top, pad_left, pad_bottom, pad_right, stride_h,
        stride_w, dilation_h, dilation_w, groups, lda, ldb, ldc, batch;
  };
};
template <class PolicyT>
struct OperatorKind {
  using Operator = NoOperator;
  using Checked = NoOperator;
  using Same = std::tuple<>;
  static_assert(
      sizeof(PolicyT) == 0,
      "weft: a family's policies are those of matrix products, with the types of "
      "gemm/policy/gemm_policy.hpp, or of convolutions, with those of conv/policy/policy.hpp and "
      "weft/conv/policy/family.hpp included; which type is missing, Gemm<Policy> or "
      "Convolution<Policy> "
      "says");
};
template <class PolicyT>
  requires MatrixPolicy<PolicyT>
struct OperatorKind<PolicyT> {
  using Operator = Gemm<PolicyT>;
  using Checked = CheckedGemmPolicy<PolicyT>;
  using Same =
      std::tuple<typename PolicyT::Element, typename PolicyT::LayoutA, typename PolicyT::LayoutB,
                 typename PolicyT::LayoutC, typename PolicyT::Epilogue,
                 std::bool_constant<kGrouped<PolicyT>>, LoadOf<PolicyT, true>,
                 LoadOf<PolicyT, false>, std::bool_constant<kHalfSums<PolicyT>>>;
  static constexpr const char* kWho = "gemm";
  [[gnu::visibility("hidden")]] static constexpr const char* kFrom =
      kGrouped<PolicyT>   ? (kKMajorB<PolicyT> ? "groups_x_column" : "groups_x_row")
      : kKMajorA<PolicyT> ? (kKMajorB<PolicyT> ? "row_x_column" : "row_x_row")
      : kKMajorB<PolicyT> ? "column_x_column"
                          : "column_x_row";
  // An operand's index into kByNames: 0 without a load functor, else 1 for elements of 8 bits in
  // memory and 2 for elements of 4.
  template <bool kIsA>
  static constexpr int kLoad = !kLoads<LoadOf<PolicyT, kIsA>>     ? 0
                               : kOperandBits<PolicyT, kIsA> == 8 ? 1
                                                                  : 2;
  // The first index says whether the accumulators are Half (`using Sum = weft::Half`).
  static constexpr const char* kByNames[2][3][3] = {
      {{"", "_b8", "_b4"}, {"_a8", "_a8_b8", "_a8_b4"}, {"_a4", "_a4_b8", "_a4_b4"}},
      {{"_in_f16", "_b8_in_f16", "_b4_in_f16"},
       {"_a8_in_f16", "_a8_b8_in_f16", "_a8_b4_in_f16"},
       {"_a4_in_f16", "_a4_b8_in_f16", "_a4_b4_in_f16"}}};
  [[gnu::visibility("hidden")]] static constexpr const char* kBy =
      kByNames[kHalfSums<PolicyT>][kLoad<true>][kLoad<false>];
  [[gnu::visibility("hidden")]] static constexpr const char* kTo =
      std::is_same_v<typename PolicyT::LayoutC, layouts::RowMajor> ? "row" : "column";
  static constexpr const char* kCMake = "weft_add_gemms";
  static constexpr bool kIntegerSums =
      std::is_same_v<typename SumOf<typename PolicyT::Element>::type, std::int32_t>;
};

namespace internal {

template <class Functor>
struct FamilyTuple;
template <class... Policies>
struct FamilyTuple<Family<Policies...>> {
  using type = std::tuple<Policies...>;
};

// The numbers are template parameters so that a compiler prints them with the message.
template <int kTold, int kPoliciesOfTheFamily>
struct CheckedSize {
  static_assert(kTold == kPoliciesOfTheFamily,
                "weft: weft_add_family() was told another number of policies than the family has; "
                "the second number of CheckedSize<told, right> is the right one");
};

template <class Functor, int kSize, int kIndex>
struct PolicyAt {
  using Tuple = typename FamilyTuple<Functor>::type;
  static constexpr int kPolicies = std::tuple_size_v<Tuple>;
  // Of a policy that is not there, the last one stands in the place.
  static constexpr int kAt = kIndex < kPolicies ? kIndex : kPolicies - 1;
  static_assert(sizeof(CheckedSize<kSize, kPolicies>) > 0);
  using type = std::tuple_element_t<kAt, Tuple>;
};

template <class... Families>
struct Joined;
template <class... Firsts>
struct Joined<Family<Firsts...>> {
  using type = Family<Firsts...>;
};
template <class... Firsts, class... Seconds, class... Others>
struct Joined<Family<Firsts...>, Family<Seconds...>, Others...>
    : Joined<Family<Firsts..., Seconds...>, Others...> {};

template <template <class> class With, class FamilyT>
struct EachOf;
template <template <class> class With, class... Policies>
struct EachOf<With, Family<Policies...>> {
  using type = Family<With<Policies>...>;
};

// Whether PolicyT's tiles are divided among the blocks of a cluster (cluster split-K) or handed to
// ping-pong warpgroups.
template <class PolicyT>
inline constexpr bool kDividesTiles = [] {
  if constexpr (std::remove_cvref_t<decltype(PolicyT::config)>::kMainloop == Mainloop::kWgmmaSm90) {
    return PolicyT::config.cluster_split_k > 1 || PolicyT::config.ping_pong;
  } else {
    return false;
  }
}();

template <class Functor>
inline constexpr bool kOfProducts = false;
template <MatrixPolicy... Policies>
inline constexpr bool kOfProducts<Family<Policies...>> = true;

// The family of With<PolicyT> for each PolicyT of a family that has neither cluster split-K nor
// ping-pong, in the same order.
template <template <class> class With, class Functor>
struct UndividedOf;
template <template <class> class With, class... Policies>
struct UndividedOf<With, Family<Policies...>>
    : Joined<std::conditional_t<kDividesTiles<Policies>, Family<>, Family<With<Policies>>>...> {};

}  // namespace internal

// Policy kIndex of a family that has kSize policies. weft_add_family() of CMake writes these
// numbers.
template <class Functor, int kSize, int kIndex>
using PolicyOf = typename internal::PolicyAt<Functor, kSize, kIndex>::type;

// The policies of several families, one after the other.
template <class... Families>
using JoinFamilies = typename internal::Joined<Families...>::type;

// The family of With<PolicyT> for each policy PolicyT of a family, in the same order.
template <template <class> class With, class FamilyT>
using EachWith = typename internal::EachOf<With, FamilyT>::type;

template <class Functor>
concept FamilyOfProducts = internal::kOfProducts<Functor>;

// The policies of a family of products, each as Grouped or as Listed (gemm/gemm_list.hpp).
// Those with config.cluster_split_k > 1 or config.ping_pong are left out, since neither takes them.
template <FamilyOfProducts FamilyT>
using GroupedFamily = typename internal::UndividedOf<Grouped, FamilyT>::type;
template <FamilyOfProducts FamilyT>
using ListedFamily = typename internal::UndividedOf<Listed, FamilyT>::type;

// Instantiating this checks a family and each of its policies; each failure is one sentence.
template <class... Policies>
struct CheckedFamily {
  static_assert(sizeof...(Policies) > 0, "weft: a family names at least one policy");
  static constexpr bool kSound =
      sizeof...(Policies) > 0 && (OperatorKind<Policies>::Checked::kValid && ...);
  template <class PolicyT, class... Others>
  static constexpr bool Same(std::tuple<PolicyT, Others...>*) {
    return (
        std::is_same_v<typename OperatorKind<PolicyT>::Same, typename OperatorKind<Others>::Same> &&
        ...);
  }
  static_assert(!kSound || Same(static_cast<std::tuple<Policies...>*>(nullptr)),
                "weft: the policies of a family differ in their config only; types and layouts are "
                "the same");
  static constexpr bool kValid = kSound;
};

}  // namespace weft::gemm
