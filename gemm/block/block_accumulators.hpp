// The accumulators of a Block's product (block.hpp) that one thread holds, as an object.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::gemm {

// The place of an accumulator: its row and column in C, and the number of that row among the
// thread's.
struct BlockPlace {
  int row = 0, column = 0;
  int own_row = 0;
};

namespace internal {

// Element types of the library that are converted from and to float: weft::Half and the like.
template <class Type, class Sum>
concept RoundsSum = requires(Sum x) { Type::FromFloat(x); };
template <class Type>
concept ConvertsToFloat = requires(Type x) { x.ToFloat(); };

// The views that StoreShared and the like take may know their extents, as layouts::Matrix does
// (BoundedView), and how far apart their rows are (StridedView).
template <class View>
concept BoundedView = requires(const View& view) { view.rows < 0 && view.cols < 0; };
template <class View>
concept StridedView = requires(const View& view) { view.row_stride; };

// Converts an accumulator to Type; to a floating-point type it rounds to nearest even.
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

// Mma is the mainloop, whose Map says which thread holds which accumulators. C has kRowCount x
// kColumnCount elements; Mma's tile may be larger. kWholeRows: a warp holds whole rows of C.
//
// Threads from kThreads on hold nothing: IsActive is false for them, and every function here does
// nothing in them. All threads of a warp call a function together.
template <class Mma, int kRowCount, int kColumnCount, bool kWholeRows>
class BlockAccumulators {
  using Map = typename Mma::Map;

 public:
  using Sum = typename Map::Sum;
  using Registers = typename Map::Accumulators;
  static constexpr int kThreads = Mma::kThreads;  // threads that hold accumulators
  static constexpr int kRows = Map::kPixels;      // rows of one thread
  static constexpr int kSize = kRows * Map::kGroups * Map::kChannels;
  // Accumulators i kRun to i kRun + kRun - 1 are neighbours in a row of C.
  static constexpr int kRun = Map::kChannels;

  // The accumulators, 0 at the start.
  Registers registers = {};

  WEFT_DEVICE static bool IsActive(arch::Thread t) { return t.tid() < kThreads; }

  // Accumulator number e, 0 <= e < kSize, and its place in C. Loops over e must be unrolled, as
  // registers cannot be indexed at run time.
  WEFT_DEVICE Sum& operator[](int e) {
    return Map::At(registers, Row(e), Group(e), e % Map::kChannels);
  }
  WEFT_DEVICE Sum operator[](int e) const {
    return Map::Get(registers, Row(e), Group(e), e % Map::kChannels);
  }
  WEFT_DEVICE static BlockPlace At(arch::Thread t, int e) {
    return {Map::Pixel(t, Row(e)), Map::Channel(t, Group(e)) + e % Map::kChannels, Row(e)};
  }

  // Whether a place of the mainloop's tile lies inside C.
  static constexpr bool InBounds(const BlockPlace& at) {
    return (kWholeM || at.row < kRowCount) && (kWholeN || at.column < kColumnCount);
  }

  // Calls f(sum, place) for every accumulator of the thread that lies inside C, row by row with
  // ascending columns. f gets references, or values if the object is const.
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

  // Stores each accumulator to view(row, column), converted to the view's element type. view:
  // anything that returns a reference for a row and a column, such as layouts::TensorView, or
  // layouts::Matrix, outside of whose extents nothing is stored. kVector: neighbours of a row that
  // one store takes, at most kRun and 16 bytes. With kVector > 1 columns must be adjacent in
  // memory, every kVector-th one aligned to kVector elements, and the number of a matrix's columns
  // a multiple of kVector.
  template <int kVector = 1, class View>
  WEFT_DEVICE void StoreShared(arch::Thread t, const View& view) const {
    Store<kVector>(t, view, [&](auto* to, const auto& x) { t.StoreShared(to, x); });
  }
  template <int kVector = 1, class View>
  WEFT_DEVICE void StoreGlobal(arch::Thread t, const View& view) const {
    Store<kVector>(t, view, [&](auto* to, const auto& x) { t.StoreGlobal(to, x); });
  }

  // Sets each accumulator to the element of view at its place; those outside the view's extents
  // keep their values.
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

  // A value for each of the thread's rows, indexed by BlockPlace::own_row; all threads that share a
  // row have the same.
  template <class Type>
  struct RowValues {
    Type value[kRows];
    WEFT_DEVICE Type operator[](int own_row) const { return value[own_row]; }
    WEFT_DEVICE Type& operator[](int own_row) { return value[own_row]; }
  };

  // Reduces each row: combines `first` with value(sum, place) of all its columns. Type has 4 or 8
  // bytes. The order is fixed, so that results are reproducible: a thread's columns ascending, then
  // lanes 1, 2, 4 ... apart. combine(a, b) must be associative and commutative but for rounding,
  // and `first` its neutral element.
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

  // The largest accumulator of each row, and the sum of each row's accumulators.
  WEFT_DEVICE RowValues<Sum> RowMax(arch::Thread t) const {
    return ReduceRows(
        t, std::numeric_limits<Sum>::lowest(), [](Sum x, const BlockPlace&) { return x; },
        [](Sum x, Sum y) { return x > y ? x : y; });
  }
  WEFT_DEVICE RowValues<Sum> RowSum(arch::Thread t) const {
    return ReduceRows(
        t, Sum{0}, [](Sum x, const BlockPlace&) { return x; }, [](Sum x, Sum y) { return x + y; });
  }

  // Calls f(row, own_row) for each row of C, in one of the threads that share the row.
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
  // The bits of a lane's number in which the lanes of one row differ.
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
      // The address is counted in vectors from the row's beginning: for 64-bit offsets in elements
      // nvcc would split the vector store into single ones.
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
