// The first half of an epilogue: it makes a thread's accumulators into output elements in
// registers.
//
// It works on groups of kChannels >= 1 adjacent output channels of one pixel. Which of them a
// thread holds is said by the accumulator map (accumulators.hpp); where the elements go in global
// memory is decided by the store (epilogue_store.hpp, staged_store.hpp).
//
// What it loads has files of its own: values of channels (epilogue_channels.hpp), what zero points
// need (epilogue_zero_points.hpp) and residuals (epilogue_residual.hpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/auxiliary_outputs.hpp"
#include "weft/gemm/epilogue/epilogue_channels.hpp"
#include "weft/gemm/epilogue/epilogue_residual.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// PolicyT has DstLayout, Epilogue and kDependentLaunch. Output is an OutputParams.
template <class PolicyT, class Output, int kChannels>
struct EpilogueMath : AuxiliaryOutputs<PolicyT, Output, kChannels>,
                      EpilogueChannels<PolicyT, Output, kChannels> {
  using Beside = AuxiliaryOutputs<PolicyT, Output, kChannels>;
  using Loaded = EpilogueChannels<PolicyT, Output, kChannels>;
  using Epilogue = typename PolicyT::Epilogue;
  using Element = typename Epilogue::Output;
  using Value = typename Epilogue::Value;
  using Residuals = PartIf<Epilogue::kHasResidual, LoadedResiduals<PolicyT, Output, kChannels>>;
  static constexpr bool kPacked = Epilogue::OutputStage::kSaturates && kChannels % 4 == 0;

  // The ranges of a thread's channels over its pixels.
  using typename Beside::Range;
  // What a thread keeps of its channels, and what zero points need to know of a pixel.
  using typename Loaded::Channels;
  using typename Loaded::PixelTerms;

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
    residual.Load(t, p, pixel, wanted ? c.count : 0, c.k);
    const std::int32_t first = at.k + c.k;
    typename Beside::template Seen<kChannels> seen;
    if constexpr (kPacked) {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; j += 4) {
        std::uint32_t shift[4] = {};
        AddShifts(t, p, c, terms, j, shift);
        float values[4];
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) {
          at.k = first + j + e;
          const auto in = Inputs(p, c, shift[e], residual.value[j + e], j + e, sum(j + e));
          values[e] = p.epilogue.template Unrounded<kShift>(in, at);
          Beside::See(p, in, at, j + e, seen);
        }
        const std::uint32_t word =
            t.template PackSaturated<Element, Epilogue::kEndsInActivation>(values);
        memcpy(outputs + j, &word, sizeof(word));
      }
    } else {
      std::uint32_t shift[kChannels] = {};
      AddShifts(t, p, c, terms, 0, shift);
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        at.k = first + j;
        const auto in = Inputs(p, c, shift[j], residual.value[j], j, sum(j));
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
    residual.Load(t, p, pixel, wanted ? c.count : 0, c.k);
    return residual.value[0];
  }
  // shift: what zero points add to the accumulator, modulo 2^32: Shift, and Edge at the border.
  template <class Sum>
  WEFT_DEVICE static epilogues::StageInputsOf<Sum> InputsOf(const Output& p, const Channels& c,
                                                            std::uint32_t shift, Value residual,
                                                            Sum sum) {
    return Inputs(p, c, shift, residual, 0, sum);
  }
  WEFT_DEVICE static std::uint32_t Shift(const Channels& c, const PixelTerms& terms, int j = 0) {
    return Loaded::ShiftOf(c.corrections, terms, j);
  }
  // The further correction of a pixel at the border; 0 for any other pixel.
  WEFT_DEVICE static std::uint32_t Edge(arch::Thread t, const Output& p, const Channels& c,
                                        const PixelTerms& terms) {
    return Loaded::Edges::Of(t, p, c.k, terms);
  }

 private:
  // Adds what zero points add to the accumulators of kCount channels of a pixel, modulo 2^32.
  template <int kCount>
  WEFT_DEVICE static void AddShifts(arch::Thread t, const Output& p, const Channels& c,
                                    const PixelTerms& terms, int first,
                                    std::uint32_t (&shift)[kCount]) {
    Loaded::Edges::Add(t, p, c.k, first, terms, shift);
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) shift[j] += Shift(c, terms, first + j);
  }

  // What the stages see of the accumulator of channel j.
  template <class Sum>
  WEFT_DEVICE static epilogues::StageInputsOf<Sum> Inputs(const Output& p, const Channels& c,
                                                          std::uint32_t shift, Value residual,
                                                          int j, Sum accumulator) {
    epilogues::StageInputsOf<Sum> in;
    in.accumulator = accumulator;
    if constexpr (Epilogue::kInSums || !kOwnArithmetic<Sum>) {
      in.alpha = c.alpha[j], in.gamma = p.gamma, in.residual = residual;
    }
    Loaded::GiveValues(c, j, in);
    if constexpr (Loaded::kZeroPoints) {
      in.sum_bias = static_cast<Sum>(static_cast<std::uint32_t>(in.sum_bias) + shift);
    }
    in.beta = p.beta;
    in.inverse_output_scale = p.inverse_output_scale;
    in.zero_point = p.zero_point;
    return in;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
