// The NHWC family: what Dispatch chooses for ragged channels and what it says. That its operators are exact,
// the rows of table/operators.def show.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/conv/own_relu.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using testing::Not;

using NhwcRelu = OwnRelu;
using Nhwc = Dispatch<S8ConvNhwcFamily<NhwcRelu>>;
using NhwcToNc32 = Dispatch<S8ConvNhwcFamily<NhwcRelu, NCxHWx<32>>>;

template <class Family>
struct EachPolicy;
template <class... Policies>
struct EachPolicy<Family<Policies...>> {
  // How many of the family's policies take `problem`.
  static int Count(const Problem& problem) {
    return (int{Convolution<Policies>::Create(problem).ok()} + ...);
  }
};

// Those with two output rows to a row of the product, for at most 32 output channels.
constexpr int kPacksRows = [] {
  int count = 0;
  for (const TileDescription& c : Nhwc::Configs()) count += c.packed_rows > 1;
  return count;
}();

Problem Channels(std::int64_t c, std::int64_t k) {
  return SquareProblem(2, c, 9, k, 3, 1, 1);
}

TEST(NhwcFamily, PoliciesThatTakeRaggedChannels) {
  using Each = EachPolicy<S8ConvNhwcFamily<NhwcRelu>>;
  EXPECT_EQ(Each::Count(Channels(32, 64)), Nhwc::kPolicies - kPacksRows);
  EXPECT_EQ(Each::Count(Channels(32, 32)), Nhwc::kPolicies);
  EXPECT_EQ(Each::Count(Channels(16, 21)), 2);
  EXPECT_EQ(Each::Count(Channels(20, 36)), 3);
  EXPECT_EQ(Each::Count(Channels(40, 70)), 1);
  EXPECT_EQ(Each::Count(Channels(72, 20)), 5);
  EXPECT_EQ(Each::Count(Channels(4, 1)), 1);
  EXPECT_EQ(Each::Count(Channels(6, 8)), 0);
  using ToNc32 = EachPolicy<S8ConvNhwcFamily<NhwcRelu, NCxHWx<32>>>;
  EXPECT_EQ(ToNc32::Count(Channels(48, 70)), NhwcToNc32::kPolicies - kPacksRows);
  EXPECT_EQ(ToNc32::Count(Channels(24, 33)), 4);
  EXPECT_EQ(ToNc32::Count(Channels(20, 10)), 2);
}

Alignment Chosen(std::int64_t c, std::int64_t k) {
  const auto op = Nhwc::Create(Channels(c, k), GpuFacts());
  EXPECT_TRUE(op.ok()) << op.status();
  const auto cpu = Nhwc::Create(Channels(c, k), CpuFacts{2});
  EXPECT_TRUE(cpu.ok()) << cpu.status();
  EXPECT_LE(cpu->config().alignment.src, op->config().alignment.src) << "c=" << c << " k=" << k;
  return op->config().alignment;
}

TEST(NhwcFamily, TakesTheWidestAccessThatFits) {
  for (const std::int64_t k : {8, 64, 256}) {
    // Half of what wgmma_sm90 reads of a pixel at once, where the model may find narrower loads quicker.
    EXPECT_GE(Nhwc::Create(Channels(16, k), GpuFacts())->config().alignment.src, 8);
    for (const std::int64_t c : {32, 48, 256}) {
      EXPECT_EQ(Chosen(c, k).src, 16) << c;
      EXPECT_EQ(Chosen(c, k).dst, k == 8 ? 8 : 16) << c;  // 16 through wgmma_sm90
    }
    for (const std::int64_t c : {8, 24, 40, 264}) EXPECT_EQ(Chosen(c, k).src, 8) << c;
    for (const std::int64_t c : {4, 12, 20, 260}) EXPECT_EQ(Chosen(c, k).src, 4) << c;
  }
  EXPECT_EQ(Chosen(64, 20).dst, 4);
  EXPECT_EQ(Chosen(64, 21).dst, 1);
  EXPECT_EQ(Chosen(20, 20).dst, 4);
  EXPECT_EQ(Chosen(20, 21).dst, 1);
}

TEST(NhwcFamily, SaysWhatPaddingWouldGive) {
  const auto why = [](std::int64_t c, std::int64_t k) {
    return Nhwc::Create(Channels(c, k), GpuFacts())->why();
  };
  EXPECT_THAT(why(20, 64), testing::StartsWith("c=20 is not a multiple of 16: 4-byte loads, pad C "
                                               "to 32 for 16-byte ones; chosen of "));
  EXPECT_THAT(why(8, 64), testing::StartsWith("c=8 is not a multiple of 16: 8-byte loads, pad C to "
                                              "16 for 16-byte ones; chosen of "));
  EXPECT_THAT(why(64, 20), testing::StartsWith("k=20 is not a multiple of 16: 4-byte stores, pad "
                                               "K to 32 for 16-byte ones; chosen of "));
  GpuFacts ampere;  // whose widest stores are of 8 channels
  ampere.limits.compute_capability = 80;
  EXPECT_THAT(Nhwc::Create(Channels(64, 20), ampere)->why(),
              testing::StartsWith("k=20 is not a multiple of 8: 4-byte stores, pad K to 24 for "
                                  "8-byte ones; chosen of "));
  EXPECT_THAT(Nhwc::Create(Channels(64, 24), ampere)->why(), Not(HasSubstr("pad K")));
  EXPECT_THAT(why(20, 21), HasSubstr("c=20 is not a multiple of 16: 4-byte loads"));
  EXPECT_THAT(why(20, 21), HasSubstr("k=21 is not a multiple of 16: 1-byte stores"));
  EXPECT_THAT(why(64, 64), testing::StartsWith("chosen of "));
  EXPECT_THAT(Nhwc::Create(Channels(20, 64), CpuFacts{2})->why(), HasSubstr("4-byte loads, pad C"));
  // Blocked outputs pad K by themselves.
  EXPECT_THAT(NhwcToNc32::Create(Channels(64, 21), GpuFacts())->why(), Not(HasSubstr("pad K")));
  EXPECT_THAT(NhwcToNc32::Create(Channels(20, 21), GpuFacts())->why(), HasSubstr("pad C to 32"));
}

TEST(NhwcFamily, PatchesHaveTheChannelsOfTheirRows) {
  const auto op = Nhwc::Create(SquareProblem(64, 3, 224, 768, 16, 0, 16), GpuFacts());
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_EQ(op->config().mainloop, gemm::Mainloop::kWgmmaSm90);
  EXPECT_EQ(op->config().alignment.src, 16);
  EXPECT_THAT(op->why(), testing::StartsWith("chosen of "));
  EXPECT_THAT(op->Describe(), HasSubstr("patches as columns of 48 channels"));
  const auto narrow = Nhwc::Create(SquareProblem(64, 4, 28, 64, 2, 0, 2), GpuFacts());
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  EXPECT_THAT(narrow->why(),
              testing::StartsWith("c=4 is not a multiple of 8: 8-byte loads, pad C to 8 "
                                  "for 16-byte ones; "));
}

// The sentences of why() on accesses: "c=20 is not a multiple of 16: 4-byte loads, pad C to 32 and K to 16 for 16-byte
// ones; ".
struct Promise {
  Problem padded;
  bool loads = false;
  int width = 0;
};
std::vector<Promise> PromisesOf(const Problem& problem, const std::string& why) {
  std::vector<Promise> all;
  for (const std::string& sentence : std::vector<std::string>(absl::StrSplit(why, "; "))) {
    const std::size_t pad = sentence.find("-byte "), to = sentence.find(", pad ");
    if (pad == std::string::npos || to == std::string::npos) break;
    Promise promise{problem, sentence.compare(pad, 11, "-byte loads") == 0};
    char first = 0, second = 0;
    long long count = 0, others = 0;
    const char* const text = sentence.c_str() + to;
    const bool both = std::sscanf(text, ", pad %c to %lld and %c to %lld for %d-byte ones", &first,
                                  &count, &second, &others, &promise.width) == 5;
    if (!both) {
      EXPECT_EQ(
          std::sscanf(text, ", pad %c to %lld for %d-byte ones", &first, &count, &promise.width), 3)
          << sentence;
    }
    (first == 'C' ? promise.padded.c : promise.padded.k) = count;
    if (both) (second == 'C' ? promise.padded.c : promise.padded.k) = others;
    EXPECT_EQ(promise.loads, first == 'C') << sentence;
    all.push_back(promise);
  }
  return all;
}

// Whether a tile with loads, or stores, of `width` bytes can be used for `problem`.
template <class Op, class Machine>
bool HasWidth(const Problem& problem, const Machine& machine, bool loads, int width) {
  const absl::StatusOr<Op> op = Op::Create(problem, machine);
  if (!op.ok()) return false;
  for (const Candidate& c : op->candidates()) {
    const Alignment& its = c.facts.config.alignment;
    if (c.status.ok() && (loads ? its.src : its.dst) == width) return true;
  }
  return false;
}

// What why() promises is so, and what padding C, or K, alone would give it promises. Counts the promises.
template <class Op, class Machine>
int ExpectTrue(const Problem& problem, const Machine& machine, int src_bits, int dst_bits) {
  const absl::StatusOr<Op> op = Op::Create(problem, machine);
  if (!op.ok()) return 0;
  SCOPED_TRACE(absl::StrCat(ProblemName(problem), ": ", op->why()));
  const std::vector<Promise> promises = PromisesOf(problem, op->why());
  bool said[2] = {};
  for (const Promise& promise : promises) {
    said[promise.loads] = true;
    EXPECT_TRUE(HasWidth<Op>(promise.padded, machine, promise.loads, promise.width));
    EXPECT_FALSE(HasWidth<Op>(problem, machine, promise.loads, promise.width));
    EXPECT_GT(promise.width,
              promise.loads ? op->config().alignment.src : op->config().alignment.dst);
  }
  for (const bool loads : {true, false}) {
    const int bits = loads ? src_bits : dst_bits;
    if (bits == 0 || said[loads]) continue;
    for (int width = 2 * (loads ? op->config().alignment.src : op->config().alignment.dst);
         width <= 16; width *= 2) {
      Problem padded = problem;
      std::int64_t& count = loads ? padded.c : padded.k;
      count = problem.groups * RoundUp(count / problem.groups, 8 * width / bits);
      EXPECT_EQ(HasWidth<Op>(padded, machine, loads, width),
                HasWidth<Op>(problem, machine, loads, width))
          << width << " bytes are not promised";
    }
  }
  return static_cast<int>(promises.size());
}

// bits: of a source's value in NHWC and of an output's; 0 where the layout pads by itself.
template <class Op>
void ExpectTruePromises(std::uint32_t seed, int src_bits, int dst_bits) {
  std::mt19937 engine(seed);
  GpuFacts ampere;
  ampere.limits.compute_capability = 80;
  GpuFacts little;  // whose shared memory takes few tiles
  little.limits.compute_capability = 86, little.limits.shared_memory_per_block = 48 << 10;
  int promises = 0;
  for (int i = 0; i < 120; ++i) {
    Problem p;
    p.n = 1 + engine() % 3, p.h = 3 + engine() % 12, p.w = 3 + engine() % 12;
    p.r = 1 + engine() % 3, p.s = 1 + engine() % 3;
    p.groups = engine() % 4 == 0 ? 1 + engine() % 3 : 1;
    p.c = p.groups * (1 << engine() % 5) * (1 + engine() % 12);
    p.k = p.groups * (1 << engine() % 5) * (1 + engine() % 12);
    p.stride_h = 1 + engine() % 3, p.stride_w = engine() % 5 == 0 ? 9 : 1 + engine() % 3;
    p.pad_left = engine() % 3;
    if (i % 4 == 0) p.stride_w = p.s, p.w = 4 * p.s, p.pad_left = 0;  // patches
    promises += ExpectTrue<Op>(p, GpuFacts(), src_bits, dst_bits);
    promises += ExpectTrue<Op>(p, ampere, src_bits, dst_bits);
    promises += ExpectTrue<Op>(p, little, src_bits, dst_bits);
    promises += ExpectTrue<Op>(p, CpuFacts{2}, src_bits, dst_bits);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(promises, 10);
}

// A family of groups, some of whose tiles have wider loads, and some wider stores.
template <class PolicyT>
struct InGroups : PolicyT {
  using Prologue = prologues::Grouped;
};
using Groups = Dispatch<Family<InGroups<S8ConvNhwc<NhwcRelu, NHWC, Mma64x32, 4, 4>>,
                               InGroups<S8ConvNhwc<NhwcRelu, NHWC, Mma64x32, 16, 4>>,
                               InGroups<S8ConvNhwc<NhwcRelu, NHWC, Mma64x64>>>>;

TEST(NhwcFamily, PromisesWhatIsTrue) {
  ExpectTruePromises<Nhwc>(1, 8, 8);
  ExpectTruePromises<NhwcToNc32>(2, 8, 0);
  ExpectTruePromises<Dispatch<Int4SourceFamily<S8ConvNhwcFamily<NhwcRelu>>>>(3, 4, 8);
  ExpectTruePromises<Dispatch<S8Conv4Family<NhwcRelu, NHWC>>>(4, 0, 8);
  ExpectTruePromises<Groups>(5, 8, 8);
}

// Values of 4 bits: an access has twice as many channels as bytes.
TEST(NhwcFamily, CountsChannelsOfFourBits) {
  using Int4 = Dispatch<Int4SourceFamily<S8ConvNhwcFamily<NhwcRelu>>>;
  for (const std::int64_t c : {40, 48}) {
    EXPECT_THAT(Int4::Create(Channels(c, 32), GpuFacts())->why(),
                HasSubstr("is not a multiple of 32: "))
        << c;
    EXPECT_THAT(Int4::Create(Channels(c, 32), GpuFacts())->why(),
                HasSubstr("-byte loads, pad C to 64 for 16-byte ones; "))
        << c;
  }
}

TEST(NhwcFamily, RefusesWhatNoLoadFits) {
  for (const std::int64_t c : {1, 3, 6, 17, 30}) {
    for (const absl::Status& s : {Nhwc::Create(Channels(c, 64), GpuFacts()).status(),
                                  Nhwc::Create(Channels(c, 64), CpuFacts{2}).status(),
                                  NhwcToNc32::Create(Channels(c, 64), GpuFacts()).status()}) {
      EXPECT_EQ(s, absl::InvalidArgumentError(absl::StrCat(
                       "conv: c=", c,
                       " is not a multiple of 4, the channels of the narrowest load from NHWC; pad "
                       "C to ",
                       RoundUp(c, 4),
                       " with zeros, in src and filter, or use SrcLayout NCxHWx<32> or NCxHWx<4>, "
                       "which pad by themselves")));
    }
  }
}

TEST(NhwcFamily, OlderGpusAreRefusedInASentence) {
  GpuFacts turing;
  turing.limits.compute_capability = 75;
  EXPECT_EQ(Nhwc::Create(Channels(64, 64), turing).status().message(),
            "conv: config.mainloop needs compute capability 8.0, this GPU has 7.5; run on the CPU "
            "or choose an older mainloop");
}

// Stores are counted in channels: floats of 4 channels fill 16 bytes.
TEST(NhwcFamily, FloatOutputs) {
  using E =
      epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;
  EXPECT_EQ((S8ConvNhwc<E>::config.alignment.dst), 16);
  EXPECT_EQ((S8ConvNhwc<E, NHWC, Mma64x64, 4, 1>::config.alignment.dst), 4);
  EXPECT_EQ((S8ConvNhwc<E, NCHW>::config.alignment.dst), 4);
}

}  // namespace
}  // namespace weft::conv
