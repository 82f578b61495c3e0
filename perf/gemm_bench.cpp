// gemm_bench: every tile of families of matrix products against the fastest algorithm that
// cuBLASLt's heuristic offers. perf/README.md says how to run and read it.
#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "perf/bench/bench.hpp"
#include "perf/gemm_bench/compare.hpp"
#include "perf/gemm_bench/operands.hpp"
#include "perf/gemm_bench/peer.hpp"
#include "perf/gemm_bench/policies.hpp"
#include "perf/gemm_bench/sizes.hpp"
#include "perf/gemm_bench/tiles.hpp"
#include "weft/gemm/dispatch.hpp"

ABSL_FLAG(std::vector<std::string>, sizes, {"4096"},
          "products: m, n and k in one number, or <m>x<n>x<k>, or <m>x<n>x<k>x<batch>; such as "
          "4096,8192,10240x4096x4096,128x128x64x960");
ABSL_FLAG(std::vector<std::string>, only, {},
          "measure the tiles whose type, name and layout of A (s8 wgmma_sm90_128x256x128... "
          "row-major A) contain one of these parts, which commas separate");
ABSL_FLAG(
    double, near, 0,
    "measure only tiles that the model expects within this factor of the best of the product; "
    "0: all");
ABSL_FLAG(std::string, sweep, "",
          "tuning table of gemm::Dispatch that the best tiles are added to, such as "
          "weft_tuning.txt");

namespace weft::perf {
namespace {

// Whether --only leaves a tile in.
bool IsWanted(const std::string& tile) {
  const std::vector<std::string> only = absl::GetFlag(FLAGS_only);
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& part) {
           return absl::StrContains(tile, part);
         });
}

constexpr double kSampleMicroseconds = 4000;
constexpr double kBudgetMicroseconds = 15e6;  // of the samples of one product

class Run {
 public:
  explicit Run(Bench& bench) : bench_(bench) {}

  absl::Status ReadTable() {
    const std::string path = absl::GetFlag(FLAGS_sweep);
    if (path.empty()) return absl::OkStatus();
    absl::StatusOr<gemm::TuningTable> table = gemm::TuningTable::Read(path);
    if (absl::IsNotFound(table.status())) table = gemm::TuningTable();
    WEFT_TRY(table.status());
    table_ = *std::move(table);
    return absl::OkStatus();
  }
  absl::Status WriteTable() const {
    const std::string path = absl::GetFlag(FLAGS_sweep);
    return path.empty() ? absl::OkStatus() : table_.Write(path, "Written by gemm_bench --sweep.");
  }

  // A line of gemms.def at a size, to be measured.
  template <class... Policies>
  void Add(gemm::Family<Policies...>, const std::string& family, const gemm::GemmProblem& problem) {
    if (TilesOf<Policies...>(problem, IsWanted).empty()) return;
    const std::string layer = LayerName<std::tuple_element_t<0, std::tuple<Policies...>>>(problem);
    bench_.Add(
        {{"layer", layer}, {"family", family}},
        [this, family, problem](const Measuring&) { return Measure<Policies...>(family, problem); },
        {{"batch", problem.batch}, {"layout", "none"}, {"peer", "none"}});
  }

 private:
  const Stopwatch& watch() const { return bench_.watch(); }

  // A row for each tile that takes the product.
  template <class... Policies>
  absl::StatusOr<std::vector<Json>> Measure(const std::string& family,
                                            const gemm::GemmProblem& problem) {
    using P = std::tuple_element_t<0, std::tuple<Policies...>>;
    std::vector<Tile> tiles = TilesOf<Policies...>(problem, IsWanted);
    const absl::Status status =
        MeasureTiles<gemm::Dispatch<gemm::Family<Policies...>>, P>(problem, &tiles);
    std::vector<Json> rows;
    for (Tile& tile : tiles) {
      Json& row = tile.row;
      if (!tile.fits) continue;
      row["family"] = family;
      const absl::Status& s = tile.status.ok() ? status : tile.status;
      row["status"] = !s.ok()                  ? absl::StrCat("failed: ", s.ToString())
                      : row["mismatches"] != 0 ? "mismatch"
                                               : "ok";
      rows.push_back(row);
    }
    return rows;
  }

  template <class Op, class P>
  absl::Status MeasureTiles(const gemm::GemmProblem& problem, std::vector<Tile>* tiles) {
    using Element = typename P::Element;
    using Sum = typename P::Epilogue::Output;
    const gemm::GpuFacts gpu = gemm::GpuFactsOf(bench_.machine().limits(), arch::DeviceName());
    const absl::StatusOr<Op> model = Op::Create(problem, gpu);
    if (!model.ok()) {  // no tile of the family takes it
      for (Tile& tile : *tiles) tile.fits = false;
      return absl::OkStatus();
    }
    LeaveOut(*model, absl::GetFlag(FLAGS_near), tiles);
    const std::int64_t m = problem.m, n = problem.n, k = problem.k, batch = problem.batch;
    const auto bytes = static_cast<std::int64_t>(batch * (m * k * gemm::kOperandBits<P, true> / 8 +
                                                          k * n * gemm::kOperandBits<P, false> / 8 +
                                                          m * n * std::int64_t{sizeof(Sum)}));
    std::vector<Set> sets(BufferSets(bytes));
    constexpr bool kKMajorA = gemm::kKMajorA<P>, kKMajorB = gemm::kKMajorB<P>;
    using MatrixA = RandomMatrix<Element, gemm::LoadOf<P, true>, kKMajorA>;
    using MatrixB = RandomMatrix<gemm::ElementOfB<Element>, gemm::LoadOf<P, false>, kKMajorB>;
    // Of all the batch; what is transposed has no other product in it.
    const MatrixA a(batch * (kKMajorA ? m : k), kKMajorA ? k : m, 1);
    const MatrixB b(batch * (kKMajorB ? n : k), kKMajorB ? k : n, 2);
    if (batch > 1 && (MatrixA::kTransposed || MatrixB::kTransposed)) {
      return absl::UnimplementedError("no batches of 8-bit floats in other orders");
    }
    for (Set& set : sets) {
      WEFT_LET(set.a, DeviceBuffer::From(a.values));
      WEFT_LET(set.b, DeviceBuffer::From(b.values));
      if constexpr (MatrixA::kOwnMemory) {
        WEFT_LET(set.a_memory, DeviceBuffer::From(a.memory));
      }
      if constexpr (MatrixB::kOwnMemory) {
        WEFT_LET(set.b_memory, DeviceBuffer::From(b.memory));
      }
      WEFT_LET(set.c, DeviceBuffer::Create(batch * m * n * sizeof(Sum)));
    }
    Race race(watch(), static_cast<int>(sets.size()));
    constexpr bool kFloat8 = kPeerWantsKMajor<Element>;
    WEFT_LET(const Way peer, FindAlgorithm<P>(watch(), problem, sets, kFloat8));
    // Of 8-bit floats also without fast sums, if there is such an algorithm.
    absl::StatusOr<Way> full = absl::NotFoundError("of 8-bit floats only");
    if (kFloat8) full = FindAlgorithm<P>(watch(), problem, sets, false);
    for (const Set& set : sets) WEFT_TRY(set.c.Fill(0x7f));
    WEFT_TRY((full.ok() ? *full : peer).enqueue(0));
    WEFT_TRY(CudaStatus(cudaStreamSynchronize(watch().stream()), "cudaStreamSynchronize"));
    WEFT_LET(const std::vector<Sum> want, sets[0].c.template Read<Sum>());

    bool any = false;
    for (Tile& tile : *tiles) {
      if (!tile.fits) continue;
      const auto op = Op::CreateAt(problem, tile.index);
      tile.fits = op.ok();
      if (!op.ok()) continue;
      const auto enqueue = [op = *op, this, &sets](int set) {
        const Set& s = sets[set];
        const DeviceBuffer& own_a = MatrixA::kOwnMemory ? s.a_memory : s.a;
        const DeviceBuffer& own_b = MatrixB::kOwnMemory ? s.b_memory : s.b;
        return op.Run({.a = own_a.template as<typename MatrixA::Memory>(),
                       .b = own_b.template as<typename MatrixB::Memory>(),
                       .c = s.c.template as<Sum>()},
                      watch().stream());
      };
      // With nothing of another's left in the buffer.
      tile.status = [&]() -> absl::Status {
        WEFT_TRY(sets[0].c.Fill(0x7f));
        WEFT_TRY(race.Add(tile.what(), {tile.what(), enqueue}, kSampleMicroseconds));
        any = true;
        WEFT_LET(const std::vector<Sum> result, sets[0].c.template Read<Sum>());
        CompareSums<P>(result, want, k, &tile.row);
        return absl::OkStatus();
      }();
    }
    if (!any) return absl::OkStatus();
    WEFT_TRY(race.Add("peer", peer, kSampleMicroseconds));
    if (full.ok()) WEFT_TRY(race.Add("full", *full, kSampleMicroseconds));
    WEFT_TRY(race.Run(kBudgetMicroseconds));

    Tile* best = nullptr;
    for (Tile& tile : *tiles) {
      if (!tile.fits || !tile.status.ok()) continue;
      Json& row = tile.row;
      const double us = race.us(tile.what());
      row["floor_us"] = Rounded(bench_.CopyMicroseconds(static_cast<double>(bytes)));
      row["ours_us"] = Rounded(us);
      row["ours_tops"] = Rounded(OperationsOf<P>(problem) * 1e-6 / us, 1);
      row["ours_p10"] = Rounded(race.us(tile.what(), 0.1));
      row["ours_p90"] = Rounded(race.us(tile.what(), 0.9));
      for (const std::string other : {"peer", "full"}) {
        if (!race.Has(other)) continue;
        row[other] = race.name(other);
        race.Describe(other, &row);
        row[other == "peer" ? "ratio" : "full_ratio"] = Rounded(race.us(other) / us);
      }
      if (row["mismatches"] != 0) continue;
      if (best == nullptr || row["ours_us"] < best->row["ours_us"]) best = &tile;
    }
    return best == nullptr ? absl::OkStatus() : Choose(*model, gpu, best, tiles);
  }

  // Marks the best tile and the model's, and puts the best into the tuning table.
  template <class Op>
  absl::Status Choose(const Op& model, const gemm::GpuFacts& gpu, Tile* best,
                      std::vector<Tile>* tiles) {
    const double least = best->row["ours_us"];
    for (Tile& tile : *tiles) {
      if (!tile.fits || !tile.status.ok()) continue;
      tile.row["best"] = &tile == best;
      tile.row["model"] = tile.index == model.index();
      tile.row["predicted_us"] = Rounded(model.candidates()[tile.index].prediction.microseconds);
      if (tile.index != model.index()) continue;
      best->row["model_over_best"] = Rounded(tile.row["ours_us"].get<double>() / least);
    }
    return table_.Put({gpu.name, gpu.limits.sm_count, Op::FamilyName(), model.problem(),
                       best->row["kernel"], least});
  }

  Bench& bench_;
  gemm::TuningTable table_;
};

// What the model's choices cost.
Json Summary(const std::vector<Json>& rows) {
  std::vector<double> over_best;
  for (const Json& row : rows) {
    if (row.contains("model_over_best")) over_best.push_back(row["model_over_best"]);
  }
  if (over_best.empty()) return Json::object();
  return {{"model_over_best", Rounded(GeometricMean(over_best))},
          {"model_over_best_most", Rounded(*std::max_element(over_best.begin(), over_best.end()))}};
}

absl::Status MeasureAll(Bench& bench) {
  const double near = absl::GetFlag(FLAGS_near);
  const std::vector<std::string> only = absl::GetFlag(FLAGS_only);
  bench.notes()["tiles"] = absl::StrCat(
      near == 0 ? "all"
                : absl::StrCat("those that the model expects within ", near, " of its choice"),
      only.empty() ? "" : absl::StrCat(", of --only=", absl::StrJoin(only, ",")));
  bench.SetSummary(Summary);
  Run run(bench);
  WEFT_TRY(run.ReadTable());
  for (const std::string& size : absl::GetFlag(FLAGS_sizes)) {
    WEFT_LET(const gemm::GemmProblem problem, ParseSize(size));
    ForEachGemmFamily([&](auto family, const char* name) { run.Add(family, name, problem); });
  }
  std::printf("%d products\n", bench.results().count());
  WEFT_TRY(bench.Run());
  return run.WriteTable();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"gemm_bench", "matrix products against cuBLASLt",
       "random data; buffers rotated past the L2; CUDA graphs; medians of interleaved samples of "
       "every tile and the peers; the peer is the fastest algorithm of cuBLASLt's heuristic, with "
       "TF32 for tf32 only, with fast sums for 8-bit floats (full: without); floor_us is from "
       "bytes alone; where cuBLASLt has no such product it multiplies the same numbers: of "
       "f16_x_s4_over_f16 and its like two matrices of f16, of u8 (below 128) s8, of e5m2 e4m3, of "
       "8-bit floats in other orders a row-major A and a column-major B"},
      weft::perf::MeasureAll);
}
