// C of a Block's product (block.hpp) in shared memory, and its loads from and stores to global
// memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/block/block_config.hpp"
#include "weft/gemm/operand/operand.hpp"
#include "weft/layouts/matrix.hpp"
#include "weft/layouts/tensor_view.hpp"

namespace weft::gemm {

inline namespace WEFT_BACKEND {

// C of the product that Description describes. It is row-major or column-major alike in shared and
// in global memory. A line, which is a row or a column, begins an odd multiple of 32 bytes behind the one before, so that the
// elements of neighbouring lines that the lanes of a warp hold lie in different banks.
template <class Description>
struct BlockResult {
  using Element = typename Description::ElementC;
  static constexpr bool kRowMajor =
      std::is_same_v<typename Description::LayoutC, layouts::RowMajor>;
  static constexpr int kM = Description::config.shape.m, kN = Description::config.shape.n;
  static constexpr int kThreads = BlockPolicy<Description>::kThreads;
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

  // Load and Store copy the part of C that the matrix in global memory has; they write nothing
  // else.
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
  // Calls move(global, shared, value of the type to move) for pieces of kAlignment bytes along
  // lines, and for single elements at the end of a line.
  template <class ElementT, class Move>
  WEFT_DEVICE static void ForEachPiece(arch::Thread t, const layouts::Matrix<ElementT>& global,
                                       const View& shared, const Move& move) {
    if (t.tid() >= kThreads) return;
    constexpr int kAlignment = Description::config.alignment;
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
