// Random bad problems and arguments of a Convolution: each is refused with a sentence that names
// what is wrong, or is right and gives the reference's result.
#include "tests/conv/kernel/prologue_cases.hpp"
#include "tests/conv/launch/fuzz.hpp"
#include "tests/conv/policy/nc32_policies.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using epilogues::BiasRelu;
using epilogues::ResidualBiasRelu;

// A policy, and a problem that it takes. What is accepted runs where kRuns says so: of each kind of kernel one, since
// refusing asks no kernel.
template <class P, int c, int k, int groups = 1, int hw = 6, int rs = 3, bool runs = false>
struct Case {
  using Policy = P;
  static constexpr bool kRuns = runs;
  static Problem Good() {
    Problem p = SquareProblem(hw == 1 ? 1 : 2, c, hw, k, rs, rs / 2, 1);
    p.groups = groups;
    return p;
  }
};

// What ExpectRefusal looks for: a name, or an expression of names, with the value that it has.
TEST(FuzzHelper, NamesField) {
  const auto names = [](const std::string& message) {
    return fuzz::NamesField(
        message,
        [](const std::string& name) -> std::optional<std::int64_t> {
          if (name == "c") return 12;
          if (name == "groups") return 5;
          return std::nullopt;
        },
        [](const std::string& name) { return name == "groups"; });
  };
  EXPECT_TRUE(names("conv: groups=5 is bad"));
  EXPECT_TRUE(names("conv: c=12 is not a multiple of groups=5; each"));
  EXPECT_TRUE(names("conv: c/groups=2 is bad"));
  EXPECT_TRUE(names("conv: two (c-1)*groups+1=56 are bad"));
  EXPECT_FALSE(names("conv: groups=6 is bad"));
  EXPECT_FALSE(names("conv: c=12 is bad"));  // which nobody changed
  EXPECT_FALSE(names("conv: c*groups=61 is bad"));
  EXPECT_FALSE(names("conv: k*groups=60 is bad"));
  EXPECT_FALSE(names("conv: groups are bad"));
}

template <class P, int c, int k, int groups = 1, int hw = 6, int rs = 3>
using Run = Case<P, c, k, groups, hw, rs, true>;

template <class C>
class BadInputFuzz : public testing::Test {};
using Cases = testing::Types<
    Run<TestPolicy<NCxHWx<4>, ResidualBiasRelu<>>, 8, 12>,
    Run<Int4Filter<Nc32Policy<NCxHWx<32>, BiasRelu<>, MmaSm80Tile<64, 32, 64, 32, 32, 3>>>, 16, 24>,
    Run<WithEpilogue<ResidualBiasRelu<>>, 16, 24>,
    Case<NhwcPrologue<prologues::SharedFilter, NHWC, 64, 64, 16, 4>, 16, 12>,
    Case<WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<8, 64, 32, 8, 64, 2>>, 3, 20>,
    Case<WgmmaFirstPolicy<NHWC, BiasRelu<>, WgmmaTile<16, 64, 32, 8, 64>>, 8, 16, 1, 1, 1>,
    Case<WithEpilogue<ResidualBiasRelu<>>, 16, 24, 1, 6, 1>,
    Case<WgmmaNhwcPolicy<NHWC, BiasRelu<>, SmallTile64>, 16, 16>,
    Case<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, PackedRows<SmallTile64>>, 16, 24>,
    Case<Int4Source<Int4Filter<S8Conv4<BiasRelu<>, NCxHWx<4>, Tile32x32>>>, 8, 12>,
    Run<S8Depthwise4<ResidualBiasRelu<>>, 8, 16, 8>,
    Case<Nc4Prologue<prologues::Grouped, NCxHWx<4>>, 8, 16, 2>,
    Case<Nc4Prologue<prologues::PerSample, NCxHWx<4>>, 8, 12>,
    Run<Nc4Prologue<prologues::LocalFilter, NCxHWx<4>>, 8, 12, 1, 4>>;
TYPED_TEST_SUITE(BadInputFuzz, Cases);

TYPED_TEST(BadInputFuzz, Problems) {
  using P = typename TypeParam::Policy;
  FuzzProblems(
      TypeParam::Good(), ProblemFields(), 7,
      [](const Problem& p) { return Convolution<P>::Create(p); },
      [](const auto&, const Problem& p) {
        if (!IsSmall(p)) return false;
        if constexpr (TypeParam::kRuns) {
          ExpectMatchesReference<P>(p, reference::ReluActivation{}, {.seed = 7});
        }
        return true;
      });
}

// Finite numbers are taken, the largest too.
TYPED_TEST(BadInputFuzz, LargestNumbers) {
  if constexpr (TypeParam::kRuns) {
    using P = typename TypeParam::Policy;
    constexpr float kMost = std::numeric_limits<float>::max();
    RunOptions options{.seed = 5, .per_tensor_alpha = true, .alpha = kMost};
    ExpectMatchesReference<P>(TypeParam::Good(), reference::ReluActivation{}, options);
    options.alpha = 0.01f, options.beta = -kMost;
    ExpectMatchesReference<P>(TypeParam::Good(), reference::ReluActivation{}, options);
  }
}

TYPED_TEST(BadInputFuzz, Arguments) {
  FuzzConvolutionArguments<typename TypeParam::Policy, TypeParam::kRuns>(TypeParam::Good(), 11);
}

}  // namespace
}  // namespace weft::conv
