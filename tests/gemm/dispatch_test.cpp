// Dispatch of products: every policy of a family exact, the choice and what is said of it, tuning
// tables, addresses that a tile refuses, errors. What it shares with convolutions is tested in
// tests/conv/dispatch_test.cpp and tuning_test.cpp.
#include "weft/gemm/dispatch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tests/gemm/table/check.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/problem/problem_name.hpp"
#include "weft/gemm/dispatch_choice.hpp"
#include "weft/gemm/ready_made.hpp"

namespace weft::gemm {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

using ToInt8 = Chain<Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
using S8 = Dispatch<S8GemmFamily<ToInt8>>;
using S8Family = S8GemmFamily<ToInt8>;
// Of 16-bit floats a few policies; k runs across memory.
template <class Tile>
using HalfSums =
    TiledGemm<Half, Chain<ToSums<float>>, Tile, ProductLayouts<ColumnMajor, RowMajor, RowMajor>>;
using HalfOp =
    Dispatch<Family<HalfSums<product_tiles::Mma64x64Narrow>, HalfSums<product_tiles::Wgmma64x64>>>;

constexpr GemmProblem kLarge = {.m = 4096, .n = 4096, .k = 4096};

GpuFacts Gpu(int compute_capability, int multiprocessors, int kilobytes) {
  return GpuFactsOf({.compute_capability = compute_capability,
                     .sm_count = multiprocessors,
                     .shared_memory_per_block = kilobytes * 1024,
                     .shared_memory_per_sm = (kilobytes + 1) * 1024,
                     .registers_per_sm = 65536,
                     .max_threads_per_sm = 1024,
                     .l2_bytes = 40 << 20});
}

constexpr table::Facts kRowByColumn = {};
constexpr table::Facts kColumnByRow = {.a_k_major = false, .b_k_major = false};

template <class Element, class Epilogue, class Op>
void ExpectExact(const Op& op, const table::Facts& facts, std::uint32_t seed,
                 const std::vector<std::int32_t>& group_offsets = {}) {
  SCOPED_TRACE(op.Describe());
  const table::Product<Element, Epilogue, NoLoad, NoLoad> product(
      op.problem(),
      {.product = op.problem(), .group_offsets = group_offsets, .values = {true, false}}, facts,
      seed, 0);
  const auto args = product.template Args<typename Op::Arguments>();
  table::Launch(op, args, seed, [&] { return op.Run(args, nullptr); });
  if (!testing::Test::HasFatalFailure()) product.ExpectResult();
}

// By the two tiles that are compiled for the CPU, and by each of floats, whose sums depend on the tile.
TEST(GemmDispatch, EveryPolicyIsExact) {
  for (int i = 0; i < S8::kPolicies; ++i) {
    const auto op = S8::CreateAt({.m = 70, .n = 144, .k = 208}, i);
    ASSERT_TRUE(op.ok()) << op.status();
    EXPECT_EQ(op->index(), i);
    ExpectExact<std::int8_t, ToInt8>(*op, kRowByColumn, 10 + i);
  }
  for (int i = 0; i < HalfOp::kPolicies; ++i) {
    ExpectExact<Half, Chain<ToSums<float>>>(*HalfOp::CreateAt({.m = 72, .n = 40, .k = 50}, i),
                                            kColumnByRow, 50 + i);
  }
}

TEST(GemmDispatch, UnsignedA) {
  using Op = Dispatch<U8GemmFamily<ToInt8>>;
  static_assert(Op::kPolicies == S8::kPolicies);
  for (const int i : {0, 3, Op::kPolicies - 1}) {
    ExpectExact<std::uint8_t, ToInt8>(*Op::CreateAt({.m = 70, .n = 144, .k = 208}, i), kRowByColumn,
                                      70 + i);
  }
}

TEST(GemmDispatch, TilesForTheCpu) {
  int count = 0;
  for (const bool on_cpu : S8::OnCpu()) count += on_cpu;
  EXPECT_EQ(count, 2);
  EXPECT_TRUE(S8::OnCpu()[0]);  // the narrowest accesses
  EXPECT_EQ(HalfOp::OnCpu(), (std::array<bool, 2>{true, true}));
}

// Batches, whose tiles are counted together, and groups.
TEST(GemmDispatch, BatchesAndGroups) {
  const GemmProblem one = {.m = 128, .n = 128, .k = 128};
  GemmProblem many = one;
  many.batch = 300;
  const S8 small = *S8::Create(one, GpuFacts()), large = *S8::Create(many, GpuFacts());
  EXPECT_LT(small.config().threadblock.m * small.config().threadblock.n,
            large.config().threadblock.m * large.config().threadblock.n)
      << small.Describe() << "\n"
      << large.Describe();
  EXPECT_THAT(large.Describe(), HasSubstr("batch of 300 x 1 x 1 blocks"));
  ExpectExact<std::int8_t, ToInt8>(*S8::Create({.m = 70, .n = 16, .k = 32, .batch = 3}),
                                   kRowByColumn, 80);

  using Groups = Dispatch<
      GroupedFamily<Family<TiledGemm<std::int8_t, ToInt8, product_tiles::Dp4a64x64>,
                           TiledGemm<std::int8_t, ToInt8, product_tiles::Wgmma64x64SplitK4>,
                           TiledGemm<std::int8_t, ToInt8, product_tiles::Wgmma64x64>>>>;
  static_assert(Groups::kPolicies == 2, "clusters that share a tile are left out");
  EXPECT_EQ(Groups::FamilyName(), "s8_groups_x_column_to_s8_row_bias");
  const auto op = Groups::Create({.m = 150, .n = 16, .k = 32, .batch = 4}, GpuFacts());
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), HasSubstr("4 groups of 1 x 1 blocks"));
  ExpectExact<std::int8_t, ToInt8>(*op, kRowByColumn, 81, {70, 70, 71, 149});
}

// Ragged ones are left with the narrow policies.
TEST(GemmDispatch, ChoicesAreExact) {
  for (const GemmProblem& p : {GemmProblem{.m = 5, .n = 7, .k = 33, .lda = 36, .ldb = 36},
                               GemmProblem{.m = 65, .n = 48, .k = 320}}) {
    for (const absl::StatusOr<S8>& op :
         {S8::Create(p), S8::Create(p, CpuFacts{2}), S8::Create(p, GpuFacts())}) {
      ASSERT_TRUE(op.ok()) << op.status();
      ExpectExact<std::int8_t, ToInt8>(*op, kRowByColumn, 70);
    }
  }
}

TEST(GemmDispatch, TheModelAsksThePlan) {
  const S8 large = *S8::Create(kLarge, GpuFacts());
  EXPECT_EQ(large.config().mainloop, Mainloop::kWgmmaSm90);
  EXPECT_EQ(large.config().threadblock.m * large.config().threadblock.n, 128 * 256);
  EXPECT_THAT(
      large.Describe(),
      MatchesRegex("wgmma_sm90 .*row x column -> row; chosen of [0-9]+ tiles for a GPU of 132 "
                   "multiprocessors: predicted .* us, 512 blocks in 3.88 waves of 1 a "
                   "processor, 0% padding, 97% busy; next .*; addresses that it refuses "
                   "go to mma_sm80 .*"));
  // No less than the tensor cores and the memory take, and not much more.
  for (const Candidate& c : large.candidates()) {
    EXPECT_GT(c.prediction.microseconds, 4096.0 * 4096 * 4096 / (132 * 8192 * 1980.0));
  }
  EXPECT_LT(large.candidates()[large.index()].prediction.microseconds, 150.0);
  // 16-bit floats take twice as long.
  const auto half = [](const GpuFacts& gpu) {
    return Dispatch<HalfGemmFamily<Chain<ToSums<float>>>>::Create(kLarge, gpu)->candidates();
  };
  const auto times = half(GpuFacts());
  EXPECT_NEAR(times[9].prediction.microseconds, 2 * large.candidates()[9].prediction.microseconds,
              25.0);

  // Few outputs: small tiles; of long sums, clusters that share them.
  const S8 small = *S8::Create({.m = 256, .n = 256, .k = 256}, GpuFacts());
  EXPECT_LE(small.config().threadblock.m * small.config().threadblock.n, 64 * 128);
  const S8 deep = *S8::Create({.m = 128, .n = 128, .k = 65536}, GpuFacts());
  EXPECT_EQ(deep.config().cluster_split_k, 4) << deep.Describe();
  const S8 skinny = *S8::Create({.m = 16, .n = 4096, .k = 4096}, GpuFacts());
  EXPECT_EQ(skinny.config().threadblock.m, 32) << skinny.Describe();
}

TEST(GemmDispatch, OtherGpusAreServed) {
  EXPECT_EQ(S8::Create(kLarge, Gpu(75, 40, 64))->config().mainloop, Mainloop::kMmaSm75);
  const S8 ampere = *S8::Create(kLarge, Gpu(80, 108, 163));
  EXPECT_EQ(ampere.config().mainloop, Mainloop::kMmaSm80);
  EXPECT_GE(ampere.config().threadblock.m * ampere.config().threadblock.n, 128 * 128);
  for (const Candidate& c : ampere.candidates()) {
    EXPECT_EQ(c.status.ok(), c.facts.config.mainloop != Mainloop::kWgmmaSm90) << c.status;
  }
  EXPECT_THAT(ampere.Describe(), Not(HasSubstr("wgmma")));
  EXPECT_EQ(HalfOp::Create(kLarge, Gpu(75, 40, 64)).status().message(),
            "gemm: config.mainloop needs compute capability 8.0, this GPU has 7.5; run on the CPU "
            "or choose an older mainloop");
  const S8 cpu = *S8::Create(kLarge, CpuFacts{2});
  EXPECT_THAT(cpu.Describe(), HasSubstr("chosen of 2 tiles for 2 CPU threads: predicted "));
}

// Floats, one fma after the other: the ring of stages for large products, small tiles for few columns.
TEST(GemmDispatch, Fma) {
  using Floats = Dispatch<FloatGemmFamily<>>;
  using Doubles = Dispatch<DoubleGemmFamily<>>;
  const Floats large = *Floats::Create(kLarge, GpuFacts());
  EXPECT_EQ(large.config().threadblock.m * large.config().threadblock.n, 128 * 256);
  const Floats skinny = *Floats::Create({.m = 4096, .n = 16, .k = 4096}, GpuFacts());
  EXPECT_EQ(skinny.config().threadblock.m, 32) << skinny.Describe();
  // Of doubles tensor cores where there are some, for odd leading dimensions too.
  const Doubles doubles = *Doubles::Create(kLarge, GpuFacts());
  EXPECT_EQ(doubles.config().mainloop, Mainloop::kMmaSm80);
  EXPECT_GE(doubles.config().threadblock.m * doubles.config().threadblock.n, 128 * 64);
  const Doubles odd = *Doubles::Create({.m = 4095, .n = 4095, .k = 4095}, GpuFacts());
  EXPECT_EQ(odd.config().mainloop, Mainloop::kMmaSm80);
  EXPECT_EQ(Doubles::Create(kLarge, Gpu(75, 40, 64))->config().mainloop, Mainloop::kSimt);
  EXPECT_EQ(Floats::Create({.m = 3, .n = 3, .k = 5}, Gpu(75, 40, 64))->config().mainloop,
            Mainloop::kSimt);
  EXPECT_EQ(Floats::FamilyName(), "f32_row_x_column_to_f32_row_bias");
  EXPECT_EQ(Doubles::FamilyName(), "f64_row_x_column_to_f64_row");

  // Each tile, on a product that is no multiple of it.
  const GemmProblem problem = {.m = 37, .n = 52, .k = 76};
  std::vector<float> a(37 * 76), b(76 * 52), bias(52), want;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) - 6.0f;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 11) - 5.0f;
  for (int i = 0; i < Floats::kPolicies; ++i) {
    std::vector<float> c(37 * 52, -1.0f);
    const auto op = Floats::CreateAt(problem, i);
    ASSERT_TRUE(op.ok()) << op.status();
    const absl::Status s =
        op->RunOnCpu({.a = a.data(), .b = b.data(), .bias = bias.data(), .c = c.data()});
    ASSERT_TRUE(s.ok()) << s;
    if (i == 0) want = c;
    EXPECT_EQ(c, want) << op->Describe();  // integers, exact
  }
  float sum = 0.0f;
  for (int k = 0; k < 76; ++k) sum += a[36 * 76 + k] * b[51 * 76 + k];
  EXPECT_EQ(want[36 * 52 + 51], sum);
}

// The families of floats that only tensor cores multiply.
TEST(GemmDispatch, TensorCoreFloats) {
  using E4m3 = Dispatch<E4m3GemmFamily<Chain<ToSums<float>>>>;
  using Floats = Dispatch<Tf32GemmFamily<>>;
  const E4m3 large = *E4m3::Create(kLarge, GpuFacts());
  const Floats floats = *Floats::Create(kLarge, GpuFacts());
  EXPECT_GE(large.config().threadblock.m * large.config().threadblock.n, 128 * 128);
  const auto microseconds = [](const auto& op) {
    return op.candidates()[op.index()].prediction.microseconds;
  };
  // Four times the products, and sums of the same size.
  EXPECT_NEAR(microseconds(floats) / microseconds(large), 3.5, 0.5);
  EXPECT_EQ(E4m3::FamilyName(), "e4m3_row_x_column_to_f32_row");
  EXPECT_EQ(Floats::FamilyName(), "tf32_row_x_column_to_f32_row_bias");

  EXPECT_EQ(E4m3::Create({.m = 65, .n = 7, .k = 32}, GpuFacts())->config().alignment.dst, 4);
  EXPECT_EQ(std::string(E4m3::Create({.m = 65, .n = 7, .k = 18}, GpuFacts()).status().message()),
            "gemm: k=18 is not a multiple of 4, the elements of one access; pad the matrix's lines "
            "(lda=20) or lower config.alignment with WithSrcAlignment");
  EXPECT_EQ(E4m3::Create(kLarge, Gpu(80, 108, 163)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(E4m3::Create(kLarge, Gpu(89, 128, 99))->config().mainloop, Mainloop::kMmaSm80);
  EXPECT_EQ(Floats::Create(kLarge, Gpu(80, 108, 163))->config().mainloop, Mainloop::kMmaSm80);
  // In the other orders, transposed.
  using MnMajor = Dispatch<Tf32GemmFamily<Chain<ToSums<float>>, ColumnMajor, RowMajor>>;
  const std::vector<Candidate> across = MnMajor::Create(kLarge, GpuFacts())->candidates();
  EXPECT_TRUE(std::any_of(across.begin(), across.end(), [](const Candidate& c) {
    return c.status.ok() && c.facts.config.mainloop == Mainloop::kWgmmaSm90;
  }));
  using Bytes = Dispatch<E4m3GemmFamily<Chain<ToSums<float>>, ColumnMajor, RowMajor>>;
  EXPECT_EQ(Bytes::Create(kLarge, GpuFacts())->config().mainloop, Mainloop::kWgmmaSm90);
  EXPECT_EQ(Bytes::Create(kLarge, Gpu(89, 128, 99))->config().mainloop, Mainloop::kMmaSm80);
  EXPECT_EQ(MnMajor::FamilyName(), "tf32_column_x_row_to_f32_row");
  // Halves of GPUs before sm_80.
  using Halves = Dispatch<HalfGemmFamily<Chain<ToSums<float>>>>;
  EXPECT_EQ(Halves::Create(kLarge, Gpu(75, 40, 64))->config().mainloop, Mainloop::kMmaSm75);
}

TEST(GemmDispatch, WithoutGpuCodeForSomeTheOthersAreTaken) {
  std::vector<Candidate> candidates = S8::Create(kLarge, GpuFacts())->candidates();
  bool has_code[S8::kPolicies] = {};
  internal::RefuseWithoutGpuCode("gemm", "weft_add_gemms", has_code, &candidates);
  EXPECT_TRUE(candidates[5].status.ok());  // a program for the CPU
  has_code[3] = true;
  internal::RefuseWithoutGpuCode("gemm", "weft_add_gemms", has_code, &candidates);
  EXPECT_EQ(internal::Cheapest(candidates), 3);
  EXPECT_EQ(candidates[5].status.message(),
            "gemm: this program holds no GPU code for the policy; name it in weft_add_gemms() in "
            "CMake");
}

TEST(GemmDispatch, AddressesThatWgmmaRefusesGoToAnotherTile) {
  const GemmProblem p = {.m = 64, .n = 64, .k = 64};
  const S8 op = *S8::Create(p, GpuFacts());
  ASSERT_EQ(op.config().mainloop, Mainloop::kWgmmaSm90) << op.Describe();
  alignas(16) std::int8_t a[64 * 64 + 16] = {}, b[64 * 64] = {}, c[64 * 64];
  std::vector<float> bias(64, 3.0f);
  S8::Arguments args = {.a = a, .b = b, .bias = bias.data(), .c = c};
  EXPECT_TRUE(op.CheckArguments(args).ok());
  EXPECT_THAT(op.why(), HasSubstr("; addresses that it refuses go to mma_sm80 64x64x64, 4 stages, "
                                  "then to mma_sm80 64x64x64, 4 stages, 4-byte loads"));
  for (const int shift : {8, 4}) {
    args.a = a + shift;
    const S8 fixed = *S8::CreateAt(p, op.index());
    EXPECT_THAT(std::string(fixed.CheckArguments(args).message()),
                HasSubstr("is not 16-byte aligned"));
    std::fill(c, c + 64 * 64, 77);
    const absl::Status status = op.RunOnCpu(args);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(std::count(c, c + 64 * 64, 3), 64 * 64);
  }
  args.a = a + 1;  // none takes it
  EXPECT_THAT(std::string(op.CheckArguments(args).message()), HasSubstr("is not 4-byte aligned"));
  EXPECT_EQ(op.Run(args, nullptr), op.CheckArguments(args));
}

TEST(GemmDispatch, BadInputIsRefusedAsByOnePolicy) {
  for (const absl::Status& s : {S8::Create({.m = -1}).status(), S8::CreateAt({.m = -1}, 1).status(),
                                S8::Create({.m = -1}, GpuFacts()).status()}) {
    EXPECT_EQ(s.message(), "gemm: m=-1 is negative; give 0 or more");
  }
  const auto nothing = S8::Create({.m = 0, .n = 16, .k = 16}, GpuFacts());
  ASSERT_TRUE(nothing.ok()) << nothing.status();
  EXPECT_EQ(nothing->Describe(), "nothing to do: C has no elements; there is nothing to do");
  EXPECT_TRUE(nothing->RunOnCpu({}).ok());
  GpuFacts impossible;
  impossible.limits.registers_per_sm = std::numeric_limits<int>::max();
  EXPECT_THAT(std::string(S8::Create(kLarge, impossible).status().message()),
              HasSubstr("gpu.limits.registers_per_sm=2.14748e+09 describes no GPU"));
  EXPECT_EQ(S8::Create(kLarge, CpuFacts{2147483647}).status().message(),
            "gemm: cpu.threads=2147483647 exceeds 65536; give the threads that run together");
  EXPECT_EQ(S8::CreateAt({}, S8::kPolicies).status().message(),
            absl::StrCat("gemm: index=", S8::kPolicies,
                         " is not a policy of this family; give 0 to ", S8::kPolicies - 1));
  EXPECT_EQ(S8::Create(kLarge, CpuFacts{0}).status().message(),
            "gemm: cpu.threads=0 is not positive; give 1 or more");
  EXPECT_THAT(std::string(S8::Create({.m = 3, .n = 3, .k = 6}, GpuFacts()).status().message()),
              HasSubstr("k=6 is not a multiple of 4"));
}

// What weft_add_gemm_family() counts on.
static_assert(std::is_same_v<PolicyOf<S8Family, S8::kPolicies, 0>,
                             TiledGemm<std::int8_t, ToInt8, product_tiles::Dp4a64x64>>);

TEST(GemmTuning, Names) {
  EXPECT_EQ(S8::FamilyName(), "s8_row_x_column_to_s8_row_bias");
  EXPECT_EQ(HalfOp::FamilyName(), "f16_column_x_row_to_f32_row");
  EXPECT_EQ(ProblemName(kLarge), "m4096n4096k4096");
  EXPECT_EQ(ProblemName(*ParseProductName("m12n3k456")), "m12n3k456");
  EXPECT_EQ(ProblemName(*ParseProductName("m12n3k456b7")), "m12n3k456b7");
  EXPECT_EQ(ParseProductName("m12k3").status().message(),
            "problem 'm12k3': 'k3' stands where 'n' and the columns of B and C would be accepted, "
            "as in m4096n512k1024");
  EXPECT_THAT(std::string(ParseProductName("m1n2k3g4").status().message()),
              HasSubstr("'g4' stands where the end would be accepted"));
}

TEST(GemmTuning, AHitDecidesAndAMissFallsToTheModel) {
  for (int i = 0; i < S8::kPolicies; i += 4) {
    TuningTable table;
    const std::string policy = PolicyName(S8::Configs()[i]);
    ASSERT_TRUE(table.Put({"NVIDIA H200", 132, S8::FamilyName(), kLarge, policy, 100.0}).ok());
    const S8 op = *S8::Create(kLarge, GpuFacts(), {.tuning = &table});
    EXPECT_EQ(op.index(), i);
    EXPECT_TRUE(op.measured());
    EXPECT_THAT(op.why(), StartsWith("measured: " + policy + " was the quickest on NVIDIA H200"));
    const S8 other = *S8::Create({.m = 512, .n = 64, .k = 64}, GpuFacts(), {.tuning = &table});
    EXPECT_FALSE(other.measured());
    EXPECT_THAT(other.why(), StartsWith("not measured: the tuning table holds no m512n64k64 of "
                                        "s8_row_x_column_to_s8_row_bias for NVIDIA H200"));
  }
}

// One file holds both; each kind of operator checks the names of its own problems.
TEST(GemmTuning, ProductsAndConvolutionsShareATable) {
  const std::string text =
      "device=\"NVIDIA H200\" sms=132 operator=a problem=m0004n4k4 policy=x us=1.0000\n"
      "device=\"NVIDIA H200\" sms=132 operator=b problem=n1c4h4w4k4r3x3s1p1 policy=y us=2.0000\n";
  const auto table = conv::TuningTable::Parse("t.txt", text);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_NE(table->Find("NVIDIA H200", 132, "a", GemmProblem{.m = 4, .n = 4, .k = 4}), nullptr);
  const conv::Problem p = *conv::ParseProblemName("n1c4h4w4k4r3s1p1");
  ASSERT_NE(table->Find("NVIDIA H200", 132, "b", p), nullptr);
  // Products' own table keeps the other lines as they are.
  const auto own = TuningTable::Parse("t.txt", table->Text());
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->records(), table->records());

  const auto message = [](const auto& parsed) { return std::string(parsed.status().message()); };
  const auto line = [](const std::string& problem) {
    return "device=X sms=1 operator=a policy=x us=1 problem=" + problem;
  };
  for (const std::string& problem : {std::string("m4294967296n4k4"), std::string("m4n4")}) {
    EXPECT_EQ(message(conv::TuningTable::Parse("t", line(problem))),
              message(TuningTable::Parse("t", line(problem))));
  }
  EXPECT_EQ(
      message(TuningTable::Parse("t", line("m4294967296n4k4"))),
      "t:1: problem=m4294967296n4k4: gemm: m=4294967296 exceeds 2147482623; split the product");
  EXPECT_EQ(
      message(TuningTable::Parse("t", line("\"m4 \""))),
      "t:1: problem 'm4 ': ' ' stands where 'n' and the columns of B and C would be accepted, "
      "as in m4096n512k1024");
  EXPECT_EQ(message(TuningTable::Parse("t", line(""))), "t:1: problem is empty; give a name");
}

}  // namespace
}  // namespace weft::gemm
