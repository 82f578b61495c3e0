// tensor_bench: what a network computes besides convolutions (network/operators), in NHWC, NCxHWx<32> and between them,
// against a copy of as many bytes. The first image of each run is compared with the CPU's.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/bench/bench.hpp"
#include "perf/support/copy_time.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/random.hpp"
#include "weft/network/operators/tensor_operator.hpp"

namespace weft::perf {
namespace {

using network::Element, network::Format, network::Kind;
using network::TensorOperator, network::TensorProblem, network::TensorType;

// The tensors of a run.
struct Set {
  DeviceBuffer src, other, dst;
};

bool HasOther(const TensorProblem& p) {
  return p.kind == Kind::kAdd || p.kind == Kind::kMultiply;
}

absl::StatusOr<DeviceBuffer> RandomBuffer(const TensorType& type, std::vector<std::int8_t>* host,
                                          int seed) {
  *host = RandomInt8s(type.bytes(), seed);
  // Floats that are numbers of a few steps.
  if (type.element == Element::kFloat) {
    auto* const floats = reinterpret_cast<float*>(host->data());
    for (std::int64_t i = 0; i < type.bytes() / 4; ++i) {
      floats[i] = 0.1f * static_cast<float>((*host)[static_cast<std::size_t>(4 * i)]);
    }
  }
  return DeviceBuffer::From(*host);
}

// Bytes of the first image that differ from what the CPU makes of it.
absl::StatusOr<std::int64_t> FirstImageWrong(TensorProblem p, const std::vector<std::int8_t>& src,
                                             const std::vector<std::int8_t>& other,
                                             const DeviceBuffer& dst) {
  for (TensorType* t : {&p.src, &p.other, &p.dst})
    t->extents.n = (std::min)(t->extents.n, std::int64_t{1});
  WEFT_LET(const TensorOperator op, TensorOperator::Create(p));
  const auto bytes = static_cast<std::size_t>(p.dst.bytes());
  std::vector<std::int8_t> want(bytes + 64), got(bytes);
  const auto aligned = [](std::int8_t* at) {
    return at + (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64;
  };
  std::int8_t* const made = aligned(want.data());
  WEFT_TRY(op.RunOnCpu({.src = src.data(), .other = other.data(), .dst = made}));
  WEFT_TRY(dst.CopyTo(got.data(), p.dst.bytes()));
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i) wrong += got[i] != made[i];
  return wrong;
}

absl::Status Measure(Bench& bench, const TensorProblem& p, Json* row) {
  WEFT_LET(const TensorOperator op, TensorOperator::Create(p));
  WEFT_TRY(op.Prepare());
  const std::int64_t reads = p.src.bytes() + (HasOther(p) ? p.other.bytes() : 0);
  const std::int64_t writes = p.dst.bytes();
  std::vector<Set> sets(static_cast<std::size_t>(BufferSets(reads + writes)));
  std::vector<std::int8_t> src, other;
  for (Set& set : sets) {
    WEFT_LET(set.src, RandomBuffer(p.src, &src, 1));
    if (HasOther(p)) {
      WEFT_LET(set.other, RandomBuffer(p.other, &other, 2));
    }
    WEFT_LET(set.dst, DeviceBuffer::Create(writes));
  }
  const auto enqueue = [&](int number) {
    const Set& set = sets[static_cast<std::size_t>(number)];
    return op.Run({.src = set.src.data(), .other = set.other.data(), .dst = set.dst.data()},
                  bench.stream());
  };
  WEFT_TRY(enqueue(0));
  WEFT_TRY(CudaStatus(cudaStreamSynchronize(bench.stream()), "the operator"));
  WEFT_LET(const std::int64_t wrong, FirstImageWrong(p, src, other, sets[0].dst));
  Race race(bench.watch(), static_cast<int>(sets.size()));
  WEFT_TRY(race.Add("ours", {op.Describe(), enqueue}));
  WEFT_LET(CopyTime copy, CopyTime::Create(reads, writes, bench.machine().limits().sm_count,
                                           bench.watch(), Race::kSampleMicroseconds));
  race.Add("copy", copy.name(), &copy.contestant());
  WEFT_TRY(race.Run());
  const double us = race.us("ours"), bytes = static_cast<double>(reads + writes);
  row->update({{"kernel", op.Describe()},
               {"ours_us", Rounded(us)},
               {"mbytes", Rounded(bytes * 1e-6)},
               {"copy_us", Rounded(race.us("copy"))},
               {"copy_kernel", copy.name()},
               {"copy_over_ours", Rounded(race.us("copy") / us)},
               {"share_of_copy", Rounded(bench.CopyMicroseconds(bytes) / us)},
               {"buffer_sets", sets.size()},
               {"mismatches", wrong}});
  return bench.ReadClock(race.contestant("ours"), row);
}

TensorType TypeOf(std::int64_t n, std::int64_t c, std::int64_t pixels, Format format,
                  float scale = 0.1f) {
  return {.element = Element::kUint8,
          .extents = {n, c, pixels, pixels},
          .format = format,
          .quantization = {.scale = scale, .zero_point = 100}};
}

// The problems of an image of c channels of `pixels` x `pixels`.
std::vector<TensorProblem> ProblemsOf(std::int64_t n, std::int64_t c, std::int64_t pixels) {
  std::vector<TensorProblem> problems;
  for (const Format format : {Format::kNhwc, Format::kNc32}) {
    const TensorType same = TypeOf(n, c, pixels, format);
    const TensorType other = TypeOf(n, c, pixels, format, 0.13f);
    TensorType half = same, one = other;
    half.extents.h = half.extents.w = pixels / 2;
    one.extents.h = one.extents.w = 1;
    const Format last = format == Format::kNhwc ? Format::kNc32 : Format::kNhwc;
    problems.push_back({.kind = Kind::kAdd, .src = same, .other = other, .dst = other});
    problems.push_back({.kind = Kind::kMultiply, .src = same, .other = one, .dst = other});
    problems.push_back({.kind = Kind::kConvert, .src = same, .dst = other});
    problems.push_back({.kind = Kind::kConvert, .src = same, .dst = TypeOf(n, c, pixels, last)});
    problems.push_back({.kind = Kind::kGlobalAveragePool, .src = same, .dst = one});
    if (pixels % 2 != 0) continue;
    problems.push_back({.kind = Kind::kMaxPool,
                        .src = same,
                        .dst = half,
                        .window = {.h = 3,
                                   .w = 3,
                                   .stride_h = 2,
                                   .stride_w = 2,
                                   .pad_top = 1,
                                   .pad_left = 1,
                                   .pad_bottom = 0,
                                   .pad_right = 0}});
    problems.push_back(
        {.kind = Kind::kMaxPool,
         .src = same,
         .dst = same,
         .window = {.h = 5, .w = 5, .pad_top = 2, .pad_left = 2, .pad_bottom = 2, .pad_right = 2}});
    problems.push_back({.kind = Kind::kAveragePool,
                        .src = same,
                        .dst = half,
                        .window = {.h = 2, .w = 2, .stride_h = 2, .stride_w = 2}});
    problems.push_back(
        {.kind = Kind::kResize, .src = half, .dst = same, .factor_h = 2, .factor_w = 2});
  }
  return problems;
}

// An image of three planes of floats becomes integers, and what a network ends in becomes floats.
std::vector<TensorProblem> Ends(std::int64_t n) {
  TensorType image = TypeOf(n, 3, 224, Format::kNchw), result = TypeOf(n, 1000, 1, Format::kNhwc);
  image.element = result.element = Element::kFloat;
  std::vector<TensorProblem> problems;
  for (const Format format : {Format::kNhwc, Format::kNc4}) {
    problems.push_back({.kind = Kind::kQuantize, .src = image, .dst = TypeOf(n, 3, 224, format)});
  }
  problems.push_back(
      {.kind = Kind::kDequantize, .src = TypeOf(n, 1000, 1, Format::kNhwc), .dst = result});
  return problems;
}

absl::Status MeasureAll(Bench& bench) {
  for (const int images : {1, 64}) {
    std::vector<TensorProblem> problems = Ends(images);
    for (const auto& [c, pixels] :
         {std::pair{64, 112}, {64, 56}, {256, 56}, {512, 28}, {1024, 14}, {2048, 7}}) {
      for (TensorProblem& p : ProblemsOf(images, c, pixels)) problems.push_back(std::move(p));
    }
    for (const TensorProblem& p : problems) {
      WEFT_LET(const TensorOperator op, TensorOperator::Create(p));
      bench.AddRow(op.Describe(), [&bench, p](Json* row) { return Measure(bench, p, row); });
    }
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"tensor_bench", "what a network computes besides convolutions, against a copy",
       "random data; buffers rotated past the L2; CUDA graphs; medians of interleaved samples; "
       "copy_us: of a copy that reads and writes as many bytes; share_of_copy: bytes a second over "
       "what a large copy reads and writes; kernels compiled by NVRTC"},
      weft::perf::MeasureAll);
}
