#include "weft/network/fuse/fold_tables.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/operators/tensor_operator.hpp"
#include "weft/network/operators/tensor_plan.hpp"

namespace weft::network {
namespace {

constexpr std::int64_t kBytes = 256;

std::string AllBytes() {
  std::string bytes(kBytes, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  return bytes;
}

// A tensor as a function of another one: `table` of each of its bytes, or the tensor itself where it is empty.
struct Function {
  int of = -1;
  std::string table{};
  int node = -1;  // that makes it; -1: the tensor itself
};

class Folder {
 public:
  explicit Folder(const Graph& graph)
      : folded_(WithoutFolds(graph)),
        maker_(graph.tensors.size(), -1),
        readers_(graph.tensors.size()) {
    for (const Node& n : graph.nodes) AddReader(n, 1);
    for (const int output : graph.outputs) ++readers_[static_cast<std::size_t>(output)];
  }

  FoldedGraph Fold() && {
    for (std::size_t i = 0; i < graph().nodes.size(); ++i) {
      while (FoldInputs(static_cast<int>(i))) {
      }
      maker_[static_cast<std::size_t>(node(i).output)] = static_cast<int>(i);
    }
    return std::move(folded_);
  }

 private:
  const Graph& graph() const { return folded_.graph; }
  Node& node(std::size_t index) { return folded_.graph.nodes[index]; }
  const Tensor& tensor(int index) const { return graph().tensors[static_cast<std::size_t>(index)]; }

  // Counts the node `times` more often among those that read its inputs.
  void AddReader(const Node& n, std::int64_t times) {
    for (const int input : n.inputs) readers_[static_cast<std::size_t>(input)] += times;
  }

  // What an input of a node is: a function of another tensor, if this node alone reads it, and the tensor itself.
  std::vector<Function> FunctionsOf(const Node& n, int input) const {
    std::vector<Function> functions;
    const int maker = maker_[static_cast<std::size_t>(input)];
    if (maker >= 0 && !folded_.tables[static_cast<std::size_t>(maker)].empty() &&
        readers_[static_cast<std::size_t>(input)] ==
            std::count(n.inputs.begin(), n.inputs.end(), input)) {
      functions.push_back({graph().nodes[static_cast<std::size_t>(maker)].inputs[0],
                           folded_.tables[static_cast<std::size_t>(maker)], maker});
    }
    functions.push_back({.of = input});
    return functions;
  }

  // Makes node `index` a table of the tensor that all of its inputs are functions of. False: there is none, or it is one already.
  bool FoldInputs(int index) {
    Node& n = node(static_cast<std::size_t>(index));
    const bool one = n.kind == Kind::kTable || n.kind == Kind::kConvert;
    const bool two = n.kind == Kind::kAdd || n.kind == Kind::kMultiply;
    if (!one && !two) return false;
    const std::vector<Function> all = FunctionsOf(n, n.inputs[0]);
    for (const Function& a : all) {
      if (one && a.node < 0) continue;
      for (const Function& b : two ? FunctionsOf(n, n.inputs[1]) : std::vector<Function>(1, a)) {
        if (a.of == b.of && FoldInto(index, a, b)) return true;
      }
    }
    return false;
  }

  bool FoldInto(int index, const Function& a, const Function& b) {
    Node& n = node(static_cast<std::size_t>(index));
    const std::optional<std::string> table = TableOf(index, a.table, b.table);
    if (!table.has_value()) return false;
    std::string name = n.name;
    for (const int made : {b.node, a.node}) {
      if (made < 0 || folded_.gone[static_cast<std::size_t>(made)]) continue;
      folded_.gone[static_cast<std::size_t>(made)] = true;
      AddReader(node(static_cast<std::size_t>(made)), -1);
      name = absl::StrCat(node(static_cast<std::size_t>(made)).name, " + ", name);
    }
    n.name = std::move(name);
    n.kind = Kind::kTable;
    AddReader(n, -1);
    n.inputs = {a.of};
    AddReader(n, 1);
    folded_.tables[static_cast<std::size_t>(index)] = *table;
    return true;
  }

  // What a node makes of all bytes of a tensor of which its inputs are functions. Nothing if its operator refuses it.
  std::optional<std::string> TableOf(int index, const std::string& a, const std::string& b) const {
    const Node& n = graph().nodes[static_cast<std::size_t>(index)];
    const std::string& own = folded_.tables[static_cast<std::size_t>(index)];
    if (n.kind == Kind::kTable || n.kind == Kind::kConvert) return Composed(a, own);
    TensorProblem problem;
    problem.kind = n.kind;
    const auto type = [&](int of) {
      TensorType t = tensor(of).Type(1, Format::kNhwc);
      t.extents = {1, kBytes, 1, 1};
      return t;
    };
    problem.src = type(n.inputs[0]), problem.other = type(n.inputs[1]);
    problem.dst = type(n.output);
    const absl::StatusOr<TensorOperator> op = TensorOperator::Create(problem);
    if (!op.ok()) return std::nullopt;
    const std::string src = Composed(AllBytes(), a), other = Composed(AllBytes(), b);
    std::string dst(kBytes, '\0');
    const absl::Status status =
        op->RunOnCpu({.src = src.data(), .other = other.data(), .dst = dst.data()});
    return status.ok() ? std::optional<std::string>(dst) : std::nullopt;
  }

  FoldedGraph folded_;
  std::vector<int> maker_;  // the node that makes a tensor; -1: none
  // By tensor: how many nodes and outputs read it. A node that reads it twice counts twice.
  std::vector<std::int64_t> readers_;
};

}  // namespace

std::string Composed(const std::string& first, const std::string& then) {
  if (first.empty()) return then;
  std::string both = first;
  for (char& byte : both) {
    if (!then.empty()) byte = then[static_cast<unsigned char>(byte)];
  }
  return both;
}

FoldedGraph WithoutFolds(const Graph& graph) {
  FoldedGraph folded = {.graph = graph,
                        .tables = std::vector<std::string>(graph.nodes.size()),
                        .gone = std::vector<bool>(graph.nodes.size(), false)};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = graph.nodes[i];
    if (n.kind == Kind::kTable) folded.tables[i] = std::string(graph.Bytes(n.table));
    if (n.kind != Kind::kConvert) continue;
    const auto type = [&](int index) {
      return graph.tensors[static_cast<std::size_t>(index)].Type(1, Format::kNhwc);
    };
    folded.tables[i] = ConvertTable(type(n.inputs[0]), type(n.output));
  }
  return folded;
}

FoldedGraph FoldTables(const Graph& graph) {
  return Folder(graph).Fold();
}

}  // namespace weft::network
