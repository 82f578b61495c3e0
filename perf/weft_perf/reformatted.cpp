#include "perf/weft_perf/reformatted.hpp"

#if WEFT_HAVE_CUDA

#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::perf {
namespace {

template <class Function>
auto WithFormat(TensorFormatName name, Function&& function) {
  switch (name) {
    case TensorFormatName::kNc4:
      return function(std::type_identity<NCxHWx<4>>());
    case TensorFormatName::kNc32:
      return function(std::type_identity<NCxHWx<32>>());
    default:
      return function(std::type_identity<NHWC>());
  }
}

}  // namespace

std::string UserFormats::Text() const {
  return src == dst ? FormatText(src) : absl::StrCat(FormatText(src), " to ", FormatText(dst));
}

UserFormats UserFormats::Of(TensorFormatName format, const conv::Problem& problem) {
  return {problem.c <= 4 ? TensorFormatName::kNc4 : format, format};
}

ReformattedPeer::ReformattedPeer(Peer& inner, int variant)
    : Peer(absl::StrCat(inner.name(), " with reformat")), inner_(inner), variant_(variant) {
  variants_.push_back(inner.variants()[variant]);
}

absl::StatusOr<std::unique_ptr<ReformattedPeer>> ReformattedPeer::Create(Peer& inner, int variant,
                                                                         const PeerProblem& problem,
                                                                         const PeerTensors& tensors,
                                                                         const UserFormats& user,
                                                                         Stream stream) {
  const Place src = inner.Src(0), dst = inner.Dst(0);
  if (src.address == nullptr || dst.address == nullptr) {
    return absl::UnimplementedError("its tensors are not int8");
  }
  std::unique_ptr<ReformattedPeer> made(new ReformattedPeer(inner, variant));
  const TensorExtents in = problem.problem.src(), out = problem.problem.dst();
  made->extents_ = out;
  made->format_ = user.dst;
  const auto keep = [](absl::StatusOr<ConvertedSets> sets, ConvertedSets* to) {
    if (sets.ok()) *to = *std::move(sets);
    return sets.status();
  };
  absl::Status s;
  if (!SameInMemory(user.src, src.format, in.c)) {
    absl::StatusOr<ReformatPlan> plan = PlanReformat(user.src, src.format, in);
    if (!plan.ok()) return plan.status();
    made->in_ = *plan;
    s = WithFormat(user.src, [&](auto format) {
      return keep(ConvertSets<typename decltype(format)::type>(tensors.src, in, Element::kInt8,
                                                               tensors.sets, stream),
                  &made->src_);
    });
  }
  if (s.ok() && !SameInMemory(user.dst, dst.format, out.c)) {
    absl::StatusOr<ReformatPlan> plan = PlanReformat(dst.format, user.dst, out);
    if (!plan.ok()) return plan.status();
    made->out_ = *plan;
    s = WithFormat(user.dst, [&](auto format) {
      return keep(MakeSets(decltype(format)::type::Size(out), Element::kInt8, tensors.sets),
                  &made->dst_);
    });
  }
  if (!s.ok()) return s;
  return made;
}

absl::Status ReformattedPeer::Enqueue(int, int set, Stream stream) {
  absl::Status s;
  if (in_.has_value()) {
    s = Reformat(*in_, static_cast<const std::int8_t*>(src_.at(set)), inner_.Src(set).address,
                 stream);
  }
  if (s.ok()) s = inner_.Enqueue(variant_, set, stream);
  if (s.ok() && out_.has_value()) {
    s = Reformat(*out_, inner_.Dst(set).address, static_cast<std::int8_t*>(dst_.at(set)), stream);
  }
  return s;
}

absl::Status ReformattedPeer::Poison(int set, Stream stream) {
  if (absl::Status s = inner_.Poison(set, stream); !s.ok() || !out_.has_value()) return s;
  return CudaStatus(cudaMemsetAsync(dst_.at(set), 0xB5, dst_.stride, stream), "poison");
}

absl::Status ReformattedPeer::Output(int set, std::int8_t* dst, Stream stream) {
  if (!out_.has_value()) return inner_.Output(set, dst, stream);
  return WithFormat(format_, [&](auto format) {
    using Format = typename decltype(format)::type;
    return Convert(
        {dst_.at(set), dst, extents_, StridesOf<Format>(extents_), StridesOf<NHWC>(extents_)},
        Element::kInt8, Element::kInt8, stream);
  });
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
