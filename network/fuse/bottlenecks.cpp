#include "weft/network/fuse/bottlenecks.hpp"

#include <optional>

namespace weft::network {
namespace {

class Finder {
 public:
  explicit Finder(const Fusions& fusions) : fusions_(fusions) {}

  // The bottleneck whose last node makes y by an addition, or by a convolution with a residual.
  std::optional<Bottleneck> EndingIn(int node_index) const {
    const Fusion* const fusion = fusions_.KernelOf(node_index);
    if (fusion == nullptr || fusion->table >= 0 || !fusions_.HasKernel(node_index)) return {};
    const Node& last = node(node_index);
    if (fusions_.SliceOf(last.output) != nullptr) return {};
    if (fusion->add == node_index) {
      for (const int third : {0, 1}) {
        const int by = Convolution(last.inputs[static_cast<std::size_t>(third)], 1);
        if (by < 0) continue;
        auto found = Through(by, last.inputs[static_cast<std::size_t>(1 - third)]);
        if (!found.has_value()) continue;
        found->add = node_index;
        return found;
      }
    } else if (Is(node_index, 1) && last.inputs.size() > 1) {
      return Through(node_index, last.inputs[1]);
    }
    return {};
  }

 private:
  const Node& node(int index) const {
    return fusions_.graph().nodes[static_cast<std::size_t>(index)];
  }
  bool IsInteger(int tensor) const {
    return fusions_.graph().tensors[static_cast<std::size_t>(tensor)].element != Element::kFloat;
  }

  // Whether a node is a convolution of size x size pixels.
  bool Is(int index, std::int64_t size) const {
    const Node& n = node(index);
    return n.kind == Kind::kConvolution && n.groups == 1 && n.window.h == size &&
           n.window.w == size && IsInteger(n.inputs[0]) && IsInteger(n.output);
  }

  // The convolution of size x size pixels that makes a tensor, without a residual, and that one node alone reads; -1: there is none.
  int Convolution(int tensor, std::int64_t size) const {
    const int made = fusions_.maker(tensor);
    if (made < 0 || fusions_.readers(tensor) != 1 || !Is(made, size)) return -1;
    return node(made).inputs.size() == 1 ? made : -1;
  }

  // The bottleneck whose third convolution this is, if what is added is x or of it.
  std::optional<Bottleneck> Through(int third, int added) const {
    Bottleneck b = {.third = third};
    b.second = Convolution(node(third).inputs[0], 3);
    if (b.second < 0) return {};
    b.first = Convolution(node(b.second).inputs[0], 1);
    if (b.first < 0) return {};
    b.x = node(b.first).inputs[0];
    if (added == b.x) return b;
    b.projection = Convolution(added, 1);
    if (b.projection < 0 || node(b.projection).inputs[0] != b.x) return {};
    return b;
  }

  const Fusions& fusions_;
};

}  // namespace

std::vector<Bottleneck> FindBottlenecks(const Fusions& fusions) {
  std::vector<Bottleneck> found;
  const Finder finder(fusions);
  for (int i = 0; i < static_cast<int>(fusions.graph().nodes.size()); ++i) {
    if (const auto b = finder.EndingIn(i); b.has_value()) found.push_back(*b);
  }
  return found;
}

}  // namespace weft::network
