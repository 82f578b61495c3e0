// C of a block's product in shared memory, and its way from and to global memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/operand/operand.hpp"
#include "weft/layouts/matrix.hpp"
#include "weft/layouts/tensor_view.hpp"

namespace weft::gemm {

inline namespace WEFT_BACKEND {

// kRowMajor: rows run along memory, there and in global memory. Lines are an odd multiple of 32 bytes
// apart: what the lanes of a warp hold of neighbouring lines then lies in different banks.
template <class Element_, bool kRowMajor, int kM, int kN, int kThreads, int kAlignment>
struct BlockResult {
  using Element = Element_;
  static constexpr int kElementBytes = sizeof(Element);
  static constexpr int kLine = kRowMajor ? kN : kM, kLines = kRowMajor ? kM : kN;
  static constexpr int kPitch =
      (CeilDiv(kLine * kElementBytes, 32) / 2 * 2 + 1) * 32 / kElementBytes;

  using Layout = LayoutOf<Ints<kM, kN>, Ints<kRowMajor ? kPitch : 1, kRowMajor ? 1 : kPitch>>;
  using View = layouts::TensorView<Element*, Layout>;
  struct Storage {
    alignas(16) std::uint8_t byte[kLines * kPitch * kElementBytes];
  };
  WEFT_DEVICE static View ViewOf(Storage& storage) {
    return View(reinterpret_cast<Element*>(storage.byte), Layout());
  }

  // The part of C that the matrix has; nothing else is written.
  WEFT_DEVICE static void Load(arch::Thread t, const layouts::Matrix<const Element>& from,
                               const View& to) {
    ForEachPiece(t, from, to, [&](const Element* global, Element* shared, auto piece) {
      using Type = decltype(piece);
      t.StoreShared(reinterpret_cast<Type*>(shared),
                    t.LoadGlobalCoherent(reinterpret_cast<const Type*>(global)));
    });
  }
  WEFT_DEVICE static void Store(arch::Thread t, const View& from,
                                const layouts::Matrix<Element>& to) {
    ForEachPiece(t, to, from, [&](Element* global, Element* shared, auto piece) {
      using Type = decltype(piece);
      t.StoreGlobal(reinterpret_cast<Type*>(global),
                    t.LoadShared(reinterpret_cast<const Type*>(shared)));
    });
  }

 private:
  // move(global, shared, value of the type to move), in pieces of kAlignment bytes along lines.
  template <class ElementT, class Move>
  WEFT_DEVICE static void ForEachPiece(arch::Thread t, const layouts::Matrix<ElementT>& global,
                                       const View& shared, const Move& move) {
    if (t.tid() >= kThreads) return;
    constexpr int kElements = kAlignment > kElementBytes ? kAlignment / kElementBytes : 1;
    constexpr int kPieces = CeilDiv(kLine, kElements);
    const std::int64_t pitch = kRowMajor ? global.row_stride : global.col_stride;
    const std::int64_t lines = kRowMajor ? global.rows : global.cols;
    const std::int64_t line_length = kRowMajor ? global.cols : global.rows;
    for (int i = t.tid(); i < kLines * kPieces; i += kThreads) {
      const int line = i / kPieces, first = i % kPieces * kElements;
      if (line >= lines) return;
      const int end = line_length < kLine ? static_cast<int>(line_length) : kLine;
      ElementT* const from = global.data + line * pitch + first;
      Element* const to = shared.data() + line * kPitch + first;
      if constexpr (kElements * kElementBytes >= 4) {
        if (first + kElements <= end) {
          move(from, to, Piece<kElements * kElementBytes>{});
          continue;
        }
      }
      for (int e = 0; e < kElements && first + e < end; ++e) move(from + e, to + e, Element{});
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
