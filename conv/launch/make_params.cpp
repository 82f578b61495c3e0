#include "weft/conv/launch/make_params.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace weft::conv {
namespace {

using gemm::Int32;

// Makes the parameters of one launch.
class Maker {
 public:
  Maker(const ConvPlan& plan, const ParamsLayout& at, const ConvRun& run, gemm::MakeTensorMap make,
        gemm::ParamsWriter params, gemm::Launch* launch)
      : plan_(plan), at_(at), run_(run), make_(make), params_(params), launch_(launch) {}

  absl::Status Make(const MultistagePlan& own) const {
    std::visit([&](const auto& source) { PutSource(source); }, own.source);
    PutFilter(own.filter);
    PutRows(own.pixels);
    PutProduct();
    return absl::OkStatus();
  }

  absl::Status Make(const TmaPlan& own) const {
    params_.Put(at_.a.at, own.source);
    params_.Put(at_.b.at, own.filter);
    if (absl::Status s = PutMap(at_.a.map, own.source_spec, run_.src.address); !s.ok()) return s;
    arch::TensorMapSpec filters = own.filter_spec;
    filters.dim[filters.rank - 1] *= static_cast<std::uint32_t>(run_.filter.count);
    if (absl::Status s = PutMap(at_.b.map, filters, run_.filter.data); !s.ok()) return s;
    PutRows(own.pixels);
    if (at_.last_first != kNoPart) Output().Put(at_.last_first, own.last_first);
    PutProduct();
    if (at_.padding != kNoPart && run_.source_correction->edge_rows() != nullptr) {
      params_.Put(at_.padding, PaddingOf(plan_.problem, own, run_.source_correction->zero_point()));
    }
    // More would delay the source in kernels whose blocks cannot share a multiprocessor.
    constexpr std::int32_t kEarly = 2;
    PutRing(own, own.ring, (std::min)(kEarly, plan_.counts.k_tiles));
    return absl::OkStatus();
  }

  absl::Status Make(const FirstLayerPlan& own) const {
    SlidingWindowSource source = own.source;
    source.src = run_.src.address;
    gemm::MbarRingParams ring = own.ring;
    const auto address = reinterpret_cast<std::uintptr_t>(source.src);
    if (source.places > 0 && address % 16 == 0) {
      if (absl::Status s = PutMap(at_.a.map, own.source_spec, source.src); !s.ok()) return s;
      ring.tma_tiles = Int32(plan_.counts.blocks());
    }
    // A block takes whole strips.
    launch_->grid.x = Int32(plan_.counts.blocks() / own.strip_tiles);
    const std::uintptr_t widths = address | static_cast<std::uintptr_t>(source.widest);
    source.widest = static_cast<std::int32_t>(widths & -widths);
    params_.Put(at_.a.at, source);
    PutFilter(own.filter);
    params_.Put(at_.b_chunks, own.filter_chunks);
    PutRows(own.source.rows);
    PutProduct();
    PutRing(own, ring, 1);
    return absl::OkStatus();
  }

  absl::Status Make(const GatherPlan& own) const {
    PutSource(own.source);
    PutFilter(own.filter);
    PutRows(own.pixels);
    PutProduct();
    PutRing(own, own.ring, 0);
    return absl::OkStatus();
  }

  absl::Status Make(const DepthwisePlan& own) const {
    DepthwiseIteratorParams iterator = own.iterator;
    iterator.src = run_.src.address;
    iterator.filter = run_.filter.data;
    params_.Put(at_.a.at, iterator);
    DepthwiseRows rows = own.rows;
    rows.run = PixelRun(own.rows.q, run_.output.dst.address);
    PutRows(rows);
    PutOutput();
    return absl::OkStatus();
  }

 private:
  gemm::ParamsWriter Output() const { return params_.Part(at_.output); }

  absl::Status PutMap(std::int32_t at, const arch::TensorMapSpec& spec, const void* base) const {
    return gemm::MakeMap("conv", make_, spec, base, params_.At<arch::TensorMap>(at));
  }
  template <class Source>
  void PutSource(const Source& of_plan) const {
    Source source = of_plan;
    source.src = run_.src.address;
    params_.Put(at_.a.at, source);
    if (at_.a.functor == kNoPart) return;
    params_.PutBytes(at_.a.functor, run_.source_functor,
                     static_cast<std::size_t>(at_.a.functor_bytes));
    const Problem& p = plan_.problem;
    const std::int32_t channels[] = {Int32(p.c), Int32(p.c / p.groups)};
    params_.Put(at_.channels, channels);
  }
  void PutFilter(const FilterParams& of_plan) const {
    FilterParams filter = of_plan;
    filter.filter = run_.filter.data;
    params_.Put(at_.b.at, filter);
  }
  template <class Rows>
  void PutRows(const Rows& rows) const {
    Output().Put(at_.of_output.rows, rows);
    if (run_.phase != nullptr) Output().Put(at_.phase, *run_.phase);
  }
  void PutOutput() const {
    PutConvOutput(plan_.problem, plan_.padded_k, Destination(plan_.dst(), run_), at_.of_output,
                  run_, Output());
  }
  // What all kernels have that multiply matrices.
  void PutProduct() const {
    const PlanCounts& counts = plan_.counts;
    const std::int32_t tiles_m = Int32(counts.tiles_m), tiles_n = Int32(counts.tiles_n);
    if (at_.batch != kNoPart) {
      params_.Put(at_.schedule, gemm::BatchedGrid<gemm::TileGrid>::Make(tiles_m, tiles_n));
      const gemm::FastDivmod batch[] = {gemm::FastDivmod(Int32(plan_.batch.g)),
                                        gemm::FastDivmod(Int32(plan_.batch.q)),
                                        gemm::FastDivmod(Int32(plan_.batch.p))};
      params_.Put(at_.batch, batch);
      params_.PutBytes(at_.prologue, run_.prologue, static_cast<std::size_t>(at_.prologue_bytes));
    } else {
      params_.Put(at_.schedule, gemm::TileGrid::Make(tiles_m, tiles_n));
    }
    params_.Put(at_.k_tiles, counts.k_tiles);
    PutOutput();
  }
  // What all kernels of wgmma_sm90 have. early: how many k tiles of the filter may be fetched before
  // earlier kernels have ended.
  void PutRing(const RingPlan& own, const gemm::MbarRingParams& ring, std::int32_t early) const {
    params_.Put(at_.ring, ring);
    params_.Put(at_.plan, own.plan);
    params_.Put(at_.tiles, Int32(plan_.counts.blocks()));
    if (ring.b_stays) launch_->blocks_multiple = static_cast<int>(plan_.counts.tiles_n);
    if (run_.filter_is_constant) {
      params_.Put(at_.early, early);
      launch_->attributes.constant[0] = {run_.filter.data,
                                         static_cast<std::size_t>(run_.filter.bytes)};
    }
  }

  const ConvPlan& plan_;
  const ParamsLayout& at_;
  const ConvRun& run_;
  gemm::MakeTensorMap make_;
  gemm::ParamsWriter params_;
  gemm::Launch* launch_;
};

const ParamsImage& ParamsOf(const PolicyImage& image, const ConvPlan& plan) {
  return image.params[plan.kind() == Kind::kMultistage ? plan.number() : 0];
}

}  // namespace

TensorExtents Destination(const TensorExtents& of_plan, const ConvRun& run) {
  TensorExtents dst = of_plan;
  if (run.phase != nullptr) dst.h = run.phase->rows, dst.w = run.phase->columns;
  if (run.dst_channels != 0) dst.c = run.dst_channels;
  return dst;
}

void PutConvOutput(const Problem& problem, std::int32_t padded_k, const TensorExtents& dst,
                   const gemm::OutputLayout& at, const ConvRun& run,
                   const gemm::ParamsWriter& output) {
  gemm::PutOutput(at, run.output, output);
  output.Put(at.k, Int32(problem.k));
  output.Put(at.padded_k, padded_k);
  output.Put(at.extents, dst);
  if (at.correction != kNoPart) {
    const SourceCorrection& table = *run.source_correction;
    const std::int32_t* const edges[] = {table.edges(), table.edge_rows(), table.edge_columns()};
    output.Put(at.correction, table.corrections());
    output.Put(at.edges, edges);
  }
  if (at.filter_zero_point != kNoPart) {
    const std::int32_t* const addresses[] = {run.filter_zero_point, run.window_sums};
    const TensorExtents windows = Destination(problem.dst(), run);  // before a MaxPool
    const std::int32_t groups[] = {Int32(problem.groups), Int32(problem.k / problem.groups),
                                   Int32(windows.h * windows.w)};
    output.Put(at.filter_zero_point, addresses[0]);
    output.Put(at.window_sums, addresses[1]);
    output.Put(at.groups, groups);
  }
}

ConvLaunch::ConvLaunch(const PolicyImage& image, const ConvPlan& plan, const ConvRun& run,
                       gemm::MakeTensorMap make)
    : params(ParamsOf(image, plan).defaults, ParamsOf(image, plan).at.bytes) {
  launch = {plan.number(), params.data(), plan.grid()};
  const Maker maker(plan, ParamsOf(image, plan).at, run, make, params.writer(), &launch);
  status = std::visit([&](const auto& own) { return maker.Make(own); }, plan.kernel);
}

}  // namespace weft::conv
