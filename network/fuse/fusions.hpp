// Which nodes of a graph are one kernel, and which write into the result of a concat.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "weft/network/fuse/fold_tables.hpp"
#include "weft/network/graph/graph.hpp"

namespace weft::network {

constexpr bool IsConvolution(const Node& node) {
  return node.kind == Kind::kConvolution || node.kind == Kind::kFullyConnected;
}

// A convolution and what its kernel does besides; the kernel makes the output of the last node.
struct Fusion {
  int convolution = -1, add = -1, table = -1, pool = -1;  // nodes; -1: there is none
};

// Where a concat wants a tensor that it reads: from `channel` on of tensor `of`, its output.
struct Slice {
  int of = -1;
  std::int64_t channel = 0;
  bool is_read = false;  // by others as well, from there
};

class Fusions {
 public:
  // fuse: false: each node has a kernel of its own.
  Fusions(const Graph& graph, bool fuse);

  // The graph after tables were folded. Nodes and tensors have their places.
  const Graph& graph() const { return folded_.graph; }
  // What a node makes of each byte of its only input (FoldedGraph::tables).
  const std::string& table(int node) const {
    return folded_.tables[static_cast<std::size_t>(node)];
  }

  // Whether a kernel makes a node's output: the node is not a part of what later ones do.
  bool HasKernel(int node) const;
  // The convolution's kernel that makes a node's output; null if another kernel does.
  const Fusion* KernelOf(int node) const;
  // Whether the kernel reads a second tensor: what an addition reads, or the convolution's residual.
  bool Adds(const Fusion& fusion) const {
    return fusion.add >= 0 || node(fusion.convolution).inputs.size() > 1;
  }
  // Whether the convolution is the first operand of its addition, which there is.
  bool SumIsFirst(const Fusion& fusion) const;

  // Lets convolutions take in the max pooling behind them, `fusion` being one that could: pools says whether it does.
  void FindPools(const std::function<bool(const Fusion& fusion)>& pools);

  // The node that makes a tensor; -1: it is an input. How many nodes and outputs read it.
  int maker(int tensor) const { return maker_[static_cast<std::size_t>(tensor)]; }
  int readers(int tensor) const { return readers_[static_cast<std::size_t>(tensor)]; }

  // Finds the tensors that a concat reads and that their makers can write where it wants them: whole blocks of the
  // formats, which are those of tensors. Before that no tensor is a slice. Of several images the kernel of an addition
  // writes none, and what others read as well is none; of one image these read it there, if it has the concat's scale and format.
  void FindSlices(const std::vector<Format>& formats, std::int64_t batch);
  // Null if the tensor lies by itself.
  const Slice* SliceOf(int tensor) const;
  // Whether a tensor that a concat reads for its channels from `channel` on is there already.
  bool IsThere(int tensor, int concat, std::int64_t channel) const {
    const Slice* const slice = SliceOf(tensor);
    return slice != nullptr && slice->of == concat && slice->channel == channel;
  }
  // The tensor in which a tensor lies: a concat's result, or the tensor itself.
  int RootOf(int tensor) const;
  // The table that the maker of a slice applies behind its own, since the concat has another scale; else empty.
  std::string Requantised(int tensor) const;

 private:
  const Node& node(int index) const { return graph().nodes[static_cast<std::size_t>(index)]; }
  const Tensor& tensor(int index) const { return graph().tensors[static_cast<std::size_t>(index)]; }
  int FusionBehind(int input) const;
  void FindFusions();
  bool WritesSlice(int index, int of, const std::vector<Format>& formats, std::int64_t batch);

  FoldedGraph folded_;
  bool fuse_;
  std::vector<int> readers_;       // by tensor: how many nodes and outputs read it
  std::vector<int> maker_;         // by tensor: the node that makes it; -1: none
  std::map<int, Fusion> fusions_;  // by their last nodes
  std::vector<bool> taken_;        // by node: it is part of a larger fusion, and not its last node
  std::map<int, Slice> slices_;    // by tensors
  std::map<int, std::string> requantised_;  // by tensors
};

}  // namespace weft::network
