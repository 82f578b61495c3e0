// Random tensors, comparisons and ceilings on the GPU.
#include "perf/support/device_data.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "perf/support/cuda.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr TensorExtents kExtents{3, 6, 50, 70};

TEST(DeviceData, GpuMakesWhatTheCpuMakes) {
  const std::vector<std::int8_t> want = RandomInt8s(NCHW::Size(kExtents), 9);
  const auto planar = DeviceBuffer::Create(NCHW::Size(kExtents));
  const auto blocked = DeviceBuffer::Create(NCxHWx<4>::Size(kExtents));
  ASSERT_TRUE(planar.ok() && blocked.ok());
  ASSERT_TRUE(FillPlanar(planar->as<std::int8_t>(), planar->bytes(), 9, nullptr).ok());
  ASSERT_TRUE(FillBlocked(blocked->as<std::int8_t>(), kExtents, 9, nullptr).ok());
  EXPECT_EQ(*planar->Read<std::int8_t>(), want);
  EXPECT_EQ(*blocked->Read<std::int8_t>(),
            (*ConvertTensor<NCHW, NCxHWx<4>, std::int8_t>(kExtents, want)));
  const auto same =
      CompareWithPlanar(blocked->as<std::int8_t>(), planar->as<std::int8_t>(), kExtents, nullptr);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->count, 0);

  ASSERT_TRUE(FillPlanar(planar->as<std::int8_t>(), planar->bytes(), 10, nullptr).ok());
  const auto other =
      CompareWithPlanar(blocked->as<std::int8_t>(), planar->as<std::int8_t>(), kExtents, nullptr);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_GT(other->count, static_cast<std::int32_t>(want.size() * 9 / 10));
}

TEST(DeviceData, CeilingsArePlausible) {
  const auto ceilings = MeasureCeilings(nullptr);
  ASSERT_TRUE(ceilings.ok()) << ceilings.status();
  EXPECT_GT(ceilings->bytes_per_us, 1e5);
  EXPECT_GT(ceilings->macs_per_us, 1e6);
}

TEST(Cuda, GraphRepeatsWhatWasCaptured) {
  CudaStream stream;
  ASSERT_TRUE(stream.Init().ok());
  const auto buffer = DeviceBuffer::Create(1000);
  ASSERT_TRUE(buffer.ok());
  const auto graph = CudaGraph::Capture(
      stream.get(), [&] { return FillPlanar(buffer->as<std::int8_t>(), 1000, 5, stream.get()); });
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(buffer->Fill(0).ok());
  ASSERT_TRUE(graph->Launch(stream.get()).ok());
  ASSERT_TRUE(stream.Synchronize().ok());
  EXPECT_EQ(*buffer->Read<std::int8_t>(), RandomInt8s(1000, 5));
}

TEST(Cuda, TooMuchMemoryIsAStatus) {
  EXPECT_EQ(DeviceBuffer::Create(std::int64_t{1} << 50).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace weft::perf
