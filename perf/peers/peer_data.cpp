#include "perf/peers/peer_data.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "perf/peers/convert.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/random.hpp"
#include "tests/reference/reference_gpu.hpp"

namespace weft::perf {
namespace {

constexpr int kMinSets = 2;
constexpr int kMaxSets = 512;
constexpr std::uint64_t kSeed = 20261122;
constexpr double kMostMacs = 2e10;  // of the reference, whose kernel is slow

absl::Status Keep(absl::StatusOr<DeviceBuffer> made, DeviceBuffer* to) {
  if (made.ok()) *to = std::move(*made);
  return made.status();
}

// `sets` places of `bytes` random bytes, each of its own or all the same.
absl::Status Random(std::int64_t bytes, std::uint64_t seed, bool same, int sets, Stream stream,
                    DeviceBuffer* buffer, PeerTensors::Sets* where) {
  where->stride = RoundUp(bytes, 256);
  if (absl::Status s = Keep(DeviceBuffer::Create(where->stride * sets), buffer); !s.ok()) return s;
  where->first = buffer->as<std::int8_t>();
  for (int set = 0; set < sets; ++set) {
    absl::Status s = FillPlanar(buffer->as<std::int8_t>() + set * where->stride, bytes,
                                seed + (same ? 0 : set), stream);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ToPlanar(const std::int8_t* nhwc, const TensorExtents& e, Stream stream,
                      DeviceBuffer* planar) {
  if (absl::Status s = Keep(DeviceBuffer::Create(NCHW::Size(e)), planar); !s.ok()) return s;
  return Convert({nhwc, planar->data(), e, StridesOf<NHWC>(e), StridesOf<NCHW>(e)}, Element::kInt8,
                 Element::kInt8, stream);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PeerData>> PeerData::Create(const PeerProblem& problem,
                                                           std::int64_t l2_bytes, Stream stream) {
  std::unique_ptr<PeerData> data(new PeerData);
  data->problem_ = problem;
  const conv::Problem& p = problem.problem;
  data->checked_ = p;
  data->checked_.n = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(kMostMacs * static_cast<double>(p.n) / p.macs()), 1, p.n);
  const std::int64_t src = NHWC::Size(p.src()), dst = NHWC::Size(p.dst());
  const std::int64_t filter = KRSC::Size(p.filter());
  PeerTensors& t = data->tensors_;
  const double set_bytes = static_cast<double>(src + dst * (problem.residual ? 2 : 1) + filter);
  if (l2_bytes > 0) {
    const double sets = std::ceil(1.5 * static_cast<double>(l2_bytes) / set_bytes) + 1.0;
    t.sets = static_cast<int>(std::clamp<double>(sets, kMinSets, kMaxSets));
  }
  absl::Status s = Random(src, kSeed + 100, false, t.sets, stream, &data->src_, &t.src);
  if (s.ok()) s = Random(filter, kSeed, true, t.sets, stream, &data->filter_, &t.filter);
  if (s.ok() && problem.residual) {
    s = Random(dst, kSeed + 10000, false, t.sets, stream, &data->residual_, &t.residual);
  }
  // Sums of products of uniform bytes have a deviation of about 5461 sqrt(C R S); outputs get about
  // 45, so that ReLU and both ends of the clamp are met.
  t.alpha = 45.0f / (5461.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s)));
  const auto floats = [&](std::uint64_t seed, float low, float high, DeviceBuffer* to) {
    if (s.ok()) s = Keep(DeviceBuffer::From(RandomFloats(p.k, seed, low, high)), to);
  };
  floats(kSeed + 2, 0.5f * t.alpha, 1.5f * t.alpha, &data->channel_alpha_);
  floats(kSeed + 3, -20.0f, 20.0f, &data->bias_);
  t.channel_alpha = data->channel_alpha_.as<float>();
  t.bias = data->bias_.as<float>();
  const conv::Problem& few = data->checked_;
  if (s.ok()) s = ToPlanar(t.src.first, few.src(), stream, &data->planar_src_);
  if (s.ok()) s = ToPlanar(t.filter.first, AsTensor(p.filter()), stream, &data->planar_filter_);
  if (s.ok() && problem.residual) {
    s = ToPlanar(t.residual.first, few.dst(), stream, &data->planar_residual_);
  }
  if (s.ok()) s = Keep(DeviceBuffer::Create(dst), &data->output_);
  if (s.ok()) s = data->output_.Fill(0);
  if (!s.ok()) return s;
  return data;
}

absl::StatusOr<const std::int8_t*> PeerData::Expected(const PeerScope& scope, Stream stream) {
  if (const auto found = expected_.find(scope); found != expected_.end()) {
    return found->second.as<std::int8_t>();
  }
  const TensorExtents e = checked_.dst();
  DeviceBuffer planar, made;
  absl::Status s = Keep(DeviceBuffer::Create(NCHW::Size(e)), &planar);
  if (s.ok()) s = Keep(DeviceBuffer::Create(NHWC::Size(e)), &made);
  if (s.ok()) s = made.Fill(0);
  if (!s.ok()) return s;
  const auto run = [&](auto activation) {
    reference::ConvolveParams<decltype(activation)> params;
    params.problem = checked_;
    params.src = planar_src_.as<std::int8_t>();
    params.filter = planar_filter_.as<std::int8_t>();
    params.epilogue.alpha = tensors_.alpha;
    if (scope.channel_alpha) params.epilogue.channel_alpha = tensors_.channel_alpha;
    if (scope.bias) params.epilogue.bias = tensors_.bias;
    if (scope.residual) {
      params.epilogue.gamma = problem_.gamma;
      params.epilogue.residual = planar_residual_.as<std::int8_t>();
    }
    params.dst = planar.as<std::int8_t>();
    return reference::ConvolveOnGpu(params, stream);
  };
  const arch::LaunchResult result = scope.hswish ? run(reference::HSwishActivation{})
                                    : scope.relu ? run(reference::ReluActivation{})
                                                 : run(reference::NoActivation{});
  if (!result.ok()) return absl::InternalError(absl::StrCat("reference: ", result.message));
  s = Convert({planar.data(), made.data(), e, StridesOf<NCHW>(e), StridesOf<NHWC>(e)},
              Element::kInt8, Element::kInt8, stream);
  if (s.ok()) s = CudaStatus(cudaStreamSynchronize(stream), "reference");
  if (!s.ok()) return s;
  const std::int8_t* const address = made.as<std::int8_t>();
  expected_.emplace(scope, std::move(made));
  return address;
}

absl::StatusOr<Differences> PeerData::Check(Peer& peer, int variant, Stream stream) {
  const absl::StatusOr<const std::int8_t*> want = Expected(peer.variants()[variant].scope, stream);
  if (!want.ok()) return want.status();
  absl::Status s = peer.Poison(0, stream);
  if (s.ok()) s = peer.Enqueue(variant, 0, stream);
  if (s.ok()) s = CudaStatus(cudaStreamSynchronize(stream), "the peer's run");
  if (s.ok()) s = peer.Output(0, output_.as<std::int8_t>(), stream);
  if (!s.ok()) return s;
  return Compare(output_.as<std::int8_t>(), *want, NHWC::Size(checked_.dst()), stream);
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
