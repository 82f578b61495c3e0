// A tuning table for the GPU at hand.
#include <gtest/gtest.h>

#include "tests/conv/own_relu.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made.hpp"

#include "weft/conv/instantiate.cuh"

namespace weft::conv {

using TunedConv =
    Dispatch<Family<S8ConvNhwc<OwnRelu, NHWC, Mma64x32>, S8ConvNhwc<OwnRelu, NHWC, Mma64x64>>>;

namespace {

TEST(Tuning, TheGpuAtHandFindsItsRecord) {
  const arch::DeviceQuery device = arch::QueryDevice();
  ASSERT_TRUE(device.result.ok()) << device.result.message;
  const Problem problem = SquareProblem(2, 64, 9, 32, 3, 1, 1);
  for (const int index : {0, TunedConv::kPolicies - 1}) {
    TuningTable table;
    ASSERT_EQ(table.Put({arch::DeviceName(), device.limits.sm_count, TunedConv::FamilyName(),
                         problem, PolicyName(TunedConv::Configs()[index]), 1.0}),
              absl::OkStatus());
    const auto op = TunedConv::Create(problem, {.tuning = &table});
    ASSERT_TRUE(op.ok()) << op.status();
    EXPECT_TRUE(op->measured());
    EXPECT_EQ(op->index(), index) << op->why();
  }
}

}  // namespace
}  // namespace weft::conv
