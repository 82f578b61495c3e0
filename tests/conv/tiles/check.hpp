// Runs an operator on the problems of its tile and compares every output with the reference, exactly. Compiled by g++
// the operator runs on the CPU, compiled by nvcc on the GPU.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>

#include "tests/conv/harness.hpp"
#include "tests/conv/table/problems/tile_problems.hpp"
#include "weft/conv/plan/policy_facts.hpp"

namespace weft::conv::tiles {

// Everything but the tile itself, compiled once for all tiles that have these types.
template <class Src, class Filter, class Dst, class PrologueT, class EpilogueT>
struct Check {
  using Arguments = ConvolutionArguments<std::int8_t, PackedFilter<Filter, std::int8_t, PrologueT>,
                                         EpilogueT, NoSourceFunctor>;
  // Creates the tile's operator and runs it.
  using Run = absl::Status(const Problem&, const Arguments&);

  static void Exact(const ConvFacts& facts, Run* run) {
    std::uint32_t seed = 1;
    for (const Problem& problem : ProblemsFor(facts)) {
      const RunOptions options = {.seed = seed++};
      SCOPED_TRACE(absl::StrCat(ToString(problem), " seed ", options.seed));
      const Inputs<Src, Filter, PrologueT> inputs(problem, options.seed);
      const Results<EpilogueT, Dst> results(problem, inputs.tensors, options);
      Arguments args;
      inputs.Fill(&args);
      results.Fill(&args);
      args.filter_is_constant = options.seed % 2 == 0;
      const absl::Status status = run(problem, args);
      ASSERT_TRUE(status.ok()) << status;
      results.ExpectEqual(inputs.bank.which, reference::ReluActivation(),
                          FullRange<typename EpilogueT::Output>());
      if (testing::Test::HasFailure()) return;
    }
  }
};

// A policy of its own, of which no library of Weft has kernels.
template <class P>
struct Own : P {};

template <class P>
absl::Status RunTile(const Problem& problem, const typename Convolution<P>::Arguments& args) {
  const absl::StatusOr<Convolution<P>> op = Convolution<P>::Create(problem);
  return op.ok() ? RunHere(*op, args) : op.status();
}
template <class P>
void ExpectExact() {
  Check<typename P::SrcLayout, typename P::FilterLayout, typename P::DstLayout,
        typename P::Prologue, typename P::Epilogue>::Exact(FactsOf<P>(), &RunTile<P>);
}

class TileTest : public testing::Test {
 public:
  explicit TileTest(void (*body)()) : body_(body) {}
  void TestBody() override { body_(); }

 private:
  void (*body_)();
};

// Adds the test Tiles.<name> to this program.
inline void AddTest(const std::string& name, void (*body)()) {
  testing::RegisterTest("Tiles", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [body]() -> TileTest* { return new TileTest(body); });
}
template <class P>
void AddOperator(const std::string& name) {
  AddTest(name, &ExpectExact<Own<P>>);
}

#if defined(WEFT_CUDA_BACKEND)
inline constexpr bool kOnCpu = false;
#else
inline constexpr bool kOnCpu = true;
#endif

// One of the bits of `families`, each of them after as many rows; 0 of none.
constexpr unsigned TakesItsTurn(unsigned families, int row) {
  if (families == 0) return 0;
  for (int skipped = row % std::popcount(families); skipped > 0; --skipped)
    families &= families - 1;
  return families & (0 - families);
}

}  // namespace weft::conv::tiles
