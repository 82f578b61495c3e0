// fused_bench [--json=FILE] [--layers=PART] [--commit=HASH]: the depthwise and the 1x1 convolution
// of MobileNet-V2's bottlenecks at N = 16 and 64, as one kernel (conv::DepthwisePointwise) and as
// two, each the fastest of its tiles for the layer. Buffers are rotated past the L2, both kernels of
// a pair are in one CUDA graph, and the outputs of the two ways are compared, every byte.
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"

ABSL_FLAG(std::string, json, "", "file to write");
ABSL_FLAG(std::string, layers, "", "only layers with this in their name");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON file");

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/fused_bench/policies.hpp"
#include "perf/peers/machine.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/json.hpp"
#include "perf/support/random.hpp"
#include "perf/support/status.hpp"
#include "weft/conv/depthwise_pointwise.hpp"
#include "weft/conv/tuning.hpp"

namespace weft::perf {
namespace {

constexpr std::int64_t kRotationBytes = std::int64_t{256} << 20;
constexpr double kSampleMicroseconds = 2000.0, kTryMicroseconds = 500.0;
constexpr float kBias = 3.0f;

// A bottleneck after its expansion: c channels, hw rows and columns, 1x1 to k; how often it occurs.
struct Bottleneck {
  std::int64_t c, hw, stride, k;
  int count;
};
constexpr Bottleneck kBottlenecks[] = {
    {32, 112, 1, 16, 1}, {96, 112, 2, 24, 1},  {144, 56, 1, 24, 1}, {144, 56, 2, 32, 1},
    {192, 28, 1, 32, 2}, {192, 28, 2, 64, 1},  {384, 14, 1, 64, 3}, {384, 14, 1, 96, 1},
    {576, 14, 1, 96, 2}, {576, 14, 2, 160, 1}, {960, 7, 1, 160, 2}, {960, 7, 1, 320, 1}};

// What a round of runs reads and writes.
struct Set {
  DeviceBuffer src, middle, dst;
};

struct Data {
  conv::Problem depthwise, pointwise;
  float depthwise_alpha, pointwise_alpha;
  PackedFilterBuffer<KRSx4x4, std::int8_t, prologues::Depthwise> taps;
  PackedFilterBuffer<CxRSKx<32>> filter;
  DeviceBuffer gpu_taps, gpu_filter, bias, want;
  std::vector<Set> sets;

  // Of the fused way: what has to be moved, once.
  std::int64_t bytes() const { return sets[0].src.bytes() + sets[0].dst.bytes(); }
};

absl::StatusOr<Data> MakeData(const Bottleneck& b, std::int64_t images, Stream stream) {
  conv::Problem first = conv::SquareProblem(images, b.c, b.hw, b.c, 3, 1, b.stride);
  first.groups = b.c;
  const conv::Problem second = conv::PointwiseAfter(first, b.k);
  WEFT_LET(auto taps, PackDepthwiseFilter({b.c, 1, 3, 3}, RandomInt8s(b.c * 9, 1)));
  WEFT_LET(auto filter, PackFilter<CxRSKx<32>>(second.filter(), RandomInt8s(b.c * b.k, 2)));
  WEFT_LET(DeviceBuffer gpu_taps, DeviceBuffer::FromBytes(taps.data(), taps.bytes()));
  WEFT_LET(DeviceBuffer gpu_filter, DeviceBuffer::FromBytes(filter.data(), filter.bytes()));
  WEFT_LET(DeviceBuffer bias, DeviceBuffer::From(std::vector<float>(std::max(b.c, b.k), kBias)));
  const std::int64_t dst_bytes = NCxHWx<32>::Size(second.dst());
  WEFT_LET(DeviceBuffer want, DeviceBuffer::Create(dst_bytes));
  // Sums that fill int8 after either convolution.
  Data d{first,
         second,
         1.0f / 360.0f,
         1.0f / (70.0f * std::sqrt(static_cast<float>(b.c))),
         std::move(taps),
         std::move(filter),
         std::move(gpu_taps),
         std::move(gpu_filter),
         std::move(bias),
         std::move(want),
         {}};
  const std::int64_t src_bytes = NCxHWx<32>::Size(first.src());
  const std::int64_t count =
      std::max<std::int64_t>(2, kRotationBytes / (src_bytes + dst_bytes) + 1);
  for (std::int64_t i = 0; i < count; ++i) {
    Set set;
    WEFT_LET(set.src, DeviceBuffer::Create(src_bytes));
    WEFT_LET(set.middle, DeviceBuffer::Create(NCxHWx<32>::Size(first.dst())));
    WEFT_LET(set.dst, DeviceBuffer::Create(dst_bytes));
    WEFT_TRY(FillPlanar(set.src.as<std::int8_t>(), src_bytes, 3 + i, stream));
    d.sets.push_back(std::move(set));
  }
  return d;
}

// One way, and how long it took.
struct Way {
  std::string name;
  std::function<absl::Status(int set)> enqueue;
  double us = 0.0;
};

class Bench {
 public:
  absl::Status Init() { return machine_.Init(Json::object(), true); }

  absl::Status Measure(const Bottleneck& b, std::int64_t images);

  absl::Status Write() const {
    const std::string path = absl::GetFlag(FLAGS_json);
    if (path.empty()) return absl::OkStatus();
    Json environment = machine_.environment();
    environment["program"] = "fused_bench";
    environment["commit"] = absl::GetFlag(FLAGS_commit);
    environment["date"] = Today();
    environment["method"] =
        "random data; buffers rotated past the L2; CUDA graphs; medians of interleaved samples; "
        "two_us: the fastest depthwise kernel and then the fastest 1x1 kernel; floor_us: source "
        "and destination at the copy bandwidth";
    return WriteFile(path, ResultText(environment, Json::object(), rows_));
  }

 private:
  const Stopwatch& watch() const { return machine_.watch(); }

  // Times `way` and keeps the faster.
  absl::Status Try(const Data& d, Way way, std::optional<Way>* best) const {
    WEFT_LET(way.us, watch().Short(way.enqueue, static_cast<int>(d.sets.size()), kTryMicroseconds));
    if (!best->has_value() || way.us < (*best)->us) *best = std::move(way);
    return absl::OkStatus();
  }

  template <class P>
  absl::Status TryConvolution(const Data& d, bool is_first, std::optional<Way>* best) const {
    using Op = conv::Convolution<P>;
    const absl::StatusOr<Op> op = Op::Create(is_first ? d.depthwise : d.pointwise);
    if (!op.ok() || !gemm::HasGpuCode<P>()) return absl::OkStatus();
    const auto enqueue = [this, &d, is_first, op = *op](int set) {
      const Set& s = d.sets[set];
      typename Op::Arguments args;
      args.src = (is_first ? s.src : s.middle).template as<std::int8_t>();
      args.dst = (is_first ? s.middle : s.dst).template as<std::int8_t>();
      if constexpr (conv::CheckedPolicy<P>::kDepthwise) {
        args.filter = d.taps.At(d.gpu_taps.data());
      } else {
        args.filter = d.filter.At(d.gpu_filter.data());
      }
      args.bias = d.bias.as<float>();
      args.alpha = is_first ? d.depthwise_alpha : d.pointwise_alpha;
      args.filter_is_constant = true;
      return op.Run(args, watch().stream());
    };
    return Try(d, {conv::PolicyName(P::config), enqueue}, best);
  }

  template <class P>
  absl::Status TryFused(const Data& d, std::optional<Way>* best) const {
    using Op = conv::DepthwisePointwise<P>;
    const absl::StatusOr<Op> op = Op::Create(d.depthwise, d.pointwise.k, machine_.limits());
    if (!op.ok() || !gemm::HasGpuCode<P>()) return absl::OkStatus();
    const auto enqueue = [this, &d, op = *op](int set) {
      const Set& s = d.sets[set];
      typename Op::Arguments args;
      args.src = s.src.template as<std::int8_t>();
      args.depthwise.filter = d.taps.At(d.gpu_taps.data());
      args.depthwise.bias = d.bias.as<float>();
      args.depthwise.alpha = d.depthwise_alpha;
      args.filter = d.filter.At(d.gpu_filter.data());
      args.bias = d.bias.as<float>();
      args.dst = s.dst.template as<std::int8_t>();
      args.alpha = d.pointwise_alpha;
      return op.Run(args, watch().stream());
    };
    const std::string name =
        absl::StrCat("fused_", P::config.rows, "x", P::config.warps, "x", P::config.warp_n);
    WEFT_TRY(d.sets[0].dst.Fill(0x77));
    WEFT_TRY(enqueue(0));
    const std::int64_t bytes = d.want.bytes();
    WEFT_LET(const Differences found, Compare(d.sets[0].dst.as<std::int8_t>(),
                                              d.want.as<std::int8_t>(), bytes, watch().stream()));
    if (found.count > 0) {
      return absl::DataLossError(absl::StrCat(name, " differs at ", found.count, " bytes"));
    }
    return Try(d, {name, enqueue}, best);
  }

  Machine machine_;
  Json rows_ = Json::array();
};

// Calls each(Tile) for the tiles of a tuple until one fails.
template <class Tiles, class Each>
absl::Status ForEachTile(const Each& each) {
  absl::Status status;
  [&]<class... Ts>(std::tuple<Ts...>*) {
    const auto next = [&](const absl::Status& s) {
      status = s;
      return s.ok();
    };
    (void)(next(each.template operator()<Ts>()) && ...);
  }(static_cast<Tiles*>(nullptr));
  return status;
}

absl::Status Bench::Measure(const Bottleneck& b, std::int64_t images) {
  const std::string name =
      absl::StrCat("n", images, "c", b.c, "h", b.hw, "w", b.hw, "r3s", b.stride, "k", b.k);
  if (!absl::StrContains(name, absl::GetFlag(FLAGS_layers))) return absl::OkStatus();
  WEFT_LET(const Data d, MakeData(b, images, watch().stream()));
  std::optional<Way> first, second, fused;
  WEFT_TRY((ForEachTile<FirstTiles>(
      [&]<class T>() { return TryConvolution<First<T>>(d, true, &first); })));
  WEFT_TRY((ForEachTile<SecondTiles>(
      [&]<class T>() { return TryConvolution<Second<T>>(d, false, &second); })));
  if (!first.has_value() || !second.has_value()) {
    return absl::UnimplementedError("no tile takes the halves");
  }
  const auto two = [&](int set) {
    WEFT_TRY(first->enqueue(set));
    return second->enqueue(set);
  };
  WEFT_TRY(d.sets[0].dst.Fill(0x55));
  WEFT_TRY(two(0));
  WEFT_TRY(CudaStatus(cudaMemcpyAsync(d.want.data(), d.sets[0].dst.data(), d.want.bytes(),
                                      cudaMemcpyDefault, watch().stream()),
                      "copy"));
  WEFT_TRY((ForEachTile<FusedTiles>([&]<class T>() { return TryFused<T>(d, &fused); })));
  if (!fused.has_value()) return absl::UnimplementedError("no tile takes the problem");

  const int sets = static_cast<int>(d.sets.size());
  Contestant ours, both, halves[2];
  ours.enqueue = fused->enqueue;
  both.enqueue = two;
  halves[0].enqueue = first->enqueue;
  halves[1].enqueue = second->enqueue;
  std::vector<Contestant*> all = {&ours, &both, &halves[0], &halves[1]};
  for (Contestant* c : all) WEFT_TRY(watch().Prepare(*c, sets, kSampleMicroseconds));
  WEFT_TRY(watch().Interleave(all, 15, 1e6));
  Json clock = Json::object();
  WEFT_TRY(machine_.ReadClock(ours, &clock));
  const auto us = [](const Contestant& c, double at = 0.5) { return Quantile(c.samples, at); };
  const double floor = static_cast<double>(d.bytes()) / machine_.ceilings(true).bytes_per_us;
  Json row = {{"layer", name},
              {"batch", images},
              {"count", b.count},
              {"kernel", fused->name},
              {"ours_us", Rounded(us(ours))},
              {"ours_p10_us", Rounded(us(ours, 0.1))},
              {"ours_p90_us", Rounded(us(ours, 0.9))},
              {"two_us", Rounded(us(both))},
              {"two_p10_us", Rounded(us(both, 0.1))},
              {"two_p90_us", Rounded(us(both, 0.9))},
              {"ratio", Rounded(us(both) / us(ours))},
              {"floor_us", Rounded(floor)},
              {"depthwise_us", Rounded(us(halves[0]))},
              {"depthwise_kernel", first->name},
              {"pointwise_us", Rounded(us(halves[1]))},
              {"pointwise_kernel", second->name},
              {"in_graphs", ours.graphed && both.graphed},
              {"buffer_sets", sets},
              {"mismatches", 0}};
  row.update(clock);
  rows_.push_back(row);
  std::printf("%-28s %8.2f us  two %8.2f us (%.2f + %.2f)  ratio %.3f  floor %.2f us  %s; %s, %s\n",
              name.c_str(), us(ours), us(both), us(halves[0]), us(halves[1]), us(both) / us(ours),
              floor, fused->name.c_str(), first->name.c_str(), second->name.c_str());
  std::fflush(stdout);
  return Write();
}

int Main() {
  Bench bench;
  absl::Status status = bench.Init();
  for (const std::int64_t images : {16, 64}) {
    for (const Bottleneck& b : kBottlenecks) {
      if (status.ok()) status = bench.Measure(b, images);
    }
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "fused_bench: %s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("depthwise + 1x1 convolution as one kernel (perf/README.md)");
  absl::ParseCommandLine(argc, argv);
#if WEFT_HAVE_CUDA
  return weft::perf::Main();
#else
  std::puts("fused_bench: built without CUDA, nothing to measure");
  return 1;
#endif
}
