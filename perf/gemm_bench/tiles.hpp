// The tiles of a family of products, and their rows.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/gemm_bench/operands.hpp"
#include "perf/gemm_bench/sizes.hpp"
#include "perf/support/json.hpp"
#include "weft/gemm/dispatch.hpp"

namespace weft::perf {

// One policy of a family.
struct Tile {
  int index = 0;
  Json row;
  bool fits = true;  // the product
  absl::Status status = absl::OkStatus();

  std::string what() const { return absl::StrCat("tile ", index); }  // in a race
};

template <class P>
std::string LayerName(const gemm::GemmProblem& problem) {
  return absl::StrCat("gemm_", TypeName<P>(), "_", SizeName(problem));
}

// Those with GPU code of which is_wanted("<type> <tile> <layouts>") holds.
template <class... Policies, class IsWanted>
std::vector<Tile> TilesOf(const gemm::GemmProblem& problem, const IsWanted& is_wanted) {
  using P = std::tuple_element_t<0, std::tuple<Policies...>>;
  const std::string layout = absl::StrCat(gemm::kKMajorA<P> ? "row" : "column", "-major A, ",
                                          gemm::kKMajorB<P> ? "column" : "row", "-major B");
  const bool has_code[] = {gemm::HasGpuCode<Policies>()...};
  std::vector<Tile> tiles;
  for (int i = 0; i < static_cast<int>(sizeof...(Policies)); ++i) {
    const std::string name =
        gemm::PolicyName(gemm::Dispatch<gemm::Family<Policies...>>::Configs()[i]);
    if (!has_code[i] || !is_wanted(absl::StrCat(TypeName<P>(), " ", name, " ", layout))) continue;
    tiles.push_back({i,
                     {{"layer", LayerName<P>(problem)},
                      {"batch", problem.batch},
                      {"kernel", name},
                      {"layout", layout},
                      {"mismatches", 0},
                      {"peer", "none"}}});
  }
  return tiles;
}

// Leaves out tiles that do not take the product, or that the model expects to take more than `near` times
// as long as its choice; near: 0 for no such limit.
template <class Op>
void LeaveOut(const Op& model, double near, std::vector<Tile>* tiles) {
  const double least = model.candidates()[model.index()].prediction.microseconds;
  for (Tile& tile : *tiles) {
    const gemm::Candidate& candidate = model.candidates()[tile.index];
    tile.fits =
        candidate.status.ok() && (near == 0 || candidate.prediction.microseconds <= near * least);
  }
}

template <class P>
double OperationsOf(const gemm::GemmProblem& p) {
  return (kIsComplex<typename P::Element> ? 8.0 : 2.0) * p.m * p.n * p.k * p.batch;
}

}  // namespace weft::perf
