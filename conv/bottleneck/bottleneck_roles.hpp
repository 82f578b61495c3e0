// What the warpgroup of a BottleneckKernel does that multiplies nothing: one thread loads filters and
// patches of x by TMA, one for each other warpgroup stores y, and the warps of these fetch the values of
// channels.
#pragma once

#include <cstdint>

#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/conv/bottleneck/bottleneck_values.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// A tile of 8 columns by config.rows rows of an image.
struct BottleneckTilePlace {
  std::int32_t n, first_row, column;  // `column` counts tiles

  WEFT_DEVICE BottleneckTilePlace(const BottleneckTiling& p, int rows, std::int32_t tile) {
    std::int32_t row = 0;
    n = p.rows.Divmod(p.columns.Divmod(tile, column), row);
    first_row = row * rows;
  }
};

// The mbarriers, by their shared addresses.
template <class PolicyT>
struct BottleneckBarriers {
  static constexpr int kGroups = PolicyT::config.warpgroups;
  static constexpr int kFull = kGroups * PolicyT::config.patches;
  static constexpr int kRounds = BottleneckShape::kMostRounds, kOutputs = 2;
  static constexpr int kFilters = 3;
  static constexpr int kEmpty = PolicyT::config.patches * kRounds;
  static_assert(8 * (kFull + kEmpty + kGroups * (kRounds + kOutputs) + kFilters + 1) <=
                BottleneckShape::kSlowWords);

  std::uint32_t base;

  // x of a tile has come. Number i of a block's tiles has barrier i % (warpgroups * patches), so that
  // one warpgroup waits for each phase of it.
  WEFT_DEVICE std::uint32_t full(int i) const { return base + At(i); }
  // x of a patch may be loaded anew; where y takes its place, the channels of a round.
  WEFT_DEVICE std::uint32_t empty(int patch, int round) const {
    return base + At(kFull + patch * kRounds + round);
  }
  // A warpgroup has made the y of a round, and it has been read.
  WEFT_DEVICE std::uint32_t made(int group, int round) const {
    return base + At(kFull + kEmpty + group * kRounds + round);
  }
  WEFT_DEVICE std::uint32_t stored(int group, int buffer) const {
    return base + At(kFull + kEmpty + kGroups * kRounds + group * kOutputs + buffer);
  }
  // The filters of the convolutions, the last one's with the projection's.
  WEFT_DEVICE std::uint32_t filter(int part) const {
    return base + At(kFull + kEmpty + kGroups * (kRounds + kOutputs) + part);
  }
  WEFT_DEVICE std::uint32_t values() const { return filter(kFilters); }

  WEFT_DEVICE void Init(arch::Thread t) const {
    WEFT_NO_UNROLL
    for (std::uint32_t bar = base; bar < values(); bar += 8) t.MbarInit(bar, 1);
    t.MbarInit(values(), 32 * kGroups);
    t.FenceMbarInit();
  }

 private:
  static constexpr std::uint32_t At(int number) { return 8 * static_cast<std::uint32_t>(number); }
};

template <class PolicyT>
struct BottleneckRoles {
  static constexpr BottleneckConfig config = PolicyT::config;
  static constexpr BottleneckShape kShape{config.rows, config.warpgroups};
  static constexpr int kGroups = config.warpgroups;
  static constexpr bool kProjected = kProjects<PolicyT>;
  // Whether y takes the place of x.
  static constexpr bool kInPlace = !kProjected && PolicyT::Epilogue::kHasResidual;
  using Params = BottleneckParamsOf<PolicyT>;
  using Barriers = BottleneckBarriers<PolicyT>;
  using First = BottleneckMath<typename PolicyT::FirstEpilogue>;
  using Second = BottleneckMath<typename PolicyT::SecondEpilogue>;
  using Third = BottleneckMath<typename PolicyT::Epilogue>;

  // Rounds of 128 channels of y.
  WEFT_DEVICE static int Rounds(const BottleneckTiling& p) { return (p.chunks + 1) / 2; }

  // The slow word of the first, the second, the last convolution, and the projection. Each warp that looks
  // at values has 16 bits of it.
  using SlowWord = BottleneckShape::SlowWord;
  static_assert(2 * kGroups <= sizeof(SlowWord));
  WEFT_DEVICE static std::uint32_t SlowAt(std::uint32_t base, int part) {
    return base + BottleneckShape::kSlowWords + sizeof(SlowWord) * static_cast<std::uint32_t>(part);
  }

  // Where the values of the channels of each part begin.
  static constexpr std::uint32_t kPartValues =
      BottleneckShape::kMiddle * BottleneckShape::kValueBytes;
  WEFT_DEVICE static std::uint32_t FirstValues(const BottleneckTiling& p, std::uint32_t base) {
    return base + static_cast<std::uint32_t>(p.at.values);
  }
  WEFT_DEVICE static std::uint32_t SecondValues(const BottleneckTiling& p, std::uint32_t base) {
    return FirstValues(p, base) + kPartValues;
  }
  WEFT_DEVICE static std::uint32_t ThirdValues(const BottleneckTiling& p, std::uint32_t base) {
    return FirstValues(p, base) + 2 * kPartValues;
  }
  WEFT_DEVICE static std::uint32_t ProjectionValues(const BottleneckTiling& p, std::uint32_t base) {
    return ThirdValues(p, base) + static_cast<std::uint32_t>(p.chunks) * kPartValues;
  }

  // Called by all threads of the warpgroup.
  WEFT_DEVICE static void Run(const Params& p, arch::Thread t, std::uint32_t base) {
    const int warp = t.WarpUniform(t.warp()) - 4 * kGroups;
    if (warp == 0) {
      if (t.lane() == 0) Load(p, t, base);
    } else if (warp <= kGroups) {
      FillValues(p, t, base, (warp - 1) * 32 + t.lane());
      if (t.lane() == 0) Store(p, t, base, warp - 1);
    }
  }

 private:
  WEFT_DEVICE static void FillValues(const Params& p, arch::Thread t, std::uint32_t base,
                                     int lane) {
    constexpr int kLanes = 32 * kGroups;
    t.WaitForEarlierGrids();
    First::template Fill<false>(t, p.first, lane, kLanes, FirstValues(p.tiling, base),
                                SlowAt(base, 0));
    Second::template Fill<false>(t, p.second, lane, kLanes, SecondValues(p.tiling, base),
                                 SlowAt(base, 1));
    Third::template Fill<true>(t, p.third, lane, kLanes, ThirdValues(p.tiling, base),
                               SlowAt(base, 2));
    if constexpr (kProjected) {
      BottleneckMath<typename PolicyT::Projection>::template Fill<true>(
          t, p.projection, lane, kLanes, ProjectionValues(p.tiling, base), SlowAt(base, 3));
    }
    t.MbarArrive(Barriers{base}.values());
  }

  // Loads all of x and the filters, in the order in which they are needed.
  WEFT_DEVICE static void Load(const Params& p, arch::Thread t, std::uint32_t base) {
    const BottleneckTiling& tiling = p.tiling;
    const Barriers bar{base};
    if (tiling.early == 0) t.WaitForEarlierGrids();
    t.MbarArriveTx(bar.filter(0), tiling.source_blocks * BottleneckShape::kFilterBlock);
    LoadFilter(t, p.maps.first_filter, bar.filter(0), Offset(base, tiling.at.first_filter), 0);
    if (tiling.early != 0) t.WaitForEarlierGrids();
    int patch = 0, full = 0, lap = 0;
    WEFT_NO_UNROLL
    for (int tile = t.block_x(); tile < tiling.tiles; tile += t.grid_x()) {
      LoadPatch(p, t, base, {tiling, config.rows, tile}, patch, full, lap);
      if (tile == t.block_x()) LoadOtherFilters(p, t, base);
      if (++patch == tiling.patches) patch = 0, ++lap;
      if (++full == kGroups * tiling.patches) full = 0;
    }
  }

  WEFT_DEVICE static void LoadPatch(const Params& p, arch::Thread t, std::uint32_t base,
                                    const BottleneckTilePlace& at, int patch, int full, int lap) {
    const BottleneckTiling& tiling = p.tiling;
    const Barriers bar{base};
    const std::uint32_t to = Patch(tiling, base, patch);
    const std::uint16_t no_offset[2] = {0, 0};
    WEFT_NO_UNROLL
    for (int block = 0; block < tiling.source_blocks; ++block) {
      if (lap > 0 && (block == 0 || (kInPlace && block % 4 == 0))) {
        t.MbarWait(bar.empty(patch, block / 4), (lap + 1) & 1);
      }
      if (block == 0) {
        t.MbarArriveTx(bar.full(full), tiling.source_blocks * kShape.patch_pixels() * 32);
      }
      const std::int32_t from[4] = {at.column == 0 ? -1 : 0, at.first_row - 1, block, at.n};
      t.TmaLoadIm2col(to + static_cast<std::uint32_t>(block * kShape.plane_bytes()),
                      p.maps.x[at.column], bar.full(full), from, no_offset);
    }
  }

  // Those that are needed after the first patch.
  WEFT_DEVICE static void LoadOtherFilters(const Params& p, arch::Thread t, std::uint32_t base) {
    constexpr int kBlock = BottleneckShape::kFilterBlock;
    const BottleneckTiling& tiling = p.tiling;
    const Barriers bar{base};
    t.MbarArriveTx(bar.filter(1), 18 * kBlock);
    LoadFilter(t, p.maps.second_filter, bar.filter(1), base + BottleneckShape::kSecondFilter, 0);
    const int projected = kProjected ? tiling.source_blocks : 0;
    t.MbarArriveTx(bar.filter(2), tiling.chunks * (2 + projected) * kBlock);
    WEFT_NO_UNROLL
    for (int i = 0; i < tiling.chunks; ++i) {
      LoadFilter(t, p.maps.third_filter, bar.filter(2),
                 Offset(base, tiling.at.third_filter + i * 2 * kBlock), i);
      if constexpr (kProjected) {
        LoadFilter(t, p.maps.projection_filter, bar.filter(2),
                   Offset(base, tiling.at.projection_filter + i * projected * kBlock), i);
      }
    }
  }

  // 64 output channels, from 64 * chunk on, by all input channels and taps.
  WEFT_DEVICE static void LoadFilter(arch::Thread t, const arch::TensorMap& map, std::uint32_t bar,
                                     std::uint32_t to, int chunk) {
    const std::int32_t from[5] = {0, 0, 0, 4 * chunk, 0};
    t.TmaLoad(to, map, bar, from);
  }

  // Stores the y of a warpgroup, and says what of shared memory has been read.
  WEFT_DEVICE static void Store(const Params& p, arch::Thread t, std::uint32_t base, int group) {
    const BottleneckTiling& tiling = p.tiling;
    const Barriers bar{base};
    const int rounds = Rounds(tiling);
    int patch = group, parity = 0, number = 0;  // of rounds so far
    WEFT_NO_UNROLL
    for (int tile = t.block_x() + group * t.grid_x(); tile < tiling.tiles;
         tile += kGroups * t.grid_x()) {
      const BottleneckTilePlace at(tiling, config.rows, tile);
      WEFT_NO_UNROLL
      for (int round = 0; round < rounds; ++round, ++number) {
        if constexpr (kInPlace) {
          t.MbarWait(bar.made(group, round), parity);
          StoreRound(p, t, at, round, Patch(tiling, base, patch), 2 * kShape.plane_bytes());
          if (round > 0) {
            t.template TmaStoreWaitRead<1>();
            t.MbarArrive(bar.empty(patch, round - 1));
          }
        } else {
          const int buffer = number % 2;
          t.MbarWait(bar.made(group, buffer), number / 2 & 1);
          StoreRound(p, t, at, round,
                     OutputBuffer(tiling, base, group, buffer) -
                         static_cast<std::uint32_t>(round * 4 * kShape.tile_plane_bytes()),
                     2 * kShape.tile_plane_bytes());
          if (number > 0) {
            t.template TmaStoreWaitRead<1>();
            t.MbarArrive(bar.stored(group, 1 - buffer));
          }
        }
      }
      if constexpr (kInPlace) {
        t.template TmaStoreWaitRead<0>();
        t.MbarArrive(bar.empty(patch, rounds - 1));
        parity ^= 1;
      }
      patch += kGroups;
      if (patch >= tiling.patches) patch -= tiling.patches;
    }
    t.template TmaStoreWait<0>();
  }

  // from: where chunk 0 is, and `step` bytes on the next one.
  WEFT_DEVICE static void StoreRound(const Params& p, arch::Thread t, const BottleneckTilePlace& at,
                                     int round, std::uint32_t from, int step) {
    const int end = 2 * round + 2 < p.tiling.chunks ? 2 * round + 2 : p.tiling.chunks;
    WEFT_NO_UNROLL
    for (int chunk = 2 * round; chunk < end; ++chunk) {
      const std::int32_t to[4] = {0, 2 * at.column, at.first_row,
                                  2 * (at.n * p.tiling.chunks + chunk)};
      t.TmaStore(p.maps.y, from + static_cast<std::uint32_t>(chunk * step), to);
    }
    t.TmaStoreCommit();
  }

 public:
  WEFT_DEVICE static std::uint32_t Offset(std::uint32_t base, std::int32_t bytes) {
    return base + static_cast<std::uint32_t>(bytes);
  }
  WEFT_DEVICE static std::uint32_t Patch(const BottleneckTiling& p, std::uint32_t base, int patch) {
    return Offset(base, p.at.patches + patch * p.at.patch_bytes);
  }
  // Where a warpgroup puts y that does not take the place of x: 128 channels to a buffer.
  WEFT_DEVICE static std::uint32_t OutputBuffer(const BottleneckTiling& p, std::uint32_t base,
                                                int group, int buffer) {
    return Offset(base, p.at.outputs + (2 * group + buffer) * 4 * kShape.tile_plane_bytes());
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
