// On the CPU; what of it needs no kernel. Schedules and bank conflicts are in table/mma_sm80_test.cpp and
// table/wgmma_sm90_test.cpp.
#include "tests/conv/policy/int4_cases.hpp"

#include "weft/conv/dispatch.hpp"

namespace weft::conv {
namespace {

struct Grouped64 : S4Conv64<> {
  using Prologue = prologues::Grouped;
};
using Nc32 = Int4Filter<Nc32Policy<NCxHWx<32>, Relu, MmaSm80Tile<64, 64, 64, 32, 32, 4>>>;

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

TEST(Int4Source, HalvesTheSourceAndNamesItsFamily) {
  const Problem p = SquareProblem(2, 64, 14, 64, 3, 1, 1);
  const auto op = Convolution<S4Conv64<Relu, NCxHWx<32>>>::Create(p);
  const auto int8 = Convolution<Int4Filter<S8Conv32<Relu>>>::Create(p);
  ASSERT_TRUE(op.ok() && int8.ok());
  EXPECT_EQ(int8->counts().bytes - op->counts().bytes, 2 * 14 * 14 * 64 / 2);
  EXPECT_EQ(op->src_bytes(), int8->src_bytes() / 2);
  EXPECT_THAT(op->Describe(), testing::HasSubstr("PairedInt4<NCxHWx<64>> by int4 -> NCxHWx<32>"));
  const auto family = Dispatch<U4Conv64Family<>>::Create(p, GpuFacts());
  ASSERT_TRUE(family.ok()) << family.status();
  EXPECT_EQ(family->FamilyName(),
            "u8_PairedInt4<NCxHWx<64>>_by_int4_to_u8_PairedInt4<NCxHWx<64>>_bias");
  const auto products = Dispatch<U4Mma64Family<>>::Create(p, GpuFacts());
  ASSERT_TRUE(products.ok()) << products.status();
  EXPECT_EQ(products->FamilyName(),
            "u8_PairedInt4<NCxHWx<64>>_by_s4_to_u8_PairedInt4<NCxHWx<64>>_bias");
}

TEST(Int4Source, RefusesByName) {
  const auto message = [](auto type, const Problem& p) {
    return std::string(Convolution<typename decltype(type)::type>::Create(p).status().message());
  };
  Problem p = SquareProblem(1, 64, 5, 64, 3, 1, 1);
  p.groups = 2;
  EXPECT_THAT(message(std::type_identity<Grouped64>(), p),
              testing::HasSubstr("conv: c/groups=32 is not a multiple of 64, the interleave of "
                                 "PairedInt4<NCxHWx<64>>; pad the channels of each group"));
  p.groups = 1, p.c = 12;
  using Nhwc = Int4Source<S8ConvNhwc<Relu, NHWC, Mma64x64, 4>>;
  EXPECT_THAT(message(std::type_identity<Nhwc>(), p),
              testing::HasSubstr("conv: c=12 is not a multiple of 8, the channels of the narrowest "
                                 "load from NHWC; pad C to 16 with zeros"));
  p.c = std::int64_t{1} << 22, p.h = p.w = 8, p.k = 1;
  EXPECT_THAT(message(std::type_identity<S4Conv64<>>(), p),
              testing::HasSubstr("conv: c*r*s=37748736 products of a byte and an int4 can "
                                 "overflow the int32 accumulator; at most 2097151 are accepted"));
  EXPECT_THAT(message(std::type_identity<S4Mma64<Relu, NCxHWx<32>, Mma64x64>>(), p),
              testing::HasSubstr("conv: c*r*s=37748736 products of two values of 4 bits can "
                                 "overflow the int32 accumulator; at most 33554431 are accepted"));

  // A zero point that no value of 4 bits has.
  using U4 = U4Conv64<QLinear<>, NCxHWx<32>>;
  p = SquareProblem(1, 8, 5, 8, 3, 1, 1);
  const auto op = Convolution<U4>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  const auto filter = PackFilter<U4::FilterLayout>(p.filter(), std::vector<std::int8_t>(8 * 72));
  const auto table = MakeSourceCorrection(p, *filter, 16).value();
  alignas(16) std::uint8_t src[32 * 25] = {};
  alignas(16) std::uint8_t dst[32 * 25] = {};
  const std::int32_t bias[8] = {};
  EXPECT_EQ(op->CheckArguments({.src = src,
                                .filter = filter->view(),
                                .bias = bias,
                                .dst = dst,
                                .source_correction = table.view()})
                .message(),
            "conv: args.source_correction.zero_point()=16 is no value of a u4 source; give one "
            "from 0 to 15");
}

// Of as many of the largest products as mma_sm80 takes.
TEST(Int4Filter, LargestSums) {
  using Sums = epilogues::Chain<epilogues::ToSums<std::int32_t>>;
  using P = Int4Filter<Nc32Policy<NCHW, Sums, SlicedTile<16, 32, 256, 16, 32, 32, 3, 4>>>;
  const Problem p = SquareProblem(1, 131071, 1, 1, 1, 0, 1);
  const auto op = Convolution<P>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  for (const int value : {-128, 127}) {
    const OperatorMemory<std::int8_t> src(std::vector<std::int8_t>(131072, value));
    const auto filter = PackFilter<P::FilterLayout>(p.filter(), std::vector<std::int8_t>(p.c, -8));
    ASSERT_TRUE(filter.ok()) << filter.status();
    alignas(16) std::int32_t sum = 0;
    ASSERT_TRUE(op->RunOnCpu({.src = src.get(), .filter = filter->view(), .dst = &sum}).ok());
    EXPECT_EQ(sum, p.c * value * -8);
  }
}

TEST(Int4Filter, RefusesByName) {
  using P = Int4Filter<TestPolicy<NCxHWx<4>, Relu>>;
  Problem p = SquareProblem(1, 1 << 17, 5, 8, 5, 0, 1);
  EXPECT_EQ(Convolution<P>::Create(p).status(),
            absl::InvalidArgumentError(
                "conv: c*r*s=3276800 products of a byte and an int4 can overflow the int32 "
                "accumulator; at most 2097151 are accepted, so split the channels over several "
                "convolutions"));
  EXPECT_EQ(Convolution<Nc32>::Create(p).status(),
            absl::InvalidArgumentError(
                "conv: c*r*s=3276800 products of a byte and 16 times an int4, as mma_sm80 "
                "multiplies them, can overflow the int32 accumulator; at most 131071 are accepted, "
                "so split the channels over several convolutions"));
  EXPECT_THAT(std::string(Convolution<Int4Filter<ZeroFilterSm80>>::Create(p).status().message()),
              testing::HasSubstr("products of two bytes and their zero points, up to 65025 each,"));
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
