#include "perf/bench/operator_data.hpp"

#include <limits>
#include <utility>

#include "perf/support/device_data.hpp"
#include "perf/support/random.hpp"
#include "perf/support/status.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {

absl::StatusOr<OperatorData> OperatorData::Create(const Shape& shape, Stream stream) {
  OperatorData d;
  d.src_extents = shape.src, d.dst_extents = shape.dst;
  d.alpha = shape.alpha;
  const std::int64_t c = shape.src.c, k = shape.dst.c;
  const std::int64_t src_bytes = NCxHWx<32>::Size(shape.src);
  const std::int64_t dst_bytes = NCxHWx<32>::Size(shape.dst);
  const std::vector<std::int8_t> blocked = RandomInt8s(src_bytes, 1);
  WEFT_LET(d.src, (ConvertTensor<NCxHWx<32>, NCHW, std::int8_t>(shape.src, blocked)));
  WEFT_LET(d.bias, DeviceBuffer::From(std::vector<float>(k, kBias)));
  WEFT_LET(d.filter_zero, DeviceBuffer::From(VectorOf(k, FilterZero)));
  if (shape.epilogues) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const auto sum_bias = static_cast<std::int32_t>(kBias);
    WEFT_LET(d.sum_bias, DeviceBuffer::From(std::vector<std::int32_t>(k, sum_bias)));
    WEFT_LET(d.slope, DeviceBuffer::From(VectorOf(k, Slope)));
    WEFT_LET(d.low, DeviceBuffer::From(std::vector<float>(k, kInfinity)));
    WEFT_LET(d.high, DeviceBuffer::From(std::vector<float>(k, -kInfinity)));
    WEFT_LET(d.sums, DeviceBuffer::Create(4 * shape.dst.n * k));
    d.source_scale = VectorOf(c, SourceScale);
    d.source_offset = VectorOf(c, SourceOffset);
    WEFT_LET(d.gpu_source_scale, DeviceBuffer::From(d.source_scale));
    WEFT_LET(d.gpu_source_offset, DeviceBuffer::From(d.source_offset));
  }
  for (int i = 0; i < BufferSets(src_bytes + shape.filter_bytes + dst_bytes); ++i) {
    Set set;
    WEFT_LET(set.src, i == 0 ? DeviceBuffer::From(blocked) : DeviceBuffer::Create(src_bytes));
    if (i > 0) WEFT_TRY(FillPlanar(set.src.as<std::int8_t>(), src_bytes, 100 + i, stream));
    WEFT_LET(set.dst, DeviceBuffer::Create(dst_bytes));
    if (shape.epilogues) {
      WEFT_LET(set.wide, DeviceBuffer::Create(4 * dst_bytes));
      WEFT_LET(set.residual, DeviceBuffer::Create(dst_bytes));
      WEFT_TRY(FillPlanar(set.residual.as<std::int8_t>(), dst_bytes, kResidualSeed, stream));
    }
    d.sets.push_back(std::move(set));
  }
  WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream), "fill"));
  return d;
}

}  // namespace weft::perf
