#include "weft/gemm/product/gemm_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/check/list_checks.hpp"
#include "weft/gemm/policy/load_functor.hpp"
#include "weft/gemm/tile/tile_grid.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {
namespace {

constexpr int kLine = TmaMatrixParams::kLineBytes;

// How TMA loads the k tiles of a matrix with `all` rows of A (columns of B), `rows` to a tile.
// lines: the matrix is K-major, and a copy loads `loaded` of a tile's rows. pitch: elements from
// one row (of an MN-major matrix, one k) to the next; stride: from one of `batch` matrices to the
// next, 0 if all products share one.
TmaMatrix MakeMatrix(int rows, int loaded, int stage_k, std::int64_t all, std::int64_t k,
                     std::int64_t pitch, std::int64_t batch, std::int64_t stride, int element_bytes,
                     bool lines) {
  TmaMatrix m;
  const int line = kLine / element_bytes;
  m.spec.rank = 3;
  m.spec.element_bytes = static_cast<std::uint8_t>(element_bytes);
  m.spec.swizzle = arch::SwizzleSpan::k128;
  m.spec.stride[0] = static_cast<std::uint64_t>(pitch) * static_cast<std::uint64_t>(element_bytes);
  m.spec.dim[0] = static_cast<std::uint32_t>(lines ? k : all);
  m.spec.dim[1] = static_cast<std::uint32_t>(lines ? all : k);
  m.params.step = batch > 1 && stride > 0;
  m.spec.dim[2] = static_cast<std::uint32_t>(m.params.step ? batch : 1);
  m.spec.stride[1] =
      m.params.step ? static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(element_bytes)
                    : m.spec.stride[0];
  m.spec.box[2] = 1;
  m.spec.box[0] = static_cast<std::uint16_t>(line);
  m.spec.box[1] = static_cast<std::uint16_t>(lines ? loaded : stage_k);
  m.params.copies = CeilDiv(lines ? stage_k : rows, line);
  m.params.copy_bytes = static_cast<std::int32_t>(m.spec.Bytes());
  m.params.stage_k = stage_k;
  m.params.line = line;
  // Tensor cores read all rows of a tile, so that the stage needs room for those that TMA does not
  // load.
  m.k_tile_bytes = m.params.copies * m.params.copy_bytes;
  if (lines) m.k_tile_bytes += (rows - loaded) * kLine;
  return m;
}

// The layout of a k tile in shared memory, for wgmma's descriptor. lines: it is K-major.
arch::WgmmaLayout LayoutOfCopies(const TmaMatrix& m, bool lines) {
  return {.swizzle = arch::SwizzleSpan::k128,
          .leading = lines ? 16u : static_cast<std::uint32_t>(m.params.copy_bytes),
          .stride = 8 * kLine};
}

// Where step i, which multiplies 32 bytes of k, begins in a k tile, in units of 16 bytes.
std::uint32_t StepOffset(const TmaMatrix& m, int i, int element_bytes, bool lines) {
  const int bytes = lines ? i / 4 * m.params.copy_bytes + i % 4 * 32  //
                          : i * (32 / element_bytes) * kLine;
  return static_cast<std::uint32_t>(bytes / 16);
}

// How far a row is from the one `rows` before it, in units of 16 bytes. rows: a multiple of 64
// where the matrix is MN-major.
std::uint32_t RowsOffset(const TmaMatrix& m, int rows, bool lines) {
  const int bytes = lines ? rows * kLine : rows / m.params.line * m.params.copy_bytes;
  return static_cast<std::uint32_t>(bytes / 16);
}

// The rows of a tile that TMA loads. In a list it loads all of them, since the products share the
// layout of the stages.
int LoadedRowsOf(const GemmFacts& f, int rows, std::int64_t all) {
  return f.listed ? rows : static_cast<int>(LoadedRows(rows, all));
}

// The same for a matrix that is upcast, whose elements of `bits` bits are loaded as bytes. Threads
// read the whole tile, so that TMA loads all of its `rows`. swizzled: the lines are swizzled, as
// for B, which the warps that multiply upcast in registers (register_fragments.hpp). The transform
// warps that upcast A (upcast_matrix.hpp) read all bytes in order.
TmaMatrix MakeUpcast(int rows, int stage_k, std::int64_t all, std::int64_t k, std::int64_t pitch,
                     std::int64_t batch, std::int64_t stride, int bits, bool lines, bool swizzled) {
  const auto bytes = [&](std::int64_t elements) { return BytesOfElements(elements, bits); };
  TmaMatrix m = lines ? MakeMatrix(rows, rows, UpcastLineBytes(stage_k, bits), all, bytes(k),
                                   bytes(pitch), batch, bytes(stride), 1, true)
                      : MakeMatrix(rows, rows, stage_k, bytes(all), k, bytes(pitch), batch,
                                   bytes(stride), 1, false);
  m.params.line = lines ? m.params.stage_k : UpcastMnMajorBytes(bits);
  m.params.copies = lines ? 1 : rows / 64;
  m.spec.swizzle =
      swizzled ? static_cast<arch::SwizzleSpan>(m.params.line) : arch::SwizzleSpan::kNone;
  m.spec.box[0] = static_cast<std::uint16_t>(m.params.line);
  m.params.copy_bytes = static_cast<std::int32_t>(m.spec.Bytes());
  m.k_tile_bytes = RoundUp(m.params.copies * m.params.copy_bytes, 1024);
  return m;
}

WgmmaGemmPlan MakeWgmmaGemmPlan(const GemmProblem& problem, const GemmFacts& f) {
  const TileShape& tile = f.config.threadblock;
  const int element_bytes = f.element_bytes;
  WgmmaGemmPlan g;
  GemmProblem p = problem;
  if (p.k == 0) {
    // A tensor map cannot describe an operand without elements. This one has a single element, which
    // nobody loads, and a pitch that is a multiple of 16 bytes in every type.
    p.m = p.n = p.k = p.batch = 1;
    p.lda = p.ldb = 32;
  }
  const TmaMatrix rows = MakeMatrix(tile.m, LoadedRowsOf(f, tile.m, p.m), tile.k, p.m, p.k, p.lda,
                                    p.batch, p.stride_a, element_bytes, f.a.k_major);
  g.a = f.a.loads ? MakeUpcast(tile.m, tile.k, p.m, p.k, p.lda, p.batch, p.stride_a, f.a.bits,
                               f.a.k_major, false)
                  : rows;
  g.b = f.b.loads ? MakeUpcast(tile.n, tile.k, p.n, p.k, p.ldb, p.batch, p.stride_b, f.b.bits,
                               f.b.k_major, true)
                  : MakeMatrix(tile.n, LoadedRowsOf(f, tile.n, p.n), tile.k, p.n, p.k, p.ldb,
                               p.batch, p.stride_b, element_bytes, f.b.k_major);

  // Where A is upcast a stage has the narrow A first and the upcast A behind it.
  const std::int32_t narrow = f.a.loads ? g.a.k_tile_bytes : 0;
  g.ring.b_offset = narrow + rows.k_tile_bytes;  // whole groups of 8 rows: a multiple of 1024
  g.ring.stage_bytes = g.ring.b_stride = g.ring.b_offset + g.b.k_tile_bytes;
  g.ring.stages = static_cast<std::int32_t>(std::min(f.wgmma.stage_bytes / g.ring.stage_bytes,
                                                     std::int64_t{MbarRingParams::kMostStages}));
  g.ring.ShareCopies(g.a.params.copies, f.wgmma.row_threads);

  // Whether the tensor cores find the operands K-major, as they do after a transpose.
  const bool k_major_a = f.a.k_major || f.wgmma.transposes,
             k_major_b = f.b.k_major || f.wgmma.transposes;
  WgmmaPlan& plan = g.plan;
  plan.a = arch::WgmmaDescriptor(0, LayoutOfCopies(rows, k_major_a));
  if (!f.b.loads) plan.b = arch::WgmmaDescriptor(0, LayoutOfCopies(g.b, k_major_b));
  plan.SpreadGroups(RowsOffset(rows, f.config.warp.m, k_major_a));
  plan.b_block = !f.b.loads
                     ? RowsOffset(g.b, 64, k_major_b)
                     : static_cast<std::uint32_t>(
                           (f.b.k_major ? 64 * g.b.params.line : g.b.params.copy_bytes) / 16);
  plan.steps = tile.k * element_bytes / 32;
  const std::int64_t last_k = p.k - (CeilDiv(p.k, std::int64_t{tile.k}) - 1) * tile.k;
  plan.last_steps = static_cast<std::int32_t>(CeilDiv<std::int64_t>(last_k * element_bytes, 32));
  for (int i = 0; i < plan.steps; ++i) {
    plan.step_a[i] =
        static_cast<std::uint32_t>(narrow / 16) + StepOffset(rows, i, element_bytes, k_major_a);
    plan.step_b[i] = StepOffset(g.b, i, element_bytes, k_major_b);
  }
  if (problem.k == 0) g.a.params.copies = g.b.params.copies = 0;  // the producer writes zeros
  return g;
}

PlanCounts CountTiles(const GemmProblem& p, const GemmFacts& f) {
  const TileShape& t = f.config.threadblock;
  PlanCounts counts;
  // A product with k = 0 multiplies one k tile of zeros.
  const std::int64_t k = std::max(p.k, std::int64_t{1});
  const std::int64_t rows = f.grouped ? CeilDiv(p.m, p.batch) : p.m;  // of one product
  const double all_rows = f.grouped ? double(p.m) : double(p.m) * p.batch;
  const auto matrices = [&](std::int64_t stride) { return stride > 0 ? double(p.batch) : 1.0; };
  counts.batches = p.batch;
  counts.tiles_m = CeilDiv(rows, std::int64_t{t.m});
  counts.tiles_n = CeilDiv(p.n, std::int64_t{t.n});
  counts.columns_inside = double(p.n) / std::max(1.0, double(counts.tiles_n) * t.n);
  counts.k_tiles = static_cast<std::int32_t>(CeilDiv(k, std::int64_t{t.k}));
  counts.useful =
      all_rows * p.n * p.k /
      (double(counts.batches) * counts.tiles_m * counts.tiles_n * t.m * t.n * counts.k_tiles * t.k);
  counts.bytes =
      (matrices(p.stride_a) * p.m * f.a.bits + matrices(p.stride_b) * p.n * f.b.bits) * p.k / 8 +
      all_rows * p.n * (f.store.element_bits + f.store.residual_bits) / 8 +
      8.0 * p.n * (p.own_bias ? p.batch : 1);
  return counts;
}

}  // namespace

absl::StatusOr<GemmPlan> MakeGemmPlan(const GemmProblem& problem, const GemmFacts& f) {
  constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();
  absl::StatusOr<GemmProblem> checked = CheckGemmProblem(problem, f);
  if (!checked.ok()) return checked.status();
  if (checked->IsEmpty()) return GemmPlan{.problem = *checked, .counts = {}, .tma = {}};
  GemmPlan plan = {.problem = *checked, .counts = CountTiles(*checked, f), .tma = {}};
  const std::int64_t products = f.grouped ? 1 : checked->batch;
  const std::int64_t rows =
      f.grouped ? GroupGrid<TileGrid>::Rows(checked->m, checked->batch, f.config.threadblock.m)
                : plan.counts.tiles_m;
  // The number of tiles is a product of up to three 31-bit numbers, which does not overflow a
  // double.
  if (const double tiles = double(products) * rows * plan.counts.tiles_n; tiles > kMostBlocks) {
    return absl::OutOfRangeError(absl::StrFormat(
        "gemm: blocks=%.0f exceeds %d; use a larger threadblock tile", tiles, kMostBlocks));
  }
  plan.tile_rows = Int32(rows);
  plan.tiles = Int32(products * rows * plan.counts.tiles_n);
  plan.ragged_k = checked->k * f.element_bytes % f.config.alignment.src != 0;
  if (f.wgmma.stage_bytes == 0) return plan;
  const WgmmaGemmPlan& e = plan.tma = MakeWgmmaGemmPlan(*checked, f);
  const TileShape& t = f.config.threadblock;
  const double columns = f.b.k_major && !f.b.loads ? LoadedRowsOf(f, t.n, checked->n) : t.n;
  const double inside = double(checked->n) / (double(plan.counts.tiles_n) * columns);
  plan.counts.wgmma = {
      .steps = e.plan.steps,
      .last_steps = e.plan.last_steps,
      .copies = e.a.params.copies,
      .last_copies = e.a.params.copies,
      .copy_clocks = e.a.params.copy_bytes / 128.0 * CopyClocks::k128,
      .column_clocks = CopyClocks::Columns(
          columns * 4 / f.element_bytes * f.b.bits / 128.0, inside, CopyClocks::k128,
          f.b.k_major || !f.b.loads ? CopyClocks::kOutside : CopyClocks::kOutsideMnMajor),
      .stages = e.ring.stages,
      .stage_bytes = e.ring.stage_bytes,
      .b_stays = false};
  return plan;
}

absl::StatusOr<GemmPlan> GemmPlanner::Make(const GemmProblem& problem, const GemmFacts& facts,
                                           const arch::DeviceLimits* device) {
  if (device != nullptr) {
    if (absl::Status s = CheckDevice("gemm", facts, *device); !s.ok()) return s;
  }
  return MakeGemmPlan(problem, facts);
}

absl::StatusOr<GemmListPlan> MakeGemmListPlan(absl::Span<const GemmProblem> problems,
                                              const GemmFacts& facts,
                                              const arch::DeviceLimits* device) {
  if (device != nullptr) {
    if (absl::Status s = CheckDevice("gemm", facts, *device); !s.ok()) return s;
  }
  if (problems.empty()) {
    return absl::InvalidArgumentError("gemm: problems is empty; give one product or more");
  }
  if (problems.size() > std::size_t{kInt32Max}) {
    return absl::OutOfRangeError(absl::StrCat("gemm: problems has ", problems.size(),
                                              " products, more than ", kInt32Max,
                                              "; split the list"));
  }
  GemmListPlan list;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (const std::int64_t batch = problems[i].batch; batch != 1) {
      return OfProduct(
          i, absl::InvalidArgumentError(absl::StrCat(
                 "gemm: batch=", batch, " is not 1; give each product a place in the list")));
    }
    absl::StatusOr<GemmPlan> plan = MakeGemmPlan(problems[i], facts);
    if (!plan.ok()) return OfProduct(i, plan.status());
    const std::int64_t end = std::int64_t{list.tiles()} + plan->tiles;
    if (end > kInt32Max) {
      return OfProduct(i, absl::OutOfRangeError(
                              absl::StrCat("gemm: tiles=", end, " up to here exceed ", kInt32Max,
                                           "; use a larger threadblock tile or split the list")));
    }
    if (plan->tiles > 0 && list.tiles() == 0) list.some = i;
    list.ragged_k = list.ragged_k || plan->ragged_k;
    list.first.push_back(Int32(end));
    list.products.push_back(*std::move(plan));
  }
  if (list.tiles() == 0) list.some = problems.size();
  return list;
}

std::int32_t BandOf(const TileShape& tile) {
  // The blocks that run at the same time (132 on an H200) load the fewest bytes if together they
  // cover as many rows of A as columns of B.
  constexpr double kBlocks = 132.0;
  const double rows = std::sqrt(kBlocks * tile.n / tile.m);
  return std::max(1, static_cast<std::int32_t>(rows));
}

std::string DescribeGemm(const GemmPlan& plan, const GemmFacts& f) {
  const PlanCounts& counts = plan.counts;
  const TileDescription& c = f.config;
  if (counts.blocks() == 0) return "nothing to do: C has no elements";
  const std::string clusters =
      c.cluster_split_k > 1 ? absl::StrFormat("clusters of %d ", c.cluster_split_k) : "";
  const std::string batch = f.grouped            ? absl::StrFormat("%d groups of ", counts.batches)
                            : counts.batches > 1 ? absl::StrFormat("batch of %d x ", counts.batches)
                                                 : "";
  const char* ping_pong = c.ping_pong ? "ping-pong warpgroups, " : "";
  return absl::StrFormat(
      "%s %dx%dx%d warp %dx%d, %d stages, %s%s%d x %d %sblocks of %d threads, "
      "%d bytes shared, %s -> %s",
      c.name(), c.threadblock.m, c.threadblock.n, c.threadblock.k, c.warp.m, c.warp.n,
      f.wgmma.stage_bytes > 0 ? plan.tma.ring.stages : c.stages, ping_pong, batch, counts.tiles_m,
      counts.tiles_n, clusters, f.threads, f.shared_bytes, f.src_layout, f.dst_layout);
}

}  // namespace weft::gemm
