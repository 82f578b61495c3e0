// What steps 6 to 9 share: a ring of slices of k in shared memory, filled by cp.async.
#pragma once
#include "examples/ladder/product.hpp"

namespace ladder {

inline constexpr int kSliceK = 64;  // bytes of k in a slice

// kStages slices of 128 rows of A and 128 columns of B, which lie kPitch bytes apart.
template <int kStages_, int kPitch>
struct Ring {
  static constexpr int kStages = kStages_, kRows = 128;
  alignas(128) std::int8_t a[kStages][kRows * kPitch], b[kStages][kRows * kPitch];
};

inline namespace WEFT_BACKEND {

// Begins to copy bytes k to k + 63 of 128 rows from `first` on, 16 bytes at a time, which `place`
// puts somewhere. Four lanes have a row.
template <int kThreads, class Place>
WEFT_DEVICE void CopySlice(arch::Thread t, const Bytes& rows, int first, int k,
                           const std::int8_t* slice, Place place) {
  WEFT_UNROLL
  for (int i = 0; i < 128 * 4 / kThreads; ++i) {
    const int row = (t.tid() + i * kThreads) / 4, byte = t.tid() % 4 * 16;
    const bool inside = first + row < rows.rows && k + byte < rows.cols;
    t.CpAsync(t.SharedAddress(slice) + place(row, byte),
              &rows(inside ? first + row : 0, inside ? k + byte : 0), inside ? 16 : 0);
  }
}

// multiply(slice of A, slice of B) for all of them, of the tile that begins at (row, column).
// Slices are kStages - 1 ahead on their way.
template <int kThreads, class RingT, class Place, class Multiply>
WEFT_DEVICE void ForEachSlice(arch::Thread t, const Product& p, int row, int column,
                              const RingT& ring, Place place, Multiply multiply) {
  constexpr int kStages = RingT::kStages;
  const int slices = static_cast<int>((p.a.cols + kSliceK - 1) / kSliceK);
  const auto copy = [&](int i) {
    if (i < slices) {
      CopySlice<kThreads>(t, p.a, row, i * kSliceK, ring.a[i % kStages], place);
      CopySlice<kThreads>(t, p.b.Transposed(), column, i * kSliceK, ring.b[i % kStages], place);
    }
    t.CpAsyncCommit();  // a group a slice, also where there is none
  };
  for (int i = 0; i < kStages - 1; ++i) copy(i);
  for (int i = 0; i < slices; ++i) {
    t.CpAsyncWait<kStages - 2>();  // this thread's share of slice i is there,
    t.SyncThreads();               // the others' too, and slice i - 1 has been read
    copy(i + kStages - 1);
    multiply(ring.a[i % kStages], ring.b[i % kStages]);
  }
}

}  // namespace WEFT_BACKEND
}  // namespace ladder
