// Operands that TMA loads (gemm/hopper/mbar_ring.hpp): the source by its im2col traversal,
// the filter in boxes.
//
// The traversal visits the positions of a window's first tap: row by row, image by image. Which of
// them are output pixels and how many a row has, the plan says (conv/plan/wgmma_plan.hpp): with one
// copy for each tap every position is an output pixel; with one copy for all taps, a patch, rows
// also hold the columns that only the taps of others need.
#pragma once

#include <cstdint>

#include "weft/conv/policy/policy.hpp"
#include "weft/conv/source/pixel_map.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/gemm/hopper/mbar_ring.hpp"
#include "weft/gemm/hopper/wgmma_sm90.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::conv {

// Positions of the traversal as rows of the product. The divisors of PixelMap are the traversal's,
// p and q the output's.
struct Im2colPixelMap : PixelMap {
  // That of a source with a zero point, by PaddingTransform.
  static constexpr bool kPaddingIsFilled = true;

  template <class Tile>
  constexpr PixelPlace OutputPlace(const Tile& tile, std::int32_t m) const {
    PixelPlace at = Place(tile, m);
    at.inside = at.inside && at.p < p && at.q < q;
    return at;
  }
  template <class Tile>
  constexpr gemm::OutputPixel Pixel(const Tile& tile, std::int32_t m) const {
    return PixelAt(OutputPlace(tile, m));
  }
  template <class Tile>
  constexpr std::int32_t Row(const Tile&, std::int32_t pq, std::int32_t& column) const {
    column = pq % q;
    return pq / q;
  }
};

// The same where a row of the product is a column of two rows of the output (config.packed_rows):
// number 2 m and 2 m + 1 of the output's rows are those of row m.
struct PackedRowsPixelMap : Im2colPixelMap {
  std::int32_t last_first = 0;  // 1: the first is the lower row

  template <class Tile>
  constexpr PixelPlace OutputPlace(const Tile& tile, std::int32_t m) const {
    PixelPlace at = Place(tile, m >> 1);
    at.p = 2 * at.p + ((m & 1) ^ last_first);
    at.inside = at.inside && at.p < p && at.q < q;
    return at;
  }
  template <class Tile>
  constexpr gemm::OutputPixel Pixel(const Tile& tile, std::int32_t m) const {
    return PixelAt(OutputPlace(tile, m));
  }
};
template <class PolicyT>
using PixelMapFor =
    std::conditional_t<(PolicyT::config.packed_rows > 1), PackedRowsPixelMap, Im2colPixelMap>;

// What a copy of either operand serves is a chunk: `span` channels (32 in NCxHWx<32>) of one tap, or
// of all. Chunks of k: the taps of the first channels, then those of the next.
struct KTileCopies {
  std::int32_t of_k_tile = 0;
  std::int32_t last = 0;  // the last k tile
  std::int32_t of_last = 0;
  constexpr std::int32_t Count(int k_tile) const { return k_tile == last ? of_last : of_k_tile; }
};
constexpr KTileCopies CopiesOfKTiles(std::int64_t all, std::int64_t of_k_tile) {
  const std::int64_t k_tiles = gemm::CeilDiv(all, of_k_tile);
  return {gemm::Int32(of_k_tile), gemm::Int32(k_tiles - 1),
          gemm::Int32(all - (k_tiles - 1) * of_k_tile)};
}

struct SourceCopies {
  Im2colPixelMap rows;
  std::int32_t stride_h = 0, stride_w = 0, pad_top = 0, pad_left = 0;
  // Copies of one block of channels: rows and columns of them, and where they begin, in pixels from
  // the traversal's corner.
  std::int32_t taps_h = 1, taps_w = 1;
  gemm::FastDivmod taps, taps_of_row;  // taps_h * taps_w, taps_w
  std::int32_t first_h = 0, first_w = 0, step_h = 0, step_w = 0;
  KTileCopies copies;
  std::int32_t copy_bytes = 0;      // in shared memory
  std::int32_t span = 0;            // in coordinates: 1 block of channels, or their number in NHWC
  std::int32_t group_channels = 0;  // likewise, from a channel group to the next
};

struct TmaSourceParams : SourceCopies {
  arch::TensorMap map;
};

struct FilterCopies {
  gemm::FastDivmod taps;  // KRSC, config.packed_rows: copies of one block of channels
  KTileCopies copies;
  std::int32_t copy_bytes = 0;    // in shared memory
  std::int32_t span = 0;          // KRSC: channels of a chunk
  std::int32_t k_tile_steps = 0;  // CxRSKx<32>: taps of a k tile
  // config.packed_rows: where the first copy's rows of taps begin, and blocks of channels of a
  // filter.
  std::int32_t first_row = 0, blocks = 0;
};

struct TmaFilterParams : FilterCopies {
  arch::TensorMap map;
};

// What PaddingTransform writes (conv/hopper/padding_transform.hpp), into copies of at most 1024
// positions.
struct PaddingParams {
  std::int32_t positions = 0;  // of a copy; 0: there is nothing to write
  std::int32_t copies = 0;     // from the first tap to the last copy of any k tile
  gemm::FastDivmod passes;     // of 32 of them
  gemm::FastDivmod stride_h, stride_w;
  std::int32_t pitch_h = 1;   // rows of the traversal in an image
  std::int32_t row_log2 = 0;  // of a position's bytes: 32, 64 or 128
  std::int32_t h = 0, w = 0;  // of the source
  std::uint32_t word = 0;     // four times the zero point
};
template <bool kTransforms>
struct WithPadding {};
template <>
struct WithPadding<true> {
  PaddingParams padding;
};
// Whether it is part of PolicyT's kernels.
template <class PolicyT>
inline constexpr bool kFillsPadding =
    PolicyT::Epilogue::kSourceZeroPoint && !CheckedPolicy<PolicyT>::kGathers;

// The parameters of a wgmma_sm90 kernel.
template <class PolicyT>
struct WgmmaParams : WithPadding<kFillsPadding<PolicyT>> {
  // What all threads read first, side by side: a kernel's parameters are not in any cache when it starts.
  gemm::MbarRingParams ring;
  std::int32_t k_tiles = 0;
  std::int32_t tiles = 0;
  std::int32_t early = 0;  // k tiles of filters that are fetched before earlier kernels have ended
  typename BatchGrid<typename PolicyT::Prologue>::Params schedule;
  TmaSourceParams a;
  TmaFilterParams b;
  gemm::OutputParams<PolicyT, RowsFor<typename PolicyT::Prologue, PixelMapFor<PolicyT>>> output;
  gemm::WgmmaPlan plan;
};

inline namespace WEFT_BACKEND {

template <class PolicyT, class Mma>
class TmaSource : public gemm::OperandTraits {
  static constexpr bool kNhwc = CheckedPolicy<PolicyT>::kNhwc;

 public:
  static constexpr bool kHasTensorMap = true;
  template <class Tile>
  WEFT_DEVICE TmaSource(const TmaSourceParams& p, const Tile& tile)
      : p_(p), tap_h_(p.first_h), tap_w_(p.first_w) {
    const PixelPlace at = p.rows.Place(tile, tile.m * Mma::kBlockM);
    n_ = at.n;
    h_ = at.p * p.stride_h - p.pad_top;
    w_ = at.q * p.stride_w - p.pad_left;
    if constexpr (kDependsOf<Tile>.group) channel_ = tile.batch.g * p.group_channels;
  }

  // Copies of `k_tile` come next; at first those of k tile 0 do.
  WEFT_DEVICE void Seek(int k_tile) {
    std::int32_t tap = 0;
    const std::int32_t block = p_.taps.Divmod(k_tile * p_.copies.of_k_tile, tap);
    row_ = p_.taps_of_row.Divmod(tap, column_);
    tap_h_ = p_.first_h + row_ * p_.step_h, tap_w_ = p_.first_w + column_ * p_.step_w;
    channel_ += block * p_.span;
  }

  WEFT_DEVICE int Bytes(int k_tile, gemm::CopyShare share = {}) const {
    return share.Count(p_.copies.Count(k_tile)) * p_.copy_bytes;
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to, std::uint32_t bar, int k_tile,
                        gemm::CopyShare share = {}) {
    ForEachCopy(k_tile, share, [&](int i, const auto& at, const auto& offset) {
      t.TmaLoadIm2col(to + static_cast<std::uint32_t>(i * p_.copy_bytes), p_.map, bar, at, offset);
    });
  }
  WEFT_DEVICE void Prefetch(arch::Thread t, int k_tile, gemm::CopyShare share) {
    ForEachCopy(k_tile, share, [&](int, const auto& at, const auto& offset) {
      t.TmaPrefetchIm2col(p_.map, at, offset);
    });
  }

 private:
  // copy(number, coordinates, offset) for a thread's share.
  template <class CopyFunction>
  WEFT_DEVICE void ForEachCopy(int k_tile, gemm::CopyShare share, const CopyFunction& copy) {
    const int count = p_.copies.Count(k_tile);
    WEFT_NO_UNROLL
    for (int i = 0; i < count; ++i, Next()) {
      if (!share.Has(i)) continue;
      const std::uint16_t offset[2] = {static_cast<std::uint16_t>(tap_w_),
                                       static_cast<std::uint16_t>(tap_h_)};
      const std::int32_t nhwc[4] = {channel_, w_, h_, n_}, blocked[4] = {w_, h_, channel_, n_};
      copy(i, kNhwc ? nhwc : blocked, offset);
    }
  }
  WEFT_DEVICE void Next() {
    tap_w_ += p_.step_w;
    if (++column_ < p_.taps_w) return;
    column_ = 0, tap_w_ = p_.first_w;
    tap_h_ += p_.step_h;
    if (++row_ < p_.taps_h) return;
    row_ = 0, tap_h_ = p_.first_h;
    channel_ += p_.span;
  }

  const TmaSourceParams& p_;
  std::int32_t n_, h_, w_, channel_ = 0;
  std::int32_t row_ = 0, column_ = 0, tap_h_, tap_w_;
};

template <class PolicyT, class Mma>
class TmaFilter : public gemm::OperandTraits {
  static constexpr bool kNhwc = CheckedPolicy<PolicyT>::kNhwc;
  static constexpr int kColumn =
      kNhwc ? 1 : 32 / CheckedPolicy<PolicyT>::kFilterBits;  // channels of a line
  static constexpr bool kPacksRows = Mma::kPackedRows > 1;

 public:
  static constexpr bool kHasTensorMap = true;
  template <class Tile>
  WEFT_DEVICE TmaFilter(const TmaFilterParams& p, const Tile& tile)
      : p_(p), k_(tile.n * (Mma::kBlockN / Mma::kPackedRows / kColumn)) {
    filter_ = static_cast<std::int32_t>(tile.filter);
    // The map's last dimension is that of blocks then, those of all filters.
    if constexpr (kPacksRows && !kNhwc) channel_ = filter_ * p.blocks;
  }

  WEFT_DEVICE void Seek(int k_tile) {
    if constexpr (kNhwc || kPacksRows) {
      channel_ += p_.taps.Divmod(k_tile * p_.copies.of_k_tile, tap_) * p_.span;
    }
  }

  WEFT_DEVICE int Bytes(int k_tile, gemm::CopyShare share = {}) const {
    return share.Count(p_.copies.Count(k_tile)) * p_.copy_bytes;
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to, std::uint32_t bar, int k_tile,
                        gemm::CopyShare = {}) {
    if constexpr (kNhwc || kPacksRows) {
      WEFT_NO_UNROLL
      for (int left = p_.copies.Count(k_tile); left > 0; --left) {
        if constexpr (!kPacksRows) {
          t.TmaLoad(to, p_.map, bar, {channel_, k_, tap_, filter_});
        } else if constexpr (kNhwc) {
          t.TmaLoad(to, p_.map, bar, {channel_, k_, p_.first_row + tap_, 0, filter_});
        } else {
          t.TmaLoad(to, p_.map, bar, {0, k_, p_.first_row + tap_, 0, channel_});
        }
        to += p_.copy_bytes;
        if (++tap_ == p_.taps.divisor()) tap_ = 0, channel_ += p_.span;
      }
    } else {
      t.TmaLoad(to, p_.map, bar, {0, k_, k_tile * p_.k_tile_steps, filter_});
    }
  }

 private:
  const TmaFilterParams& p_;
  std::int32_t k_, filter_ = 0, tap_ = 0, channel_ = 0;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
