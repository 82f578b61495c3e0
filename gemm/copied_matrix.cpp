#include "weft/gemm/copied_matrix.hpp"

#include <algorithm>

#include "weft/layouts/formats.hpp"

namespace weft::gemm {
namespace {

constexpr int kLine = CopiedMatrixParams::kLineBytes;

// `rows` of them to a tile, of `all`; `lines`: k runs along memory, and lines are `pitch` elements
// apart.
CopiedMatrix MakeMatrix(int rows, int slice_k, std::int64_t all, std::int64_t k, std::int64_t pitch,
                        int element_bytes, bool lines) {
  CopiedMatrix m;
  const int line = kLine / element_bytes;
  m.spec.rank = 2;
  m.spec.element_bytes = static_cast<std::uint8_t>(element_bytes);
  m.spec.swizzle = arch::SwizzleSpan::k128;
  m.spec.stride[0] = static_cast<std::uint64_t>(pitch) * static_cast<std::uint64_t>(element_bytes);
  m.spec.dim[0] = static_cast<std::uint32_t>(lines ? k : all);
  m.spec.dim[1] = static_cast<std::uint32_t>(lines ? all : k);
  m.spec.box[0] = static_cast<std::uint16_t>(line);
  m.spec.box[1] = static_cast<std::uint16_t>(lines ? rows : slice_k);
  m.params.copies = CeilDiv(lines ? slice_k : rows, line);
  m.params.copy_bytes = static_cast<std::int32_t>(m.spec.Bytes());
  m.params.slice_k = slice_k;
  m.params.line = line;
  return m;
}

arch::WgmmaLayout LayoutOfCopies(const CopiedMatrix& m, bool lines) {
  return {.swizzle = arch::SwizzleSpan::k128,
          .leading = lines ? 16u : static_cast<std::uint32_t>(m.params.copy_bytes),
          .stride = 8 * kLine};
}

// Where step i, of 32 bytes of k, begins in a slice.
std::uint32_t StepOffset(const CopiedMatrix& m, int i, int element_bytes, bool lines) {
  const int bytes = lines ? i / 4 * m.params.copy_bytes + i % 4 * 32  //
                          : i * (32 / element_bytes) * kLine;
  return static_cast<std::uint32_t>(bytes / 16);
}

// From one row to the one `rows` further, a multiple of 64 where rows run along memory.
std::uint32_t RowsOffset(const CopiedMatrix& m, int rows, bool lines) {
  const int bytes = lines ? rows * kLine : rows / m.params.line * m.params.copy_bytes;
  return static_cast<std::uint32_t>(bytes / 16);
}

}  // namespace

WgmmaGemmPlan MakeWgmmaGemmPlan(const TileShape& tile, const TileShape& warp, std::int64_t m,
                                std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                                int element_bytes, bool lines_a, bool lines_b,
                                std::int64_t stage_bytes) {
  WgmmaGemmPlan g;
  g.a = MakeMatrix(tile.m, tile.k, m, k, lda, element_bytes, lines_a);
  g.b = MakeMatrix(tile.n, tile.k, n, k, ldb, element_bytes, lines_b);

  const auto bytes = [](const CopiedMatrix& x) { return x.params.copies * x.params.copy_bytes; };
  g.ring.b_offset = bytes(g.a);  // of whole lines of 8 rows: a multiple of 1024
  g.ring.stage_bytes = g.ring.b_stride = bytes(g.a) + bytes(g.b);
  g.ring.stages = static_cast<std::int32_t>(
      std::min(stage_bytes / g.ring.stage_bytes, std::int64_t{MbarRingParams::kMostStages}));

  g.ring.ShareCopies(g.a.params.copies);

  WgmmaPlan& plan = g.plan;
  plan.a = arch::WgmmaDescriptor(0, LayoutOfCopies(g.a, lines_a));
  plan.b = arch::WgmmaDescriptor(0, LayoutOfCopies(g.b, lines_b));
  plan.a_group = RowsOffset(g.a, warp.m, lines_a);
  plan.b_block = RowsOffset(g.b, 64, lines_b);
  plan.steps = tile.k * element_bytes / 32;
  const std::int64_t last_k = k - (CeilDiv(k, std::int64_t{tile.k}) - 1) * tile.k;
  plan.last_steps = static_cast<std::int32_t>(CeilDiv<std::int64_t>(last_k * element_bytes, 32));
  for (int i = 0; i < plan.steps; ++i) {
    plan.step[i].a = StepOffset(g.a, i, element_bytes, lines_a);
    plan.step[i].b = StepOffset(g.b, i, element_bytes, lines_b);
  }
  return g;
}

}  // namespace weft::gemm
