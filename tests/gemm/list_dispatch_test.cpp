// Dispatch of lists: the choice, what is said of it, errors.
#include "weft/gemm/list_dispatch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/gemm/table/check.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {
namespace {

using testing::HasSubstr;

using ListMma = TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, Chain<ToSums<std::int32_t>>,
                          MmaProductTile<16, 4>>;
// Tiles of three sizes, and one that clusters share.
template <int m, int n, int k, int warp_m, int split = 1>
using ListTile =
    TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, Chain<ToSums<std::int32_t>>,
              WgmmaTile<m, n, k, warp_m, 64, 4, 1, split>>;
using ListTiles = Family<ListMma, ListTile<64, 64, 128, 64>, ListTile<128, 128, 128, 128>,
                         ListTile<64, 64, 128, 64, 2>>;
using ListOp = Dispatch<ListedFamily<ListTiles>>;
static_assert(ListOp::kPolicies == 3, "clusters that share a tile are left out");

#if !WEFT_ONE_OF_EACH_KIND
TEST(ListDispatch, IsExact) {
  std::uint32_t seed = 1;
  for (const std::vector<table::Problem>& list :
       table::ListsFor(GemmFactsOf<Listed<ListMma>>(), Rows::kEachOnce)) {
    std::vector<GemmProblem> problems;
    for (const table::Problem& p : list) problems.push_back(p.product);
    table::ExpectListOf<ListMma>(ListOp::Create(problems, CpuFacts{2}), list, seed++);
    table::ExpectListOf<ListMma>(ListOp::Create(problems, GpuFacts()), list, seed++);
  }
}
#endif

TEST(ListDispatch, ChoosesForTheWholeList) {
  const GemmProblem small = {.m = 16, .n = 64, .k = 512}, large = {.m = 4096, .n = 4096, .k = 512};
  const auto few = ListOp::Create({small, small}, GpuFacts());
  ASSERT_TRUE(few.ok()) << few.status();
  const auto many = ListOp::Create({small, large}, GpuFacts());
  ASSERT_TRUE(many.ok()) << many.status();
  EXPECT_EQ(many->config().threadblock.m, 128) << many->Describe();
  EXPECT_LT(few->config().threadblock.m, 128) << few->Describe();
  EXPECT_EQ(many->tiles(), 32 * 32 + 1);
  EXPECT_EQ(many->candidates().size(), 3u);
  EXPECT_THAT(many->Describe(), HasSubstr("list of 2 products, 1025 tiles; the first: wgmma_sm90"));
  EXPECT_THAT(many->Describe(), HasSubstr("; chosen of 3 tiles for a GPU of 132 multiprocessors"));
  const auto turing = ListOp::Create({small}, arch::DeviceLimits{.compute_capability = 75,
                                                                 .sm_count = 40,
                                                                 .shared_memory_per_block = 65536,
                                                                 .shared_memory_per_sm = 65536,
                                                                 .registers_per_sm = 65536,
                                                                 .max_threads_per_sm = 1024});
  EXPECT_THAT(std::string(turing.status().message()), HasSubstr("gemm: "));
}

TEST(ListDispatch, BadInputIsTheOperators) {
  EXPECT_EQ(ListOp::Create({}, CpuFacts{1}).status(), Gemm<Listed<ListMma>>::Create({}).status());
  const GemmProblem batch = {.m = 4, .n = 4, .k = 16, .batch = 2};
  EXPECT_EQ(ListOp::Create({batch}, CpuFacts{1}).status(),
            Gemm<Listed<ListMma>>::Create({batch}).status());
  const GemmProblem none = {.m = 0, .n = 16, .k = 16};
  const auto op = ListOp::Create({none}, GpuFacts());
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), testing::EndsWith("; no product has rows"));
#if !WEFT_ONE_OF_EACH_KIND
  EXPECT_TRUE(op->RunOnCpu(std::vector<ListOp::Arguments>(1)).ok());
#endif
  EXPECT_THAT(std::string(op->Run(nullptr, nullptr).message()), HasSubstr("table"));
  EXPECT_EQ(op->CheckArguments({}).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::gemm
