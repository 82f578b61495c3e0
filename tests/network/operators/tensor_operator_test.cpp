// TensorOperator on the CPU, against plain loops over NCHW.
#include "weft/network/operators/tensor_operator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/network/operators/cases.hpp"
#include "tests/network/operators/plain_operators.hpp"
#include "tests/operator_memory.hpp"

namespace weft::network {
namespace {

using testing::HasSubstr;

// Memory with a tensor some bytes behind a multiple of 64.
class Tensor8 {
 public:
  Tensor8(const std::vector<std::uint8_t>& bytes, std::int64_t offset)
      : offset_(offset), memory_(Shifted(bytes, offset)) {}
  std::uint8_t* get() const { return memory_.get() + offset_; }
  std::vector<std::uint8_t> Read() const {
    const std::vector<std::uint8_t> all = memory_.Read();
    return {all.begin() + offset_, all.end()};
  }

 private:
  static std::vector<std::uint8_t> Shifted(std::vector<std::uint8_t> bytes, std::int64_t offset) {
    bytes.insert(bytes.begin(), static_cast<std::size_t>(offset), 0);
    return bytes;
  }
  std::int64_t offset_;
  OperatorMemory<std::uint8_t> memory_;
};

void ExpectRight(const TensorCase& c) {
  SCOPED_TRACE(c.Name());
  const absl::StatusOr<TensorOperator> op = TensorOperator::Create(c.problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const Tensor8 src(c.src, c.offset), other(c.other, c.offset), dst(c.dst, c.offset);
  const absl::Status s = op->RunOnCpu({.src = src.get(), .other = other.get(), .dst = dst.get()});
  ASSERT_TRUE(s.ok()) << s;
  const std::vector<std::uint8_t> got = dst.Read();
  int wrong = 0;
  for (std::size_t i = 0; i < got.size() && wrong < 3; ++i) {
    if (got[i] != c.want[i]) {
      ++wrong;
      ADD_FAILURE() << "byte " << i << " is " << int{got[i]} << ", not " << int{c.want[i]};
    }
  }
}

class TensorOperatorTest : public testing::TestWithParam<Kind> {};

TEST_P(TensorOperatorTest, MatchesPlainLoops) {
  const std::vector<TensorCase> cases = CasesOf(GetParam());
  EXPECT_GE(cases.size(), 30u);
  for (const TensorCase& c : cases) {
    ExpectRight(c);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TensorOperatorTest,
                         testing::Values(Kind::kQuantize, Kind::kDequantize, Kind::kConvert,
                                         Kind::kAdd, Kind::kMultiply, Kind::kTable, Kind::kMaxPool,
                                         Kind::kAveragePool, Kind::kGlobalAveragePool,
                                         Kind::kResize),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

TensorType Like(const TensorExtents& e, Format format = Format::kNhwc) {
  return {.extents = e, .format = format, .quantization = {.scale = 0.5f, .zero_point = 3}};
}

TEST(TensorOperatorMemory, DstMayBeAnInputThatLiesInTheSameWay) {
  for (const Format format : {Format::kNhwc, Format::kNc32}) {
    TensorCase c;
    TensorProblem& p = c.problem;
    p.kind = Kind::kAdd;
    p.src = Like({2, 32, 5, 9}, format);
    p.other = p.dst = p.src;
    p.dst.quantization.scale = 0.7f;
    std::vector<double> a(2 * 32 * 45), b(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<double>(i % 256), b[i] = static_cast<double>(i * 7 % 256);
    }
    Pack(p.src, a, &c.src);
    Pack(p.other, b, &c.other);
    Pack(p.dst, Expected(p, a, b), &c.want);
    const absl::StatusOr<TensorOperator> op = TensorOperator::Create(p);
    ASSERT_TRUE(op.ok()) << op.status();
    const Tensor8 src(c.src, 0), other(c.other, 0);
    ASSERT_EQ(op->RunOnCpu({.src = src.get(), .other = other.get(), .dst = other.get()}),
              absl::OkStatus());
    EXPECT_EQ(other.Read(), c.want);
  }
}

TEST(TensorOperatorMemory, GlobalAverageOfManyPixelsIsExact) {
  TensorProblem p;
  p.kind = Kind::kGlobalAveragePool;
  p.src = Like({1, 16, 300, 301});
  p.dst = Like({1, 16, 1, 1});
  const std::vector<double> all(16 * 300 * 301, 255.0);
  std::vector<std::uint8_t> src, want;
  Pack(p.src, all, &src);
  Pack(p.dst, Expected(p, all, {}), &want);
  const Tensor8 from(src, 0), to(std::vector<std::uint8_t>(16), 0);
  const absl::StatusOr<TensorOperator> op = TensorOperator::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  ASSERT_EQ(op->RunOnCpu({.src = from.get(), .dst = to.get()}), absl::OkStatus());
  EXPECT_EQ(to.Read(), want);
}

// onnxruntime rounds it as a global average: for these scales the other formula has other results.
TEST(TensorOperatorMemory, AnAverageOfTheWholeImageIsAGlobalAverage) {
  TensorProblem p;
  p.kind = Kind::kAveragePool;
  p.src = Like({1, 512, 1, 2});
  p.src.quantization = {.scale = 0.27029607f, .zero_point = 132};
  p.dst = Like({1, 512, 1, 1});
  p.dst.quantization = {.scale = 1.0811843f, .zero_point = 105};
  p.window = {.h = 1, .w = 2, .stride_w = 2};
  std::vector<double> x(1024);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>((i / 4 + i % 2 * 100) % 256);
  TensorProblem global = p;
  global.kind = Kind::kGlobalAveragePool;
  std::vector<std::uint8_t> src, want;
  Pack(p.src, x, &src);
  Pack(p.dst, Expected(global, x, {}), &want);
  const Tensor8 from(src, 0), to(std::vector<std::uint8_t>(512), 0);
  const absl::StatusOr<TensorOperator> op = TensorOperator::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  ASSERT_EQ(op->RunOnCpu({.src = from.get(), .dst = to.get()}), absl::OkStatus());
  EXPECT_EQ(to.Read(), want);
}

TEST(TensorOperatorMemory, TensorsWithoutElementsTakeAnyAddress) {
  for (const TensorExtents e :
       {TensorExtents{0, 8, 4, 4}, {1, 0, 4, 4}, {1, 8, 0, 4}, {1, 8, 4, 0}}) {
    TensorProblem p;
    p.src = p.dst = Like(e);
    p.dst.format = Format::kNc32;
    const absl::StatusOr<TensorOperator> op = TensorOperator::Create(p);
    ASSERT_TRUE(op.ok()) << op.status();
    EXPECT_EQ(op->RunOnCpu({}), absl::OkStatus());
  }
}

std::string Refused(const TensorProblem& p) {
  const absl::Status s = TensorOperator::Create(p).status();
  EXPECT_FALSE(s.ok());
  return std::string(s.message());
}

TEST(TensorOperatorCheck, SaysFieldValueAndWhatIsAccepted) {
  TensorProblem add;
  add.kind = Kind::kAdd;
  add.src = add.other = add.dst = Like({1, 8, 4, 4});
  TensorProblem p = add;
  p.other.extents.c = 9;
  EXPECT_THAT(Refused(p), HasSubstr("network: add: other is of 1x9x4x4; give 1x8x4x4 as src"));
  p = add;
  p.dst.element = Element::kFloat;
  EXPECT_THAT(Refused(p), HasSubstr("dst.element=float; give int8 or uint8"));
  p = add;
  p.dst.quantization.scale = 0.0f;
  EXPECT_THAT(Refused(p), HasSubstr("dst.quantization.scale=0; give a finite number above 0"));
  p = add;
  p.src.quantization.zero_point = 256;
  EXPECT_THAT(Refused(p), HasSubstr("src.quantization.zero_point=256 is no uint8; give 0 to 255"));
  p = add;
  p.src.quantization.scale = 1e38f, p.dst.quantization.scale = 1e-3f;
  EXPECT_THAT(Refused(p), HasSubstr("so far apart that floats do not reach"));
  p = add;
  p.src.extents.h = -1;
  EXPECT_THAT(Refused(p), HasSubstr("src is of 1x8x-1x4; give extents of 0 or more"));
  p = add;
  p.first_channel = 4;
  EXPECT_THAT(Refused(p), HasSubstr("add: first_channel=4 is not a multiple of 16; give one"));
  p.kind = Kind::kDequantize, p.dst.element = Element::kFloat, p.first_channel = 16;
  EXPECT_THAT(Refused(p), HasSubstr("dequantize: first_channel=16; give 0"));
  p = add;
  p.kind = Kind::kTable;
  EXPECT_THAT(Refused(p), HasSubstr("table has 0 bytes; give 256"));
  p.kind = Kind::kConcat;
  EXPECT_THAT(Refused(p), HasSubstr("kind=concat is no TensorOperator"));
  p.kind = Kind::kConvert;
  p.first_channel = 1;
  EXPECT_THAT(Refused(p), HasSubstr("first_channel=1 and src.c=8 leave the channels of dst.c=8"));
  p = add;
  p.kind = Kind::kResize;
  p.factor_w = 0;
  EXPECT_THAT(Refused(p), HasSubstr("factor_w=0; give 1 or more"));
  p.factor_w = 2;
  EXPECT_THAT(Refused(p), HasSubstr("dst is of 1x8x4x4; give 1x8x4x8"));
  for (TensorType* t : {&add.src, &add.other, &add.dst}) t->extents = {1 << 20, 64, 64, 64};
  EXPECT_THAT(Refused(add), HasSubstr("split the batch"));
}

TEST(TensorOperatorCheck, SaysWhatIsWrongWithAWindow) {
  TensorProblem pool;
  pool.kind = Kind::kMaxPool;
  pool.src = Like({1, 8, 10, 10});
  pool.dst = Like({1, 8, 5, 5});
  pool.window = {.h = 2, .w = 2, .stride_h = 2, .stride_w = 2};
  EXPECT_TRUE(TensorOperator::Create(pool).ok());
  TensorProblem p = pool;
  p.dst.extents.h = 6;
  EXPECT_THAT(Refused(p), HasSubstr("dst.h=6; give 5, which src.h=10 and the window make"));
  p = pool;
  p.window.w = 3, p.dst.extents.w = 3;
  EXPECT_THAT(Refused(p), HasSubstr("dst.w=3; give 4 or 5"));
  p = pool;
  p.window.stride_w = 0;
  EXPECT_THAT(Refused(p), HasSubstr("window.stride_w=0; give 1 to"));
  p = pool;
  p.window.pad_top = 2, p.dst.extents.h = 6;
  EXPECT_THAT(Refused(p), HasSubstr("the window of dst.h's 0 has no pixel of src"));
  p = pool;
  p.window.pad_bottom = 3, p.dst.extents.h = 6;
  EXPECT_THAT(Refused(p), HasSubstr("the window of dst.h's 5 has no pixel of src"));
  p = pool;
  p.dst.quantization.zero_point = 4;
  EXPECT_THAT(Refused(p), HasSubstr("give the same, and a convert behind it"));
  p.kind = Kind::kGlobalAveragePool;
  p.src.extents.h = 0, p.dst.extents.h = p.dst.extents.w = 1;
  EXPECT_THAT(Refused(p), HasSubstr("src is of 1x8x0x10; give 1 to 8421504 pixels"));
}

TEST(TensorOperatorCheck, SaysWhatIsWrongWithAddresses) {
  TensorProblem p;
  p.kind = Kind::kQuantize;
  p.src = Like({1, 8, 4, 4});
  p.src.element = Element::kFloat;
  p.dst = Like({1, 8, 4, 4});
  const absl::StatusOr<TensorOperator> op = TensorOperator::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) static char memory[1024];
  const auto message = [&](const TensorOperator::Arguments& args) {
    return std::string(op->RunOnCpu(args).message());
  };
  EXPECT_THAT(message({.dst = memory}), HasSubstr("quantize: args.src is null"));
  EXPECT_THAT(message({.src = memory}), HasSubstr("args.dst is null"));
  EXPECT_THAT(message({.src = memory + 2, .dst = memory + 600}),
              HasSubstr("is not 4-byte aligned; allocate it with that alignment"));
  EXPECT_THAT(message({.src = memory, .dst = memory}),
              HasSubstr("network: quantize: args.dst overlaps args.src; blocks would read"));
  EXPECT_EQ(op->Describe(), "quantize of float nhwc 1x8x4x4 to uint8 nhwc 1x8x4x4");
}

// What is read may lie beside the channels that are written, and not among them.
TEST(TensorOperatorCheck, ASliceIsReadBesideAnother) {
  TensorProblem p;
  p.src = Like({1, 32, 4, 4}), p.dst = Like({1, 96, 4, 4});
  p.src.format = p.dst.format = Format::kNc32;
  p.first_channel = 32;
  const absl::StatusOr<TensorOperator> op = TensorOperator::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  constexpr std::int64_t kSlice = 32 * 16;
  alignas(32) static char memory[3 * kSlice];
  for (const std::int64_t read : {0, 1, 2}) {
    memory[read * kSlice] = static_cast<char>(100 + read);
    const absl::Status s = op->RunOnCpu({.src = memory + read * kSlice, .dst = memory});
    EXPECT_EQ(s.ok(), read != 1) << s;
    if (s.ok()) {
      EXPECT_EQ(memory[kSlice], 100 + read);
    }
  }
}

}  // namespace
}  // namespace weft::network
