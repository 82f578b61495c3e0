#include "perf/epilogue_bench/layer_data.hpp"

#if WEFT_HAVE_CUDA

#include <cmath>
#include <limits>
#include <utility>

#include "perf/peers/bench.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/random.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

// For each pixel of the output, the sum of the source's values, each less its zero point, that meet
// a filter of ones.
std::vector<std::int32_t> WindowSums(const conv::Problem& p, const std::vector<std::int8_t>& src) {
  const std::int64_t plane = p.h * p.w;
  std::vector<std::int32_t> pixels(p.n * plane);  // over the channels
  for (std::int64_t i = 0; i < p.n * p.c; ++i) {
    std::int32_t* const to = pixels.data() + i / p.c * plane;
    for (std::int64_t j = 0; j < plane; ++j) {
      to[j] += src[i * plane + j] - kSourceZero;
    }
  }
  std::vector<std::int32_t> sums;
  for (std::int64_t i = 0; i < p.n * p.p() * p.q(); ++i) {
    const std::int64_t n = i / (p.p() * p.q()), y = i / p.q() % p.p(), x = i % p.q();
    std::int32_t sum = 0;
    for (std::int64_t tap = 0; tap < p.r * p.s; ++tap) {
      const std::int64_t h = y * p.stride_h - p.pad_top + tap / p.s;
      const std::int64_t w = x * p.stride_w - p.pad_left + tap % p.s;
      if (h >= 0 && h < p.h && w >= 0 && w < p.w) sum += pixels[n * plane + h * p.w + w];
    }
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace

LayerData::LayerData(const conv::Problem& problem, std::vector<std::int8_t> filter,
                     PackedFilterBuffer<CxRSKx<32>> packed)
    : problem(problem), filter(std::move(filter)), packed(std::move(packed)) {}

absl::StatusOr<LayerData> LayerData::Create(const conv::Problem& p, bool int4,
                                            cudaStream_t stream) {
  std::vector<std::int8_t> filter = RandomInt8s(KCRS::Size(p.filter()), 2);
  if (int4) {
    for (std::int8_t& v : filter) v = static_cast<std::int8_t>(v >> 4);
  }
  WEFT_LET(auto packed, PackFilter<CxRSKx<32>>(p.filter(), filter));
  LayerData d(p, std::move(filter), std::move(packed));
  // Sums whose standard deviation is 45 steps of the output.
  d.alpha = (int4 ? 16.0f : 1.0f) / (120.0f * std::sqrt(static_cast<float>(p.c * p.r * p.s)));
  const std::int64_t src_bytes = NCxHWx<32>::Size(p.src()), dst_bytes = NCxHWx<32>::Size(p.dst());
  const std::vector<std::int8_t> blocked = RandomInt8s(src_bytes, 1);
  WEFT_LET(d.src, (ConvertTensor<NCxHWx<32>, NCHW, std::int8_t>(p.src(), blocked)));
  WEFT_LET(d.bias, DeviceBuffer::From(std::vector<float>(p.k, kBias)));
  std::int64_t filter_bytes = d.packed.bytes();
  if (int4) {
    WEFT_LET(d.int4_packed, PackFilter<PackedInt4<CxRSKx<32>>>(p.filter(), d.filter));
    filter_bytes = d.int4_packed->bytes();
  } else {
    WEFT_TRY(d.MakeEpilogueData());
  }
  for (int i = 0; i < BufferSets(src_bytes + filter_bytes + dst_bytes); ++i) {
    Set set;
    WEFT_LET(set.src, i == 0 ? DeviceBuffer::From(blocked) : DeviceBuffer::Create(src_bytes));
    if (i > 0) WEFT_TRY(FillPlanar(set.src.as<std::int8_t>(), src_bytes, 100 + i, stream));
    WEFT_LET(set.filter, DeviceBuffer::FromBytes(d.packed.data(), d.packed.bytes()));
    WEFT_LET(set.dst, DeviceBuffer::Create(dst_bytes));
    if (int4) {
      WEFT_LET(set.int4_filter,
               DeviceBuffer::FromBytes(d.int4_packed->data(), d.int4_packed->bytes()));
    } else {
      WEFT_LET(set.wide, DeviceBuffer::Create(4 * dst_bytes));
      WEFT_LET(set.residual, DeviceBuffer::Create(dst_bytes));
      WEFT_TRY(FillPlanar(set.residual.as<std::int8_t>(), dst_bytes, kResidualSeed, stream));
    }
    d.sets.push_back(std::move(set));
  }
  WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream), "fill"));
  return d;
}

absl::Status LayerData::MakeEpilogueData() {
  const conv::Problem& p = problem;
  WEFT_LET(sum_bias,
           DeviceBuffer::From(std::vector<std::int32_t>(p.k, static_cast<std::int32_t>(kBias))));
  std::vector<float> slopes;
  std::vector<std::int32_t> zeros;
  for (std::int64_t k = 0; k < p.k; ++k) {
    slopes.push_back(Slope(k));
    zeros.push_back(FilterZero(k));
  }
  WEFT_LET(slope, DeviceBuffer::From(slopes));
  WEFT_LET(filter_zero, DeviceBuffer::From(zeros));
  WEFT_LET(correction, conv::MakeSourceCorrection(p, packed, kSourceZero));
  WEFT_LET(gpu_correction, DeviceBuffer::FromBytes(correction->data(), correction->bytes()));
  window_sums = WindowSums(p, src);
  WEFT_LET(gpu_window_sums, DeviceBuffer::From(window_sums));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  WEFT_LET(low, DeviceBuffer::From(std::vector<float>(p.k, kInfinity)));
  WEFT_LET(high, DeviceBuffer::From(std::vector<float>(p.k, -kInfinity)));
  WEFT_LET(sums, DeviceBuffer::Create(4 * p.n * p.k));
  for (std::int64_t c = 0; c < p.c; ++c) {
    source_scale.push_back(SourceScale(c));
    source_offset.push_back(SourceOffset(c));
  }
  WEFT_LET(gpu_source_scale, DeviceBuffer::From(source_scale));
  WEFT_LET(gpu_source_offset, DeviceBuffer::From(source_offset));
  return absl::OkStatus();
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
