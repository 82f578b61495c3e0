#include "weft/network/fuse/fusions.hpp"

#include <algorithm>

#include "weft/network/operators/tensor_plan.hpp"

namespace weft::network {

Fusions::Fusions(const Graph& graph, bool fuse)
    : folded_(fuse ? FoldTables(graph) : WithoutFolds(graph)),
      fuse_(fuse),
      readers_(graph.tensors.size()),
      maker_(graph.tensors.size(), -1),
      taken_(graph.nodes.size(), false) {
  const Graph& g = folded_.graph;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (folded_.gone[i]) continue;
    for (const int input : g.nodes[i].inputs) ++readers_[static_cast<std::size_t>(input)];
    maker_[static_cast<std::size_t>(g.nodes[i].output)] = static_cast<int>(i);
  }
  for (const int output : g.outputs) ++readers_[static_cast<std::size_t>(output)];
  FindFusions();
}

bool Fusions::HasKernel(int node) const {
  const auto i = static_cast<std::size_t>(node);
  return !folded_.gone[i] && !taken_[i];
}

const Fusion* Fusions::KernelOf(int node) const {
  const auto at = fusions_.find(node);
  return at == fusions_.end() ? nullptr : &at->second;
}

bool Fusions::SumIsFirst(const Fusion& fusion) const {
  const int first = maker(node(fusion.add).inputs[0]);
  return first >= 0 && (first == fusion.convolution || first == fusion.table);
}

// The fusion that makes a tensor and that a node may take in, since nothing else reads the tensor, by its last node; -1: there is
// none.
int Fusions::FusionBehind(int input) const {
  const bool alone = readers(input) == 1;
  return alone && KernelOf(maker(input)) != nullptr ? maker(input) : -1;
}

// Finds for each convolution what its kernel does besides: a table and an addition behind it, in either order; one that has a
// residual takes no addition. Of two convolutions that could take an addition, the later one does.
void Fusions::FindFusions() {
  for (int i = 0; i < static_cast<int>(graph().nodes.size()); ++i) {
    const Node& n = node(i);
    if (folded_.gone[static_cast<std::size_t>(i)]) continue;
    if (IsConvolution(n)) fusions_[i].convolution = i;
    if (!fuse_) continue;
    int taken = -1;
    Fusion fusion;
    if (n.kind == Kind::kAdd && n.inputs[0] != n.inputs[1]) {
      for (const int input : n.inputs) {
        const int behind = FusionBehind(input);
        if (behind >= 0 && !Adds(*KernelOf(behind))) taken = std::max(taken, behind);
      }
      if (taken >= 0) fusion = *KernelOf(taken), fusion.add = i;
    } else if (!table(i).empty()) {
      const int behind = FusionBehind(n.inputs[0]);
      if (behind >= 0 && KernelOf(behind)->table < 0) taken = behind;
      if (taken >= 0) fusion = *KernelOf(taken), fusion.table = i;
    }
    if (taken < 0) continue;
    fusions_[i] = fusion;
    taken_[static_cast<std::size_t>(taken)] = true;
  }
}

void Fusions::FindPools(const std::function<bool(const Fusion&)>& pools) {
  for (int i = 0; i < static_cast<int>(graph().nodes.size()); ++i) {
    const Node& n = node(i);
    if (!fuse_ || n.kind != Kind::kMaxPool || !HasKernel(i)) continue;
    const int behind = FusionBehind(n.inputs[0]);
    if (behind < 0 || Adds(*KernelOf(behind)) || !table(i).empty()) continue;
    Fusion fusion = *KernelOf(behind);
    fusion.pool = i;
    if (!pools(fusion)) continue;
    fusions_[i] = fusion;
    taken_[static_cast<std::size_t>(behind)] = true;
  }
}

void Fusions::FindSlices(const std::vector<Format>& formats, std::int64_t batch) {
  for (const Node& n : graph().nodes) {
    if (!fuse_ || n.kind != Kind::kConcat) continue;
    // Tensor operators write from multiples of 16 channels on, also where blocks are smaller.
    const std::int64_t block =
        std::max(16, VisitFormat(formats[static_cast<std::size_t>(n.output)],
                                 []<class Layout>() { return Layout::kInterleave; }));
    std::int64_t channel = 0;
    for (const int input : n.inputs) {
      const std::int64_t c = tensor(input).c;
      const bool whole_blocks =
          channel % block == 0 && (c % block == 0 || channel + c == tensor(n.output).c);
      if (whole_blocks && WritesSlice(input, n.output, formats, batch)) {
        slices_[input] = {n.output, channel, readers(input) > 1};
      }
      channel += c;
    }
  }
}

// Whether the kernel that makes a tensor can write it into tensor `of`, with the scale that this has. If that is another one, a
// table does it, which is put into requantised_.
bool Fusions::WritesSlice(int index, int of, const std::vector<Format>& formats,
                          std::int64_t batch) {
  if (maker(index) < 0 || SliceOf(index) != nullptr) return false;
  const Node& n = node(maker(index));
  const Fusion* const fusion = KernelOf(maker(index));
  const std::string table =
      ConvertTable(tensor(index).Type(1, Format::kNhwc), tensor(of).Type(1, Format::kNhwc));
  if (readers_[static_cast<std::size_t>(index)] > 1) {  // which read what the concat reads
    const bool is_same =
        formats[static_cast<std::size_t>(index)] == formats[static_cast<std::size_t>(of)];
    if (batch > 1 || !table.empty() || !is_same) return false;
  }
  if (fusion != nullptr) {
    // What is added is no slice: of several images it lies in another way.
    if (Adds(*fusion) && batch > 1) return false;
    if (!table.empty() && fusion->table >= 0 && fusion->table < fusion->add) return false;
  } else if (n.kind == Kind::kConcat) {
    if (formats[static_cast<std::size_t>(index)] != formats[static_cast<std::size_t>(of)])
      return false;
  } else if (n.kind == Kind::kQuantize || n.kind == Kind::kDequantize) {
    return false;
  }
  if (table.empty()) return true;
  if (fusion == nullptr && n.kind != Kind::kTable && n.kind != Kind::kConvert) return false;
  requantised_[index] = table;
  return true;
}

const Slice* Fusions::SliceOf(int tensor) const {
  const auto at = slices_.find(tensor);
  return at == slices_.end() ? nullptr : &at->second;
}

int Fusions::RootOf(int tensor) const {
  const Slice* const slice = SliceOf(tensor);
  return slice == nullptr ? tensor : RootOf(slice->of);
}

std::string Fusions::Requantised(int tensor) const {
  const auto at = requantised_.find(tensor);
  return at == requantised_.end() ? "" : at->second;
}

}  // namespace weft::network
