// The words that files and messages have for kinds, elements, formats and choices, and numbers out of constants.
#pragma once

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "weft/network/graph/blocks.hpp"
#include "weft/network/graph/graph.hpp"

namespace weft::network {

const char* NameOf(Kind kind);
const char* NameOf(Element element);
const char* NameOf(Format format);
const char* NameOf(Blocks blocks);
std::optional<Kind> KindOf(std::string_view name);
std::optional<Element> ElementOf(std::string_view name);
std::optional<Format> FormatOf(std::string_view name);
std::optional<Blocks> BlocksOf(std::string_view name);

// An error about a node, as that of one of its operators.
absl::Status OfNode(const absl::Status& status, std::string_view node);

// The numbers of a constant, which lies within the graph's.
template <class Number>
std::vector<Number> NumbersOf(const Graph& graph, const Constant& constant) {
  const std::string_view bytes = graph.Bytes(constant);
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace weft::network
