// The layout algebra under nvcc: the same constant expressions hold, and layouts are evaluated in a
// kernel. Compiling this file is the test.
#include <cstdint>

#include "weft/layouts/layout.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::layouts {
namespace {

constexpr auto kNested = MakeLayout(MakeTuple(kInt<4>, MakeTuple(kInt<2>, kInt<3>)),
                                    MakeTuple(kInt<2>, MakeTuple(kInt<1>, kInt<8>)));
static_assert(kNested(3, 5) == 23);
static_assert(kNested(23) == 23);
static_assert(IsInt<decltype(kNested(kInt<1>, kInt<1>)), 3>);
static_assert(IsStatic<decltype(kNested)>);

// Static layouts take no room, in a kernel's parameters too.
struct Params {
  decltype(kNested) layout;
  Layout<Tuple<std::int32_t, Int<4>>, Tuple<std::int64_t, Int<1>>> mixed;
  Matrix<std::int32_t> out;
};

}  // namespace

__global__ void EvaluateLayouts(Params p) {
  const int i = static_cast<int>(threadIdx.x);
  p.out(i, 0) = p.layout(i);
  p.out(i, 1) = static_cast<std::int32_t>(p.mixed(i, kInt<2>));
  const auto row = SliceAndOffset(p.layout, MakeTuple(i % 4, _));
  p.out(i, 2) = row.layout(i / 4) + row.offset;
  const auto compact = MakeLayout(MakeTuple(p.mixed.shape(), 3), Order<1, 0>{});
  p.out(i, 3) = compact(i) + CoordToIndex(MakeTuple(0, i), MakeTuple(kInt<4>, blockDim.x));
  p.out(i, 4) = Max(kInt<7>, i);
}

}  // namespace weft::layouts
