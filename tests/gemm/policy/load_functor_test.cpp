#include "weft/gemm/policy/load_functor.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace weft::gemm {
namespace {

// Every integer, exactly; a value outside of a type's range is none of its.
template <class Element, class From, int kLow, int kHigh>
void ExpectUpcast() {
  for (int x = kLow; x <= kHigh; ++x) {
    using Load = Upcast<Element, From>;
    const auto value = static_cast<typename Load::Value>(x);
    EXPECT_EQ(Load{}(value), Element::FromFloat(static_cast<float>(x))) << x;
  }
}
TEST(Upcast, IsExact) {
  ExpectUpcast<Half, std::int8_t, -128, 127>();
  ExpectUpcast<Half, std::uint8_t, 0, 255>();
  ExpectUpcast<Half, Int4, -8, 7>();
  ExpectUpcast<Bfloat16, std::int8_t, -128, 127>();
  ExpectUpcast<Bfloat16, std::uint8_t, 0, 255>();
  ExpectUpcast<Bfloat16, Int4, -8, 7>();
}

}  // namespace
}  // namespace weft::gemm
