// What an operator says and is before it runs: problems that Create refuses, and what its kernels are launched as.
// Nothing here is run, so no kernel is compiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conv/table/policies.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/dispatch.hpp"

namespace weft::conv {
namespace {

using table::Relu;
using Simt = table::Nc4<NCHW, Relu, SmallTile<1>>;
using Sm75 = table::Nc32<NCxHWx<32>, Relu, MmaSm75Tile<32, 32, 64, 16, 32>>;
using Sm80 = table::Nc32<NCxHWx<32>, Relu, MmaSm80Tile<64, 32, 64, 32, 32, 3>>;
using Nhwc4 = table::Nhwc<NHWC, Relu, MmaSm80Tile<64, 32, 64, 32, 32, 3, 4>, 4>;
using Nhwc16 = table::Nhwc<NHWC, Relu, MmaSm80Tile<64, 64, 64, 32, 32, 3>>;

// Steps of a tap that would pass 2^31 pieces.
TEST(Create, RefusesDilationsThatAreTooLarge) {
  Problem p{.n = 1, .h = 3, .w = 70000, .c = 64, .k = 4, .r = 2, .s = 2};
  p.pad_top = p.pad_bottom = p.dilation_h = 20000;
  p.pad_left = p.pad_right = p.dilation_w = 20000;
  for (const absl::Status& s :
       {Convolution<Simt>::Create(p).status(), Convolution<Sm75>::Create(p).status(),
        Convolution<Sm80>::Create(p).status(), Convolution<Nhwc4>::Create(p).status()}) {
    EXPECT_EQ(s.code(), absl::StatusCode::kOutOfRange) << s;
    EXPECT_THAT(std::string(s.message()),
                testing::HasSubstr("conv: units from the first to the last source value under a "
                                   "filter="));
  }
}

TEST(Create, RefusesChannelsThatDoNotFitALoad) {
  EXPECT_EQ(
      Convolution<Nhwc16>::Create(SquareProblem(1, 24, 8, 16, 3, 1, 1)).status().message(),
      "conv: c=24 is not a multiple of 16, the channels of one 16-byte load from NHWC; pad C, "
      "lower config.alignment.src (16, 8 or 4), or use SrcLayout NCxHWx<32> or NCxHWx<4>, "
      "which pad by themselves");
}

TEST(Create, RefusesSourceFunctorsOfWgmmaWhichDispatchPassesOver) {
  using Wgmma = table::Centred<S8Conv32<Relu, NCxHWx<32>, Wgmma64x64>>;
  using Mma = table::Centred<S8Conv32<Relu, NCxHWx<32>, Mma64x32>>;
  const Problem problem = SquareProblem(1, 32, 5, 32, 3, 1, 1);
  EXPECT_EQ(Convolution<Wgmma>::Create(problem).status().message(),
            "conv: the policy has a SourceFunctor, but TMA, which wgmma_sm90 reads through, "
            "loads the source as it is; take a config of mma_sm80 (kMma...) or simt");
  const auto op = Dispatch<Family<Wgmma, Mma>>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), testing::HasSubstr("mma_sm80"));
}

// A policy in an anonymous namespace, as this one, and one with a functor there.
struct Unnamed : Simt {};
struct UnnamedRelu : epilogues::BiasRelu<> {};

TEST(Create, PoliciesWithoutANameAreOfTheCpuAlone) {
  static_assert(!gemm::internal::HasName<Unnamed>());
  static_assert(!gemm::internal::HasName<S8Conv4<UnnamedRelu>>());
  static_assert(gemm::internal::HasName<S8Conv4<>>() && gemm::internal::HasName<Sm80>());
  EXPECT_FALSE(gemm::HasGpuCode<Unnamed>());
  EXPECT_THAT(std::string(gemm::GpuBackEnd{}.Run<Unnamed>("conv", {}, {}).message()),
              testing::HasSubstr("the policy, its tile or a functor stands in an anonymous "
                                 "namespace"));
  // A Dispatch of one plans and compiles as any other.
  EXPECT_TRUE(Dispatch<Family<Unnamed>>::Create(SquareProblem(1, 32, 5, 32, 3, 1, 1)).ok());
}

// Which kernels are launched dependently; that they wait before they read, the executor checks in every run.
template <class P>
constexpr bool kDependent = Kernel<P, 0>::kDependent;
static_assert(kDependent<Sm80>);
static_assert(
    !kDependent<table::Nc32<NCxHWx<32>, table::ResidualOfDst, MmaSm80Tile<64, 32, 64, 32, 32, 3>>>);
static_assert(!kDependent<S8Conv4<>>, "through registers");

}  // namespace
}  // namespace weft::conv
