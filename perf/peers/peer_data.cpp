#include "perf/peers/peer_data.hpp"

#include <algorithm>
#include <cmath>

#include "perf/support/device_data.hpp"
#include "perf/support/floor.hpp"
#include "perf/support/random.hpp"
#include "tests/reference/reference_gpu.hpp"

namespace weft::perf {
namespace {

constexpr int kMinSets = 2;
constexpr int kMaxSets = 512;
constexpr std::uint64_t kSeed = 20261122;
constexpr double kMostMacs = 2e10;  // of the reference, whose kernel is slow

// A place of `bytes` random bytes for each set, each of its own or all the same.
absl::StatusOr<DeviceBuffer> Random(std::int64_t bytes, std::uint64_t seed, bool same,
                                    const std::int8_t* PeerTensors::Set::* member, Stream stream,
                                    PeerTensors* tensors) {
  const std::int64_t stride = RoundUp(bytes, 256);
  WEFT_LET(DeviceBuffer buffer, DeviceBuffer::Create(stride * tensors->count()));
  for (int set = 0; set < tensors->count(); ++set) {
    std::int8_t* const place = buffer.as<std::int8_t>() + set * stride;
    WEFT_TRY(FillPlanar(place, bytes, seed + (same ? 0 : set), stream));
    tensors->sets[set].*member = place;
  }
  return buffer;
}

absl::StatusOr<DeviceBuffer> ToPlanar(const std::int8_t* nhwc, const TensorExtents& e,
                                      Stream stream) {
  WEFT_LET(DeviceBuffer planar, DeviceBuffer::Create(NCHW::Size(e)));
  WEFT_TRY(Convert({nhwc, planar.data(), e, StridesOf<NHWC>(e), StridesOf<NCHW>(e)}, Element::kInt8,
                   Element::kInt8, stream));
  return planar;
}

}  // namespace

absl::Status ReferenceOnGpu(const PeerProblem& problem, const std::int8_t* src,
                            const std::int8_t* filter, const reference::EpilogueData& epilogue,
                            std::int8_t* dst, Stream stream) {
  const auto run = [&](auto activation) {
    reference::ConvolveParams<decltype(activation)> params;
    params.problem = problem.problem;
    params.src = src;
    params.filter = filter;
    params.epilogue = epilogue;
    params.dst = dst;
    return reference::ConvolveOnGpu(params, stream);
  };
  WEFT_TRY(LaunchStatus(problem.hswish ? run(reference::HSwishActivation{})
                        : problem.relu ? run(reference::ReluActivation{})
                                       : run(reference::NoActivation{}),
                        "reference"));
  return CudaStatus(cudaStreamSynchronize(stream), "reference");
}

absl::StatusOr<std::unique_ptr<PeerData>> PeerData::Create(const PeerProblem& problem,
                                                           std::int64_t l2_bytes, Stream stream) {
  std::unique_ptr<PeerData> data(new PeerData);
  data->problem_ = data->checked_ = problem;
  const conv::Problem& p = problem.problem;
  conv::Problem& few = data->checked_.problem;
  few.n = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(kMostMacs * static_cast<double>(p.n) / p.macs()), 1, p.n);
  const std::int64_t src = NHWC::Size(p.src()), dst = NHWC::Size(p.dst());
  const std::int64_t filter = KRSC::Size(WholeFilter(p));
  PeerTensors& t = data->tensors_;
  const double set_bytes = static_cast<double>(src + dst * (problem.residual ? 2 : 1) + filter);
  double sets = 1.0;
  if (l2_bytes > 0) {
    sets = std::ceil(1.5 * static_cast<double>(l2_bytes) / set_bytes) + 1.0;
    sets = std::clamp<double>(sets, kMinSets, kMaxSets);
  }
  t.sets.resize(static_cast<std::size_t>(sets));
  using Set = PeerTensors::Set;
  WEFT_LET(data->src_, Random(src, kSeed + 100, false, &Set::src, stream, &t));
  WEFT_LET(data->filter_, Random(filter, kSeed, true, &Set::filter, stream, &t));
  if (problem.residual) {
    WEFT_LET(data->residual_, Random(dst, kSeed + 10000, false, &Set::residual, stream, &t));
  }
  // Sums of products of uniform bytes have a deviation of about 5461 sqrt(C R S); outputs get about
  // 45, so that ReLU and both ends of the clamp are met.
  const float step = problem.hswish ? problem.output_scale : 1.0f;
  t.alpha = step * 45.0f / (5461.0f * std::sqrt(static_cast<float>(p.c / p.groups * p.r * p.s)));
  WEFT_LET(data->channel_alpha_,
           DeviceBuffer::From(RandomFloats(p.k, kSeed + 2, 0.5f * t.alpha, 1.5f * t.alpha)));
  WEFT_LET(data->bias_,
           DeviceBuffer::From(RandomFloats(p.k, kSeed + 3, -20.0f * step, 20.0f * step)));
  for (Set& set : t.sets) {
    set.channel_alpha = data->channel_alpha_.as<float>();
    set.bias = data->bias_.as<float>();
  }
  WEFT_LET(data->planar_src_, ToPlanar(t.sets[0].src, few.src(), stream));
  WEFT_LET(data->planar_filter_, ToPlanar(t.sets[0].filter, AsTensor(WholeFilter(p)), stream));
  if (problem.residual) {
    WEFT_LET(data->planar_residual_, ToPlanar(t.sets[0].residual, few.dst(), stream));
  }
  WEFT_LET(data->output_, DeviceBuffer::Create(dst));
  WEFT_TRY(data->output_.Fill(0));
  return data;
}

absl::StatusOr<const std::int8_t*> PeerData::Expected(bool one_scale, Stream stream) {
  DeviceBuffer& made = expected_[one_scale];
  if (made.data() == nullptr) {
    const TensorExtents e = checked_.problem.dst();
    WEFT_LET(const DeviceBuffer planar, DeviceBuffer::Create(NCHW::Size(e)));
    reference::EpilogueData epilogue;
    epilogue.alpha = tensors_.alpha;
    if (!one_scale) epilogue.channel_alpha = tensors_.sets[0].channel_alpha;
    epilogue.bias = tensors_.sets[0].bias;
    if (checked_.hswish) epilogue.output_scale = checked_.output_scale;
    if (checked_.residual) {
      epilogue.gamma = checked_.gamma;
      epilogue.residual = planar_residual_.as<std::int8_t>();
    }
    WEFT_TRY(ReferenceOnGpu(checked_, planar_src_.as<std::int8_t>(),
                            planar_filter_.as<std::int8_t>(), epilogue, planar.as<std::int8_t>(),
                            stream));
    WEFT_LET(DeviceBuffer nhwc, DeviceBuffer::Create(NHWC::Size(e)));
    WEFT_TRY(Convert({planar.data(), nhwc.data(), e, StridesOf<NCHW>(e), StridesOf<NHWC>(e)},
                     Element::kInt8, Element::kInt8, stream));
    WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream), "reference"));
    made = std::move(nhwc);
  }
  return made.as<const std::int8_t>();
}

absl::StatusOr<Differences> PeerData::Check(Peer& peer, int variant, Stream stream) {
  WEFT_LET(const std::int8_t* const want, Expected(peer.variants()[variant].one_scale, stream));
  WEFT_TRY(peer.Poison(0, stream));
  WEFT_TRY(peer.Enqueue(variant, 0, stream));
  WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream), "the peer's run"));
  WEFT_TRY(peer.Output(0, output_.as<std::int8_t>(), stream));
  return Compare(output_.as<std::int8_t>(), want, NHWC::Size(checked_.problem.dst()), stream);
}

}  // namespace weft::perf
