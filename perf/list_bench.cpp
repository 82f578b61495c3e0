// list_bench [--json=FILE] [--layers=PART] [--commit=HASH] [--stop_after_s=SECONDS]: lists of products that
// have nothing in common, in one launch (Gemm<Listed<P>>), against a call of cuBLASLt each in one CUDA graph,
// one after the other and in 8 branches. All sums are compared with cuBLASLt's.
#include "perf/peers/bench.hpp"

#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/gemm_bench/compare.hpp"
#include "perf/gemm_bench/operands.hpp"
#include "perf/list_bench/peer.hpp"
#include "perf/list_bench/policies.hpp"
#include "weft/gemm/choose/tuning.hpp"
#include "weft/gemm/gemm_list.hpp"

namespace weft::perf {
namespace {

constexpr double kSampleMicroseconds = 2000.0;

struct List {
  const char* name;
  std::vector<gemm::GemmProblem> problems;  // the longest k first
};

// The two layers of a mixture of experts, whose tokens are divided unevenly; all layers of a small network
// for one image each; and many small products.
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

template <class Element, class... Policies>
absl::Status MeasureTiles(Bench& bench, const List& list, gemm::Family<gemm::Listed<Policies>...>,
                          Json* row) {
  using P = std::tuple_element_t<0, std::tuple<Policies...>>;
  using Sum = typename P::Epilogue::Output;
  std::vector<ListPlace> places;
  ListPlace end;  // each matrix at a multiple of 256 bytes and more
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
  WEFT_LET(const auto calls,
           ListByCalls::Create(list.problems, Type<Element>::kCuda, Type<Sum>::kCuda, bench.watch(),
                               sets[0].a.data(), sets[0].b.data(), sets[0].c.data()));
  const auto call = [&](bool branched, int set) {
    const Set& s = sets[set];
    return calls->Run(branched, places, s.a.template as<Element>(), s.b.template as<Element>(),
                      s.c.template as<Sum>(), bench.stream());
  };
  // What lies between the matrices is nobody's.
  WEFT_TRY(sets[0].c.Fill(0));
  WEFT_TRY(call(false, 0));
  WEFT_LET(const std::vector<Sum> want, sets[0].c.template Read<Sum>());

  std::optional<Way> best;
  std::vector<DeviceBuffer> tables;  // of all tiles
  const auto attempt = [&]<class Tile>() -> absl::Status {
    using Op = gemm::Gemm<gemm::Listed<Tile>>;
    if (!gemm::HasGpuCode<gemm::Listed<Tile>>()) return absl::OkStatus();
    WEFT_LET(const Op op, Op::Create(list.problems, bench.machine().limits()));
    std::vector<const typename Op::Product*> of_set;
    for (const Set& s : sets) {
      std::vector<typename Op::Arguments> args;
      for (const ListPlace& place : places) {
        args.push_back({.a = s.a.template as<Element>() + place.a,
                        .b = s.b.template as<Element>() + place.b,
                        .c = s.c.template as<Sum>() + place.c});
      }
      WEFT_LET(const auto table, op.Table(args));
      WEFT_LET(DeviceBuffer memory, DeviceBuffer::From(table));
      of_set.push_back(memory.as<typename Op::Product>());
      tables.push_back(std::move(memory));
    }
    Way way = {gemm::PolicyName(Tile::config), [op, of_set, stream = bench.stream()](int set) {
                 return op.Run(of_set[set], stream);
               }};
    WEFT_TRY(sets[0].c.Fill(0));
    WEFT_TRY(way.enqueue(0));
    WEFT_LET(const std::vector<Sum> got, sets[0].c.template Read<Sum>());
    CompareSums<Tile>(got, want, longest, row);
    if ((*row)["mismatches"] != 0) return absl::DataLossError(absl::StrCat(way.name, " is wrong"));
    return bench.KeepFaster(count, std::move(way), &best);
  };
  WEFT_TRY((ForEachTile<std::tuple<Policies...>>(attempt)));
  if (!best.has_value()) return absl::UnimplementedError("no tile has GPU code");

  Contestant ours, calls_in_turn, calls_in_branches;
  ours.enqueue = best->enqueue;
  calls_in_turn.enqueue = [&](int set) { return call(false, set); };
  calls_in_branches.enqueue = [&](int set) { return call(true, set); };
  const std::vector<Contestant*> all = {&ours, &calls_in_turn, &calls_in_branches};
  for (Contestant* c : all) WEFT_TRY(bench.watch().Prepare(*c, count, kSampleMicroseconds));
  WEFT_TRY(bench.watch().Interleave(all, 15, 1e6));
  const auto us = [](const Contestant& c) { return Quantile(c.samples, 0.5); };
  row->update({{"batch", list.problems.size()},
               {"kernel", best->name},
               {"ours_us", Rounded(us(ours))},
               {"ours_tops", Rounded(1e-6 * static_cast<double>(operations) / us(ours))},
               {"floor_us",
                Rounded(static_cast<double>(bytes) / bench.machine().ceilings(false).bytes_per_us)},
               {"peer", calls->name()},
               {"peer_us", Rounded(us(calls_in_turn))},
               {"ratio", Rounded(us(calls_in_turn) / us(ours))},
               {"branched_us", Rounded(us(calls_in_branches))},
               {"branched_ratio", Rounded(us(calls_in_branches) / us(ours))},
               {"in_graphs", ours.graphed && calls_in_turn.graphed && calls_in_branches.graphed},
               {"buffer_sets", count}});
  return bench.ReadClock(ours, row);
}

absl::Status MeasureAll(Bench& bench) {
  for (const List& list : Lists()) {
    WEFT_TRY(bench.Row(absl::StrCat("s8, ", list.name), [&](Json* row) {
      return MeasureTiles<std::int8_t>(bench, list, S8Lists(), row);
    }));
    WEFT_TRY(bench.Row(absl::StrCat("f16, ", list.name), [&](Json* row) {
      return MeasureTiles<Half>(bench, list, HalfLists(), row);
    }));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

int main(int argc, char** argv) {
  constexpr weft::perf::BenchProgram kProgram = {
      "list_bench", "lists of different products against a call of cuBLASLt each",
      "random data; buffers rotated past the L2; CUDA graphs; medians of interleaved samples; all "
      "products of a "
      "list in one launch; the peer is a call each, of the fastest algorithm of cuBLASLt's "
      "heuristic, one after the "
      "other (peer) or in 8 branches of one graph (branched); floor_us is from bytes alone"};
#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT
  return weft::perf::BenchMain(argc, argv, kProgram, weft::perf::MeasureAll);
#else
  return weft::perf::BenchMain(argc, argv, kProgram, nullptr);
#endif
}
