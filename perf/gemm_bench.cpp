// gemm_bench: matrix products of every element type against the fastest algorithm that cuBLASLt's
// heuristic offers. perf/README.md says how to run and read it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/gemm_bench/cublas.hpp"
#include "perf/gemm_bench/policies.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/json.hpp"
#include "perf/support/random.hpp"
#include "perf/support/statistics.hpp"
#include "perf/support/stopwatch.hpp"
#include "weft/gemm/gemm.hpp"

ABSL_FLAG(int, size, 4096, "m, n and k");
ABSL_FLAG(std::string, only, "", "measure the kernels whose name contains this");
ABSL_FLAG(std::string, json, "", "file to write");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON file");
ABSL_FLAG(int, rounds, 15, "samples of each contestant");
ABSL_FLAG(bool, peer, true, "measure cuBLASLt too");

#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

namespace weft::perf {
namespace {

// Buffers of A, B and C, so many sets that a round over them reaches past the L2.
constexpr std::int64_t kRotationBytes = std::int64_t{256} << 20;
constexpr double kSampleMicroseconds = 4000;

struct Set {
  DeviceBuffer a, b, c;
};

// An algorithm of cuBLASLt's that is measured.
struct PeerRow {
  std::string name, kernels;
  Summary time;
};

struct Row {
  std::string type, kernel, layout, status = "ok";
  Summary ours;
  PeerRow peer;  // the fastest of those that the heuristic offers
  PeerRow sm80;  // the fastest of all that run on sm_80 as well, of a product on tensor cores
  double floor_us = 0;
  long long mismatches = 0;
  double largest = 0;  // difference from the peer, over the peer's largest value
};

template <class T>
absl::StatusOr<DeviceBuffer> RandomMatrix(std::int64_t count, std::uint64_t seed) {
  std::vector<T> values(count);
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, std::int8_t>) {
      values[i] = RandomInt8(seed, i);
    } else if constexpr (std::is_same_v<T, float>) {
      values[i] = RandomFloat(seed, i, -1, 1);
    } else {
      values[i] = T::FromFloat(RandomFloat(seed, i, -1, 1));
    }
  }
  return DeviceBuffer::From(values);
}

// Exactly for int32, within 1e-5 of the largest value (times sqrt(k)) for float.
template <class Sum>
absl::Status Compare(const DeviceBuffer& got, const std::vector<Sum>& want, int k, Row* row) {
  std::vector<Sum> values(want.size());
  const cudaError_t error =
      cudaMemcpy(values.data(), got.data(), values.size() * sizeof(Sum), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) return CudaStatus(error, "cudaMemcpy");
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(want[i])));
    largest = std::max(largest, std::abs(static_cast<double>(values[i]) - want[i]));
    if constexpr (std::is_same_v<Sum, std::int32_t>) {
      row->mismatches += values[i] != want[i];
    } else {
      row->mismatches += !std::isfinite(values[i]) || !std::isfinite(want[i]);
    }
  }
  if (most == 0) row->mismatches = 1;  // products of random matrices are not all zero
  row->largest = largest / std::max(most, 1e-30);
  if (!std::is_same_v<Sum, std::int32_t> && !(row->largest < 1e-6 * std::sqrt(k))) {
    row->mismatches = 1;
  }
  return absl::OkStatus();
}

const char* TypeName(std::int8_t) {
  return "s8";
}
const char* TypeName(float) {
  return "f32";
}
const char* TypeName(Half) {
  return "f16";
}
const char* TypeName(Bfloat16) {
  return "bf16";
}
cudaDataType_t CudaType(std::int8_t) {
  return CUDA_R_8I;
}
cudaDataType_t CudaType(float) {
  return CUDA_R_32F;
}
cudaDataType_t CudaType(Half) {
  return CUDA_R_16F;
}
cudaDataType_t CudaType(Bfloat16) {
  return CUDA_R_16BF;
}

template <class P>
std::string KernelName() {
  const gemm::Config& c = P::config;
  return absl::StrCat(gemm::MainloopName(c.mainloop), "_", c.threadblock.m, "x", c.threadblock.n,
                      "x", c.threadblock.k, "_", c.warp.m, "x", c.warp.n, "_",
                      c.thread.m > 0 ? absl::StrCat(c.thread.m, "x", c.thread.n, "_") : "", "s",
                      c.stages);
}

class Bench {
 public:
  absl::Status Init() {
    if (absl::Status s = CheckGpu(); !s.ok()) return s;
    if (absl::Status s = watch_.Init(); !s.ok()) return s;
    const absl::StatusOr<Ceilings> ceilings = MeasureCeilings(watch_.stream());
    if (!ceilings.ok()) return ceilings.status();
    ceilings_ = *ceilings;
    return absl::OkStatus();
  }

  template <class P>
  void Run(int size) {
    using Element = typename P::Element;
    Row row;
    row.type = TypeName(Element{});
    row.kernel = KernelName<P>();
    row.layout = absl::StrCat(gemm::kLinesOfA<P> ? "row" : "column", "-major A, ",
                              gemm::kLinesOfB<P> ? "column" : "row", "-major B");
    const std::string name = absl::StrCat(row.type, " ", row.kernel, " ", row.layout);
    if (name.find(absl::GetFlag(FLAGS_only)) == std::string::npos) return;
    const absl::Status status = Measure<P>(size, &row);
    if (!status.ok()) row.status = absl::StrCat("failed: ", status.ToString());
    if (row.mismatches != 0) row.status = "mismatch";
    std::printf("%-5s %-30s %-30s %9.1f us %7.1f TOPS  peer %9.1f us  ratio %.3f  %s; %s\n",
                row.type.c_str(), row.kernel.c_str(), row.layout.c_str(), row.ours.median,
                2e-6 * size * size * size / std::max(row.ours.median, 1e-9), row.peer.time.median,
                Ratio(row.peer, row), row.peer.name.c_str(), row.status.c_str());
    if (!row.peer.kernels.empty()) std::printf("%39s%s\n", "", row.peer.kernels.c_str());
    if (!row.sm80.name.empty()) {
      std::printf("%39s%-51ssm80 %9.1f us  ratio %.3f  %s\n%39s%s\n", "", "", row.sm80.time.median,
                  Ratio(row.sm80, row), row.sm80.name.c_str(), "", row.sm80.kernels.c_str());
    }
    std::fflush(stdout);
    rows_.push_back(row);
  }

  bool ok() const {
    return std::all_of(rows_.begin(), rows_.end(), [](const Row& r) { return r.status == "ok"; });
  }

  std::string Json(int size) const {
    cudaDeviceProp device{};
    cudaGetDeviceProperties(&device, 0);
    JsonWriter json;
    json.BeginObject();
    json.Key("environment");
    json.BeginObject();
    json.Field("device", std::string(device.name));
    json.Field("commit", absl::GetFlag(FLAGS_commit));
    json.Field("copy_tb_s", ceilings_.bytes_per_us * 1e-6);
    json.Field("method",
               std::string("random data; buffers rotated past the L2; CUDA graphs; medians of "
                           "interleaved samples; the peer is the fastest algorithm of cuBLASLt's "
                           "heuristic, TF32 off; sm80: the fastest of all tiles and stages of "
                           "its algorithms whose kernel's name says sm_80; floor_us is from bytes "
                           "alone"));
    json.EndObject();
    json.Key("rows");
    json.BeginArray();
    for (const Row& r : rows_) {
      json.BeginObject(true);
      json.Field("layer", absl::StrCat("gemm_", r.type, "_", size));
      json.Field("batch", 1);
      json.Field("kernel", r.kernel);
      json.Field("layout", r.layout);
      json.Field("ours_us", r.ours.median);
      json.Field("ours_p10", r.ours.p10);
      json.Field("ours_p90", r.ours.p90);
      json.Field("peer_us", r.peer.time.median);
      json.Field("peer", r.peer.name);
      json.Field("peer_kernels", r.peer.kernels);
      json.Field("ratio", Ratio(r.peer, r));
      if (!r.sm80.name.empty()) {
        json.Field("sm80_us", r.sm80.time.median);
        json.Field("sm80", r.sm80.name);
        json.Field("sm80_kernels", r.sm80.kernels);
        json.Field("sm80_ratio", Ratio(r.sm80, r));
      }
      json.Field("floor_us", r.floor_us);
      json.Field("mismatches", r.mismatches);
      json.Field("largest_difference", r.largest, 9);
      json.Field("status", r.status);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    return json.text() + "\n";
  }

 private:
  template <class P>
  absl::Status Measure(int size, Row* row) {
    using Element = typename P::Element;
    using Sum = typename gemm::SumOf<Element>::type;
    const std::int64_t count = std::int64_t{size} * size;
    const auto bytes = static_cast<std::int64_t>(count * (2 * sizeof(Element) + sizeof(Sum)));
    row->floor_us = bytes / ceilings_.bytes_per_us;
    std::vector<Set> sets(std::max<std::int64_t>(2, (kRotationBytes + bytes - 1) / bytes));
    for (std::size_t i = 0; i < sets.size(); ++i) {
      absl::StatusOr<DeviceBuffer> a =
          i == 0 ? RandomMatrix<Element>(count, 1) : DeviceBuffer::Create(sets[0].a.bytes());
      absl::StatusOr<DeviceBuffer> b =
          i == 0 ? RandomMatrix<Element>(count, 2) : DeviceBuffer::Create(sets[0].b.bytes());
      absl::StatusOr<DeviceBuffer> c = DeviceBuffer::Create(count * sizeof(Sum));
      if (!a.ok()) return a.status();
      if (!b.ok()) return b.status();
      if (!c.ok()) return c.status();
      sets[i] = {std::move(*a), std::move(*b), std::move(*c)};
      if (i == 0) continue;
      cudaMemcpy(sets[i].a.data(), sets[0].a.data(), sets[0].a.bytes(), cudaMemcpyDeviceToDevice);
      cudaMemcpy(sets[i].b.data(), sets[0].b.data(), sets[0].b.bytes(), cudaMemcpyDeviceToDevice);
    }

    const auto op = gemm::Gemm<P>::Create({.m = size, .n = size, .k = size});
    if (!op.ok()) return op.status();
    Contestant ours;
    ours.enqueue = [&](int set) {
      const Set& s = sets[set];
      return op->Run({.a = s.a.template as<Element>(),
                      .b = s.b.template as<Element>(),
                      .c = s.c.template as<Sum>()},
                     watch_.stream());
    };
    const int count_sets = static_cast<int>(sets.size());
    if (absl::Status s = watch_.Prepare(ours, count_sets, kSampleMicroseconds); !s.ok()) return s;
    std::vector<Sum> result(count);
    cudaMemcpy(result.data(), sets[0].c.data(), count * sizeof(Sum), cudaMemcpyDeviceToHost);

    Algorithms found;
    if (absl::GetFlag(FLAGS_peer)) {
      const absl::StatusOr<Algorithms> search = Search<P>(size, sets);
      if (!search.ok()) return search.status();
      found = *search;
    }
    std::vector<Contestant> peers;
    std::vector<Contestant*> contestants = {&ours};
    const auto add = [&](int algorithm, PeerRow& out) {
      if (algorithm < 0) return absl::OkStatus();
      out.name = found.product->Name(algorithm);
      const Set& first = sets[0];
      out.kernels =
          found.product->Kernels(algorithm, first.a.data(), first.b.data(), first.c.data());
      Contestant c;
      c.enqueue = [&, algorithm](int set) {
        const Set& s = sets[set];
        return found.product->Run(algorithm, s.a.data(), s.b.data(), s.c.data(), watch_.stream());
      };
      if (absl::Status s = watch_.Prepare(c, count_sets, kSampleMicroseconds); !s.ok()) return s;
      peers.push_back(std::move(c));
      return absl::OkStatus();
    };
    peers.reserve(2);
    if (absl::Status s = add(found.best, row->peer); !s.ok()) return s;
    const bool with_sm80 = found.sm80 >= 0 && found.sm80 != found.best;
    if (with_sm80) {
      if (absl::Status s = add(found.sm80, row->sm80); !s.ok()) return s;
    }
    for (Contestant& c : peers) contestants.push_back(&c);
    const int rounds = absl::GetFlag(FLAGS_rounds);
    if (absl::Status s = watch_.Interleave(contestants, rounds, 1e9); !s.ok()) return s;
    row->ours = Summarize(ours.samples);
    if (found.best < 0) return absl::OkStatus();
    row->peer.time = Summarize(peers[0].samples);
    if (with_sm80) {
      row->sm80.time = Summarize(peers[1].samples);
    } else if (found.sm80 >= 0) {
      row->sm80 = row->peer;
    }
    Contestant& peer = peers[0];
    // Once more with nothing of ours left in the buffers.
    for (const Set& set : sets) {
      if (absl::Status s = set.c.Fill(0x7f); !s.ok()) return s;
    }
    if (absl::Status s = watch_.Sample(peer); !s.ok()) return s;
    return Compare<Sum>(sets[0].c, result, size, row);
  }

  // What cuBLASLt has for a type and its layouts: `best` of what the heuristic offers, and `sm80`
  // of all; -1 for none.
  struct Algorithms {
    std::shared_ptr<const CublasProduct> product;
    int best = -1, sm80 = -1;
  };

  // Runs every algorithm once over the sets. Remembers what it found.
  template <class P>
  absl::StatusOr<Algorithms> Search(int size, const std::vector<Set>& sets) {
    using Element = typename P::Element;
    using Sum = typename gemm::SumOf<Element>::type;
    constexpr bool kTensorCores = !std::is_same_v<Element, float>;
    const std::string key =
        absl::StrCat(TypeName(Element{}), gemm::kLinesOfA<P>, gemm::kLinesOfB<P>);
    if (const auto known = searches_.find(key); known != searches_.end()) return known->second;
    absl::StatusOr<CublasProduct> product = CublasProduct::Create(
        {size, size, size, gemm::kLinesOfA<P>, !gemm::kLinesOfB<P>, CudaType(Element{}),
         std::is_same_v<Sum, float> ? CUDA_R_32F : CUDA_R_32I},
        kTensorCores);
    if (!product.ok()) return product.status();
    Algorithms found = {std::make_shared<const CublasProduct>(std::move(*product))};
    double best = 0, sm80 = 0;
    for (int i = 0; i < found.product->algorithms(); ++i) {
      Contestant one;
      one.want_graph = false;
      one.enqueue = [&](int set) {
        const Set& s = sets[set];
        return found.product->Run(i, s.a.data(), s.b.data(), s.c.data(), watch_.stream());
      };
      if (!watch_.Prepare(one, static_cast<int>(sets.size()), 0).ok() || !watch_.Sample(one).ok()) {
        (void)cudaGetLastError();
        continue;
      }
      const double time = one.samples[0];
      if (i < found.product->offered() && (best == 0 || time < best)) best = time, found.best = i;
      if (!kTensorCores || (sm80 != 0 && time >= sm80)) continue;
      const Set& s = sets[0];
      if (RunsOnSm80(found.product->Kernels(i, s.a.data(), s.b.data(), s.c.data()))) {
        sm80 = time, found.sm80 = i;
      }
    }
    if (found.best < 0) return absl::NotFoundError("cuBLASLt has no algorithm that runs");
    searches_[key] = found;
    return found;
  }

  static bool RunsOnSm80(const std::string& kernels) {
    return absl::StrContains(kernels, "sm80") || absl::StrContains(kernels, "_80_") ||
           absl::StrContains(kernels, "ampere");
  }

  static double Ratio(const PeerRow& peer, const Row& row) {
    return row.ours.median > 0 ? peer.time.median / row.ours.median : 0.0;
  }

  Stopwatch watch_;
  Ceilings ceilings_;
  std::map<std::string, Algorithms> searches_;
  std::vector<Row> rows_;
};

template <class... Policies>
void RunAll(Bench& bench, int size, TypeList<Policies...>) {
  (bench.Run<Policies>(size), ...);
}

int Main() {
  Bench bench;
  if (absl::Status s = bench.Init(); !s.ok()) {
    std::fprintf(stderr, "gemm_bench: %s\n", s.ToString().c_str());
    return 3;
  }
  const int size = absl::GetFlag(FLAGS_size);
  RunAll(bench, size, Gemms{});
  if (const std::string path = absl::GetFlag(FLAGS_json); !path.empty()) {
    std::ofstream file(path);
    file << bench.Json(size);
    if (!file.flush()) {
      std::fprintf(stderr, "gemm_bench: cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return bench.ok() ? 0 : 1;
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("matrix products against cuBLASLt (perf/README.md)");
  absl::ParseCommandLine(argc, argv);
#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT
  return weft::perf::Main();
#else
  std::fprintf(stderr, "gemm_bench: built without CUDA or cuBLASLt's header\n");
  return 3;
#endif
}
