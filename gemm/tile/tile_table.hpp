// Lists of types out of a table of tiles (gemm/tile/tiles.def), whose rows each say the families
// that they are in.
#pragma once

#include <utility>

namespace weft::gemm {

// The members of a family, in the order of the table.
template <class... Members>
struct TileList {};

namespace internal {

// A row: a type, and a bit for each of the families that have it.
template <class MemberT, unsigned kFamilies>
struct TableRow {
  using Member = MemberT;
  static constexpr unsigned kIn = kFamilies;
};
struct NoRow {};  // so that each row may begin with a comma

template <class First, class... Rows>
struct TileTable {
  static constexpr int kSize = sizeof...(Rows);
  static constexpr unsigned kIn[kSize] = {Rows::kIn...};
};

// A row by its number, without an iterator over those before it.
template <int kIndex, class RowT>
struct NumberedRow {};
template <class Numbers, class TableT>
struct NumberedRows;
template <int... kIndices, class First, class... Rows>
struct NumberedRows<std::integer_sequence<int, kIndices...>, TileTable<First, Rows...>>
    : NumberedRow<kIndices, Rows>... {};
template <int kIndex, class RowT>
RowT RowAt(const NumberedRow<kIndex, RowT>&);

// The rows in one of kFamilies, of whose bits in kMask those of kWanted are set and no others.
template <class TableT, unsigned kFamilies, unsigned kMask = 0, unsigned kWanted = 0>
struct RowsWith {
  static constexpr bool Has(int row) {
    return (TableT::kIn[row] & kFamilies) != 0 && (TableT::kIn[row] & kMask) == kWanted;
  }
  static constexpr int kCount = [] {
    int count = 0;
    for (int i = 0; i < TableT::kSize; ++i) count += Has(i);
    return count;
  }();
  static constexpr int Number(int member) {
    int row = 0;
    while (!Has(row) || member-- > 0) ++row;
    return row;
  }
  using Rows = NumberedRows<std::make_integer_sequence<int, TableT::kSize>, TableT>;
  template <int... kMembers>
  static TileList<typename decltype(RowAt<Number(kMembers)>(Rows()))::Member...> List(
      std::integer_sequence<int, kMembers...>);
  using type = decltype(List(std::make_integer_sequence<int, kCount>()));
};

}  // namespace internal
}  // namespace weft::gemm
