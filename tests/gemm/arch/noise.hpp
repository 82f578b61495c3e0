#pragma once

#include <cstdint>
#include <vector>

namespace weft::arch::testing {

// Reproducible noise.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed * 2 + 1) {}
  uint32_t Next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state_ >> 32);
  }
  std::vector<uint32_t> Words(int count) {
    std::vector<uint32_t> words(count);
    for (uint32_t& word : words) word = Next();
    return words;
  }

 private:
  uint64_t state_;
};

}  // namespace weft::arch::testing
