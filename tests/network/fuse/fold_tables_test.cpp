// What becomes one table, and that its bytes are those of the nodes one after the other.
#include "weft/network/fuse/fold_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/network/graphs.hpp"
#include "tests/network/plain_network.hpp"

namespace weft::network {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Quantization kX = {0.05f, 100}, kSigmoid = {1.0f / 256.0f, 0}, kY = {0.03f, 20};

// x has one pixel for each byte, so that the plain loops give a table.
class Folds : public ::testing::Test {
 protected:
  int Image(const char* name, Element element, Quantization q) {
    return b_.Add(name, element, 1, 16, 16, q);
  }
  void SetUp() override { x_ = b_.Input("x", Element::kUint8, 1, 16, 16, kX); }

  // A node of the kind, whose output is a new tensor.
  int Put(Kind kind, std::vector<int> inputs, Quantization q, Element element = Element::kUint8) {
    const int y = Image("y", element, q);
    Node& n = b_.Put(kind, std::move(inputs), y);
    if (kind == Kind::kTable) n.table = b_.Keep(b_.RandomBytes(256));
    return y;
  }

  // The table of the node that makes the graph's only output equals what all nodes make of each byte.
  void ExpectSame() {
    const Graph graph = b_.Make();
    const FoldedGraph folded = FoldTables(graph);
    PlainTensor bytes;
    for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<float>(i));
    const int output = graph.outputs[0];
    const PlainTensor want = RunPlainly(graph, 1, {bytes})[static_cast<std::size_t>(output)];
    const bool is_signed =
        graph.tensors[static_cast<std::size_t>(output)].element == Element::kInt8;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].output != output) continue;
      ASSERT_EQ(folded.tables[i].size(), 256u);
      EXPECT_THAT(folded.graph.nodes[i].inputs, ElementsAre(x_));
      for (std::size_t j = 0; j < 256; ++j) {
        const auto byte = static_cast<std::uint8_t>(folded.tables[i][j]);
        EXPECT_EQ(is_signed ? static_cast<std::int8_t>(byte) : byte, want[j]) << j;
      }
    }
  }
  std::vector<bool> Gone() { return FoldTables(b_.Make()).gone; }

  GraphBuilder b_{3};
  int x_ = -1;
};

TEST_F(Folds, ProductWithATableOfItself) {
  b_.Output(Put(Kind::kMultiply, {x_, Put(Kind::kTable, {x_}, kSigmoid)}, kY));
  EXPECT_THAT(Gone(), ElementsAre(true, false));
  ExpectSame();
}

TEST_F(Folds, ChainsOfEveryKind) {
  const int a = Put(Kind::kConvert, {x_}, {0.11f, -5}, Element::kInt8);
  const int b = Put(Kind::kTable, {a}, {0.2f, 7}, Element::kInt8);
  const int c = Put(Kind::kTable, {b}, {0.04f, 3});
  const int d = Put(Kind::kAdd, {c, b}, kY, Element::kInt8);
  const int e = Put(Kind::kMultiply, {d, d}, {0.5f, 1});
  b_.Output(Put(Kind::kConvert, {e}, {0.5f, 1}));  // leaves bytes as they are
  EXPECT_THAT(Gone(), ElementsAre(true, true, true, true, true, false));
  ExpectSame();
}

TEST_F(Folds, TheNameIsThatOfAllNodes) {
  b_.Output(Put(Kind::kMultiply, {Put(Kind::kTable, {x_}, kSigmoid), x_}, kY));
  EXPECT_EQ(FoldTables(b_.Make()).graph.nodes[1].name, "node0 + node1");
}

TEST_F(Folds, NotWhatOthersRead) {
  const int sigmoid = Put(Kind::kTable, {x_}, kSigmoid);
  b_.Output(Put(Kind::kMultiply, {x_, sigmoid}, kY));
  b_.Output(sigmoid);
  EXPECT_THAT(Gone(), ElementsAre(false, false));
  EXPECT_EQ(FoldTables(b_.Make()).graph.nodes[1].kind, Kind::kMultiply);
}

TEST_F(Folds, NotWhatIsOfTwoTensors) {
  const int other = b_.Input("other", Element::kUint8, 1, 16, 16, kX);
  b_.Output(Put(Kind::kMultiply, {x_, Put(Kind::kTable, {other}, kSigmoid)}, kY));
  EXPECT_THAT(Gone(), ElementsAre(false, false));
}

// A factor of one pixel for all is no function of each pixel.
TEST_F(Folds, NotAGate) {
  const int mean = b_.Add("mean", Element::kUint8, 1, 1, 1, kX);
  b_.Put(Kind::kGlobalAveragePool, {x_}, mean);
  const int gate = b_.Add("gate", Element::kUint8, 1, 1, 1, kSigmoid);
  b_.Put(Kind::kTable, {mean}, gate).table = b_.Keep(b_.RandomBytes(256));
  b_.Output(Put(Kind::kMultiply, {x_, gate}, kY));
  EXPECT_THAT(Gone(), ElementsAre(false, false, false));
}

TEST_F(Folds, WithoutFoldsConvertsAreTablesToo) {
  const int same = Put(Kind::kConvert, {x_}, kX);
  b_.Output(Put(Kind::kConvert, {same}, kY));
  const FoldedGraph folded = WithoutFolds(b_.Make());
  EXPECT_THAT(folded.tables[0], IsEmpty());
  EXPECT_EQ(folded.tables[1].size(), 256u);
}

}  // namespace
}  // namespace weft::network
