// Peers by name; no GPU and no library of theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/peers/peer.hpp"

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
  options.only = "c";
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

}  // namespace
}  // namespace weft::perf
