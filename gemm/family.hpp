// Families of policies: what Dispatch (gemm/dispatch.hpp) chooses from. Like the policies' headers
// this one needs neither Abseil nor CUDA.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "weft/gemm/gemm_policy.hpp"

namespace weft::gemm {

// Policies that differ in their config only: one operator, several tiles. A type and not a list of
// configs, because nvcc 13 cannot write class-type template arguments into its host code.
template <class... Policies>
struct Family {};

template <class P>
class Gemm;

// Not an operator: Dispatch chooses among a family.
template <class... Policies>
class Gemm<Family<Policies...>> {
  static_assert(sizeof...(Policies) == static_cast<std::size_t>(-1),
                "weft: Gemm takes one policy; weft::gemm::Dispatch<Family> chooses among those of "
                "a family");
};

// What a family's policy is a policy of. Specialised for each kind of operator, here for products and
// in conv/family.hpp for convolutions:
//     using Operator = ...;   // of one policy
//     using Checked = ...;    // instantiating it checks the policy
//     using Same = std::tuple<...>;  // the types that policies of one family share
//     static constexpr const char* kWho, *kFrom, *kBy, *kTo;  // in errors; layouts in tuning tables
//     static constexpr const char* kCMake;  // the function that compiles a policy for the GPU
template <class P>
struct OperatorKind {
  static_assert(sizeof(P) == 0,
                "weft: a family's policies are those of matrix products, with the types of "
                "gemm/gemm_policy.hpp, or of convolutions, with those of conv/policy.hpp and "
                "weft/conv/family.hpp included");
};
template <class P>
requires MatrixPolicy<P>
struct OperatorKind<P> {
  using Operator = Gemm<P>;
  using Checked = CheckedGemmPolicy<P>;
  using Same =
      std::tuple<typename P::Element, typename P::LayoutA, typename P::LayoutB, typename P::LayoutC,
                 typename P::Epilogue, std::bool_constant<kGrouped<P>>, LoadOf<P, true>,
                 LoadOf<P, false>, std::bool_constant<kHalfSums<P>>>;
  static constexpr const char* kWho = "gemm";
  static constexpr const char* kFrom =
      kGrouped<P>    ? (kLinesOfB<P> ? "groups_x_column" : "groups_x_row")
      : kLinesOfA<P> ? (kLinesOfB<P> ? "row_x_column" : "row_x_row")
      : kLinesOfB<P> ? "column_x_column"
                     : "column_x_row";
  // Bits of operands with a load functor.
  template <bool kIsA>
  static constexpr int kLoad = !kLoads<LoadOf<P, kIsA>>     ? 0
                               : kOperandBits<P, kIsA> == 8 ? 1
                                                            : 2;
  // And sums that are halves.
  static constexpr const char* kByNames[2][3][3] = {
      {{"", "_b8", "_b4"}, {"_a8", "_a8_b8", "_a8_b4"}, {"_a4", "_a4_b8", "_a4_b4"}},
      {{"_in_f16", "_b8_in_f16", "_b4_in_f16"},
       {"_a8_in_f16", "_a8_b8_in_f16", "_a8_b4_in_f16"},
       {"_a4_in_f16", "_a4_b8_in_f16", "_a4_b4_in_f16"}}};
  static constexpr const char* kBy = kByNames[kHalfSums<P>][kLoad<true>][kLoad<false>];
  static constexpr const char* kTo =
      std::is_same_v<typename P::LayoutC, layouts::RowMajor> ? "row" : "column";
  static constexpr const char* kCMake = "weft_add_gemms";
};

namespace internal {

template <class F>
struct FamilyTuple;
template <class... Policies>
struct FamilyTuple<Family<Policies...>> {
  using type = std::tuple<Policies...>;
};

template <class F, int kSize, int kIndex>
struct PolicyAt {
  using Tuple = typename FamilyTuple<F>::type;
  static_assert(std::tuple_size_v<Tuple> == kSize,
                "weft: weft_add_family() was told another number of policies than the family has");
  using type = std::tuple_element_t<kIndex, Tuple>;
};

template <class... Families>
struct Joined;
template <class... P>
struct Joined<Family<P...>> {
  using type = Family<P...>;
};
template <class... P, class... Q, class... Others>
struct Joined<Family<P...>, Family<Q...>, Others...> : Joined<Family<P..., Q...>, Others...> {};

// Whether blocks share P's tiles, or warpgroups take them in turn.
template <class P>
inline constexpr bool kDividesTiles = [] {
  if constexpr (requires { P::config.split; }) {
    return P::config.split > 1 || P::config.turns > 1;
  } else {
    return false;
  }
}();

template <class F>
inline constexpr bool kOfProducts = false;
template <MatrixPolicy... Policies>
inline constexpr bool kOfProducts<Family<Policies...>> = true;

// With<P> for each policy P of a family whose blocks have tiles of their own, one after the other.
template <template <class> class With, class F>
struct UndividedOf;
template <template <class> class With, class... Policies>
struct UndividedOf<With, Family<Policies...>>
    : Joined<std::conditional_t<kDividesTiles<Policies>, Family<>, Family<With<Policies>>>...> {};

template <class P>
inline constexpr bool kMayStream = [] {
  if constexpr (requires { P::config.stream; }) {
    return !kDividesTiles<P>;
  } else {
    return false;
  }
}();

template <class F>
struct StreamedOf;
template <class... Policies>
struct StreamedOf<Family<Policies...>>
    : Joined<Family<Policies...>,
             typename std::conditional_t<kMayStream<Policies>,
                                         std::type_identity<Family<Streamed<Policies>>>,
                                         std::type_identity<Family<>>>::type...> {};

}  // namespace internal

// Policy kIndex of the kSize policies of F, for weft_add_family().
template <class F, int kSize, int kIndex>
using PolicyOf = typename internal::PolicyAt<F, kSize, kIndex>::type;

// The policies of several families, one after the other.
template <class... Families>
using JoinFamilies = typename internal::Joined<Families...>::type;

template <class F>
concept FamilyOfProducts = internal::kOfProducts<F>;

// The policies of a family of products as Grouped, or as Listed (gemm/list_dispatch.hpp), but for those
// with a config.split or config.turns.
template <FamilyOfProducts F>
using GroupedFamily = typename internal::UndividedOf<Grouped, F>::type;
template <FamilyOfProducts F>
using ListedFamily = typename internal::UndividedOf<Listed, F>::type;

// The policies of a family of products, and behind them those of wgmma_sm90 without a split or turns once
// more with config.stream, which take the runs whose args.workspace is not null. The model's prediction of
// these has not been compared with a GPU.
template <class F>
using StreamedFamily = typename internal::StreamedOf<F>::type;

// Instantiating this checks a family and each of its policies; each failure is one sentence.
template <class... Policies>
struct CheckedFamily {
  static_assert(sizeof...(Policies) > 0, "weft: a family names at least one policy");
  static_assert((OperatorKind<Policies>::Checked::kValid && ...));
  template <class P, class... Others>
  static constexpr bool Same(std::tuple<P, Others...>*) {
    return (std::is_same_v<typename OperatorKind<P>::Same, typename OperatorKind<Others>::Same> &&
            ...);
  }
  static_assert(Same(static_cast<std::tuple<Policies...>*>(nullptr)),
                "weft: the policies of a family differ in their config only; types and layouts are "
                "the same");
  static constexpr bool kValid = true;
};

}  // namespace weft::gemm
