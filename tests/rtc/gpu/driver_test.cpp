// What the driver gives besides launches: memory, a context for other threads, recordings. Without a GPU each says so.
#include "weft/rtc/gpu/driver.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/rtc/gpu/device_memory.hpp"

namespace weft::rtc {
namespace {

TEST(DriverTest, WithoutAGpuThereIsASentence) {
  if (ComputeCapability().ok()) GTEST_SKIP() << "there is a GPU";
  const auto nothing = [](Stream) { return absl::OkStatus(); };
  for (const absl::Status& s : {DeviceBytes::Allocate(1).status(), ThisContext::Get().status(),
                                Recording::Of(nothing).status(), Synchronize(nullptr)}) {
    EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(std::string(s.message()).find("no usable GPU"), std::string::npos) << s;
  }
}

TEST(DriverTest, MemoryHoldsWhatWasCopied) {
  if (const auto device = CurrentDevice(); !device.ok()) GTEST_SKIP() << device.status();
  const std::string text = "what the host had";
  const auto copy = DeviceBytes::CopyOf(text);
  ASSERT_TRUE(copy.ok()) << copy.status();
  std::string back(text.size(), ' ');
  const auto address = reinterpret_cast<TestDriver::Address>(copy->data());
  EXPECT_EQ(TestDriver::Get().to_host(back.data(), address, back.size()), 0);
  EXPECT_EQ(back, text);
  EXPECT_TRUE(DeviceBytes::Allocate(0).ok());
  EXPECT_EQ(DeviceBytes::Allocate(std::int64_t{1} << 60).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(DriverTest, AnotherThreadWorksInTheContext) {
  const auto context = ThisContext::Get();
  if (!context.ok()) GTEST_SKIP() << context.status();
  std::thread([&] {
    EXPECT_FALSE(CurrentContext().has_value());
    EXPECT_EQ(context->Use(), absl::OkStatus());
    EXPECT_TRUE(CurrentContext().has_value());
  }).join();
}

TEST(DriverTest, AnErrorWhileRecordingIsTold) {
  if (const auto device = CurrentDevice(); !device.ok()) GTEST_SKIP() << device.status();
  const auto fails = [](Stream) { return absl::InvalidArgumentError("not today"); };
  EXPECT_EQ(Recording::Of(fails).status().message(), "not today");
}

}  // namespace
}  // namespace weft::rtc
