// gemm_bench: every tile of families of matrix products against the fastest algorithm that
// cuBLASLt's heuristic offers. perf/README.md says how to run and read it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/gemm_bench/compare.hpp"
#include "perf/gemm_bench/operands.hpp"
#include "perf/gemm_bench/policies.hpp"
#include "perf/gemm_bench/sizes.hpp"
#include "perf/peers/lt_product.hpp"
#include "perf/peers/machine.hpp"
#include "perf/support/json.hpp"
#include "weft/gemm/dispatch.hpp"

ABSL_FLAG(std::vector<std::string>, sizes, {"4096"},
          "products: m, n and k in one number, or <m>x<n>x<k>, or <m>x<n>x<k>x<batch>; such as "
          "4096,8192,10240x4096x4096,128x128x64x960");
ABSL_FLAG(std::vector<std::string>, only, {},
          "measure the tiles whose type, name and layout of A (s8 wgmma_sm90_128x256x128... "
          "row-major A) contain one of these parts, which commas separate");
ABSL_FLAG(std::string, sweep, "",
          "tuning table of gemm::Dispatch that the best tiles are added to, such as "
          "weft_tuning.txt");
ABSL_FLAG(std::string, json, "", "file to write");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON file");
ABSL_FLAG(int, rounds, 15, "samples of each contestant, at most");

#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

namespace weft::perf {
namespace {

bool IsWanted(const std::string& tile) {
  const std::vector<std::string> only = absl::GetFlag(FLAGS_only);
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& part) {
           return absl::StrContains(tile, part);
         });
}

// Buffers of A, B and C, so many sets that a round over them reaches past the L2.
constexpr std::int64_t kRotationBytes = std::int64_t{256} << 20;
constexpr double kSampleMicroseconds = 4000;
constexpr int kMostOffers = 32;
constexpr double kBudgetMicroseconds = 15e6;  // of the samples of one product

bool RunsOnSm80(const std::string& kernels) {
  return absl::StrContains(kernels, "sm80") || absl::StrContains(kernels, "_80_") ||
         absl::StrContains(kernels, "ampere");
}

class Bench {
 public:
  absl::Status Init() {
    WEFT_TRY(machine_.Init(Json::object(), true));
    gpu_ = gemm::GpuFactsOf(machine_.limits(), arch::DeviceName());
    const std::string path = absl::GetFlag(FLAGS_sweep);
    if (path.empty()) return absl::OkStatus();
    absl::StatusOr<gemm::TuningTable> table = gemm::TuningTable::Read(path);
    if (absl::IsNotFound(table.status())) table = gemm::TuningTable();
    WEFT_TRY(table.status());
    table_ = *std::move(table);
    return absl::OkStatus();
  }
  const std::vector<Json>& rows() const { return rows_; }
  Json environment() const { return machine_.environment(); }
  // What the model's choice costs.
  Json summary() const {
    if (over_best_.empty()) return Json::object();
    return {
        {"model_over_best", Rounded(GeometricMean(over_best_))},
        {"model_over_best_most", Rounded(*std::max_element(over_best_.begin(), over_best_.end()))}};
  }
  absl::Status WriteTable() const {
    const std::string path = absl::GetFlag(FLAGS_sweep);
    return path.empty() ? absl::OkStatus() : table_.Write(path, "Written by gemm_bench --sweep.");
  }

  // A line of gemms.def.
  template <class... Policies>
  void Run(gemm::Family<Policies...>, const gemm::GemmProblem& problem) {
    using P = std::tuple_element_t<0, std::tuple<Policies...>>;
    const std::string type = TypeName<P>();
    const std::string layout = absl::StrCat(gemm::kLinesOfA<P> ? "row" : "column", "-major A, ",
                                            gemm::kLinesOfB<P> ? "column" : "row", "-major B");
    const bool has_code[] = {gemm::HasGpuCode<Policies>()...};
    std::vector<Tile> tiles;
    for (int i = 0; i < static_cast<int>(sizeof...(Policies)); ++i) {
      const std::string name =
          gemm::PolicyName(gemm::Dispatch<gemm::Family<Policies...>>::Configs()[i]);
      const std::string full = absl::StrCat(type, " ", name, " ", layout);
      if (!has_code[i] || !IsWanted(full)) continue;
      tiles.push_back({i,
                       {{"layer", absl::StrCat("gemm_", type, "_", SizeName(problem))},
                        {"batch", problem.batch},
                        {"kernel", name},
                        {"layout", layout},
                        {"mismatches", 0},
                        {"peer", "none"}}});
    }
    if (tiles.empty()) return;
    const absl::Status status =
        Measure<gemm::Dispatch<gemm::Family<Policies...>>, P>(problem, &tiles);
    for (Tile& tile : tiles) {
      Json& row = tile.row;
      if (!tile.fits) continue;
      const absl::Status& s = tile.status.ok() ? status : tile.status;
      row["status"] = !s.ok()                  ? absl::StrCat("failed: ", s.ToString())
                      : row["mismatches"] != 0 ? "mismatch"
                                               : "ok";
      const double us = row.value("ours_us", 0.0);
      std::printf(
          "%-4s %-15s %-56s %-32s %9.1f us %7.1f TOPS  peer %9.1f us  ratio %.3f  sm80 ratio "
          "%.3f; %s%s%s\n",
          type.c_str(), SizeName(problem).c_str(), row["kernel"].get<std::string>().c_str(),
          layout.c_str(), us,
          us > 0 ? (kIsComplex<typename P::Element> ? 8e-6 : 2e-6) * problem.m * problem.n *
                       problem.k * problem.batch / us
                 : 0.0,
          row.value("peer_us", 0.0), row.value("ratio", 0.0), row.value("sm80_ratio", 0.0),
          row["status"].get<std::string>().c_str(), row.value("best", false) ? "; best" : "",
          row.value("model", false) ? "; the model's choice" : "");
      std::fflush(stdout);
      rows_.push_back(row);
    }
  }

 private:
  struct Algorithm {
    std::shared_ptr<const LtProduct> product;
    int index = -1;  // -1: none
    double microseconds = 0.0;
  };
  // What cuBLASLt has for a type and its layouts: `best` of what the heuristic offers, and `sm80`
  // of all that run on sm_80 as well, of a product on tensor cores. Of 8-bit floats `best` keeps
  // sums in the tensor cores, as ours do, and `full` adds them up in float.
  struct Algorithms {
    Algorithm best, sm80, full;
  };

  const Stopwatch& watch() const { return machine_.watch(); }

  // One policy of a family.
  struct Tile {
    int index = 0;
    Json row;
    bool fits = true;  // the product
    absl::Status status = absl::OkStatus();
    Contestant contestant = {};
  };

  template <class Op, class P>
  absl::Status Measure(const gemm::GemmProblem& problem, std::vector<Tile>* tiles) {
    using Element = typename P::Element;
    using Sum = typename gemm::SumOf<Element>::type;
    const std::int64_t m = problem.m, n = problem.n, k = problem.k, batch = problem.batch;
    const auto bytes = static_cast<std::int64_t>(batch * (m * k * gemm::kOperandBits<P, true> / 8 +
                                                          k * n * gemm::kOperandBits<P, false> / 8 +
                                                          m * n * std::int64_t{sizeof(Sum)}));
    std::vector<Set> sets(std::max<std::int64_t>(2, (kRotationBytes + bytes - 1) / bytes));
    using LoadA = gemm::LoadOf<P, true>;
    using LoadB = gemm::LoadOf<P, false>;
    const RandomMatrix<Element, LoadA> a(batch * m * k, 1);
    const RandomMatrix<Element, LoadB> b(batch * k * n, 2);
    for (Set& set : sets) {
      WEFT_LET(set.a, DeviceBuffer::From(a.values));
      WEFT_LET(set.b, DeviceBuffer::From(b.values));
      if constexpr (gemm::kLoads<LoadA>) {
        WEFT_LET(set.a_memory, DeviceBuffer::From(a.memory));
      }
      if constexpr (gemm::kLoads<LoadB>) {
        WEFT_LET(set.b_memory, DeviceBuffer::From(b.memory));
      }
      WEFT_LET(set.c, DeviceBuffer::Create(batch * m * n * sizeof(Sum)));
    }
    const int count_sets = static_cast<int>(sets.size());
    WEFT_LET(const Algorithms found, Search<P>(problem, sets));
    for (const Set& set : sets) WEFT_TRY(set.c.Fill(0x7f));
    WEFT_TRY(RunPeer(found.full.index >= 0 ? found.full : found.best, sets[0]));
    WEFT_TRY(CudaStatus(cudaStreamSynchronize(watch().stream()), "cudaStreamSynchronize"));
    WEFT_LET(const std::vector<Sum> want, sets[0].c.template Read<Sum>());

    std::vector<Contestant*> contestants;
    for (Tile& tile : *tiles) {
      const auto op = Op::CreateAt(problem, tile.index);
      tile.fits = op.ok();
      if (!op.ok()) continue;
      WEFT_LET(const auto workspace, MakeWorkspace(op->workspace_size()));
      tile.contestant.enqueue = [op = *op, this, &sets, workspace](int set) {
        const Set& s = sets[set];
        const DeviceBuffer& own_a = gemm::kLoads<LoadA> ? s.a_memory : s.a;
        const DeviceBuffer& own_b = gemm::kLoads<LoadB> ? s.b_memory : s.b;
        return op.Run({.a = own_a.template as<gemm::OperandElement<Element, LoadA>>(),
                       .b = own_b.template as<gemm::OperandElement<Element, LoadB>>(),
                       .c = s.c.template as<Sum>(),
                       .workspace = workspace->data()},
                      watch().stream());
      };
      // With nothing of another's left in the buffer.
      const auto prepare = [&]() -> absl::Status {
        WEFT_TRY(sets[0].c.Fill(0x7f));
        WEFT_TRY(watch().Prepare(tile.contestant, count_sets, kSampleMicroseconds));
        WEFT_LET(const std::vector<Sum> result, sets[0].c.template Read<Sum>());
        CompareSums<Element>(result, want, k, &tile.row);
        return absl::OkStatus();
      };
      tile.status = prepare();
      if (tile.status.ok()) contestants.push_back(&tile.contestant);
    }
    if (contestants.empty()) return absl::OkStatus();
    struct Peer {
      const char *name, *ratio;
      const Algorithm& algorithm;
      Contestant contestant = {};
    };
    Peer peers[] = {{"peer", "ratio", found.best},
                    {"sm80", "sm80_ratio", found.sm80},
                    {"full", "full_ratio", found.full}};
    for (Peer& peer : peers) {
      if (peer.algorithm.index < 0) continue;
      peer.contestant.enqueue = [&](int set) { return RunPeer(peer.algorithm, sets[set]); };
      contestants.push_back(&peer.contestant);
      WEFT_TRY(watch().Prepare(peer.contestant, count_sets, kSampleMicroseconds));
    }
    WEFT_TRY(watch().Interleave(contestants, absl::GetFlag(FLAGS_rounds), kBudgetMicroseconds));

    Tile* best = nullptr;
    for (Tile& tile : *tiles) {
      if (!tile.fits || !tile.status.ok()) continue;
      Json& row = tile.row;
      row["floor_us"] = Rounded(bytes / machine_.ceilings(false).bytes_per_us);
      const Summary time = Summarize(tile.contestant.samples);
      row["ours_us"] = Rounded(time.median);
      row["ours_p10"] = Rounded(time.p10);
      row["ours_p90"] = Rounded(time.p90);
      for (const Peer& peer : peers) {
        const Algorithm& algorithm = peer.algorithm;
        if (algorithm.index < 0) continue;
        const double us = Quantile(peer.contestant.samples, 0.5);
        row[peer.name] = algorithm.product->Name(algorithm.index);
        row[absl::StrCat(peer.name, "_kernels")] =
            Kernels(*algorithm.product, algorithm.index, sets);
        row[absl::StrCat(peer.name, "_us")] = Rounded(us);
        row[peer.ratio] = Rounded(us / time.median);
      }
      if (row["mismatches"] != 0) continue;
      if (best == nullptr || row["ours_us"] < best->row["ours_us"]) best = &tile;
    }
    return best == nullptr ? absl::OkStatus() : Choose<Op>(problem, best, tiles);
  }

  // Marks the best tile and the model's, and puts the best into the tuning table.
  template <class Op>
  absl::Status Choose(const gemm::GemmProblem& problem, Tile* best, std::vector<Tile>* tiles) {
    WEFT_LET(const Op model, Op::Create(problem, gpu_));
    const double least = best->row["ours_us"];
    for (Tile& tile : *tiles) {
      if (!tile.fits || !tile.status.ok()) continue;
      tile.row["best"] = &tile == best;
      tile.row["model"] = tile.index == model.index();
      tile.row["predicted_us"] = Rounded(model.candidates()[tile.index].prediction.microseconds);
      if (tile.index != model.index()) continue;
      over_best_.push_back(tile.row["ours_us"].get<double>() / least);
      best->row["model_over_best"] = Rounded(over_best_.back());
    }
    return table_.Put(
        {gpu_.name, gpu_.limits.sm_count, Op::FamilyName(), problem, best->row["kernel"], least});
  }

  // In cuBLASLt's column-major words it is the transpose: C^T (n x m) = B^T (n x k) A^T (k x m). A
  // row-major B is a column-major B^T; a column-major A needs transposing to be A^T.
  absl::Status RunPeer(const Algorithm& algorithm, const Set& s) const {
    return algorithm.product->Run(algorithm.index, s.b.data(), s.a.data(), s.c.data(),
                                  watch().stream());
  }
  static std::string Kernels(const LtProduct& product, int index, const std::vector<Set>& sets) {
    return product.Kernels(index, sets[0].b.data(), sets[0].a.data(), sets[0].c.data());
  }

  // Runs the algorithms of a product once over the sets; sm80: null for no interest in it.
  absl::Status Time(const std::shared_ptr<const LtProduct>& product, const std::vector<Set>& sets,
                    Algorithm* best, Algorithm* sm80) {
    for (int i = 0; i < product->algorithms(); ++i) {
      Contestant one;
      one.enqueue = [&](int set) { return RunPeer({product, i}, sets[set]); };
      if (!watch().Prepare(one, static_cast<int>(sets.size()), 0).ok() ||
          !watch().Sample(one).ok()) {
        (void)cudaGetLastError();
        continue;
      }
      const Algorithm timed = {product, i, one.samples[0]};
      const auto quicker = [&](const Algorithm& than) {
        return than.index < 0 || timed.microseconds < than.microseconds;
      };
      if (i < product->offered() && quicker(*best)) *best = timed;
      if (sm80 != nullptr && quicker(*sm80) && RunsOnSm80(Kernels(*product, i, sets))) {
        *sm80 = timed;
      }
    }
    return best->index >= 0 ? absl::OkStatus()
                            : absl::NotFoundError("cuBLASLt has no algorithm that runs");
  }

  template <class P>
  absl::StatusOr<Algorithms> Search(const gemm::GemmProblem& problem,
                                    const std::vector<Set>& sets) {
    using Element = typename P::Element;
    using Sum = typename gemm::SumOf<Element>::type;
    constexpr bool kFloat8 = gemm::kWgmmaOnly<Element> && sizeof(Element) == 1;
    constexpr bool kOnSm80 = !std::is_floating_point_v<Element> && !kFloat8 && !kIsComplex<Element>;
    LtShape shape = {.rows = problem.n,
                     .columns = problem.m,
                     .depth = problem.k,
                     .transpose_a = gemm::kLinesOfB<P>,
                     .transpose_b = !gemm::kLinesOfA<P>,
                     .operand = Type<Element>::kCuda,
                     .result = Type<Sum>::kCuda,
                     .tf32 = std::is_same_v<Element, Tf32>,
                     .fast_sums = kFloat8,
                     .batch = static_cast<int>(problem.batch)};
    const auto create = [&]() -> absl::StatusOr<std::shared_ptr<const LtProduct>> {
      WEFT_LET(LtProduct product, LtProduct::Create(shape, kMostOffers));
      if (kOnSm80) product.AddAll();
      return std::make_shared<const LtProduct>(std::move(product));
    };
    Algorithms found;
    WEFT_LET(const auto product, create());
    WEFT_TRY(Time(product, sets, &found.best, kOnSm80 ? &found.sm80 : nullptr));
    if (kFloat8) {
      shape.fast_sums = false;
      WEFT_LET(const auto full, create());
      (void)Time(full, sets, &found.full, nullptr);  // if there is none, there is none
    }
    return found;
  }

  Machine machine_;
  gemm::GpuFacts gpu_;
  gemm::TuningTable table_;
  std::vector<double> over_best_;
  std::vector<Json> rows_;
};

int Main() {
  Bench bench;
  if (absl::Status s = bench.Init(); !s.ok()) {
    std::fprintf(stderr, "gemm_bench: %s\n", s.ToString().c_str());
    return 3;
  }
  for (const std::string& size : absl::GetFlag(FLAGS_sizes)) {
    const absl::StatusOr<gemm::GemmProblem> problem = ParseSize(size);
    if (!problem.ok()) {
      std::fprintf(stderr, "gemm_bench: %s\n", std::string(problem.status().message()).c_str());
      return 2;
    }
#define BASIC(Name, policies) bench.Run(Name(), *problem);
#if WEFT_PERF_ALL_TILES
#define GEMMS BASIC
#else
#define GEMMS(Name, policies)
#endif
#include "perf/gemms.def"
#undef BASIC
#undef GEMMS
  }
  bool fine = true;
  for (const Json& row : bench.rows()) fine = fine && row["status"] == "ok";
  if (absl::Status s = bench.WriteTable(); !s.ok()) {
    std::fprintf(stderr, "gemm_bench: --sweep: %s\n", std::string(s.message()).c_str());
    fine = false;
  }
  const std::string path = absl::GetFlag(FLAGS_json);
  if (path.empty()) return fine ? 0 : 1;
  Json environment = bench.environment();
  environment["commit"] = absl::GetFlag(FLAGS_commit);
  environment["method"] =
      "random data; buffers rotated past the L2; CUDA graphs; medians of interleaved samples of "
      "every tile and the peers; the "
      "peer is the fastest algorithm of cuBLASLt's heuristic, with TF32 for tf32 only, with fast "
      "sums for 8-bit floats (full: without); sm80: the fastest of all tiles and stages of its "
      "algorithms whose kernel's name says sm_80; floor_us is from bytes alone; of "
      "f16_x_s4_over_f16 "
      "and its like the peer multiplies two matrices of f16";
  const absl::Status s = WriteFile(path, ResultText(environment, bench.summary(), bench.rows()));
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
