// Weft's own kernels that are compiled when they are needed. No GPU is needed; without NVRTC the tests are skipped.
#include "weft/rtc/gpu/kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

#include "weft/network/operators/tensor_kernels.hpp"

namespace weft::rtc {
namespace {

using testing::HasSubstr;

using network::TensorKernels;

Kernels OfTensors(std::vector<KernelRecord> records) {
  return Kernels({.include = "weft/network/operators/tensor_kernels.hpp",
                  .list = "weft::network::TensorKernels",
                  .records = std::move(records),
                  .cache = std::nullopt});
}

// Contexts are numbers here. What could not be made is not kept, and may be made later.
TEST(PerContext, MakesAValueOnceForEachContextAndKey) {
  PerContext<int, std::string> values;
  int made = 0;
  const auto get = [&](std::uint64_t context, int key) {
    const auto value = values.GetIn(context, key, [&]() -> absl::StatusOr<std::string> {
      ++made;
      if (key < 0 && made < 10) return absl::NotFoundError("not yet");
      return absl::StrCat("context ", context, " key ", key);
    });
    return value.ok() ? **value : std::string(value.status().message());
  };
  EXPECT_EQ(get(1, 7), "context 1 key 7");
  EXPECT_EQ(get(1, 7), "context 1 key 7");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(get(2, 7), "context 2 key 7");
  EXPECT_EQ(get(1, 8), "context 1 key 8");
  EXPECT_EQ(made, 3);
  EXPECT_EQ(get(1, -1), "not yet");
  EXPECT_EQ(get(1, -1), "not yet");
  made = 10;
  EXPECT_EQ(get(1, -1), "context 1 key -1");
  EXPECT_EQ(get(1, 7), "context 1 key 7");
  EXPECT_EQ(made, 11);
}

TEST(PerContext, ThreadsGetTheSameValue) {
  PerContext<int, int> values;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  std::array<const int*, 8> seen{};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&values, &made, &seen, i] {
      const auto value =
          values.GetIn(5, static_cast<int>(i % 2), [&]() -> absl::StatusOr<int> { return ++made; });
      seen[i] = value.ok() ? *value : nullptr;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 2);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_NE(seen[i], nullptr);
    EXPECT_EQ(seen[i], seen[i % 2]);
  }
  EXPECT_NE(seen[0], seen[1]);
}

TEST(KernelsTest, CompilesAListThatTheHostKnows) {
  const std::vector<KernelRecord> records = KernelsOf<TensorKernels>();
  ASSERT_EQ(records.size(), static_cast<std::size_t>(network::kTensorKernels));
  EXPECT_EQ(records[0].threads, 512);
  EXPECT_EQ(records[0].shared_bytes, 65536);
  EXPECT_TRUE(records[0].dependent);
  const absl::Status s = OfTensors(records).Compile(2, 90);
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s, absl::OkStatus());
}

TEST(KernelsTest, NoticesThatTheCompilersDisagree) {
  std::vector<KernelRecord> records = KernelsOf<TensorKernels>();
  records[0].params_bytes += 8;
  const absl::Status s = OfTensors(records).Compile(0, 90);
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(s.message()), HasSubstr("does not compile; please report it"));
}

TEST(KernelsTest, SaysWhatThereIsNot) {
  const Kernels kernels = OfTensors(KernelsOf<TensorKernels>());
  EXPECT_EQ(kernels.Compile(network::kTensorKernels, 90).code(), absl::StatusCode::kInternal);
  if (!ComputeCapability().ok()) {
    const absl::Status s = kernels.Run({.kernel = 0, .params = nullptr, .grid = {}}, nullptr);
    EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(s.message()), HasSubstr("no usable GPU"));
  }
  const absl::Status old = kernels.Compile(0, 12345);
  if (absl::IsNotFound(old)) GTEST_SKIP() << old;
  EXPECT_EQ(old.code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace weft::rtc
