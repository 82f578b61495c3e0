// The tests of the rows of conv/policy/tiles.def, and of depthwise tiles of perf/tiles.def, as rows.hpp has those of the
// other tables. A row of several formats, and each of DepthwisePointwise, is tested in one of them, the formats
// taking turns: a depthwise operator is seven kernels.
#pragma once

#include "perf/weft_perf/tiles.hpp"
#include "tests/conv/depthwise_pointwise/depthwise_pointwise_checks.hpp"
#include "tests/conv/tiles/check.hpp"
#include "weft/conv/ready_made_operators.hpp"

namespace weft::conv::tiles {

template <int kRow, class TileT, unsigned kIn>
void AddDepthwiseRow(const std::string& name) {
  namespace families = tile_families;
  static_assert(kIn != 0 && (kIn & ~(families::kDepthwiseNc4 | families::kDepthwiseNc32 |
                                     families::kDepthwiseNhwc)) == 0,
                "weft: say here what the operator of a tile of this family is");
  constexpr unsigned kHere = TakesItsTurn(kIn, kRow);
  using Relu = epilogues::BiasRelu<>;
  if constexpr (kHere == families::kDepthwiseNc4) {
    AddOperator<S8Depthwise4<Relu, NCxHWx<4>, TileT>>(name + "_Nc4");
  } else if constexpr (kHere == families::kDepthwiseNc32) {
    AddOperator<S8Depthwise32<Relu, NCxHWx<32>, TileT>>(name + "_Nc32");
  } else {
    AddOperator<S8DepthwiseNhwc<Relu, NHWC, TileT>>(name + "_Nhwc");
  }
}

template <class P>
struct OwnFused : P {
  using FirstActivation = reference::ReluActivation;
  using SecondActivation = reference::NoActivation;
};
template <class P>
void ExpectFusedExact() {
  FusedOptions options;
  for (const FusedProblem& problem : FusedProblemsFor(P::config)) {
    Problem p = problem.depthwise;
    p.k = problem.k;
    ++options.run.seed;
    ExpectFused<P>(p, options);
    if (testing::Test::HasFailure()) return;
  }
}

template <int kRow, class TileT>
void AddFusedRow(const std::string& name) {
  using First = epilogues::BiasRelu<>;
  using Second = epilogues::BiasIdentity<>;
  if constexpr (kRow % 3 == 0) {
    AddTest(name + "_Nc4",
            &ExpectFusedExact<OwnFused<S8DepthwisePointwise4<First, Second, NCxHWx<4>, TileT>>>);
  } else if constexpr (kRow % 3 == 1) {
    AddTest(name + "_Nc32",
            &ExpectFusedExact<OwnFused<S8DepthwisePointwise32<First, Second, NCxHWx<32>, TileT>>>);
  } else {
    AddTest(name + "_Nhwc",
            &ExpectFusedExact<OwnFused<S8DepthwisePointwiseNhwc<First, Second, NHWC, TileT>>>);
  }
}

template <class P>
void AddMeasuredDepthwise() {
  if constexpr (CheckedPolicy<P>::kDepthwise) AddOperator<P>(gemm::PolicyName(P::config));
}

// True, so that a constant can be initialised by it before main.
inline bool AddDepthwiseRows() {
  using namespace tile_families;  // NOLINT(build/namespaces): the column `families` is in these words
#define WEFT_TILE(type, value, families, when) AddDepthwiseRow<__LINE__, type, families>(#type);
#define WEFT_FUSED_TILE(type, ...) AddFusedRow<__LINE__, type>(#type);
#include "weft/conv/policy/tiles.def"
  {
    using namespace perf;  // NOLINT(build/namespaces): and that of perf/tiles.def in these
#define BASIC(Name, ...) AddMeasuredDepthwise<Name<__VA_ARGS__>>();
#define NETWORK BASIC
#define TILE BASIC
#include "perf/tiles.def"
#undef BASIC
#undef NETWORK
#undef TILE
  }
  return true;
}

}  // namespace weft::conv::tiles
