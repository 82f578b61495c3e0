// Random data that is a function of (seed, index), so that the CPU and a kernel make the same.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::perf {

// 64 well mixed bits of (seed, index): Steele, Lea and Flood's SplitMix64 at position `index` of
// the sequence that `seed` starts.
constexpr std::uint64_t RandomBits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ull + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Uniform over -128..127.
constexpr std::int8_t RandomInt8(std::uint64_t seed, std::uint64_t index) {
  return static_cast<std::int8_t>(RandomBits(seed, index) >> 56);
}

// Uniform over [low, high): one of 2^24 values.
constexpr float RandomFloat(std::uint64_t seed, std::uint64_t index, float low, float high) {
  const float unit = static_cast<float>(RandomBits(seed, index) >> 40) * (1.0f / 16777216.0f);
  return __builtin_fmaf(unit, high - low, low);
}

// RandomInt8(seed, 0), RandomInt8(seed, 1), ...
inline std::vector<std::int8_t> RandomInt8s(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int8_t> values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = RandomInt8(seed, i);
  return values;
}

inline std::vector<float> RandomFloats(std::int64_t count, std::uint64_t seed, float low,
                                       float high) {
  std::vector<float> values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = RandomFloat(seed, i, low, high);
  return values;
}

}  // namespace weft::perf
