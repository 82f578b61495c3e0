// The file of a graph: what is written is read again, and what is damaged is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <tuple>

#include "tests/network/graphs.hpp"
#include "weft/rtc/cache/digest.hpp"

namespace weft::network {
namespace {

using ::testing::HasSubstr;

// The file with other bytes, and a checksum that is right for them.
std::string Sealed(std::string file) {
  file.replace(32, 64, rtc::Sha256(std::string_view(file).substr(128)));
  return file;
}

std::string Refusal(const std::string& file) {
  const auto graph = ReadGraph(file);
  return graph.ok() ? "" : std::string(graph.status().message());
}

TEST(GraphFile, WhatIsWrittenIsReadAgain) {
  const Graph graph = SmallResnet();
  const std::string file = WriteGraph(graph);
  const auto read = ReadGraph(file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(WriteGraph(*read), file);
  ASSERT_EQ(read->nodes.size(), graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    EXPECT_EQ(read->nodes[i].kind, graph.nodes[i].kind);
    EXPECT_EQ(read->nodes[i].window, graph.nodes[i].window);
    EXPECT_EQ(read->nodes[i].inputs, graph.nodes[i].inputs);
    EXPECT_EQ(read->Bytes(read->nodes[i].filter), graph.Bytes(graph.nodes[i].filter));
  }
  EXPECT_EQ(read->tensors[1].quantization, graph.tensors[1].quantization);
}

TEST(GraphFile, RefusesWhatIsNoFile) {
  EXPECT_THAT(Refusal(""), HasSubstr("begins with WEFTNET"));
  EXPECT_THAT(Refusal("WEFTNET\n"), HasSubstr("within its header"));
  std::string file = WriteGraph(SmallResnet());
  std::string newer = file;
  newer[8] = 3;
  EXPECT_THAT(Refusal(newer), HasSubstr("version 3; this library reads versions 1 and 2"));
  std::string changed = file;
  changed.back() = static_cast<char>(changed.back() + 1);
  EXPECT_THAT(Refusal(changed), HasSubstr("damaged"));
}

TEST(GraphFile, RefusesEveryTruncation) {
  const std::string file = WriteGraph(SmallResnet());
  for (std::size_t size = 0; size < file.size(); size += size < 4096 ? 1 : 997) {
    EXPECT_NE(Refusal(file.substr(0, size)), "") << size;
  }
}

// Bytes of the text change and the checksum is made anew: the graph is refused or still a right one, and nothing else
// happens.
TEST(GraphFile, SurvivesOtherTexts) {
  const std::string file = WriteGraph(SmallResnet());
  std::mt19937 random(5);
  int refused = 0;
  constexpr int kCases = 3000;
  for (int i = 0; i < kCases; ++i) {
    std::string other = file;
    for (int change = 0; change < 1 + i % 3; ++change) {
      other[128 + random() % 3000] = "0123456789-,\"[]{}:eax"[random() % 21];
    }
    const auto graph = ReadGraph(Sealed(other));
    if (!graph.ok()) {
      ++refused;
      EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(graph.status().message()), HasSubstr("network: "));
    }
  }
  EXPECT_GT(refused, kCases / 2);
}

TEST(GraphFile, NamesWhatItDoesNotKnow) {
  std::string file = WriteGraph(SmallResnet());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = file;
    other.replace(other.find(from), from.size(), to);
    // The text is filled with spaces to a multiple of 64 bytes again.
    std::uint64_t size = 0;
    std::memcpy(&size, file.data() + 16, sizeof(size));
    size += to.size() - from.size();
    const std::uint64_t filled = (size + 63) / 64 * 64;
    other.insert(128 + size, filled - size, ' ');
    std::memcpy(other.data() + 16, &filled, sizeof(filled));
    return Refusal(Sealed(other));
  };
  EXPECT_THAT(with("\"kind\": \"add\"", "\"kind\": \"xxx\""), HasSubstr("kind is \"xxx\""));
  EXPECT_THAT(with("\"stride\"", "\"strid_\""),
              HasSubstr("has \"strid_\", which this version does not know"));
  EXPECT_THAT(with("\"zero_point\": 114", "\"zero_point\": 18446744073709551615"),
              HasSubstr("no integer of 64 bits"));
  EXPECT_THAT(with("\"output\": \"a\"", "\"output\": \"b\""),
              HasSubstr("output is \"b\", which no tensor is called"));
  EXPECT_THAT(with("\"zero_point\": 114", "\"zero_point\": 514"),
              HasSubstr("zero_point=514; uint8 takes 0 to 255"));
  // Nothing looks into a list as deep as the file is long; brackets in names are none.
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_THAT(with("\"inputs\": [", "\"inputs\": [" + deep + ", "), HasSubstr("lists in lists"));
  EXPECT_EQ(with("\"name\": \"", "\"name\": \"\\\"" + std::string(100, '[')), "");
}

// A change of a right graph, and what its refusal says.
using Change = std::tuple<const char*, std::function<void(Graph&)>, const char*>;

TEST(CheckGraph, SaysWhatIsWrong) {
  const Change changes[] = {
      {"no output", [](Graph& g) { g.outputs.clear(); }, "0 outputs; give one or more"},
      {"two names", [](Graph& g) { g.tensors[2].name = "q"; }, "two tensors are called \"q\""},
      {"scale", [](Graph& g) { g.tensors[1].quantization.scale = 0.0f; },
       "scale=0; give a positive"},
      {"extent", [](Graph& g) { g.tensors[1].h = 0; }, "(3, 0, 17); give extents of 1 or more"},
      {"order", [](Graph& g) { std::swap(g.nodes[1], g.nodes[2]); }, "reads \"a\", which no input"},
      {"twice", [](Graph& g) { g.nodes[2].output = 2; },
       "writes \"a\", which is none or has been made"},
      {"float", [](Graph& g) { g.nodes[1].inputs[0] = 0; },
       "reads \"x\" of float; it takes int8 or uint8"},
      {"shape", [](Graph& g) { g.tensors[2].w = 10; },
       "writes \"a\" of shape (40, 9, 10); it makes (40, 9, 9)"},
      {"filter", [](Graph& g) { g.nodes[1].filter.bytes -= 1; }, "bytes of filter; it takes 5880"},
      {"constants", [](Graph& g) { g.nodes[1].filter.at = 1 << 30; },
       "give a multiple of 64 within the constants"},
      {"stride", [](Graph& g) { g.nodes[1].window.stride_h = 0; }, "stride=[0, 2]; give 1 or more"},
      {"groups", [](Graph& g) { g.nodes[1].groups = 2; }, "groups=2; give a divisor of 3 input"},
      {"pool", [](Graph& g) { g.tensors[3].quantization.zero_point = 1; },
       "pooling by maximum keeps them"},
      {"padding", [](Graph& g) { g.nodes[2].window.pad_top = 3; }, "give less than the window's 3"},
      {"unread groups", [](Graph& g) { g.nodes[7].groups = 2; },
       "has groups, which it does not read"},
      {"unread table", [](Graph& g) { g.nodes[2].table = {1 << 30, 4}; },
       "has table, which it does not read"},
      {"empty bias", [](Graph& g) { g.nodes[1].bias = {1 << 30, 0}; },
       "has bias, which it does not read, or which is empty"},
      {"node's name", [](Graph& g) { g.nodes[2].name = "node1"; }, "a node is called \"node1\""},
      {"output", [](Graph& g) { g.outputs = {99}; }, "output tensor 99 of"},
      {"inputs", [](Graph& g) { g.nodes[5].inputs.pop_back(); }, "has 1 inputs; it takes 2"},
      {"residuals", [](Graph& g) { g.nodes[3].inputs = {3, 3, 3}; },
       "has 3 inputs; it takes 1, and a residual"},
      {"residual's shape", [](Graph& g) { g.nodes[3].inputs = {3, 2}; },
       "adds \"a\" of shape (40, 9, 9) to (40, 5, 5); give a residual of the output's shape"},
      {"residual of floats", [](Graph& g) { g.nodes[3].inputs = {3, 0}; },
       "reads \"x\" of float; it takes int8 or uint8"},
      {"floats with a residual",
       [](Graph& g) {
         g.nodes[4].inputs = {4, 3};
         g.nodes[4].output = static_cast<int>(g.tensors.size());
         g.tensors.push_back({.name = "f", .element = Element::kFloat, .c = 40, .h = 5, .w = 5});
       },
       "adds \"m\" and writes floats; let it write int8 or uint8"},
  };
  ASSERT_TRUE(CheckGraph(SmallResnet()).ok()) << CheckGraph(SmallResnet());
  for (const auto& [name, change, sentence] : changes) {
    Graph graph = SmallResnet();
    change(graph);
    EXPECT_THAT(std::string(CheckGraph(graph).message()), HasSubstr(sentence)) << name;
  }
}

}  // namespace
}  // namespace weft::network
