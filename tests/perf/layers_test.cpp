#include "perf/support/layers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

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
       {"c64h56w56k64r3s1", "n7c3h5w9k10r5s2p0", "n1c1h1w1k1r1s1", "n2c8h20w20k8r3s1p2d2"}) {
    const auto layer = ParseLayer(name);
    ASSERT_TRUE(layer.ok()) << layer.status();
    EXPECT_EQ(LayerName(layer->problem, layer->has_batch), name);
  }
  EXPECT_EQ(LayerName(ParseLayer("c64h56w56k64r3s1p1")->problem), "c64h56w56k64r3s1");
}

TEST(Layers, ErrorsNameThePartAndTheGrammar) {
  const auto error = [](const char* name) { return Message(ParseLayer(name).status()); };
  const auto grammar = HasSubstr("[n<N>]c<C>h<H>w<W>k<K>r<R>s<stride>[p<pad>][d<dilation>]");
  EXPECT_THAT(error(""), AllOf(HasSubstr("the name ends where c (input channels)"), grammar));
  EXPECT_THAT(error("c64h56w56k64r3"), AllOf(HasSubstr("the name ends where s (stride)"), grammar));
  EXPECT_THAT(error("c64h56k64r3s1"), HasSubstr("found 'k64r3s1' where w (input columns)"));
  EXPECT_THAT(error("c64hw56k64r3s1"), HasSubstr("h (input rows) has no number"));
  EXPECT_THAT(error("c0h56w56k64r3s1"), HasSubstr("c (input channels) is 0, not a number from 1"));
  EXPECT_THAT(error("c64h56w56k64r3s0"), HasSubstr("s (stride) is 0"));
  EXPECT_THAT(error("c64h56w56k64r3s1p99999999999999999999"), HasSubstr("p (padding) is 9999"));
  EXPECT_THAT(error("c64h56w56k64r3s1x"), HasSubstr("cannot read 'x'"));
  EXPECT_THAT(error("c-4h56w56k64r3s1"), HasSubstr("c (input channels) has no number"));
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
  EXPECT_THAT(error("\nc4h8w8k4r3"), HasSubstr("a.txt:2: layer: 'c4h8w8k4r3'"));
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

}  // namespace
}  // namespace weft::perf
