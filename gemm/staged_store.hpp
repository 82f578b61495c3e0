// The second half of an epilogue for warpgroup products whose outputs are bytes or of 16 bits: through shared
// memory, since a thread holds single channels of pairs of pixels there. Those of 16 bits a warp's at a time
// (staged_halves.hpp); bytes a tile's:
//
// A staged tile is a matrix of 16-byte chunks, pixels by chunks of 16 channels. stmatrix writes
// them: a chunk holds column 0 and 8 of its sixteen, then 1 and 9, and so on, as two channels of a
// pixel make one of its 16-bit elements. Who reads a chunk puts the channels in order, unless the columns
// are such that they are (ColumnOrder::kPaired), and stores them, neighbouring threads neighbouring bytes of
// the destination. A residual of bytes takes the
// way back: asynchronous copies bring its chunks while the mainloop multiplies, and ldmatrix hands
// them out.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/accumulators.hpp"
#include "weft/gemm/epilogue_math.hpp"
#include "weft/gemm/image_sums.hpp"
#include "weft/gemm/kernel/traits.hpp"
#include "weft/gemm/staged_chunk.hpp"
#include "weft/gemm/staged_halves.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// PolicyT: DstLayout, Epilogue (with outputs of one or two bytes), config. Output: an OutputParams. Mma: the
// WgmmaSm90Mainloop.
template <class PolicyT, class Output, class Mma>
class StagedStore : public EpilogueTraits {
  using Map = typename Mma::Map;
  using Math = EpilogueMath<PolicyT, Output, 1>;
  using Dst = typename PolicyT::DstLayout;
  using Epilogue = typename PolicyT::Epilogue;
  using Element = typename Epilogue::Output;
  static constexpr bool kBytes = sizeof(Element) == 1;
  static_assert(kBytes || Mma::kHalves);
  using Pixels = StagedPixels<Mma>;
  static constexpr int kRows = Pixels::kRows, kPixels = Pixels::kCount;  // of a warpgroup
  static constexpr int kChunks = 4 * Mma::kBlocks;                       // of a row, likewise
  using Chunks = StagedChunks<kChunks, Mma::kOrder>;
  using Chunk = typename Chunks::Chunk;
  static constexpr int kRun = PolicyT::config.alignment.dst;
  // Chunks of a pixel that neighbouring threads write, side by side in the destination.
  static constexpr int kTogether = Dst::kChannelRun == 0    ? Pixels::kChunks
                                   : Dst::kChannelRun >= 32 ? 2
                                                            : 1;

  // Channels of one access to the residual. Those that asynchronous copies cannot bring are loaded
  // where they are used.
  using ResidualLayout = typename Epilogue::template ResidualLayout<Dst>;
  static constexpr int kResidualRun = [] {
    constexpr int kOwn = ResidualLayout::kChannelRun;
    if (kOwn == 0) return Dst::kChannelRun == 0 ? kRun : 1;
    return kOwn < kRun ? kOwn : kRun;
  }();
  // What is written beside the output needs of a pixel only where it begins in the destination.
  static constexpr bool kReadsPlaces =
      Math::kWritesBeside && Math::kCopiesLieAsOutputs && !Epilogue::kNeedsCoordinate;
  static constexpr bool kCopies = kStagesCopy<PolicyT, Mma::kOrder>;
  static constexpr bool kHalves = kCopies || !kBytes;
  // Channels of one store of them: of a copy as many as of the output's, whose alignment in elements it has.
  static constexpr int kHalvesOfRun = kCopies ? kRun : kRun / 2;
  using Halves = typename decltype([] {
    constexpr int kMost = kHalvesOfRun < 8 ? kHalvesOfRun : 8;
    if constexpr (kCopies) {
      using Copy = typename Epilogue::CopyStage::Element;
      return std::type_identity<StagedHalves<Dst, Copy, kMost, Mma>>();
    } else if constexpr (!kBytes) {
      return std::type_identity<StagedHalves<Dst, Element, kMost, Mma>>();
    } else {
      return std::type_identity<void>();
    }
  }())::type;
  static constexpr bool kStagesResidual = kBytes && Epilogue::kHasResidual &&
                                          sizeof(typename Output::ResidualElement) == 1 &&
                                          kResidualRun >= 4;

 public:
  static constexpr bool kStaged = true, kDependent = true;
  struct Places {
    // Where the pixel begins in the destination, in elements; negative if it is none.
    alignas(16) std::int64_t offset[Mma::kGroups][kPixels];
  };
  struct BytesAndPlaces {  // no base: its tail would then hold what is derived, and lie elsewhere
    alignas(128) std::uint8_t chunk[Mma::kGroups][kRows * kChunks][16];
    alignas(16) std::int64_t offset[Mma::kGroups][kPixels];  // as above
  };
  using Plain = std::conditional_t<kBytes, BytesAndPlaces, Places>;
  struct WithTerms : Plain {
    alignas(16) typename Math::PixelTerms terms[Mma::kGroups][kPixels];
  };
  using WithoutSums = std::conditional_t<Math::kTerms, WithTerms, Plain>;
  struct WithImages : WithoutSums {
    std::int32_t image[Mma::kGroups][kPixels];  // of the pixel; negative if it is none
  };
  using WithoutHalves = std::conditional_t<Epilogue::kHasSums, WithImages, WithoutSums>;
  template <class Base, class HalvesT>
  struct WithHalves : Base {
    typename HalvesT::Shared halves;
  };
  template <class Base>
  struct WithHalves<Base, void> : Base {};
  using Shared = WithHalves<WithoutHalves, Halves>;
  // What a thread keeps from one tile to the next.
  struct Kept {
    // Whose channels these are: a group's columns reach past its last channel only where the
    // destination has zero channels there, fewer than a tile, so that no two groups share it.
    std::int32_t first_k = -1, values = 0;
    typename Math::Channels channels[Map::kGroups];
  };

  // Before the tile's products, while their operands are under way: starts to bring its residual.
  template <class Tile>
  WEFT_DEVICE static void Begin(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                std::int32_t first_m, std::int32_t first_n) {
    if constexpr (kStagesResidual) {
      t.BarSync(1 + Map::Group(t), 128);  // the chunks take the place of the last tile's
      auto& staged = shared.chunk[Map::Group(t)];
      const std::int32_t end = p.rows.EndChannel(tile, p.k);
      const Mine mine = MineOf(t);
      const bool reads = p.ReadsResidual();
      first_n += Map::FirstChannel(t) + p.rows.FirstChannel(tile) + Pixels::ChannelOf(mine.chunk);
      ForEachRow(mine, [&](int row) {
        const OutputPixel pixel =
            p.rows.Pixel(tile, first_m + Pixels::NumberOf(t, Pixels::FirstOf(mine.chunk) + row));
        const auto* from = p.residual + pixel.n * ResidualLayout::ImageStride(p.extents) +
                           PixelOffset<ResidualLayout>(p.extents, pixel.pq);
        const std::uint32_t to = t.SharedAddress(staged[Chunks::Place(row, mine.chunk)]);
        WEFT_UNROLL
        for (int j = 0; j < 16; j += kResidualRun) {
          const std::int32_t k = first_n + j;
          const bool wanted = reads && pixel.inside && k < end;
          t.template CpAsync<kResidualRun>(
              to + j, wanted ? from + ResidualLayout::ChannelOffset(p.extents, k) : p.residual,
              wanted ? kResidualRun : 0);
        }
      });
      t.CpAsyncCommit();
    }
  }

  // While products run: works out what does not depend on the sums.
  template <class Tile>
  WEFT_DEVICE static void Prepare(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t first_m, std::int32_t first_n, Kept& kept) {
    if constexpr (!kStagesResidual) t.BarSync(1 + Map::Group(t), 128);  // the last tile is stored
    const std::int64_t image = Dst::ImageStride(p.extents);
    WEFT_UNROLL
    for (int i = 0; i < kPixels; i += 128) {
      const int number = i + t.tid() % 128;
      const OutputPixel pixel = p.rows.Pixel(tile, first_m + Pixels::NumberOf(t, number));
      const std::int64_t offset =
          pixel.inside ? pixel.n * image + PixelOffset<Dst>(p.extents, pixel.pq) : -1;
      const bool mine = i + 128 <= kPixels || number < kPixels;
      if (mine) shared.offset[Map::Group(t)][number] = offset;
      if constexpr (Epilogue::kHasSums) {
        const std::int32_t n = pixel.inside ? pixel.n : -1;
        if (mine) shared.image[Map::Group(t)][number] = n;
      }
      if constexpr (Math::kTerms) {
        const auto terms = Math::TermsOf(t, p, tile, pixel);
        if (mine) shared.terms[Map::Group(t)][number] = terms;
      }
    }
    const std::int32_t first_k = p.rows.FirstChannel(tile) + first_n;
    const std::int32_t values = p.rows.ValueOffset(tile);
    if (first_k != kept.first_k || values != kept.values) {
      kept.first_k = first_k;
      kept.values = values;
      WEFT_UNROLL
      for (int g = 0; g < Map::kGroups; ++g) {
        Math::Fetch(t, p, first_k + Map::Channel(t, g), p.rows.EndChannel(tile, p.k),
                    kept.channels[g], values);
      }
    }
  }

  // As DirectStore::Run; by all threads of the warpgroups that multiply.
  template <class Tile>
  WEFT_DEVICE static void Run(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                              std::int32_t first_m, std::int32_t first_n, Kept& kept,
                              const typename Map::Accumulators& acc) {
    const int group = Map::Group(t);
    const std::int32_t end = p.rows.EndChannel(tile, p.k);
    const std::int32_t padded_end = end == p.k ? p.padded_k : end;
    const std::int32_t first_k = p.rows.FirstChannel(tile) + first_n + Map::FirstChannel(t);
    if constexpr (kStagesResidual) {
      auto& staged = shared.chunk[group];
      t.template CpAsyncWait<0>();
      if constexpr (!Chunks::kInOrder) {
        const Mine mine = MineOf(t);
        ForEachRow(mine, [&](int row) {  // those that the thread has brought
          auto* const place = reinterpret_cast<Chunk*>(staged[Chunks::Place(row, mine.chunk)]);
          Chunk words = t.LoadShared(place);
          Chunks::ToFragments(t, mine.chunk, words);
          t.StoreShared(place, words);
        });
      }
      t.BarSync(1 + group, 128);
    } else if constexpr (Math::kTerms || kReadsPlaces || !kBytes) {
      t.BarSync(1 + group, 128);  // the terms are there, and where pixels begin
    }
    // Without a zero point ReLU, rounding and saturation are one instruction.
    typename Math::Range ranges[Map::kGroups];
    WEFT_UNROLL
    for (auto& range : ranges) range.Clear();
    const ChannelSpan span = {first_k, end, padded_end};
    if (!kBytes || p.zero_point == 0.0f) {
      Stage<false>(t, shared, p, tile, first_m, span, kept.channels, acc, ranges);
    } else if constexpr (kBytes) {
      Stage<true>(t, shared, p, tile, first_m, span, kept.channels, acc, ranges);
    }
    if constexpr (Epilogue::kHasRange) {
      const std::int32_t first = p.rows.FirstChannel(tile) + first_n;
      WriteRanges<Map::kSharingLanes>(t, p, ranges, end,
                                      [&](int g) { return first + Map::Channel(t, g); });
    }
    if constexpr (kBytes) {
      Deliver(t, shared, p, first_k, end, padded_end);
    } else {
      t.BarSync(1 + group, 128);  // for ptxas, as in Deliver
    }
  }

 private:
  // The staged bytes of a tile, by all threads of the group.
  WEFT_DEVICE static void Deliver(arch::Thread t, const Shared& shared, const Output& p,
                                  std::int32_t first_k, std::int32_t end, std::int32_t padded_end) {
    const int group = Map::Group(t);
    t.BarSync(1 + group, 128);
    if constexpr (Epilogue::kHasSums) {
      AddUp(t, shared, p, first_k, end);
      // Or ptxas takes the warps for divergent, and makes the next tile's products one by one.
      t.BarSync(1 + group, 128);
    }
    if constexpr (!Epilogue::kWritesOutput) {
      // Nobody reads what is staged.
    } else if (end - first_k >= 16 * Pixels::kChunks) {
      Write<false>(t, shared, p, first_k, end, padded_end);
    } else {
      Write<true>(t, shared, p, first_k, end, padded_end);
    }
  }

  // A thread's share of a warpgroup's chunks: number `chunk` of every kStep-th row from `row` on.
  // Neighbouring threads take what lies side by side in the destination, then neighbouring rows.
  static constexpr int kStep = 128 / kChunks;
  struct Mine {
    int chunk, row;
  };
  WEFT_DEVICE static Mine MineOf(arch::Thread t) {
    const int thread = t.tid() % 128, rest = thread / kTogether;
    return {rest / kStep * kTogether + thread % kTogether, rest % kStep};
  }
  // visit(row) for each of them.
  template <class Visit>
  WEFT_DEVICE static void ForEachRow(const Mine& mine, const Visit& visit) {
    if (128 % kChunks != 0 && mine.chunk >= kChunks) return;
    WEFT_UNROLL
    for (int i = 0; i < kRows; i += kStep) {
      if (kRows % kStep == 0 || i + mine.row < kRows) visit(i + mine.row);
    }
  }

  // Where the values of 16 bits go.
  WEFT_DEVICE static auto* HalvesTo(const Output& p) {
    if constexpr (kCopies) {
      return p.epilogue.template Get<typename Epilogue::CopyStage>().to;
    } else {
      return p.dst;
    }
  }
  // The group's channels; from `end` on they are zeros, and from padded_end on there are none.
  struct ChannelSpan {
    std::int32_t first, end, padded_end;
  };

  template <bool kShift, class Tile>
  WEFT_DEVICE static void Stage(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                std::int32_t first_m, const ChannelSpan& span,
                                typename Math::Channels (&channels)[Map::kGroups],
                                const typename Map::Accumulators& acc,
                                typename Math::Range (&ranges)[Map::kGroups]) {
    WEFT_UNROLL
    for (auto& c : channels) Math::Finish(p, c);
    // Which of the group's pixels are at the border.
    [[maybe_unused]] std::uint32_t edges[CeilDiv(kRows, 32)] = {};
    if constexpr (Math::kEdges) {
      static_assert(Mma::kStack == 1);  // a row has one
      WEFT_UNROLL
      for (int i = 0; i < kRows; i += 32) {
        const int row = i + t.lane();
        edges[i / 32] =
            t.Ballot(row < kRows && t.LoadShared(&shared.terms[Map::Group(t)][row].edge) != 0);
      }
    }
    // 4 matrices of 8 rows at once: lane l says where row l % 8 of the l / 8-th is. Tiles whose
    // rows are no multiple of 32 end in two or one.
    const auto stage = [&](auto matrices, int first, int x) {
      constexpr int kMatrices = matrices();
      const int row = 8 * first + t.lane() % (8 * kMatrices), chunk = 4 * x + t.warp() % 4;
      [[maybe_unused]] std::uint32_t place = 0;
      if constexpr (kBytes) {
        place = t.SharedAddress(shared.chunk[Map::Group(t)][Chunks::Place(row, chunk)]);
      }
      std::uint32_t words[kMatrices] = {};
      if constexpr (kStagesResidual) t.template LdMatrixTrans<kMatrices>(words, place);
      [[maybe_unused]] std::uint32_t halves[2][kMatrices];
      WEFT_UNROLL
      for (int j = 0; j < kMatrices; ++j) {
        const bool edge = (edges[(first + j) / 4] >> (first + j) % 4 * 8 & 0xff) != 0;
        std::uint32_t half[2];
        words[j] = PackPair<kShift>(t, shared, p, tile, first_m, 2 * (first + j), x, edge, channels,
                                    words[j], acc, ranges, half);
        if constexpr (kHalves) halves[0][j] = half[0], halves[1][j] = half[1];
      }
      if constexpr (kBytes) t.template StMatrixTrans<kMatrices>(place, words);
      if constexpr (kHalves) {
        const std::int64_t* const offsets =
            shared.offset[Map::Group(t)] + Pixels::FirstOf(chunk) + 8 * first;
        Halves::Write(t, shared.halves, HalvesTo(p), p.extents, offsets, chunk,
                      span.first + Pixels::ChannelOf(chunk), span.end, span.padded_end, halves);
      }
    };
    constexpr int kAll = kRows / 8, kFours = kAll / 4 * 4;
    WEFT_UNROLL
    for (int x = 0; x < Mma::kBlocks; ++x) {
      if (Pixels::ChannelOf(4 * x + t.warp() % 4) >= span.padded_end - span.first) return;
      WEFT_UNROLL
      for (int i = 0; i < kFours; i += 4) stage(std::integral_constant<int, 4>(), i, x);
      if constexpr (kAll % 4 >= 2) stage(std::integral_constant<int, 2>(), kFours, x);
      if constexpr (kAll % 2 == 1) stage(std::integral_constant<int, 1>(), kAll - 1, x);
    }
  }

  // Two channels of pixel i and of the next, of column block x: {A, B, A', B'}. residual: likewise,
  // if it is staged. edge: whether any of the warp's eight pixels is at the border. half: with kHalves the
  // pixels' two values of either channel.
  template <bool kShift, class Tile>
  WEFT_DEVICE static std::uint32_t PackPair(
      arch::Thread t, const Shared& shared, const Output& p, const Tile& tile, std::int32_t first_m,
      int i, int x, [[maybe_unused]] bool edge, const typename Math::Channels (&c)[Map::kGroups],
      std::uint32_t residual, const typename Map::Accumulators& acc,
      typename Math::Range (&ranges)[Map::kGroups], [[maybe_unused]] std::uint32_t (&half)[2]) {
    float values[4];
    [[maybe_unused]] float copied[4];
    Element outputs[4];
    constexpr bool kLoads = Epilogue::kHasResidual && !kStagesResidual;
    constexpr bool kLooks =
        kLoads || Epilogue::kNeedsCoordinate || (Math::kWritesBeside && !kReadsPlaces);
    [[maybe_unused]] PairPlaces places{};
    if constexpr (kCopies && !Epilogue::kHasRange) {
      // Nobody asks.
    } else if constexpr (kReadsPlaces) {
      places = t.LoadShared(reinterpret_cast<const PairPlaces*>(
          &shared.offset[Map::Group(t)][Pixels::PixelOf(t, i)]));
    } else if constexpr (Math::kWritesBeside) {
      // Or the places of all pixels would be kept from one block of columns to the next.
      std::int32_t unknown[1] = {first_m};
      t.KeepInPlace(unknown);
      first_m = unknown[0];
    }
    std::uint32_t shift[4] = {};
    if constexpr (Math::kZeroPoints) {
      PairTerms terms{};
      [[maybe_unused]] const PairTerms* pair = nullptr;
      if constexpr (Math::kTerms) {
        pair =
            reinterpret_cast<const PairTerms*>(&shared.terms[Map::Group(t)][Pixels::PixelOf(t, i)]);
      }
      if constexpr (Math::kFilterZeroPoint) terms = t.LoadShared(pair);
      WEFT_UNROLL
      for (int v = 0; v < 4; ++v) shift[v] = Math::Shift(c[2 * x + v % 2], terms.pixel[v / 2]);
      if constexpr (Math::kEdges) {
        if (edge) {  // the same for the warp
          terms = t.LoadShared(pair);
          WEFT_UNROLL
          for (int v = 0; v < 4; ++v) {
            shift[v] += Math::Edge(t, p, c[2 * x + v % 2], terms.pixel[v / 2]);
          }
        }
      }
    }
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) {
      const int g = 2 * x + v % 2;
      OutputPixel pixel;
      epilogues::OutputCoord at{};
      if constexpr (kLooks) {
        pixel = p.rows.Pixel(tile, first_m + Map::Pixel(t, i + v / 2));
        at = Math::CoordOf(p, tile, pixel);
        at.k += c[g].k;
      }
      const bool wanted = pixel.inside && c[g].count > 0;
      if (Epilogue::kNeedsCoordinate && !wanted) {
        values[v] = 0.0f;
        outputs[v] = Element{};
        if constexpr (Math::kWritesBeside) {
          Math::WriteSeen(t, p, pixel, pixel.inside, c[g], {}, ranges[g]);
        }
        continue;
      }
      float other = 0.0f;
      if constexpr (kStagesResidual) {
        other =
            static_cast<float>(static_cast<typename Output::ResidualElement>(residual >> (8 * v)));
      } else if constexpr (kLoads) {
        other = Math::Residual(t, p, pixel, wanted, c[g]);
      }
      const auto in = Math::InputsOf(p, c[g], shift[v], other, Map::Get(acc, i + v / 2, g, 0));
      if constexpr (Epilogue::OutputStage::kSaturates) {
        values[v] = p.epilogue.template Unrounded<kShift>(in, at);
      } else {
        outputs[v] = p.epilogue(in, at);
      }
      if constexpr (Math::kWritesBeside) {
        typename Math::template Seen<1> seen;
        Math::See(p, in, at, 0, seen);
        if constexpr (kCopies) {
          copied[v] = seen.copy[0];
          Math::TakeRange(places.begin[v / 2] >= 0, seen, ranges[g]);
        } else if constexpr (kReadsPlaces) {
          Math::WriteSeen(t, p, places.begin[v / 2], c[g], seen, ranges[g]);
        } else {
          Math::WriteSeen(t, p, pixel, pixel.inside, c[g], seen, ranges[g]);
        }
      }
    }
    WEFT_UNROLL
    for (int e = 0; e < 2; ++e) {
      if constexpr (kCopies) {
        using Copy = typename Epilogue::CopyStage;
        half[e] = Halves::Pack(Copy::Convert(copied[e]), Copy::Convert(copied[2 + e]));
      } else if constexpr (kHalves) {
        half[e] = Halves::Pack(outputs[e], outputs[2 + e]);
      }
    }
    std::uint32_t word = 0;
    if constexpr (Epilogue::OutputStage::kSaturates) {
      word = t.template PackSaturated<Element>(values);
    } else if constexpr (kBytes) {
      memcpy(&word, outputs, sizeof(word));
    }
    return word;
  }

  // The group's chunks to the destination; kMasked: some of their channels may be none.
  template <bool kMasked>
  WEFT_DEVICE static void Write(arch::Thread t, const Shared& shared, const Output& p,
                                std::int32_t first_k, std::int32_t end, std::int32_t padded_end) {
    const auto& staged = shared.chunk[Map::Group(t)];
    const Mine mine = MineOf(t);
    const std::int64_t* const offsets = shared.offset[Map::Group(t)] + Pixels::FirstOf(mine.chunk);
    const std::int32_t k = first_k + Pixels::ChannelOf(mine.chunk);
    if (kMasked && k >= padded_end) return;
    const Chunk keep = Chunks::Mask(end - k);
    [[maybe_unused]] std::uint32_t order[2];
    if constexpr (!Chunks::kInOrder) Chunks::InOrder(mine.chunk, order);
    Element* to[16 / kRun];  // the first pixel's of all, for each of the chunk's runs
    WEFT_UNROLL
    for (int j = 0; j < 16; j += kRun) to[j / kRun] = p.dst + Dst::ChannelOffset(p.extents, k + j);
    ForEachRow(mine, [&](int row) {
      const std::int64_t offset = t.LoadShared(&offsets[row]);
      Chunk words =
          t.LoadShared(reinterpret_cast<const Chunk*>(staged[Chunks::Place(row, mine.chunk)]));
      if constexpr (!Chunks::kInOrder) {
        const Chunk from = words;
        WEFT_UNROLL
        for (int w = 0; w < 4; ++w) {
          const int half = w % 2 * 2;  // of the chunk's words, that hold 4 of its lower 8 channels
          words.word[w] = t.BytePermute(from.word[half], from.word[half + 1], order[w / 2]);
        }
      }
      if constexpr (kMasked) {
        WEFT_UNROLL
        for (int w = 0; w < 4; ++w) words.word[w] &= keep.word[w];
      }
      t.KeepInPlace(words.word);  // or all of this would wait behind the next line's branch
      if (offset < 0) return;
      WEFT_UNROLL
      for (int j = 0; j < 16; j += kRun) {
        Vector v;
        memcpy(&v, reinterpret_cast<const std::uint8_t*>(words.word) + j, sizeof(v));
        if (!kMasked || k + j < padded_end) {
          t.StoreGlobal(reinterpret_cast<Vector*>(to[j / kRun] + offset), v);
        }
      }
    });
  }

  // Each warp the chunks of 16 channels in 64 that it has staged, of all pixels of its group.
  WEFT_DEVICE static void AddUp(arch::Thread t, const Shared& shared, const Output& p,
                                std::int32_t first_k, std::int32_t end) {
    const auto& staged = shared.chunk[Map::Group(t)];
    WEFT_NO_UNROLL
    for (int chunk = t.warp() % 4; chunk < kChunks; chunk += 4) {
      const std::int32_t k = first_k + Pixels::ChannelOf(chunk);
      if (k >= end) return;
      AddUpChunks<Element, kRows>(
          t, p, shared.image[Map::Group(t)] + Pixels::FirstOf(chunk), end,
          [&](int row) { return staged[Chunks::Place(row, chunk)]; },
          [&](int b) { return k + Chunks::ChannelOf(chunk, b); });
    }
  }
  struct alignas(Math::kTerms ? 2 * sizeof(typename Math::PixelTerms) : 1) PairTerms {
    typename Math::PixelTerms pixel[2];
  };
  struct alignas(16) PairPlaces {
    std::int64_t begin[2];
  };
  // kRun outputs, written as one access.
  struct alignas(kRun) Vector {
    unsigned char byte[kRun];
  };
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
