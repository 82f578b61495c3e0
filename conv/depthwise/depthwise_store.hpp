// The second half of a depthwise kernel's epilogue: a thread stores from its registers straight to
// the destination, as gemm::DirectStore does, but with an address for each row of the image instead
// of the coordinates of each pixel. With 4 channels to a pixel those would cost too much
// (docs/decisions/0007).
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/conv/depthwise/depthwise_params.hpp"
#include "weft/gemm/epilogue/epilogue_math.hpp"
#include "weft/gemm/epilogue/image_sums.hpp"
#include "weft/gemm/operand/operand.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// PolicyT: has DstLayout, Epilogue and config. Output: an OutputParams. Map: a gemm::AccumulatorMap
// whose rows are those of DepthwiseRows and whose columns are a thread's 4 channels.
template <class PolicyT, class Output, class Map>
class DepthwiseStore {
  using Math = gemm::EpilogueMath<PolicyT, Output, 4>;
  using Channels = typename Math::Channels;
  using Dst = typename PolicyT::DstLayout;
  using Epilogue = typename PolicyT::Epilogue;
  using Element = typename Epilogue::Output;
  static constexpr int kColumns = DepthwiseConfig::kColumns;
  static constexpr int kRun = PolicyT::config.alignment.dst / static_cast<int>(sizeof(Element));
  static constexpr int kWords = sizeof(Element);  // 32-bit words of 4 outputs
  // Outputs of a byte in NCxHWx<4>, where a pixel's 4 channels are 4 bytes and neighbouring pixels
  // are adjacent: a thread stores several pixels at once, since stores of one pixel would touch a
  // part of every sector.
  static constexpr bool kPixelRuns = sizeof(Element) == 1 && Dst::kChannelRun == 4 && kRun == 4;
  static_assert(kColumns == 4 && Map::kChannels == 4 && Map::kGroups == 1);

 public:
  WEFT_DEVICE DepthwiseStore(arch::Thread t, const Output& p, const DepthwiseTile& tile)
      : p_(p), tile_(tile), pixel_stride_(Dst::PixelStride(p.extents)) {
    Math::Load(t, p, tile.k, p.k, channels_);
    range_[0].Clear();
    row_stride_ = p.rows.q * pixel_stride_;
    if constexpr (Epilogue::kWritesOutput) {
      at_ = p.dst + tile.n * Dst::ImageStride(p.extents) + Dst::ChannelOffset(p.extents, tile.k) +
            tile.p * row_stride_ + tile.q * pixel_stride_;
    }
  }

  // Called after the last row: adds to the image sums and to the channel ranges in global memory.
  WEFT_DEVICE void Finish(arch::Thread t) const {
    if constexpr (Epilogue::kHasSums) {
      std::int32_t* const to = p_.epilogue.template Get<typename Epilogue::SumsStage>().to +
                               std::int64_t{tile_.n} * p_.k + channels_.k;
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        if (j < channels_.count) t.AddGlobal(to + j, sums_[j]);
      }
    }
    gemm::WriteRanges<0>(t, p_, range_, p_.k, [&](int) { return channels_.k; });
  }

  // Converts and writes row i of the thread's outputs. The zero channels that fill the
  // destination's last block are written as zeros.
  WEFT_DEVICE void Row(arch::Thread t, int i, const typename Map::Accumulators& acc) {
    // A zero point of 0 is left out: adding it would be one operation of eleven.
    if (Math::kPacked && p_.zero_point == 0.0f) {
      Write<!Math::kPacked>(t, i, acc);
    } else {
      Write<true>(t, i, acc);
    }
  }

 private:
  struct alignas(16) Outputs {
    Element value[4];
  };
  struct alignas(kRun * sizeof(Element)) Vector {
    unsigned char byte[kRun * sizeof(Element)];
  };

  template <bool kShift>
  WEFT_DEVICE void Write(arch::Thread t, int i, const typename Map::Accumulators& acc) {
    Outputs outputs[kColumns];
    bool inside[kColumns];
    WEFT_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      const int m = i * kColumns + j;
      const gemm::OutputPixel pixel = p_.rows.Pixel(tile_, m);
      inside[j] = pixel.inside;
      // A branch is needed only where a stage would see the coordinate of a pixel outside the
      // image.
      if (Epilogue::kNeedsCoordinate && !pixel.inside) continue;
      const epilogues::OutputCoord at{tile_.n, 0, tile_.p + i, tile_.q + j};
      const auto terms = Math::TermsAt(t, p_, tile_.p + i, tile_.q + j, pixel.inside);
      Math::template Convert<kShift>(
          t, p_, pixel, at, pixel.inside, channels_, terms,
          [&](int e) { return Map::Get(acc, m, 0, e); }, outputs[j].value, range_[0]);
      ZeroPadding(channels_.count, outputs[j]);
      if constexpr (Epilogue::kHasSums) {
        std::uint32_t word;
        memcpy(&word, outputs[j].value, sizeof(word));
        gemm::AddBytes<Element>(t, inside[j] ? word : 0u, sums_);
      }
    }
    if constexpr (Epilogue::kWritesOutput) Store(t, i, outputs, inside);
  }

  WEFT_DEVICE void Store(arch::Thread t, int i, const Outputs (&outputs)[kColumns],
                         const bool (&inside)[kColumns]) const {
    Element* const row = at_ + i * row_stride_;
    if constexpr (kPixelRuns) {
      StoreRow(t, row, outputs, inside, p_.rows.run);
    } else {
      WEFT_UNROLL
      for (int j = 0; j < kColumns; ++j) {
        StorePixel(t, row + j * pixel_stride_, outputs[j], inside[j]);
      }
    }
  }

  // Makes zeros of the channels past the last one, in layouts that store them. count: of the
  // thread's channels that exist.
  WEFT_DEVICE static void ZeroPadding(std::int32_t count, Outputs& outputs) {
    if constexpr (Dst::kChannelRun > 1) {
      std::uint32_t words[kWords];
      memcpy(words, outputs.value, sizeof(words));
      WEFT_UNROLL
      for (int w = 0; w < kWords; ++w) {
        words[w] &= gemm::FirstBytes(count * static_cast<int>(sizeof(Element)) - 4 * w);
      }
      memcpy(outputs.value, words, sizeof(words));
    }
  }

  WEFT_DEVICE void StorePixel(arch::Thread t, Element* to, const Outputs& outputs,
                              bool inside) const {
    WEFT_UNROLL
    for (int j = 0; j < 4; j += kRun) {
      Vector v;
      memcpy(&v, outputs.value + j, sizeof(v));
      const std::int64_t apart = Dst::ChannelOffset(p_.extents, j);  // 4 divides k
      if (inside && (j == 0 || channels_.k + j < p_.padded_k)) {
        t.StoreGlobal(reinterpret_cast<Vector*>(to + apart), v);
      }
    }
  }

  // Stores 4 pixels of bytes, `run` at a time. A row of the image is a whole number of runs, which
  // are aligned, so a run is inside the image as a whole.
  WEFT_DEVICE static void StoreRow(arch::Thread t, Element* to, const Outputs (&outputs)[kColumns],
                                   const bool (&inside)[kColumns], int run) {
    std::uint32_t word[kColumns];
    WEFT_UNROLL
    for (int j = 0; j < kColumns; ++j) memcpy(&word[j], outputs[j].value, sizeof(word[j]));
    if (run == 4) {
      if (inside[0]) {
        t.StoreGlobal(reinterpret_cast<gemm::Piece<16>*>(to),
                      gemm::Piece<16>{{word[0], word[1], word[2], word[3]}});
      }
    } else if (run == 2) {
      WEFT_UNROLL
      for (int j = 0; j < kColumns; j += 2) {
        if (inside[j]) {
          t.StoreGlobal(reinterpret_cast<gemm::Piece<8>*>(to + 4 * j),
                        gemm::Piece<8>{{word[j], word[j + 1]}});
        }
      }
    } else {
      WEFT_UNROLL
      for (int j = 0; j < kColumns; ++j) {
        if (inside[j]) t.StoreGlobal(reinterpret_cast<std::uint32_t*>(to + 4 * j), word[j]);
      }
    }
  }

  const Output& p_;
  const DepthwiseTile& tile_;
  std::int64_t pixel_stride_, row_stride_;  // in elements
  Element* at_ = nullptr;                   // the thread's first pixel
  Channels channels_;
  typename Math::Range range_[1];
  [[maybe_unused]] std::int32_t sums_[Epilogue::kHasSums ? 4 : 1] = {};
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
