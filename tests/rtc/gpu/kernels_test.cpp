// Weft's own kernels that are compiled when they are needed. No GPU is needed; without NVRTC the tests are skipped.
#include "weft/rtc/gpu/kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(KernelsTest, CompilesAListThatTheHostKnows) {
  const std::vector<KernelRecord> records = KernelsOf<TensorKernels>();
  ASSERT_EQ(records.size(), 2u * network::kTensorKernels);
  EXPECT_EQ(records[0].threads, 256);
  EXPECT_EQ(records[0].shared_bytes, 8192);
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
  EXPECT_EQ(kernels.Compile(2 * network::kTensorKernels, 90).code(), absl::StatusCode::kInternal);
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
