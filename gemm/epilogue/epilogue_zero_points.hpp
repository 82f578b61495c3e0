// What the zero points of a source and of a filter add to the accumulators of an epilogue, modulo
// 2^32. There are three parts, each of which an epilogue may be without (Absent):
//
//   SourceCorrection   one number for each channel, right for pixels that see all taps
//   EdgeCorrection     what pixels at the border, whose windows reach into the padding, add to it
//   FilterCorrection   the filter's zero point of each channel, times the sum of a pixel's window
//
// Channels is what a thread keeps of its channels for all pixels of a tile. Terms is what the last
// two parts need to know of a pixel.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/epilogue_loads.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// ---- The source's zero point.

template <bool kDependent, int kChannels>
struct SourceCorrection {
  struct Channels {
    std::uint32_t correction[kChannels];
  };
  // Loads that of channel k + j. bias: what a SumBias stage adds to the accumulator. It becomes a
  // part of the correction, so that it takes no registers of its own.
  template <class Output>
  WEFT_DEVICE static void Fetch(arch::Thread t, const Output& p, std::int32_t k, bool inside,
                                std::int32_t bias, Channels& c, int j) {
    const std::int32_t correction = LoadOr0<kDependent>(t, p.correction + k + j, inside);
    c.correction[j] = static_cast<std::uint32_t>(correction) + static_cast<std::uint32_t>(bias);
  }
  WEFT_DEVICE static std::uint32_t Of(const Channels& c, int j) { return c.correction[j]; }
};

template <bool kDependent, int kChannels>
struct Absent<SourceCorrection<kDependent, kChannels>> {
  struct Channels {};
  template <class Output>
  WEFT_DEVICE static void Fetch(arch::Thread, const Output&, std::int32_t, bool, std::int32_t,
                                Channels&, int) {}
  WEFT_DEVICE static std::uint32_t Of(const Channels&, int) { return 0; }
};

// ---- The border.

// place(): the pixel's row and column in the output.
struct EdgeCorrection {
  template <class Output, class Terms, class PlaceOf>
  WEFT_DEVICE static void Find(arch::Thread t, const Output& p, bool inside, const PlaceOf& place,
                               Terms& terms) {
    if (p.edge_rows == nullptr) return;
    const auto at = place();
    terms.edge = LoadInOrder(t, p.edge_rows + at.row, inside) +
                 LoadInOrder(t, p.edge_columns + at.column, inside);
  }
  // Adds the corrections of kCount channels from k + first on. Few warps take the branch: most
  // pixels are inside, and those of a warp are neighbours.
  template <class Output, class Terms, int kCount>
  WEFT_DEVICE static void Add(arch::Thread t, const Output& p, std::int32_t k, int first,
                              const Terms& terms, std::uint32_t (&shift)[kCount]) {
    if (terms.edge == 0) return;
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) shift[j] += Of(t, p, k + (first + j), terms);
  }
  // Channels beyond the last get that of the last, to stay inside the table. The load is coherent
  // as LoadInOrder's is, so that it stays here.
  template <class Output, class Terms>
  WEFT_DEVICE static std::uint32_t Of(arch::Thread t, const Output& p, std::int32_t k,
                                      const Terms& terms) {
    return t.LoadGlobalCoherent(p.edges + (terms.edge + (k < p.k ? k : p.k - 1)));
  }
};

template <>
struct Absent<EdgeCorrection> {
  template <class Output, class Terms, class PlaceOf>
  WEFT_DEVICE static void Find(arch::Thread, const Output&, bool, const PlaceOf&, Terms&) {}
  template <class Output, class Terms, int kCount>
  WEFT_DEVICE static void Add(arch::Thread, const Output&, std::int32_t, int, const Terms&,
                              std::uint32_t (&)[kCount]) {}
};

// ---- The filter's zero point.

template <bool kDependent, int kChannels>
struct FilterCorrection {
  struct Channels {
    std::int32_t zero_point[kChannels];
  };
  template <class Output>
  WEFT_DEVICE static void Fetch(arch::Thread t, const Output& p, std::int32_t k, bool inside,
                                Channels& c, int j) {
    c.zero_point[j] = LoadOr0<kDependent>(t, p.filter_zero_point + k + j, inside);
  }
  template <class Output, class Tile, class Terms>
  WEFT_DEVICE static void Find(arch::Thread t, const Output& p, const Tile& tile,
                               const OutputPixel& pixel, Terms& terms) {
    const std::int32_t group = p.rows.FirstChannel(tile) / p.group_channels;
    const std::int64_t image = std::int64_t{pixel.n} * p.groups + group;
    terms.window_sum = LoadInOrder(t, p.window_sums + image * p.plane + pixel.pq, pixel.inside);
  }
  template <class Terms>
  WEFT_DEVICE static std::uint32_t Of(const Channels& c, const Terms& terms, int j) {
    return 0 - static_cast<std::uint32_t>(c.zero_point[j]) *
                   static_cast<std::uint32_t>(terms.window_sum);
  }
};

template <bool kDependent, int kChannels>
struct Absent<FilterCorrection<kDependent, kChannels>> {
  struct Channels {};
  template <class Output>
  WEFT_DEVICE static void Fetch(arch::Thread, const Output&, std::int32_t, bool, Channels&, int) {}
  template <class Output, class Tile, class Terms>
  WEFT_DEVICE static void Find(arch::Thread, const Output&, const Tile&, const OutputPixel&,
                               Terms&) {}
  template <class Terms>
  WEFT_DEVICE static std::uint32_t Of(const Channels&, const Terms&, int) {
    return 0;
  }
};

// ---- All three, as the policy needs them.

// PolicyT has Epilogue and kDependentLaunch. Output is an OutputParams.
template <class PolicyT, class Output, int kChannels>
struct ZeroPointCorrections {
  using Epilogue = typename PolicyT::Epilogue;
  static constexpr bool kSourceZeroPoint = Epilogue::kSourceZeroPoint;
  static constexpr bool kFilterZeroPoint =
      Epilogue::kFilterZeroPoint && !Output::Rows::kFilterZerosInSums;
  static constexpr bool kZeroPoints = kSourceZeroPoint || kFilterZeroPoint;
  static constexpr bool kEdges = kSourceZeroPoint && !Output::Rows::kPaddingIsFilled;
  static constexpr bool kTerms = kEdges || kFilterZeroPoint;

  using Source = PartIf<kSourceZeroPoint, SourceCorrection<PolicyT::kDependentLaunch, kChannels>>;
  using Edges = PartIf<kEdges, EdgeCorrection>;
  using Filter = PartIf<kFilterZeroPoint, FilterCorrection<PolicyT::kDependentLaunch, kChannels>>;
  struct Corrections {
    [[maybe_unused]] typename Source::Channels source;
    [[maybe_unused]] typename Filter::Channels filter;
  };

  struct NoTerms {};
  struct WindowTerm {
    std::int32_t window_sum;  // sum of the source's values under the filter
  };
  struct alignas(8) EdgeTerms : WindowTerm {
    std::int32_t edge;  // where its corrections begin in p.edges; 0: all are 0
  };
  using PixelTerms = std::conditional_t<kEdges, EdgeTerms,
                                        std::conditional_t<kFilterZeroPoint, WindowTerm, NoTerms>>;
  struct Place {
    std::int32_t row, column;
  };

  // Loads what belongs to channel k + j. bias: what a SumBias stage adds to the accumulator, or 0.
  WEFT_DEVICE static void FetchCorrections(arch::Thread t, const Output& p, std::int32_t k,
                                           bool inside, std::int32_t bias, Corrections& c, int j) {
    Source::Fetch(t, p, k, inside, bias, c.source, j);
    Filter::Fetch(t, p, k, inside, c.filter, j);
  }

  template <class Tile>
  WEFT_DEVICE static PixelTerms TermsOf(arch::Thread t, const Output& p, const Tile& tile,
                                        const OutputPixel& pixel) {
    PixelTerms terms{};
    const auto place = [&] {
      Place at;
      at.row = p.rows.Row(tile, pixel.pq, at.column);
      return at;
    };
    Edges::Find(t, p, pixel.inside, place, terms);
    Filter::Find(t, p, tile, pixel, terms);
    return terms;
  }
  // TermsOf for a pixel whose row and column are known already; the source's zero point only.
  WEFT_DEVICE static PixelTerms TermsAt(arch::Thread t, const Output& p, std::int32_t row,
                                        std::int32_t column, bool inside) {
    static_assert(!kFilterZeroPoint);
    PixelTerms terms{};
    Edges::Find(t, p, inside, [&] { return Place{row, column}; }, terms);
    return terms;
  }

  // What is added to the accumulator of channel j of a pixel that sees all taps. Pixels at the
  // border add what Edges::Of says.
  WEFT_DEVICE static std::uint32_t ShiftOf(const Corrections& c, const PixelTerms& terms, int j) {
    return Source::Of(c.source, j) + Filter::Of(c.filter, terms, j);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
