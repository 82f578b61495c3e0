// What operators ask of an element type: a row of elements.def.
#pragma once

#include <cstdint>

#include "weft/layouts/element/complex.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/element/float8.hpp"
#include "weft/layouts/element/tf32.hpp"

namespace weft {

// Of a type that is no row of the table: nothing is multiplied, and it has no kName.
template <class Type>
struct ElementTraits {
  using Sum = void;
  using OfB = Type;
  using InMemory = Type;
};
#define WEFT_ELEMENT(type, sum, of_b, in_memory, name)                       \
  template <>                                                                \
  struct ElementTraits<type> {                                               \
    using Sum = sum;                                                         \
    using OfB = of_b;                                                        \
    using InMemory = in_memory;                                              \
    [[gnu::visibility("hidden")]] static constexpr const char* kName = name; \
  };
#include "weft/layouts/element/elements.def"

}  // namespace weft
