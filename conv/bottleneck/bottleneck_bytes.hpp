// How a warpgroup of a BottleneckKernel makes bytes of sums, and puts them where the next product or a copy reads them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/conv/bottleneck/bottleneck_roles.hpp"
#include "weft/conv/bottleneck/bottleneck_values.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// The state of a thread, and what it does between products.
template <class PolicyT>
class BottleneckBytes {
 protected:
  using Roles = BottleneckRoles<PolicyT>;
  using Barriers = typename Roles::Barriers;
  using Params = BottleneckParamsOf<PolicyT>;
  using First = typename Roles::First;
  using Second = typename Roles::Second;
  using Third = typename Roles::Third;
  static constexpr BottleneckConfig config = PolicyT::config;
  static constexpr BottleneckShape kShape = Roles::kShape;
  static constexpr bool kProjected = Roles::kProjected, kInPlace = Roles::kInPlace;
  static constexpr int kPatch = kShape.multiplied(), kTile = kShape.pixels();
  static constexpr int kPlane = kShape.plane_bytes(), kTilePlane = kShape.tile_plane_bytes();
  static constexpr int kMatrices = kTile / 8;  // of eight pixels, of a tile
  // From eight pixels to the next: a patch's in its order, the rows of a tile in a patch.
  static constexpr int kDense = 8 * 32, kOfPatch = BottleneckShape::kPitch * 32;
  using TileSums = std::int32_t[kTile / 2];

  WEFT_DEVICE BottleneckBytes(const Params& p, arch::Thread t, std::uint32_t base)
      : p_(p), t_(t), base_(base), bar_{base}, group_(t.WarpUniform(t.warp()) / 4) {
    const auto warp = static_cast<std::uint32_t>(t.warp() % 4);
    const auto lane = static_cast<std::uint32_t>(t.lane());
    channel_ = static_cast<int>(16 * warp + lane / 4 * 2);
    plane_ = warp / 2;
    half_ = warp % 2 * 16;
    middle_ = base + BottleneckShape::kMiddles +
              static_cast<std::uint32_t>(group_ * kShape.middle_bytes());
    pixel_ = lane * 32 + half_;
  }

  WEFT_DEVICE static std::uint32_t Swizzled(std::uint32_t address) {
    return arch::SwizzledAddress(arch::SwizzleSpan::k32, address);
  }
  WEFT_DEVICE void Sync() const { t_.BarSync(1 + group_, 128); }
  // What the threads of the warpgroup have stored is seen by products and copies, and what they
  // have read may be stored to.
  WEFT_DEVICE void Publish() const {
    t_.FenceProxyAsync();
    Sync();
  }

  // Puts the bytes of eights of pixels where the next product reads them.
  template <class Part, int kEights, int kSums>
  WEFT_DEVICE void Put(const typename Part::Output& output, int slow,
                       const typename Part::Pair& channels, const std::int32_t (&sums)[kSums],
                       int plane_bytes) const {
    const std::uint32_t to =
        Swizzled(middle_ + plane_ * static_cast<std::uint32_t>(plane_bytes) + pixel_);
    if constexpr (Part::Way::kChain == QuickChain::kBytes) {
      if (slow == 0) {
        PutWords<kEights>(to, [&](int i) { return Part::PackQuickBytes(t_, channels, sums, i); });
      } else {
        PutWords<kEights>(
            to, [&](int i) { return Part::template Pack<true>(t_, output, channels, sums, i); });
      }
    } else {
      Part::WithShift(output, [&]<bool kShift>() {
        PutWords<kEights>(
            to, [&](int i) { return Part::template Pack<kShift>(t_, output, channels, sums, i); });
      });
    }
  }

  // word(i): the bytes of eight pixels.
  template <int kEights, class Word>
  WEFT_DEVICE void PutWords(std::uint32_t to, const Word& word) const {
    ForEachMatrices<kEights>([&](auto matrices, int first) {
      std::uint32_t words[matrices()];
      WEFT_UNROLL
      for (int i = 0; i < matrices(); ++i) words[i] = word(first + i);
      t_.template StMatrixTrans<matrices()>(to + static_cast<std::uint32_t>(first * kDense), words);
    });
  }

  // Pixels of t1 outside the image are the padding of the 3x3 convolution.
  WEFT_DEVICE void FillPadding(const BottleneckTilePlace& at) const {
    constexpr int kPitch = BottleneckShape::kPitch;
    const BottleneckTiling& tiling = p_.tiling;
    const int row = at.first_row - 1, column = at.column * BottleneckShape::kColumns - 1;
    if (row >= 0 && row + config.rows + 2 <= tiling.h && column >= 0 &&
        column + kPitch <= tiling.w) {
      return;
    }
    Sync();
    struct alignas(16) Chunk {
      std::uint32_t word[4];
    };
    const std::uint32_t word = tiling.padding;
    WEFT_NO_UNROLL
    for (int i = t_.tid() % 128; i < kShape.patch_pixels(); i += 128) {
      const int r = row + i / kPitch, c = column + i % kPitch;
      if (r >= 0 && r < tiling.h && c >= 0 && c < tiling.w) continue;
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        t_.StoreSharedAt(middle_ + static_cast<std::uint32_t>(j / 2 * kPlane + i * 32 + j % 2 * 16),
                         Chunk{{word, word, word, word}});
      }
    }
  }

  // Puts the bytes of a chunk of y where they are stored from. residual(i, v): what is added to value v
  // of matrix i, times kUnit.
  template <float kUnit, class Residual>
  WEFT_DEVICE void PutOutputs(int chunk, const TileSums& sums, const Residual& residual,
                              std::uint32_t to) const {
    typename Third::Pair channels;
    Third::Read(t_, Roles::ThirdValues(p_.tiling, base_), 64 * chunk + channel_, channels);
    const std::uint32_t place =
        arch::SwizzledAddress(arch::SwizzleSpan::k128, to + plane_ * kTilePlane + pixel_);
    const auto slowly = [&] {
      PutWords<kMatrices>(place, [&](int i) {
        return Third::template Pack<Third::kShifts>(t_, p_.third, channels, sums, i, [&](int v) {
          return kUnit == 1.0f ? residual(i, v) : epilogues::Mul(residual(i, v), 1.0f / kUnit);
        });
      });
    };
    if constexpr (Third::Way::kChain == QuickChain::kSteps) {
      if ((slow_ & 4) == 0) {
        const float gamma = epilogues::Mul(p_.third.gamma, 1.0f / kUnit);
        PutWords<kMatrices>(place, [&](int i) {
          return Third::PackQuickSteps(t_, p_.third, channels, sums, i, gamma,
                                       [&](int v) { return residual(i, v); });
        });
      } else {
        slowly();
      }
    } else {
      slowly();
    }
  }

  // The bytes of x, which are the residual.
  WEFT_DEVICE void PutInPlace(int chunk, const TileSums& sums,
                              const std::uint32_t (&residuals)[kMatrices], std::uint32_t x) const {
    constexpr bool kUnits = std::is_same_v<typename PolicyT::Element, std::uint8_t> &&
                            Third::Way::kChain == QuickChain::kSteps;
    PutOutputs<kUnits ? arch::Thread::kByteUnit : 1.0f>(
        chunk, sums,
        [&](int i, int v) {
          return kUnits ? t_.ByteToUnits(residuals[i], v)
                        : t_.template ByteToFloat<typename PolicyT::Element>(residuals[i], v);
        },
        x + static_cast<std::uint32_t>(chunk * 2 * kPlane));
  }

  // The projection's integers times kAddedUnit.
  WEFT_DEVICE void ConvertProjection(int chunk, const TileSums& sums, float (&added)[kTile / 2]) {
    using Part = BottleneckMath<typename PolicyT::Projection>;
    typename Part::Pair channels;
    Part::Read(t_, Roles::ProjectionValues(p_.tiling, base_), 64 * chunk + channel_, channels);
    const auto slowly = [&] {
      WEFT_UNROLL
      for (int i = 0; i < kMatrices; ++i) {
        const std::uint32_t word = Part::template Pack<true>(t_, p_.projection, channels, sums, i);
        WEFT_UNROLL
        for (int v = 0; v < 4; ++v) {
          added[Part::Sum(i, v)] = epilogues::Mul(
              t_.template ByteToFloat<typename Part::Byte>(word, v), Part::kAddedUnit);
        }
      }
    };
    if constexpr (Part::Way::kChain == QuickChain::kBytes) {
      if ((slow_ & 8) == 0) {
        WEFT_UNROLL
        for (int i = 0; i < kMatrices; ++i) {
          WEFT_UNROLL
          for (int v = 0; v < 4; ++v) {
            const int at = Part::Sum(i, v);
            added[at] = Part::QuickAdded(p_.projection, channels, sums[at], v);
          }
        }
      } else {
        slowly();
      }
    } else {
      slowly();
    }
  }

  const Params& p_;
  arch::Thread t_;
  std::uint32_t base_;
  Barriers bar_;
  int group_, channel_;         // the first of the thread's two channels of 64
  std::uint32_t plane_, half_;  // the warp's 16 channels of 64: block of 32 and half of it
  std::uint32_t middle_;        // t1 and t2
  std::uint32_t pixel_;         // bytes from a block's first pixel to the lane's
  int slow_ = 0;                // bit i: whether part i is not quick
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
