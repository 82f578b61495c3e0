// Random parameters for a network, with scales that keep its activations alive.
//
// Filters are uniform over -127..127, as quantisers make them. The products' sums then have mean 0
// and a deviation that follows from the mean square of the layer's input, so that a scale can be
// given that brings outputs to a wanted deviation, whatever happened in the layers before.
#pragma once

#include <cstdint>
#include <vector>

#include "perf/network/network.hpp"

namespace weft::perf {

// The factor of every residual. With 1, cuDNN's graph of the block's end is the shortest.
inline constexpr float kNetworkGamma = 1.0f;

// The deviation that a convolution's scaled sums are given: smaller where a residual is added, so
// that the sums of up to 6 blocks stay within the range of int8.
constexpr double WantedDeviation(After after) {
  return after == After::kRelu ? 32.0 : 18.0;
}

// What is known of a tensor's values.
struct ValueFacts {
  double mean_square = 0.0;
  double zeros = 0.0;      // fraction
  double saturated = 0.0;  // fraction at -128 or 127
};
ValueFacts FactsOf(const std::vector<std::int8_t>& values);

struct LayerParameters {
  std::vector<std::int8_t> filter;  // KCRS
  // K, within a quarter of the layer's scale. Of a layer with fewer than 32 input channels powers
  // of two, and bias multiples of 1/8, so that half precision can compute the same.
  std::vector<float> channel_alpha;
  std::vector<float> bias;  // K, up to a quarter of the wanted deviation
};

// Of layer `layer` of `network`, whose input has this mean square. A function of its arguments.
LayerParameters MakeParameters(const Network& network, int layer, double mean_square);

// The filter alone, which does not depend on the input.
std::vector<std::int8_t> MakeFilter(const Network& network, int layer);

// Input `input` of a network, NCHW. The image's fourth channel is random, too. Others are what ReLU
// makes: half of the values are zeros.
std::vector<std::int8_t> MakeInput(const Network& network, int input);

}  // namespace weft::perf
