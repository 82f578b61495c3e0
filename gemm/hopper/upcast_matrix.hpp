// The stage transform that upcasts a matrix A of int8 or int4 in a product of 16-bit floats through
// wgmma_sm90. wgmma reads its operand B, which the rows of A are (wgmma_sm90.hpp), from shared
// memory only, so transform warps upcast each k tile there once it has landed
// (MbarRing::Transform): from lines of 64 narrow elements, of k or of rows, as TMA has loaded them,
// to lines of 128 bytes with the swizzle that TMA gives a matrix of 16-bit floats. A stage has
// both, the narrow elements first.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/hopper/register_fragments.hpp"
#include "weft/gemm/policy/load_functor.hpp"
#include "weft/gemm/ring/mbar_ring.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/warp_tile.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {

// Elements of a line, which are of k if A is K-major and of rows if it is MN-major.
inline constexpr int kUpcastLine = 64;

// Bytes that the narrow elements take in a stage, rounded up to 1024.
constexpr int NarrowBytes(int elements, int bits) {
  return RoundUp(elements * bits / 8, 1024);
}

inline namespace WEFT_BACKEND {

// The stage transform of mainloop Mma. Load: an Upcast. kLines: lines of a k tile.
template <class Mma, class Load, int kLines>
class UpcastMatrix;
template <class Mma, class Element, class From, int kLines>
class UpcastMatrix<Mma, Upcast<Element, From>, kLines> : public TransformsEveryKTile<Mma> {
  using Pair = UpcastPair<Upcast<Element, From>>;
  static constexpr bool kInt4 = std::is_same_v<From, Int4>;
  static constexpr int kBits = kInt4 ? 4 : 8, kWide = 128;
  using Chunk = SharedVector<std::uint32_t, 4>;
  static constexpr int kChunks = UpcastLineBytes(kUpcastLine, kBits) / 16;
  static constexpr int kWarpLines = 32 / kChunks;  // lines a warp takes at once, a chunk a lane
  static_assert(kLines % kWarpLines == 0);

 public:
  template <class Params>
  WEFT_DEVICE UpcastMatrix(arch::Thread t, const Params&, const TransformMemory&)
      : TransformsEveryKTile<Mma>(t) {}

  WEFT_DEVICE void Transform(arch::Thread t, std::uint32_t stage) const {
    constexpr int kRounds = kLines / kWarpLines;
    WEFT_NO_UNROLL
    for (int first = this->warp_; first < kRounds; first += kTogether * Mma::kTransformWarps) {
      Chunk narrow[kTogether];
      WEFT_UNROLL
      for (int n = 0; n < kTogether; ++n) {
        if (const int i = first + n * Mma::kTransformWarps; i < kRounds) {
          narrow[n] = t.template LoadSharedAt<Chunk>(
              stage + static_cast<std::uint32_t>(i * 512 + t.lane() * 16));
        }
      }
      WEFT_UNROLL
      for (int n = 0; n < kTogether; ++n) {
        if (const int i = first + n * Mma::kTransformWarps; i < kRounds)
          Store(t, stage, i, narrow[n]);
      }
    }
  }

 private:
  static constexpr int kTogether = 6;  // rounds a warp loads together; all of 128 lines of int8

  WEFT_DEVICE static void Store(arch::Thread t, std::uint32_t stage, int i, const Chunk& narrow) {
    constexpr auto kStart = static_cast<std::uint32_t>(NarrowBytes(kLines * kUpcastLine, kBits));
    constexpr int kOut = 2 * 8 / kBits;  // chunks that a chunk becomes
    const int line = t.lane() / kChunks, chunk = t.lane() % kChunks;
    const std::uint32_t wide =
        stage + kStart + static_cast<std::uint32_t>((i * kWarpLines + line) * kWide);
    WEFT_UNROLL
    for (int out = 0; out < kOut; ++out) {
      Chunk halves;
      WEFT_UNROLL
      for (int pair = 0; pair < 4; ++pair) {
        halves.value[pair] = UpcastTwo(t, narrow, 4 * out + pair);
      }
      const int at = (chunk * kOut + out) ^ line % 8;
      t.StoreSharedAt(wide + static_cast<std::uint32_t>(at * 16), halves);
    }
  }
  WEFT_DEVICE static std::uint32_t UpcastTwo(arch::Thread t, const Chunk& narrow, int pair) {
    if constexpr (kInt4) {
      return Pair::OfByte(t, narrow.value[pair / 4], static_cast<std::uint32_t>(pair % 4));
    } else {
      const auto i = static_cast<std::uint32_t>(pair % 2 * 2);
      return Pair::OfBytes(t, narrow.value[pair / 2], Pair::Selector(i, i + 1));
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
