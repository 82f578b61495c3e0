// Operand tiles of the implicit GEMM for the mma_sm80 mainloop over NHWC pixels and KRSC filters.
//
// Both operands are rows whose k runs along memory, (r, s, c) with c fastest, cut into pieces of
// kBytes channels (config.alignment.src); a piece never straddles two taps, since C is a multiple
// of it.
#pragma once

#include <cstdint>

#include "weft/conv/cursor.hpp"
#include "weft/conv/mma_tiles.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

template <class G, template <int, int> class Cursor, int kBytes>
class NhwcActivationTile {
  using Share = PacketShare<G, G::kBlockM, kBytes>;

 public:
  WEFT_DEVICE NhwcActivationTile(arch::Thread t, const ActivationParams& params, int tile_m)
      : src_(static_cast<const std::uint8_t*>(params.src)),
        cursor_(params, RowList<Share, G::kBlockM>(t, tile_m).row,
                Share::First(t) * Share::kPieces + Share::Piece(t)) {}

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared) {
    WEFT_UNROLL
    for (int k = 0; k < Share::kCount; ++k) {
      const int packet = Share::First(t) + k * Share::kStep;
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) {
        const bool inside = cursor_.Inside(i);
        const std::uint8_t* source = inside ? src_ + cursor_.Offset(i) * kBytes : src_;
        t.template CpAsync<kBytes>(shared + Share::Target(t, packet, Share::Row(t, i)), source,
                                   inside ? kBytes : 0);
      }
      cursor_.Advance();
    }
  }

 private:
  const std::uint8_t* src_;
  Cursor<Share::kRows, Share::kStep * Share::kPieces> cursor_;
};

template <class G, int kBytes>
class KrscFilterTile {
  using Share = PacketShare<G, G::kBlockN, kBytes>;

 public:
  WEFT_DEVICE KrscFilterTile(arch::Thread t, const FilterParams& params, int tile_n)
      : p_(params), kp_(Share::First(t) * Share::kPieces + Share::Piece(t)) {
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) {
      const std::int64_t k = tile_n * G::kBlockN + Share::Row(t, i);
      inside_[i] = k < p_.padded_k;
      line_[i] =
          static_cast<const std::uint8_t*>(p_.filter) + (inside_[i] ? k * p_.packets * kBytes : 0);
    }
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared) {
    WEFT_UNROLL
    for (int k = 0; k < Share::kCount; ++k) {
      const int packet = Share::First(t) + k * Share::kStep;
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) {
        const bool inside = inside_[i] && kp_ < p_.packets;
        const int row = gemm::ChannelRow<G::kRun>(Share::Row(t, i));
        t.template CpAsync<kBytes>(shared + Share::Target(t, packet, row),
                                   inside ? line_[i] + static_cast<std::int64_t>(kp_) * kBytes
                                          : static_cast<const std::uint8_t*>(p_.filter),
                                   inside ? kBytes : 0);
      }
      kp_ += Share::kStep * Share::kPieces;
    }
  }

 private:
  const FilterParams& p_;
  std::int32_t kp_;
  const std::uint8_t* line_[Share::kRows];
  bool inside_[Share::kRows];
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
