// local_bench [--json=FILE] [--layers=PART] [--commit=HASH]: LocalFilter at N = 16 and 64, the bytes a
// second that it reads weights at. Every output pixel has a filter of its own, so the weights are nearly all
// there is to move, once; those of int4 are half as many bytes.
//
// A few hundred outputs of each run are compared with the sums computed here.
#include "perf/peers/bench.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "perf/local_bench/policies.hpp"
#include "perf/support/copy_time.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/random.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr double kSampleMicroseconds = 2000.0;

template <class Filter>
inline constexpr int kFilterBits = kIsInt4<Filter> ? 4 : 8;

// As wide as the elements of Filter.
template <class Filter>
std::vector<std::int8_t> RandomWeights(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int8_t> values = RandomInt8s(count, seed);
  for (std::int8_t& v : values) v = static_cast<std::int8_t>(v >> (8 - kFilterBits<Filter>));
  return values;
}

// A problem's data: planar on the host, packed on the GPU.
template <class Filter>
struct Data {
  conv::Problem problem;
  std::vector<std::int8_t> src, filters;
  DeviceBuffer device_src, device_filters, device_bias, device_dst;
  PackedFilterBuffer<Filter, std::int8_t, prologues::LocalFilter> packed;
};

template <class Filter>
absl::StatusOr<Data<Filter>> MakeData(const conv::Problem& p) {
  std::vector<std::int8_t> src = RandomInt8s(NCHW::Size(p.src()), 1);
  std::vector<std::int8_t> filters =
      RandomWeights<Filter>(p.p() * p.q() * KCRS::Size(p.filter()), 2);
  WEFT_LET(const std::vector<std::int8_t> blocked,
           (ConvertTensor<NCHW, NCxHWx<32>, std::int8_t>(p.src(), src)));
  WEFT_LET(auto packed,
           (PackFilters<prologues::LocalFilter, Filter>(p.filter(), p.p() * p.q(), filters)));
  WEFT_LET(DeviceBuffer device_src, DeviceBuffer::From(blocked));
  WEFT_LET(DeviceBuffer device_filters, DeviceBuffer::FromBytes(packed.data(), packed.bytes()));
  WEFT_LET(DeviceBuffer bias, DeviceBuffer::From(std::vector<float>(p.k, 3.0f)));
  WEFT_LET(DeviceBuffer dst, DeviceBuffer::Create(NCxHWx<32>::Size(p.dst())));
  return Data<Filter>{p,
                      std::move(src),
                      std::move(filters),
                      std::move(device_src),
                      std::move(device_filters),
                      std::move(bias),
                      std::move(dst),
                      std::move(packed)};
}

// Outputs of a sample that differ from what they should be.
template <class Filter>
absl::StatusOr<int> Mismatches(const Data<Filter>& d, float alpha) {
  WEFT_LET(const std::vector<std::int8_t> dst, d.device_dst.template Read<std::int8_t>());
  const conv::Problem& p = d.problem;
  std::mt19937_64 engine(3);
  int wrong = 0;
  for (int i = 0; i < 400; ++i) {
    const auto pick = [&](std::int64_t n) { return static_cast<std::int64_t>(engine() % n); };
    const std::int64_t n = pick(p.n), k = pick(p.k), y = pick(p.p()), x = pick(p.q());
    const std::int8_t* filter = d.filters.data() + ((y * p.q() + x) * p.k + k) * p.c * p.r * p.s;
    std::int64_t sum = 0;
    for (std::int64_t c = 0; c < p.c; ++c) {
      for (std::int64_t r = 0; r < p.r; ++r) {
        for (std::int64_t s = 0; s < p.s; ++s) {
          const std::int64_t h = y * p.stride_h - p.pad_top + r;
          const std::int64_t w = x * p.stride_w - p.pad_left + s;
          if (h < 0 || h >= p.h || w < 0 || w >= p.w) continue;
          sum += d.src[((n * p.c + c) * p.h + h) * p.w + w] * filter[(c * p.r + r) * p.s + s];
        }
      }
    }
    const float scaled = std::max(0.0f, std::fmaf(1.0f, 3.0f, alpha * static_cast<float>(sum)));
    const auto want = static_cast<std::int8_t>(std::min(127.0f, std::nearbyint(scaled)));
    wrong += dst[NCxHWx<32>::Offset(p.dst(), n, k, y, x)] != want;
  }
  return wrong;
}

template <class P>
absl::Status Measure(Bench& bench, const Data<typename P::FilterLayout>& d, Json* row) {
  using Op = conv::Convolution<P>;
  constexpr int kBits = kFilterBits<typename P::FilterLayout>;
  row->update({{"kernel", conv::PolicyName(P::config)}, {"filter_bits", kBits}});
  WEFT_LET(const Op op, Op::Create(d.problem));
  const float alpha = std::ldexp(
      1.0f / (120.0f * std::sqrt(double(d.problem.c * d.problem.r * d.problem.s))), 8 - kBits);
  WEFT_TRY(d.device_dst.Fill(0x77));
  Contestant ours;
  ours.enqueue = [&](int) {
    return op.Run({.src = d.device_src.template as<std::int8_t>(),
                   .filter = d.packed.At(d.device_filters.data()),
                   .bias = d.device_bias.template as<float>(),
                   .dst = d.device_dst.template as<std::int8_t>(),
                   .alpha = alpha},
                  bench.stream());
  };
  // The weights alone are larger than the L2, so that one set of buffers is enough.
  WEFT_TRY(bench.watch().Prepare(ours, 1, kSampleMicroseconds));
  WEFT_LET((*row)["mismatches"], Mismatches(d, alpha));
  const std::int64_t reads = d.packed.bytes() + NCxHWx<32>::Size(d.problem.src());
  const std::int64_t writes = NCxHWx<32>::Size(d.problem.dst());
  WEFT_LET(CopyTime copy, CopyTime::Create(reads, writes, false, bench.machine().limits().sm_count,
                                           bench.watch(), kSampleMicroseconds));
  WEFT_TRY(bench.watch().Interleave({&ours, &copy.contestant()}, 15, 1e6));
  const double us = Quantile(ours.samples, 0.5);
  const double copy_us = Quantile(copy.contestant().samples, 0.5);
  const double bytes = static_cast<double>(reads + writes);
  row->update(
      {{"ours_us", Rounded(us)},
       {"mbytes", Rounded(bytes * 1e-6)},
       {"copy_us", Rounded(copy_us)},
       {"copy_kernel", copy.name()},
       {"copy_over_ours", Rounded(copy_us / us)},
       {"share_of_copy", Rounded(bytes / us / bench.machine().ceilings(true).bytes_per_us)}});
  return bench.ReadClock(ours, row);
}

// All tiles over filters of one format.
template <class Tiles>
absl::Status MeasureTiles(Bench& bench, const Layer& layer) {
  using Filter = typename std::tuple_element_t<0, Tiles>::FilterLayout;
  WEFT_LET(const Data<Filter> data, MakeData<Filter>(layer.problem));
  return ForEachTile<Tiles>([&]<class P>() {
    if (P::config.threadblock.m != layer.problem.n) return absl::OkStatus();
    return bench.Row(LayerName(layer.problem, true),
                     [&](Json* row) { return Measure<P>(bench, data, row); });
  });
}

absl::Status MeasureAll(Bench& bench) {
  for (const int images : {16, 64}) {
    for (const char* name :
         {"c64h56w56k64r3s1", "c128h28w28k128r3s1", "c256h14w14k256r3s1", "c64h56w56k64r3s2",
          "c128h56w56k128r3s2", "c256h56w56k128r1s1", "c512h28w28k256r1s1"}) {
      WEFT_LET(Layer layer, ParseLayer(name));
      layer.problem.n = images;
      WEFT_TRY(MeasureTiles<LocalTiles>(bench, layer));
      WEFT_TRY(MeasureTiles<LocalInt4Tiles>(bench, layer));
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA

int main(int argc, char** argv) {
  constexpr weft::perf::BenchProgram kProgram = {
      "local_bench", "LocalFilter, the bytes a second that it reads weights at",
      "random data; weights larger than the L2; CUDA graphs; medians; share_of_copy: weights, "
      "source and destination a second over what a large copy reads and writes; copy_us: of a copy "
      "that reads and writes as many bytes as the layer"};
#if WEFT_HAVE_CUDA
  return weft::perf::BenchMain(argc, argv, kProgram, weft::perf::MeasureAll);
#else
  return weft::perf::BenchMain(argc, argv, kProgram, nullptr);
#endif
}
