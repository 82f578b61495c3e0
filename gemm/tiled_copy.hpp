// TiledCopy: the threads of a block copy the elements of a tile between global memory, shared
// memory and registers. A thread-value layout says which elements each thread copies
// (docs/tiled.md).
//
//     using CopyA = gemm::TileCopy<gemm::CpAsync<16>, std::int8_t, Ints<64, 64>, RowMajor, 128>;
//     gemm::Copy(t, CopyA(), a, shared_a, where);  // zeros where `where` leaves the matrix
//     t.CpAsyncCommit();
//     t.CpAsyncWait<0>();
//     t.SyncThreads();
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/block/copy_sides.hpp"
#include "weft/gemm/tile/share.hpp"
#include "weft/gemm/tile/traits.hpp"
#include "weft/layouts/coordinate_tensor.hpp"
#include "weft/layouts/partition.hpp"
#include "weft/layouts/register_tensor.hpp"

namespace weft::gemm {

// One access of a thread copies kBytes = 1 to 16 bytes. In global and shared memory they are
// adjacent, at an address that is a multiple of kBytes; in registers nothing need be adjacent.
template <Memory kFromOf, Memory kToOf, int kBytesOf, bool kAsyncOf = false>
struct CopyAccess {
  static constexpr Memory kFrom = kFromOf, kTo = kToOf;
  static constexpr int kBytes = kBytesOf;
  static constexpr bool kAsync = kAsyncOf;
  static_assert(kBytes == 1 || kBytes == 2 || kBytes == 4 || kBytes == 8 || kBytes == 16,
                "weft: one access of a copy has 1, 2, 4, 8 or 16 bytes");
  static_assert(!kAsync || kBytes >= 4, "weft: CpAsync<bytes> copies 4, 8 or 16 bytes");
};
template <int kBytes>  // cp.async, from sm_80
using CpAsync = CopyAccess<Memory::kGlobal, Memory::kShared, kBytes, true>;
template <int kBytes>
using GlobalToShared = CopyAccess<Memory::kGlobal, Memory::kShared, kBytes>;
template <int kBytes>
using GlobalToRegisters = CopyAccess<Memory::kGlobal, Memory::kRegisters, kBytes>;
template <int kBytes>
using SharedToRegisters = CopyAccess<Memory::kShared, Memory::kRegisters, kBytes>;
template <int kBytes>
using RegistersToShared = CopyAccess<Memory::kRegisters, Memory::kShared, kBytes>;
template <int kBytes>
using RegistersToGlobal = CopyAccess<Memory::kRegisters, Memory::kGlobal, kBytes>;
template <int kBytes>
using SharedToGlobal = CopyAccess<Memory::kShared, Memory::kGlobal, kBytes>;

namespace internal {

// A tile of kMnMajor lines in the form of a mainloop, so that Share (share.hpp) can divide it among
// threads.
template <int kMnMajor, int kThreadsOf>
struct CopiedExtent : MainloopTraits {
  static constexpr int kBlockM = kMnMajor, kThreads = kThreadsOf;
};

}  // namespace internal

inline namespace WEFT_BACKEND {

// Tv is the layout (thread, value) -> index of the tile, which counts along the first mode of views
// first. Consecutive values make up accesses of Access::kBytes.
template <class AccessT, class Tv>
struct TiledCopy {
  using Access = AccessT;
  using Layout = Tv;
  static constexpr int kThreads = layouts::Size<0>(Tv());

  // Tv as (thread, (element of an access, access)), with kCount elements in an access.
  template <int kCount>
  using Accesses = decltype(layouts::MakeLayout(
      layouts::Get<0>(Tv()),
      layouts::LogicalDivide(layouts::Get<1>(Tv()), layouts::MakeLayout(layouts::Int<kCount>()))));

  // The part of a view of the tile that a thread copies: (element of an access, access).
  template <int kCount, class View>
  WEFT_DEVICE static auto Partition(arch::Thread t, const View& view) {
    static_assert(
        layouts::IsTensorView<View>,
        "weft: Copy takes views of the tile in memory, and a RegisterTensor for registers");
    static_assert(layouts::StaticInteger<decltype(layouts::Size(view))>,
                  "weft: Copy takes tiles whose extents are known at compile time: LocalTile(view, "
                  "Ints<64, 32>(), ...)");
    if constexpr (layouts::StaticInteger<decltype(layouts::Size(view))>) {
      static_assert(decltype(layouts::Size(view))::value == layouts::Size(Tv()),
                    "weft: Copy: the tile has another number of elements than the TiledCopy's "
                    "thread-value layout");
    }
    return layouts::PartitionValues(view, Accesses<kCount>(), t.tid());
  }
};

// The layout (thread, value) -> index of a Tile = Ints<rows, columns> for kThreads threads and
// accesses of kElements elements: neighbouring threads take neighbouring accesses along Order
// (RowMajor: of a row), then neighbouring lines (share.hpp).
template <int kElements, class Tile, class Order, int kThreads>
struct TileCopyLayout {
  static constexpr bool kRows = std::is_same_v<Order, layouts::RowMajor>;
  static constexpr int kTileRows = layouts::Get<0>(Tile()), kTileColumns = layouts::Get<1>(Tile());
  static constexpr int kKMajor = kRows ? kTileColumns : kTileRows;
  static constexpr int kMnMajor = kRows ? kTileRows : kTileColumns;
  static_assert(kElements > 0 && kKMajor % kElements == 0,
                "weft: TileCopy: the tile's lines must be a multiple of one access");
  static constexpr int kPieces = kKMajor / kElements;  // accesses of a line
  static_assert((kPieces * kMnMajor) % kThreads == 0 &&
                    (kThreads % kPieces == 0 || kPieces % kThreads == 0),
                "weft: TileCopy: the threads must divide the tile's accesses, and an access's "
                "line the threads or they it");
  static constexpr int kInner = kPieces < kThreads ? kPieces : kThreads;
  using Share = gemm::Share<internal::CopiedExtent<kMnMajor, kThreads>, RowsOfA,
                            Pieces<kInner, 1, kPieces / kInner>>;
  using Layout =
      typename Share::template Elements<kElements, kRows ? 1 : kTileRows, kRows ? kTileRows : 1>;
};

// The TiledCopy of a Tile of ElementT, with that layout.
template <class Access, class ElementT, class Tile, class Order, int kThreads>
using TileCopy =
    TiledCopy<Access, typename TileCopyLayout<Access::kBytes / static_cast<int>(sizeof(ElementT)),
                                              Tile, Order, kThreads>::Layout>;

// The implementation of Copy (below) for certain types of tensors.
template <class CopyT, class Src, class Dst, class Where>
class CopyRun {
  using Access = typename CopyT::Access;
  static_assert(layouts::IsRegisterTensor<Src> == (Access::kFrom == Memory::kRegisters) &&
                    layouts::IsRegisterTensor<Dst> == (Access::kTo == Memory::kRegisters),
                "weft: Copy: the access names the memories of source and destination: "
                "RegistersToGlobal<4> takes a RegisterTensor and a view, CpAsync<16> two views");
  using From = CopySide<CopyT, const Src, Access::kFrom>;
  using To = CopySide<CopyT, Dst, Access::kTo>;
  using ElementT = typename From::Element;
  static_assert(std::is_same_v<ElementT, typename To::Element>,
                "weft: Copy: source and destination must have elements of one type; Recast one, or "
                "convert in registers");
  static_assert(Access::kBytes >= static_cast<int>(sizeof(ElementT)),
                "weft: Copy: one access is smaller than an element");
  static constexpr int kAccesses =
      static_cast<int>(layouts::Size<1>(typename CopyT::Layout())) / From::kCount;

 public:
  WEFT_DEVICE static void Run(arch::Thread t, const Src& src, Dst& dst, const Where& where) {
    if (t.tid() >= CopyT::kThreads) return;
    const From from(t, src);
    const To to(t, dst);
    const InsideOf<CopyT, From::kCount, Where> matrix(t, where);
    WEFT_UNROLL
    for (int access = 0; access < kAccesses; ++access) {
      const int inside = matrix.Inside(access);
      if constexpr (Access::kAsync) {
        t.template CpAsync<Access::kBytes>(t.SharedAddress(to.Address(access)),
                                           from.Address(access),
                                           inside * static_cast<int>(sizeof(ElementT)));
      } else {
        to.Store(t, access, inside, from.Load(t, access, inside));
      }
    }
  }
};

// Copies src to dst. Both are views of one tile, or in registers RegisterTensors of a thread's part
// of it. `where` is the coordinate tensor of the side in global memory: elements outside the matrix
// are not loaded, but replaced by zeros, and not stored to global memory. Loads from global memory
// take the read-only path. With CpAsync, addresses are formed for all accesses, also outside, and
// the copies have arrived only when the caller has waited for them. There are no barriers.
template <class CopyT, class Src, class Dst, class Where = Everywhere>
WEFT_DEVICE void Copy(arch::Thread t, CopyT, const Src& src, Dst&& dst, const Where& where = {}) {
  CopyRun<CopyT, Src, std::remove_reference_t<Dst>, Where>::Run(t, src, dst, where);
}

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
