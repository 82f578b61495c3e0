// The kernel of conv::Bottleneck: the convolutions of a bottleneck, tile by tile, whose intermediate
// tensors stay in shared memory (docs/bottleneck.md).
//
// A persistent block has all filters in shared memory. One thread loads patches of x, tiles with a
// pixel more on each side; each warpgroup of the others makes y of a whole tile:
//   1. t1 of the patch, a product of x as it was loaded; outside the image it is the padding;
//   2. t2 of the tile, a product for each tap, whose operand is t1 shifted by some pixels; t2 takes
//      the place of t1;
//   3. y, 128 channels at a time, which takes the place of x if x is the residual.
// Columns of the products, which are filters, lie in shared memory in the order in which a thread has
// two adjacent channels, so that the bytes of t1 and t2 are in the order of the next filter's.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/conv/bottleneck/bottleneck_roles.hpp"
#include "weft/conv/bottleneck/bottleneck_values.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"
#include "weft/gemm/hopper/wgmma_product.hpp"
#include "weft/gemm/launch/kernel_list.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// A product of 64 channels by kRows pixels, in steps of 32 input channels.
template <int kRows, class Byte>
struct BottleneckProduct {
  struct Shape {
    static constexpr int kN = kRows;
    using Sum = std::int32_t;
    static constexpr arch::WgmmaType kType =
        std::is_same_v<Byte, std::uint8_t> ? arch::WgmmaType::kS8U8 : arch::WgmmaType::kS8;
    static constexpr bool kRowsMnMajor = false, kColumnsMnMajor = false;
  };
  using Sums = std::int32_t[kRows / 2];

  // One step. columns, rows: shared addresses. pitch: bytes from eight pixels to the next.
  template <int kPitch>
  WEFT_DEVICE static void Step(arch::Thread t, Sums& sums, std::uint32_t columns,
                               std::uint32_t rows, bool accumulate) {
    constexpr std::uint64_t kColumns = Operand(256), kRowsOperand = Operand(kPitch);
    gemm::WgmmaProduct<Shape>::Issue(
        t, sums, gemm::WithLowerHalf(kColumns, gemm::LowerHalf(kColumns) + (columns >> 4)),
        gemm::WithLowerHalf(kRowsOperand, gemm::LowerHalf(kRowsOperand) + (rows >> 4)), accumulate);
  }

  // All blocks of 32 input channels, `step` bytes apart in the operand of pixels. Commits nothing.
  template <int kPitch>
  WEFT_DEVICE static void Blocks(arch::Thread t, Sums& sums, std::uint32_t columns,
                                 std::uint32_t rows, int step, int blocks) {
    constexpr int kTogether = 4;
    const auto group = [&](auto count, int first) {
      t.WgmmaFence();
      WEFT_UNROLL
      for (int i = 0; i < count(); ++i) {
        const auto block = static_cast<std::uint32_t>(first + i);
        Step<kPitch>(t, sums, columns + block * BottleneckShape::kFilterBlock,
                     rows + block * static_cast<std::uint32_t>(step), first + i > 0);
      }
    };
    t.KeepInPlace(sums);
    int i = 0;
    WEFT_NO_UNROLL
    for (; i + kTogether <= blocks; i += kTogether) {
      group(std::integral_constant<int, kTogether>(), i);
    }
    WEFT_NO_UNROLL
    for (; i < blocks; ++i) group(std::integral_constant<int, 1>(), i);
  }

 private:
  static constexpr std::uint64_t Operand(std::uint32_t pitch) {
    return arch::WgmmaDescriptor(
        0, {.swizzle = arch::SwizzleSpan::k32, .leading = 16, .stride = pitch});
  }
};

// PolicyT: IsBottleneck.
template <class PolicyT>
struct BottleneckKernel {
  static_assert(CheckedBottleneck<PolicyT>::kValid);
  using Roles = BottleneckRoles<PolicyT>;
  using Barriers = typename Roles::Barriers;
  using Params = BottleneckParamsOf<PolicyT>;
  // A launch allocates as much as it needs.
  struct SharedStorage {
    alignas(1024) std::uint8_t byte[arch::kMaxSharedBytes];
  };

  static constexpr BottleneckConfig config = PolicyT::config;
  static constexpr BottleneckShape kShape = Roles::kShape;
  static constexpr int kGroups = config.warpgroups, kThreads = 128 * (kGroups + 1);
  static constexpr arch::Requires kRequires = {.min = 90, .exact = true};
  static constexpr bool kDependent = true;
  static constexpr int kMinBlocksPerSm = 1;
  // Of all threads at the start; of those that multiply when the others have given some up.
  static constexpr int kRegisters = 65536 / kThreads / 8 * 8 < 248 ? 65536 / kThreads / 8 * 8 : 248;
  static constexpr int kRolesRegisters = 24;
  static constexpr int kOwnRegisters = [] {
    const int own = (65536 / 128 - kRolesRegisters) / kGroups / 8 * 8;
    return own < 240 ? own : 240;
  }();
  static constexpr bool kTradesRegisters = kOwnRegisters > kRegisters;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    const std::uint32_t base = t.SharedAddress(shared.byte);
    if (t.tid() == 0) {
      Barriers{base}.Init(t);
      for (int i = 0; i < Roles::kSlowWords; ++i) {
        t.StoreSharedAt(Roles::SlowAt(base, i), std::uint32_t{0});
      }
    }
    t.LetLaterGridsStart();
    t.SyncThreads();
    if (t.WarpUniform(t.warp()) / 4 == kGroups) {
      if constexpr (kTradesRegisters) t.template SetMaxRegDec<kRolesRegisters>();
      Roles::Run(p, t, base);
    } else {
      if constexpr (kTradesRegisters) t.template SetMaxRegInc<kOwnRegisters>();
      Tiles(p, t, base).Run();
    }
  }

 private:
  static constexpr bool kProjected = Roles::kProjected, kInPlace = Roles::kInPlace;
  using First = typename Roles::First;
  using Second = typename Roles::Second;
  using Third = typename Roles::Third;
  static constexpr int kPatch = kShape.multiplied(), kTile = kShape.pixels();
  static constexpr int kPlane = kShape.plane_bytes(), kTilePlane = kShape.tile_plane_bytes();
  static constexpr int kMatrices = kTile / 8;  // of eight pixels, of a tile
  static constexpr std::uint32_t kLastRows = kMatrices % 4 >= 2 ? 16 : kMatrices % 4 == 1 ? 8 : 32;
  // From eight pixels to the next: a patch's in its order, the rows of a tile in a patch.
  static constexpr int kDense = 8 * 32, kOfPatch = BottleneckShape::kPitch * 32;
  using OfFirst = BottleneckProduct<kPatch, typename PolicyT::Element>;
  using OfSecond = BottleneckProduct<kTile, typename First::Byte>;
  using OfThird = BottleneckProduct<kTile, typename Second::Byte>;
  using OfProjection = BottleneckProduct<kTile, typename PolicyT::Element>;
  using TileSums = typename OfThird::Sums;
  using PatchSums = typename OfFirst::Sums;
  // The beginning of a patch's sums as those of a tile: the next tile's first product takes the place of
  // sums that have become bytes.
  WEFT_DEVICE static TileSums& Beginning(PatchSums& sums) {
    static_assert(sizeof(TileSums) <= sizeof(PatchSums));
    return reinterpret_cast<TileSums&>(sums);
  }

  // A warpgroup's tiles.
  class Tiles {
   public:
    WEFT_DEVICE Tiles(const Params& p, arch::Thread t, std::uint32_t base)
        : p_(p), t_(t), base_(base), bar_{base}, group_(t.WarpUniform(t.warp()) / 4) {
      const auto warp = static_cast<std::uint32_t>(t.warp() % 4);
      const auto lane = static_cast<std::uint32_t>(t.lane());
      channel_ = static_cast<int>(16 * warp + lane / 4 * 2);
      plane_ = warp / 2;
      half_ = warp % 2 * 16;
      middle_ = base + BottleneckShape::kMiddles +
                static_cast<std::uint32_t>(group_ * kShape.middle_bytes());
      pixel_ = lane * 32 + half_;
      for (int i = 0; i < 2; ++i) {
        const std::uint32_t row = i == 0 ? lane : lane % kLastRows;
        const std::uint32_t place = (row / 8 + 1) * BottleneckShape::kPitch + 1 + row % 8;
        residual_[i] = Swizzled(plane_ * kPlane + place * 32 + half_);
      }
    }

    // The first product of a tile starts before the last bytes of the one before it are made.
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
        // A patch of its own is needed, else the next tile waits for this one's.
        const bool early = more && tiling.patches > kGroups;
        const auto start = [&](bool wanted) {
          if (!wanted) return;
          t_.MbarWait(bar_.full(full), parity);
          StartFirst(Roles::Patch(tiling, base_, patch), sums);
        };
        const auto start_next = [&] { start(early); };
        if constexpr (kInPlace) {
          RunInPlace(x, sums, start_next);
        } else {
          RunBeside(x, sums, start_next);
          if (t_.tid() % 128 == 0) t_.MbarArrive(bar_.empty(this_patch, 0));
        }
        is_first_ = false;
        if (!more) break;
        start(!early);
        t_.WgmmaCommit();
      }
      t_.template WgmmaWait<0>();
    }

   private:
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
        for (int i = 0; i < Roles::kSlowWords; ++i) {
          slow |= static_cast<int>(t_.LoadSharedAt<std::uint32_t>(Roles::SlowAt(base_, i))) << i;
        }
        slow_ = t_.WarpUniform(slow);
      }
      typename First::Pair channels;
      First::Read(t_, Roles::FirstValues(p_.tiling, base_), channel_, channels);
      t_.template WgmmaWait<0>();
      t_.KeepInPlace(sums);
      Put<First, kPatch / 8>(p_.first, slow_ & 1, channels, sums, kPlane);
      FillPadding(at);
      Publish();
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
          PutWords<kEights>(to, [&](int i) {
            return Part::template Pack<kShift>(t_, output, channels, sums, i);
          });
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
        t_.template StMatrixTrans<matrices()>(to + static_cast<std::uint32_t>(first * kDense),
                                              words);
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
          t_.StoreSharedAt(
              middle_ + static_cast<std::uint32_t>(j / 2 * kPlane + i * 32 + j % 2 * 16),
              Chunk{{word, word, word, word}});
        }
      }
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
      Put<Second, kMatrices>(p_.second, slow_ & 2, channels, sums, kTilePlane);
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
      const std::uint32_t columns = Roles::Offset(
          base_, p_.tiling.at.third_filter + chunk * 2 * BottleneckShape::kFilterBlock);
      t_.KeepInPlace(sums);
      t_.WgmmaFence();
      WEFT_UNROLL
      for (int i = 0; i < 2; ++i) {
        OfThird::template Step<kDense>(
            t_, sums, columns + static_cast<std::uint32_t>(i * BottleneckShape::kFilterBlock),
            middle_ + static_cast<std::uint32_t>(i * kTilePlane), i > 0);
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
                                const std::uint32_t (&residuals)[kMatrices],
                                std::uint32_t x) const {
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

    // y in the place of x, which is the residual. start_next: starts the next tile's first product.
    template <class StartNext>
    WEFT_DEVICE void RunInPlace(std::uint32_t x, PatchSums& first_sums,
                                const StartNext& start_next) {
      if (is_first_) t_.MbarWait(bar_.filter(2), 0);
      const int chunks = p_.tiling.chunks;
      TileSums other_sums, &sums = Beginning(first_sums);
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
        if (last) {
          start_next();
        } else {
          Multiply(chunk + 2, sums);
        }
        t_.WgmmaCommit();
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
    // there is none.
    template <class StartNext>
    WEFT_DEVICE void RunBeside(std::uint32_t x, PatchSums& first_sums,
                               const StartNext& start_next) {
      if (is_first_) t_.MbarWait(bar_.filter(2), 0);
      const int chunks = p_.tiling.chunks;
      TileSums other_sums, &sums = Beginning(first_sums);
      if constexpr (kProjected) Project(0, x, sums);
      t_.WgmmaCommit();
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
        }
        if (last) {
          start_next();
        } else if constexpr (kProjected) {
          Project(chunk + 1, x, sums);
        }
        t_.WgmmaCommit();
        t_.template WgmmaWait<1>();
        t_.KeepInPlace(other_sums);
        if constexpr (kProjected) {
          using Part = BottleneckMath<typename PolicyT::Projection>;
          PutOutputs<Part::kAddedUnit>(
              chunk, other_sums, [&](int i, int v) { return added[Part::Sum(i, v)]; }, to);
        } else {
          PutOutputs<1.0f>(chunk, other_sums, [](int, int) { return 0.0f; }, to);
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
    // The projection's integers times kAddedUnit.
    WEFT_DEVICE void ConvertProjection(int chunk, const TileSums& sums, float (&added)[kTile / 2]) {
      using Part = BottleneckMath<typename PolicyT::Projection>;
      typename Part::Pair channels;
      Part::Read(t_, Roles::ProjectionValues(p_.tiling, base_), 64 * chunk + channel_, channels);
      const auto slowly = [&] {
        WEFT_UNROLL
        for (int i = 0; i < kMatrices; ++i) {
          const std::uint32_t word =
              Part::template Pack<true>(t_, p_.projection, channels, sums, i);
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
    // From a patch to the pixel of the tile whose row of a matrix the lane has the address of; of 4
    // matrices, and of those that are left.
    std::uint32_t residual_[2];
    bool is_first_ = true;  // the first tile, which waits for the filters
    int number_ = 0;        // of rounds of 128 channels so far
    int slow_ = 0;          // bit i: whether part i is not quick
    std::uint32_t residuals_[2][kMatrices] = {};
  };
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <conv::IsBottleneck PolicyT>
struct KernelList<PolicyT> {
  static constexpr int kCount = 1;
  template <int i>
  static constexpr bool kExists = true;
  template <int i>
  using Kernel = conv::BottleneckKernel<PolicyT>;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
