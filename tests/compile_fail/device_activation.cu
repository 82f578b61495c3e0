// A function that is not constexpr, in a branch of an activation that no check takes. nvcc leaves such calls out without a
// word, unless the activation's call operator is marked for the device.
// EXPECT: error: calling a __host__ function\("Table\(float\)"\) from a __host__ __device__ function
#include "weft/conv/instantiate.cuh"
#include "weft/conv/policy.hpp"

float Table(float x);
struct Half {
  float factor = 0.5f;
  constexpr float operator()(float x) const {
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
