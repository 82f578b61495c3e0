#include "tests/conv/int4_cases.hpp"  // on the CPU
#include "tests/conv/run_schedules.hpp"
#include "weft/conv/dispatch.hpp"

namespace weft::conv {
namespace {

using Nc32 = Int4Filter<Nc32Policy<NCxHWx<32>, Relu, MmaSm80Tile<64, 64, 64, 32, 32, 4>>>;

TEST(Int4Filter, EverySchedule) {
  RunSchedules<Nc32>(SquareProblem(1, 70, 7, 40, 3, 1, 1), 2);
}

// Blocks of int4 are read from shared memory as int8 are, 8 rows at once, and half as often.
TEST(Int4Filter, NoBankConflictsAndHalfTheReads) {
  const auto count = [](auto type) {
    arch::CpuStats stats;
    RunOptions options;
    options.stats = &stats;
    ExpectMatchesReference<typename decltype(type)::type>(SquareProblem(1, 128, 14, 64, 3, 1, 1),
                                                          reference::ReluActivation{}, options);
    EXPECT_EQ(stats.ldmatrix_wavefronts, stats.ldmatrix_phases);
    return stats.ldmatrix_phases;
  };
  using Int8 = Nc32Policy<NCxHWx<32>, Relu, MmaSm80Tile<64, 64, 64, 32, 32, 4>>;
  // Of a warp's 32 x 32 tile, A and B are read in equal parts.
  EXPECT_EQ(count(std::type_identity<Nc32>()) * 4, count(std::type_identity<Int8>()) * 3);
}

TEST(Int4Filter, HalvesTheFilterInMemoryAndInThePlan) {
  const Problem p = SquareProblem(1, 64, 14, 64, 3, 1, 1);
  const auto op = Convolution<Int4Filter<S8Conv32<Relu>>>::Create(p);
  const auto int8 = Convolution<S8Conv32<Relu>>::Create(p);
  ASSERT_TRUE(op.ok() && int8.ok());
  EXPECT_EQ(int8->counts().bytes - op->counts().bytes, 64 * 64 * 9 / 2);
  EXPECT_EQ((PackFilter<PackedInt4<CxRSKx<32>>>(p.filter(), std::vector<std::int8_t>(64 * 64 * 9))
                 ->bytes()),
            64 * 64 * 9 / 2);
  EXPECT_THAT(op->Describe(), testing::HasSubstr("NCxHWx<32> by int4 -> NCxHWx<32>"));
  EXPECT_LT(op->Facts().shared_bytes, int8->Facts().shared_bytes);
}

// The tiles of a family but those of wgmma_sm90, under a name of its own in tuning tables.
TEST(Int4Filter, Families) {
  using Op = Dispatch<Int4FilterFamily<S8Conv32Family<Relu>>>;
  const auto op = Op::Create(SquareProblem(1, 256, 14, 256, 3, 1, 1), GpuFacts());
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_EQ(op->config().mainloop, gemm::Mainloop::kMmaSm80) << op->Describe();
  EXPECT_EQ(Op::FamilyName(), "s8_PackedInt4<CxRSKx<32>>_to_s8_NCxHWx<32>_bias");
  EXPECT_NE(Op::FamilyName(), Dispatch<S8Conv32Family<Relu>>::FamilyName());
}

TEST(Int4Filter, RefusesByName) {
  using P = Int4Filter<TestPolicy<NCxHWx<4>, Relu>>;
  Problem p = SquareProblem(1, 1 << 17, 5, 8, 5, 0, 1);
  EXPECT_EQ(Convolution<P>::Create(p).status(),
            absl::InvalidArgumentError(
                "conv: c*r*s=3276800 products of a byte and an int4 can overflow the int32 "
                "accumulator; at most 2097151 are accepted, so split the channels over several "
                "convolutions"));
  p.c = 8;
  const auto op = Convolution<P>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  const auto other = PackFilter<P::FilterLayout>({8, 4, 5, 5}, std::vector<std::int8_t>(800));
  alignas(16) std::int8_t src[8 * 25] = {}, dst[8] = {};
  const float bias[8] = {};
  Convolution<P>::Arguments args{.src = src, .filter = other->view(), .bias = bias, .dst = dst};
  EXPECT_THAT(op->CheckArguments(args).message(),
              testing::HasSubstr("conv: args.filter was packed for k=8 c=4 r=5 s=5"));
  const auto filter = PackFilter<P::FilterLayout>(p.filter(), std::vector<std::int8_t>(1600));
  args.filter = filter->At(reinterpret_cast<const std::int8_t*>(filter->data()) + 4);
  EXPECT_THAT(op->CheckArguments(args).message(), testing::HasSubstr("filter"));
  // What is read ends after half as many bytes as there are values.
  std::vector<std::int8_t> memory(832);
  const auto at = (16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16) % 16;
  args.filter = filter->At(memory.data() + at);
  args.dst = memory.data() + at + 796;
  EXPECT_THAT(op->CheckArguments(args).message(), testing::HasSubstr("overlap"));
  args.dst = memory.data() + at + 800;
  EXPECT_EQ(op->CheckArguments(args), absl::OkStatus());
}

}  // namespace
}  // namespace weft::conv
