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
#include "weft/gemm/tile/share.hpp"
#include "weft/gemm/tile/traits.hpp"
#include "weft/layouts/coordinate_tensor.hpp"
#include "weft/layouts/partition.hpp"
#include "weft/layouts/register_tensor.hpp"

namespace weft::gemm {

enum class Memory { kGlobal, kShared, kRegisters };

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
struct SharedLines : MainloopTraits {
  static constexpr int kBlockM = kMnMajor, kThreads = kThreadsOf;
};

struct Everywhere {};

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
  using Share = gemm::Share<internal::SharedLines<kMnMajor, kThreads>, RowsOfA,
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
  static constexpr bool kFromRegisters = Access::kFrom == Memory::kRegisters;
  static constexpr bool kToRegisters = Access::kTo == Memory::kRegisters;
  template <class Tensor>
  static auto ElementIn() {
    if constexpr (layouts::IsRegisterTensor<Tensor>) {
      return std::type_identity<typename Tensor::Element>();
    } else {
      return std::type_identity<
          std::remove_cvref_t<decltype(*std::declval<const Tensor&>().data())>>();
    }
  }
  using ElementT = typename decltype(ElementIn<Src>())::type;
  static_assert(layouts::IsRegisterTensor<Src> == kFromRegisters &&
                    layouts::IsRegisterTensor<Dst> == kToRegisters,
                "weft: Copy: the access names the memories of source and destination: "
                "RegistersToGlobal<4> takes a RegisterTensor and a view, CpAsync<16> two views");
  static_assert(std::is_same_v<ElementT, typename decltype(ElementIn<Dst>())::type>,
                "weft: Copy: source and destination must have elements of one type; Recast one, or "
                "convert in registers");
  static constexpr int kElements = Access::kBytes / static_cast<int>(sizeof(ElementT));
  static_assert(kElements > 0, "weft: Copy: one access is smaller than an element");
  static constexpr int kCount = kElements > 0 ? kElements : 1;
  static constexpr int kAccesses =
      static_cast<int>(layouts::Size<1>(typename CopyT::Layout())) / kCount;
  struct alignas(kCount * sizeof(ElementT)) Vector {
    unsigned char byte[kCount * sizeof(ElementT)];
  };

  // Whether the elements of an access are adjacent in memory, also after the swizzle.
  template <class LayoutT>
  static constexpr bool IsAdjacent(const LayoutT&) {
    return kCount == 1 || std::is_same_v<decltype(layouts::Coalesce(layouts::Get<0>(LayoutT()))),
                                         layouts::Layout<layouts::Int<kCount>, layouts::Int<1>>>;
  }
  template <class Sw, class OffsetT, class LayoutT>
  static constexpr bool IsAdjacent(const layouts::ComposedLayout<Sw, OffsetT, LayoutT>&) {
    return IsAdjacent(LayoutT()) && Sw()(kCount - 1) == kCount - 1;
  }

  template <class Tensor>
  WEFT_DEVICE static auto Own(arch::Thread t, Tensor& tensor) {
    if constexpr (layouts::IsRegisterTensor<Tensor>) {
      static_assert(
          static_cast<int>(layouts::Size(typename Tensor::Layout())) == kAccesses * kCount,
          "weft: Copy: a thread's registers must be as many as its values in the "
          "TiledCopy's layout");
      return &tensor;
    } else {
      const auto own = CopyT::template Partition<kCount>(t, tensor);
      static_assert(IsAdjacent(decltype(own.layout())()),
                    "weft: Copy: the elements of one access must be neighbours in memory (stride "
                    "kInt<1>, swizzles beyond them) in source and destination; copy fewer bytes at "
                    "once, or along the other mode");
      return own;
    }
  }

  // How many elements of an access lie inside the matrix.
  template <class Own>
  static constexpr int Inside(const Own& where, int access) {
    if constexpr (std::is_same_v<Where, internal::Everywhere>) {
      return kCount;
    } else {
      const layouts::RowColumn at = where(0, access), extent = where.data().extent;
      if constexpr (kCount == 1) {
        return at.row < extent.row && at.column < extent.column;
      } else {
        using KMajor = decltype(layouts::Coalesce(layouts::Get<0>(where.layout())));
        static_assert(layouts::kRank<KMajor> == 1,
                      "weft: Copy: one access reads along one mode of the coordinate tensor");
        constexpr bool kDown = layouts::IsInt<typename KMajor::Stride, 1>;
        const int left = kDown ? extent.row - at.row : extent.column - at.column;
        const bool inside = kDown ? at.column < extent.column : at.row < extent.row;
        return !inside || left < 0 ? 0 : left < kCount ? left : kCount;
      }
    }
  }
  template <class WhereT>
  WEFT_DEVICE static auto OwnCoordinates(arch::Thread t, const WhereT& where) {
    if constexpr (std::is_same_v<WhereT, internal::Everywhere>) {
      return where;
    } else {
      static_assert(layouts::IsCoordinateTensor<WhereT>,
                    "weft: Copy's last argument is a coordinate tensor, cut and sliced as the "
                    "matrix: LocalTile(CoordinateTensor(m, k), ...)");
      return CopyT::template Partition<kCount>(t, where);
    }
  }

  template <class Own>
  WEFT_DEVICE static Vector Load(arch::Thread t, const Own& from, int access, int inside) {
    Vector vector = {};
    if constexpr (kFromRegisters) {
      ElementT elements[kCount];
      WEFT_UNROLL
      for (int e = 0; e < kCount; ++e) elements[e] = (*from)[access * kCount + e];
      memcpy(&vector, elements, sizeof(vector));
    } else {
      const auto load = [&](const auto* p) {
        if constexpr (Access::kFrom == Memory::kGlobal) {
          return t.LoadGlobal(p);
        } else {
          return t.LoadShared(p);
        }
      };
      if (inside == kCount) {
        vector = load(reinterpret_cast<const Vector*>(&from(0, access)));
      } else if (kCount > 1) {
        ElementT elements[kCount] = {};
        WEFT_UNROLL
        for (int e = 0; e < kCount; ++e) {
          if (e < inside) elements[e] = load(&from(e, access));
        }
        memcpy(&vector, elements, sizeof(vector));
      }
    }
    return vector;
  }

  template <class Own>
  WEFT_DEVICE static void Store(arch::Thread t, const Own& to, int access, int inside,
                                const Vector& vector) {
    ElementT elements[kCount];
    memcpy(static_cast<void*>(elements), &vector, sizeof(vector));
    if constexpr (kToRegisters) {
      WEFT_UNROLL
      for (int e = 0; e < kCount; ++e) (*to)[access * kCount + e] = elements[e];
    } else if constexpr (Access::kTo == Memory::kShared) {
      t.StoreShared(reinterpret_cast<Vector*>(&to(0, access)), vector);
    } else if (inside == kCount) {
      t.StoreGlobal(reinterpret_cast<Vector*>(&to(0, access)), vector);
    } else {
      WEFT_UNROLL
      for (int e = 0; e < kCount; ++e) {
        if (e < inside) t.StoreGlobal(&to(e, access), elements[e]);
      }
    }
  }

 public:
  WEFT_DEVICE static void Run(arch::Thread t, const Src& src, Dst& dst, const Where& where) {
    if (t.tid() >= CopyT::kThreads) return;
    const auto from = Own(t, src);
    const auto to = Own(t, dst);
    const auto coordinates = OwnCoordinates(t, where);
    WEFT_UNROLL
    for (int access = 0; access < kAccesses; ++access) {
      const int inside = Inside(coordinates, access);
      if constexpr (Access::kAsync) {
        t.template CpAsync<Access::kBytes>(t.SharedAddress(&to(0, access)), &from(0, access),
                                           inside * static_cast<int>(sizeof(ElementT)));
      } else {
        Store(t, to, access, inside, Load(t, from, access, inside));
      }
    }
  }
};

// Copies src to dst. Both are views of one tile, or in registers RegisterTensors of a thread's part
// of it. `where` is the coordinate tensor of the side in global memory: elements outside the matrix
// are not loaded, but replaced by zeros, and not stored to global memory. Loads from global memory
// take the read-only path. With CpAsync, addresses are formed for all accesses, also outside, and
// the copies have arrived only when the caller has waited for them. There are no barriers.
template <class CopyT, class Src, class Dst, class Where = internal::Everywhere>
WEFT_DEVICE void Copy(arch::Thread t, CopyT, const Src& src, Dst&& dst, const Where& where = {}) {
  CopyRun<CopyT, Src, std::remove_reference_t<Dst>, Where>::Run(t, src, dst, where);
}

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
