// The first half of an epilogue: it makes a thread's accumulators into output elements in
// registers.
//
// It works on groups of kChannels >= 1 adjacent output channels of one pixel. Which of them a
// thread holds is said by the accumulator map (accumulators.hpp); where the elements go in global
// memory is decided by the store (epilogue_store.hpp, staged_store.hpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/auxiliary_outputs.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// PolicyT has DstLayout, Epilogue and kDependentLaunch. Output is an OutputParams.
template <class PolicyT, class Output, int kChannels>
struct EpilogueMath : AuxiliaryOutputs<PolicyT, Output, kChannels> {
  using Dst = typename PolicyT::DstLayout;
  using Epilogue = typename PolicyT::Epilogue;
  using Element = typename Epilogue::Output;
  using BiasValue = typename Epilogue::BiasValue;
  using Value = typename Epilogue::Value;
  // With a dependent launch, earlier kernels may still be writing what is read here, so that loads
  // must not take the read-only path.
  static constexpr bool kDependent = PolicyT::kDependentLaunch;
  static constexpr bool kPacked = Epilogue::OutputStage::kSaturates && kChannels % 4 == 0;
  static constexpr bool kSourceZeroPoint = Epilogue::kSourceZeroPoint;
  static constexpr bool kFilterZeroPoint =
      Epilogue::kFilterZeroPoint && !Output::Rows::kFilterZerosInSums;
  static constexpr bool kZeroPoints = kSourceZeroPoint || kFilterZeroPoint;
  // Whether pixels at the border need corrections of their own: their windows reach into the
  // padding, so that not all taps of the filter count.
  static constexpr bool kEdges = kSourceZeroPoint && !Output::Rows::kPaddingIsFilled;
  static constexpr bool kTerms = kEdges || kFilterZeroPoint;

  // What depends on the channel alone, loaded once for all pixels of a tile: with a short k the
  // epilogue takes as long as the mainloop.
  struct Channels {
    std::int32_t k;          // the first channel
    std::int32_t count;      // channels from k to the end of the tile's; may be negative
    Value alpha[kChannels];  // 0 beyond the last channel
    BiasValue bias[kChannels];
    [[maybe_unused]] float value[Epilogue::kHasChannelValues ? kChannels : 1];
    // What the source's zero point adds to the accumulator, and the bias where a SumBias stage adds
    // it there, so that the bias takes no registers of its own.
    [[maybe_unused]] std::uint32_t correction[kSourceZeroPoint ? kChannels : 1];
    [[maybe_unused]] std::int32_t filter_zero_point[kFilterZeroPoint ? kChannels : 1];
  };

  // The ranges of a thread's channels over its pixels.
  using Beside = AuxiliaryOutputs<PolicyT, Output, kChannels>;
  using typename Beside::Range;

  // What the corrections for zero points need to know of a pixel.
  struct NoTerms {};
  struct WindowTerm {
    std::int32_t window_sum;  // sum of the source's values under the filter
  };
  struct alignas(8) EdgeTerms : WindowTerm {
    std::int32_t edge;  // where its corrections begin in p.edges; 0: all are 0
  };
  using PixelTerms = std::conditional_t<kEdges, EdgeTerms,
                                        std::conditional_t<kFilterZeroPoint, WindowTerm, NoTerms>>;

  template <class Tile>
  WEFT_DEVICE static PixelTerms TermsOf(arch::Thread t, const Output& p, const Tile& tile,
                                        const OutputPixel& pixel) {
    PixelTerms terms{};
    if constexpr (kEdges) {
      if (p.edge_rows != nullptr) {
        std::int32_t column;
        const std::int32_t row = p.rows.Row(tile, pixel.pq, column);
        terms.edge = EdgeOf(t, p, row, column, pixel.inside);
      }
    }
    if constexpr (kFilterZeroPoint) {
      const std::int32_t group = p.rows.FirstChannel(tile) / p.group_channels;
      const std::int64_t image = std::int64_t{pixel.n} * p.groups + group;
      terms.window_sum = LoadInOrder(t, p.window_sums + image * p.plane + pixel.pq, pixel.inside);
    }
    return terms;
  }

  // TermsOf for a pixel whose row and column are known already; the source's zero point only.
  WEFT_DEVICE static PixelTerms TermsAt(arch::Thread t, const Output& p, std::int32_t row,
                                        std::int32_t column, bool inside) {
    static_assert(!kFilterZeroPoint);
    PixelTerms terms{};
    if constexpr (kEdges) {
      if (p.edge_rows != nullptr) terms.edge = EdgeOf(t, p, row, column, inside);
    }
    return terms;
  }

  // The coordinates of a pixel. The caller adds a channel's index to at.k.
  template <class Tile>
  WEFT_DEVICE static epilogues::OutputCoord CoordOf(const Output& p, const Tile& tile,
                                                    const OutputPixel& pixel) {
    epilogues::OutputCoord at{pixel.n, 0, 0, 0};
    if constexpr (Epilogue::kNeedsCoordinate) {
      at.p = p.rows.Row(tile, pixel.pq, at.q);
      if constexpr (Output::Rows::kCountsProducts) {
        at.n = p.rows.Product(tile);
        at.k = -p.rows.FirstChannel(tile);
      }
    }
    return at;
  }

  // Loads what belongs to channels k to k + kChannels - 1, with zeros from `end`, one past the
  // tile's last channel. values: Rows::ValueOffset, which leads from a channel to its bias and
  // scale.
  WEFT_DEVICE static void Load(arch::Thread t, const Output& p, std::int32_t k, std::int32_t end,
                               Channels& c, std::int32_t values = 0) {
    Fetch(t, p, k, end, c, values);
    Finish(p, c);
  }
  // Load in two steps: Fetch starts the loads, Finish is the first to need their results.
  WEFT_DEVICE static void Fetch(arch::Thread t, const Output& p, std::int32_t k, std::int32_t end,
                                Channels& c, std::int32_t values = 0) {
    c.k = k;
    c.count = end - k;
    const bool per_channel = HasChannelAlpha(p);
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) {
      const bool inside = k + j < end;
      const Value* alpha_address = per_channel ? p.channel_alpha + (values + k) + j : nullptr;
      c.alpha[j] = LoadOr0(t, alpha_address, per_channel && inside);
      c.bias[j] = 0;
      if constexpr (Epilogue::kHasBias) {
        c.bias[j] = static_cast<BiasValue>(LoadOr0(t, p.bias + (values + k) + j, inside));
      }
      if constexpr (Epilogue::kHasChannelValues) {
        c.value[j] = LoadOr0(t, p.epilogue.ChannelValues() + (values + k) + j, inside);
      }
      if constexpr (kSourceZeroPoint) {
        c.correction[j] = LoadOr0(t, p.correction + k + j, inside);
        if constexpr (Epilogue::kBiasInSum) c.correction[j] += c.bias[j];
      }
      if constexpr (kFilterZeroPoint) {
        c.filter_zero_point[j] = LoadOr0(t, p.filter_zero_point + k + j, inside);
      }
    }
  }

  WEFT_DEVICE static void Finish(const Output& p, Channels& c) {
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) c.alpha[j] = HasChannelAlpha(p) ? c.alpha[j] : p.alpha;
  }

  // Makes the outputs of one pixel, at coordinates `at` (CoordOf), from its accumulators: sum(j) is
  // that of channel c.k + j. If !wanted, nothing is read and the outputs are meaningless. Auxiliary
  // outputs are written here.
  //
  // Channels beyond the last, whose scale and bias are 0, are converted too: a condition here would
  // become a branch around every value.
  //
  // range: the ranges that a ChannelRange stage updates. kShift: whether the output's zero point is
  // added; with kPacked it may be left out where it is 0.
  template <bool kShift = true, class Sums>
  WEFT_DEVICE static void Convert(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                  epilogues::OutputCoord at, bool wanted, const Channels& c,
                                  const PixelTerms& terms, const Sums& sum,
                                  Element (&outputs)[kChannels], Range& range) {
    Residuals residual;
    if constexpr (Epilogue::kHasResidual) {
      LoadResidual(t, p, pixel, wanted ? c.count : 0, c.k, residual);
    }
    const std::int32_t first = at.k + c.k;
    typename Beside::template Seen<kChannels> seen;
    if constexpr (kPacked) {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; j += 4) {
        const Shifts<4> shift = ShiftsOf<4>(t, p, c, terms, j);
        float values[4];
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) {
          at.k = first + j + e;
          const auto in = Inputs(p, c, residual, shift.value[e], j + e, sum(j + e));
          values[e] = p.epilogue.template Unrounded<kShift>(in, at);
          Beside::See(p, in, at, j + e, seen);
        }
        const std::uint32_t word = t.template PackSaturated<Element>(values);
        memcpy(outputs + j, &word, sizeof(word));
      }
    } else {
      const Shifts<kChannels> shift = ShiftsOf<kChannels>(t, p, c, terms, 0);
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        at.k = first + j;
        const auto in = Inputs(p, c, residual, shift.value[j], j, sum(j));
        outputs[j] = p.epilogue(in, at);
        Beside::See(p, in, at, j, seen);
      }
    }
    Beside::WriteSeen(t, p, pixel, wanted, c, seen, range);
  }

  // For stores that convert one value at a time (kChannels = 1): its residual, and the inputs of
  // the epilogue's stages.
  WEFT_DEVICE static Value Residual(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                    bool wanted, const Channels& c) {
    Residuals residual;
    LoadResidual(t, p, pixel, wanted ? c.count : 0, c.k, residual);
    return residual.value[0];
  }
  // shift: what zero points add to the accumulator, modulo 2^32: Shift, and Edge at the border.
  template <class Sum>
  WEFT_DEVICE static epilogues::StageInputsOf<Sum> InputsOf(const Output& p, const Channels& c,
                                                            std::uint32_t shift, Value residual,
                                                            Sum sum) {
    return Inputs(p, c, {{residual}}, shift, 0, sum);
  }
  WEFT_DEVICE static std::uint32_t Shift(const Channels& c, const PixelTerms& terms, int j = 0) {
    std::uint32_t shift = 0;
    if constexpr (kSourceZeroPoint) shift = c.correction[j];
    if constexpr (kFilterZeroPoint) {
      shift -= static_cast<std::uint32_t>(c.filter_zero_point[j]) *
               static_cast<std::uint32_t>(terms.window_sum);
    }
    return shift;
  }
  // The further correction of a pixel at the border; 0 for any other pixel. Channels beyond the
  // last get that of the last, to stay inside the table.
  WEFT_DEVICE static std::uint32_t Edge(arch::Thread t, const Output& p, const Channels& c,
                                        const PixelTerms& terms, int j = 0) {
    const std::int32_t k = c.k + j < p.k ? c.k + j : p.k - 1;
    return t.LoadGlobalCoherent(p.edges + (terms.edge + k));
  }

 private:
  WEFT_DEVICE static std::int32_t EdgeOf(arch::Thread t, const Output& p, std::int32_t row,
                                         std::int32_t column, bool inside) {
    return LoadInOrder(t, p.edge_rows + row, inside) +
           LoadInOrder(t, p.edge_columns + column, inside);
  }
  WEFT_DEVICE static bool HasChannelAlpha(const Output& p) {
    return Epilogue::kHasScale && p.channel_alpha != nullptr;
  }
  struct Residuals {
    Value value[kChannels];
  };

  // What zero points add to the accumulators of kCount channels of a pixel, modulo 2^32.
  template <int kCount>
  struct Shifts {
    std::uint32_t value[kCount];
  };
  template <int kCount>
  WEFT_DEVICE static Shifts<kCount> ShiftsOf(arch::Thread t, const Output& p, const Channels& c,
                                             const PixelTerms& terms, int first) {
    Shifts<kCount> shifts = {};
    if constexpr (kEdges) {
      // Few warps take this branch: most pixels are inside, and those of a warp are neighbours.
      if (terms.edge != 0) {
        WEFT_UNROLL
        for (int j = 0; j < kCount; ++j) shifts.value[j] = Edge(t, p, c, terms, first + j);
      }
    }
    if constexpr (kZeroPoints) {
      WEFT_UNROLL
      for (int j = 0; j < kCount; ++j) shifts.value[j] += Shift(c, terms, first + j);
    }
    return shifts;
  }

  template <class Sum>
  WEFT_DEVICE static epilogues::StageInputsOf<Sum> Inputs(const Output& p, const Channels& c,
                                                          const Residuals& residual,
                                                          std::uint32_t shift, int j,
                                                          Sum accumulator) {
    epilogues::StageInputsOf<Sum> in;
    in.accumulator = accumulator;
    if constexpr (Epilogue::kInSums || !kOwnArithmetic<Sum>) {
      in.alpha = c.alpha[j], in.gamma = p.gamma;
      if constexpr (Epilogue::kHasResidual) in.residual = residual.value[j];
    }
    if constexpr (!Epilogue::kBiasInSum) {
      in.bias = c.bias[j];
    } else if constexpr (!kSourceZeroPoint) {
      in.sum_bias = c.bias[j];
    }
    if constexpr (kZeroPoints) {
      in.sum_bias = static_cast<Sum>(static_cast<std::uint32_t>(in.sum_bias) + shift);
    }
    in.beta = p.beta;
    in.inverse_output_scale = p.inverse_output_scale;
    in.zero_point = p.zero_point;
    if constexpr (Epilogue::kHasChannelValues) in.channel_value = c.value[j];
    return in;
  }

  template <class Type>
  WEFT_DEVICE static Type LoadOr0(arch::Thread t, const Type* address, bool inside) {
    if constexpr (kDependent) {
      return inside ? t.LoadGlobalCoherent(address) : Type();
    } else {
      return t.LoadGlobalOr0(address, inside);
    }
  }

  // A coherent load, which stays where the program has it: of read-only loads ptxas would hoist
  // those of all of a thread's pixels at once, and spill. Edge does the same.
  WEFT_DEVICE static std::int32_t LoadInOrder(arch::Thread t, const std::int32_t* address,
                                              bool inside) {
    return inside ? t.LoadGlobalCoherent(address) : 0;
  }

  // Loads the residual of channels k to k + count - 1; those from count on become 0.
  WEFT_DEVICE static void LoadResidual(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                       std::int32_t count, std::int32_t k, Residuals& v) {
    using Stage = typename Epilogue::ResidualStage;
    using Layout = std::conditional_t<std::is_same_v<typename Stage::Layout, epilogues::SameAsDst>,
                                      Dst, typename Stage::Layout>;
    using Source = typename Stage::Element;
    count = p.ReadsResidual() ? count : 0;
    const Source* base = p.residual + pixel.n * Layout::ImageStride(p.extents) +
                         PixelOffset<Layout>(p.extents, pixel.pq);
    if constexpr (Layout::kChannelRun >= 4 && sizeof(Source) == 1 && kChannels % 4 == 0) {
      // A format with blocks of 4 channels or more has whole words, zero channels included.
      WEFT_UNROLL
      for (int j = 0; j < kChannels; j += 4) {
        const std::uint32_t word = LoadOr0(
            t,
            reinterpret_cast<const std::uint32_t*>(base + Layout::ChannelOffset(p.extents, k + j)),
            j < count);
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) {
          v.value[j + e] = static_cast<float>(static_cast<Source>(word >> (8 * e)));
        }
      }
    } else {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        const Source value = LoadOr0(t, base + Layout::ChannelOffset(p.extents, k + j), j < count);
        if constexpr (std::is_same_v<Source, Value>) {
          v.value[j] = value;
        } else if constexpr (std::is_class_v<Source>) {  // of 16 bits
          v.value[j] = value.ToFloat();
        } else {
          v.value[j] = static_cast<float>(value);
        }
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
