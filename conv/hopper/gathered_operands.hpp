// Operands of wgmma_sm90 over NHWC whose channels are a multiple of 8 and not of 16: TMA cannot
// read such rows, so producer threads load them (gemm/hopper/gather_ring.hpp).
//
// k counts 8 channels at a time along (r, s, c), as mma_sm80 counts it over NHWC, so that taps of
// few channels leave no holes in a k tile.
#pragma once

#include <cstdint>

#include "weft/conv/source/kernel_params.hpp"
#include "weft/gemm/hopper/gather_ring.hpp"
#include "weft/gemm/hopper/wgmma_sm90.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::conv {

// What a kernel with gathered operands is launched with.
template <class PolicyT>
struct GatherParams {
  // What all threads read first stands side by side, as in WgmmaParams.
  gemm::MbarRingParams ring;
  std::int32_t k_tiles = 0;
  std::int32_t tiles = 0;
  std::int32_t early = 0;
  typename BatchGrid<typename PolicyT::Prologue>::Params schedule;
  Im2colParams a;
  FilterParams b;
  gemm::OutputParams<PolicyT, RowsFor<typename PolicyT::Prologue, PixelMap>> output;
  gemm::WgmmaPlan plan;
};

inline namespace WEFT_BACKEND {

// How many 8-byte pieces of `k_tile` are loaded for an operand whose k has `units` of them in all:
// those that are left, rounded up to the 32 bytes of k that one wgmma reads.
WEFT_DEVICE int GatherUnitsOf(int units, int k_tile) {
  const int left = (units - k_tile * gemm::kGatherUnits + 3) & ~3;
  return left < gemm::kGatherUnits ? left : gemm::kGatherUnits;
}

template <class Mma, class Tile>
class GatheredSource : public gemm::OperandTraits {
 public:
  WEFT_DEVICE GatheredSource(const Im2colParams& p, const Tile& tile) : p_(p), tile_(tile) {}

  WEFT_DEVICE gemm::GatheredRow Row(int row) const {
    const WindowPlace at = p_.Window(tile_, tile_.m * Mma::kBlockM + row);
    return {at.unit, at.h, at.w};
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to, int k_tile, const gemm::GatheredRow* rows,
                        int thread) const {
    const int units = GatherUnitsOf(p_.units, k_tile);
    const gemm::GatherShare share(thread, units);
    if (share.unit >= units) return;
    const std::int32_t unit = k_tile * gemm::kGatherUnits + share.unit;
    std::int32_t c = 0, s = 0;
    const std::int32_t tap = p_.channels.Divmod(unit, c);
    const std::int32_t r = p_.tap_columns.Divmod(tap, s);
    const std::int32_t below = r * p_.step_h, right = s * p_.step_w;
    const std::int32_t offset = (below * p_.w + right) * p_.pixel_units + c;
    // Pieces past the end of k become zeros: with h_end = 0 no row's tap is inside.
    const std::uint32_t h_end = unit < p_.units ? static_cast<std::uint32_t>(p_.h) : 0u;
    const std::uint8_t* const source = p_.Data(tile_, 8);
    to += share.Place();
    WEFT_UNROLL_4
    for (int row = share.first_row; row < Mma::kBlockM; row += share.row_step) {
      const gemm::GatheredRow at = t.LoadShared(&rows[row]);
      const bool inside =
          static_cast<std::uint32_t>(at.h + below) < h_end &&
          static_cast<std::uint32_t>(at.w + right) < static_cast<std::uint32_t>(p_.w);
      t.template CpAsync<8>(to, source + (at.unit + offset) * 8, inside ? 8 : 0);
      to += share.Step();
    }
  }

 private:
  const Im2colParams& p_;
  const Tile& tile_;
};

template <class Mma, class Tile>
class GatheredFilter : public gemm::OperandTraits {
 public:
  WEFT_DEVICE GatheredFilter(const FilterParams& p, const Tile& tile)
      : p_(p), filter_(static_cast<const std::uint8_t*>(p.Data(tile))), k_(tile.n * Mma::kBlockN) {}

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to, int k_tile, const gemm::GatheredRow*,
                        int thread) const {
    const int units = GatherUnitsOf(p_.units, k_tile);
    const gemm::GatherShare share(thread, units);
    if (share.unit >= units) return;
    const std::int32_t unit = k_tile * gemm::kGatherUnits + share.unit;
    // Rows past the filter's output channels keep what is in shared memory: nobody stores their
    // products.
    const std::int32_t rows = p_.padded_k - k_ < Mma::kBlockN ? p_.padded_k - k_ : Mma::kBlockN;
    const int bytes = unit < p_.units ? 8 : 0;
    to += share.Place();
    const std::uint8_t* from =
        filter_ + (k_ + share.first_row) * p_.row_bytes + std::int64_t{unit} * 8;
    WEFT_UNROLL_4
    for (int row = share.first_row; row < rows; row += share.row_step) {
      t.template CpAsync<8>(to, from, bytes);
      from += share.row_step * p_.row_bytes;
      to += share.Step();
    }
  }

 private:
  const FilterParams& p_;
  const std::uint8_t* filter_;
  std::int32_t k_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
