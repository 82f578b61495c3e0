// What is known of a policy of matrix products when it is compiled, as values: its facts, its epilogue,
// and where in memory the parts of its kernels' parameters lie. What checks and starts a product or a
// list knows an image and no type of the policy, so that it is compiled once.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/check/epilogue_facts.hpp"
#include "weft/gemm/launch/params_layout.hpp"
#include "weft/gemm/launch/params_writer.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/gemm/product/gemm_kernels.hpp"

namespace weft::gemm {

// What the host code, which is not a template, needs to know of GEMM policy PolicyT.
template <class PolicyT>
constexpr GemmFacts GemmFactsOf() {
  GemmFacts facts;
  AddTileFacts<PolicyT, GemmKernel<PolicyT>>(facts);
  constexpr bool kTensorCores =
      CheckedGemmPolicy<PolicyT>::kWgmma || PolicyT::config.kMainloop == Mainloop::kMmaSm80;
  constexpr int kElementBytes = sizeof(typename PolicyT::Element);
  if (kTensorCores) facts.config.instruction.k /= kElementBytes >= 8 ? 4 : kElementBytes;
  facts.store.element_bits = 8 * sizeof(typename PolicyT::Epilogue::Output);
  facts.element_bytes = sizeof(typename PolicyT::Element);
  facts.is_complex = kIsComplex<typename PolicyT::Element>;
  facts.a.bits = kOperandBits<PolicyT, true>, facts.b.bits = kOperandBits<PolicyT, false>;
  facts.a.access = kOperandAccess<PolicyT, true>, facts.b.access = kOperandAccess<PolicyT, false>;
  facts.a.loads = kLoads<LoadOf<PolicyT, true>>, facts.b.loads = kLoads<LoadOf<PolicyT, false>>;
  facts.a.k_major = kKMajorA<PolicyT>;
  facts.b.k_major = kKMajorB<PolicyT>;
  facts.wgmma.transposes = CheckedGemmPolicy<PolicyT>::kWgmma && kTransposed<PolicyT>;
  facts.row_major_c = std::is_same_v<typename PolicyT::LayoutC, layouts::RowMajor>;
  facts.grouped = kGrouped<PolicyT>;
  facts.listed = kListed<PolicyT>;
  facts.int32_sums = std::is_same_v<typename SumOf<typename PolicyT::Element>::type, std::int32_t>;
  if (std::is_same_v<typename PolicyT::Element, std::uint8_t>) facts.largest_product = 255 * 128;
  facts.src_layout = kKMajorA<PolicyT> ? (kKMajorB<PolicyT> ? "row x column" : "row x row")
                                       : (kKMajorB<PolicyT> ? "column x column" : "column x row");
  facts.dst_layout = facts.row_major_c ? "row" : "column";
  return facts;
}

// Of a kernel's parameters, or of a list's product: its schedule is a grid then, and it has the number of its first
// tile.
struct GemmLayout : ParamsLayout {
  std::int32_t first_tile = kNoPart;
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
  return {.at = at,
          .functor = at + WEFT_OFFSET(WithLoadParams<Load>, load),
          .functor_bytes = sizeof(Load)};
}

// What all parameters have of a product.
template <class Params>
constexpr GemmLayout ProductLayoutOf() {
  GemmLayout at;
  AddProduct<Params>(at);
  at.a = OperandPlaceOf(static_cast<const decltype(Params::a)*>(nullptr), at.a.at);
  at.b = OperandPlaceOf(static_cast<const decltype(Params::b)*>(nullptr), at.b.at);
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
  return ListLayoutOf<GemmParams<Listed<PolicyT>>>();
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
