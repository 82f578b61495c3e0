// list_bench: lists of products that have nothing in common, in one launch (Gemm<Listed<P>>), against a call of cuBLASLt
// each in one CUDA graph, one after the other and in branches. All sums are compared with cuBLASLt's.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/bench/bench.hpp"
#include "perf/bench/branches.hpp"
#include "perf/bench/tiles.hpp"
#include "perf/gemm_bench/compare.hpp"
#include "perf/gemm_bench/operands.hpp"
#include "perf/list_bench/policies.hpp"
#include "perf/peers/lt_product.hpp"
#include "weft/gemm/choose/tuning.hpp"
#include "weft/gemm/gemm_list.hpp"

namespace weft::perf {
namespace {

struct List {
  const char* name;
  std::vector<gemm::GemmProblem> problems;  // the longest k first
};

// The two layers of a mixture of experts, whose tokens are divided unevenly; and products of many sizes.
std::vector<List> Lists() {
  List up{"experts 32 x 1024 x 2048", {}}, down{"experts 32 x 2048 x 1024", {}};
  for (std::int64_t i = 0; i < 32; ++i) {
    const std::int64_t tokens = 16 * (1 + i * i % 29);  // 16 to 464
    up.problems.push_back({.m = tokens, .n = 1024, .k = 2048});
    down.problems.push_back({.m = tokens, .n = 2048, .k = 1024});
  }
  List mixed{"24 of different sizes", {}};
  for (const std::int64_t k : {2048, 1024, 512, 256}) {
    for (std::int64_t i = 0; i < 6; ++i) {
      mixed.problems.push_back({.m = 64 << i % 4, .n = 256 << i % 3, .k = k});
    }
  }
  return {up, down, mixed};
}

// A product of a list by cuBLASLt, with a workspace of its own, so that they can run side by side.
struct Call {
  LtProduct product;
  int algorithm;
};

// The fastest of a few algorithms for each product. s: matrices to try them on.
absl::StatusOr<std::vector<Call>> MakeCalls(const std::vector<gemm::GemmProblem>& problems,
                                            cudaDataType_t operand, cudaDataType_t result,
                                            const Stopwatch& watch, const Set& s) {
  constexpr int kOffers = 8;
  constexpr double kTryMicroseconds = 200.0;
  std::vector<Call> calls;
  for (const gemm::GemmProblem& p : problems) {
    // In column-major words C^T = B^T A^T; B, column-major, needs transposing to be B^T.
    WEFT_LET(LtProduct product, LtProduct::Create({.rows = p.n,
                                                   .columns = p.m,
                                                   .depth = p.k,
                                                   .transpose_a = true,
                                                   .operand = operand,
                                                   .result = result},
                                                  kOffers));
    const auto attempt = [&](int algorithm) {
      return watch.Short(
          [&](int) {
            return product.Run(algorithm, s.b.data(), s.a.data(), s.c.data(), watch.stream());
          },
          1, kTryMicroseconds);
    };
    WEFT_LET(const int best, FastestAnswer(product.algorithms(), "cuBLASLt", attempt));
    calls.push_back({std::move(product), best});
  }
  return calls;
}

template <class Element, class Sum, class Family>
absl::Status Measure(Bench& bench, const List& list, Json* row) {
  struct Place {  // where the matrices of a product begin, in elements
    std::int64_t a = 0, b = 0, c = 0;
  };
  std::vector<Place> places;
  Place end;  // each matrix at a multiple of 256 bytes and more
  std::int64_t longest = 0, operations = 0;
  for (const gemm::GemmProblem& p : list.problems) {
    places.push_back(end);
    end.a += RoundUp(p.m * p.k, 256), end.b += RoundUp(p.n * p.k, 256);
    end.c += RoundUp(p.m * p.n, 256);
    longest = std::max(longest, p.k);
    operations += 2 * p.m * p.n * p.k;
  }
  const RandomMatrix<Element, gemm::NoLoad, true> a(1, end.a, 1), b(1, end.b, 2);
  const auto bytes =
      static_cast<std::int64_t>((end.a + end.b) * sizeof(Element) + end.c * sizeof(Sum));
  std::vector<Set> sets(BufferSets(bytes));
  const int count = static_cast<int>(sets.size());
  for (Set& set : sets) {
    WEFT_LET(set.a, DeviceBuffer::From(a.values));
    WEFT_LET(set.b, DeviceBuffer::From(b.values));
    WEFT_LET(set.c, DeviceBuffer::Create(end.c * static_cast<std::int64_t>(sizeof(Sum))));
  }
  WEFT_LET(const std::vector<Call> calls, MakeCalls(list.problems, Type<Element>::kCuda,
                                                    Type<Sum>::kCuda, bench.watch(), sets[0]));
  Branches branches;
  WEFT_TRY(branches.Init());
  const auto call = [&](bool branched, int set) {
    const Set& s = sets[set];
    return branches.Run(
        branched, bench.stream(), static_cast<int>(calls.size()), [&](int i, cudaStream_t stream) {
          return calls[i].product.Run(calls[i].algorithm, s.b.template as<Element>() + places[i].b,
                                      s.a.template as<Element>() + places[i].a,
                                      s.c.template as<Sum>() + places[i].c, stream);
        });
  };
  // What lies between the matrices is nobody's.
  WEFT_TRY(sets[0].c.Fill(0));
  WEFT_TRY(call(false, 0));
  WEFT_LET(const std::vector<Sum> want, sets[0].c.template Read<Sum>());

  std::vector<Way> ways;
  std::vector<DeviceBuffer> tables;  // of all tiles
  absl::Status status;
  const auto add = [&]<class Tile>() -> absl::Status {
    using Op = gemm::Gemm<gemm::Listed<Tile>>;
    if (!gemm::HasGpuCode<gemm::Listed<Tile>>()) return absl::OkStatus();
    WEFT_LET(const Op op, Op::Create(list.problems, bench.machine().limits()));
    std::vector<const typename Op::Product*> of_set;
    for (const Set& s : sets) {
      std::vector<typename Op::Arguments> args;
      for (const Place& place : places) {
        args.push_back({.a = s.a.template as<Element>() + place.a,
                        .b = s.b.template as<Element>() + place.b,
                        .c = s.c.template as<Sum>() + place.c});
      }
      WEFT_LET(const auto table, op.Table(args));
      WEFT_LET(DeviceBuffer memory, DeviceBuffer::From(table));
      of_set.push_back(memory.as<typename Op::Product>());
      tables.push_back(std::move(memory));
    }
    const auto enqueue = [op, of_set, stream = bench.stream()](int set) {
      return op.Run(of_set[set], stream);
    };
    const auto wrong = [&, enqueue]() -> absl::StatusOr<std::int64_t> {
      WEFT_TRY(sets[0].c.Fill(0));
      WEFT_TRY(enqueue(0));
      WEFT_LET(const std::vector<Sum> got, sets[0].c.template Read<Sum>());
      CompareSums<Tile>(got, want, longest, row);
      return row->at("mismatches").template get<std::int64_t>();
    };
    ways.push_back({gemm::PolicyName(Tile::config), enqueue, wrong});
    return absl::OkStatus();
  };
  ForEachPolicy(Family(), [&]<class Tile>(int) {
    if (status.ok()) status = add.template operator()<Tile>();
  });
  WEFT_TRY(status);
  Race race(bench.watch(), count);
  WEFT_TRY(race.AddFastest("ours", std::move(ways)));
  const std::string name =
      absl::StrCat(calls.size(), " calls, the first ", calls[0].product.Name(calls[0].algorithm));
  WEFT_TRY(race.Add("peer", {name, [&](int set) { return call(false, set); }}));
  WEFT_TRY(race.Add("branched", {name, [&](int set) { return call(true, set); }}));
  WEFT_TRY(race.Run());
  const double us = race.us("ours");
  row->update({{"batch", list.problems.size()},
               {"kernel", race.name("ours")},
               {"ours_us", Rounded(us)},
               {"ours_tops", Rounded(1e-6 * static_cast<double>(operations) / us)},
               {"floor_us", Rounded(bench.CopyMicroseconds(static_cast<double>(bytes)))},
               {"peer", name},
               {"peer_us", Rounded(race.us("peer"))},
               {"ratio", Rounded(race.us("peer") / us)},
               {"branched_us", Rounded(race.us("branched"))},
               {"branched_ratio", Rounded(race.us("branched") / us)},
               {"in_graphs", race.graphed()},
               {"buffer_sets", count}});
  return bench.ReadClock(race.contestant("ours"), row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const List& list : Lists()) {
    bench.AddRow(absl::StrCat("s8, ", list.name), [&bench, list](Json* row) {
      return Measure<std::int8_t, std::int32_t, S8Lists>(bench, list, row);
    });
    bench.AddRow(absl::StrCat("f16, ", list.name), [&bench, list](Json* row) {
      return Measure<Half, float, HalfLists>(bench, list, row);
    });
  }
  return bench.Run();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"list_bench", "lists of different products against a call of cuBLASLt each",
       "random data; buffers rotated past the L2; CUDA graphs; medians of interleaved samples; all "
       "products of a list in one launch; the peer is a call each, of the fastest algorithm of "
       "cuBLASLt's heuristic, one after the other (peer) or in 8 branches of one graph (branched); "
       "floor_us is from bytes alone"},
      weft::perf::MeasureAll);
}
