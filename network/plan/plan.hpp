// How a network runs a number of images: its kernels in their order, and where tensors lie.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/bottleneck_problem.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/arch/device.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/network/graph/blocks.hpp"
#include "weft/network/graph/graph.hpp"
#include "weft/network/operators/tensor_operator.hpp"

namespace weft::network {

// A tensor in memory: one of the graph, or a copy of it in another format.
struct PlacedTensor {
  enum class Where : std::int8_t { kArena, kInput, kOutput };

  int tensor = -1;  // of the graph
  TensorType type{};
  Where where = Where::kArena;
  int port = 0;             // kInput, kOutput: which of the graph's
  std::int64_t offset = 0;  // kArena: bytes from its beginning
  // Of one image: the place of a concat's result whose channels from first_channel on these are; -1: it has memory of its own.
  int within = -1;
  std::int64_t first_channel = 0;
};

// A convolution or a fully connected layer, and what follows it in the same kernel: an addition, and a table before or
// behind that. Step::other is what the addition reads or, without one, the node's own residual, if it has one.
struct ConvolutionStep {
  conv::Problem problem{};
  // Where this kernel's channels begin in dst, which has more where it is the result of a concat.
  std::int64_t first_channel = 0;
  bool depthwise = false;
  int node = -1;  // of the graph, whose filter this is
  // Of the convolution's own output, which is of floats only where nothing follows it.
  Element element = Element::kUint8;
  int add = -1;              // of the graph; -1: there is none
  bool sum_is_first = true;  // whether the convolution is the first operand of the addition
  std::string table{};  // 256 bytes, what each byte of the integer becomes; empty: there is none
  Element table_element = Element::kUint8;  // of what the table makes
  bool table_is_last = true;  // it is of the sum, if there is one; false: of its operand
  conv::PoolFacts pool{};     // the windows of a max pooling behind all of these
};

// Whether a convolution's kernel corrects its sums for the zero point of its source: padding counts as that, so that pixels at
// the border need another correction than all others. Without padding the bias has the one of all.
inline bool CorrectsSource(const conv::Problem& p, const Quantization& source) {
  const bool pads = p.pad_top != 0 || p.pad_left != 0 || p.pad_bottom != 0 || p.pad_right != 0;
  return source.zero_point != 0 && pads;
}

// A bottleneck of a residual network as one kernel (conv/bottleneck.hpp): each convolution as it would be by itself, the third
// with the addition. Step::src is x, and Step::other -1.
struct BottleneckStep {
  conv::BottleneckProblem problem{};
  ConvolutionStep first{}, second{}, third{};
  ConvolutionStep projection{};  // of x, which is added; its node is -1 where x itself is
  TensorType added{};            // the element and the quantization of what is added
  std::int32_t padding = 0;      // what stands for 0 in the source of `second`

  bool projects() const { return projection.node >= 0; }
};

// One kernel. src, other and dst are places in Plan::tensors; other is -1 where nothing else is read.
struct Step {
  int src = -1, other = -1, dst = -1;
  std::variant<ConvolutionStep, BottleneckStep, TensorProblem> what;
  std::string name{};  // those of its nodes
  // The node of the graph that it is named after: a convolution, the last one of a bottleneck, or what a TensorOperator computes;
  // -1: it only changes a format.
  int node = -1;
};

// A bottleneck of the graph, or a convolution and the max pooling behind it.
struct BlockNote {
  std::string name{};       // those of its nodes
  std::string why_apart{};  // why it is several kernels; empty: it is one
};

struct Plan {
  std::int64_t batch = 1;
  std::vector<PlacedTensor> tensors{};
  std::vector<Step> steps{};
  std::int64_t arena_bytes = 0;
  std::vector<BlockNote> blocks{};
  std::vector<BlockNote> pools{};
};

struct TileQuestion;

struct PlanOptions {
  std::int64_t batch = 1;
  // What integers may lie in, of kNc4, kNc32 and kNhwc; empty: blocks of 32 channels, or of 4 where there are at most 4.
  std::vector<Format> formats{};
  // The microseconds of a convolution, infinite where no kernel can run it, and the bytes that the machine's memory reads and
  // writes in one. With them, formats are those of the least time (ChooseFormats); without, each tensor has one that it can have.
  std::function<double(const TileQuestion&)> time{};
  double bytes_per_us = 4.3e6;
  // Additions, tables and poolings into convolutions, tables into tables, and what alone a concat reads is written where that
  // wants it.
  bool fuse = true;
  Blocks blocks = Blocks::kWhereQuicker;  // kNever without `fuse`
  arch::DeviceLimits gpu{};               // that runs the plan; compute_capability 0: the CPU does
};

// The plan of a graph that CheckGraph accepts. InvalidArgument if the batch is not positive or makes a tensor too large, and
// the errors of ChooseFormats, and those of CheckTensorProblem with the name of the node. Problems of convolutions are not checked.
absl::StatusOr<Plan> MakePlan(const Graph& graph, const PlanOptions& options);

}  // namespace weft::network
