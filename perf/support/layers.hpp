// Layers and layer lists: perf/layers/README.md has the notation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/conv/problem.hpp"

namespace weft::perf {

struct Layer {
  conv::Problem problem;   // problem.n is 1 where the name gives no batch
  bool has_batch = false;  // the name gives the batch
  int count = 1;           // how often the layer occurs in its network

  friend bool operator==(const Layer&, const Layer&) = default;
};

// The layer called `name`, such as c64h92w160k32r3s1 or n16c64h92w160k32r3s1p1. InvalidArgument
// says which part is wrong and what would be accepted. Every number is at most 1048576; whether the
// filter fits the image is the operator's business.
absl::StatusOr<Layer> ParseLayer(const std::string& name);

// The name of a layer, without padding and dilation where they are what ParseLayer assumes. The
// problem has R = S, equal paddings, strides and dilations, and is a cross-correlation.
std::string LayerName(const conv::Problem& problem, bool with_batch = false);

// The lines of a list: `name [count=N]`, blank, or a comment. InvalidArgument begins with
// `source:line`.
absl::StatusOr<std::vector<Layer>> ParseLayerList(const std::string& source,
                                                  const std::string& text);

// The lists of perf/layers/, which are part of the program: their names, and one of them. NotFound
// names the lists there are.
std::vector<std::string> LayerListNames();
absl::StatusOr<std::vector<Layer>> LayerList(const std::string& name);

}  // namespace weft::perf
