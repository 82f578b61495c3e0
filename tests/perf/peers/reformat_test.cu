// Reformats on the GPU do what conversions on the host do.
#include "perf/peers/formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "perf/support/cuda.hpp"
#include "perf/support/random.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr TensorExtents kExtents{3, 96, 30, 41};

template <class From, class To>
void Expect(TensorFormatName from, TensorFormatName to) {
  const std::vector<std::int8_t> nhwc = RandomInt8s(NHWC::Size(kExtents), 5);
  const auto src = *ConvertTensor<NHWC, From, std::int8_t>(kExtents, nhwc);
  const auto want = *ConvertTensor<NHWC, To, std::int8_t>(kExtents, nhwc);
  const auto from_memory =
      DeviceBuffer::FromBytes(src.data(), static_cast<std::int64_t>(src.size()));
  const auto to_memory = DeviceBuffer::Create(static_cast<std::int64_t>(want.size()));
  ASSERT_TRUE(from_memory.ok() && to_memory.ok());
  ASSERT_TRUE(to_memory->Fill(0x77).ok());
  const auto plan = PlanReformat(from, to, kExtents);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const absl::Status status =
      Reformat(*plan, from_memory->as<std::int8_t>(), to_memory->as<std::int8_t>(), nullptr);
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<std::int8_t> got = *to_memory->Read<std::int8_t>();
  EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin(), want.end()))
      << FormatText(from) << " to " << FormatText(to);
}

using enum TensorFormatName;

TEST(Reformat, EveryPairOfFormats) {
  Expect<NHWC, NCxHWx<32>>(kNhwc, kNc32);
  Expect<NCxHWx<32>, NHWC>(kNc32, kNhwc);
  Expect<NCxHWx<4>, NCxHWx<32>>(kNc4, kNc32);
  Expect<NCxHWx<32>, NCxHWx<4>>(kNc32, kNc4);
  Expect<NCxHWx<4>, NHWC>(kNc4, kNhwc);
  Expect<NHWC, NCxHWx<4>>(kNhwc, kNc4);
}

}  // namespace
}  // namespace weft::perf
