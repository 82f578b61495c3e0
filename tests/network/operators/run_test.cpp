// TensorOperator on a GPU, against plain loops over NCHW. It needs a GPU and NVRTC; where either is missing it is skipped.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/network/operators/cases.hpp"
#include "tests/rtc/gpu/device_memory.hpp"
#include "weft/network/operators/tensor_operator.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::network {
namespace {

using rtc::DeviceCopy;

// Bytes behind a multiple of 64, and some more behind them that no run may change.
std::vector<std::uint8_t> Shifted(const std::vector<std::uint8_t>& bytes, std::int64_t offset) {
  std::vector<std::uint8_t> all(static_cast<std::size_t>(offset), 0x3c);
  all.insert(all.end(), bytes.begin(), bytes.end());
  all.resize(all.size() + 64, 0x3c);
  return all;
}

class TensorRunTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    const auto device = rtc::CurrentDevice();
    if (!device.ok()) GTEST_SKIP() << device.status();
  }
};

TEST_P(TensorRunTest, MatchesPlainLoops) {
  for (const TensorCase& c : CasesOf(GetParam())) {
    SCOPED_TRACE(c.Name());
    const absl::StatusOr<TensorOperator> op = TensorOperator::Create(c.problem);
    ASSERT_TRUE(op.ok()) << op.status();
    const std::vector<std::uint8_t> src = Shifted(c.src, c.offset),
                                    other = Shifted(c.other, c.offset),
                                    dst = Shifted(c.dst, c.offset),
                                    want = Shifted(c.want, c.offset);
    const DeviceCopy x(src.data(), src.size()), y(other.data(), other.size()),
        z(dst.data(), dst.size());
    const auto address = [&](const DeviceCopy& memory) {
      return static_cast<char*>(memory.get()) + c.offset;
    };
    const absl::Status s =
        op->Run({.src = address(x), .other = address(y), .dst = address(z)}, nullptr);
    if (absl::IsNotFound(s)) GTEST_SKIP() << s;
    ASSERT_TRUE(s.ok()) << s;
    ASSERT_EQ(rtc::TestDriver::Get().synchronize(), 0);
    std::vector<std::uint8_t> got(dst.size());
    z.CopyTo(got.data());
    int wrong = 0;
    for (std::size_t i = 0; i < got.size() && wrong < 3; ++i) {
      if (got[i] == want[i]) continue;
      ++wrong;
      ADD_FAILURE() << "byte " << static_cast<std::int64_t>(i) - c.offset << " is " << int{got[i]}
                    << ", not " << int{want[i]};
    }
    if (wrong > 0) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TensorRunTest,
                         testing::Values(Kind::kQuantize, Kind::kDequantize, Kind::kConvert,
                                         Kind::kAdd, Kind::kMultiply, Kind::kTable, Kind::kMaxPool,
                                         Kind::kAveragePool, Kind::kGlobalAveragePool,
                                         Kind::kResize),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

// A run starts before the run behind it has ended, and reads what that one writes.
TEST_F(TensorRunTest, RunsInARowWaitForEachOther) {
  TensorProblem p;
  p.kind = Kind::kAdd;
  p.src = {.extents = {1, 64, 56, 56}, .quantization = {.scale = 1.0f, .zero_point = 0}};
  p.other = p.dst = p.src;
  const absl::StatusOr<TensorOperator> op = TensorOperator::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  const std::vector<std::uint8_t> zeros(64 * 56 * 56, 0), ones(zeros.size(), 1);
  const DeviceCopy one(ones.data(), ones.size());
  const DeviceCopy a(zeros.data(), zeros.size()), b(zeros.data(), zeros.size());
  for (int i = 0; i < 100; ++i) {
    const DeviceCopy &from = i % 2 == 0 ? a : b, &to = i % 2 == 0 ? b : a;
    const absl::Status s =
        op->Run({.src = from.get(), .other = one.get(), .dst = to.get()}, nullptr);
    if (absl::IsNotFound(s)) GTEST_SKIP() << s;
    ASSERT_TRUE(s.ok()) << s;
  }
  ASSERT_EQ(rtc::TestDriver::Get().synchronize(), 0);
  std::vector<std::uint8_t> got(zeros.size());
  a.CopyTo(got.data());
  EXPECT_EQ(got, std::vector<std::uint8_t>(zeros.size(), 100));
}

}  // namespace
}  // namespace weft::network
