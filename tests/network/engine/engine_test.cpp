// Engines: what was saved runs without a compiler and without a cache, to the same bits, and what is damaged is refused.
#include "weft/network/engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/network/graphs.hpp"
#include "tests/network/plain_network.hpp"
#include "weft/network/engine/gpus.hpp"
#include "weft/network/network.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/rtc/cache/digest.hpp"

namespace weft::network {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// One convolution between floats: one kernel, so that the tests compile little.
Graph OneConvolution() {
  GraphBuilder b(7);
  const int x = b.Input("x", Element::kFloat, 8, 5, 6);
  const int q = b.Add("q", Element::kUint8, 8, 5, 6, {0.02f, 9});
  b.Put(Kind::kQuantize, {x}, q);
  const int y = b.Add("y", Element::kUint8, 40, 3, 4, {0.05f, 100});
  Node& node = b.Put(Kind::kConvolution, {q}, y);
  node.window = {.h = 3, .w = 3};
  b.FillProducts(node, 40, 8 * 9, 0.01f);
  const int f = b.Add("f", Element::kFloat, 40, 3, 4);
  b.Put(Kind::kDequantize, {y}, f);
  b.Output(f);
  return b.Make();
}

// On a machine without a compiler, a cache and a folder of one.
NetworkOptions WithoutCompiler(std::int64_t batch = 1) {
  return {.batch = batch,
          .back_end = rtc::BackEnd::kCpu,
          .compiler = "no_compiler_of_this_name",
          .cache_bytes = 0};
}

// The file of an engine for the CPU, made once.
const std::string& OnCpu() {
  static const std::string file = [] {
    const auto network =
        Network::Create(OneConvolution(), {.batch = 2, .back_end = rtc::BackEnd::kCpu});
    EXPECT_TRUE(network.ok()) << network.status();
    const auto saved = network->Save();
    EXPECT_TRUE(saved.ok()) << saved.status();
    return *saved;
  }();
  return file;
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};

std::vector<float> OutputOf(const Network& network, const std::vector<float>& x) {
  std::vector<float> y(static_cast<std::size_t>(network.output_bytes(0) / 4));
  const std::unique_ptr<void, Free> arena(
      std::aligned_alloc(256, static_cast<std::size_t>(network.arena_bytes())));
  const absl::Status status =
      network.RunOnCpu({.inputs = {x.data()}, .outputs = {y.data()}, .arena = arena.get()});
  EXPECT_TRUE(status.ok()) << status;
  return y;
}

std::string Refusal(std::string_view file, const NetworkOptions& options) {
  const auto network = Network::Load(file, options);
  return network.ok() ? "" : std::string(network.status().message());
}

std::string Sealed(std::string file) {
  file.replace(32, 64, rtc::Sha256(std::string_view(file).substr(128)));
  return file;
}

TEST(Engine, RunsWithoutACompiler) {
  const auto network = Network::Load(OnCpu(), WithoutCompiler(2));
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_THAT(network->Describe(), HasSubstr("kernels of the file, for 2 images on the CPU"));
  std::vector<float> x(2 * 8 * 5 * 6);
  std::mt19937 random(3);
  for (float& value : x) value = static_cast<float>(random() % 601) / 100.0f - 3.0f;
  const Graph graph = OneConvolution();
  const PlainTensor wanted = RunPlainly(graph, 2, {x})[static_cast<std::size_t>(graph.outputs[0])];
  EXPECT_EQ(OutputOf(*network, x), wanted);
  // What was loaded is saved as it was.
  EXPECT_EQ(network->Save().value(), OnCpu());
}

// Tiles that a caller gives are compiled, and the file has those of all other convolutions.
TEST(Engine, GivenTilesComeBeforeThoseOfTheFile) {
  const auto network = Network::Load(OnCpu(), WithoutCompiler(2));
  ASSERT_TRUE(network.ok()) << network.status();
  NetworkOptions options = WithoutCompiler(2);
  options.tiles = network->tiles();
  ASSERT_EQ(options.tiles.size(), 1u);
  EXPECT_EQ(Refusal(OnCpu(), options), "");
  auto& [name, tile] = *options.tiles.begin();
  for (const Step& step : network->plan().steps) {
    if (step.name != name) continue;
    const auto candidates = CandidateTiles(network->plan(), step, conv::CpuFacts());
    ASSERT_TRUE(candidates.ok()) << candidates.status();
    const auto other = std::find_if(candidates->begin(), candidates->end(),
                                    [&](const TileCandidate& c) { return c.tile != tile; });
    ASSERT_NE(other, candidates->end());
    tile = other->tile;
    break;
  }
  EXPECT_THAT(Refusal(OnCpu(), options), HasSubstr("is no program on the PATH"));
}

// The file is one of a graph as well.
// The formats that the planner chose among are part of a plan.
// A version of Weft whose planner has other steps makes the network anew.
TEST(Engine, APlanOfOtherStepsIsNotUsed) {
  absl::StatusOr<Model> model = ReadModel(OnCpu());
  ASSERT_TRUE(model.ok()) << model.status();
  for (SavedPlan& plan : model->plans) plan.tiles = {{"nothing", "Mma128x64"}};
  const auto network = Network::Load(*model, {.batch = 2, .back_end = rtc::BackEnd::kCpu});
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_THAT(network->note(), HasSubstr("the file's kernels are not used: network: tiles name"));
  model->graph.nodes[0].inputs = {99};
  EXPECT_FALSE(Network::Load(*model).ok());
}

TEST(Engine, KeepsItsFormats) {
  const auto network = Network::Create(
      OneConvolution(), {.batch = 2, .back_end = rtc::BackEnd::kCpu, .formats = {Format::kNc4}});
  ASSERT_TRUE(network.ok()) << network.status();
  const auto saved = network->Save();
  ASSERT_TRUE(saved.ok()) << saved.status();
  const auto loaded = Network::Load(*saved, WithoutCompiler(2));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->Describe(), HasSubstr("y (uint8 40x3x4 nc4)"));
}

TEST(Engine, IsReadAsAGraph) {
  const auto graph = ReadGraph(OnCpu());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(WriteGraph(*graph), WriteGraph(OneConvolution()));
}

TEST(Engine, SaysWhatItDoesNotHave) {
  EXPECT_THAT(
      Refusal(OnCpu(), WithoutCompiler(3)),
      HasSubstr("the file has no kernels for 3 images on the CPU, but for 2 images on the CPU"));
  EXPECT_THAT(Refusal(WriteGraph(OneConvolution()), WithoutCompiler()), Not(HasSubstr("the file")));
  const auto compiled = Network::Load(OnCpu(), {.batch = 1, .back_end = rtc::BackEnd::kCpu});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_THAT(compiled->Describe(), HasSubstr("no kernels for 1 image on the CPU"));
  // Both in one file.
  const auto two = Network::Load(OnCpu(), WithoutCompiler(2));
  ASSERT_TRUE(two.ok()) << two.status();
  const Network both[] = {*compiled, *two};
  const auto file = Network::Save(both);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Refusal(*file, WithoutCompiler(1)), "");
  EXPECT_EQ(Refusal(*file, WithoutCompiler(2)), "");
  const Network twice[] = {*two, *two};
  EXPECT_THAT(std::string(Network::Save(twice).status().message()),
              HasSubstr("two plans for 2 images on the CPU"));
  EXPECT_THAT(std::string(Network::Save({}).status().message()), HasSubstr("no network"));
}

TEST(Engine, OfAnotherVersionOfWeftIsNotRun) {
  auto model = ReadModel(OnCpu());
  ASSERT_TRUE(model.ok()) << model.status();
  model->headers[0] = model->headers[0] == '0' ? '1' : '0';
  EXPECT_THAT(Refusal(WriteModel(*model), WithoutCompiler(2)),
              HasSubstr("another version of Weft"));
}

// Kernels for a GPU are compiled where there is none, and found again by its architecture alone.
TEST(Engine, IsMadeForAGpuThatIsNotHere) {
  NetworkOptions options = {.batch = 4, .back_end = rtc::BackEnd::kGpu, .gpu = *GpuNamed("h200")};
  const auto network = Network::Create(OneConvolution(), options);
  if (absl::IsNotFound(network.status())) GTEST_SKIP() << network.status();
  ASSERT_TRUE(network.ok()) << network.status();
  const auto file = network->Save();
  ASSERT_TRUE(file.ok()) << file.status();
  options.cache_bytes = 0;
  options.compiler = "no_compiler_of_this_name";
  options.gpu->sm_count = 66;  // half of one
  const auto loaded = Network::Load(*file, options);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->Describe(),
              HasSubstr("kernels of the file, for 4 images on sm_90 of 132 multiprocessors"));
  EXPECT_EQ(loaded->tiles(), network->tiles());
  // All that a run on such a GPU needs is in the file: nothing else is compiled.
  EXPECT_EQ(loaded->Save().value(), *file);
  EXPECT_THAT(Refusal(*file, WithoutCompiler(4)),
              HasSubstr("no kernels for 4 images on the CPU, but for 4 images on sm_90 of 132"));
}

// Nothing is planned for a GPU that is none, or saved of it.
TEST(Engine, AGpuOfZerosIsRefusedByItsMember) {
  NetworkOptions options = {.batch = 1, .back_end = rtc::BackEnd::kGpu, .gpu = *GpuNamed("h200")};
  options.gpu->sm_count = 0;
  const std::string zero(Network::Create(OneConvolution(), options).status().message());
  EXPECT_THAT(zero, HasSubstr("network: gpu.sm_count=0; give 1 or more, as GpuNamed"));
  options.gpu = arch::DeviceLimits{.compute_capability = 90};
  options.gpu->l2_bytes = -1;
  const absl::Status of_defaults = Network::Create(OneConvolution(), options).status();
  EXPECT_EQ(of_defaults.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(of_defaults.message()), HasSubstr("network: gpu."));
}

TEST(Engine, GpusHaveNames) {
  EXPECT_EQ(GpuNamed("90a")->sm_count, 132);
  EXPECT_EQ(GpuNamed("A100")->compute_capability, 80);
  EXPECT_EQ(GpuNamed("sm_75")->compute_capability, 75);
  EXPECT_THAT(std::string(GpuNamed("tpu").status().message()),
              HasSubstr("the GPU \"tpu\" is not known by name; give one of t4 (sm_75)"));
}

TEST(Engine, RefusesEveryTruncation) {
  const std::string& file = OnCpu();
  for (std::size_t size = 0; size < file.size(); size += size < 4096 ? 17 : 997) {
    EXPECT_FALSE(ReadModel(std::string_view(file).substr(0, size)).ok()) << size;
  }
}

TEST(Engine, RefusesOtherBytes) {
  const std::string& file = OnCpu();
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    std::string other = file;
    other[random() % file.size()] ^= static_cast<char>(1 + random() % 255);
    EXPECT_FALSE(ReadModel(other).ok()) << i;
  }
}

// The text or the code changes and the checksum of the whole is made anew: it is refused in a sentence, or it is an engine of
// something else, and nothing else happens.
TEST(Engine, SurvivesOtherTexts) {
  const std::string file = OnCpu();
  std::uint64_t numbers[2];
  std::memcpy(numbers, file.data() + 16, sizeof(numbers));
  const std::size_t code = 128 + numbers[0] + numbers[1];
  const std::size_t plans = file.find("\"plans\"");
  std::mt19937 random(13);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    std::string other = file;
    if (i % 3 == 0) {  // of which each entry has a checksum of its own
      other[code + random() % (file.size() - code)] ^= static_cast<char>(1 + random() % 255);
      EXPECT_FALSE(ReadModel(Sealed(other)).ok());
      continue;
    }
    other[plans + random() % 300] = "0123456789-,\"[]{}:eax"[random() % 21];
    const std::string says = Refusal(Sealed(other), WithoutCompiler(2));
    if (!says.empty()) {
      ++refused;
      EXPECT_THAT(says, HasSubstr("network: "));
    }
  }
  EXPECT_GT(refused, 100);
  std::string more = file;
  more.append(72, '\0');
  const std::uint64_t size = file.size() + 72 - code;
  std::memcpy(more.data() + 96, &size, sizeof(size));
  EXPECT_THAT(Refusal(Sealed(more), WithoutCompiler(2)), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace weft::network
