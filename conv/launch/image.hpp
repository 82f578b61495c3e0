// What is known of a convolution's policy when it is compiled, as values: its facts, its epilogue, and
// the layout of its kernels' parameters. What checks, plans and starts a convolution knows an image
// and no type of the policy, so that it is compiled once.
#pragma once

#include <type_traits>
#include <utility>

#include "weft/conv/launch/params_layout.hpp"
#include "weft/conv/plan/policy_facts.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/gemm/check/epilogue_facts.hpp"

namespace weft::conv {

// A tensor in memory.
struct FormatFacts {
  int interleave = 1;  // channels that C is padded to a multiple of
  int bits = 8;        // of an element

  // The bytes of a tensor, with the zero channels that fill its last block.
  constexpr std::int64_t Bytes(const TensorExtents& e) const {
    return gemm::CeilDiv(e.n * RoundUp(e.c, interleave) * e.h * e.w * bits, std::int64_t{8});
  }
};

struct PolicyImage {
  ConvFacts facts;
  gemm::EpilogueFacts epilogue;
  FormatFacts dst, residual, copy;
  bool residual_as_dst = false;  // the residual's format is that of dst
  // The parameters of each kernel of a policy whose kernels have their own (KernelsOf::kParams), else the
  // first are those of all.
  ParamsImage params[3];
};

namespace internal {

template <class PolicyT, int... i>
constexpr void AddParams(PolicyImage& image, std::integer_sequence<int, i...>) {
  ((image.params[i] = kParamsImage<typename KernelsOf<PolicyT>::template Params<i>>), ...);
}

}  // namespace internal

template <class PolicyT>
constexpr PolicyImage ImageOf() {
  using Epilogue = typename PolicyT::Epilogue;
  using Dst = typename PolicyT::DstLayout;
  using Residual = typename Epilogue::template ResidualLayout<Dst>;
  using Copy = typename Epilogue::template CopyLayout<Dst>;
  PolicyImage image;
  image.facts = FactsOf<PolicyT>();
  image.epilogue = gemm::EpilogueFactsOf<Epilogue>();
  image.dst = FormatFacts{.interleave = Dst::kInterleave, .bits = CheckedPolicy<PolicyT>::kDstBits};
  image.residual =
      FormatFacts{.interleave = Residual::kInterleave, .bits = 8 * image.epilogue.residual_bytes};
  image.copy = FormatFacts{.interleave = Copy::kInterleave, .bits = 8 * image.epilogue.copy_bytes};
  image.residual_as_dst = std::is_same_v<Residual, Dst>;
  internal::AddParams<PolicyT>(image,
                               std::make_integer_sequence<int, KernelsOf<PolicyT>::kParams>());
  return image;
}

}  // namespace weft::conv
