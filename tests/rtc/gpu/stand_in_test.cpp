// What rtc/gpu asks of a driver where it has several contexts, or refuses a cubin, of a driver that stands in for one
// (stand_in_driver.cpp). ctest puts that first where libraries are looked for.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/gpu/kernels.hpp"

namespace weft::rtc {
namespace {

using testing::HasSubstr;

class StandIn : public testing::Test {
 protected:
  void SetUp() override {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library != nullptr) {
      use = reinterpret_cast<void (*)(int)>(dlsym(library, "stand_in_use"));
      destroy = reinterpret_cast<void (*)(int)>(dlsym(library, "stand_in_destroy"));
      faults = reinterpret_cast<const char* (*)()>(dlsym(library, "stand_in_faults"));
    }
    ASSERT_NE(use, nullptr) << "LD_LIBRARY_PATH does not begin with the stand-in's folder";
    use(0);
    faults();
  }

  void (*use)(int context) = nullptr;
  void (*destroy)(int context) = nullptr;
  const char* (*faults)() = nullptr;
};

TEST_F(StandIn, MemoryIsFreedInTheContextThatItIsOf) {
  const std::optional<std::uint64_t> here = CurrentContext();
  {
    auto bytes = DeviceBytes::Allocate(100);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    use(1);
    auto other = DeviceBytes::CopyOf("of another context");
    ASSERT_TRUE(other.ok()) << other.status();
    DeviceBytes moved = *std::move(bytes);
    moved = *std::move(other);  // which swaps them
    use(0);
    // A thread in which no context is current.
    std::thread([kept = std::make_unique<DeviceBytes>(std::move(moved))]() mutable {
      kept.reset();
      EXPECT_FALSE(CurrentContext().has_value());
    }).join();
    use(0);
  }
  EXPECT_STREQ(faults(), "");
  EXPECT_EQ(CurrentContext(), here);
}

TEST_F(StandIn, MemoryOfAContextThatHasGoneIsNotFreed) {
  for (const bool there_is_another : {false, true}) {
    use(2);
    auto bytes = DeviceBytes::Allocate(100);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    destroy(2);
    if (there_is_another) use(2);  // at the same address
    use(0);
    {
      const DeviceBytes freed = *std::move(bytes);
    }
    EXPECT_STREQ(faults(), "");
  }
}

// A cubin of an archive that the driver refuses is made again without the archive.
TEST_F(StandIn, WhatTheDriverRefusesOutOfAnArchiveIsMadeAnew) {
  Archive archive;
  std::vector<std::string> made;
  const auto make = [&](const char* anew) {
    return [&made, anew](int, const arch::DeviceLimits&,
                         Archive* in) -> absl::StatusOr<LoadedKernels::Cubin> {
      const std::string code = in != nullptr ? "refused, of a file" : anew;
      made.push_back(code);
      if (code.empty()) return absl::NotFoundError("there is no NVRTC");
      return LoadedKernels::Cubin{code, "entry", 32, 0};
    };
  };
  LoadedKernels kernels;
  EXPECT_TRUE(kernels.Get(0, &archive, make("compiled here")).ok());
  EXPECT_EQ(made, (std::vector<std::string>{"refused, of a file", "compiled here"}));
  EXPECT_TRUE(kernels.Get(0, &archive, make("")).ok());  // it is loaded
  EXPECT_EQ(made.size(), 2u);

  const absl::Status none = kernels.Get(1, &archive, make("")).status();
  EXPECT_THAT(std::string(none.message()),
              HasSubstr("the stand-in refuses the image (200); and it cannot be compiled anew: "
                        "there is no NVRTC"));
  EXPECT_EQ(none.code(), absl::StatusCode::kInternal);
  const absl::Status refused = kernels.Get(1, &archive, make("refused, too")).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the stand-in refuses the image"));
  // Without an archive it was compiled here, and is not tried twice.
  made.clear();
  EXPECT_FALSE(kernels.Get(1, nullptr, make("refused, too")).ok());
  EXPECT_EQ(made.size(), 1u);
}

}  // namespace
}  // namespace weft::rtc
