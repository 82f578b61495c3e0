// What an operator with a prologue refuses, with a sentence, before anything is launched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conv/kernel/prologue_policies.hpp"
#include "weft/conv/convolution.hpp"

namespace weft::conv {
namespace {

using prologues::Grouped;
using prologues::LocalBlock;
using prologues::LocalFilter;
using prologues::PerSample;
using prologues::SharedFilter;
using testing::HasSubstr;

template <class PrologueT, class Dst = NCxHWx<4>>
using Op = Convolution<Nc4Prologue<PrologueT, Dst>>;

Problem Good(std::int64_t groups = 1) {
  Problem p = SquareProblem(3, 16, 5, 16, 3, 1, 1);
  p.groups = groups;
  return p;
}

template <class AnyOp>
std::string CreateMessage(const Problem& p) {
  const absl::StatusOr<AnyOp> op = AnyOp::Create(p);
  EXPECT_EQ(op.status().code(), absl::StatusCode::kInvalidArgument) << op.status();
  return std::string(op.status().message());
}

// What Run and RunOnCpu say to a bank of `count` filters of the given extents.
template <class PrologueT>
std::string BankMessage(const Problem& p, const FilterExtents& extents, std::int64_t count,
                        PrologueT prologue = {}) {
  using AnyOp = Op<PrologueT>;
  const auto op = AnyOp::Create(p);
  EXPECT_TRUE(op.ok()) << op.status();
  const auto bank = PackFilters<PrologueT, CxRSKx<4>>(
      extents, count, std::vector<std::int8_t>(count * KCRS::Size(extents)));
  EXPECT_TRUE(bank.ok()) << bank.status();
  alignas(64) static std::int8_t src[4096], dst[4096];
  static const float bias[64] = {};
  typename AnyOp::Arguments args;
  args.src = src, args.filter = bank->view(), args.bias = bias, args.dst = dst;
  args.prologue = prologue;
  const absl::Status status = op->RunOnCpu(args);
  EXPECT_EQ(op->Run(args, nullptr).message() == status.message(), !status.ok());
  return std::string(status.message());
}

TEST(PrologueBadInput, GoodBanksRun) {
  EXPECT_EQ(BankMessage<PerSample>(Good(), Good().filter(), 3), "");
  EXPECT_EQ(BankMessage<LocalFilter>(Good(), Good().filter(), 25), "");
  EXPECT_EQ((BankMessage<LocalBlock<2, 3>>(Good(), Good().filter(), 6)), "");
  EXPECT_EQ(BankMessage<Grouped>(Good(4), Good(4).filter(), 4), "");
  const std::int32_t index[] = {0, 6, 3};
  EXPECT_EQ(BankMessage(Good(), Good().filter(), 7, FromBank{index}), "");
}

TEST(PrologueBadInput, BanksOfAnotherSize) {
  EXPECT_THAT(BankMessage<PerSample>(Good(), Good().filter(), 2),
              HasSubstr("conv: args.filter holds 2 filters, the prologue PerSample needs 3"));
  EXPECT_THAT(BankMessage<LocalFilter>(Good(), Good().filter(), 26),
              HasSubstr("conv: args.filter holds 26 filters, the prologue LocalFilter needs 25"));
  EXPECT_THAT(
      (BankMessage<LocalBlock<2, 3>>(Good(), Good().filter(), 4)),
      HasSubstr("conv: args.filter holds 4 filters, the prologue LocalBlock<2, 3> needs 6"));
  EXPECT_THAT(BankMessage<Grouped>(Good(4), Good(4).filter(), 2),
              HasSubstr("conv: args.filter holds 2 filters, the prologue Grouped needs 4"));
}

// The whole filter where the bank's filters are those of one group.
TEST(PrologueBadInput, FiltersOfAnotherProblem) {
  EXPECT_THAT(BankMessage<Grouped>(Good(4), Good(1).filter(), 4),
              HasSubstr("conv: args.filter was packed for k=16 c=16 r=3 s=3, this operator has k=4 "
                        "c=4 r=3 s=3"));
  EXPECT_THAT(BankMessage<PerSample>(Good(), {16, 16, 1, 1}, 3),
              HasSubstr("conv: args.filter was packed for k=16 c=16 r=1 s=1, this operator has "
                        "k=16 c=16 r=3 s=3"));
}

TEST(PrologueBadInput, NoBank) {
  const auto op = Op<PerSample>::Create(Good());
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(64) std::int8_t memory[4096] = {};
  const float bias[16] = {};
  typename Op<PerSample>::Arguments args;
  args.src = memory, args.bias = bias, args.dst = memory + 2048;
  EXPECT_THAT(std::string(op->RunOnCpu(args).message()),
              HasSubstr("conv: args.filter is not packed; call weft::PackFilter"));
}

// A prologue that does not depend on the group would use one filter for all of them.
TEST(PrologueBadInput, GroupsThatThePrologueDoesNotKnow) {
  EXPECT_THAT(CreateMessage<Op<SharedFilter>>(Good(4)),
              HasSubstr("conv: groups=4 with the prologue SharedFilter, whose filter does not "
                        "depend on the channel group; use prologues::Grouped"));
  EXPECT_THAT(CreateMessage<Op<PerSample>>(Good(2)),
              HasSubstr("conv: groups=2 with the prologue PerSample"));
  EXPECT_THAT(CreateMessage<Op<LocalFilter>>(Good(2)), HasSubstr("the prologue LocalFilter"));
  EXPECT_THAT(CreateMessage<Op<FromBank>>(Good(2)), HasSubstr("the prologue FromBank"));
}

TEST(PrologueBadInput, GroupsThatDoNotDivideTheChannels) {
  EXPECT_THAT(CreateMessage<Op<Grouped>>(Good(3)),
              HasSubstr("conv: c=16 is not a multiple of groups=3"));
  EXPECT_THAT(CreateMessage<Op<Grouped>>(Good(0)), HasSubstr("conv: groups=0 is not positive"));
}

// A group's input channels begin inside a channel block.
TEST(PrologueBadInput, GroupsThatCutAChannelBlock) {
  Problem p = Good(2);
  p.c = 12;
  EXPECT_THAT(CreateMessage<Op<Grouped>>(p),
              HasSubstr("conv: c/groups=6 is not a multiple of 4, the interleave of NCxHWx<4>"));
  using Nc32 = Convolution<Nc32Prologue<Grouped, NCxHWx<32>, 64, 64, 64, 32, 32, 3, 8>>;
  EXPECT_THAT(CreateMessage<Nc32>(Good(2)),
              HasSubstr("conv: c/groups=8 is not a multiple of 32, the interleave of NCxHWx<32>"));
}

// A store would write channels of two groups.
TEST(PrologueBadInput, StoresThatStraddleGroups) {
  Problem p = Good(2);
  p.k = 12;
  EXPECT_THAT(CreateMessage<Op<Grouped>>(p),
              HasSubstr("conv: k/groups=6 is not a multiple of 4, the channels of one 4-byte store "
                        "to NCxHWx<4>"));
  EXPECT_THAT((CreateMessage<Op<Grouped, NHWC>>(p)),
              HasSubstr("conv: k/groups=6 is not a multiple of 4, the channels of one 4-byte store "
                        "to NHWC"));
  EXPECT_TRUE((Op<Grouped, NCHW>::Create(p).ok()));  // one float a store
  p.groups = 1;
  EXPECT_TRUE(Op<Grouped>::Create(p).ok());
}

TEST(PrologueDescribe, NamesThePrologueAndItsBatches) {
  EXPECT_THAT(Op<PerSample>::Create(Good())->Describe(), HasSubstr("PerSample, 3 batches"));
  EXPECT_THAT(Op<LocalFilter>::Create(Good())->Describe(), HasSubstr("LocalFilter, 25 batches"));
}

// A block larger than the image is as large as it: 2 rows of 5 pixels for each of 3 images.
TEST(PrologueBlocks, AreNoLargerThanTheImage) {
  const auto large = Op<LocalBlock<2, 4096>>::Create(Good());
  ASSERT_TRUE(large.ok()) << large.status();
  const auto fitting = Op<LocalBlock<2, 5>>::Create(Good());
  EXPECT_EQ(large->counts().batches, 3);
  EXPECT_EQ(large->counts().tiles_m, fitting->counts().tiles_m);
  using EachRow = LocalBlock<1, prologues::Depends::kWhole>;
  EXPECT_EQ(Op<EachRow>::Create(Good())->counts().batches, 5);
  EXPECT_EQ(Op<EachRow>::Create(Good())->filters(), 5);
}

}  // namespace
}  // namespace weft::conv
