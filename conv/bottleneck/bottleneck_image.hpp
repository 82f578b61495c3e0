// What is known of a Bottleneck's policy when it is compiled, as values. What plans and starts a bottleneck knows an image and no type of
// the policy. Like conv/launch/image.hpp this header is without Abseil, since compilers read it at run time.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/bottleneck/bottleneck_kernel.hpp"
#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/conv/launch/image.hpp"
#include "weft/conv/policy/bottleneck_policy.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/gemm/launch/params_writer.hpp"
#include "weft/gemm/policy/facts.hpp"

namespace weft::conv {

// What host code knows of a Bottleneck's policy, as values, so that plans are compiled once.
struct BottleneckFacts {
  ConvFacts part[kBottleneckParts];  // by BottleneckPartName
  gemm::TileFacts tile;              // of the kernel
  // Copies of config's numbers.
  int rows = 0, warpgroups = 0, patches = 0;
  bool projects = false, adds = false;  // there is a projection; there is a residual
  bool adds_quantized = false;          // ... by a QuantizedAdd
  // Whether y takes the place of x in shared memory.
  constexpr bool InPlace() const { return adds && !projects; }
  // Whether there is a part of this number (BottleneckPartName).
  constexpr bool Has(int number) const {
    return number != static_cast<int>(BottleneckPartName::kProjection) || projects;
  }
  constexpr BottleneckShape Shape() const { return {rows, warpgroups}; }
};

// Offsets in bytes from the beginning of a BottleneckParams.
struct BottleneckLayout {
  std::int32_t bytes = 0;  // of all parameters
  std::int32_t maps = 0, tiling = 0;
  std::int32_t output[kBottleneckParts] = {};  // by BottleneckPartName
  gemm::OutputLayout of_output[kBottleneckParts];
};

// A policy as values.
struct BottleneckImage {
  BottleneckFacts facts;
  PolicyImage part[kBottleneckParts];
  BottleneckLayout at;
  const void* defaults = nullptr;  // default-constructed parameters
};

namespace internal {

WEFT_OFFSETS_BEGIN

template <class Params>
constexpr BottleneckLayout BottleneckLayoutOf() {
  BottleneckLayout at;
  at.bytes = sizeof(Params);
  at.maps = WEFT_OFFSET(Params, maps);
  at.tiling = WEFT_OFFSET(Params, tiling);
  at.output[0] = WEFT_OFFSET(Params, first);
  at.output[1] = WEFT_OFFSET(Params, second);
  at.output[2] = WEFT_OFFSET(Params, projection);
  at.output[3] = WEFT_OFFSET(Params, third);
  at.of_output[0] = gemm::OutputLayoutOf<decltype(Params::first)>();
  at.of_output[1] = gemm::OutputLayoutOf<decltype(Params::second)>();
  if constexpr (!std::is_same_v<decltype(Params::projection), NoBottleneckOutput>) {
    at.of_output[2] = gemm::OutputLayoutOf<decltype(Params::projection)>();
  }
  at.of_output[3] = gemm::OutputLayoutOf<decltype(Params::third)>();
  return at;
}

WEFT_OFFSETS_END

}  // namespace internal

// The facts and the image of a policy, for what plans and starts it.
template <class PolicyT>
constexpr BottleneckFacts BottleneckFactsOf() {
  using Kernel = BottleneckKernel<PolicyT>;
  BottleneckFacts facts;
  facts.part[0] = FactsOf<BottleneckFirst<PolicyT>>();
  facts.part[1] = FactsOf<BottleneckSecond<PolicyT>>();
  if constexpr (kProjects<PolicyT>) facts.part[2] = FactsOf<BottleneckProjection<PolicyT>>();
  facts.part[3] = FactsOf<BottleneckThird<PolicyT>>();
  facts.tile = static_cast<const gemm::TileFacts&>(facts.part[3]);
  facts.tile.config = PolicyT::config;
  facts.tile.threads = Kernel::kThreads;
  facts.tile.blocks_by_registers = 1;
  facts.tile.resident_blocks = 1;
  facts.tile.shared_bytes = 0;  // depends on a problem's channels
  facts.tile.hardware = Kernel::kRequires;
  facts.rows = PolicyT::config.rows;
  facts.warpgroups = PolicyT::config.warpgroups;
  facts.patches = PolicyT::config.patches;
  facts.projects = kProjects<PolicyT>;
  facts.adds = PolicyT::Epilogue::kHasResidual;
  facts.adds_quantized = PolicyT::Epilogue::kAddsQuantized;
  return facts;
}
template <class PolicyT>
constexpr BottleneckImage BottleneckImageOf() {
  using Params = BottleneckParamsOf<PolicyT>;
  BottleneckImage image;
  image.facts = BottleneckFactsOf<PolicyT>();
  image.part[0] = ImageOf<BottleneckFirst<PolicyT>>();
  image.part[1] = ImageOf<BottleneckSecond<PolicyT>>();
  if constexpr (kProjects<PolicyT>) image.part[2] = ImageOf<BottleneckProjection<PolicyT>>();
  image.part[3] = ImageOf<BottleneckThird<PolicyT>>();
  image.at = internal::BottleneckLayoutOf<Params>();
  image.defaults = gemm::kDefaultsOf<Params>;
  return image;
}

}  // namespace weft::conv
