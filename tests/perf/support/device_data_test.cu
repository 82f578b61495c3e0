// Random tensors, comparisons and ceilings on the GPU.
#include "perf/support/device_data.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "perf/support/cuda.hpp"
#include "perf/support/random.hpp"

namespace weft::perf {
namespace {

TEST(DeviceData, GpuMakesAndComparesWhatTheCpuDoes) {
  constexpr std::int64_t kCount = 63001;
  const std::vector<std::int8_t> want = RandomInt8s(kCount, 9);
  const auto made = DeviceBuffer::Create(kCount);
  const auto copied = DeviceBuffer::From(want);
  ASSERT_TRUE(made.ok() && copied.ok());
  const auto compare = [&] {
    return Compare(made->as<std::int8_t>(), copied->as<std::int8_t>(), kCount, nullptr);
  };
  ASSERT_TRUE(FillPlanar(made->as<std::int8_t>(), kCount, 9, nullptr).ok());
  EXPECT_EQ(*made->Read<std::int8_t>(), want);
  const auto same = compare();
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->count, 0);

  ASSERT_TRUE(FillPlanar(made->as<std::int8_t>(), kCount, 10, nullptr).ok());
  const auto other = compare();
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_GT(other->count, kCount * 9 / 10);
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
