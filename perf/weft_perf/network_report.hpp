// What a row of a network says of its layers.
#pragma once

#include <string>
#include <vector>

#include "perf/network/network.hpp"
#include "perf/network/parameters.hpp"
#include "perf/support/row.hpp"

namespace weft::perf {

// What is known of one layer.
struct LayerFacts {
  Contender ours, cudnn;
  std::string model_tile;
  double model_us = 0.0;
  long long mismatches = 0;         // in the images compared with the reference, and between tiles
  long long plan_differences = -1;  // cuDNN's output, where it reads what ours read, against ours
  int plan_largest = 0;
  ValueFacts values;  // of our output, first image
};

// A row's "layers", from the facts of each.
Json LayerRows(const Network& network, const std::vector<LayerFacts>& facts);

}  // namespace weft::perf
