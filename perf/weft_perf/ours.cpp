#include "perf/weft_perf/ours.hpp"

#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/support/floor.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

class Ours : public FormattedPeer {
 public:
  Ours(const OurLayout& layout, Epilogue epilogue)
      : FormattedPeer(layout.name), layout_(layout), tiles_(OurTiles(layout.name, epilogue)) {
    for (const Tile& tile : tiles_) variants_.push_back({tile.name});
    runs_.resize(tiles_.size());
  }

  absl::Status Prepare(const PeerProblem& problem, const PeerTensors& tensors,
                       const PeerOptions& options, Stream stream) override {
    options.about_to("converting tensors");
    WEFT_TRY(MakeTensors(problem, tensors, layout_.src, layout_.dst, Element::kInt8, stream));
    arguments_.resize(tensors.sets.size());
    for (int set = 0; set < tensors.count(); ++set) {
      TileArguments& a = arguments_[set];
      a.src = static_cast<const std::int8_t*>(SrcAt(set));
      a.channel_alpha = tensors.sets[set].channel_alpha;
      a.bias = tensors.sets[set].bias;
      if (problem.residual) a.residual = static_cast<const std::int8_t*>(ResidualAt(set));
      a.gamma = problem.gamma;
      a.output_scale = problem.output_scale;
      a.dst = static_cast<std::int8_t*>(DstAt(set));
    }
    if (problem.problem.groups > 1) {
      return PackFilters(stream, [](const FilterExtents& e, const auto& krsc) {
        return PackDepthwiseFilter<KRSC>(e, krsc);
      });
    }
    switch (layout_.src) {
      case TensorFormatName::kNc4:
        return PackShared<CxRSKx<4>>(stream);
      case TensorFormatName::kNc32:
        return PackShared<CxRSKx<32>>(stream);
      default:
        return PackShared<KRSC>(stream);
    }
  }

  absl::Status Build(int variant) override {
    WEFT_LET(runs_[variant], tiles_[variant].create(problem_.problem));
    return absl::OkStatus();
  }
  void Release(int variant) override { runs_[variant] = nullptr; }
  absl::Status Enqueue(int variant, int set, Stream stream) override {
    return runs_[variant](arguments_[set], stream);
  }

 private:
  template <class Format>
  absl::Status PackShared(Stream stream) {
    return PackFilters(stream, [](const FilterExtents& e, const auto& krsc) {
      return PackFilter<Format, KRSC>(e, krsc);
    });
  }

  // As a user would, on the host: pack(extents, values in KRSC). All sets have the same filter.
  template <class Pack>
  absl::Status PackFilters(Stream stream, const Pack& pack) {
    const FilterExtents e = WholeFilter(problem_.problem);
    std::vector<std::int8_t> krsc(KRSC::Size(e));
    WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream), "filter"));
    WEFT_TRY(CudaStatus(
        cudaMemcpy(krsc.data(), tensors_.sets[0].filter, krsc.size(), cudaMemcpyDeviceToHost),
        "filter"));
    WEFT_LET(const auto packed, pack(e, krsc));
    WEFT_LET(filters_, TensorSets::Create(packed.bytes(), Element::kInt8, tensors_.count()));
    for (int set = 0; set < tensors_.count(); ++set) {
      WEFT_TRY(CudaStatus(
          cudaMemcpy(filters_.at(set), packed.data(), packed.bytes(), cudaMemcpyHostToDevice),
          "filter"));
      const auto filter = packed.At(filters_.at(set));
      std::get<std::remove_const_t<decltype(filter)>>(arguments_[set].filters) = filter;
    }
    return absl::OkStatus();
  }

  const OurLayout& layout_;
  const std::vector<Tile>& tiles_;
  std::vector<TileRun> runs_;
  std::vector<TileArguments> arguments_;  // of each set
  TensorSets filters_;
};

}  // namespace

std::unique_ptr<Peer> MakeOurs(const std::string& layout, Epilogue epilogue) {
  for (const OurLayout& each : OurLayouts()) {
    if (each.name == layout) return std::make_unique<Ours>(each, epilogue);
  }
  return nullptr;
}

std::string ReformattedPeer::Formats::Text() const {
  return src == dst ? FormatText(src) : absl::StrCat(FormatText(src), " to ", FormatText(dst));
}

ReformattedPeer::Formats ReformattedPeer::Formats::Of(TensorFormatName format,
                                                      const conv::Problem& problem) {
  return {problem.c <= 4 ? TensorFormatName::kNc4 : format, format};
}

ReformattedPeer::ReformattedPeer(Peer& inner, int variant)
    : Peer(absl::StrCat(inner.name(), " with reformat")), inner_(inner), variant_(variant) {
  variants_.push_back(inner.variants()[variant]);
}

absl::StatusOr<std::unique_ptr<ReformattedPeer>> ReformattedPeer::Create(Peer& inner, int variant,
                                                                         const PeerProblem& problem,
                                                                         const PeerTensors& tensors,
                                                                         const Formats& user,
                                                                         Stream stream) {
  const Place src = inner.Src(0), dst = inner.Dst(0);
  if (src.address == nullptr || dst.address == nullptr) {
    return absl::UnimplementedError("its tensors are not int8");
  }
  std::unique_ptr<ReformattedPeer> made(new ReformattedPeer(inner, variant));
  const TensorExtents in = problem.problem.src(), out = problem.problem.dst();
  made->extents_ = out;
  made->dst_format_ = user.dst;
  if (!SameInMemory(user.src, src.format, in.c)) {
    WEFT_LET(made->in_, PlanReformat(user.src, src.format, in));
    WEFT_LET(made->src_, TensorSets::Converted(tensors.Each(&PeerTensors::Set::src), in, user.src,
                                               Element::kInt8, stream));
  }
  if (!SameInMemory(user.dst, dst.format, out.c)) {
    WEFT_LET(made->out_, PlanReformat(dst.format, user.dst, out));
    WEFT_LET(made->dst_,
             TensorSets::Create(SizeOf(user.dst, out), Element::kInt8, tensors.count()));
  }
  return made;
}

absl::Status ReformattedPeer::Enqueue(int, int set, Stream stream) {
  if (in_.has_value()) {
    WEFT_TRY(Reformat(*in_, static_cast<const std::int8_t*>(src_.at(set)), inner_.Src(set).address,
                      stream));
  }
  WEFT_TRY(inner_.Enqueue(variant_, set, stream));
  if (!out_.has_value()) return absl::OkStatus();
  return Reformat(*out_, inner_.Dst(set).address, static_cast<std::int8_t*>(dst_.at(set)), stream);
}

absl::Status ReformattedPeer::Poison(int set, Stream stream) {
  WEFT_TRY(inner_.Poison(set, stream));
  if (!out_.has_value()) return absl::OkStatus();
  return CudaStatus(cudaMemsetAsync(dst_.at(set), 0xB5, dst_.stride, stream), "poison");
}

absl::Status ReformattedPeer::Output(int set, std::int8_t* dst, Stream stream) {
  if (!out_.has_value()) return inner_.Output(set, dst, stream);
  return Convert(
      {dst_.at(set), dst, extents_, StridesOf(dst_format_, extents_), StridesOf<NHWC>(extents_)},
      Element::kInt8, Element::kInt8, stream);
}

}  // namespace weft::perf
