// Tuning tables: names, the file format and its errors, and what Dispatch makes of them.
#include "weft/conv/choose/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "tests/conv/harness.hpp"
#include "tests/conv/own_relu.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/problem/problem_name.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Relu = OwnRelu;
using Nc32 = Dispatch<S8Conv32Family<Relu>>;

Problem SmallK() {
  Problem p = SquareProblem(16, 64, 92, 32, 3, 1, 1);
  p.w = 160;
  return p;
}

constexpr MmaSm80Config kSmallKTile({128, 32, 64}, {64, 32, 64}, 3);

TuningRecord SmallKRecord(const TileDescription& config) {
  return {"NVIDIA H200", 132, Nc32::FamilyName(), SmallK(), PolicyName(config), 36.25};
}

TEST(ProblemName, IsTheLayerListsNotation) {
  EXPECT_EQ(ProblemName(SmallK()), "n16c64h92w160k32r3s1p1");
  Problem p = SmallK();
  p.s = 5, p.stride_w = 2, p.pad_right = 2, p.dilation_h = 2, p.mode = Mode::kConvolution;
  EXPECT_EQ(ProblemName(p), "n16c64h92w160k32r3x5s1x2p1x1x1x2d2x1flipped");
  p.dilation_w = 2;
  EXPECT_EQ(ProblemName(p), "n16c64h92w160k32r3x5s1x2p1x1x1x2d2flipped");
}

TEST(ProblemName, ComesBack) {
  std::mt19937 engine(3);
  for (int i = 0; i < 500; ++i) {
    const Problem p = RandomProblem(engine);
    const auto back = ParseProblemName(ProblemName(p));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, p) << ProblemName(p);
  }
}

TEST(ProblemName, BadNamesAreRefused) {
  const auto message = [](const std::string& name) {
    return std::string(ParseProblemName(name).status().message());
  };
  EXPECT_EQ(message("c64h92w160k32r3s1p1"),
            "problem 'c64h92w160k32r3s1p1': 'c64h92w160k32r3s1p1' stands where 'n' and the number "
            "of images would be accepted, as in n16c64h92w160k32r3s1p1");
  EXPECT_THAT(message("n16c64h92w160k32r3s1"),
              HasSubstr("it ends where 'p' and the padding would be accepted"));
  EXPECT_THAT(message("n16c64h92w160k32r3s1p1x2"),
              HasSubstr("'p1x2' stands where one number or 4: the padding would be accepted"));
  EXPECT_THAT(message("n1x2c64h92w160k32r3s1p1"),
              HasSubstr("where one number: the number of images would be accepted"));
  EXPECT_THAT(message("n16cch92w160k32r3s1p1"),
              HasSubstr("'cch92w160k32r3s1p1' stands where 'c' and the input channels"));
  EXPECT_THAT(
      message("n16c64h92w160k32r3s1p1flip"),
      HasSubstr("'flip' stands where the end, 'd' and the dilations, 'g' and the groups, or "
                "'flipped'"));
  EXPECT_THAT(message("n1111111111111c64h92w160k32r3s1p1"),
              HasSubstr("where a number of at most 12 digits would be accepted"));
  EXPECT_THAT(message(""), HasSubstr("problem '': it ends where"));
}

TEST(PolicyName, HasEveryNumber) {
  EXPECT_EQ(PolicyName(kMma128x64), "mma_sm80_128x64x64_w64x32x64_s4_a16_d8");
  EXPECT_EQ(PolicyName(WithSrcAlignment(kMma128x64, 4)), "mma_sm80_128x64x64_w64x32x64_s4_a4_d8");
  EXPECT_EQ(PolicyName(kSimt32x32Deep), "simt_32x32x128_w32x16x32_t4x4_a4_d4");
  EXPECT_EQ(PolicyName(MmaSm75Tile64x32::config), "mma_sm75_64x32x64_w32x32x64_s2_a16_d8");
  constexpr WgmmaSm90Config kWgmma({64, 128, 64}, {64, 64, 64}, 2);
  EXPECT_EQ(PolicyName(kWgmma), "wgmma_sm90_64x128x64_w64x64x64_b2_a16_d16");
  EXPECT_EQ(PolicyName(gemm::WithClusterSplitK(kWgmma, 4)),
            "wgmma_sm90_64x128x64_w64x64x64_b2_c4_a16_d16");
}

TEST(OperatorName, HasTypesLayoutsAndWhatTheEpilogueReads) {
  EXPECT_EQ(OperatorName<S8Conv32<>>(), "s8_NCxHWx<32>_to_s8_NCxHWx<32>_bias");
  EXPECT_EQ((OperatorName<S8Conv4<epilogues::ResidualBiasRelu<>, NHWC>>()),
            "s8_NCxHWx<4>_to_s8_NHWC_bias_residual");
  EXPECT_EQ(Nc32::FamilyName(), OperatorName<S8Conv32<epilogues::BiasHSwish<>>>());
}

TEST(TuningTable, ComesBackFromItsText) {
  TuningTable table;
  TuningRecord record = SmallKRecord(kSmallKTile);
  ASSERT_TRUE(table.Put(record).ok());
  record.sm_count = 66, record.microseconds = 70.0;
  ASSERT_TRUE(table.Put(record).ok());
  Problem flipped = SmallK();
  flipped.mode = Mode::kConvolution;
  record.problem = flipped;
  ASSERT_TRUE(table.Put(record).ok());
  record.microseconds = 69.5;  // replaces the last one
  ASSERT_TRUE(table.Put(record).ok());
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table.Text("two lines\n\nof comment"),
            "# two lines\n#\n# of comment\n"
            "device=\"NVIDIA H200\" sms=66 operator=s8_NCxHWx<32>_to_s8_NCxHWx<32>_bias "
            "problem=n16c64h92w160k32r3s1p1 policy=mma_sm80_128x32x64_w64x32x64_s3_a16_d8 "
            "us=70.0000\n"
            "device=\"NVIDIA H200\" sms=66 operator=s8_NCxHWx<32>_to_s8_NCxHWx<32>_bias "
            "problem=n16c64h92w160k32r3s1p1flipped policy=mma_sm80_128x32x64_w64x32x64_s3_a16_d8 "
            "us=69.5000\n"
            "device=\"NVIDIA H200\" sms=132 operator=s8_NCxHWx<32>_to_s8_NCxHWx<32>_bias "
            "problem=n16c64h92w160k32r3s1p1 policy=mma_sm80_128x32x64_w64x32x64_s3_a16_d8 "
            "us=36.2500\n");
  const auto back = TuningTable::Parse("text", table.Text("comment"));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->records(), table.records());

  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "tuning.txt";
  ASSERT_TRUE(table.Write(path, "comment").ok());
  const auto read = TuningTable::Read(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->records(), table.records());
}

TEST(TuningTable, FindsExactMatchesOnly) {
  TuningTable table;
  const TuningRecord record = SmallKRecord(kSmallKTile);
  ASSERT_TRUE(table.Put(record).ok());
  const std::string& name = record.operator_name;
  ASSERT_NE(table.Find("NVIDIA H200", 132, name, SmallK()), nullptr);
  EXPECT_EQ(*table.Find("NVIDIA H200", 132, name, SmallK()), record);
  EXPECT_EQ(table.Find("NVIDIA H100", 132, name, SmallK()), nullptr);
  EXPECT_EQ(table.Find("NVIDIA H200", 131, name, SmallK()), nullptr);
  EXPECT_EQ(table.Find("NVIDIA H200", 132, name + "_residual", SmallK()), nullptr);
  Problem other = SmallK();
  other.n = 1;
  EXPECT_EQ(table.Find("NVIDIA H200", 132, name, other), nullptr);
}

// The line of a good record, with one field replaced by `field`.
std::string Line(const std::string& replaced = "", const std::string& field = "") {
  std::string line;
  for (const std::string& part :
       {std::string("device=\"NVIDIA H200\""), std::string("sms=132"), std::string("operator=op"),
        std::string("problem=n16c64h92w160k32r3s1p1"), std::string("policy=tile"),
        std::string("us=36.2")}) {
    const bool here = !replaced.empty() && part.compare(0, replaced.size(), replaced) == 0;
    absl::StrAppend(&line, here ? field : part, " ");
  }
  return line;
}

std::string ParseMessage(const std::string& text) {
  const absl::Status status = TuningTable::Parse("t.txt", text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

TEST(TuningTable, ReadsAnyOrderCommentsAndLineEnds) {
  const auto table = TuningTable::Parse(
      "t.txt",
      "# comment\r\n\n   # indented\nus=1e1 policy=tile problem=n1c1h1w1k1r1s1p0 sms=8 operator=op "
      "device=X # the end\r\n" +
          Line());
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 2u);
  const TuningRecord* record = table->Find("X", 8, "op", Problem());
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->microseconds, 10.0);
  EXPECT_EQ(TuningTable::Parse("t.txt", "")->size(), 0u);
}

TEST(TuningTable, BadInputNamesFileLineAndField) {
  EXPECT_EQ(ParseMessage("\n" + Line("us=", "us=fast")),
            "t.txt:2: us=fast is not a number of microseconds");
  EXPECT_EQ(ParseMessage(Line("us=", "us=-1")),
            "t.txt:1: us=-1 is not a time; give microseconds, 0.0001 or more");
  EXPECT_EQ(ParseMessage(Line("us=", "us=nan")),
            "t.txt:1: us=nan is not a time; give microseconds, 0.0001 or more");
  EXPECT_EQ(ParseMessage(Line("us=", "us")), "t.txt:1: us has no value; write us=value");
  EXPECT_EQ(ParseMessage(Line("us=", "")),
            "t.txt:1: us is missing; a record has device, sms, operator, problem, policy and us");
  EXPECT_EQ(ParseMessage(Line("us=", "us=1 us=2")), "t.txt:1: us is given twice");
  EXPECT_EQ(ParseMessage(Line("us=", "ms=1")),
            "t.txt:1: 'ms' is not a field; there are device, sms, operator, problem, policy and "
            "us");
  EXPECT_EQ(ParseMessage(Line("sms=", "sms=many")), "t.txt:1: sms=many is not a whole number");
  EXPECT_EQ(ParseMessage(Line("sms=", "sms=0")),
            "t.txt:1: sms=0 is not a number of multiprocessors; give 1 or more");
  EXPECT_EQ(ParseMessage(Line("device=", "device=")),
            "t.txt:1: device is empty; give the GPU's name as CUDA has it, such as \"NVIDIA "
            "H200\"");
  EXPECT_EQ(ParseMessage(Line("device=", "device=NVIDIA H200")),
            "t.txt:1: 'H200' is not a field; there are device, sms, operator, problem, policy and "
            "us");
  EXPECT_EQ(ParseMessage("device=\"NVIDIA"), "t.txt:1: device has no closing '\"'");
  EXPECT_EQ(ParseMessage(Line("operator=", "operator=")),
            "t.txt:1: operator is empty; give a name");
  EXPECT_EQ(ParseMessage(Line("policy=", "policy=\"a b\"")),
            "t.txt:1: policy=a b has white space, '\"' or '#' in it; give a name without");
  EXPECT_THAT(ParseMessage(Line("problem=", "problem=c64")),
              StartsWith("t.txt:1: problem 'c64': 'c64' stands where 'n' and"));
  EXPECT_EQ(ParseMessage(Line("problem=", "problem=n16c0h92w160k32r3s1p1")),
            "t.txt:1: problem=n16c0h92w160k32r3s1p1: conv: c=0 is not positive; give 1 or more");
  EXPECT_EQ(ParseMessage(Line() + "\n\n" + Line("us=", "us=1")),
            "t.txt:3: problem=n16c64h92w160k32r3s1p1 stands in line 1 already, for the same device "
            "and operator; keep one of them");
}

TEST(TuningTable, BadRecordsAndPathsAreRefused) {
  TuningTable table;
  TuningRecord record = SmallKRecord(kSmallKTile);
  record.device = "a \"b\"";
  EXPECT_EQ(table.Put(record).message(),
            "tuning record: device=a \"b\" has a '\"' or a line break in it");
  record = SmallKRecord(kSmallKTile);
  record.policy = "";
  EXPECT_EQ(table.Put(record).message(), "tuning record: policy is empty; give a name");
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(TuningTable::Read("/nowhere/tuning.txt").status(),
            absl::NotFoundError("tuning table /nowhere/tuning.txt cannot be opened"));
  EXPECT_EQ(table.Write("/nowhere/tuning.txt"),
            absl::UnavailableError("tuning table /nowhere/tuning.txt cannot be written"));
}

TEST(Tuning, AHitDecides) {
  for (int i = 0; i < Nc32::kPolicies; ++i) {
    TuningTable table;
    ASSERT_TRUE(table.Put(SmallKRecord(Nc32::Configs()[i])).ok());
    const auto op = Nc32::Create(SmallK(), GpuFacts(), {.tuning = &table});
    ASSERT_TRUE(op.ok()) << op.status();
    EXPECT_EQ(op->index(), i);
    EXPECT_TRUE(op->measured());
    EXPECT_THAT(op->why(),
                StartsWith("measured: " + PolicyName(Nc32::Configs()[i]) +
                           " was the quickest on NVIDIA H200 of 132 multiprocessors, 36.2 us; "));
    EXPECT_THAT(op->Describe(), HasSubstr("; measured: "));
    const bool agrees = Nc32::Create(SmallK(), GpuFacts())->index() == i;
    EXPECT_THAT(op->why(), HasSubstr(agrees ? "the model says so too" : " would take wgmma_sm90 "));
  }
}

TEST(Tuning, AMissFallsToTheModel) {
  TuningTable table;
  ASSERT_TRUE(table.Put(SmallKRecord(kMma128x128)).ok());
  Problem other = SmallK();
  other.k = 64;
  const Nc32 model = *Nc32::Create(other, GpuFacts());
  const Nc32 op = *Nc32::Create(other, GpuFacts(), {.tuning = &table});
  EXPECT_FALSE(op.measured());
  EXPECT_EQ(op.index(), model.index());
  EXPECT_EQ(op.why(),
            "not measured: the tuning table holds no n16c64h92w160k64r3s1p1 of "
            "s8_NCxHWx<32>_to_s8_NCxHWx<32>_bias for NVIDIA H200 of 132 multiprocessors; " +
                model.why());
  const GpuFacts nameless = GpuFactsOf(GpuFacts().limits);
  EXPECT_THAT(Nc32::Create(SmallK(), nameless, {.tuning = &table})->why(),
              StartsWith("the tuning table was not asked, since GpuFacts has no name; give "
                         "gpu.name; chosen of "));
  EXPECT_THAT(Nc32::Create(SmallK(), GpuFacts())->why(), StartsWith("chosen of "));
}

TEST(Tuning, AnUnknownOrRefusedPolicyFallsToTheModel) {
  TuningTable table;
  ASSERT_TRUE(table.Put(SmallKRecord(kSimt64x64)).ok());
  const Nc32 unknown = *Nc32::Create(SmallK(), GpuFacts(), {.tuning = &table});
  EXPECT_FALSE(unknown.measured());
  EXPECT_THAT(unknown.why(), StartsWith("the tuning table's policy " + PolicyName(kSimt64x64) +
                                        " is not in this family, so the model chose; chosen of "));

  ASSERT_TRUE(table.Put(SmallKRecord(kMma128x128)).ok());
  GpuFacts small;
  small.limits.shared_memory_per_block = 40 * 1024;
  const Nc32 refused = *Nc32::Create(SmallK(), small, {.tuning = &table});
  EXPECT_FALSE(refused.measured());
  EXPECT_THAT(refused.why(), StartsWith("the tuning table's policy " + PolicyName(kMma128x128) +
                                        " cannot be used, so the model chose (conv: "
                                        "config.threadblock needs "));
}

TEST(TuningTable, AFolderIsRefused) {
  const absl::Status s = TuningTable::Read(testing::TempDir()).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(s.message()), HasSubstr("is a folder; give a file"));
}

}  // namespace
}  // namespace weft::conv
