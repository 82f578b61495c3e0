// The second half of an epilogue for warpgroup products of bytes: through shared memory, since a
// thread holds single channels of pairs of pixels there.
//
// A staged tile is a matrix of 16-byte chunks, pixels by chunks of 16 channels. stmatrix writes
// them: a chunk holds channel 0 and 8 of its sixteen, then 1 and 9, and so on, as two channels of a
// pixel make one of its 16-bit elements. Who reads a chunk puts the channels in order and stores
// them, neighbouring threads neighbouring bytes of the destination.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/gemm/accumulators.hpp"
#include "weft/gemm/epilogue_math.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// P: DstLayout, Epilogue (with outputs of one byte), config. Output: an OutputParams. M: the
// WgmmaSm90Mainloop.
template <class P, class Output, class M>
class StagedStore {
  using Map = typename M::Map;
  using Math = EpilogueMath<P, Output, 1>;
  using Dst = typename P::DstLayout;
  using Epilogue = typename P::Epilogue;
  using Element = typename Epilogue::Output;
  static_assert(sizeof(Element) == 1);
  static constexpr int kPixels = M::kN;           // of a warpgroup
  static constexpr int kChunks = 4 * M::kBlocks;  // of a pixel, of a warpgroup
  static constexpr int kRun = P::config.alignment.dst;
  // Chunks of a pixel that neighbouring threads write, side by side in the destination.
  static constexpr int kTogether = Dst::kChannelRun == 0 ? kChunks : Dst::kChannelRun >= 32 ? 2 : 1;

 public:
  struct Shared {
    alignas(128) std::uint8_t chunk[M::kGroups][kPixels * kChunks][16];
  };

  // As DirectStore::Run; by all threads of the warpgroups that multiply.
  template <class Tile>
  WEFT_DEVICE static void Run(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                              std::int32_t first_m, std::int32_t first_n,
                              const typename Map::Accumulators& acc) {
    const int group = Map::Group(t);
    auto& staged = shared.chunk[group];
    Stage(t, staged, p, tile, first_m, first_n, acc);
    t.BarSync(1 + group, 128);
    Write(t, staged, p, tile, first_m + Map::FirstPixel(t), first_n + Map::FirstChannel(t));
    t.BarSync(1 + group, 128);  // the next tile's chunks take this one's place
  }

 private:
  using Chunks = std::uint8_t[kPixels * kChunks][16];

  // Chunks change places so that those of 8 pixels lie in different banks.
  WEFT_DEVICE static int Place(int pixel, int chunk) {
    constexpr int kPixelsOfLine = kChunks < 8 ? 8 / kChunks : 1;  // of 128 bytes
    return pixel * kChunks + (chunk ^ (pixel / kPixelsOfLine & (kChunks < 8 ? kChunks - 1 : 7)));
  }

  template <class Tile>
  WEFT_DEVICE static void Stage(arch::Thread t, Chunks& staged, const Output& p, const Tile& tile,
                                std::int32_t first_m, std::int32_t first_n,
                                const typename Map::Accumulators& acc) {
    const std::int32_t end = p.rows.EndChannel(tile, p.k);
    const std::int32_t first_k = p.rows.FirstChannel(tile) + first_n;
    typename Math::Channels channels[Map::kGroups];
    WEFT_UNROLL
    for (int g = 0; g < Map::kGroups; ++g) {
      Math::Load(t, p, first_k + Map::Channel(t, g), end, channels[g]);
    }
    // stmatrix stores 4 matrices of 8 pixels at once: lane l says where row l % 8 of the l / 8-th
    // goes. Tiles whose pixels are no multiple of 32 end in two or one.
    constexpr int kMatrices = kPixels / 8;
    WEFT_UNROLL
    for (int i = 0; i < kMatrices; i += 4) {
      WEFT_UNROLL
      for (int x = 0; x < M::kBlocks; ++x) {
        const auto words = [&](int matrix) {
          return PackPair(t, p, tile, first_m, 2 * matrix, x, channels, acc);
        };
        const int chunk = 4 * x + t.warp() % 4;
        const int left = kMatrices - i;
        const int row = i * 8 + (left >= 4 ? t.lane() : t.lane() % (left >= 2 ? 16 : 8));
        const std::uint32_t to = t.SharedAddress(staged[Place(row, chunk)]);
        if (left >= 4) {
          t.template StMatrixTrans<4>(to, {words(i), words(i + 1), words(i + 2), words(i + 3)});
        } else {
          if (left >= 2) t.template StMatrixTrans<2>(to, {words(i), words(i + 1)});
          if (left % 2 == 1) {
            const int last = (kMatrices - 1) * 8 + t.lane() % 8;
            t.template StMatrixTrans<1>(t.SharedAddress(staged[Place(last, chunk)]),
                                        {words(kMatrices - 1)});
          }
        }
      }
    }
  }

  // Two channels of pixel i and of the next, of column block x: {A, B, A', B'}.
  template <class Tile>
  WEFT_DEVICE static std::uint32_t PackPair(arch::Thread t, const Output& p, const Tile& tile,
                                            std::int32_t first_m, int i, int x,
                                            const typename Math::Channels (&c)[Map::kGroups],
                                            const typename Map::Accumulators& acc) {
    float values[4];
    Element bytes[4];
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) {
      const int g = 2 * x + v % 2;
      OutputPixel pixel;
      epilogues::OutputCoord at{};
      if constexpr (Epilogue::kHasResidual || Epilogue::kNeedsCoordinate) {
        pixel = p.rows.Pixel(tile, first_m + Map::Pixel(t, i + v / 2));
        at.n = pixel.n;
        at.k = c[g].k;
        if constexpr (Epilogue::kNeedsCoordinate) at.p = p.rows.Row(tile, pixel.pq, at.q);
      }
      const bool wanted = pixel.inside && c[g].count > 0;
      if (Epilogue::kNeedsCoordinate && !wanted) {
        values[v] = 0.0f;
        bytes[v] = 0;
        continue;
      }
      const auto in = Math::InputsOf(t, p, pixel, wanted, c[g], Map::Get(acc, i + v / 2, g, 0));
      if constexpr (Epilogue::OutputStage::kSaturates) {
        values[v] = p.epilogue.Unrounded(in, at);
      } else {
        bytes[v] = p.epilogue(in, at);
      }
    }
    std::uint32_t word;
    if constexpr (Epilogue::OutputStage::kSaturates) {
      word = t.template PackSaturated<Element>(values);
    } else {
      memcpy(&word, bytes, sizeof(word));
    }
    return word;
  }

  template <class Tile>
  WEFT_DEVICE static void Write(arch::Thread t, const Chunks& staged, const Output& p,
                                const Tile& tile, std::int32_t first_m, std::int32_t first_n) {
    const std::int32_t end = p.rows.EndChannel(tile, p.k);
    const std::int32_t padded_end = end == p.k ? p.padded_k : end;
    const std::int32_t first_k = p.rows.FirstChannel(tile) + first_n;
    const std::int64_t image = Dst::ImageStride(p.extents);
    constexpr int kAll = kPixels * kChunks;
    WEFT_UNROLL
    for (int i = 0; i < kAll; i += 128) {
      const int number = i + t.tid() % 128;
      if (kAll % 128 != 0 && number >= kAll) break;
      const int pixel_number = number / kTogether % kPixels;
      const int chunk = number / (kTogether * kPixels) * kTogether + number % kTogether;
      const std::int32_t k = first_k + 16 * chunk;
      const OutputPixel pixel = p.rows.Pixel(tile, first_m + pixel_number);
      Chunk words =
          t.LoadShared(reinterpret_cast<const Chunk*>(staged[Place(pixel_number, chunk)]));
      InOrder(t, chunk, words);
      if (!pixel.inside) continue;
      Element* const to = p.dst + pixel.n * image + PixelOffset<Dst>(p.extents, pixel.pq);
      if (k + 16 > end) Keep(end - k, words);
      WEFT_UNROLL
      for (int j = 0; j < 16; j += kRun) {
        Vector v;
        memcpy(&v, reinterpret_cast<const std::uint8_t*>(words.word) + j, sizeof(v));
        if (k + j < padded_end) {
          t.StoreGlobal(reinterpret_cast<Vector*>(to + Dst::ChannelOffset(p.extents, k + j)), v);
        }
      }
    }
  }

  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };
  // kRun outputs, written as one access.
  struct alignas(kRun) Vector {
    unsigned char byte[kRun];
  };

  // Bytes 2i of a chunk are column i of its first eight, 2i + 1 of its last eight.
  WEFT_DEVICE static void InOrder(arch::Thread t, int chunk, Chunk& c) {
    std::uint32_t low = 0x6420, high = 0x7531;
    if constexpr (M::kPermuted) {  // column i of eights number e holds channel i ^ e % 4
      low = chunk % 2 == 0 ? 0x6420 : 0x2064;
      high = chunk % 2 == 0 ? 0x5713 : 0x1357;
    }
    const Chunk from = c;
    c.word[0] = t.BytePermute(from.word[0], from.word[1], low);
    c.word[1] = t.BytePermute(from.word[2], from.word[3], low);
    c.word[2] = t.BytePermute(from.word[0], from.word[1], high);
    c.word[3] = t.BytePermute(from.word[2], from.word[3], high);
  }

  // Channels from `count` on are zeros.
  WEFT_DEVICE static void Keep(std::int32_t count, Chunk& c) {
    WEFT_UNROLL
    for (int w = 0; w < 4; ++w) {
      const int left = count - 4 * w;
      c.word[w] &= left >= 4 ? ~0u : left <= 0 ? 0u : (1u << (8 * left)) - 1u;
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
