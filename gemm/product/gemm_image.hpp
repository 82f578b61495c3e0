// What is known of a policy of matrix products when it is compiled, as values: its facts, its epilogue,
// and where in memory the parts of its kernels' parameters lie. What checks and starts a product or a
// list knows an image and no type of the policy, so that it is compiled once.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/check/epilogue_facts.hpp"
#include "weft/gemm/launch/params_writer.hpp"
#include "weft/gemm/policy/output_layout.hpp"
#include "weft/gemm/product/gemm_kernels.hpp"
#include "weft/gemm/product/policy_facts.hpp"

namespace weft::gemm {

// An operand's place in the parameters, and within them that of its tensor map, or of its load functor.
struct OperandPlace {
  std::int32_t at = kNoPart, map = kNoPart, load = kNoPart;
  std::int32_t load_bytes = 0;
};

// Offsets in bytes from the beginning of a kernel's parameters, or of a list's product; kNoPart: these
// have no such part.
struct GemmLayout {
  std::int32_t bytes = 0;  // of all
  // The scheduler's parameters; in a list's product its grid, and the number of its first tile.
  std::int32_t schedule = kNoPart, first_tile = kNoPart;
  std::int32_t k_tiles = kNoPart;
  OperandPlace a, b;
  std::int32_t output = kNoPart;
  OutputLayout of_output;
  std::int32_t ring = kNoPart, tiles = kNoPart, plan = kNoPart;  // wgmma_sm90
};

struct GemmImage {
  GemmFacts facts;
  EpilogueFacts epilogue;
  bool ragged_kernel = false;  // kernel 1 is for a ragged k ...
  bool one_kernel = false;     // ... and takes every k: the program has no other
  GemmLayout launch;           // of the kernels' parameters
  GemmLayout product;          // what they have of a product: the same, or that of a list's table
  const void* defaults = nullptr;  // default-constructed parameters
};

namespace internal {

WEFT_OFFSETS_BEGIN

constexpr OperandPlace OperandPlaceOf(const MatrixParams*, std::int32_t at) {
  return {.at = at};
}
constexpr OperandPlace OperandPlaceOf(const TmaMatrixParams*, std::int32_t at) {
  return {.at = at, .map = at + WEFT_OFFSET(TmaMatrixParams, map)};
}
template <class Load>
constexpr OperandPlace OperandPlaceOf(const WithLoadParams<Load>*, std::int32_t at) {
  return {
      .at = at, .load = at + WEFT_OFFSET(WithLoadParams<Load>, load), .load_bytes = sizeof(Load)};
}

// What all parameters have of a product.
template <class Params>
constexpr GemmLayout ProductLayoutOf() {
  GemmLayout at;
  at.bytes = sizeof(Params);
  at.k_tiles = WEFT_OFFSET(Params, k_tiles);
  at.a = OperandPlaceOf(static_cast<const decltype(Params::a)*>(nullptr), WEFT_OFFSET(Params, a));
  at.b = OperandPlaceOf(static_cast<const decltype(Params::b)*>(nullptr), WEFT_OFFSET(Params, b));
  at.output = WEFT_OFFSET(Params, output);
  at.of_output = OutputLayoutOf<decltype(Params::output)>();
  return at;
}
// What all parameters of a list have.
template <class Params>
constexpr GemmLayout ListLayoutOf() {
  GemmLayout at;
  at.bytes = sizeof(Params);
  at.schedule = WEFT_OFFSET(Params, schedule);
  return at;
}
// What all parameters of wgmma_sm90 have of a launch.
template <class Params>
constexpr void AddRing(GemmLayout& at) {
  at.ring = WEFT_OFFSET(Params, ring);
  at.tiles = WEFT_OFFSET(Params, tiles);
  at.plan = WEFT_OFFSET(Params, plan);
}

// GemmLayoutOf of a pointer to parameters: one function for each kind of them.
template <class PolicyT>
constexpr GemmLayout GemmLayoutOf(const GemmParams<PolicyT>*) {
  GemmLayout at = ProductLayoutOf<GemmParams<PolicyT>>();
  at.schedule = WEFT_OFFSET(GemmParams<PolicyT>, schedule);
  return at;
}
template <class PolicyT>
constexpr GemmLayout GemmLayoutOf(const WgmmaGemmParams<PolicyT>*) {
  GemmLayout at = ProductLayoutOf<WgmmaGemmParams<PolicyT>>();
  at.schedule = WEFT_OFFSET(WgmmaGemmParams<PolicyT>, schedule);
  AddRing<WgmmaGemmParams<PolicyT>>(at);
  return at;
}
template <class PolicyT>
constexpr GemmLayout GemmLayoutOf(const GemmParams<Listed<PolicyT>>*) {
  using Params = GemmParams<Listed<PolicyT>>;
  return ListLayoutOf<Params>();
}
template <class PolicyT>
constexpr GemmLayout GemmLayoutOf(const WgmmaGemmParams<Listed<PolicyT>>*) {
  using Params = WgmmaGemmParams<Listed<PolicyT>>;
  GemmLayout at = ListLayoutOf<Params>();
  AddRing<Params>(at);
  return at;
}
template <class PolicyT>
constexpr GemmLayout GemmLayoutOf(const ListedProduct<PolicyT>*) {
  using Product = ListedProduct<PolicyT>;
  GemmLayout at = ProductLayoutOf<Product>();
  at.schedule = WEFT_OFFSET(Product, grid);
  at.first_tile = WEFT_OFFSET(Product, first_tile);
  return at;
}

WEFT_OFFSETS_END

// The type that has what a kernel reads of a product.
template <class PolicyT, class Params>
struct ProductOf {
  using type = Params;
};
template <class PolicyT, class Params>
struct ProductOf<Listed<PolicyT>, Params> {
  using type = ListedProduct<PolicyT>;
};

}  // namespace internal

template <class PolicyT>
constexpr GemmImage ImageOf() {
  using Params = std::conditional_t<CheckedGemmPolicy<PolicyT>::kWgmma, WgmmaGemmParams<PolicyT>,
                                    GemmParams<PolicyT>>;
  using Product = typename internal::ProductOf<PolicyT, Params>::type;
  GemmImage image;
  image.facts = GemmFactsOf<PolicyT>();
  image.epilogue = EpilogueFactsOf<typename PolicyT::Epilogue>();
  image.ragged_kernel = KernelList<PolicyT>::kRaggedK;
  image.one_kernel = kOneKernel;
  image.launch = internal::GemmLayoutOf(static_cast<const Params*>(nullptr));
  image.product = internal::GemmLayoutOf(static_cast<const Product*>(nullptr));
  image.defaults = kDefaultsOf<Params>;
  return image;
}

}  // namespace weft::gemm
