// Makes the facts (GemmFacts) of a policy of matrix products from its types and its kernel.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/policy/facts.hpp"
#include "weft/gemm/product/gemm_kernels.hpp"

namespace weft::gemm {

// What the host code, which is not a template, needs to know of GEMM policy PolicyT.
template <class PolicyT>
constexpr GemmFacts GemmFactsOf() {
  using Kernel = GemmKernel<PolicyT>;
  GemmFacts facts;
  facts.config = PolicyT::config;
  constexpr bool kTensorCores =
      CheckedGemmPolicy<PolicyT>::kWgmma || PolicyT::config.kMainloop == Mainloop::kMmaSm80;
  constexpr int kElementBytes = sizeof(typename PolicyT::Element);
  if (kTensorCores) facts.config.instruction.k /= kElementBytes >= 8 ? 4 : kElementBytes;
  if constexpr (CheckedGemmPolicy<PolicyT>::kWgmma) {
    facts.wgmma.stage_bytes = Kernel::Pipeline::kStageBytes;
    facts.wgmma.row_threads = Kernel::Mainloop::Producer::RowThreads();
    facts.resident_blocks = PolicyT::config.blocks_per_sm;
  }
  facts.threads = Kernel::kThreads;
  facts.blocks_by_registers = Kernel::kMinBlocksPerSm;
  facts.shared_bytes = sizeof(typename Kernel::SharedStorage);
  facts.hardware = Kernel::kRequires;
  facts.store.element_bits = 8 * sizeof(typename PolicyT::Epilogue::Output);
  facts.store.activations = PolicyT::Epilogue::kActivations;
  if (PolicyT::Epilogue::kHasResidual) {
    facts.store.residual_bits = 8 * sizeof(typename PolicyT::Epilogue::ResidualElement);
  }
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

}  // namespace weft::gemm
