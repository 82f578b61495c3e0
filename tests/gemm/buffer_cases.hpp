// weft::Buffer and RunOn, on the back end that the file is compiled for.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tests/gemm/policies.hpp"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/buffer.hpp"
#include "weft/layouts/packed_filter.hpp"

namespace weft {

using BufferProduct =
    gemm::TypedGemm<std::int8_t, layouts::RowMajor, layouts::ColumnMajor, layouts::RowMajor,
                    gemm::Chain<gemm::ToSums<std::int32_t>>, gemm::Dp4aTile<4, 4>>;

namespace {

#if defined(WEFT_CUDA_BACKEND)
constexpr Backend kHere = Backend::kCuda;
#else
constexpr Backend kHere = Backend::kCpu;
#endif

template <class T>
std::vector<T> Contents(const Buffer<T>& buffer) {
  const absl::StatusOr<std::vector<T>> values = buffer.Read();
  EXPECT_TRUE(values.ok()) << values.status();
  return values.ok() ? *values : std::vector<T>();
}

TEST(Buffer, KeepsWhatIsCopiedToIt) {
  const std::vector<std::int32_t> values = {1, -2, 3};
  absl::StatusOr<Buffer<std::int32_t>> buffer = Buffer<std::int32_t>::CopyOf(values, kHere);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(buffer->size(), 3);
  EXPECT_EQ(buffer->bytes(), 12);
  EXPECT_EQ(buffer->backend(), kHere);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 256, 0u);
  EXPECT_EQ(Contents(*buffer), values);
  ASSERT_TRUE(buffer->CopyFrom({7, 8, 9}).ok());
  std::vector<std::int32_t> read(3);
  ASSERT_TRUE(buffer->CopyTo(absl::MakeSpan(read)).ok());
  EXPECT_THAT(read, testing::ElementsAre(7, 8, 9));
}

TEST(Buffer, BeginsWithZerosAndMayBeEmpty) {
  const auto zeros = Buffer<float>::Zeros(1000, kHere);
  ASSERT_TRUE(zeros.ok()) << zeros.status();
  EXPECT_EQ(Contents(*zeros), std::vector<float>(1000));
  const auto empty = Buffer<float>::CopyOf(std::vector<float>(), kHere);
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(empty->data(), nullptr);
  EXPECT_EQ(Contents(*empty), std::vector<float>());
}

TEST(Buffer, Moves) {
  Buffer<std::int8_t> buffer;
  EXPECT_EQ(buffer.size(), 0);
  for (const std::int8_t first : {5, 7}) {
    auto other = Buffer<std::int8_t>::CopyOf(std::vector<std::int8_t>{first, 6}, kHere);
    ASSERT_TRUE(other.ok()) << other.status();
    buffer = *std::move(other);
    EXPECT_EQ(other->size(), 0);  // empty, whatever `buffer` held
    EXPECT_EQ(other->data(), nullptr);
  }
  const Buffer<std::int8_t> moved = std::move(buffer);
  EXPECT_THAT(Contents(moved), testing::ElementsAre(7, 6));
}

TEST(Buffer, CopiesTheBytesOfAPackedFilter) {
  const std::vector<std::int8_t> weights = {1, -2, 3, -4};
  const auto packed = PackFilter<PackedInt4<CxRSKx<32>>>({.k = 2, .c = 2, .r = 1, .s = 1}, weights);
  ASSERT_TRUE(packed.ok()) << packed.status();
  const auto filter = Buffer<std::uint8_t>::CopyOf(*packed, kHere);  // two values to a byte
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(filter->size(), packed->bytes());
  EXPECT_EQ(Contents(*filter),
            std::vector<std::uint8_t>(packed->data(), packed->data() + packed->bytes()));
}

TEST(Buffer, RefusesWithASentence) {
  auto buffer = Buffer<std::int32_t>::Zeros(2, kHere);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(buffer->CopyFrom({1}).message(),
            "Buffer: a copy of 4 bytes, but the buffer has 8; give as many elements as its size()");
  EXPECT_EQ(Buffer<float>::Zeros(-1, kHere).status().message(),
            "Buffer: size=-1 is negative; accepted are 0 and more elements");
  // A sanitizer ends the program where the host has no memory.
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t too_many = kHere == Backend::kCuda ? std::int64_t{1} << 50 : most;
  for (const std::int64_t size : {too_many, most}) {
    EXPECT_EQ(Buffer<float>::Zeros(size, kHere).status().code(),
              absl::StatusCode::kResourceExhausted);
  }
  if (arch::QueryDevice().result.ok()) {
    EXPECT_EQ(UsableBackend(), Backend::kCuda);
  } else {
    EXPECT_EQ(UsableBackend(), Backend::kCpu);
    const absl::Status status = Buffer<float>::Zeros(1, Backend::kCuda).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), testing::StartsWith("Buffer: no usable GPU: "));
  }
}

// The same lines for both back ends.
TEST(Buffer, HoldsTheTensorsOfARun) {
  const auto op = gemm::Gemm<BufferProduct>::Create({.m = 5, .n = 8, .k = 12});
  ASSERT_TRUE(op.ok()) << op.status();
  const auto a = Buffer<std::int8_t>::CopyOf(std::vector<std::int8_t>(5 * 12, 2), kHere);
  const auto b = Buffer<std::int8_t>::CopyOf(std::vector<std::int8_t>(12 * 8, 3), kHere);
  const auto c = Buffer<std::int32_t>::Zeros(5 * 8, kHere);
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  const absl::Status status = RunOn(kHere, *op, {.a = a->data(), .b = b->data(), .c = c->data()});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Contents(*c), std::vector<std::int32_t>(5 * 8, 72));
}

}  // namespace
}  // namespace weft
