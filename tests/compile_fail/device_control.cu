// The same activation with a function that is constexpr.
// EXPECT_SUCCESS
#include "weft/conv/instantiate.cuh"
#include "weft/conv/policy.hpp"

constexpr float Table(float x) {
  return 0.25f * x;
}
struct Half {
  float factor = 0.5f;
  constexpr auto operator()(float x) const noexcept {
    if (x > 100.0f) return Table(x);
    return factor * x;
  }
};
struct Mine {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<4>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, Half, weft::epilogues::ClampTo<std::int8_t>>;
  static constexpr auto config = weft::conv::kSimt32x32;
};
WEFT_INSTANTIATE_OPERATOR(Mine);
