// The residuals that a thread loads from global memory: those of kChannels adjacent channels of one
// pixel. Wgmma products with outputs of bytes load theirs through shared memory instead
// (gemm/staged/staged_residual.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/epilogue_loads.hpp"
#include "weft/gemm/epilogue/pixel_offset.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The template arguments are those of EpilogueMath.
template <class PolicyT, class Output, int kChannels>
struct LoadedResiduals {
  using Stage = typename PolicyT::Epilogue::ResidualStage;
  using Layout = std::conditional_t<std::is_same_v<typename Stage::Layout, epilogues::SameAsDst>,
                                    typename PolicyT::DstLayout, typename Stage::Layout>;
  using Source = typename Stage::Element;
  using Value = typename PolicyT::Epilogue::Value;
  static constexpr bool kDependent = PolicyT::kDependentLaunch;

  Value value[kChannels];

  // Loads the residual of channels k to k + count - 1; those from count on become 0.
  WEFT_DEVICE void Load(arch::Thread t, const Output& p, const OutputPixel& pixel,
                        std::int32_t count, std::int32_t k) {
    count = p.ReadsResidual() ? count : 0;
    const Source* base = p.residual + pixel.n * Layout::ImageStride(p.extents) +
                         PixelOffset<Layout>(p.extents, pixel.pq);
    // A format with blocks of 4 channels or more has whole words, zero channels included.
    if constexpr (Layout::kChannelRun >= 4 && sizeof(Source) == 1 && kChannels % 4 == 0) {
      LoadWords(t, p, base, count, k);
    } else {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        value[j] = ToValue(
            LoadOr0<kDependent>(t, base + Layout::ChannelOffset(p.extents, k + j), j < count));
      }
    }
  }

 private:
  WEFT_DEVICE void LoadWords(arch::Thread t, const Output& p, const Source* base,
                             std::int32_t count, std::int32_t k) {
    WEFT_UNROLL
    for (int j = 0; j < kChannels; j += 4) {
      const Source* const address = base + Layout::ChannelOffset(p.extents, k + j);
      const std::uint32_t word =
          LoadOr0<kDependent>(t, reinterpret_cast<const std::uint32_t*>(address), j < count);
      WEFT_UNROLL
      for (int e = 0; e < 4; ++e) value[j + e] = t.template ByteToFloat<Source>(word, e);
    }
  }
  WEFT_DEVICE static Value ToValue(Source x) {
    if constexpr (std::is_same_v<Source, Value>) {
      return x;
    } else if constexpr (std::is_class_v<Source>) {  // of 16 bits
      return x.ToFloat();
    } else {
      return static_cast<float>(x);
    }
  }
};

template <class PolicyT, class Output, int kChannels>
struct Absent<LoadedResiduals<PolicyT, Output, kChannels>> {
  typename PolicyT::Epilogue::Value value[kChannels] = {};
  WEFT_DEVICE void Load(arch::Thread, const Output&, const OutputPixel&, std::int32_t,
                        std::int32_t) {}
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
