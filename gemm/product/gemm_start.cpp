#include "weft/gemm/product/gemm_start.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/check/gemm_checks.hpp"
#include "weft/gemm/check/list_checks.hpp"
#include "weft/gemm/tile/tile_grid.hpp"

namespace weft::gemm {
namespace {

bool IsWgmma(const GemmFacts& f) {
  return f.config.mainloop == Mainloop::kWgmmaSm90;
}

// The memory that a run reads and writes.
struct Tensors {
  TensorArgument operands[3];  // a, b, and the group offsets of Grouped
  TensorArgument c;
  EpilogueArguments epilogue;
};

// A K-major operand has `lines` rows (columns of B) of `elements` k; of an MN-major one it is the other
// way around.
TensorArgument OperandArgument(const GemmFacts& f, const OperandFacts& operand,
                               const GemmProblem& p, const char* field, const GivenTensor& tensor,
                               std::int64_t extent, std::int64_t pitch, std::int64_t stride) {
  if (p.k == 0) return {.field = field, .address = tensor.address, .if_null = nullptr};
  const auto bytes = [&](std::int64_t elements) { return BytesOfElements(elements, operand.bits); };
  const std::int64_t lines = operand.k_major ? extent : p.k;
  const std::int64_t elements = operand.k_major ? p.k : extent;
  const bool fixed = IsWgmma(f) || operand.loads;
  // Kernels load whole accesses, at most up to the end of the last line's pitch.
  const std::int64_t reach =
      (p.batch - 1) * stride + (lines - 1) * pitch +
      std::min(pitch, RoundUp(elements, static_cast<std::int64_t>(operand.access)));
  return Batched({.field = field,
                  .address = tensor.address,
                  .alignment = operand.access * operand.bits / 8,
                  .line_bytes = bytes(elements),
                  .lines = lines,
                  .pitch_bytes = bytes(pitch),
                  .helper = fixed ? nullptr : "WithSrcAlignment",
                  .least_alignment = std::max(f.element_bytes, 4),
                  .given = tensor.given,
                  .reach = bytes(reach)},
                 p.batch, bytes(stride));
}

// The result refers to image and run.
Tensors TensorsOf(const GemmImage& image, const GemmProblem& p, const GemmRun& run) {
  const GemmFacts& f = image.facts;
  const EpilogueFacts& e = image.epilogue;
  const auto result = [&](int element_bytes, int alignment) {
    return Batched({.address = run.output.dst.address,
                    .alignment = alignment,
                    .line_bytes = (f.row_major_c ? p.n : p.m) * element_bytes,
                    .lines = f.row_major_c ? p.m : p.n,
                    .pitch_bytes = p.ldc * element_bytes},
                   p.batch, p.stride_c * element_bytes);
  };
  // wgmma_sm90 loads a residual of bytes by accesses as wide as its stores to C.
  const bool wide = IsWgmma(f) && e.residual_bytes == 1;
  TensorArgument residual =
      result(e.residual_bytes, wide ? f.config.alignment.dst : e.residual_bytes);
  residual.may_be_output = e.residual_bytes == e.output_bytes;
  Tensors all = {
      .operands = {OperandArgument(f, f.a, p, "a", run.a, p.m, p.lda, p.stride_a),
                   OperandArgument(f, f.b, p, "b", run.b, p.n, p.ldb, p.stride_b),
                   {.field = "group_offsets",
                    .address = run.group_offsets.address,
                    .alignment = alignof(std::int32_t),
                    .line_bytes = p.batch * std::int64_t{sizeof(std::int32_t)},
                    .if_null = "is null; give the address of one number for each of problem.batch "
                               "groups, the row behind its last one",
                    .given = run.group_offsets.given}},
      .c = result(e.output_bytes, f.config.alignment.dst),
      .epilogue = EpilogueArgumentsOf(e, run.output, p.n * (p.own_bias ? p.batch : 1), residual)};
  all.c.field = "c";
  all.c.given = run.output.dst.given;
  all.c.helper = "WithDstAlignment";
  all.c.least_alignment = e.output_bytes;
  return all;
}

// The number of the kernel that runs: 1 masks the last access to each line, for a ragged k.
int KernelNumber(const GemmImage& image, bool ragged_k) {
  return image.ragged_kernel && (image.one_kernel || ragged_k) ? 1 : 0;
}

void PutOperand(const OperandPlace& at, const MatrixParams& matrix, const void* load,
                const ParamsWriter& params) {
  params.Put(at.at, matrix);
  params.PutBytes(at.functor, load, static_cast<std::size_t>(at.functor_bytes));
}

// Puts what a kernel is given of a product, without its schedule.
absl::Status PutProduct(const GemmImage& image, const GemmPlan& plan, const GemmRun& run,
                        MakeTensorMap make, const ParamsWriter& params) {
  const GemmProblem& p = plan.problem;
  const GemmFacts& f = image.facts;
  const GemmLayout& at = image.product;
  const auto m = static_cast<std::int32_t>(p.m), n = static_cast<std::int32_t>(p.n),
             k = static_cast<std::int32_t>(p.k);
  params.Put(at.k_tiles, plan.counts.k_tiles);

  // The Cs of a batch are parts of one matrix, product by product row_step rows and column_step
  // columns further (gemm/check/gemm_checks.cpp makes sure that these fit 32 bits). A tile's `product`
  // of a list is a number in the list, and must not move addresses.
  MatrixRows rows;
  rows.rows = m;
  if (!f.listed) {
    const auto lines = static_cast<std::int32_t>(p.stride_c / p.ldc);
    const auto along = static_cast<std::int32_t>(p.stride_c % p.ldc);
    rows.row_step = f.row_major_c ? lines : along;
    rows.column_step = f.row_major_c ? along : lines;
    rows.value_step = p.own_bias ? n : 0;
  }
  const ParamsWriter output = params.Part(at.output);
  PutOutput(at.of_output, run.output, output);
  output.Put(at.of_output.k, n);
  output.Put(at.of_output.padded_k, n);
  output.Put(at.of_output.rows, rows);
  output.Put(at.of_output.extents, TensorExtents{.n = 1, .c = p.n, .h = p.ldc, .w = p.m});

  // An operand without elements may be null. The kernel still forms addresses of it, and TMA needs an
  // aligned one, so that it is given some other address.
  constexpr std::uintptr_t kAligned = 16;
  const auto* some = reinterpret_cast<const void*>(
      reinterpret_cast<std::uintptr_t>(run.output.dst.address) / kAligned * kAligned);
  const void* const a = k == 0 ? some : run.a.address;
  const void* const b = k == 0 ? some : run.b.address;
  if (IsWgmma(f)) {
    params.Put(at.a.at, plan.tma.a.params);
    params.Put(at.b.at, plan.tma.b.params);
    absl::Status s =
        MakeMap("gemm", make, plan.tma.a.spec, a, params.At<arch::TensorMap>(at.a.map));
    if (!s.ok()) return s;
    return MakeMap("gemm", make, plan.tma.b.spec, b, params.At<arch::TensorMap>(at.b.map));
  }
  // simt_async takes the short k tile first: accumulators then start with the products of padding zeros
  // instead of ending with them, which would turn -0 into 0. Not with sliced k, where each warp's part
  // is one of k tiles that begin with k = 0.
  const int tile_k = f.config.threadblock.k;
  const bool short_first = f.config.mainloop == Mainloop::kSimtAsync && f.config.warp.k == tile_k;
  const std::int32_t first = short_first ? k - plan.counts.k_tiles * tile_k : 0;
  PutOperand(at.a, {a, p.lda, m, k, first, f.listed ? 0 : p.stride_a}, run.load_a, params);
  PutOperand(at.b, {b, p.ldb, n, k, first, f.listed ? 0 : p.stride_b}, run.load_b, params);
  return absl::OkStatus();
}

template <class Grid>
void PutSchedule(const GemmImage& image, const GemmPlan& plan, const GemmRun& run,
                 const ParamsWriter& params) {
  const GemmFacts& f = image.facts;
  const std::int32_t at = image.product.schedule;
  const auto tiles_n = static_cast<std::int32_t>(plan.counts.tiles_n);
  const std::int32_t band = BandOf(f.config.threadblock);
  if (f.listed) {
    params.Put(at, Grid::Make(static_cast<std::int32_t>(plan.counts.tiles_m), tiles_n, band));
  } else if (f.grouped) {
    typename GroupGrid<Grid>::Params groups;
    groups.grid = Grid::Make(plan.tile_rows, tiles_n, band);
    groups.block_m = FastDivmod(f.config.threadblock.m);
    groups.group_offsets = static_cast<const std::int32_t*>(run.group_offsets.address);
    groups.products = static_cast<std::int32_t>(plan.problem.batch);
    groups.m = static_cast<std::int32_t>(plan.problem.m);
    params.Put(at, groups);
  } else {
    params.Put(at, BatchedGrid<Grid>::Make(plan.tile_rows, tiles_n, band));
  }
}

absl::Status Put(const GemmImage& image, const GemmPlan& plan, const GemmRun& run,
                 MakeTensorMap make, const ParamsWriter& params) {
  if (IsWgmma(image.facts)) {
    PutSchedule<BandedTileGrid>(image, plan, run, params);
  } else {
    PutSchedule<TileGrid>(image, plan, run, params);
  }
  return PutProduct(image, plan, run, make, params);
}

absl::Status RefuseGroupOffsets(const GemmFacts& f, const GemmRun& run) {
  if (f.grouped || run.group_offsets.address == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "gemm: args.group_offsets is set but the policy is no weft::gemm::Grouped<P>; leave it null");
}

absl::Status CheckTensors(const GemmFacts& f, const Tensors& t) {
  return CheckArguments("gemm", absl::MakeSpan(t.operands).first(f.grouped ? 3 : 2), t.c,
                        t.epilogue);
}

}  // namespace

absl::Status CheckArguments(const GemmImage& image, const GemmPlan& plan, const GemmRun& run) {
  if (absl::Status s = RefuseGroupOffsets(image.facts, run); !s.ok()) return s;
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  return CheckTensors(image.facts, TensorsOf(image, plan.problem, run));
}

absl::Status CheckArguments(const GemmImage& image, const GemmListPlan& plan,
                            absl::Span<const GemmRun> runs) {
  if (runs.size() != plan.products.size()) return WrongCount(runs.size(), plan.products.size());
  std::vector<ListedTensor> tensors;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const GemmPlan& product = plan.products[i];
    if (absl::Status s = RefuseGroupOffsets(image.facts, runs[i]); !s.ok()) return OfProduct(i, s);
    if (product.problem.IsEmpty()) continue;
    const Tensors all = TensorsOf(image, product.problem, runs[i]);
    if (absl::Status s = CheckTensors(image.facts, all); !s.ok()) return OfProduct(i, s);
    const EpilogueArguments& e = all.epilogue;
    for (const TensorArgument* t : {&all.operands[0], &all.operands[1], &e.residual, &e.bias,
                                    &e.channel_alpha, &e.channel_values, &e.table}) {
      if (t->address != nullptr) tensors.push_back({i, false, *t});
    }
    tensors.push_back({i, true, all.c});
  }
  return CheckListApart(tensors);
}

template <class BackEnd>
absl::Status Start(const GemmImage& image, const GemmPlan& plan, const GemmRun& run,
                   const BackEnd& on, RunFunction<BackEnd> start) {
  if (absl::Status s = CheckArguments(image, plan, run); !s.ok()) return s;
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  if (std::is_same_v<BackEnd, CpuBackEnd> && image.facts.grouped) {  // which can read the offsets
    const auto* offsets = static_cast<const std::int32_t*>(run.group_offsets.address);
    const auto groups = static_cast<std::size_t>(plan.problem.batch);
    if (absl::Status s = CheckGroupOffsets(plan.problem, {offsets, groups}); !s.ok()) return s;
  }
  ParamsBuffer params(image.defaults, image.launch.bytes);
  const ParamsWriter writer = params.writer();
  if (absl::Status s = Put(image, plan, run, BackEnd::kMakeMap, writer); !s.ok()) return s;
  writer.Put(image.launch.ring, plan.tma.ring);
  writer.Put(image.launch.plan, plan.tma.plan);
  writer.Put(image.launch.tiles, plan.tiles);
  Launch launch;
  launch.kernel = KernelNumber(image, plan.ragged_k);
  launch.params = params.data();
  launch.grid = {plan.tiles, 1, 1};
  return (on.*start)("gemm", image.facts, launch);
}

absl::Status PutTable(const GemmImage& image, const GemmListPlan& plan,
                      absl::Span<const GemmRun> runs, MakeTensorMap make, void* table) {
  if (absl::Status s = CheckArguments(image, plan, runs); !s.ok()) return s;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ParamsWriter product(static_cast<unsigned char*>(table) +
                               i * static_cast<std::size_t>(image.product.bytes));
    product.Put(image.product.first_tile, plan.first[i]);
    if (plan.products[i].problem.IsEmpty()) continue;
    if (absl::Status s = Put(image, plan.products[i], runs[i], make, product); !s.ok()) {
      return OfProduct(i, s);
    }
  }
  return absl::OkStatus();
}

template <class BackEnd>
absl::Status StartList(const GemmImage& image, const GemmListPlan& plan, const void* table,
                       const BackEnd& on, RunFunction<BackEnd> start) {
  if (plan.tiles() == 0) return absl::OkStatus();
  ParamsBuffer params(image.defaults, image.launch.bytes);
  const ParamsWriter writer = params.writer();
  // The scheduler's parameters are the same for products of all types.
  const ListGrid<TileGrid, char>::Params schedule = {
      static_cast<const char*>(table), static_cast<std::int32_t>(plan.products.size())};
  writer.Put(image.launch.schedule, schedule);
  // All products share the ring and the TMA plan of one. A k tile always has all its steps, as TMA
  // stores zeros past the end of a product's k.
  WgmmaGemmPlan tma = plan.products[plan.some].tma;
  tma.plan.last_steps = tma.plan.steps;
  writer.Put(image.launch.ring, tma.ring);
  writer.Put(image.launch.plan, tma.plan);
  writer.Put(image.launch.tiles, plan.tiles());
  Launch launch;
  launch.kernel = KernelNumber(image, plan.ragged_k);
  launch.params = params.data();
  launch.grid = {plan.tiles(), 1, 1};
  return (on.*start)("gemm", image.facts, launch);
}

template absl::Status Start(const GemmImage&, const GemmPlan&, const GemmRun&, const GpuBackEnd&,
                            RunFunction<GpuBackEnd>);
template absl::Status Start(const GemmImage&, const GemmPlan&, const GemmRun&, const CpuBackEnd&,
                            RunFunction<CpuBackEnd>);
template absl::Status StartList(const GemmImage&, const GemmListPlan&, const void*,
                                const GpuBackEnd&, RunFunction<GpuBackEnd>);
template absl::Status StartList(const GemmImage&, const GemmListPlan&, const void*,
                                const CpuBackEnd&, RunFunction<CpuBackEnd>);

}  // namespace weft::gemm
