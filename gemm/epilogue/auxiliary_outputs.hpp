// The auxiliary outputs of an epilogue: intermediate values of the chain that a Copy stage stores
// in a tensor of its own, and those whose minimum and maximum a ChannelRange stage records.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/channel_range.hpp"
#include "weft/gemm/epilogue/pixel_offset.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The template arguments are those of EpilogueMath; `c` in the functions is its Channels.
template <class PolicyT, class Output, int kChannels>
struct AuxiliaryOutputs {
  using Dst = typename PolicyT::DstLayout;
  using Epilogue = typename PolicyT::Epilogue;
  using Element = typename Epilogue::Output;
  using Range = PartIf<Epilogue::kHasRange, KeptRange<kChannels>>;

  // The values of kCount channels of one pixel that reach the Copy and the ChannelRange stage.
  template <int kCount>
  struct Seen {
    [[maybe_unused]] float copy[Epilogue::kHasCopy ? kCount : 1];
    [[maybe_unused]] float range[Epilogue::kHasRange ? kCount : 1];
  };
  static constexpr bool kHasAuxiliaryOutputs = Epilogue::kHasCopy || Epilogue::kHasRange;

  // Records in `seen` what the two stages get of channel j.
  template <class In>
  WEFT_DEVICE static void See(const Output& p, const In& in, const epilogues::OutputCoord& at,
                              int j, Seen<kChannels>& seen) {
    if constexpr (Epilogue::kHasCopy) {
      seen.copy[j] = p.epilogue.template ValueAt<typename Epilogue::CopyStage>(in, at);
    }
    if constexpr (Epilogue::kHasRange) {
      seen.range[j] = p.epilogue.template ValueAt<typename Epilogue::RangeStage>(in, at);
    }
  }
  // Whether the copy, if there is one, has the output's layout: a pixel then begins at the same
  // offset in both.
  static constexpr bool kCopiesLieAsOutputs = [] {
    if constexpr (Epilogue::kHasCopy) {
      return std::is_same_v<typename Epilogue::template CopyLayout<Dst>, Dst>;
    } else {
      return true;
    }
  }();

  // Stores a pixel's copies and updates the ranges. wanted: the pixel is inside the output.
  // Channels past the last are dropped where values are written to global memory.
  template <class CopyT>
  WEFT_DEVICE static void WriteSeen(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                    bool wanted, const CopyT& c, const Seen<kChannels>& seen,
                                    [[maybe_unused]] Range& range) {
    std::int64_t begin = 0;
    if constexpr (Epilogue::kHasCopy) {
      using Layout = typename Epilogue::template CopyLayout<Dst>;
      begin = pixel.n * Layout::ImageStride(p.extents) + PixelOffset<Layout>(p.extents, pixel.pq);
    }
    WriteSeen(t, p, wanted ? begin : -1, c, seen, range);
  }
  // The same. begin: where the pixel begins in the copy, in elements; negative if it is outside.
  template <class CopyT>
  WEFT_DEVICE static void WriteSeen(arch::Thread t, const Output& p, std::int64_t begin,
                                    const CopyT& c, const Seen<kChannels>& seen,
                                    [[maybe_unused]] Range& range) {
    if constexpr (Epilogue::kHasCopy) StoreCopies(t, p, begin, c, seen.copy);
    TakeRange(begin >= 0, seen, range);
  }
  // The part of WriteSeen that updates the ranges.
  WEFT_DEVICE static void TakeRange([[maybe_unused]] bool wanted,
                                    [[maybe_unused]] const Seen<kChannels>& seen,
                                    [[maybe_unused]] Range& range) {
    if constexpr (Epilogue::kHasRange) {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) range.Take(j, wanted, seen.range[j]);
    }
  }

  // Stores the copies of one pixel. Where the copy has the output's layout, one store takes as many
  // channels as a store of the output (at most 16 bytes), as the copy is aligned to as many
  // elements; elsewhere it takes one.
  template <class CopyT>
  WEFT_DEVICE static void StoreCopies(arch::Thread t, const Output& p, std::int64_t begin,
                                      const CopyT& c, const float (&values)[kChannels]) {
    using Copy = typename Epilogue::CopyStage;
    using Layout = typename Epilogue::template CopyLayout<Dst>;
    using Type = typename Copy::Element;
    constexpr int kRun = [] {
      if (!kCopiesLieAsOutputs) return 1;
      int run = PolicyT::config.alignment.dst / static_cast<int>(sizeof(Element));
      while (run > kChannels || run * sizeof(Type) > 16) run /= 2;
      return run;
    }();
    struct alignas(kRun * sizeof(Type)) Vector {
      Type value[kRun];
    };
    const std::int32_t end = c.k + c.count;
    const std::int32_t padded_end = kCopiesLieAsOutputs && end == p.k ? p.padded_k : end;
    Type* const to = p.epilogue.template Get<Copy>().to + begin;
    WEFT_UNROLL
    for (int j = 0; j < kChannels; j += kRun) {
      Vector v;
      WEFT_UNROLL
      for (int e = 0; e < kRun; ++e) {
        v.value[e] = Copy::Convert(j + e < c.count ? values[j + e] : 0.0f);
      }
      if (begin >= 0 && c.k + j < padded_end) {
        t.StoreGlobal(reinterpret_cast<Vector*>(to + Layout::ChannelOffset(p.extents, c.k + j)), v);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
