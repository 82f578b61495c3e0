// The layout algebra under nvcc: the same constant expressions hold, and layouts are evaluated in a
// kernel. Compiling this file is the test.
#include <cstdint>

#include "weft/layouts/format_layouts.hpp"
#include "weft/layouts/matrix.hpp"
#include "weft/layouts/partition.hpp"

namespace weft::layouts {
namespace {

constexpr auto kNested = MakeLayout(MakeTuple(kInt<4>, MakeTuple(kInt<2>, kInt<3>)),
                                    MakeTuple(kInt<2>, MakeTuple(kInt<1>, kInt<8>)));
static_assert(kNested(3, 5) == 23);
static_assert(kNested(23) == 23);
static_assert(IsInt<decltype(kNested(kInt<1>, kInt<1>)), 3>);
static_assert(IsStatic<decltype(kNested)>);

static_assert(Complement(MakeLayout(kInt<4>, kInt<2>), kInt<24>) ==
              MakeLayout(MakeTuple(2, 3), MakeTuple(1, 8)));
static_assert(RightInverse(kNested)(kNested(13)) == 13);
static_assert(IsStatic<decltype(ZippedDivide(MakeLayout(MakeTuple(kInt<64>, kInt<64>)),
                                             MakeTuple(kInt<16>, kInt<8>)))>);

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

// A swizzled tile in shared memory, written by one partition and read by another.
__global__ void TransposeTiles(Matrix<const float> in, Matrix<float> out) {
  __shared__ float memory[32 * 32];
  const auto tile = MakeTensorView(
      &memory[0],
      Composition(Swizzle<5, 0, 5>{}, MakeLayout(MakeTuple(kInt<32>, kInt<32>), RowMajor{})));
  const auto tiler = MakeTuple(kInt<32>, kInt<32>);
  const auto block = MakeTuple(blockIdx.x, blockIdx.y);
  const auto threads = MakeLayout(MakeTuple(kInt<8>, kInt<32>), RowMajor{});
  const auto source = Partition(LocalTile(MakeTensorView(in.data, in.layout()), tiler, block),
                                threads, threadIdx.x);
  const auto target = Partition(tile, threads, threadIdx.x);
  for (int i = 0; i < Size(target); ++i) target[i] = source[i];
  __syncthreads();
  const auto turned = out.Transposed();
  const auto columns = MakeLayout(MakeTuple(kInt<32>, kInt<8>));
  const auto mine = Partition(tile, columns, threadIdx.x);
  const auto result = Partition(
      LocalTile(MakeTensorView(turned.data, turned.layout()), tiler, block), columns, threadIdx.x);
  for (int i = 0; i < Size(mine); ++i) result[i] = mine[i];
}

// Run-time layouts through the operations that sort.
__global__ void RunTimeAlgebra(int m, int n, std::int64_t* out) {
  const auto a = MakeLayout(MakeTuple(m, n), MakeTuple(n, 1));
  out[0] = Complement(a, 4 * m * n)(threadIdx.x);
  out[1] = RightInverse(a)(threadIdx.x);
  out[2] = LeftInverse(a)(threadIdx.x);
  out[3] = LogicalProduct(a, kInt<4>)(threadIdx.x);
  out[4] = FormatLayout<NCxHWx<4>>(TensorExtents{1, m, n, n})(0, 1, 2, threadIdx.x);
}

}  // namespace weft::layouts
