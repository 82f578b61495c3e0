// What steps 6 to 9 share: a ring of k tiles in shared memory, filled by cp.async.
#pragma once
#include "examples/ladder/product.hpp"

namespace ladder {

inline constexpr int kStageK = 64;  // bytes of k in a k tile

// kStages k tiles of 128 rows of A and 128 columns of B, which lie kPitch bytes apart.
template <int kStages_, int kPitch>
struct Ring {
  static constexpr int kStages = kStages_, kRows = 128;
  alignas(128) std::int8_t a[kStages][kRows * kPitch], b[kStages][kRows * kPitch];
};

inline namespace WEFT_BACKEND {

// Begins to copy bytes k to k + 63 of 128 rows from `first` on, 16 bytes at a time, which `place`
// puts somewhere. Four lanes have a row.
template <int kThreads, class Place>
WEFT_DEVICE void CopyKTile(arch::Thread t, const Bytes& rows, int first, int k,
                           const std::int8_t* k_tile, Place place) {
  WEFT_UNROLL
  for (int i = 0; i < 128 * 4 / kThreads; ++i) {
    const int row = (t.tid() + i * kThreads) / 4, byte = t.tid() % 4 * 16;
    const bool inside = first + row < rows.rows && k + byte < rows.cols;
    t.CpAsync(t.SharedAddress(k_tile) + place(row, byte),
              &rows(inside ? first + row : 0, inside ? k + byte : 0), inside ? 16 : 0);
  }
}

// multiply(k tile of A, k tile of B) for all of them, of the tile that begins at (row, column).
// K tiles are kStages - 1 ahead on their way.
template <int kThreads, class RingT, class Place, class Multiply>
WEFT_DEVICE void ForEachKTile(arch::Thread t, const Product& p, int row, int column,
                              const RingT& ring, Place place, Multiply multiply) {
  constexpr int kStages = RingT::kStages;
  const int k_tiles = static_cast<int>((p.a.cols + kStageK - 1) / kStageK);
  const auto copy = [&](int i) {
    if (i < k_tiles) {
      CopyKTile<kThreads>(t, p.a, row, i * kStageK, ring.a[i % kStages], place);
      CopyKTile<kThreads>(t, p.b.Transposed(), column, i * kStageK, ring.b[i % kStages], place);
    }
    t.CpAsyncCommit();  // a group a k tile, also where there is none
  };
  for (int i = 0; i < kStages - 1; ++i) copy(i);
  for (int i = 0; i < k_tiles; ++i) {
    t.CpAsyncWait<kStages - 2>();  // this thread's share of k tile i is there,
    t.SyncThreads();               // the others' too, and k tile i - 1 has been read
    copy(i + kStages - 1);
    multiply(ring.a[i % kStages], ring.b[i % kStages]);
  }
}

}  // namespace WEFT_BACKEND
}  // namespace ladder
