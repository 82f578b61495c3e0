// How a staged store (staged_store.hpp) loads the residual of a thread's outputs. A residual of
// bytes in runs of 4 adjacent channels or more takes the way of the outputs backwards, through
// chunks in shared memory; every other residual is loaded from global memory where it is used.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/pixel_offset.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// What a residual that is not staged does in the steps that stage one.
struct UnstagedResidual {
  static constexpr bool kStaged = false, kAtOutputs = false;
  template <class Shared, class Output, class Tile>
  WEFT_DEVICE static void Begin(arch::Thread, Shared&, const Output&, const Tile&, std::int32_t,
                                std::int32_t) {}
  template <class Shared>
  WEFT_DEVICE static void Await(arch::Thread, Shared&) {}
  template <int kMatrices>
  WEFT_DEVICE static void Read(arch::Thread, std::uint32_t, std::uint32_t (&)[kMatrices]) {}
};

// Every thread loads the residuals of its own accumulators, one by one.
template <class TileT>
struct LoadedResidual : UnstagedResidual {
  static constexpr bool kNeedsPixel = true;
  template <class Output, class Channels>
  WEFT_DEVICE static float Of(arch::Thread t, const Output& p, const OutputPixel& pixel,
                              bool wanted, const Channels& c, std::uint32_t /*staged*/, int) {
    return TileT::Math::Residual(t, p, pixel, wanted, c);
  }
};

template <class TileT>
struct Absent<LoadedResidual<TileT>> : UnstagedResidual {
  static constexpr bool kNeedsPixel = false;
  template <class Output, class Channels>
  WEFT_DEVICE static float Of(arch::Thread, const Output&, const OutputPixel&, bool,
                              const Channels&, std::uint32_t, int) {
    return 0.0f;
  }
};

// The residual is loaded by cp.async to shared memory and read by ldmatrix. Layout: the residual's.
// kRun: the channels (bytes) of one cp.async, at least 4.
template <class TileT, class Layout, int kRun>
struct StagedResidual {
  static constexpr bool kStaged = true;
  static constexpr bool kNeedsPixel = false;
  // Whether a pixel begins at the same element of the residual as of the output, which StagedRows
  // has then worked out before Begin.
  static constexpr bool kAtOutputs = std::is_same_v<Layout, typename TileT::Dst>;
  using Chunks = typename TileT::Chunks;
  using Pixels = typename TileT::Pixels;

  // Starts the cp.async copies of this thread's share of the chunks, when all threads of the
  // warpgroup have read the last tile's chunks. It is called before the mainloop of a tile, while
  // the operands are being loaded.
  template <class Shared, class Output, class Tile>
  WEFT_DEVICE static void Begin(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                std::int32_t first_m, std::int32_t first_n) {
    auto& staged = shared.chunk[TileT::Map::Group(t)];
    const std::int32_t end = p.rows.EndChannel(tile, p.k);
    const auto mine = TileT::MineOf(t);
    const std::int32_t k = first_n + TileT::Map::FirstChannel(t) + p.rows.FirstChannel(tile) +
                           Pixels::ChannelOf(mine.chunk);
    const bool reads = p.ReadsResidual();
    const typename Output::ResidualElement* from[16 / kRun];  // each run of a pixel at offset 0
    WEFT_UNROLL
    for (int j = 0; j < 16; j += kRun) {
      from[j / kRun] = p.residual + Layout::ChannelOffset(p.extents, k + j);
    }
    const int first_row = Pixels::FirstOf(mine.chunk);
    TileT::ForEachRow(mine, [&](int row) {
      const std::int64_t offset = OffsetOf(t, shared, p, tile, first_m, first_row + row);
      const std::uint32_t to = t.SharedAddress(staged[Chunks::Place(row, mine.chunk)]);
      WEFT_UNROLL
      for (int j = 0; j < 16; j += kRun) {
        const bool wanted = reads && offset >= 0 && k + j < end;
        t.template CpAsync<kRun>(to + j, wanted ? from[j / kRun] + offset : p.residual,
                                 wanted ? kRun : 0);
      }
    });
    t.CpAsyncCommit();
  }

  // Called after the mainloop: waits for this thread's copies and puts their channels in the order
  // in which ldmatrix hands them out. The chunks of other threads may be read only after a barrier.
  template <class Shared>
  WEFT_DEVICE static void Await(arch::Thread t, Shared& shared) {
    auto& staged = shared.chunk[TileT::Map::Group(t)];
    t.template CpAsyncWait<0>();
    if constexpr (!Chunks::kInOrder) {
      using Chunk = typename TileT::Chunk;
      const auto mine = TileT::MineOf(t);
      TileT::ForEachRow(mine, [&](int row) {
        auto* const place = reinterpret_cast<Chunk*>(staged[Chunks::Place(row, mine.chunk)]);
        Chunk words = t.LoadShared(place);
        Chunks::ToFragments(t, mine.chunk, words);
        t.StoreShared(place, words);
      });
    }
  }

  // Reads the residuals of 8 kMatrices rows from the chunks at `place`, which StagedBytes::Place
  // has found.
  template <int kMatrices>
  WEFT_DEVICE static void Read(arch::Thread t, std::uint32_t place,
                               std::uint32_t (&words)[kMatrices]) {
    t.LdMatrixTrans(words, place);
  }

  // The residual of value v of four. staged: the word of two channels of two pixels from ldmatrix.
  template <class Output, class Channels>
  WEFT_DEVICE static float Of(arch::Thread t, const Output&, const OutputPixel&, bool /*wanted*/,
                              const Channels&, std::uint32_t staged, int v) {
    return t.template ByteToFloat<typename Output::ResidualElement>(staged, v);
  }

 private:
  // Where a pixel of the warpgroup begins in the residual; negative: it is outside.
  template <class Shared, class Output, class Tile>
  WEFT_DEVICE static std::int64_t OffsetOf(arch::Thread t, const Shared& shared, const Output& p,
                                           const Tile& tile, std::int32_t first_m, int number) {
    if constexpr (kAtOutputs) {
      return t.LoadShared(&shared.offset[TileT::Map::Group(t)][number]);
    } else {
      const OutputPixel pixel = p.rows.Pixel(tile, first_m + Pixels::NumberOf(t, number));
      const std::int64_t offset =
          pixel.n * Layout::ImageStride(p.extents) + PixelOffset<Layout>(p.extents, pixel.pq);
      return pixel.inside ? offset : -1;
    }
  }
};

// Chooses the variant for the policy of StagedTile TileT.
template <class TileT>
struct ResidualOf {
  using Epilogue = typename TileT::Epilogue;
  using Layout = typename Epilogue::template ResidualLayout<typename TileT::Dst>;
  // Adjacent channels that one access may load.
  static constexpr int kRun = [] {
    constexpr int kOwn = Layout::kChannelRun;
    if (kOwn == 0) return TileT::Dst::kChannelRun == 0 ? TileT::kRun : 1;
    return kOwn < TileT::kRun ? kOwn : TileT::kRun;
  }();
  static constexpr bool kStages = TileT::kByteOutputs && Epilogue::kHasResidual &&
                                  sizeof(typename TileT::Output::ResidualElement) == 1 && kRun >= 4;
  using type = std::conditional_t<kStages, StagedResidual<TileT, Layout, kRun>,
                                  PartIf<Epilogue::kHasResidual, LoadedResidual<TileT>>>;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
