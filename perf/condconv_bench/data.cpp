#include "perf/condconv_bench/data.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/support/random.hpp"
#include "perf/support/status.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr int kSample = 200;

// Uniform over 0 to 127.
std::vector<std::int8_t> RandomWeights(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int8_t> values = RandomInt8s(count, seed);
  for (std::int8_t& v : values) v &= 127;
  return values;
}

absl::Status Right(int wrong) {
  if (wrong == 0) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(wrong, " wrong values in a sample"));
}

}  // namespace

CondData::CondData(const conv::Problem& problem, std::vector<std::int8_t> bank,
                   PackedFilterBuffer<CxRSKx<32>, std::int8_t, prologues::Experts> experts,
                   PackedFilterBuffer<CxRSKx<32>, std::int8_t> plain)
    : problem(problem),
      src(RandomInt8s(NCHW::Size(problem.src()), 1)),
      bank(std::move(bank)),
      routing(RandomWeights(problem.n * kExperts, 3)),
      alpha(1.0f / (120.0f * std::sqrt(static_cast<float>(problem.c * problem.r * problem.s)))),
      experts(std::move(experts)),
      plain(std::move(plain)) {
  for (const std::int8_t r : routing) weights.push_back(static_cast<float>(r) / 127.0f);
}

absl::StatusOr<CondData> CondData::Create(const conv::Problem& p) {
  const FilterExtents e = p.filter();
  const std::int64_t filter = KCRS::Size(e);
  std::vector<std::int8_t> bank = RandomInt8s(kExperts * filter, 2);
  WEFT_LET(auto experts, (PackFilters<prologues::Experts, CxRSKx<32>>(e, kExperts, bank)));
  WEFT_LET(auto plain, PackFilter<CxRSKx<32>>(e, absl::MakeConstSpan(bank.data(), filter)));
  CondData d(p, std::move(bank), std::move(experts), std::move(plain));
  WEFT_LET(const std::vector<std::int8_t> blocked,
           (ConvertTensor<NCHW, NCxHWx<32>, std::int8_t>(p.src(), d.src)));
  WEFT_LET(d.gpu_src, DeviceBuffer::From(blocked));
  WEFT_LET(d.gpu_experts, DeviceBuffer::FromBytes(d.experts.data(), d.experts.bytes()));
  WEFT_LET(d.gpu_plain, DeviceBuffer::FromBytes(d.plain.data(), d.plain.bytes()));
  WEFT_LET(d.gpu_routing, DeviceBuffer::From(d.weights));
  WEFT_LET(d.gpu_scale, DeviceBuffer::From(std::vector<float>(kExperts * p.k, kMixedScale)));
  WEFT_LET(d.gpu_bias, DeviceBuffer::From(std::vector<float>(p.k, kBias)));
  WEFT_LET(d.workspace, DeviceBuffer::Create(p.n * d.plain.bytes()));
  WEFT_LET(d.dst, DeviceBuffer::Create(NCxHWx<32>::Size(p.dst())));
  WEFT_LET(d.want, DeviceBuffer::Create(NCxHWx<32>::Size(p.dst())));
  return d;
}

int CondData::Wrong(
    int allowed, const std::function<int(std::int64_t, std::int64_t, std::int64_t)>& filter,
    const std::function<int(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& dst) const {
  const conv::Problem& p = problem;
  const std::int64_t taps = p.c * p.r * p.s;
  const auto off = [&](int got, float want) {
    const float limited = std::nearbyint(std::min(127.0f, std::max(-128.0f, want)));
    return std::abs(got - static_cast<int>(limited)) > allowed;
  };
  std::mt19937_64 engine(4);
  const auto pick = [&](std::int64_t n) { return static_cast<std::int64_t>(engine() % n); };
  int wrong = 0;
  for (int sample = 0; sample < kSample; ++sample) {
    const std::int64_t n = pick(p.n), k = pick(p.k), row = pick(p.p()), column = pick(p.q());
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < taps; ++i) {
      float mixed = 0.0f;
      for (std::int64_t e = 0; e < kExperts; ++e) {
        const float value = kMixedScale * static_cast<float>(bank[(e * p.k + k) * taps + i]);
        mixed = std::fmaf(weights[n * kExperts + e], value, mixed);
      }
      const int got = filter(n, k, i);
      wrong += off(got, mixed);
      const std::int64_t h = row * p.stride_h - p.pad_top + i / p.s % p.r;
      const std::int64_t w = column * p.stride_w - p.pad_left + i % p.s;
      if (h < 0 || h >= p.h || w < 0 || w >= p.w) continue;
      sum += src[((n * p.c + i / (p.r * p.s)) * p.h + h) * p.w + w] * got;
    }
    const float value = std::fmaf(alpha, static_cast<float>(sum), 0.0f);
    wrong += off(dst(n, k, row, column), std::max(0.0f, value + kBias));
  }
  return wrong;
}

absl::Status CondData::Check() const {
  WEFT_LET(const std::vector<std::int8_t> mixed, workspace.Read<std::int8_t>());
  WEFT_LET(const std::vector<std::int8_t> outputs, dst.Read<std::int8_t>());
  const conv::Problem& p = problem;
  const FilterExtents e = p.filter();
  return Right(Wrong(
      0,
      [&](std::int64_t n, std::int64_t k, std::int64_t i) {
        return mixed[n * CxRSKx<32>::Size(e) +
                     CxRSKx<32>::Offset(e, k, i / (p.r * p.s), i / p.s % p.r, i % p.s)];
      },
      [&](std::int64_t n, std::int64_t k, std::int64_t row, std::int64_t column) {
        return outputs[NCxHWx<32>::Offset(p.dst(), n, k, row, column)];
      }));
}

absl::Status CondData::CheckChannelsLast(const DeviceBuffer& mixed_buffer,
                                         const DeviceBuffer& dst_buffer) const {
  WEFT_LET(const std::vector<std::int8_t> mixed, mixed_buffer.Read<std::int8_t>());
  WEFT_LET(const std::vector<std::int8_t> outputs, dst_buffer.Read<std::int8_t>());
  const conv::Problem& p = problem;
  const FilterExtents e = p.filter();
  return Right(Wrong(
      1,
      [&](std::int64_t n, std::int64_t k, std::int64_t i) {
        return mixed[n * KRSC::Size(e) +
                     KRSC::Offset(e, k, i / (p.r * p.s), i / p.s % p.r, i % p.s)];
      },
      [&](std::int64_t n, std::int64_t k, std::int64_t row, std::int64_t column) {
        return outputs[NHWC::Offset(p.dst(), n, k, row, column)];
      }));
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
