// The ready-made prologues. Their banks have the filters in the order of the batches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/prologues/prologue.hpp"

namespace weft::prologues {

// The ordinary convolution: one filter for every output pixel of every image.
struct SharedFilter {
  static constexpr Depends kDepends{};
  static constexpr const char* kName = "SharedFilter";
  constexpr std::int64_t Filter(const BatchCoord&) const { return 0; }
  static constexpr std::int64_t Filters(const BatchExtents&) { return 1; }
};

namespace internal {

// One filter for each batch.
struct OneForEachBatch {
  constexpr std::int64_t Filter(const BatchCoord& at) const { return at.index; }
  static constexpr std::int64_t Filters(const BatchExtents& extents) { return extents.Count(); }
};

// The characters of "LocalBlock<h, w>", in static storage.
template <int h, int w>
class LocalBlockName {
  static constexpr auto Make(std::array<char, 40> text = {}) {
    std::size_t at = 0;
    const auto word = [&](const char* part) {
      for (; *part != 0; ++part) text[at++] = *part;
    };
    const auto number = [&](int value) {
      int digit = 1;
      while (value / digit >= 10) digit *= 10;
      for (; digit > 0; digit /= 10) text[at++] = static_cast<char>('0' + value / digit % 10);
    };
    word("LocalBlock<");
    number(h);
    word(", ");
    number(w);
    word(">");
    return text;
  }

 public:
  [[gnu::visibility("hidden")]] static constexpr std::array<char, 40> kText = Make();
};

}  // namespace internal

// Batch convolution: each image has a filter of its own. Bank: [N][K][C][R][S].
struct PerSample : internal::OneForEachBatch {
  static constexpr Depends kDepends{.image = true};
  static constexpr const char* kName = "PerSample";
};

// Each output pixel has a filter of its own, the same for all images. Bank: [P][Q][K][C][R][S].
struct LocalFilter : internal::OneForEachBatch {
  static constexpr Depends kDepends{.block_h = 1, .block_w = 1};
  static constexpr const char* kName = "LocalFilter";
};

// Each block of h x w output pixels has a filter of its own, the same for all images. Bank:
// [ceil(P / h)][ceil(Q / w)][K][C][R][S].
template <int h, int w>
struct LocalBlock : internal::OneForEachBatch {
  static_assert(h > 0 && w > 0,
                "weft: LocalBlock<h, w> takes the rows and columns of a block, 1 or more");
  static constexpr Depends kDepends{.block_h = h, .block_w = w};
  static constexpr const char* kName = internal::LocalBlockName<h, w>::kText.data();
};

// Grouped convolution: output channels [g * K/G, (g + 1) * K/G) see input channels
// [g * C/G, (g + 1) * C/G), with G = problem.groups. Bank: [G][K/G][C/G][R][S], which are the bytes
// of PyTorch's and cuDNN's grouped filter [K][C/G][R][S].
struct Grouped : internal::OneForEachBatch {
  static constexpr Depends kDepends{.group = true};
  static constexpr const char* kName = "Grouped";
};

// Depthwise convolution: each output channel k sees the one input channel k / (K / C), with a
// filter of its own; problem.groups = C. The bank is one filter of extents {K, 1, R, S}, from
// PackDepthwiseFilter. A depthwise convolution is no matrix product, so this prologue goes with a
// conv::DepthwiseConfig only.
struct Depthwise {
  static constexpr Depends kDepends{.group = true};
  static constexpr const char* kName = "Depthwise";
  constexpr std::int64_t Filter(const BatchCoord&) const { return 0; }
  static constexpr std::int64_t Filters(const BatchExtents&) { return 1; }
};

// A phase of a transposed convolution, whose filter depends on the output pixel's row and column
// modulo the stride. conv::Deconvolution runs the phases one after the other, each as a convolution
// with one filter, and says here where its pixels lie: pixel (p, q) in row p * stride_h + first_h
// and column q * stride_w + first_w of the destination, or nowhere if that is outside.
struct PerPhase {
  static constexpr Depends kDepends{};
  static constexpr const char* kName = "PerPhase";
  std::int32_t stride_h = 1, stride_w = 1;
  std::int32_t first_h = 0, first_w = 0;  // may be negative
  std::int32_t rows = 0, columns = 0;     // of the destination
  constexpr std::int64_t Filter(const BatchCoord&) const { return 0; }
  static constexpr std::int64_t Filters(const BatchExtents&) { return 1; }
};

// Stands in the place of a prologue in the type of a bank: the experts of a conv::CondConv, from
// which it mixes the filters of a PerSample convolution. Bank: [E][K][C][R][S].
struct Experts {};

}  // namespace weft::prologues
