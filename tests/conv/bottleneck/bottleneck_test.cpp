// On the CPU, under the executor's schedules too, and what is refused.
#include "tests/conv/bottleneck/bottleneck_cases.hpp"

#include <limits>
#include <string>

#include "absl/strings/match.h"

namespace weft::conv {
namespace {

// field: with its value. accepted: what would be.
void ExpectRefused(const absl::Status& status, absl::StatusCode code, const std::string& field,
                   const std::string& accepted) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), field)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), accepted)) << status;
}

template <class P>
void ExpectNone(const BottleneckProblem& problem, const std::string& field,
                const std::string& accepted,
                absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  ExpectRefused(Bottleneck<P>::Create(problem).status(), code, field, accepted);
}

TEST(RefusedBottleneck, Problem) {
  ExpectNone<U8Block>({.n = 1, .h = 4, .w = 6}, "w=6 ", "multiple of 4");
  ExpectNone<U8Block>({.n = 1, .h = 4, .w = 132}, "w=132 ", "more than 128");
  ExpectNone<U8Projected>({.n = 1, .h = 4, .w = 8, .c = 48}, "c=48 ", "multiple of 32");
  ExpectNone<U8Projected>({.n = 1, .h = 4, .w = 8, .c = 64, .k = 96}, "k=96 ", "multiple of 64");
  ExpectNone<U8Block>({.n = 1, .h = 4, .w = 8, .c = 64, .k = 128}, "k=128 ",
                      "give the policy a Projection");
  ExpectNone<U8Block>({.n = 1, .h = 4, .w = 8, .c = 640, .k = 640}, "k=640 ", "more than 512");
  ExpectNone<U8Block>({.n = 1, .h = 4, .w = 8, .c = 512, .k = 512},
                      "the filters of c=512 and k=512", "give config fewer rows",
                      absl::StatusCode::kResourceExhausted);
  ExpectNone<U8Projected>({.n = 1, .h = 4, .w = 8, .c = 0}, "c=0", "give 1 or more");
  ExpectNone<U8Projected>({.n = 1, .h = 4, .w = 8, .c = 64, .k = 0}, "k=0", "multiple of 64");
  ExpectNone<U8Projected>({.n = -1, .h = 4, .w = 8}, "n=-1", "give 0 or more");
  ExpectNone<U8Projected>({.n = 1 << 20, .h = 128, .w = 128}, "n*p*q=", "split the batch",
                          absl::StatusCode::kOutOfRange);
}

TEST(RefusedBottleneck, NothingToDo) {
  for (const BottleneckProblem& p :
       {BottleneckProblem{.n = 0, .h = 4, .w = 8}, BottleneckProblem{.n = 1, .h = 0, .w = 8}}) {
    const auto op = Bottleneck<U8Block>::Create(p);
    ASSERT_TRUE(op.ok()) << op.status();
    EXPECT_TRUE(op->RunOnCpu({}).ok());
    EXPECT_TRUE(absl::StrContains(op->Describe(), "nothing to do")) << op->Describe();
  }
}

template <class P>
class Spoilt {
 public:
  using Args = typename Bottleneck<P>::Arguments;

  Spoilt() : op_(*Bottleneck<P>::Create(kProblem)), data_(kProblem, {}) {}

  // spoil(args): makes one of the arguments wrong.
  template <class Function>
  void Expect(const std::string& field, const std::string& accepted, const Function& spoil) const {
    Args args = data_.Args();
    ASSERT_TRUE(op_.CheckArguments(args).ok()) << op_.CheckArguments(args);
    spoil(args);
    ExpectRefused(op_.RunOnCpu(args), absl::StatusCode::kInvalidArgument, field, accepted);
    EXPECT_EQ(data_.dst.Read()[0], (typename P::Epilogue::Output{77})) << "it has run";
  }
  const BottleneckData<P>& data() const { return data_; }

 private:
  static constexpr BottleneckProblem kProblem = {.n = 1, .h = 4, .w = 8};
  Bottleneck<P> op_;
  BottleneckData<P> data_;
};

TEST(RefusedBottleneck, Tensors) {
  const Spoilt<U8Block> block;
  block.Expect("args.src ", "give the tensor", [](auto& args) { args.src = nullptr; });
  block.Expect("args.src=", "32-byte aligned",
               [&](auto& args) { args.src = block.data().src.get() + 16; });
  block.Expect("args.dst ", "give the tensor", [](auto& args) { args.dst = nullptr; });
  block.Expect("args.dst=", "16-byte aligned",
               [&](auto& args) { args.dst = block.data().dst.get() + 8; });
  block.Expect("args.dst overlaps args.src", "memory of its own",
               [&](auto& args) { args.dst = const_cast<std::uint8_t*>(block.data().src.get()); });
  block.Expect("args.first.filter", "PackFilter", [](auto& args) { args.first.filter = {}; });
  block.Expect("args.second.filter", "r=3 s=3",
               [](auto& args) { args.second.filter = args.first.filter; });
  block.Expect("args.filter", "PackFilter", [](auto& args) { args.filter = {}; });
  const Spoilt<U8Projected> projected;
  projected.Expect("args.projection.filter", "PackFilter",
                   [](auto& args) { args.projection.filter = {}; });
}

TEST(RefusedBottleneck, Numbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Spoilt<U8Block> block;
  block.Expect("args.padding=-1 ", "0 to 255", [](auto& args) { args.padding = -1; });
  block.Expect("args.padding=256 ", "0 to 255", [](auto& args) { args.padding = 256; });
  block.Expect("args.zero_point=3 ", "`fixed`", [](auto& args) { args.zero_point = 3.0f; });
  block.Expect("first: args.alpha", "finite number",
               [=](auto& args) { args.first.alpha = infinity; });
  block.Expect("second: args.zero_point=256 ", "0 to 255",
               [](auto& args) { args.second.zero_point = 256.0f; });
  block.Expect("args.gamma", "finite number", [=](auto& args) { args.gamma = -infinity; });
  const Spoilt<S8Projected> projected;
  projected.Expect("args.padding=128 ", "-128 to 127", [](auto& args) { args.padding = 128; });
  projected.Expect("projection: args.zero_point=0.5 ", "0 to 255",
                   [](auto& args) { args.projection.zero_point = 0.5f; });
}

TEST(DescribeBottleneck, SaysWhatRuns) {
  EXPECT_EQ(Bottleneck<U8Block>::Create({.n = 2, .h = 15, .w = 12, .c = 128, .k = 128})->Describe(),
            "bottleneck of 128, 64, 64 and 128 channels and x, 8 tiles of 14x8 pixels, 2 "
            "warpgroups, 3 patches, 140288 bytes shared, NCxHWx<32>");
  EXPECT_EQ(
      Bottleneck<S8Projected>::Create({.n = 1, .h = 9, .w = 8, .c = 64, .k = 128})->Describe(),
      "bottleneck of 64, 64, 64 and 128 channels with a projection, 2 tiles of 8x8 pixels, 3 "
      "warpgroups, 4 patches, 163840 bytes shared, NCxHWx<32>");
}

// Measured on a GPU of 132 multiprocessors: conv/bottleneck/bottleneck_plan.cpp.
TEST(BottleneckTile, IsTheQuickest) {
  const auto rows = [](std::int64_t images) {
    return BottleneckTileFor({.n = images, .h = 56, .w = 56, .c = 256, .k = 256}, 132).rows;
  };
  EXPECT_EQ(rows(512), 14);
  EXPECT_EQ(rows(64), 8);
  EXPECT_EQ(rows(16), 8);
  EXPECT_EQ(rows(1), 8);
}

}  // namespace
}  // namespace weft::conv
