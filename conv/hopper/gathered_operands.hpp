// Operands of wgmma_sm90 over NHWC whose channels are a multiple of 8 and not of 16: TMA cannot
// read such rows, so producer threads load them (gemm/ring/gather_producer.hpp).
//
// k counts 8 channels at a time along (r, s, c), as mma_sm80 counts it over NHWC, so that taps of
// few channels leave no holes in a k tile.
#pragma once

#include <cstdint>

#include "weft/conv/source/kernel_params.hpp"
#include "weft/gemm/hopper/gathered_operand.hpp"
#include "weft/gemm/hopper/wgmma_sm90.hpp"
#include "weft/gemm/kernel/warp_specialized_params.hpp"

namespace weft::conv {

// What a kernel with gathered operands is launched with.
template <class Prologue, class Epilogue>
struct GatherParams
    : gemm::WarpSpecializedParams<typename BatchGrid<Prologue>::Params, Im2colParams, FilterParams,
                                  gemm::OutputParams<Epilogue, RowsFor<Prologue, PixelMap>>> {};

inline namespace WEFT_BACKEND {

// The iterators of gemm::GatheredOperand over the source and over the filter.
template <class Mma, class Tile>
class GatheredSource {
 public:
  WEFT_DEVICE GatheredSource(const Im2colParams& p, const Tile& tile) : p_(p), tile_(tile) {}

  WEFT_DEVICE int Units() const { return p_.units; }
  WEFT_DEVICE static int Rows() { return Mma::kBlockM; }
  WEFT_DEVICE gemm::GatheredRow Row(int row) const {
    const WindowPlace at = p_.Window(tile_, tile_.m * Mma::kBlockM + row);
    return {at.unit, at.h, at.w};
  }

  struct Pieces {
    std::int32_t below, right, offset;  // of the tap and channels, from a row's first tap
    std::uint32_t h_end, w_end;
    const std::uint8_t* source;

    WEFT_DEVICE gemm::GatheredPiece Next(arch::Thread t, const gemm::GatheredRow* rows, int row) {
      const gemm::GatheredRow at = t.LoadShared(&rows[row]);
      const bool inside = static_cast<std::uint32_t>(at.h + below) < h_end &&
                          static_cast<std::uint32_t>(at.w + right) < w_end;
      return {source + (at.unit + offset) * 8, inside ? 8 : 0};
    }
  };
  WEFT_DEVICE Pieces PiecesOf(const gemm::GatherShare&, std::int32_t unit) const {
    std::int32_t c = 0, s = 0;
    const std::int32_t tap = p_.channels.Divmod(unit, c);
    const std::int32_t r = p_.tap_columns.Divmod(tap, s);
    Pieces pieces;
    pieces.below = r * p_.step_h;
    pieces.right = s * p_.step_w;
    pieces.offset = (pieces.below * p_.w + pieces.right) * p_.pixel_units + c;
    // Pieces past the end of k become zeros: with h_end = 0 no row's tap is inside.
    pieces.h_end = unit < p_.units ? static_cast<std::uint32_t>(p_.h) : 0u;
    pieces.w_end = static_cast<std::uint32_t>(p_.w);
    pieces.source = p_.Data(tile_, 8);
    return pieces;
  }

 private:
  const Im2colParams& p_;
  const Tile& tile_;
};

template <class Mma, class Tile>
class GatheredFilter {
 public:
  WEFT_DEVICE GatheredFilter(const FilterParams& p, const Tile& tile)
      : p_(p), filter_(static_cast<const std::uint8_t*>(p.Data(tile))), k_(tile.n * Mma::kBlockN) {}

  WEFT_DEVICE int Units() const { return p_.units; }
  // Rows past the filter's output channels keep what is in shared memory: nobody stores their
  // products.
  WEFT_DEVICE int Rows() const {
    return p_.padded_k - k_ < Mma::kBlockN ? p_.padded_k - k_ : Mma::kBlockN;
  }

  struct Pieces {
    const std::uint8_t* from;
    std::int64_t step;
    int bytes;

    WEFT_DEVICE gemm::GatheredPiece Next(arch::Thread, const gemm::GatheredRow*, int /*row*/) {
      const gemm::GatheredPiece piece = {from, bytes};
      from += step;
      return piece;
    }
  };
  WEFT_DEVICE Pieces PiecesOf(const gemm::GatherShare& share, std::int32_t unit) const {
    Pieces pieces;
    pieces.from = filter_ + (k_ + share.first_row) * p_.row_bytes + std::int64_t{unit} * 8;
    pieces.step = share.row_step * p_.row_bytes;
    pieces.bytes = unit < p_.units ? 8 : 0;
    return pieces;
  }

 private:
  const FilterParams& p_;
  const std::uint8_t* filter_;
  std::int32_t k_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
