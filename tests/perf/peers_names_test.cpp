// Peers by name, and the anchors; no GPU and no library of theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/peers/anchors.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/layers.hpp"

namespace weft::perf {
namespace {

using ::testing::HasSubstr;

TEST(Peers, HaveNames) {
  for (const std::string& name : PeerNames()) {
    EXPECT_TRUE(CheckPeerName(name).ok());
    const auto peer = MakePeer(name);
    ASSERT_TRUE(peer.ok()) << peer.status();
    EXPECT_EQ((*peer)->name(), name);
    EXPECT_TRUE((*peer)->variants().empty());
  }
  EXPECT_THAT(std::string(MakePeer("tensorrt").status().message()),
              HasSubstr("peer: 'tensorrt' does not exist; the peers are cudnn_graph, "));
}

TEST(PeerOptions, SkipAndOnly) {
  PeerOptions options;
  EXPECT_TRUE(options.Wants("a"));
  options.skip = {"a"};
  EXPECT_FALSE(options.Wants("a"));
  EXPECT_TRUE(options.Wants("b"));
  options.only = {"a", "c"};
  EXPECT_FALSE(options.Wants("a"));
  EXPECT_FALSE(options.Wants("b"));
  EXPECT_TRUE(options.Wants("c"));

  std::vector<std::string> told;
  options.about_to = [&told](const std::string& what) { told.push_back(what); };
  EXPECT_FALSE(options.Step("a"));
  EXPECT_TRUE(options.Step("b"));
  EXPECT_TRUE(absl::IsUnavailable(options.Need("a")));
  EXPECT_TRUE(options.Need("d").ok());
  EXPECT_EQ(told, (std::vector<std::string>{"b", "d"}));
}

TEST(PeerScope, SaysWhatIsComputed) {
  EXPECT_EQ(ScopeText({}), "scale per channel + bias + ReLU");
  EXPECT_EQ(ScopeText({false, true, false, true}), "one scale + bias + residual");
}

TEST(Anchors, AreThoseOfTheList) {
  const absl::StatusOr<std::vector<Layer>> layers = LayerList("anchors");
  ASSERT_TRUE(layers.ok()) << layers.status();
  EXPECT_EQ(Anchors().size(), 3 * layers->size());
  for (const Layer& layer : *layers) {
    for (const int batch : {1, 16, 64}) {
      const Anchor* const anchor = FindAnchor(LayerName(layer.problem), batch);
      ASSERT_NE(anchor, nullptr) << LayerName(layer.problem) << " " << batch;
      EXPECT_GT(anchor->cudnn_us, 1.0);
    }
  }
  const Anchor* const anchor = FindAnchor("c64h92w160k32r3s1", 16);
  ASSERT_NE(anchor, nullptr);
  EXPECT_EQ(anchor->cudnn_us, 38.7);
  EXPECT_EQ(anchor->f16_us, 38.3);
  EXPECT_EQ(FindAnchor("c64h92w160k32r3s1", 2), nullptr);
}

TEST(Anchors, SayWhatIsWrong) {
  const auto message = [](const std::string& text) {
    return std::string(ParseAnchors("x.csv", text).status().message());
  };
  const std::string header = "layer,n,cudnn,f16\n";
  EXPECT_THAT(message("layer,n\n"), HasSubstr("x.csv:1: 'layer,n': the header is"));
  EXPECT_THAT(message("# note\n" + header + "c4h4w4k4r1s1,1,2.0\n"), HasSubstr("x.csv:3: "));
  EXPECT_THAT(message(header + "c4h4w4k4,1,2.0,3.0\n"), HasSubstr("a layer is"));
  EXPECT_THAT(message(header + "c4h4w4k4r1s1,0,2.0,3.0\n"), HasSubstr("n is not a positive"));
  EXPECT_THAT(message(header + "c4h4w4k4r1s1,1,two,3.0\n"), HasSubstr("microseconds"));
}

}  // namespace
}  // namespace weft::perf
