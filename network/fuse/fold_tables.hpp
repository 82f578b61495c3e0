// Nodes of one integer each become tables: what reads nothing but integers of one tensor, element by element, is a table of 256
// bytes of that tensor.
#pragma once

#include <string>
#include <vector>

#include "weft/network/graph/graph.hpp"

namespace weft::network {

// A graph in which tables, converts, additions and products of what comes from one tensor, such as x times the sigmoid of x, are
// one table of it. Nodes and tensors keep their places.
struct FoldedGraph {
  Graph graph;
  // By node: the 256 bytes that it makes of the bytes of its only input; empty of other nodes, and of a convert that leaves
  // them as they are.
  std::vector<std::string> tables;
  std::vector<bool>
      gone;  // by node: its work is part of a later node, and nothing reads its output
};

// The bytes are made by the nodes' own operators, of all 256 values. A node is folded into the one that reads it only if
// nothing else does. graph: one that CheckGraph accepts; a node whose numbers its operator refuses stays as it is.
FoldedGraph FoldTables(const Graph& graph);

// The same with nothing folded.
FoldedGraph WithoutFolds(const Graph& graph);

// What `then` makes of what `first` makes; empty tables leave bytes as they are.
std::string Composed(const std::string& first, const std::string& then);

}  // namespace weft::network
