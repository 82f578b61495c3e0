#include "perf/support/layers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "perf/gemm_bench/sizes.hpp"

namespace weft::perf {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(Layers, FullNameGivesEveryNumber) {
  const auto layer = ParseLayer("n16c64h92w160k32r3s2p0d4");
  ASSERT_TRUE(layer.ok()) << layer.status();
  const conv::Problem& p = layer->problem;
  EXPECT_TRUE(layer->has_batch);
  EXPECT_EQ(p.n, 16);
  EXPECT_EQ(p.c, 64);
  EXPECT_EQ(p.h, 92);
  EXPECT_EQ(p.w, 160);
  EXPECT_EQ(p.k, 32);
  EXPECT_EQ(p.r, 3);
  EXPECT_EQ(p.s, 3);
  EXPECT_EQ(p.stride_h, 2);
  EXPECT_EQ(p.stride_w, 2);
  EXPECT_EQ(p.pad_top + p.pad_left + p.pad_bottom + p.pad_right, 0);
  EXPECT_EQ(p.dilation_h, 4);
  EXPECT_EQ(p.dilation_w, 4);
}

TEST(Layers, PaddingIsHalfTheFilterUnlessGiven) {
  const auto layer = ParseLayer("c4h224w224k64r7s2");
  ASSERT_TRUE(layer.ok()) << layer.status();
  EXPECT_FALSE(layer->has_batch);
  EXPECT_EQ(layer->problem, conv::SquareProblem(1, 4, 224, 64, 7, 3, 2));
  EXPECT_EQ(*layer, *ParseLayer("c4h224w224k64r7s2p3"));
}

TEST(Layers, NamesComeBack) {
  for (const char* name :
       {"c64h56w56k64r3s1", "n7c3h5w9k10r5s2p0", "n1c1h1w1k1r1s1", "n2c8h20w20k8r3s1p2d2",
        "c8h20w20k8r3x1s1x2p1x0x1x2d1x2", "c8h20w20k8r1x3s1"}) {
    const auto layer = ParseLayer(name);
    ASSERT_TRUE(layer.ok()) << layer.status();
    EXPECT_EQ(LayerName(layer->problem, layer->has_batch), name);
  }
  EXPECT_EQ(LayerName(ParseLayer("c64h56w56k64r3s1p1")->problem), "c64h56w56k64r3s1");
}

TEST(Layers, TheTwoDirectionsMayDiffer) {
  const auto layer = ParseLayer("n2c64h56w40k64r3x5s1x2p0x2x1x3d2x1");
  ASSERT_TRUE(layer.ok()) << layer.status();
  const conv::Problem& p = layer->problem;
  EXPECT_EQ(p.r, 3);
  EXPECT_EQ(p.s, 5);
  EXPECT_EQ(p.stride_h, 1);
  EXPECT_EQ(p.stride_w, 2);
  EXPECT_EQ(p.pad_top, 0);
  EXPECT_EQ(p.pad_left, 2);
  EXPECT_EQ(p.pad_bottom, 1);
  EXPECT_EQ(p.pad_right, 3);
  EXPECT_EQ(p.dilation_h, 2);
  EXPECT_EQ(p.dilation_w, 1);
  // Half of each extent of the filter.
  EXPECT_EQ(*ParseLayer("c8h9w9k8r1x7s1"), *ParseLayer("c8h9w9k8r1x7s1p0x3x0x3"));
}

TEST(Layers, ErrorsNameThePartAndTheGrammar) {
  const auto error = [](const char* name) { return Message(ParseLayer(name).status()); };
  const auto grammar = HasSubstr("[n<N>]c<C>h<H>w<W>k<K>r<R>s<stride>[p<pad>][d<dilation>]");
  EXPECT_THAT(error(""), AllOf(HasSubstr("'c' and the input channels"), grammar));
  EXPECT_THAT(error("c64h56w56k64r3"),
              AllOf(HasSubstr("it ends where 's' and the strides"), grammar));
  EXPECT_THAT(error("c64h56k64r3s1"), HasSubstr("'k64r3s1' stands where 'w'"));
  EXPECT_THAT(error("c0h56w56k64r3s1"), HasSubstr("c=0"));
  EXPECT_THAT(error("c64h56w56k64r3s0"), HasSubstr("stride"));
  EXPECT_THAT(error("c64h2w2k64r7s1p0"),
              HasSubstr("conv: "));  // the filter is larger than the image
  EXPECT_THAT(error("c64h56w56k64r3s1p99999999999999999999"), HasSubstr("12 digits"));
  EXPECT_THAT(error("c64h56w56k64r3s1x"), HasSubstr("stands where"));
}

TEST(Layers, ListsHaveCommentsAndCounts) {
  const auto list = ParseLayerList("a.txt",
                                   "# all of it\n\nc4h8w8k4r3s1 count=3  # three\n"
                                   "  n2c4h8w8k4r1s1\r\n");
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].count, 3);
  EXPECT_EQ((*list)[1].count, 1);
  EXPECT_TRUE((*list)[1].has_batch);
}

TEST(Layers, ListErrorsNameTheLine) {
  const auto error = [](const char* text) {
    return Message(ParseLayerList("a.txt", text).status());
  };
  EXPECT_THAT(error("\nc4h8w8k4r3"), HasSubstr("a.txt:2: layer 'c4h8w8k4r3'"));
  EXPECT_THAT(error("c4h8w8k4r3s1 count=0"), HasSubstr("a.txt:1: cannot read 'count=0'"));
  EXPECT_THAT(error("c4h8w8k4r3s1 often"), HasSubstr("cannot read 'often'"));
  EXPECT_THAT(Message(LayerList("vgg").status()),
              AllOf(HasSubstr("'vgg' does not exist"), HasSubstr("t4_17")));
}

int Convolutions(const std::vector<Layer>& layers) {
  return std::accumulate(layers.begin(), layers.end(), 0,
                         [](int sum, const Layer& layer) { return sum + layer.count; });
}

TEST(Layers, BuiltInLists) {
  for (const std::string& name : LayerListNames()) {
    EXPECT_TRUE(LayerList(name).ok()) << LayerList(name).status();
  }
  EXPECT_EQ(LayerList("t4_17")->size(), 17u);
  EXPECT_EQ(LayerList("reformat")->size(), 1u);
  EXPECT_EQ(LayerList("resnet50")->size(), 23u);
  EXPECT_EQ(Convolutions(*LayerList("resnet50")), 53);
  EXPECT_EQ(LayerList("anchors")->size(), 25u);
  EXPECT_EQ(Convolutions(*LayerList("vgg16")), 13);
  ASSERT_EQ(LayerList("small_k")->size(), 1u);
  EXPECT_EQ(LayerName(LayerList("small_k")->front().problem, true), "n16c64h92w160k32r3s1");
}

// 4.09 GMAC is what ResNet-50 v1.5 is known for; the fully connected layer is 2 MMAC of it, and the
// first layer has 4 channels here, not 3.
TEST(Layers, ResNet50HasTheKnownNumberOfMacs) {
  double macs = 0.0;
  const auto layers = LayerList("resnet50");
  for (const Layer& layer : *layers) macs += layer.count * layer.problem.macs();
  EXPECT_NEAR(macs / 1e9, 4.087 + 112.0 * 112 * 49 * 64 / 1e9, 0.01);
}

// 15.35 GMAC with 3 input channels; the first layer has 4 here.
TEST(Layers, Vgg16HasTheKnownNumberOfMacs) {
  double macs = 0.0;
  const auto layers = LayerList("vgg16");
  for (const Layer& layer : *layers) macs += layer.count * layer.problem.macs();
  EXPECT_NEAR(macs / 1e9, 15.347 + 224.0 * 224 * 9 * 64 / 1e9, 0.01);
}

TEST(Layers, Mobile1x1IsPointwiseAndFitsNhwc) {
  const auto layers = LayerList("mobile1x1");
  for (const Layer& layer : *layers) {
    EXPECT_EQ(layer.problem.r, 1);
    EXPECT_EQ(layer.problem.c % 16, 0);
  }
}

TEST(Jobs, OneListAtSeveralBatches) {
  const auto jobs = MakeJobs({.lists = {"resnet50"}, .batches = {"1", "16"}});
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  const auto layers = LayerList("resnet50");
  EXPECT_EQ(jobs->problems.size(), 2 * layers->size());
  ASSERT_EQ(jobs->files.size(), 2u);
  EXPECT_EQ(jobs->files[0].name(), "resnet50-n1");
  EXPECT_EQ(jobs->files[1].name(), "resnet50-n16");
  int convolutions = 0;
  for (const Jobs::File::Row& row : jobs->files[1].rows) {
    EXPECT_EQ(jobs->problems[row.problem].n, 16);
    convolutions += row.count;
  }
  EXPECT_EQ(convolutions, 53);
}

TEST(Jobs, ProblemsOfSeveralListsAreMeasuredOnce) {
  const auto jobs = MakeJobs({.lists = {"anchors", "resnet50", "small_k"}, .batches = {"1", "16"}});
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  // The anchors hold all the others.
  EXPECT_EQ(jobs->problems.size(), 2 * LayerList("anchors")->size());
  // A layer with a batch of its own has one file.
  ASSERT_EQ(jobs->files.size(), 5u);
  EXPECT_EQ(jobs->files[4].name(), "small_k-n16");
  const Jobs::File& small = jobs->files[4];
  ASSERT_EQ(small.rows.size(), 1u);
  EXPECT_EQ(LayerName(jobs->problems[small.rows[0].problem]), "c64h92w160k32r3s1");
}

TEST(Jobs, LayersByNameAndName) {
  const auto layers = MakeJobs({.lists = {"anchors"},
                                .layers = {"c64h7w7k32r1s1", "n4c64h7w7k32r3s1", "c64h7w7k32r1s1"},
                                .batches = {"2"}});
  ASSERT_TRUE(layers.ok()) << layers.status();
  EXPECT_EQ(layers->problems.size(), 2u);
  ASSERT_EQ(layers->files.size(), 2u);
  EXPECT_EQ(layers->files[0].name(), "layers-n2");
  EXPECT_EQ(layers->files[0].rows.size(), 1u);
  EXPECT_EQ(layers->files[1].name(), "layers-n4");

  const auto named = MakeJobs({.lists = {"anchors"}, .batches = {"1"}, .name = "anchors-nc4"});
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->files[0].name(), "anchors-nc4-n1");
}

TEST(Jobs, SaysWhatIsWrong) {
  const auto message = [](const JobRequest& request) {
    return std::string(MakeJobs(request).status().message());
  };
  EXPECT_THAT(message({.lists = {"anchor"}, .batches = {"1"}}), HasSubstr("the lists are "));
  EXPECT_THAT(message({.lists = {"anchors"}, .batches = {"x"}}),
              HasSubstr("--batch=x is not a positive number"));
  EXPECT_THAT(message({.lists = {"anchors"}, .batches = {"0"}}), HasSubstr("--batch=0"));
  EXPECT_THAT(message({.layers = {"c64"}, .batches = {"1"}}), HasSubstr("a layer is"));
  EXPECT_THAT(message({.lists = {"anchors", "vgg16"}, .batches = {"1"}, .name = "a"}),
              HasSubstr("--name=a is for one list, not for 2"));
}

TEST(GemmSizes, OneNumberThreeOrFour) {
  const auto name = [](const char* text) { return SizeName(*ParseSize(text)); };
  EXPECT_EQ(name("4096"), "4096");
  EXPECT_EQ(name("10240x4096x512"), "10240x4096x512");
  EXPECT_EQ(name("8x8x8"), "8");
  EXPECT_EQ(ParseSize("10240x4096x512")->n, 4096);
  EXPECT_EQ(name("8x8x8x3"), "8x8x8x3");
  EXPECT_EQ(ParseSize("8x8x8x3")->batch, 3);
  for (const char* text :
       {"", "0", "4096x", "1x2", "1x2x3x4x5", "1x2x3x0", "many", "-1", "4096 x 8 x 8y"}) {
    EXPECT_EQ(ParseSize(text).status().message(),
              "--sizes: " + std::string(text) +
                  " is no product; give 4096, 10240x4096x4096 or, of a batch, 128x128x64x96");
  }
}

}  // namespace
}  // namespace weft::perf
