#include "perf/nc4_bench/tensors.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "perf/support/random.hpp"
#include "tests/reference/reference_gpu.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr int kMinSets = 2;
constexpr int kMaxSets = 512;
constexpr std::uint64_t kSeed = 20261121;

// `values` at the beginning of each of `sets` places `stride` bytes apart.
absl::StatusOr<DeviceBuffer> Repeat(const std::int8_t* values, std::int64_t bytes,
                                    std::int64_t stride, int sets) {
  absl::StatusOr<DeviceBuffer> buffer = DeviceBuffer::Create(stride * sets);
  if (!buffer.ok()) return buffer;
  for (int set = 0; set < sets; ++set) {
    // Later copies come from the first, on the GPU.
    const void* from = set == 0 ? static_cast<const void*>(values) : buffer->data();
    if (absl::Status s = CudaStatus(
            cudaMemcpy(buffer->as<char>() + set * stride, from, bytes, cudaMemcpyDefault),
            "copy of a filter");
        !s.ok()) {
      return s;
    }
  }
  return buffer;
}

}  // namespace

absl::StatusOr<Tensors> Tensors::Create(const conv::Problem& p, std::int64_t l2_bytes,
                                        Stream stream) {
  const std::vector<std::int8_t> planar = RandomInt8s(p.k * p.c * p.r * p.s, kSeed + 1);  // KCRS
  auto packed = PackFilter<CxRSKx<4>, KCRS, std::int8_t>(p.filter(), planar);
  if (!packed.ok()) return packed.status();
  const TensorExtents as_tensor{p.k, p.c, p.r, p.s};
  auto peer = ConvertTensor<NCHW, NCxHWx<4>, std::int8_t>(as_tensor, planar);
  if (!peer.ok()) return peer.status();

  Tensors t(std::move(*packed));
  t.problem_ = p;
  t.src_stride_ = RoundUp(NCxHWx<4>::Size(p.src()), 256);
  t.dst_stride_ = RoundUp(NCxHWx<4>::Size(p.dst()), 256);
  t.filter_stride_ = RoundUp(
      std::max<std::int64_t>(t.packed_.bytes(), static_cast<std::int64_t>(peer->size())), 256);
  const double set_bytes = static_cast<double>(t.src_stride_ + t.dst_stride_ + t.filter_stride_);
  t.sets_ =
      static_cast<int>(std::clamp(std::ceil(1.5 * static_cast<double>(l2_bytes) / set_bytes) + 1.0,
                                  static_cast<double>(kMinSets), static_cast<double>(kMaxSets)));

  absl::Status status;
  const auto keep = [&status](absl::StatusOr<DeviceBuffer> made, DeviceBuffer* buffer) {
    if (!made.ok()) {
      if (status.ok()) status = made.status();
    } else {
      *buffer = std::move(*made);
    }
  };
  // Sums of products of uniform bytes have a deviation of about 5461 sqrt(C R S); outputs get about
  // 45, so that ReLU and both ends of the clamp are met.
  t.alpha_ = 45.0f / (5461.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s)));
  keep(DeviceBuffer::Create(t.src_stride_ * t.sets_), &t.src_);
  keep(Repeat(t.packed_.data(), t.packed_.bytes(), t.filter_stride_, t.sets_), &t.filter_);
  keep(Repeat(peer->data(), static_cast<std::int64_t>(peer->size()), t.filter_stride_, t.sets_),
       &t.peer_filter_);
  keep(DeviceBuffer::Create(t.dst_stride_ * t.sets_), &t.dst_);
  keep(DeviceBuffer::Create(t.dst_stride_), &t.scratch_);
  keep(DeviceBuffer::From(RandomFloats(p.k, kSeed + 2, 0.5f * t.alpha_, 1.5f * t.alpha_)),
       &t.channel_alpha_);
  keep(DeviceBuffer::From(RandomFloats(p.k, kSeed + 3, -20.0f, 20.0f)), &t.bias_);
  const std::int64_t outputs = p.n * p.k * p.p() * p.q();
  keep(DeviceBuffer::Create(outputs), &t.expected_);
  DeviceBuffer planar_src, planar_filter;
  keep(DeviceBuffer::Create(p.n * p.c * p.h * p.w), &planar_src);
  keep(DeviceBuffer::From(planar), &planar_filter);
  if (!status.ok()) return status;

  for (int set = 0; set < t.sets_; ++set) {
    if (absl::Status s = FillBlocked(t.src_.as<std::int8_t>() + set * t.src_stride_, p.src(),
                                     kSeed + 10 + set, stream);
        !s.ok()) {
      return s;
    }
  }
  if (absl::Status s =
          FillPlanar(planar_src.as<std::int8_t>(), planar_src.bytes(), kSeed + 10, stream);
      !s.ok()) {
    return s;
  }
  reference::ConvolveParams<reference::ReluActivation> params;
  params.problem = p;
  params.src = planar_src.as<std::int8_t>();
  params.filter = planar_filter.as<std::int8_t>();
  params.epilogue.channel_alpha = t.channel_alpha_.as<float>();
  params.epilogue.bias = t.bias_.as<float>();
  params.dst = t.expected_.as<std::int8_t>();
  if (const arch::LaunchResult r = reference::ConvolveOnGpu(params, stream); !r.ok()) {
    return absl::InternalError(absl::StrCat("reference: ", r.message));
  }
  if (absl::Status s = CudaStatus(cudaStreamSynchronize(stream), "reference"); !s.ok()) return s;
  return t;
}

RunArguments Tensors::Arguments(int set) const {
  RunArguments args = PerTensorArguments(set);
  args.channel_alpha = channel_alpha_.as<float>();
  args.alpha = 1.0f;
  return args;
}

RunArguments Tensors::PerTensorArguments(int set) const {
  RunArguments args;
  args.src = src_.as<std::int8_t>() + set * src_stride_;
  args.filter = packed_.At(filter_.as<char>() + set * filter_stride_);
  args.bias = bias_.as<float>();
  args.alpha = alpha_;
  args.dst = dst_.as<std::int8_t>() + set * dst_stride_;
  return args;
}

absl::Status Tensors::Poison() const {
  if (absl::Status s = CudaStatus(cudaMemset(dst_.data(), 0xB5, dst_stride_), "poison"); !s.ok()) {
    return s;
  }
  return CudaStatus(cudaDeviceSynchronize(), "poison");
}

absl::StatusOr<Differences> Tensors::Check(Stream stream) const {
  return CompareWithPlanar(dst_.as<std::int8_t>(), expected_.as<std::int8_t>(), problem_.dst(),
                           stream);
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
