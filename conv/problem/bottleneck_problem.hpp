// The shape of a bottleneck of a residual network: a 1x1 convolution to few channels, a 3x3
// convolution of these, a 1x1 convolution to many, and the residual that is added.
#pragma once

#include <cstdint>

#include "weft/conv/problem/problem.hpp"

namespace weft::conv {

struct BottleneckProblem {
  static constexpr std::int64_t kMiddle = 64;  // channels between the convolutions

  std::int64_t n = 1;        // images
  std::int64_t h = 1;        // rows of x and of y
  std::int64_t w = 1;        // columns of both, a multiple of 4, at most 128
  std::int64_t c = kMiddle;  // channels of x, a multiple of 32
  std::int64_t k = kMiddle;  // channels of y, a multiple of 64; c where the residual is x itself

  // The convolutions by themselves, whose stride is 1. The last is that of the residual, where
  // there is one.
  constexpr Problem first() const { return Pointwise(c, kMiddle); }
  constexpr Problem second() const {
    Problem p = Pointwise(kMiddle, kMiddle);
    p.r = p.s = 3;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
    return p;
  }
  constexpr Problem third() const { return Pointwise(kMiddle, k); }
  constexpr Problem projection() const { return Pointwise(c, k); }

  constexpr TensorExtents src() const { return {n, c, h, w}; }
  constexpr TensorExtents dst() const { return {n, k, h, w}; }
  // Whether there is no output.
  constexpr bool IsEmpty() const { return n == 0 || h == 0 || w == 0; }

  friend constexpr bool operator==(const BottleneckProblem&, const BottleneckProblem&) = default;

 private:
  constexpr Problem Pointwise(std::int64_t from, std::int64_t to) const {
    Problem p;
    p.n = n, p.h = h, p.w = w, p.c = from, p.k = to;
    return p;
  }
};

}  // namespace weft::conv
