// rtc_bench: the same policies compiled ahead of time, by nvcc, and at run time, by rtc::Compile, in one process: of each
// mainloop and kind of kernel whether all bytes of the output are equal, the time of both in turns, and the host's time of a
// call of both. rtc_bench/cases.def has the policies.
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "perf/bench/operator_ways.hpp"
#include "perf/rtc_bench/policies.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/statistics.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/layouts/packing.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::perf {
namespace {

constexpr char kText[] =
    "namespace weft::perf::rtc_cases { using namespace conv; using namespace epilogues; "
#define TEXT(...) #__VA_ARGS__ "\n"
#define CASE(name, layer, ...) "struct " #name " : " #__VA_ARGS__ ";\n"
#include "perf/rtc_bench/cases.def"
    "}";

// A random filter, or bank of filters, as the policy reads it.
template <class P>
auto Pack(const conv::Convolution<P>& op) {
  const FilterExtents e = op.filter_extents();
  if constexpr (std::is_same_v<typename P::Prologue, prologues::Depthwise>) {
    return PackDepthwiseFilter(e, RandomInt8s(KCRS::Size(e), 2));
  } else {
    const std::int64_t count = op.filters();
    std::vector<std::int8_t> values = RandomInt8s(count * KCRS::Size(e), 2);
    if (kIsInt4<typename P::FilterLayout>) {
      for (std::int8_t& v : values) v = static_cast<std::int8_t>(v >> 4);
    }
    return PackFilters<typename P::Prologue, typename P::FilterLayout>(e, count, values);
  }
}

// Microseconds that a call takes the host: the median of rounds, between which the GPU is waited for.
absl::StatusOr<double> HostMicroseconds(const Way& way, int sets, cudaStream_t stream) {
  constexpr int kRounds = 15, kCalls = 100;
  using Clock = std::chrono::steady_clock;
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kCalls; ++i) WEFT_TRY(way.enqueue(i % sets));
    const std::chrono::duration<double, std::micro> all = Clock::now() - begin;
    rounds.push_back(all.count() / kCalls);
    WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream), "a call"));
  }
  return Summarize(rounds).median;
}

// What both ways need.
template <class P>
struct Operands {
  OperatorData data;
  decltype(Filters{ConvolutionSum{}, *Pack<P>(std::declval<conv::Convolution<P>>())}) filters;

  static absl::StatusOr<Operands> Create(const conv::Convolution<P>& op, cudaStream_t stream) {
    const conv::Problem& p = op.problem();
    WEFT_LET(auto packed, Pack<P>(op));
    const auto terms = static_cast<float>(p.c / p.groups * p.r * p.s);
    WEFT_LET(auto data, OperatorData::Create({.src = p.src(),
                                              .dst = p.dst(),
                                              .filter_bytes = packed.bytes(),
                                              .alpha = 1.0f / (120.0f * std::sqrt(terms)),
                                              .epilogues = true},
                                             stream));
    Operands made{std::move(data), {ConvolutionSum{p, {}}, std::move(packed)}};
    WEFT_TRY(made.filters.ToGpu(made.data.count()));
    if constexpr (P::Epilogue::kSourceZeroPoint) WEFT_TRY(made.filters.AddCorrections());
    return made;
  }
  auto At(int set) const {
    return internal::ArgumentsOf<conv::Convolution<P>, P>(data, filters, set);
  }
};

template <class P>
absl::Status Measure(const Bench& bench, const std::string& name, const conv::Problem& p,
                     Json* row) {
  const cudaStream_t stream = bench.stream();
  WEFT_LET(const auto op, conv::Convolution<P>::Create(p));
  WEFT_LET(const Operands<P> operands, Operands<P>::Create(op, stream));
  WEFT_LET(const rtc::Operator compiled,
           rtc::Compile(kText, {.policy = "weft::perf::rtc_cases::" + name,
                                .back_end = rtc::BackEnd::kGpu,
                                .cache_bytes = 0}));
  WEFT_LET(const conv::ConvPlan plan, compiled.Plan(p));
  WEFT_TRY(compiled.Prepare(plan));
  const Way ahead = {"nvcc", [&](int set) { return op.Run(operands.At(set), stream); }};
  const Way at_run_time = {"NVRTC", [&](int set) {
                             const auto args = operands.At(set);
                             return compiled.Run(plan, conv::RunOf(plan, args), stream);
                           }};
  // The buffer has room for more than some operators write, so both find the same bytes there.
  const DeviceBuffer& dst = internal::DstOf<P>(operands.data.sets[0]);
  WEFT_LET(const DeviceBuffer want, CopyOf(dst, 0x77, ahead.enqueue, stream));
  WEFT_LET(const std::int64_t differ, WrongBytes(dst, 0x77, at_run_time.enqueue, want, stream));

  Race race(bench.watch(), operands.data.count());
  WEFT_TRY(race.Add("ahead", ahead));
  WEFT_TRY(race.Add("run_time", at_run_time));
  WEFT_TRY(race.Run());
  WEFT_LET(const double host_ahead, HostMicroseconds(ahead, operands.data.count(), stream));
  WEFT_LET(const double host, HostMicroseconds(at_run_time, operands.data.count(), stream));
  row->update({{"kernel", conv::PolicyName(P::config)},
               {"ahead_us", Rounded(race.us("ahead"))},
               {"run_time_us", Rounded(race.us("run_time"))},
               {"over_ahead", Rounded(race.us("run_time") / race.us("ahead"), 4)},
               {"noise", Rounded(HalvesDiffer(race.contestant("ahead").samples), 4)},
               {"in_graphs", race.graphed()},
               {"buffer_sets", operands.data.count()},
               {"host_ahead_us", Rounded(host_ahead)},
               {"host_run_time_us", Rounded(host)},
               {"bytes", want.bytes()},
               {"mismatches", differ}});
  return absl::OkStatus();
}

template <class P>
absl::Status Add(Bench& bench, const char* name, const char* layer_name) {
  WEFT_LET(const Layer layer, ParseLayer(layer_name));
  const Json identity = {{"case", name}, {"layer", LayerName(layer.problem, true)}};
  bench.Add(identity, [&bench, identity, name, p = layer.problem](const Measuring&) {
    return std::vector<Json>{
        Bench::RowOf(identity, [&](Json* row) { return Measure<P>(bench, name, p, row); })};
  });
  return absl::OkStatus();
}

absl::Status MeasureAll(Bench& bench) {
#define CASE(name, layer, ...) WEFT_TRY(Add<rtc_cases::name>(bench, #name, layer));
#include "perf/rtc_bench/cases.def"
  return bench.Run(false);
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"rtc_bench", "operators compiled at run time beside the same ahead of time",
       "random data; source, filter and destination rotated past the L2; CUDA graphs, dependent "
       "launches; medians of samples in turns; host_..._us: of a call without a graph, medians of "
       "15 rounds of 100 calls; mismatches: bytes of the output that differ"},
      weft::perf::MeasureAll);
}
