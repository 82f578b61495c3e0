// Networks on the CPU against plain loops: outputs are equal, whatever was fused and where tensors lie.
#include "weft/network/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/network/differences.hpp"
#include "tests/network/graphs.hpp"
#include "weft/network/plan/choose_tile.hpp"

namespace weft::network {
namespace {

using ::testing::HasSubstr;

TEST(Network, ResnetIsEqual) {
  EXPECT_EQ(Differences(SmallResnet(), OnCpu()), 0);
}

TEST(Network, SeveralImages) {
  EXPECT_EQ(Differences(SmallResnet(), OnCpu(3)), 0);
}

TEST(Network, WithoutFusionsIsEqual) {
  EXPECT_EQ(Differences(SmallResnet(), OnCpu(2, false)), 0);
}

TEST(Network, AdditionIsPartOfTheConvolution) {
  const auto fused = Network::Create(SmallResnet(), OnCpu());
  const auto apart = Network::Create(SmallResnet(), OnCpu(1, false));
  ASSERT_TRUE(fused.ok() && apart.ok()) << fused.status() << apart.status();
  EXPECT_EQ(fused->plan().steps.size() + 1, apart->plan().steps.size());
  EXPECT_THAT(fused->Describe(), HasSubstr("node4 + node5"));
}

// Convolutions with tables behind them, an addition behind a table, a table behind an addition, and a product with a
// sigmoid: as a detector has them, of one element or of both.
Graph TablesAndSums(Element element, Element other) {
  GraphBuilder b(11);
  const int x = b.Input("x", Element::kFloat, 5, 6, 7);
  const std::int32_t zero = element == Element::kInt8 ? -9 : 120;
  const std::int32_t other_zero = other == Element::kInt8 ? -3 : 7;
  const auto add = [&](const char* name, Element e, float scale) {
    return b.Add(name, e, 40, 6, 7, {scale, e == element ? zero : other_zero});
  };
  const int q = b.Add("q", element, 5, 6, 7, {0.03f, zero});
  b.Put(Kind::kQuantize, {x}, q);
  const auto convolution = [&](int from, std::int64_t c, const char* name, Element e) {
    const int y = add(name, e, 0.05f);
    b.FillProducts(b.Put(Kind::kConvolution, {from}, y), 40, c, 0.01f);
    return y;
  };
  const auto table = [&](int from, const char* name, Element e) {
    const int y = add(name, e, 0.02f);
    b.Put(Kind::kTable, {from}, y).table = b.Keep(b.RandomBytes(256));
    return y;
  };
  const int a = table(convolution(q, 5, "a0", element), "a", other);
  const int c = convolution(a, 40, "c", element);
  const int silu = add("silu", other, 0.04f);
  b.Put(Kind::kMultiply, {c, table(c, "sigmoid", element)}, silu);
  const int sum = add("sum", element, 0.07f);
  b.Put(Kind::kAdd, {silu, a}, sum);
  const int d = convolution(sum, 40, "d", other);
  const int second = add("second", element, 0.09f);
  b.Put(Kind::kAdd, {sum, d}, second);
  const int e = table(second, "e", element);
  const int converted = add("converted", other, 0.08f);
  b.Put(Kind::kConvert, {convolution(e, 40, "f", element)}, converted);
  const int y = b.Add("y", Element::kFloat, 40, 6, 7);
  b.Put(Kind::kDequantize, {converted}, y);
  b.Output(y);
  return b.Make();
}

TEST(Network, TablesArePartOfConvolutions) {
  for (const Element element : {Element::kUint8, Element::kInt8}) {
    const Element other = element == Element::kInt8 ? Element::kUint8 : Element::kInt8;
    const Graph graph = TablesAndSums(element, other);
    const auto network = Network::Create(graph, OnCpu());
    ASSERT_TRUE(network.ok()) << network.status();
    // quantize, four convolutions and dequantize
    EXPECT_EQ(network->plan().steps.size(), 6u) << network->Describe();
    EXPECT_THAT(network->Describe(), HasSubstr("node3 + node4 + node5 + node6"));
    EXPECT_THAT(network->Describe(), HasSubstr("node7 + node8 + node9"));
    EXPECT_EQ(Differences(graph, OnCpu(2)), 0);
  }
}

// Of one image an addition writes its slice, too.
TEST(Network, ConcatsAreEqual) {
  for (const std::int64_t batch : {1, 3}) {
    EXPECT_EQ(Differences(Concats(), OnCpu(batch)), 0) << batch;
  }
  const auto network = Network::Create(Concats(), OnCpu());
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_THAT(network->Describe(), HasSubstr("all (uint8 180x5x6 nc32) from channel 128 on"));
}

// Of one image others read a concat's input where it lies in the result.
TEST(Network, ConcatsWhoseInputsOthersReadAreEqual) {
  for (const std::int64_t batch : {1, 2}) {
    EXPECT_EQ(Differences(ReadConcats(), OnCpu(batch)), 0) << batch;
  }
  NetworkOptions options = OnCpu();
  options.formats = {Format::kNhwc};
  EXPECT_EQ(Differences(ReadConcats(), options), 0);
}

// Each format alone, where tensors can have it; blocks of 32 channels are those of other tests.
TEST(Network, FormatsAreEqual) {
  NetworkOptions two = OnCpu(2);
  two.formats = {Format::kNhwc};
  EXPECT_EQ(Differences(SmallResnet(80), two), 0);
  EXPECT_EQ(Differences(Separable(), two), 0);
  EXPECT_EQ(Differences(Concats(), two), 0);
  two.formats = {Format::kNc4};
  EXPECT_EQ(Differences(Separable(), two), 0);
  NetworkOptions options = OnCpu();
  options.formats = {Format::kNhwc};
  const auto network = Network::Create(Separable(), options);
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_THAT(network->Describe(), HasSubstr("a (uint8 48x8x9 nhwc) -> d (int8 48x4x9 nhwc)"));
  options.formats = {Format::kNc4, Format::kNchw};
  EXPECT_THAT(std::string(Network::Create(Separable(), options).status().message()),
              HasSubstr("formats has nchw; give some of nc4, nc32 and nhwc"));
}

TEST(Network, SaysWhatIsWrong) {
  const auto network = Network::Create(SmallResnet(), OnCpu());
  ASSERT_TRUE(network.ok()) << network.status();
  float x = 0, y = 0;
  const auto says = [&](const Network::Arguments& args) {
    return std::string(network->RunOnCpu(args).message());
  };
  EXPECT_THAT(says({}), HasSubstr("0 inputs are given; the graph has 1"));
  EXPECT_THAT(says({.inputs = {nullptr}, .outputs = {&y}}), HasSubstr("is null"));
  EXPECT_THAT(says({.inputs = {&x}, .outputs = {&y}}),
              HasSubstr("arena=0; give the address of arena_bytes()="));
  EXPECT_THAT(std::string(network->Run({}, nullptr).message()), HasSubstr("made for the CPU"));
  EXPECT_THAT(std::string(Network::Create(SmallResnet(), OnCpu(0)).status().message()),
              HasSubstr("batch=0; give 1"));
}

// What a kernel would refuse is refused before anything is compiled, with the node's name.
TEST(Network, RefusesWhatNoKernelTakes) {
  const auto says = [](const Graph& graph, std::int64_t batch = 1) {
    const auto network = Network::Create(graph, OnCpu(batch));
    return network.ok() ? std::string() : std::string(network.status().message());
  };
  Graph far = SmallResnet();
  far.tensors[0 + 5].quantization.scale = 3e38f;  // d, the first operand of the addition
  far.tensors[6].quantization.scale = 1e-3f;      // s, its sum
  EXPECT_THAT(says(far), HasSubstr("not so far apart"));
  EXPECT_THAT(says(SmallResnet(), std::int64_t{1} << 50), HasSubstr("larger than 2^40 bytes"));
}

// Tiles that a network tells are those that another one runs with, to the same bits.
TEST(Network, TilesAreTakenByName) {
  const auto network = Network::Create(SmallResnet(), OnCpu());
  ASSERT_TRUE(network.ok()) << network.status();
  Tiles tiles = network->tiles();
  ASSERT_EQ(tiles.size(), 4u);
  ASSERT_EQ(tiles.count("node4 + node5"), 1u);
  for (const Step& step : network->plan().steps) {
    if (step.name != "node3") continue;
    const auto candidates = CandidateTiles(network->plan(), step, conv::CpuFacts{1});
    ASSERT_TRUE(candidates.ok() && candidates->size() > 1) << candidates.status();
    const bool is_first = candidates->front().tile == tiles["node3"];
    tiles["node3"] = (is_first ? candidates->back() : candidates->front()).tile;
  }
  tiles.erase("node1");
  NetworkOptions options = OnCpu();
  options.tiles = tiles;
  const auto other = Network::Create(SmallResnet(), options);
  ASSERT_TRUE(other.ok()) << other.status();
  tiles["node1"] = network->tiles()["node1"];
  EXPECT_EQ(other->tiles(), tiles);
  EXPECT_EQ(Differences(SmallResnet(), options), 0);
  const auto changed = network->WithTiles({{"node3", tiles["node3"]}});
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(changed->tiles(), tiles);
  EXPECT_EQ(Differences(*changed), 0);
  EXPECT_NE(network->tiles(), tiles);
}

TEST(Network, TilesThatCannotBeAreRefused) {
  const auto says = [](const Tiles& tiles) {
    NetworkOptions options = OnCpu();
    options.tiles = tiles;
    const auto network = Network::Create(SmallResnet(), options);
    return network.ok() ? std::string() : std::string(network.status().message());
  };
  EXPECT_THAT(
      says({{"node3", "Mma7x7"}}),
      HasSubstr("node \"node3\": tile=Mma7x7 cannot run this convolution here; give one of Mma"));
  const auto network = Network::Create(SmallResnet(), OnCpu());
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_THAT(std::string(network->WithTiles({{"node3", ""}}).status().message()),
              HasSubstr("node \"node3\": tile= cannot run"));
  EXPECT_THAT(std::string(network->WithTiles({{"x", "Mma128x64"}}).status().message()),
              HasSubstr("tiles name \"x\""));
  EXPECT_THAT(says({{"node1", "Mma128x64"}}),
              HasSubstr("tile=Mma128x64 cannot run"));  // of blocks of 4
  EXPECT_THAT(says({{"node2", "Mma128x64"}}),
              HasSubstr("tiles name \"node2\", which is no convolution of the plan of 1 images; "
                        "one is \"node1\""));
}

// Groups of several channels, and of one.
TEST(Network, GroupsAreEqual) {
  for (const std::int64_t groups : {1, 2, 8, 40}) {
    GraphBuilder b(7);
    const int x = b.Input("x", Element::kFloat, 40, 6, 7);
    const int q = b.Add("q", Element::kInt8, 40, 6, 7, {0.02f, -5});
    b.Put(Kind::kQuantize, {x}, q);
    const int y = b.Add("y", Element::kUint8, 80, 3, 7, {0.05f, 100});
    Node& node = b.Put(Kind::kConvolution, {q}, y);
    node.window = Around(3);
    node.window.stride_h = 2;
    node.groups = groups;
    b.FillProducts(node, 80, 40 / groups * 9, 0.002f);
    const int f = b.Add("f", Element::kFloat, 80, 3, 7);
    b.Put(Kind::kDequantize, {y}, f);
    b.Output(f);
    EXPECT_EQ(Differences(b.Make(), OnCpu(2)), 0) << groups;
  }
}

// Residuals that convolutions and fully connected layers add before they round, and layers that write floats.
TEST(Network, ResidualsAndFloatsAreEqual) {
  GraphBuilder b(9);
  const int x = b.Input("x", Element::kFloat, 40, 6, 7);
  const int q = b.Add("q", Element::kInt8, 40, 6, 7, {0.02f, 7});
  b.Put(Kind::kQuantize, {x}, q);
  const int m = b.Add("m", Element::kInt8, 40, 6, 7, {0.03f, 0});
  b.FillProducts(b.Put(Kind::kConvolution, {q}, m), 40, 40, 0.002f);
  const int y = b.Add("y", Element::kUint8, 40, 6, 7, {0.05f, 100});
  Node& node = b.Put(Kind::kConvolution, {m, q}, y);
  node.window = Around(3);
  b.FillProducts(node, 40, 40 * 9, 0.002f);
  const int z = b.Add("z", Element::kInt8, 40, 6, 7, {0.06f, 0});
  Node& depthwise = b.Put(Kind::kConvolution, {y, m}, z);
  depthwise.groups = 40;
  b.FillProducts(depthwise, 40, 1, 0.01f);
  // A convolution with a residual does not take in the addition behind it.
  const int r = b.Add("r", Element::kInt8, 40, 6, 7, {0.07f, 60});
  b.FillProducts(b.Put(Kind::kConvolution, {z, z}, r), 40, 40, 0.002f);
  const int sum = b.Add("sum", Element::kInt8, 40, 6, 7, {0.1f, 20});
  b.Put(Kind::kAdd, {r, m}, sum);
  // It does take in a table, here of a ReLU.
  const int p = b.Add("p", Element::kInt8, 40, 6, 7, {0.06f, 0});
  b.FillProducts(b.Put(Kind::kConvolution, {sum, q}, p), 40, 40, 0.002f);
  const int t = b.Add("t", Element::kInt8, 40, 6, 7, {0.06f, 0});
  std::vector<std::uint8_t> table(256);
  for (int i = 0; i < 128; ++i) table[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  b.Put(Kind::kTable, {p}, t).table = b.Keep(table);
  const int g = b.Add("g", Element::kInt8, 40, 1, 1, {0.05f, 9});
  b.Put(Kind::kGlobalAveragePool, {t}, g);
  const int l = b.Add("l", Element::kInt8, 40, 1, 1, {0.04f, 20});
  b.FillProducts(b.Put(Kind::kFullyConnected, {g, g}, l), 40, 40, 0.01f);
  const int logits = b.Add("logits", Element::kFloat, 10, 1, 1);
  b.FillProducts(b.Put(Kind::kFullyConnected, {l}, logits), 10, 40, 0.01f);
  const int map = b.Add("map", Element::kFloat, 21, 6, 7);
  b.FillProducts(b.Put(Kind::kConvolution, {sum}, map), 21, 40, 0.01f);
  b.Output(logits);
  b.Output(map);
  const auto network = Network::Create(b.Make(), OnCpu(2));
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(network->plan().steps.size(), 11u);
  EXPECT_EQ(Differences(*network), 0);
}

// A residual's memory is not where its sum goes if that is a slice of a tensor that is written before: here of as many bytes, rounded
// up.
TEST(Network, ASliceIsNotWhereItsResidualLies) {
  GraphBuilder b(17);
  const int x = b.Input("x", Element::kFloat, 32, 2, 2);
  const auto add = [&](const char* name, std::int64_t c) {
    return b.Add(name, Element::kUint8, c, 2, 2, {0.05f, 100});
  };
  const int q = add("q", 32), r = add("r", 32), a = add("a", 32), o = add("o", 32);
  b.Put(Kind::kQuantize, {x}, q);
  for (const int made : {r, a, o}) {
    b.FillProducts(b.Put(Kind::kConvolution, {q}, made), 32, 32, 0.002f);
  }
  const int s = add("s", 32), all = add("all", 64);
  b.Put(Kind::kAdd, {o, r}, s);
  b.Put(Kind::kConcat, {a, s}, all);
  const int y = b.Add("y", Element::kFloat, 64, 2, 2);
  b.Put(Kind::kDequantize, {all}, y);
  b.Output(y);
  for (const std::int64_t batch : {1, 2}) EXPECT_EQ(Differences(b.Make(), OnCpu(batch)), 0);
}

// A residual lies as the output does, here in blocks of 32 channels, since a concat reads that: one in NHWC is converted, and so is
// one of 4 channels, which lies in blocks of as many.
TEST(Network, ResidualsAreConvertedToTheOutputsFormat) {
  GraphBuilder b(13);
  const int x = b.Input("x", Element::kFloat, 3, 6, 7);
  const int q = b.Add("q", Element::kInt8, 3, 6, 7, {0.02f, 7});
  b.Put(Kind::kQuantize, {x}, q);
  const auto add = [&](const char* name, std::int64_t c) {
    return b.Add(name, Element::kUint8, c, 6, 7, {0.05f, 100});
  };
  const int a = add("a", 64), few = add("few", 4);
  const int first = add("first", 32), second = add("second", 64), last = add("last", 4);
  b.FillProducts(b.Put(Kind::kConvolution, {q}, a), 64, 3, 0.01f);
  b.FillProducts(b.Put(Kind::kConvolution, {a}, few), 4, 64, 0.002f);
  b.FillProducts(b.Put(Kind::kConvolution, {a}, first), 32, 64, 0.002f);
  b.FillProducts(b.Put(Kind::kConvolution, {q, a}, second), 64, 3, 0.01f);
  b.FillProducts(b.Put(Kind::kConvolution, {a, few}, last), 4, 64, 0.002f);
  const int all = add("all", 100);
  b.Put(Kind::kConcat, {first, second, last}, all);
  const int y = b.Add("y", Element::kFloat, 100, 6, 7);
  b.Put(Kind::kDequantize, {all}, y);
  b.Output(y);
  for (const std::int64_t batch : {1, 2}) {
    NetworkOptions options = OnCpu(batch);
    options.formats = {Format::kNhwc};
    EXPECT_EQ(Differences(b.Make(), options), 0) << batch;
  }
}

// A first layer that pools its output has the bits of the two kernels; of a source with a zero point, whose borders differ.
TEST(Network, AFirstLayerPoolsItsOutput) {
  NetworkOptions options = OnCpu(2);
  options.blocks = Blocks::kAlways;
  const auto network = Network::Create(SmallResnet(), options);
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_THAT(network->Describe(), HasSubstr("pooling node1 + node2: one kernel"));
  EXPECT_EQ(Differences(*network), 0);
}

}  // namespace
}  // namespace weft::network
