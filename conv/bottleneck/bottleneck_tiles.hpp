// The tiles of a warpgroup of a BottleneckKernel: their products, and when each of them starts.
#pragma once

#include <cstdint>

#include "weft/conv/bottleneck/bottleneck_bytes.hpp"
#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/conv/bottleneck/bottleneck_product.hpp"
#include "weft/conv/bottleneck/bottleneck_roles.hpp"
#include "weft/conv/bottleneck/bottleneck_values.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

template <class PolicyT>
class BottleneckTiles : BottleneckBytes<PolicyT> {
  using Bytes = BottleneckBytes<PolicyT>;
  using Bytes::bar_, Bytes::base_, Bytes::channel_, Bytes::group_, Bytes::half_, Bytes::middle_,
      Bytes::p_, Bytes::plane_, Bytes::slow_, Bytes::t_;
  using Bytes::config, Bytes::kDense, Bytes::kInPlace, Bytes::kMatrices, Bytes::kOfPatch,
      Bytes::kPatch, Bytes::kPlane, Bytes::kProjected, Bytes::kTile, Bytes::kTilePlane;
  using Bytes::ConvertProjection, Bytes::FillPadding, Bytes::Publish, Bytes::PutInPlace,
      Bytes::Swizzled, Bytes::Sync;
  using typename Bytes::First, typename Bytes::Params, typename Bytes::Roles,
      typename Bytes::Second, typename Bytes::TileSums;
  static constexpr int kGroups = config.warpgroups;
  static constexpr std::uint32_t kLastRows = kMatrices % 4 >= 2 ? 16 : kMatrices % 4 == 1 ? 8 : 32;
  using OfFirst = BottleneckProduct<kPatch, typename PolicyT::Element>;
  using OfSecond = BottleneckProduct<kTile, typename First::Byte>;
  using OfThird = BottleneckProduct<kTile, typename Second::Byte>;
  using OfProjection = BottleneckProduct<kTile, typename PolicyT::Element>;
  using PatchSums = typename OfFirst::Sums;

 public:
  WEFT_DEVICE BottleneckTiles(const Params& p, arch::Thread t, std::uint32_t base)
      : Bytes(p, t, base) {
    const auto lane = static_cast<std::uint32_t>(t.lane());
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t row = i == 0 ? lane : lane % kLastRows;
      const std::uint32_t place = (row / 8 + 1) * BottleneckShape::kPitch + 1 + row % 8;
      residual_[i] = Swizzled(plane_ * kPlane + place * 32 + half_);
    }
  }

  WEFT_DEVICE void Run() {
    const BottleneckTiling& tiling = p_.tiling;
    const int step = kGroups * t_.grid_x();
    int tile = t_.block_x() + group_ * t_.grid_x();
    if (tile >= tiling.tiles) return;
    int patch = group_, full = group_, parity = 0;
    PatchSums sums;
    t_.MbarWait(bar_.filter(0), 0);
    t_.MbarWait(bar_.full(full), 0);
    StartFirst(Roles::Patch(tiling, base_, patch), sums);
    t_.WgmmaCommit();
    WEFT_NO_UNROLL
    while (true) {
      const BottleneckTilePlace at(tiling, config.rows, tile);
      const std::uint32_t x = Roles::Patch(tiling, base_, patch);
      const int this_patch = patch;
      tile += step;
      const bool more = tile < tiling.tiles;
      patch += kGroups;
      if (patch >= tiling.patches) patch -= tiling.patches;
      full += kGroups;
      if (full >= kGroups * tiling.patches) full -= kGroups * tiling.patches, parity ^= 1;

      FinishFirst(at, sums);
      StartSecond(Beginning(sums));
      t_.WgmmaCommit();
      FinishSecond(x, Beginning(sums));
      const auto start_next = [&] {
        t_.MbarWait(bar_.full(full), parity);
        StartFirst(Roles::Patch(tiling, base_, patch), sums);
      };
      // Whether the next tile's first product starts before this tile's last bytes are made. With a
      // projection it does, unless the next tile's x takes the place of this one's. Where y takes the place
      // of x, the next patch is free only when the y in it has been stored, and waiting for that would hold
      // up this tile's last bytes; where nothing is added, ptxas would serialise the products.
      const bool early = kProjected && more && tiling.patches > kGroups;
      if constexpr (kInPlace) {
        RunInPlace(x, Beginning(sums));
      } else {
        RunBeside(x, Beginning(sums), [&] {
          if (early) start_next();
        });
        if (t_.tid() % 128 == 0) t_.MbarArrive(bar_.empty(this_patch, 0));
      }
      is_first_ = false;
      if (!more) break;
      if (!early) start_next();
      t_.WgmmaCommit();
    }
    t_.template WgmmaWait<0>();
  }

 private:
  // The beginning of a patch's sums as those of a tile: the next tile's first product takes the place of
  // sums that have become bytes.
  WEFT_DEVICE static TileSums& Beginning(PatchSums& sums) {
    static_assert(sizeof(TileSums) <= sizeof(PatchSums));
    return reinterpret_cast<TileSums&>(sums);
  }

  // Starts the product of a patch.
  WEFT_DEVICE void StartFirst(std::uint32_t x, PatchSums& sums) const {
    OfFirst::template Blocks<kDense>(t_, sums, Roles::Offset(base_, p_.tiling.at.first_filter), x,
                                     kPlane, p_.tiling.source_blocks);
  }

  // t1 of the patch.
  WEFT_DEVICE void FinishFirst(const BottleneckTilePlace& at, PatchSums& sums) {
    if (is_first_) {
      t_.MbarWait(bar_.values(), 0);
      int slow = 0;
      WEFT_UNROLL
      for (int i = 0; i < kBottleneckParts; ++i) {
        using Word = typename Roles::SlowWord;
        slow |= (t_.template LoadSharedAt<Word>(Roles::SlowAt(base_, i)) != 0 ? 1 : 0) << i;
      }
      slow_ = t_.WarpUniform(slow);
    }
    typename First::Pair channels;
    First::Read(t_, Roles::FirstValues(p_.tiling, base_), channel_, channels);
    t_.template WgmmaWait<0>();
    t_.KeepInPlace(sums);
    Bytes::template Put<First, kPatch / 8>(p_.first, slow_ & 1, channels, sums, kPlane);
    FillPadding(at);
    Publish();
  }

  // Starts the product of t1.
  WEFT_DEVICE void StartSecond(TileSums& sums) const {
    if (is_first_) t_.MbarWait(bar_.filter(1), 0);
    t_.KeepInPlace(sums);
    t_.WgmmaFence();
    WEFT_UNROLL
    for (int i = 0; i < 18; ++i) {
      const int tap = i % 9, shift = tap / 3 * kOfPatch + tap % 3 * 32;
      OfSecond::template Step<kOfPatch>(
          t_, sums,
          base_ + static_cast<std::uint32_t>(BottleneckShape::kSecondFilter +
                                             i * BottleneckShape::kFilterBlock),
          middle_ + static_cast<std::uint32_t>(i / 9 * kPlane + shift), i > 0);
    }
  }

  // t2 of the tile, in the place of t1. The residual is read meanwhile.
  WEFT_DEVICE void FinishSecond(std::uint32_t x, TileSums& sums) {
    typename Second::Pair channels;
    Second::Read(t_, Roles::SecondValues(p_.tiling, base_), channel_, channels);
    if constexpr (kInPlace) ReadResiduals(x, 0);
    t_.template WgmmaWait<0>();
    t_.KeepInPlace(sums);
    Sync();  // all products have read t1
    Bytes::template Put<Second, kMatrices>(p_.second, slow_ & 2, channels, sums, kTilePlane);
    Publish();
  }

  // The bytes of x that are added to 128 channels of y, from chunk `chunk` on; if that is the last one,
  // to its 64.
  WEFT_DEVICE void ReadResiduals(std::uint32_t x, int chunk) {
    WEFT_UNROLL
    for (int u = 0; u < 2; ++u) {
      const int of = chunk + u < p_.tiling.chunks ? chunk + u : chunk;
      const std::uint32_t from = x + static_cast<std::uint32_t>(of * 2 * kPlane);
      ForEachMatrices<kMatrices>([&](auto matrices, int first) {
        std::uint32_t words[matrices()];
        t_.LdMatrixTrans(words, from + residual_[matrices() == 4 ? 0 : 1] +
                                    static_cast<std::uint32_t>(first * kOfPatch));
        WEFT_UNROLL
        for (int i = 0; i < matrices(); ++i) residuals_[u][first + i] = words[i];
      });
    }
  }

  // Starts the product of t2 for chunk `chunk` of y.
  WEFT_DEVICE void Multiply(int chunk, TileSums& sums) const {
    const std::uint32_t columns =
        Roles::Offset(base_, p_.tiling.at.third_filter + chunk * 2 * BottleneckShape::kFilterBlock);
    t_.KeepInPlace(sums);
    t_.WgmmaFence();
    WEFT_UNROLL
    for (int i = 0; i < 2; ++i) {
      OfThird::template Step<kDense>(
          t_, sums, columns + static_cast<std::uint32_t>(i * BottleneckShape::kFilterBlock),
          middle_ + static_cast<std::uint32_t>(i * kTilePlane), i > 0);
    }
  }

  // y in the place of x, which is the residual.
  WEFT_DEVICE void RunInPlace(std::uint32_t x, TileSums& sums) {
    if (is_first_) t_.MbarWait(bar_.filter(2), 0);
    const int chunks = p_.tiling.chunks;
    TileSums other_sums;
    Multiply(0, sums);
    t_.WgmmaCommit();
    Multiply(chunks > 1 ? 1 : 0, other_sums);
    t_.WgmmaCommit();
    WEFT_NO_UNROLL
    for (int chunk = 0;; chunk += 2) {
      const bool last = chunk + 2 >= chunks;
      // Where there is one chunk left, it is made twice.
      const int second = chunk + 1 < chunks ? chunk + 1 : chunk;
      t_.template WgmmaWait<1>();
      t_.KeepInPlace(sums);
      PutInPlace(chunk, sums, residuals_[0], x);
      if (!last) Multiply(chunk + 2, sums);
      t_.WgmmaCommit();  // of no product behind the last one, so that the wait is the same
      t_.template WgmmaWait<1>();
      t_.KeepInPlace(other_sums);
      PutInPlace(second, other_sums, residuals_[1], x);
      if (!last) {
        Multiply(chunk + 3 < chunks ? chunk + 3 : chunk + 2, other_sums);
        ReadResiduals(x, chunk + 2);
      }
      t_.WgmmaCommit();
      Publish();
      if (t_.tid() % 128 == 0) t_.MbarArrive(bar_.made(group_, chunk / 2));
      if (last) break;
    }
  }

  // y in buffers of the warpgroup, 128 channels at a time; the residual is the projection of x, or
  // there is none. start_next: with a projection, starts the next tile's first product if that is early.
  template <class StartNext>
  WEFT_DEVICE void RunBeside(std::uint32_t x, [[maybe_unused]] TileSums& sums,
                             [[maybe_unused]] const StartNext& start_next) {
    if (is_first_) t_.MbarWait(bar_.filter(2), 0);
    const int chunks = p_.tiling.chunks;
    TileSums other_sums;
    if constexpr (kProjected) {
      Project(0, x, sums);
      t_.WgmmaCommit();
    }
    Multiply(0, other_sums);
    t_.WgmmaCommit();
    std::uint32_t to = 0;
    float added[kProjected ? kTile / 2 : 1];
    WEFT_NO_UNROLL
    for (int chunk = 0;; ++chunk) {
      const bool last = chunk + 1 == chunks;
      const int buffer = number_ % 2;
      if (chunk % 2 == 0) {
        to = Roles::OutputBuffer(p_.tiling, base_, group_, buffer);
        if (number_ > 1) t_.MbarWait(bar_.stored(group_, buffer), (number_ / 2 - 1) & 1);
      } else {
        to += 2 * kTilePlane;
      }
      if constexpr (kProjected) {
        t_.template WgmmaWait<1>();
        t_.KeepInPlace(sums);
        ConvertProjection(chunk, sums, added);
        if (last) {
          start_next();
        } else {
          Project(chunk + 1, x, sums);
        }
        t_.WgmmaCommit();
      }
      t_.template WgmmaWait<kProjected ? 1 : 0>();
      t_.KeepInPlace(other_sums);
      if constexpr (kProjected) {
        using Part = BottleneckMath<typename PolicyT::Projection>;
        Bytes::template PutOutputs<Part::kAddedUnit>(
            chunk, other_sums, [&](int i, int v) { return added[Part::Sum(i, v)]; }, to);
      } else {
        Bytes::template PutOutputs<1.0f>(chunk, other_sums, [](int, int) { return 0.0f; }, to);
      }
      if (!last) Multiply(chunk + 1, other_sums);
      t_.WgmmaCommit();
      if (chunk % 2 == 1 || last) {
        Publish();
        if (t_.tid() % 128 == 0) t_.MbarArrive(bar_.made(group_, buffer));
        ++number_;
      }
      if (last) break;
    }
  }

  // Starts the product of x for chunk `chunk` of the projection.
  WEFT_DEVICE void Project(int chunk, std::uint32_t x, TileSums& sums) const {
    const BottleneckTiling& tiling = p_.tiling;
    OfProjection::template Blocks<kOfPatch>(
        t_, sums,
        Roles::Offset(base_, tiling.at.projection_filter +
                                 chunk * tiling.source_blocks * BottleneckShape::kFilterBlock),
        x + kOfPatch + 32, kPlane, tiling.source_blocks);
  }

  // From a patch to the pixel of the tile whose row of a matrix the lane has the address of; of 4
  // matrices, and of those that are left.
  std::uint32_t residual_[2];
  bool is_first_ = true;  // the first tile, which waits for the filters
  int number_ = 0;        // of rounds of 128 channels so far
  std::uint32_t residuals_[2][kMatrices] = {};
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
