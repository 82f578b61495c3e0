// SharedFilter: the ordinary convolution, one filter for every output position of every image.
#pragma once

#include <concepts>

namespace weft::prologues {

struct SharedFilter {
  static constexpr bool kIsPrologue = true;
  // What a mainloop may assume: within one output tile the filter operand depends on (c, r, s, k)
  // only, so it is loaded once and multiplied with every pixel of the tile.
  static constexpr bool kConstantOverTile = true;
  static constexpr const char* kName = "SharedFilter";
};

template <class T>
concept Prologue = requires {
  requires T::kIsPrologue;
  { T::kConstantOverTile } -> std::convertible_to<bool>;
};

}  // namespace weft::prologues
