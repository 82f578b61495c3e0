// Makes lists of types of a table of tiles (gemm/tile/tiles.def), each row of which says in which
// families it is.
#pragma once

#include <utility>

namespace weft::gemm {

// The members of a family, in the order of the table.
template <class... Members>
struct TileList {};

namespace internal {

// A row of the table: a type, and a bit for each family that has it.
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

// A row with its number: RowAt finds it by deducing a base class, without recursion over the rows
// before it.
template <int kIndex, class RowT>
struct NumberedRow {};
template <class Numbers, class TableT>
struct NumberedRows;
template <int... kIndices, class First, class... Rows>
struct NumberedRows<std::integer_sequence<int, kIndices...>, TileTable<First, Rows...>>
    : NumberedRow<kIndices, Rows>... {};
template <int kIndex, class RowT>
RowT RowAt(const NumberedRow<kIndex, RowT>&);

// The rows that are in at least one of kFamilies and whose bits, as far as kMask has them, are
// exactly those of kWanted.
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
