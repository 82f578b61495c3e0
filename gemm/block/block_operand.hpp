// An operand of a Block's product (block.hpp) in shared memory: how it is laid out, and how it is
// loaded from a matrix in global memory.
//
// The operand is a sequence of a mainloop's stages, one for each k tile. BlockLayout states with
// the layout algebra what the mainloop's Offset computes in bytes (tests/gemm/block/mma_test.cpp
// compares them).
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/block/block_config.hpp"
#include "weft/gemm/mainloop/pipeline.hpp"
#include "weft/gemm/mma/mma_shared.hpp"
#include "weft/gemm/operand/matrix_operand.hpp"
#include "weft/layouts/matrix.hpp"
#include "weft/layouts/tensor_view.hpp"

namespace weft::gemm {

namespace internal {

// The layout (row, k) -> element. Mma is a mainloop; Rows is RowsOfA, or the order in which Mma
// wants the columns of B (Mma::ColumnsOfB).
template <class Mma, class Rows, int kKTiles>
constexpr auto BlockLayout() {
  using layouts::Composition;
  using layouts::MakeLayout;
  using layouts::MakeTuple;
  constexpr int kElementBytes = Mma::kElementBytes;
  constexpr int kRows = Rows::template kExtent<Mma>;
  constexpr layouts::Int<(Rows::kIsA ? Mma::kBytesA : Mma::kBytesB) / kElementBytes> kStageDepth{};
  constexpr Mainloop kMainloop = Mma::config.kMainloop;
  if constexpr (kMainloop == Mainloop::kMmaSm80) {  // also wgmma; see mma_shared.hpp
    constexpr auto kStage =
        StageLayoutOf<typename Mma::Tiled::Element,
                      std::conditional_t<Rows::kIsA, typename Mma::LayoutA, typename Mma::LayoutB>,
                      kRows, Rows::kIsA ? 0 : Mma::kRun>();
    constexpr auto kUnswizzled = kStage.layout();
    const auto k =
        MakeLayout(layouts::Get<1>(kUnswizzled), MakeLayout(layouts::Int<kKTiles>{}, kStageDepth));
    return layouts::MakeComposedLayout(typename decltype(kStage)::Swizzle{}, layouts::Int<0>{},
                                       MakeLayout(layouts::Get<0>(kUnswizzled), k));
  } else if constexpr (kMainloop == Mainloop::kSimtAsync) {  // [k][row]
    constexpr layouts::Int<Rows::kIsA ? Mma::kPitchA : Mma::kPitchB> kPitch{};
    return MakeLayout(MakeLayout(layouts::Int<kRows>{}, layouts::Int<1>{}),
                      MakeLayout(MakeTuple(layouts::Int<Mma::kBlockK>{}, layouts::Int<kKTiles>{}),
                                 MakeTuple(kPitch, kStageDepth)));
  } else {  // simt: k groups as [group][row]
    constexpr layouts::Int<Mma::kGroupBytes / kElementBytes> kGroup{};
    const auto rows = [=] {
      const auto line = MakeLayout(layouts::Int<kRows>{}, kGroup);
      if constexpr (Rows::kIsA) {
        return Composition(line, typename Mma::PositionA());
      } else {
        return line;
      }
    }();
    const auto k =
        MakeLayout(MakeTuple(kGroup, layouts::Int<Mma::kGroups>{}, layouts::Int<kKTiles>{}),
                   MakeTuple(layouts::Int<1>{}, layouts::Int<kRows>{} * kGroup, kStageDepth));
    return MakeLayout(rows, k);
  }
}

struct NoConversion {
  template <class Type>
  constexpr Type operator()(const Type& x) const {
    return x;
  }
};

}  // namespace internal

inline namespace WEFT_BACKEND {

// Mainloop Mma as the shapes of operands see it (share.hpp): kThreadCount threads load a k tile, or
// the most of them that divide it evenly.
template <class Mma, int kThreadCount>
struct CopiedTile : Mma {
  static constexpr int kThreads = kThreadCount;
  static constexpr bool kMayIdle = true;
  template <class Rows, int kBytes>
  using KMajor = typename Mma::template KMajor<Rows, kBytes, CopiedTile>;
  template <class Rows, class Base = Mma>  // simt_async has none
  using Transposed = typename Base::template Transposed<Rows, CopiedTile>;
  template <class Rows, int kBytes, class Base = Mma>  // tensor cores have none
  using MnMajor = typename Base::template MnMajor<Rows, kBytes, CopiedTile>;
};

// Operand A or B of the product that Description describes, as RowsT says. Mma: its mainloop.
template <class Description, class Mma, class RowsT>
struct BlockOperand {
  using Rows = RowsT;
  using PolicyT = BlockPolicy<Description>;
  using Element = std::conditional_t<Rows::kIsA, typename Description::ElementA,
                                     typename Description::ElementB>;
  // Its rows of A (columns of B), and its k; and whether the matrix in global memory is K-major.
  static constexpr int kExtent =
      Rows::kIsA ? Description::config.shape.m : Description::config.shape.n;
  static constexpr int kDepth = Description::config.shape.k;
  static constexpr bool kKMajor =
      Rows::kIsA ? std::is_same_v<typename Description::LayoutA, layouts::RowMajor>
                 : std::is_same_v<typename Description::LayoutB, layouts::ColumnMajor>;
  static constexpr int kElementBytes = sizeof(Element);
  static constexpr int kKTiles = CeilDiv(kDepth, Mma::kBlockK);
  static constexpr int kKTileBytes = Rows::kIsA ? Mma::kBytesA : Mma::kBytesB;
  static constexpr int kBytes = kKTiles * kKTileBytes;

  using Layout = decltype(internal::BlockLayout<Mma, Rows, kKTiles>());
  using View = layouts::TensorView<Element*, Layout>;
  // The shared memory of one operand. A row of a k tile has at most 128 bytes, and the swizzle
  // moves elements within them only.
  struct Storage {
    alignas(Mma::kStageAlignment) std::uint8_t byte[kBytes];
  };
  WEFT_DEVICE static View ViewOf(Storage& storage) {
    return View(reinterpret_cast<Element*>(storage.byte), Layout());
  }

  // Starts to load a matrix of rows x k (for B columns x k). Threads from PolicyT::kThreads on do
  // nothing.
  template <class Type, class Load>
  WEFT_DEVICE static void Copy(arch::Thread t, const layouts::Matrix<const Type>& from,
                               const View& to, const Load& load) {
    constexpr bool kConverts = !std::is_same_v<Load, internal::NoConversion>;
    static_assert(kConverts || std::is_same_v<Type, Element>,
                  "weft: a matrix of another type than the operand's needs a function that "
                  "converts its elements: CopyA(t, from, to, load)");
    const auto rows = static_cast<std::int32_t>(from.rows < kExtent ? from.rows : kExtent);
    const auto depth = static_cast<std::int32_t>(from.cols < kDepth ? from.cols : kDepth);
    if constexpr (kConverts || Description::config.alignment < 4) {
      CopyElements(t, from, to, rows, depth, load);
    } else {
      CopyPieces(t, ParamsOf(from, rows, depth), to);
    }
  }

  // The operand that loads the matrix k tile by k tile (operand.hpp), made of an Origin and of
  // ParamsOf, in a block of PolicyT::kThreads threads or in the first so many of it.
  using Loader = MatrixOperandOf<CopiedTile<Mma, PolicyT::kThreads>, PolicyT, Rows,
                                 MatrixKind<kKMajor, false>>;
  struct Origin {
    int m = 0, n = 0;
  };
  static constexpr MatrixParams ParamsOf(const layouts::Matrix<const Element>& from,
                                         std::int32_t rows, std::int32_t depth) {
    return {.data = from.data,
            .pitch = kKMajor ? from.row_stride : from.col_stride,
            .extent = rows,
            .k = depth};
  }

 private:
  WEFT_DEVICE static void CopyPieces(arch::Thread t, const MatrixParams& params, const View& to) {
    if (t.tid() >= PolicyT::kThreads) return;
    Loader operand(t, params, Origin{});
    if constexpr (Mma::Pipeline::kAsync) {
      if constexpr (Loader::kLoadsAhead) operand.Begin(t);
      const std::uint32_t address = t.SharedAddress(to.data());
      for (int k_tile = 0; k_tile < kKTiles; ++k_tile) {
        WEFT_UNROLL
        for (int v = 0; v < Loader::kPieces; ++v) {
          operand.CopyPiece(t, address + static_cast<std::uint32_t>(k_tile * kKTileBytes), v);
        }
      }
    } else {
      auto* const bytes = reinterpret_cast<std::uint8_t*>(to.data());
      for (int k_tile = 0; k_tile < kKTiles; ++k_tile) {
        typename Loader::Fragment fragment{};  // g++ does not see that Load writes all of it
        operand.Load(t, fragment);
        operand.Store(t, fragment, bytes + k_tile * kKTileBytes);
      }
    }
  }

  // Loads elements one by one and stores zeros where the matrix has none.
  template <class Type, class Load>
  WEFT_DEVICE static void CopyElements(arch::Thread t, const layouts::Matrix<const Type>& from,
                                       const View& to, int rows, int depth, const Load& load) {
    if (t.tid() >= PolicyT::kThreads) return;
    constexpr int kRowsThere = Rows::template kExtent<Mma>, kDepthThere = kKTiles * Mma::kBlockK;
    for (int i = t.tid(); i < kRowsThere * kDepthThere; i += PolicyT::kThreads) {
      // Neighbouring threads load elements that are adjacent in global memory.
      const int row = kKMajor ? i / kDepthThere : i % kRowsThere;
      const int k = kKMajor ? i % kDepthThere : i / kRowsThere;
      Element x{};
      if (row < rows && k < depth) x = load(t.LoadGlobal(&from(row, k)));
      t.StoreShared(&to(row, k), x);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
