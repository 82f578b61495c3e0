// The sums of a block's product that a thread holds, as an object.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::gemm {

// Where a sum is: its row and column of C, and which of the thread's rows that is.
struct BlockPlace {
  int row = 0, column = 0;
  int own_row = 0;
};

namespace internal {

// Types of the library that stand for floats: weft::Half and the like.
template <class Type, class Sum>
concept RoundsSum = requires(Sum x) { Type::FromFloat(x); };
template <class Type>
concept ConvertsToFloat = requires(Type x) { x.ToFloat(); };

// What StoreShared and the like write to may know its extents, as layouts::Matrix does, and how far
// apart its rows are.
template <class View>
concept BoundedView = requires(const View& view) { view.rows < 0 && view.cols < 0; };
template <class View>
concept StridedView = requires(const View& view) { view.row_stride; };

// x as a Type: rounded to nearest, halves to even, where that is a floating-point type.
template <class Type, class Sum>
constexpr Type ConvertSum(Sum x) {
  if constexpr (RoundsSum<Type, Sum>) {
    return Type::FromFloat(static_cast<float>(x));
  } else {
    return static_cast<Type>(x);
  }
}
template <class Sum, class Type>
constexpr Sum ToSum(Type x) {
  if constexpr (ConvertsToFloat<Type>) {
    return static_cast<Sum>(x.ToFloat());
  } else {
    return static_cast<Sum>(x);
  }
}

}  // namespace internal

inline namespace WEFT_BACKEND {

// Mma: the mainloop, whose Map says who holds what. kRowCount x kColumnCount: the extents of C; Mma's tile
// may reach past them. kWholeRows: a warp holds whole rows.
//
// Threads from kThreads on hold nothing: IsActive is false for them, and every function here
// passes them over. All threads of a warp call a function together.
template <class Mma, int kRowCount, int kColumnCount, bool kWholeRows>
class BlockAccumulators {
  using Map = typename Mma::Map;

 public:
  using Sum = typename Map::Sum;
  using Registers = typename Map::Accumulators;
  static constexpr int kThreads = Mma::kThreads;  // that hold sums
  static constexpr int kRows = Map::kPixels;      // of one thread
  static constexpr int kSize = kRows * Map::kGroups * Map::kChannels;
  // Sums i kRun to i kRun + kRun - 1 are neighbours in a row.
  static constexpr int kRun = Map::kChannels;

  // The sums, 0 at the start.
  Registers registers = {};

  WEFT_DEVICE static bool IsActive(arch::Thread t) { return t.tid() < kThreads; }

  // Sum number e, 0 <= e < kSize, and its place. Loops over e are to be unrolled: registers have no
  // addresses.
  WEFT_DEVICE Sum& operator[](int e) {
    return Map::At(registers, Row(e), Group(e), e % Map::kChannels);
  }
  WEFT_DEVICE Sum operator[](int e) const {
    return Map::Get(registers, Row(e), Group(e), e % Map::kChannels);
  }
  WEFT_DEVICE static BlockPlace At(arch::Thread t, int e) {
    return {Map::Pixel(t, Row(e)), Map::Channel(t, Group(e)) + e % Map::kChannels, Row(e)};
  }

  // Whether a place of the tile is one of C.
  static constexpr bool InBounds(const BlockPlace& at) {
    return (kWholeM || at.row < kRowCount) && (kWholeN || at.column < kColumnCount);
  }

  // f(sum, place) for every sum of the thread's that is one of C: rows in turn, columns ascending.
  // Of a constant object the sums are values.
  template <class Functor>
  WEFT_DEVICE void ForEach(arch::Thread t, const Functor& f) {
    Visit(*this, t, f);
  }
  template <class Functor>
  WEFT_DEVICE void ForEach(arch::Thread t, const Functor& f) const {
    Visit(*this, t, f);
  }

  WEFT_DEVICE void Fill(Sum value) {
    WEFT_UNROLL
    for (int e = 0; e < kSize; ++e) (*this)[e] = value;
  }

  // view(row, column) = the sums, converted to the view's elements. view: anything that answers a
  // row and a column with a reference, such as layouts::TensorView, or layouts::Matrix, outside of
  // whose extents nothing is touched. kVector: how many neighbours of a row are one access, up to
  // kRun and 16 bytes; from 2 on columns are adjacent in memory, every kVector-th is aligned to so
  // many elements, and a matrix has a multiple of so many.
  template <int kVector = 1, class View>
  WEFT_DEVICE void StoreShared(arch::Thread t, const View& view) const {
    Store<kVector>(t, view, [&](auto* to, const auto& x) { t.StoreShared(to, x); });
  }
  template <int kVector = 1, class View>
  WEFT_DEVICE void StoreGlobal(arch::Thread t, const View& view) const {
    Store<kVector>(t, view, [&](auto* to, const auto& x) { t.StoreGlobal(to, x); });
  }

  // The sums become what view has at their places; others stay.
  template <class View>
  WEFT_DEVICE void LoadShared(arch::Thread t, const View& view) {
    ForEach(t, [&](Sum& sum, const BlockPlace& at) {
      if (Has(view, at)) sum = internal::ToSum<Sum>(t.LoadShared(&view(at.row, at.column)));
    });
  }
  template <class View>
  WEFT_DEVICE void LoadGlobal(arch::Thread t, const View& view) {
    ForEach(t, [&](Sum& sum, const BlockPlace& at) {
      if (Has(view, at)) sum = internal::ToSum<Sum>(t.LoadGlobalCoherent(&view(at.row, at.column)));
    });
  }

  // A value for each of the thread's rows (BlockPlace::own_row), the same in all threads of a row.
  template <class Type>
  struct RowValues {
    Type value[kRows];
    WEFT_DEVICE Type operator[](int own_row) const { return value[own_row]; }
    WEFT_DEVICE Type& operator[](int own_row) { return value[own_row]; }
  };

  // Of each row, `first` combined with value(sum, place) of all its columns; Type has 4 or 8 bytes.
  // The order is fixed: a thread's columns ascending, then neighbours of lanes 1, 2, 4 ... apart.
  // combine(a, b) is associative and commutative but for rounding, and first its neutral element.
  template <class Type, class Value, class Combine>
  WEFT_DEVICE RowValues<Type> ReduceRows(arch::Thread t, Type first, const Value& value,
                                         const Combine& combine) const {
    static_assert(kWholeRows,
                  "weft: ReduceRows needs a block's product with config.whole_rows = true, where a "
                  "warp holds whole rows");
    RowValues<Type> result;
    WEFT_UNROLL
    for (int i = 0; i < kRows; ++i) result[i] = first;
    if (!IsActive(t)) return result;
    ForEach(t, [&](Sum sum, const BlockPlace& at) {
      result[at.own_row] = combine(result[at.own_row], value(sum, at));
    });
    WEFT_UNROLL
    for (int i = 0; i < kRows; ++i) {
      WEFT_UNROLL
      for (int bit = 1; bit < 32; bit *= 2) {
        if (kColumnLanes & bit) result[i] = combine(result[i], t.ShflXor(result[i], bit));
      }
    }
    return result;
  }

  // Each row's largest sum, and what its sums add up to.
  WEFT_DEVICE RowValues<Sum> RowMax(arch::Thread t) const {
    return ReduceRows(
        t, std::numeric_limits<Sum>::lowest(), [](Sum x, const BlockPlace&) { return x; },
        [](Sum x, Sum y) { return x > y ? x : y; });
  }
  WEFT_DEVICE RowValues<Sum> RowSum(arch::Thread t) const {
    return ReduceRows(
        t, Sum{0}, [](Sum x, const BlockPlace&) { return x; }, [](Sum x, Sum y) { return x + y; });
  }

  // f(row, own_row) for each of the thread's rows of C, in one thread of those that share it.
  template <class Functor>
  WEFT_DEVICE static void ForEachRow(arch::Thread t, const Functor& f) {
    static_assert(kWholeRows, "weft: ForEachRow needs config.whole_rows = true");
    if (!IsActive(t) || (t.lane() & kColumnLanes) != 0) return;
    WEFT_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const int row = Map::Pixel(t, i);
      if (kWholeM || row < kRowCount) f(row, i);
    }
  }

 private:
  static constexpr bool kWholeM = Mma::kBlockM == kRowCount, kWholeN = Mma::kBlockN == kColumnCount;
  // The bits of a lane's number that tell apart the lanes of a row.
  static constexpr int kColumnLanes = 31 & ~Map::kSharingLanes;

  template <class Self, class Functor>
  WEFT_DEVICE static void Visit(Self& self, arch::Thread t, const Functor& f) {
    if (!IsActive(t)) return;
    WEFT_UNROLL
    for (int e = 0; e < kSize; ++e) {
      const BlockPlace at = At(t, e);
      if (InBounds(at)) f(self[e], at);
    }
  }

  static constexpr int Row(int e) { return e / (Map::kGroups * Map::kChannels); }
  static constexpr int Group(int e) { return e / Map::kChannels % Map::kGroups; }

  template <class View>
  static constexpr bool Has(const View& view, const BlockPlace& at) {
    if constexpr (internal::BoundedView<View>) {
      return at.row < view.rows && at.column < view.cols;
    } else {
      return true;
    }
  }
  template <class View>
  using ElementOf = std::remove_cvref_t<decltype(std::declval<const View&>()(0, 0))>;

  template <class Vector, int kVector, class View>
  WEFT_DEVICE static Vector* AddressOf(const View& view, const BlockPlace& at) {
    if constexpr (kVector > 1 && internal::StridedView<View>) {
      // In vectors from the row's beginning: of 64-bit sums of elements nvcc makes single stores.
      return reinterpret_cast<Vector*>(&view(at.row, 0)) +
             static_cast<unsigned>(at.column) / kVector;
    } else {
      return reinterpret_cast<Vector*>(&view(at.row, at.column));
    }
  }
  template <int kVector, class View, class StoreFunction>
  WEFT_DEVICE void Store(arch::Thread t, const View& view, const StoreFunction& store) const {
    using Type = ElementOf<View>;
    struct alignas(kVector * sizeof(Type)) Vector {
      unsigned char byte[kVector * sizeof(Type)];
    };
    static_assert(kRun % kVector == 0 && sizeof(Vector) <= 16,
                  "weft: a store of sums takes 1, 2, 4 ... of a thread's kRun adjacent columns, up "
                  "to 16 bytes");
    static_assert(kColumnCount % kVector == 0,
                  "weft: a store of several sums at once needs config.shape.n to be a multiple of "
                  "their number");
    if (!IsActive(t)) return;
    WEFT_UNROLL
    for (int e = 0; e < kSize; e += kVector) {
      const BlockPlace at = At(t, e);
      if (!InBounds(at) || !Has(view, at)) continue;
      Type values[kVector];
      WEFT_UNROLL
      for (int i = 0; i < kVector; ++i) values[i] = internal::ConvertSum<Type>((*this)[e + i]);
      Vector vector;
      memcpy(&vector, values, sizeof(vector));
      store(AddressOf<Vector, kVector>(view, at), vector);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
