// The same tests on the GPU, and a tuning table for the GPU at hand.
#include "tests/conv/nhwc_cases.hpp"

#include "weft/conv/instantiate.cuh"

namespace weft::conv {
namespace {

TEST(Tuning, TheGpuAtHandFindsItsRecord) {
  const arch::DeviceQuery device = arch::QueryDevice();
  ASSERT_TRUE(device.result.ok()) << device.result.message;
  const Problem problem = Channels(64, 32);  // which every policy takes
  for (const int index : {0, Nhwc::kPolicies - 1}) {
    TuningTable table;
    ASSERT_EQ(table.Put({arch::DeviceName(), device.limits.sm_count, Nhwc::FamilyName(), problem,
                         PolicyName(Nhwc::Configs()[index]), 1.0}),
              absl::OkStatus());
    const auto op = Nhwc::Create(problem, {.tuning = &table});
    ASSERT_TRUE(op.ok()) << op.status();
    EXPECT_TRUE(op->measured());
    EXPECT_EQ(op->index(), index) << op->why();
  }
}

}  // namespace
}  // namespace weft::conv
