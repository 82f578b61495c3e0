// The graphs that cudnn_graph and cudnn_f16 hand to cuDNN are graphs that it accepts. cuDNN checks
// them without a GPU; which engines take them is seen on one only.
#include "perf/peers/cudnn_graph.hpp"

#include <gtest/gtest.h>

#include "perf/peers/peer.hpp"

namespace weft::perf::internal {
namespace {

#if WEFT_HAVE_CUDNN

constexpr conv::Problem kProblem = conv::SquareProblem(64, 64, 56, 32, 3, 1, 1);

void Accepts(const absl::StatusOr<CudnnGraph>& graph) {
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_GT(graph->graph().GetInt(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT), 0);
}

TEST(CudnnGraph, EveryFormIsAGraph) {
  const absl::StatusOr<const CudnnApi*> api = CudnnApi::Get();
  if (!api.ok()) GTEST_SKIP() << api.status();
  for (const bool half : {false, true}) {
    for (const bool relu : {false, true}) {
      for (const float gamma : {0.0f, 0.5f, 1.0f}) {  // 0: without a residual
        const PeerProblem problem{kProblem, relu, gamma != 0.0f, gamma};
        Accepts(CudnnGraph::Convolution(**api, nullptr, problem, half));
      }
    }
    Accepts(CudnnGraph::Convolution(**api, nullptr, {kProblem, false, false, 1.0f, true}, half));
  }
  Accepts(CudnnGraph::Quantization(**api, nullptr, kProblem.dst()));
}

TEST(CudnnGraph, ReadsGammaWhereItIsNotOne) {
  EXPECT_FALSE(HasGamma({kProblem, true, false, 0.5f}, false));
  EXPECT_TRUE(HasGamma({kProblem, true, true, 0.5f}, false));
  EXPECT_FALSE(HasGamma({kProblem, true, true, 1.0f}, false));
  EXPECT_FALSE(HasGamma({kProblem, true, true, 0.5f}, true));
}

TEST(CudnnGraph, SaysWhatIsWrong) {
  const absl::StatusOr<const CudnnApi*> api = CudnnApi::Get();
  if (!api.ok()) GTEST_SKIP() << api.status();
  conv::Problem negative = kProblem;
  negative.stride_h = -1;
  const absl::StatusOr<CudnnGraph> graph =
      CudnnGraph::Convolution(**api, nullptr, {negative, true, false, 1.0f}, false);
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("cuDNN graph, descriptor"), std::string::npos)
      << graph.status();
}

#else

// Built without cudnn.h: the peers are still known by name, so that a run can say what is missing.
TEST(CudnnGraph, IsKnownWithoutItsHeader) {
  EXPECT_TRUE(CheckPeerName("cudnn_graph").ok());
  EXPECT_TRUE(CheckPeerName("cudnn_f16").ok());
  EXPECT_FALSE(CheckPeerName("cudnn_graf").ok());
}

#endif  // WEFT_HAVE_CUDNN

}  // namespace
}  // namespace weft::perf::internal
