// Operands that TMA loads (gemm/ring/tma_producer.hpp): the source by its im2col traversal,
// the filter in boxes.
//
// The traversal visits the positions of a window's first tap: row by row, image by image. The plan
// (conv/plan/wgmma_plan.hpp) says which of them are output pixels and how many a row has. With one
// copy for each tap every position is an output pixel; with one copy for all taps (a patch) the
// rows also hold columns that only taps of other pixels need.
#pragma once

#include <cstdint>

#include "weft/conv/policy/policy.hpp"
#include "weft/conv/source/pixel_map.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/gemm/hopper/tma_operand.hpp"
#include "weft/gemm/hopper/wgmma_sm90.hpp"
#include "weft/gemm/kernel/warp_specialized_params.hpp"
#include "weft/gemm/ring/tma_producer.hpp"

namespace weft::conv {

// Rows of the product are positions of the traversal. PixelMap's divisors are therefore the
// traversal's extents, while p and q are the output's: positions outside these are no output
// pixels.
struct Im2colPixelMap : PixelMap {
  // Over a source with a zero point, PaddingTransform writes it over the padding, so that the
  // epilogue has no border to correct.
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

// The same for packed output rows (config.packed_rows): a tile's columns are the channels of two
// output rows, and a row of the product is an output column of both. The epilogue counts output
// pixels: pixels 2 m and 2 m + 1 are those of row m.
struct PackedRowsPixelMap : Im2colPixelMap {
  std::int32_t last_first = 0;  // 1: pixel 2 m is in the lower one of the two output rows

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

// TMA copies either operand in chunks: some channels (32 in NCxHWx<32>) of one tap, or of all
// taps. k counts chunks: first those of all taps of the first channels, then those of the
// next ones. KTileCopies has the number of copies of each k tile, of which the last may have fewer.
struct KTileCopies {
  std::int32_t of_k_tile = 0;
  std::int32_t last = 0;  // number of the last k tile
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
  // The copies of one block of channels are taps_h rows of taps_w columns. Copy (i, j) begins
  // first_h + i * step_h rows and first_w + j * step_w columns from the traversal's corner, in
  // pixels.
  std::int32_t taps_h = 1, taps_w = 1;
  gemm::FastDivmod taps, taps_of_row;  // taps_h * taps_w, taps_w
  std::int32_t first_h = 0, first_w = 0, step_h = 0, step_w = 0;
  KTileCopies copies;
  std::int32_t copy_bytes = 0;  // of one copy, in shared memory
  // Channel coordinates from a chunk to the next: 1 block of channels, or in NHWC the channels.
  std::int32_t chunk_step = 0;
  std::int32_t group_channels = 0;  // channel coordinate, from a channel group to the next
};

struct TmaSourceParams : SourceCopies {
  arch::TensorMap map;
};

struct FilterCopies {
  gemm::FastDivmod taps;  // by the copies of a block of channels: KRSC and packed output rows
  KTileCopies copies;
  std::int32_t copy_bytes = 0;    // of one copy, in shared memory
  std::int32_t chunk_step = 0;    // KRSC: channels of a chunk
  std::int32_t k_tile_steps = 0;  // CxRSKx<32>: taps of a k tile
  // Packed output rows: the coordinate of the first copy's row of taps, and how many blocks of
  // channels a filter has.
  std::int32_t first_row = 0, blocks = 0;
};

struct TmaFilterParams : FilterCopies {
  arch::TensorMap map;
};

// What PaddingTransform (conv/hopper/padding_transform.hpp) reads to write a zero point into copies
// of at most 1024 positions.
struct PaddingParams {
  std::int32_t positions = 0;  // of one copy; 0: there is no padding to write
  std::int32_t copies = 0;     // that lie between the first tap and the last copy of any k tile
  gemm::FastDivmod passes;     // by the passes of a copy, of 32 positions each
  gemm::FastDivmod stride_h, stride_w;
  std::int32_t pitch_h = 1;   // rows of the traversal in an image
  std::int32_t row_log2 = 0;  // log2 of a position's bytes in shared memory: 32, 64 or 128
  std::int32_t h = 0, w = 0;  // rows and columns of the source
  std::uint32_t word = 0;     // the zero point in each of its four bytes
};
template <bool kTransforms>
struct WithPadding {};
template <>
struct WithPadding<true> {
  PaddingParams padding;
};
// Whether PolicyT's kernels have PaddingTransform as their stage transform.
template <class PolicyT>
inline constexpr bool kTransformsPadding =
    PolicyT::Epilogue::kSourceZeroPoint && KindOf<PolicyT> != Kind::kGather;

// The parameters of a wgmma_sm90 kernel whose operands TMA loads. kTransforms: whether it has a
// PaddingTransform.
template <class Prologue, class Epilogue, class PixelMapT, bool kTransforms>
struct TmaParams
    : WithPadding<kTransforms>,
      gemm::WarpSpecializedParams<typename BatchGrid<Prologue>::Params, TmaSourceParams,
                                  TmaFilterParams,
                                  gemm::OutputParams<Epilogue, RowsFor<Prologue, PixelMapT>>> {};
template <class PolicyT>
using WgmmaParams = TmaParams<typename PolicyT::Prologue, typename PolicyT::Epilogue,
                              PixelMapFor<PolicyT>, kTransformsPadding<PolicyT>>;

inline namespace WEFT_BACKEND {

// Operand A: the source, loaded by TMA in im2col mode, a copy for each chunk. It is the iterator of
// a gemm::TmaOperand, as that of the filter.
template <class PolicyT, class Mma>
class TmaSourceIterator {
  static constexpr bool kNhwc = CheckedPolicy<PolicyT>::kNhwc;

 public:
  using Params = TmaSourceParams;
  template <class Tile>
  WEFT_DEVICE TmaSourceIterator(const TmaSourceParams& p, const Tile& tile)
      : p_(p), rows_left_(p.taps_h), columns_left_(p.taps_w), tap_h_(p.first_h), tap_w_(p.first_w) {
    const PixelPlace at = p.rows.Place(tile, tile.m * Mma::kBlockM);
    n_ = at.n;
    h_ = at.p * p.stride_h - p.pad_top;
    w_ = at.q * p.stride_w - p.pad_left;
    if constexpr (kDependsOf<Tile>.group) first_channel_ = tile.batch.g * p.group_channels;
    channel_ = first_channel_;
  }

  WEFT_DEVICE void Seek(int k_tile) { SeekCopy(k_tile * p_.copies.of_k_tile); }

  WEFT_DEVICE int Count(int k_tile) const { return p_.copies.Count(k_tile); }

  template <class Load>
  WEFT_DEVICE void ForEachCopy(int k_tile, gemm::CopyShare share, const Load& load) {
    const int count = p_.copies.Count(k_tile);
    const int end = count < share.end ? count : share.end;
    GoTo(k_tile * p_.copies.of_k_tile + share.begin);
    WEFT_NO_UNROLL
    for (int i = share.begin; i < end; ++i, Next()) {
      const std::uint16_t offset[2] = {static_cast<std::uint16_t>(tap_w_),
                                       static_cast<std::uint16_t>(tap_h_)};
      const std::int32_t nhwc[4] = {channel_, w_, h_, n_}, blocked[4] = {w_, h_, channel_, n_};
      load(i, kNhwc ? nhwc : blocked, offset);
    }
  }

 private:
  // Goes on to copy `copy`, counted over all k tiles, past the copies of other threads. It steps over
  // a few of them; to find its place by divisions takes less time than to step over many.
  static constexpr int kMostCounted = 3;
  WEFT_DEVICE void GoTo(std::int32_t copy) {
    if (copy - copy_ > kMostCounted) SeekCopy(copy);
    WEFT_NO_UNROLL
    while (copy_ < copy) Next();
  }

  WEFT_DEVICE void SeekCopy(std::int32_t copy) {
    std::int32_t tap = 0, column = 0;
    const std::int32_t block = p_.taps.Divmod(copy, tap);
    const std::int32_t row = p_.taps_of_row.Divmod(tap, column);
    copy_ = copy, rows_left_ = p_.taps_h - row, columns_left_ = p_.taps_w - column;
    tap_h_ = p_.first_h + row * p_.step_h, tap_w_ = p_.first_w + column * p_.step_w;
    channel_ = first_channel_ + block * p_.chunk_step;
  }

  WEFT_DEVICE void Next() {
    ++copy_;
    tap_w_ += p_.step_w;
    if (--columns_left_ > 0) return;
    columns_left_ = p_.taps_w, tap_w_ = p_.first_w;
    tap_h_ += p_.step_h;
    if (--rows_left_ > 0) return;
    rows_left_ = p_.taps_h, tap_h_ = p_.first_h;
    channel_ += p_.chunk_step;
  }

  const TmaSourceParams& p_;
  std::int32_t n_, h_, w_, first_channel_ = 0, channel_;
  // The next copy's number, and how many are left of its block of channels and of its row of taps.
  std::int32_t copy_ = 0, rows_left_, columns_left_;
  std::int32_t tap_h_, tap_w_;
};

// Operand B: the filter, loaded by TMA in boxes of output channels by channels.
template <class PolicyT, class Mma>
class TmaFilterIterator {
  static constexpr bool kNhwc = CheckedPolicy<PolicyT>::kNhwc;
  static constexpr int kColumn =
      kNhwc ? 1 : 32 / CheckedPolicy<PolicyT>::kFilterBits;  // output channels in one step of k_
  static constexpr bool kPacksRows = Mma::kPackedRows > 1;

 public:
  using Params = TmaFilterParams;
  template <class Tile>
  WEFT_DEVICE TmaFilterIterator(const TmaFilterParams& p, const Tile& tile)
      : p_(p), k_(tile.n * (Mma::kBlockN / Mma::kPackedRows / kColumn)) {
    filter_ = static_cast<std::int32_t>(tile.filter);
    // With packed output rows the map's last dimension counts blocks of channels, those of all
    // filters one after the other.
    if constexpr (kPacksRows && !kNhwc) channel_ = filter_ * p.blocks;
  }

  WEFT_DEVICE void Seek(int k_tile) {
    if constexpr (kNhwc || kPacksRows) {
      channel_ += p_.taps.Divmod(k_tile * p_.copies.of_k_tile, tap_) * p_.chunk_step;
    }
  }

  WEFT_DEVICE int Count(int k_tile) const { return p_.copies.Count(k_tile); }

  // One thread loads all copies of a filter's k tile: there is no share.
  template <class Load>
  WEFT_DEVICE void ForEachCopy(int k_tile, gemm::CopyShare, const Load& load) {
    if constexpr (kNhwc || kPacksRows) {
      const int count = p_.copies.Count(k_tile);
      WEFT_NO_UNROLL
      for (int i = 0; i < count; ++i) {
        LoadTap(i, load);
        if (++tap_ == p_.taps.divisor()) tap_ = 0, channel_ += p_.chunk_step;
      }
    } else {  // one box has all taps of a k tile
      const std::int32_t at[4] = {0, k_, k_tile * p_.k_tile_steps, filter_};
      load(0, at);
    }
  }

 private:
  template <class Load>
  WEFT_DEVICE void LoadTap(int i, const Load& load) const {
    if constexpr (!kPacksRows) {
      const std::int32_t at[4] = {channel_, k_, tap_, filter_};
      load(i, at);
    } else if constexpr (kNhwc) {
      const std::int32_t at[5] = {channel_, k_, p_.first_row + tap_, 0, filter_};
      load(i, at);
    } else {
      const std::int32_t at[5] = {0, k_, p_.first_row + tap_, 0, channel_};
      load(i, at);
    }
  }

  const TmaFilterParams& p_;
  std::int32_t k_, filter_ = 0, tap_ = 0, channel_ = 0;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
