#include "perf/network/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "perf/support/random.hpp"

namespace weft::perf {
namespace {

constexpr std::uint64_t kSeed = 20261121;
// The mean square of a filter's values, -128 replaced by 0.
constexpr double kFilterMeanSquare = 2.0 * (127.0 * 128.0 * 255.0 / 6.0) / 256.0;

}  // namespace

ValueFacts FactsOf(const std::vector<std::int8_t>& values) {
  ValueFacts facts;
  if (values.empty()) return facts;
  std::int64_t squares = 0, zeros = 0, saturated = 0;
  for (const std::int8_t value : values) {
    squares += int{value} * int{value};
    zeros += value == 0;
    saturated += value == 127 || value == -128;
  }
  const double count = static_cast<double>(values.size());
  facts.mean_square = static_cast<double>(squares) / count;
  facts.zeros = static_cast<double>(zeros) / count;
  facts.saturated = static_cast<double>(saturated) / count;
  return facts;
}

std::vector<std::int8_t> MakeFilter(const Network& network, int layer) {
  const conv::Problem& p = network.layers[layer].problem;
  std::vector<std::int8_t> filter = RandomInt8s(p.k * p.c * p.r * p.s, kSeed + 100 + layer);
  // Else sums over what ReLU left would have a mean below 0.
  std::replace(filter.begin(), filter.end(), std::int8_t{-128}, std::int8_t{0});
  return filter;
}

LayerParameters MakeParameters(const Network& network, int layer, double mean_square) {
  const NetworkLayer& l = network.layers[layer];
  const conv::Problem& p = l.problem;
  LayerParameters made;
  made.filter = MakeFilter(network, layer);
  const double wanted = WantedDeviation(l.after);
  const double deviation = std::sqrt(static_cast<double>(p.c * p.r * p.s) * kFilterMeanSquare *
                                     std::max(mean_square, 1e-3));
  const float alpha = static_cast<float>(wanted / deviation);
  made.channel_alpha = RandomFloats(p.k, kSeed + 200 + layer, 0.75f * alpha, 1.25f * alpha);
  const float bias = static_cast<float>(wanted / 4.0);
  made.bias = RandomFloats(p.k, kSeed + 300 + layer, -bias, bias);
  if (p.c < 32) {
    for (float& a : made.channel_alpha) a = std::exp2(std::round(std::log2(a)));
    for (float& b : made.bias) b = std::round(8.0f * b) / 8.0f;
  }
  return made;
}

std::vector<std::int8_t> MakeInput(const Network& network, int input) {
  const TensorExtents& e = network.inputs[input];
  std::vector<std::int8_t> values = RandomInt8s(NCHW::Size(e), kSeed + input);
  if (input > 0) {
    // What ReLU leaves of values between -64 and 63.
    for (std::int8_t& value : values) value = static_cast<std::int8_t>(std::max(value / 2, 0));
  }
  return values;
}

}  // namespace weft::perf
