// gemm_bench: matrix products of every element type against the fastest algorithm that cuBLASLt's
// heuristic offers. perf/README.md says how to run and read it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/gemm_bench/policies.hpp"
#include "perf/peers/lt_product.hpp"
#include "perf/peers/machine.hpp"
#include "perf/support/json.hpp"
#include "perf/support/random.hpp"
#include "weft/gemm/gemm.hpp"

ABSL_FLAG(int, size, 4096, "m, n and k");
ABSL_FLAG(std::string, only, "", "measure the kernels whose name contains this");
ABSL_FLAG(std::string, json, "", "file to write");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON file");
ABSL_FLAG(int, rounds, 15, "samples of each contestant");

#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

namespace weft::perf {
namespace {

// Buffers of A, B and C, so many sets that a round over them reaches past the L2.
constexpr std::int64_t kRotationBytes = std::int64_t{256} << 20;
constexpr double kSampleMicroseconds = 4000;
constexpr int kMostOffers = 32;

struct Set {
  DeviceBuffer a, b, c;
};

// What is known of an element type.
template <class T>
struct Type;
template <>
struct Type<std::int8_t> {
  static constexpr const char* kName = "s8";
  static constexpr cudaDataType_t kCuda = CUDA_R_8I;
  static std::int8_t Random(std::uint64_t seed, std::int64_t i) { return RandomInt8(seed, i); }
};
template <>
struct Type<float> {
  static constexpr const char* kName = "f32";
  static constexpr cudaDataType_t kCuda = CUDA_R_32F;
  static float Random(std::uint64_t seed, std::int64_t i) { return RandomFloat(seed, i, -1, 1); }
};
template <class T, cudaDataType_t kCudaType>
struct Type16 {
  static constexpr cudaDataType_t kCuda = kCudaType;
  static T Random(std::uint64_t seed, std::int64_t i) {
    return T::FromFloat(RandomFloat(seed, i, -1, 1));
  }
};
template <>
struct Type<Half> : Type16<Half, CUDA_R_16F> {
  static constexpr const char* kName = "f16";
};
template <>
struct Type<Bfloat16> : Type16<Bfloat16, CUDA_R_16BF> {
  static constexpr const char* kName = "bf16";
};

bool RunsOnSm80(const std::string& kernels) {
  return absl::StrContains(kernels, "sm80") || absl::StrContains(kernels, "_80_") ||
         absl::StrContains(kernels, "ampere");
}

class Bench {
 public:
  absl::Status Init() { return machine_.Init(Json::object(), true); }
  const std::vector<Json>& rows() const { return rows_; }
  Json environment() const { return machine_.environment(); }

  // A line of gemms.def: its name and numbers are the kernel's.
  template <class P>
  void Run(int size, const std::vector<int>& numbers) {
    using Element = typename P::Element;
    // As mma_sm80_128x256x64_64x64_s3, simt_128x128x8_64x32_8x8_s2.
    const auto& n = numbers;
    const bool simt = n.size() == 8, wgmma = n.size() == 5;
    const std::string kernel = absl::StrCat(simt    ? "simt_"
                                            : wgmma ? "wgmma_sm90_"
                                                    : "mma_sm80_",
                                            n[0], "x", n[1], "x", n[2], "_", n[3], "x", n[4],
                                            simt ? absl::StrCat("_", n[5], "x", n[6]) : "",
                                            wgmma ? "" : absl::StrCat("_s", n.back()));
    const std::string layout = absl::StrCat(gemm::kLinesOfA<P> ? "row" : "column", "-major A, ",
                                            gemm::kLinesOfB<P> ? "column" : "row", "-major B");
    Json row = {{"layer", absl::StrCat("gemm_", Type<Element>::kName, "_", size)},
                {"batch", 1},
                {"kernel", kernel},
                {"layout", layout},
                {"mismatches", 0},
                {"peer", "none"}};
    const std::string name = absl::StrCat(Type<Element>::kName, " ", kernel, " ", layout);
    if (!absl::StrContains(name, absl::GetFlag(FLAGS_only))) return;
    const absl::Status status = Measure<P>(size, &row);
    row["status"] = !status.ok()             ? absl::StrCat("failed: ", status.ToString())
                    : row["mismatches"] != 0 ? "mismatch"
                                             : "ok";
    const double us = row.value("ours_us", 0.0);
    std::printf("%-50s %9.1f us %7.1f TOPS  peer %9.1f us  ratio %.3f  sm80 ratio %.3f; %s\n",
                name.c_str(), us, us > 0 ? 2e-6 * size * size * size / us : 0.0,
                row.value("peer_us", 0.0), row.value("ratio", 0.0), row.value("sm80_ratio", 0.0),
                row["status"].get<std::string>().c_str());
    std::fflush(stdout);
    rows_.push_back(row);
  }

 private:
  // What cuBLASLt has for a type and its layouts: `best` of what the heuristic offers, and `sm80`
  // of all that run on sm_80 as well, of a product on tensor cores; -1 for none.
  struct Algorithms {
    std::shared_ptr<const LtProduct> product;
    int best = -1, sm80 = -1;
  };

  const Stopwatch& watch() const { return machine_.watch(); }

  template <class T>
  static absl::StatusOr<DeviceBuffer> RandomMatrix(std::int64_t count, std::uint64_t seed) {
    std::vector<T> values(count);
    for (std::int64_t i = 0; i < count; ++i) values[i] = Type<T>::Random(seed, i);
    return DeviceBuffer::From(values);
  }

  template <class P>
  absl::Status Measure(int size, Json* row) {
    using Element = typename P::Element;
    using Sum = typename gemm::SumOf<Element>::type;
    const std::int64_t count = std::int64_t{size} * size;
    const auto bytes = static_cast<std::int64_t>(count * (2 * sizeof(Element) + sizeof(Sum)));
    (*row)["floor_us"] = Rounded(bytes / machine_.ceilings(false).bytes_per_us);
    std::vector<Set> sets(std::max<std::int64_t>(2, (kRotationBytes + bytes - 1) / bytes));
    for (Set& set : sets) {
      WEFT_LET(set.a, RandomMatrix<Element>(count, 1));
      WEFT_LET(set.b, RandomMatrix<Element>(count, 2));
      WEFT_LET(set.c, DeviceBuffer::Create(count * sizeof(Sum)));
    }
    const int count_sets = static_cast<int>(sets.size());
    WEFT_LET(const auto op, gemm::Gemm<P>::Create({.m = size, .n = size, .k = size}));
    Contestant ours, peer, sm80;
    ours.enqueue = [&](int set) {
      const Set& s = sets[set];
      return op.Run({.a = s.a.template as<Element>(),
                     .b = s.b.template as<Element>(),
                     .c = s.c.template as<Sum>()},
                    watch().stream());
    };
    WEFT_TRY(watch().Prepare(ours, count_sets, kSampleMicroseconds));
    WEFT_LET(const std::vector<Sum> result, sets[0].c.template Read<Sum>());

    WEFT_LET(const Algorithms found, Search<P>(size, sets));
    std::vector<Contestant*> contestants = {&ours};
    const auto join = [&](int algorithm, const char* name, Contestant* c) {
      (*row)[name] = found.product->Name(algorithm);
      (*row)[absl::StrCat(name, "_kernels")] = Kernels(found, algorithm, sets);
      c->enqueue = [&, algorithm](int set) { return RunPeer(found, algorithm, sets[set]); };
      contestants.push_back(c);
      return watch().Prepare(*c, count_sets, kSampleMicroseconds);
    };
    WEFT_TRY(join(found.best, "peer", &peer));
    if (found.sm80 >= 0) WEFT_TRY(join(found.sm80, "sm80", &sm80));
    WEFT_TRY(watch().Interleave(contestants, absl::GetFlag(FLAGS_rounds), 1e9));
    const Summary time = Summarize(ours.samples);
    (*row)["ours_us"] = Rounded(time.median);
    (*row)["ours_p10"] = Rounded(time.p10);
    (*row)["ours_p90"] = Rounded(time.p90);
    (*row)["peer_us"] = Rounded(Quantile(peer.samples, 0.5));
    (*row)["ratio"] = Rounded(Quantile(peer.samples, 0.5) / time.median);
    if (found.sm80 >= 0) {
      (*row)["sm80_us"] = Rounded(Quantile(sm80.samples, 0.5));
      (*row)["sm80_ratio"] = Rounded(Quantile(sm80.samples, 0.5) / time.median);
    }
    // Once more with nothing of ours left in the buffers.
    for (const Set& set : sets) WEFT_TRY(set.c.Fill(0x7f));
    WEFT_TRY(watch().Sample(peer));
    WEFT_LET(const std::vector<Sum> want, sets[0].c.template Read<Sum>());
    Compare(result, want, size, row);
    return absl::OkStatus();
  }

  // Exactly for int32, within 1e-6 of the largest value (times sqrt(k)) for float.
  template <class Sum>
  static void Compare(const std::vector<Sum>& got, const std::vector<Sum>& want, int k, Json* row) {
    double most = 0, largest = 0;
    long long mismatches = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      most = std::max(most, std::abs(static_cast<double>(want[i])));
      largest = std::max(largest, std::abs(static_cast<double>(got[i]) - want[i]));
      if constexpr (std::is_same_v<Sum, std::int32_t>) {
        mismatches += got[i] != want[i];
      } else {
        mismatches += !std::isfinite(got[i]) || !std::isfinite(want[i]);
      }
    }
    largest /= std::max(most, 1e-30);
    const bool near = std::is_same_v<Sum, std::int32_t> || largest < 1e-6 * std::sqrt(k);
    // Products of random matrices are not all zero.
    if (mismatches == 0 && (most == 0 || !near)) mismatches = 1;
    (*row)["mismatches"] = mismatches;
    (*row)["largest_difference"] = Rounded(largest, 9);
  }

  // In cuBLASLt's column-major words it is the transpose: C^T (n x m) = B^T (n x k) A^T (k x m). A
  // row-major B is a column-major B^T; a column-major A needs transposing to be A^T.
  absl::Status RunPeer(const Algorithms& found, int algorithm, const Set& s) const {
    return found.product->Run(algorithm, s.b.data(), s.a.data(), s.c.data(), watch().stream());
  }
  static std::string Kernels(const Algorithms& found, int algorithm, const std::vector<Set>& sets) {
    return found.product->Kernels(algorithm, sets[0].b.data(), sets[0].a.data(), sets[0].c.data());
  }

  // Runs every algorithm once over the sets. Remembers what it found.
  template <class P>
  absl::StatusOr<Algorithms> Search(int size, const std::vector<Set>& sets) {
    using Element = typename P::Element;
    using Sum = typename gemm::SumOf<Element>::type;
    constexpr bool kTensorCores = !std::is_same_v<Element, float>;
    const std::string key =
        absl::StrCat(Type<Element>::kName, gemm::kLinesOfA<P>, gemm::kLinesOfB<P>);
    if (const auto known = searches_.find(key); known != searches_.end()) return known->second;
    WEFT_LET(LtProduct product,
             LtProduct::Create({.rows = size,
                                .columns = size,
                                .depth = size,
                                .transpose_a = gemm::kLinesOfB<P>,
                                .transpose_b = !gemm::kLinesOfA<P>,
                                .operand = Type<Element>::kCuda,
                                .result = std::is_same_v<Sum, float> ? CUDA_R_32F : CUDA_R_32I},
                               kMostOffers));
    if (kTensorCores) product.AddAll();
    Algorithms found = {std::make_shared<const LtProduct>(std::move(product))};
    double best = 0, sm80 = 0;
    for (int i = 0; i < found.product->algorithms(); ++i) {
      Contestant one;
      one.enqueue = [&](int set) { return RunPeer(found, i, sets[set]); };
      if (!watch().Prepare(one, static_cast<int>(sets.size()), 0).ok() ||
          !watch().Sample(one).ok()) {
        (void)cudaGetLastError();
        continue;
      }
      const double time = one.samples[0];
      if (i < found.product->offered() && (best == 0 || time < best)) best = time, found.best = i;
      if (!kTensorCores || (sm80 != 0 && time >= sm80)) continue;
      if (RunsOnSm80(Kernels(found, i, sets))) sm80 = time, found.sm80 = i;
    }
    if (found.best < 0) return absl::NotFoundError("cuBLASLt has no algorithm that runs");
    searches_[key] = found;
    return found;
  }

  Machine machine_;
  std::map<std::string, Algorithms> searches_;
  std::vector<Json> rows_;
};

int Main() {
  Bench bench;
  if (absl::Status s = bench.Init(); !s.ok()) {
    std::fprintf(stderr, "gemm_bench: %s\n", s.ToString().c_str());
    return 3;
  }
  const int size = absl::GetFlag(FLAGS_size);
#define GEMM(Name, a, b, ...) bench.Run<Name<a, b, __VA_ARGS__>>(size, {__VA_ARGS__});
#include "perf/gemms.def"
#undef GEMM
  bool fine = true;
  for (const Json& row : bench.rows()) fine = fine && row["status"] == "ok";
  const std::string path = absl::GetFlag(FLAGS_json);
  if (path.empty()) return fine ? 0 : 1;
  Json environment = bench.environment();
  environment["commit"] = absl::GetFlag(FLAGS_commit);
  environment["method"] =
      "random data; buffers rotated past the L2; CUDA graphs; medians of interleaved samples; the "
      "peer is the fastest algorithm of cuBLASLt's heuristic, TF32 off; sm80: the fastest of all "
      "tiles and stages of its algorithms whose kernel's name says sm_80; floor_us is from bytes "
      "alone";
  const absl::Status s = WriteFile(path, ResultText(environment, Json::object(), bench.rows()));
  if (!s.ok()) std::fprintf(stderr, "gemm_bench: %s\n", std::string(s.message()).c_str());
  return fine && s.ok() ? 0 : 1;
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
