// An activation that is a table of bytes, such as any function of one number between two quantisations:
//
//     Chain<SourceZeroPoint, SumBias, Scale, Table<std::uint8_t>, ClampTo<std::uint8_t>>
//
// A network that quantises a convolution's output, applies a function to it and quantises again needs that function for
// 256 integers only. The table takes in the first quantisation as well: its rounding is the table's, and its zero point and
// limits are in what the values of the table are.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "weft/epilogues/numerics.hpp"

namespace weft::epilogues {

// t = table[256 + i], where i is t rounded to the nearest integer, halves to the even one, and limited to -256 to 255; NaN
// counts as -256. Behind Scale i is in steps of the integer that a convolution alone would write, less its zero point; whoever
// makes the table limits i plus the zero point to the range of that integer's type. The values are of the type of a ClampTo that
// follows, whose args.zero_point is then 0, or are read by a stage such as QuantizedAdd.
template <class Type = std::uint8_t>
struct Table {
  static_assert(std::is_same_v<Type, std::int8_t> || std::is_same_v<Type, std::uint8_t>,
                "weft: Table<T> takes T = std::int8_t or std::uint8_t");
  static constexpr int kLeast = -256, kValues = 512;
  const Type* table = nullptr;  // kValues values, at an address that the run can read

  constexpr float operator()(float t) const {
    // Floats are one apart between 2^23 and 2^24, so that the sum is rounded and its lowest bits are 256 + i.
    constexpr float kMagic = 12582912.0f - float{kLeast};
    const float sum = Add(Clamp(t, float{kLeast}, float{kLeast + kValues - 1}), kMagic);
    return static_cast<float>(table[std::bit_cast<std::uint32_t>(sum) % std::uint32_t{kValues}]);
  }
};

namespace internal {

template <class StageT>
inline constexpr bool kIsTable = false;
template <class Type>
inline constexpr bool kIsTable<Table<Type>> = true;

template <class StageT>
struct WantTable : std::bool_constant<kIsTable<StageT>> {};

}  // namespace internal

}  // namespace weft::epilogues
