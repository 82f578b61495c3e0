// Defines VariantsOf.
#pragma once

#include "perf/epilogue_bench/variants.hpp"

namespace weft::perf {

template <Kind kKind>
std::vector<Variant> VariantsOf() {
  using namespace variants;
  std::vector<Variant> list;
#define BASIC(kind, name, List, ...)                                                   \
  if constexpr (kKind == Kind::kind) {                                                 \
    list.push_back({name, &VariantWays<__VA_ARGS__, List>, &VariantWays<Relu, List>}); \
  }
#include "perf/epilogue_bench/variants.def"
  return list;
}

}  // namespace weft::perf
