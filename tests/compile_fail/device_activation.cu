// nvcc sees an activation without `constexpr` where it is called from device code, and only there.
// EXPECT: calling a __host__ function\("Half::operator \(\)\(float\) const"\) from a __device__ function
#include "weft/conv/instantiate.cuh"
#include "weft/conv/policy.hpp"

struct Half {
  float factor = 0.5f;
  float operator()(float x) const { return factor * x; }
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
