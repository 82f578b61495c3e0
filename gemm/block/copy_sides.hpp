// The parts of a Copy (gemm/tiled_copy.hpp): its two sides, each of which a thread has in registers
// or in memory, and which of the elements lie inside the matrix.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/coordinate_tensor.hpp"
#include "weft/layouts/partition.hpp"
#include "weft/layouts/register_tensor.hpp"

namespace weft::gemm {

enum class Memory { kGlobal, kShared, kRegisters };

inline namespace WEFT_BACKEND {

// The elements of one access.
template <class ElementT, int kCount>
struct alignas(kCount * sizeof(ElementT)) CopyVector {
  unsigned char byte[kCount * sizeof(ElementT)];
};

// How many elements of type ElementT an access of CopyT has; 1 if it is smaller than one, for which
// Copy has a message.
template <class CopyT, class ElementT>
inline constexpr int kElementsOfAccess =
    CopyT::Access::kBytes < static_cast<int>(sizeof(ElementT))
        ? 1
        : CopyT::Access::kBytes / static_cast<int>(sizeof(ElementT));

// A side in registers: the thread's values, in the order of CopyT's layout.
template <class CopyT, class Tensor>
class RegisterSide {
 public:
  using Element = typename Tensor::Element;
  static constexpr int kCount = kElementsOfAccess<CopyT, Element>;
  using Vector = CopyVector<Element, kCount>;
  static_assert(static_cast<int>(layouts::Size(typename Tensor::Layout())) ==
                    static_cast<int>(layouts::Size<1>(typename CopyT::Layout())) / kCount * kCount,
                "weft: Copy: a thread's registers must be as many as its values in the "
                "TiledCopy's layout");

  WEFT_DEVICE RegisterSide(arch::Thread, Tensor& tensor) : tensor_(&tensor) {}

  WEFT_DEVICE Vector Load(arch::Thread, int access, int /*inside*/) const {
    Element elements[kCount];
    WEFT_UNROLL
    for (int e = 0; e < kCount; ++e) elements[e] = (*tensor_)[access * kCount + e];
    Vector vector = {};
    memcpy(&vector, elements, sizeof(vector));
    return vector;
  }
  WEFT_DEVICE void Store(arch::Thread, int access, int /*inside*/, const Vector& vector) const {
    Element elements[kCount];
    memcpy(static_cast<void*>(elements), &vector, sizeof(vector));
    WEFT_UNROLL
    for (int e = 0; e < kCount; ++e) (*tensor_)[access * kCount + e] = elements[e];
  }

 private:
  Tensor* tensor_;
};

// A side in memory: the thread's part of a view. inside: how many elements of an access lie inside
// the matrix. Others are loaded as zeros, and stored only to shared memory, which has room for all.
template <class CopyT, class Tensor, Memory kMemory>
class MemorySide {
 public:
  using Element = std::remove_cvref_t<decltype(*std::declval<const Tensor&>().data())>;
  static constexpr int kCount = kElementsOfAccess<CopyT, Element>;
  using Vector = CopyVector<Element, kCount>;

  WEFT_DEVICE MemorySide(arch::Thread t, Tensor& tensor)
      : own_(CopyT::template Partition<kCount>(t, tensor)) {
    static_assert(IsAdjacent(decltype(own_.layout())()),
                  "weft: Copy: the elements of one access must be neighbours in memory (stride "
                  "kInt<1>, swizzles beyond them) in source and destination; copy fewer bytes at "
                  "once, or along the other mode");
  }

  // The address of an access.
  WEFT_DEVICE auto* Address(int access) const { return &own_(0, access); }

  WEFT_DEVICE Vector Load(arch::Thread t, int access, int inside) const {
    Vector vector = {};
    if (inside == kCount) {
      vector = LoadFrom(In<kMemory>(), t, reinterpret_cast<const Vector*>(&own_(0, access)));
    } else if (kCount > 1) {
      Element elements[kCount] = {};
      WEFT_UNROLL
      for (int e = 0; e < kCount; ++e) {
        if (e < inside) elements[e] = LoadFrom(In<kMemory>(), t, &own_(e, access));
      }
      memcpy(&vector, elements, sizeof(vector));
    }
    return vector;
  }
  WEFT_DEVICE void Store(arch::Thread t, int access, int inside, const Vector& vector) const {
    StoreTo(In<kMemory>(), t, access, inside, vector);
  }

 private:
  template <Memory kWhere>
  using In = std::integral_constant<Memory, kWhere>;

  template <class Value>
  WEFT_DEVICE static Value LoadFrom(In<Memory::kGlobal>, arch::Thread t, const Value* from) {
    return t.LoadGlobal(from);
  }
  template <class Value>
  WEFT_DEVICE static Value LoadFrom(In<Memory::kShared>, arch::Thread t, const Value* from) {
    return t.LoadShared(from);
  }
  WEFT_DEVICE void StoreTo(In<Memory::kShared>, arch::Thread t, int access, int /*inside*/,
                           const Vector& vector) const {
    t.StoreShared(reinterpret_cast<Vector*>(&own_(0, access)), vector);
  }
  WEFT_DEVICE void StoreTo(In<Memory::kGlobal>, arch::Thread t, int access, int inside,
                           const Vector& vector) const {
    // Elements are made before the branch: behind it nvcc 13.0 assembles them byte by byte.
    Element elements[kCount];
    memcpy(static_cast<void*>(elements), &vector, sizeof(vector));
    if (inside == kCount) {
      t.StoreGlobal(reinterpret_cast<Vector*>(&own_(0, access)), vector);
    } else {
      WEFT_UNROLL
      for (int e = 0; e < kCount; ++e) {
        if (e < inside) t.StoreGlobal(&own_(e, access), elements[e]);
      }
    }
  }

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

  decltype(CopyT::template Partition<kCount>(std::declval<arch::Thread>(),
                                             std::declval<Tensor&>())) own_;
};

template <class CopyT, class Tensor, Memory kMemory>
using CopySide = std::conditional_t<layouts::IsRegisterTensor<Tensor>, RegisterSide<CopyT, Tensor>,
                                    MemorySide<CopyT, Tensor, kMemory>>;

// Where all elements of a tile lie inside the matrix.
struct Everywhere {};
template <class CopyT, int kCount>
struct AllInside {
  WEFT_DEVICE AllInside(arch::Thread, const Everywhere&) {}
  WEFT_DEVICE int Inside(int /*access*/) const { return kCount; }
};

// Where a coordinate tensor says which do. Where: its type.
template <class CopyT, int kCount, class Where>
class SomeInside {
 public:
  static_assert(layouts::IsCoordinateTensor<Where>,
                "weft: Copy's last argument is a coordinate tensor, cut and sliced as the "
                "matrix: LocalTile(CoordinateTensor(m, k), ...)");
  WEFT_DEVICE SomeInside(arch::Thread t, const Where& where)
      : own_(CopyT::template Partition<kCount>(t, where)) {}

  // How many elements of an access lie inside the matrix.
  WEFT_DEVICE int Inside(int access) const {
    const layouts::RowColumn at = own_(0, access), extent = own_.data().extent;
    if constexpr (kCount == 1) {
      return at.row < extent.row && at.column < extent.column;
    } else {
      using KMajor = decltype(layouts::Coalesce(layouts::Get<0>(own_.layout())));
      static_assert(layouts::kRank<KMajor> == 1,
                    "weft: Copy: one access reads along one mode of the coordinate tensor");
      constexpr bool kDown = layouts::IsInt<typename KMajor::Stride, 1>;
      const int left = kDown ? extent.row - at.row : extent.column - at.column;
      const bool inside = kDown ? at.column < extent.column : at.row < extent.row;
      return !inside || left < 0 ? 0 : left < kCount ? left : kCount;
    }
  }

 private:
  decltype(CopyT::template Partition<kCount>(std::declval<arch::Thread>(),
                                             std::declval<const Where&>())) own_;
};

template <class CopyT, int kCount, class Where>
using InsideOf = std::conditional_t<std::is_same_v<Where, Everywhere>, AllInside<CopyT, kCount>,
                                    SomeInside<CopyT, kCount, Where>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
