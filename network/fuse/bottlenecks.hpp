// The bottlenecks of residual networks among the nodes of a graph, each of which may be one kernel.
#pragma once

#include <vector>

#include "weft/network/fuse/fusions.hpp"

namespace weft::network {

// x -> 1x1 -> 3x3 -> 1x1 + x, or + a 1x1 convolution of x. What lies between is read by these nodes alone.
struct Bottleneck {
  int x = -1;  // a tensor
  // Nodes. projection is -1 where x itself is added; add is -1 where the third convolution has the residual itself.
  int first = -1, second = -1, third = -1, projection = -1, add = -1;

  int last() const { return add >= 0 ? add : third; }  // the node that makes y
};

// Those of convolutions of integers to integers without groups, whatever their strides and channels are, by their last nodes.
// Tables between or behind are no part of one, nor is what a concat takes as a slice of its result.
std::vector<Bottleneck> FindBottlenecks(const Fusions& fusions);

}  // namespace weft::network
