// Dispatch: the same results whichever policy it chose, the choice, what it says about it, errors.
#include "weft/conv/dispatch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "tests/conv/choose/machines.hpp"
#include "tests/conv/harness.hpp"
#include "tests/conv/own_relu.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/gemm/dispatch_choice.hpp"

namespace weft::conv {

struct Tile32x32OneByte {
  static constexpr auto config = WithDstAlignment(kSimt32x32, 1);
};

namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

using Relu = OwnRelu;
using Nc4 = Dispatch<S8Conv4Family<Relu>>;
using Nc32 = Dispatch<S8Conv32Family<Relu>>;
using Nhwc = Dispatch<S8ConvNhwcFamily<Relu>>;
using First = Dispatch<S8Conv4Family<Relu, NCxHWx<32>>>;
using Nc32ToNhwc = Dispatch<Family<S8Conv32<epilogues::BiasRelu<>, NHWC, Mma128x64>,
                                   S8Conv32<epilogues::BiasRelu<>, NHWC, Mma64x64>>>;

// Runs `op` on random tensors and compares it with the reference. The source lies `shift` bytes
// behind a multiple of 64.
template <class Src, class FilterLayout, class Dst, class Op, class Activation>
void ExpectExact(const Op& op, const Activation& activation, int shift = 0) {
  const Problem& p = op.problem();
  const RandomTensors t(p, 7);
  const auto packed = *ConvertTensor<NCHW, Src, std::int8_t>(p.src(), t.src);
  const auto filter = *PackFilter<FilterLayout, KCRS, std::int8_t>(p.filter(), t.filter);
  std::vector<std::int8_t> dst(op.dst_size(), 0x77), memory(packed.size() + 128);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  std::int8_t* const src = memory.data() + (64 - address % 64) % 64 + shift;
  std::copy(packed.begin(), packed.end(), src);
  ASSERT_EQ(static_cast<std::int64_t>(packed.size()), op.src_size());
  const typename Op::Arguments args = {.src = src,
                                       .filter = filter.view(),
                                       .bias = t.bias.data(),
                                       .dst = dst.data(),
                                       .channel_alpha = t.channel_alpha.data()};
  ASSERT_TRUE(op.CheckArguments(args).ok()) << op.CheckArguments(args);
  const absl::Status status = op.RunOnCpu(args);
  ASSERT_TRUE(status.ok()) << status;
  const auto want = reference::Convolve<std::int8_t>(
      p, t.src.data(), t.filter.data(),
      {.channel_alpha = t.channel_alpha.data(), .bias = t.bias.data()}, activation,
      FullRange<std::int8_t>());
  const auto want_in_dst =
      *ConvertTensor<NCHW, Dst, std::int8_t>(p.dst(), absl::MakeConstSpan(want));
  EXPECT_EQ(dst, want_in_dst) << op.Describe();
}

// Whichever policy of the family is chosen, RunOnCpu is exact. It runs one of the two tiles of the family that are
// compiled for the CPU, so that no other tile's kernel runs here.
TEST(Dispatch, EveryPolicyEqualsTheReference) {
  const Problem p = SquareProblem(2, 37, 11, 70, 3, 1, 1);
  for (int i = 0; i < Nc4::kPolicies; ++i) {
    ExpectExact<NCxHWx<4>, CxRSKx<4>, NCxHWx<4>>(*Nc4::CreateAt(p, i), reference::ReluActivation());
  }
  const Problem few = SquareProblem(2, 37, 11, 20, 3, 1, 1);  // of config.packed_rows
  for (int i = 0; i < Nc32::kPolicies; i += 3) {
    const absl::StatusOr<Nc32> op = Nc32::CreateAt(p, i);
    ExpectExact<NCxHWx<32>, CxRSKx<32>, NCxHWx<32>>(op.ok() ? *op : *Nc32::CreateAt(few, i),
                                                    reference::ReluActivation());
  }
}

// The tiles for the CPU: pixels by channels, bytes of a load and of a store.
template <class Op>
std::vector<std::string> OnCpu() {
  std::vector<std::string> on_cpu;
  for (int i = 0; i < Op::kPolicies; ++i) {
    const TileDescription c = Op::Configs()[i];
    if (!Op::OnCpu()[i]) continue;
    on_cpu.push_back(absl::StrCat(c.threadblock.m, "x", c.threadblock.n, " a", c.alignment.src,
                                  " d", c.alignment.dst));
  }
  return on_cpu;
}

// One that takes whatever a family takes and the largest, and no more where narrow loads come with narrow stores.
TEST(Dispatch, TwoTilesAreForTheCpu) {
  using testing::ElementsAre;
  EXPECT_THAT(OnCpu<Nc4>(), ElementsAre("128x128 a4 d4", "32x32 a4 d4"));
  EXPECT_THAT(OnCpu<Nc32>(), ElementsAre("128x256 a16 d8", "16x32 a16 d8"));
  EXPECT_THAT(OnCpu<Nhwc>(), ElementsAre("64x32 a4 d1", "256x128 a16 d8"));
  EXPECT_THAT(OnCpu<First>(), ElementsAre("128x128 a4 d4", "32x32 a4 d4"));  // not wgmma_sm90
  EXPECT_THAT(OnCpu<Nc32ToNhwc>(), ElementsAre("128x64 a16 d4", "64x64 a16 d4"));
  using NarrowEitherWay = Dispatch<
      Family<S8ConvNhwc<Relu, NHWC, Mma64x32, 4, 8>, S8ConvNhwc<Relu, NHWC, Mma64x32, 16, 1>,
             S8ConvNhwc<Relu, NHWC, Mma64x64, 16, 8>, S8ConvNhwc<Relu, NHWC, Mma64x32, 16, 8>>>;
  EXPECT_THAT(OnCpu<NarrowEitherWay>(), ElementsAre("64x32 a4 d8", "64x32 a16 d1", "64x64 a16 d8"));
}

// Whatever a policy of a family accepts, a tile for the CPU accepts.
template <class Op>
void ExpectServedByCpu(std::uint32_t seed) {
  std::mt19937 engine(seed);
  for (int i = 0; i < 200; ++i) {
    Problem p = RandomProblem(engine);
    if (i % 2 == 0) p.c = RoundUp(p.c, 4 << i % 3), p.groups = 1;
    const absl::StatusOr<Op> gpu = Op::Create(p, GpuFacts()), cpu = Op::Create(p, CpuFacts{2});
    EXPECT_EQ(cpu.ok(), gpu.ok()) << cpu.status() << gpu.status();
    EXPECT_TRUE(!cpu.ok() || Op::OnCpu()[cpu->index()]);
  }
  // Extents that pass what the kernels' indices reach, or nearly do.
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    Problem p = RandomProblem(engine);
    p.c = RoundUp(p.c, 4 << i % 3), p.groups = 1;
    std::int64_t Problem::* const fields[] = {
        &Problem::n,          &Problem::h,          &Problem::w,          &Problem::pad_top,
        &Problem::pad_bottom, &Problem::pad_left,   &Problem::pad_right,  &Problem::stride_h,
        &Problem::stride_w,   &Problem::dilation_h, &Problem::dilation_w, &Problem::k};
    for (int j = 0; j < 4; ++j) {
      p.*fields[engine() % std::size(fields)] = (std::int64_t{1} << engine() % 31) + engine() % 3;
    }
    const absl::StatusOr<Op> gpu = Op::Create(p, GpuFacts()), cpu = Op::Create(p, CpuFacts{2});
    ASSERT_EQ(cpu.ok(), gpu.ok()) << ProblemName(p) << cpu.status() << gpu.status();
    refused += cpu.status().code() == absl::StatusCode::kOutOfRange;
  }
  EXPECT_GT(refused, 200);
}
TEST(Dispatch, TheTilesForTheCpuServeAll) {
  ExpectServedByCpu<Nc4>(1);
  ExpectServedByCpu<Nc32>(2);
  ExpectServedByCpu<Nhwc>(3);
  ExpectServedByCpu<First>(4);
  // Rows that a load of 4 bytes could not count from the first one of the padding on.
  Problem padded{.n = 1, .h = 6, .w = 4, .c = 16, .k = 39};
  padded.pad_top = 9952, padded.pad_left = 32, padded.pad_bottom = 1 << 21;
  padded.stride_h = 1 << 22, padded.stride_w = 21;
  EXPECT_TRUE(Nhwc::Create(padded, CpuFacts{1}).ok());
}

TEST(Dispatch, SaysThatNoTileIsForTheCpu) {
  EXPECT_EQ(gemm::internal::NoCpuCode("conv", kMma64x64, absl::InvalidArgumentError("why")),
            absl::FailedPreconditionError("conv: no tile of the family that is compiled for the "
                                          "CPU takes what mma_sm80 64x64x64, 4 stages "
                                          "takes; run that policy on the CPU by itself, or give "
                                          "the family one that takes it (why)"));
}

template <class Op>
gemm::TileShape Tile(const Problem& p, const GpuFacts& gpu = GpuFacts()) {
  return Op::Create(p, gpu)->config().threadblock;
}
GpuFacts Ampere() {
  return GpuFactsOf(Gpu(80, 108, 163));
}

TEST(Dispatch, LargeLayersGetLargeTiles) {
  const Problem large = SquareProblem(64, 512, 56, 512, 3, 1, 1);
  EXPECT_EQ(Tile<Nc4>(large), kSimt128x128.threadblock);
  EXPECT_GE(Tile<Nc32>(large).m * Tile<Nc32>(large).n, 128 * 128);
}

TEST(Dispatch, FewOutputsOfLongSumsGetDeepTiles) {
  const Problem small = SquareProblem(1, 512, 7, 512, 3, 1, 1);
  EXPECT_EQ(Tile<Nc4>(small), (gemm::TileShape{32, 32, 256}));
  EXPECT_EQ(Tile<Nc32>(small, Ampere()), (gemm::TileShape{16, 32, 256}));
  EXPECT_EQ(Tile<Nc32>(small), (gemm::TileShape{32, 64, 256}));
}

TEST(Dispatch, FewOutputChannelsGetNarrowTiles) {
  Problem p = SquareProblem(16, 64, 92, 32, 3, 1, 1);
  p.w = 160;
  EXPECT_EQ(Tile<Nc4>(p).n, 32);
  EXPECT_EQ(Tile<Nc32>(p, Ampere()).n, 32);
  EXPECT_EQ(Tile<Nc32>(p).n, 64);  // the narrowest of wgmma_sm90
}

// On the CPU a small tile is never chosen for want of multiprocessors.
TEST(Dispatch, TheCpuHasItsOwnModel) {
  const Problem p = SquareProblem(1, 512, 14, 512, 3, 1, 1);
  const Nc4 cpu = *Nc4::Create(p, CpuFacts{2});
  const Nc4 gpu = *Nc4::Create(p, GpuFacts());
  const auto area = [](const TileDescription& c) { return c.threadblock.m * c.threadblock.n; };
  EXPECT_GT(area(cpu.config()), area(gpu.config()));
  EXPECT_THAT(cpu.Describe(), HasSubstr("chosen of 2 tiles for 2 CPU threads: predicted "));
  EXPECT_EQ(cpu.candidates()[0].status.message(),
            "conv: of this family Dispatch compiles other tiles for the CPU, which have the same "
            "results; run the policy "
            "by itself");
}

TEST(Dispatch, PassesOverWhatDoesNotFitInSharedMemory) {
  const Problem small = SquareProblem(1, 512, 7, 512, 3, 1, 1);
  GpuFacts gpu;
  for (const int kilobytes : {100, 64, 48, 32, 16}) {
    gpu.limits.shared_memory_per_block = kilobytes * 1024;
    const auto nc4 = Nc4::Create(small, gpu);
    const auto nc32 = Nc32::Create(small, gpu);
    if (nc4.ok()) {
      EXPECT_LE(nc4->candidates()[nc4->index()].facts.shared_bytes, kilobytes * 1024);
    }
    if (nc32.ok()) {
      EXPECT_LE(nc32->candidates()[nc32->index()].facts.shared_bytes, kilobytes * 1024);
    }
    EXPECT_TRUE(nc4.ok()) << kilobytes << " KB: " << nc4.status();
    EXPECT_TRUE(nc32.ok()) << kilobytes << " KB: " << nc32.status();
  }
  gpu.limits.shared_memory_per_block = 16 * 1024;
  const Nc4 op = *Nc4::Create(small, gpu);
  int refused = 0;
  for (const Candidate& c : op.candidates()) {
    refused += c.status.code() == absl::StatusCode::kResourceExhausted;
  }
  EXPECT_GT(refused, 0);
  EXPECT_THAT(op.Describe(), HasSubstr(absl::StrCat("chosen of ", Nc4::kPolicies - refused,
                                                    " tiles for a GPU of 132 multiprocessors")));
  EXPECT_THAT(op.Describe(), HasSubstr(absl::StrCat("; ", refused, " refused")));
}

// The chosen tile wants a source aligned to 32 bytes; the other tiles take one aligned to 16.
TEST(Dispatch, OtherTilesTakeWhatWgmmaRefuses) {
  Problem strides = SquareProblem(2, 64, 40, 64, 3, 1, 1);
  strides.stride_h = strides.stride_w = 9;
  const Nc32 nc32 = *Nc32::Create(strides, GpuFacts());
  EXPECT_EQ(nc32.config().mainloop, gemm::Mainloop::kMmaSm80);
  EXPECT_TRUE(RefusesAllWgmma(nc32));
  EXPECT_THAT(nc32.Describe(),
              HasSubstr(absl::StrCat("; ", WgmmaCandidates(nc32).first, " refused")));
  EXPECT_THAT(nc32.Describe(), Not(HasSubstr("addresses")));
  ExpectExact<NCxHWx<32>, CxRSKx<32>, NCxHWx<32>>(nc32, reference::ReluActivation());

  // Channels of NHWC that 8-byte loads do not fit.
  const Nhwc nhwc = *Nhwc::Create(SquareProblem(2, 20, 12, 40, 3, 1, 1), GpuFacts());
  EXPECT_TRUE(RefusesAllWgmma(nhwc));
  EXPECT_EQ(nhwc.config().mainloop, gemm::Mainloop::kMmaSm80);

  Problem dilated = SquareProblem(2, 3, 20, 32, 3, 2, 1);
  dilated.dilation_h = dilated.dilation_w = 2;
  const First first = *First::Create(dilated, GpuFacts());
  EXPECT_TRUE(RefusesAllWgmma(first));
  EXPECT_EQ(first.config().mainloop, gemm::Mainloop::kSimt);
}

TEST(Dispatch, OtherTilesTakeAddressesThatWgmmaRefuses) {
  const Nc32 op = *Nc32::Create(SquareProblem(2, 64, 12, 70, 3, 1, 1), GpuFacts());
  ASSERT_TRUE(IsWgmma(op.config())) << op.Describe();
  ExpectExact<NCxHWx<32>, CxRSKx<32>, NCxHWx<32>>(op, reference::ReluActivation());
  ExpectExact<NCxHWx<32>, CxRSKx<32>, NCxHWx<32>>(op, reference::ReluActivation(), 16);
  // An address that none takes gets the sentence of the less strict one.
  alignas(64) std::int8_t memory[64] = {};
  Nc32::Arguments args;
  args.src = memory + 8;
  const absl::Status s = op.CheckArguments(args);
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("is not 16-byte aligned"));
  EXPECT_EQ(op.RunOnCpu(args), s);
  EXPECT_EQ(op.Run(args, nullptr), s);
  // Without a choice there is no other tile.
  const Nc32 fixed = *Nc32::CreateAt(op.problem(), op.index());
  args.src = memory + 16;
  EXPECT_THAT(std::string(fixed.CheckArguments(args).message()),
              HasSubstr("is not 32-byte aligned"));
}

TEST(Dispatch, SaysWhy) {
  const Nc4 op = *Nc4::Create(SquareProblem(1, 512, 7, 512, 3, 1, 1), GpuFacts());
  EXPECT_THAT(op.Describe(),
              MatchesRegex(
                  "simt 32x32x256 warp 32x16 thread 4x4, im2col, 2 x 16 blocks of 512 threads, "
                  "32768 bytes shared, NCxHWx<4> -> NCxHWx<4>; chosen of [0-9]+ tiles for a GPU of "
                  "132 multiprocessors: predicted [0-9.]+ us, 32 blocks in 0.24 waves of 1 a "
                  "processor, 23% padding, 24% busy; next simt 32x32x128, [0-9.]+ us: .*"));
  EXPECT_EQ(op.Describe().find(" refused"), std::string::npos);
}

TEST(Dispatch, SaysThatPaddingDecides) {
  Problem p = SquareProblem(16, 64, 92, 32, 3, 1, 1);
  p.w = 160;
  using TwoWidths = Dispatch<Family<S8Conv32<epilogues::BiasRelu<>, NCxHWx<32>, Mma128x128>,
                                    S8Conv32<epilogues::BiasRelu<>, NCxHWx<32>, Mma128x32>>>;
  EXPECT_THAT(TwoWidths::Create(p, GpuFacts())->why(),
              HasSubstr("its padding is 0% of the work, the other's 75%"));
}

TEST(Dispatch, BadInputIsRefusedAsByOnePolicy) {
  Problem p = SquareProblem(1, 8, 6, 8, 3, 1, 1);
  p.c = 0;
  for (const absl::Status& s :
       {Nc4::Create(p).status(), Nc4::Create(p, CpuFacts{2}).status(),
        Nc4::Create(p, GpuFacts()).status(), Nc4::CreateAt(p, 1).status()}) {
    EXPECT_EQ(s, Convolution<S8Conv4<>>::Create(p).status());
    EXPECT_EQ(s.message(), "conv: c=0 is not positive; give 1 or more");
  }
  const Nc4 op = *Nc4::Create(SquareProblem(1, 8, 6, 8, 3, 1, 1), CpuFacts{1});
  EXPECT_THAT(std::string(op.RunOnCpu({}).message()), HasSubstr("conv: args.src is null"));
  EXPECT_THAT(std::string(op.Run({}, nullptr).message()), HasSubstr("conv: args.src is null"));
  constexpr int kEnd = Nc4::kPolicies;
  EXPECT_EQ(
      Nc4::CreateAt(op.problem(), kEnd).status().message(),
      absl::StrCat("conv: index=", kEnd, " is not a policy of this family; give 0 to ", kEnd - 1));
}

// What weft_add_family() counts on.
static_assert(std::is_same_v<PolicyOf<S8Conv4Family<>, Nc4::kPolicies, 0>, S8Conv4<>>);
static_assert(std::is_same_v<PolicyOf<S8Conv32Family<>, Nc32::kPolicies, 1>,
                             S8Conv32<epilogues::BiasRelu<>, NCxHWx<32>, Mma128x128Wide>>);

// A family may hold a policy for each store width; those that K does not fit are passed over.
TEST(Dispatch, PassesOverWhatTheProblemDoesNotFit) {
  using ToNhwc = Dispatch<Family<S8Conv4<epilogues::BiasRelu<>, NHWC, Tile64x64>,
                                 S8Conv4<epilogues::BiasRelu<>, NHWC, Tile32x32OneByte>>>;
  const auto op = ToNhwc::Create(SquareProblem(1, 8, 6, 10, 3, 1, 1), GpuFacts());
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_EQ(op->index(), 1);
}

// Facts that the model would turn into infinite or negative times.
TEST(Dispatch, FactsOfNoMachineAreRefused) {
  const Problem p = SquareProblem(1, 8, 6, 8, 3, 1, 1);
  const auto message = [&](const auto& facts) {
    const absl::Status s = Nc4::Create(p, facts).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
    return std::string(s.message());
  };
  EXPECT_EQ(message(CpuFacts{-1}), "conv: cpu.threads=-1 is not positive; give 1 or more");
  EXPECT_EQ(message(CpuFacts{0}), "conv: cpu.threads=0 is not positive; give 1 or more");
  GpuFacts gpu;
  gpu.limits.sm_count = 0;
  EXPECT_EQ(
      message(gpu),
      "conv: gpu.limits.sm_count=0 describes no GPU; give a positive number of at most 65536, or "
      "the limits that arch::QueryDevice has");
  EXPECT_THAT(message(gpu.limits), HasSubstr("conv: gpu.limits.sm_count=0"));
  gpu = GpuFacts();
  gpu.clock_mhz = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message(gpu), HasSubstr("conv: gpu.clock_mhz=nan describes no GPU"));
  gpu = GpuFacts();
  gpu.bytes_per_us = 0.0;
  EXPECT_THAT(message(gpu), HasSubstr("conv: gpu.bytes_per_us=0 describes no GPU"));
  gpu = GpuFacts();
  gpu.limits.registers_per_sm = -5;
  EXPECT_THAT(message(gpu), HasSubstr("conv: gpu.limits.registers_per_sm=-5"));
}

}  // namespace
}  // namespace weft::conv
