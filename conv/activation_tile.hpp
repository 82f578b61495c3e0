// Operand A of the implicit GEMM for the simt mainloop: source pixels in NCxHWx<4>, through
// registers.
#pragma once

#include <cstdint>

#include "weft/conv/cursor.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/operand_share.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Cursor: Im2colCursor or PointwiseCursor.
template <class G, template <int, int> class Cursor>
class ActivationTile {
  using Share = gemm::ColumnShare<G>;

 public:
  using Fragment = typename Share::Fragment;

  WEFT_DEVICE ActivationTile(arch::Thread t, const ActivationParams& params, int tile_m)
      : src_(static_cast<const std::uint32_t*>(params.src)),
        cursor_(params, Pixels(t, tile_m).m, Share::Row(t.tid(), 0)) {}

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    WEFT_UNROLL
    for (int row = 0; row < Share::kRows; ++row) {
      WEFT_UNROLL
      for (int i = 0; i < Share::kColumns; ++i) {
        f.packet[row][i] = t.LoadGlobalOr0(src_ + cursor_.Offset(i), cursor_.Inside(i));
      }
      cursor_.Advance();
    }
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f,
                         std::uint32_t (*shared)[G::kBlockM]) const {
    Share::Store(t, f, shared);
  }

 private:
  struct PixelList {
    std::int32_t m[Share::kColumns];
  };
  WEFT_DEVICE static PixelList Pixels(arch::Thread t, int tile_m) {
    PixelList list;
    WEFT_UNROLL
    for (int i = 0; i < Share::kColumns; ++i) {
      list.m[i] = tile_m * G::kBlockM + Share::Column(t.tid(), i);
    }
    return list;
  }

  const std::uint32_t* src_;
  Cursor<Share::kColumns, Share::kRowStep> cursor_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
