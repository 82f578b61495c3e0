#include "perf/gemm_bench/policies.hpp"
#include "perf/model_check/tiles.hpp"
#include "weft/gemm/choose/tuning.hpp"
#include "weft/gemm/gemm.hpp"

namespace weft::perf {
namespace {

template <class... Policies>
void Add(gemm::Family<Policies...>, std::map<std::string, gemm::GemmFacts>* tiles) {
  (((*tiles)[gemm::PolicyName(Policies::config)] = gemm::GemmFactsOf<Policies>()), ...);
}

}  // namespace

const std::map<std::string, std::map<std::string, gemm::GemmFacts>>& AllProductTiles() {
  static const auto* const tiles = [] {
    auto* all = new std::map<std::string, std::map<std::string, gemm::GemmFacts>>;
    const auto add = [all](auto family, const char* name) { Add(family, &(*all)[name]); };
    ForEachGemmFamily(add);
    return all;
  }();
  return *tiles;
}

}  // namespace weft::perf
