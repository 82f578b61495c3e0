// Policies for common operators, so that a program can start with one line:
//
//     using Op = weft::conv::Convolution<weft::conv::S8Conv4<weft::epilogues::BiasHSwish<>>>;
//
// or, where the tile is to be chosen for the problem:
//
//     using Op = weft::conv::Dispatch<weft::conv::S8Conv4Family<weft::epilogues::BiasHSwish<>>>;
//
// The library weft::weft holds GPU code for the combinations listed in conv/operators.cmake; any
// other combination runs on the CPU as it is and on the GPU after weft_add_operators(), or
// weft_add_family() for all tiles of a family.
#pragma once

#include "weft/conv/family.hpp"
#include "weft/conv/policy.hpp"

namespace weft::conv {

// Tile shapes as types, for policies that are templates over them.
struct Tile128x128 {
  static constexpr auto config = kSimt128x128;
};
struct Tile128x64 {
  static constexpr auto config = kSimt128x64;
};
struct Tile128x32 {
  static constexpr auto config = kSimt128x32;
};
struct Tile64x128 {
  static constexpr auto config = SimtConfig({64, 128, 32}, {32, 64, 32}, {8, 8, 4});
};
struct Tile64x64 {
  static constexpr auto config = kSimt64x64;
};
struct Tile64x32 {
  static constexpr auto config = SimtConfig({64, 32, 64}, {32, 16, 64}, {4, 4, 4});
};
struct Tile32x32 {
  static constexpr auto config = kSimt32x32;
};
struct Tile32x32Deep {
  static constexpr auto config = kSimt32x32Deep;
};
// Few accumulators a thread: the quickest where sums are short and outputs few.
struct Tile32x32Wide {
  static constexpr auto config = SimtConfig({32, 32, 128}, {16, 16, 128}, {2, 4, 4});
};
// 8 warps share each warp tile, in slices of 256.
struct Tile32x32Deepest {
  static constexpr auto config = SimtConfig({32, 32, 256}, {32, 16, 32}, {4, 4, 4});
};

// The same for the mma_sm80 mainloop: tiles that weft_perf measures, so that its tuning tables name
// them.
struct Mma128x64 {
  static constexpr auto config = MmaSm80Config({128, 64, 64}, {64, 32, 64}, 4);
};
struct Mma128x128 {
  static constexpr auto config = kMma128x128;
};
// Fewer warps, each with more sums.
struct Mma128x128Wide {
  static constexpr auto config = MmaSm80Config({128, 128, 64}, {64, 64, 64}, 4);
};
struct Mma256x128 {
  static constexpr auto config = MmaSm80Config({256, 128, 64}, {64, 64, 64}, 3);
};
struct Mma128x256 {
  static constexpr auto config = MmaSm80Config({128, 256, 64}, {64, 64, 64}, 3);
};
struct Mma256x64 {
  static constexpr auto config = MmaSm80Config({256, 64, 64}, {64, 32, 64}, 3);
};
struct Mma128x32 {
  static constexpr auto config = MmaSm80Config({128, 32, 64}, {32, 32, 64}, 4);
};
// For 16 output channels and fewer.
struct Mma128x16 {
  static constexpr auto config = MmaSm80Config({128, 16, 128}, {32, 16, 128}, 3, 4);
};
struct Mma64x64 {
  static constexpr auto config = kMma64x64;
};
struct Mma64x64Deep {
  static constexpr auto config = MmaSm80Config({64, 64, 128}, {32, 32, 128}, 4);
};
struct Mma64x32 {
  static constexpr auto config = MmaSm80Config({64, 32, 64}, {32, 32, 64}, 4);
};
struct Mma64x32Deep {
  static constexpr auto config = MmaSm80Config({64, 32, 128}, {32, 32, 128}, 5);
};
struct Mma32x32Deep {
  static constexpr auto config = MmaSm80Config({32, 32, 256}, {16, 32, 256}, 4);
};

// And for mma_sm75, which GPUs without the mma_sm80 mainloop run.
struct MmaSm75Tile128x64 {
  static constexpr auto config = gemm::MmaSm75Config({128, 64, 64}, {64, 32, 64});
};
struct MmaSm75Tile64x32 {
  static constexpr auto config = gemm::MmaSm75Config({64, 32, 64}, {32, 32, 64});
};

// int8 convolution over NCxHWx<4> through dp4a, any GPU from sm_75. Dst is any layout that
// Epilogue's output type fits (NCxHWx<4>, NCxHWx<32>, NHWC with K a multiple of 4, NCHW in float).
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NCxHWx<4>, class TileT = Tile64x64>
struct S8Conv4 {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr auto config = TileT::config;
};

// int8 convolution over NCxHWx<32> through the tensor cores, any GPU from sm_80 (from sm_75 with a
// MmaSm75Tile). Dst as above; the store is as wide as Dst allows, 4 bytes for NHWC.
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NCxHWx<32>, class TileT = Mma128x64>
struct S8Conv32 {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = CxRSKx<32>;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr int kRunBytes = Dst::kChannelRun * sizeof(typename EpilogueT::Output);
  static constexpr int kWidest = TileT::config.warp.n == 16 ? 4 : 8;
  static constexpr auto config = WithDstAlignment(TileT::config, kRunBytes >= 8   ? kWidest
                                                                 : kRunBytes == 1 ? 1
                                                                                  : 4);
};

// int8 convolution over NHWC, filter KRSC, through the tensor cores of any GPU from sm_80. C is a
// multiple of kSrcBytes (16, 8 or 4), the width of a load. Dst as above; where it is NHWC, K is a
// multiple of kDstChannels (8, 4 or 1), the channels of one store of at most 16 bytes.
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NHWC, class TileT = Mma128x64,
          int kSrcBytes = 16, int kDstChannels = 8>
struct S8ConvNhwc {
  using Element = std::int8_t;
  using SrcLayout = NHWC;
  using FilterLayout = KRSC;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr int kChannels =
      Dst::kChannelRun == 0 || kDstChannels < Dst::kChannelRun ? kDstChannels : Dst::kChannelRun;
  static constexpr int kBytes = kChannels * static_cast<int>(sizeof(typename EpilogueT::Output));
  static constexpr auto config =
      WithSrcAlignment(WithDstAlignment(TileT::config, kBytes < 16 ? kBytes : 16), kSrcBytes);
};

// What Dispatch chooses from. The tiles are those that were best on some layer of perf/layers/.
// Tile64x64 and Mma128x64 come first: a family's first policy says what is wrong with a problem
// that all refuse.
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<4>>
using S8Conv4Family =
    Family<S8Conv4<Epilogue, Dst, Tile64x64>, S8Conv4<Epilogue, Dst, Tile128x128>,
           S8Conv4<Epilogue, Dst, Tile64x128>, S8Conv4<Epilogue, Dst, Tile128x32>,
           S8Conv4<Epilogue, Dst, Tile64x32>, S8Conv4<Epilogue, Dst, Tile32x32>,
           S8Conv4<Epilogue, Dst, Tile32x32Wide>, S8Conv4<Epilogue, Dst, Tile32x32Deepest>>;

template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<32>>
using S8Conv32Family =
    Family<S8Conv32<Epilogue, Dst, Mma128x64>, S8Conv32<Epilogue, Dst, Mma128x128Wide>,
           S8Conv32<Epilogue, Dst, Mma128x128>, S8Conv32<Epilogue, Dst, Mma128x256>,
           S8Conv32<Epilogue, Dst, Mma256x64>, S8Conv32<Epilogue, Dst, Mma64x64>,
           S8Conv32<Epilogue, Dst, Mma64x64Deep>, S8Conv32<Epilogue, Dst, Mma128x32>,
           S8Conv32<Epilogue, Dst, Mma32x32Deep>, S8Conv32<Epilogue, Dst, MmaSm75Tile128x64>,
           S8Conv32<Epilogue, Dst, MmaSm75Tile64x32>>;

namespace internal {

// Stores of 4 channels and of 1 are for NHWC alone: blocked layouts pad K.
template <class E, class Dst, bool kAnyK = Dst::kChannelRun == 0>
struct NhwcFamily {
  using type = Family<S8ConvNhwc<E, Dst, Mma64x32, 4>, S8ConvNhwc<E, Dst, Mma128x64, 4>,
                      S8ConvNhwc<E, Dst, Mma64x32, 8>, S8ConvNhwc<E, Dst, Mma128x64, 8>,
                      S8ConvNhwc<E, Dst, Mma128x64>, S8ConvNhwc<E, Dst, Mma128x128>,
                      S8ConvNhwc<E, Dst, Mma256x128>, S8ConvNhwc<E, Dst, Mma64x64Deep>,
                      S8ConvNhwc<E, Dst, Mma128x32>, S8ConvNhwc<E, Dst, Mma64x64>,
                      S8ConvNhwc<E, Dst, Mma64x32>, S8ConvNhwc<E, Dst, Mma64x32Deep>>;
};
template <class E, class Dst>
struct NhwcFamily<E, Dst, true> {
  using type = Family<S8ConvNhwc<E, Dst, Mma64x32, 4, 1>, S8ConvNhwc<E, Dst, Mma64x32, 16, 1>,
                      S8ConvNhwc<E, Dst, Mma64x32, 4, 4>, S8ConvNhwc<E, Dst, Mma128x64, 4, 4>,
                      S8ConvNhwc<E, Dst, Mma64x32, 8, 4>, S8ConvNhwc<E, Dst, Mma128x64, 8, 4>,
                      S8ConvNhwc<E, Dst, Mma64x32, 16, 4>, S8ConvNhwc<E, Dst, Mma128x64>,
                      S8ConvNhwc<E, Dst, Mma128x128>, S8ConvNhwc<E, Dst, Mma256x128>,
                      S8ConvNhwc<E, Dst, Mma64x64Deep>, S8ConvNhwc<E, Dst, Mma128x32>,
                      S8ConvNhwc<E, Dst, Mma64x64>, S8ConvNhwc<E, Dst, Mma64x32>,
                      S8ConvNhwc<E, Dst, Mma64x32Deep>>;
};

}  // namespace internal

// Any C that is a multiple of 4, and any K: Dispatch takes the widest loads and stores that C and K
// allow, unless a narrower tile is quicker, and Describe says what padding would make possible. The
// first policy has the narrowest of both, so that its errors say what no policy accepts.
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NHWC>
using S8ConvNhwcFamily = typename internal::NhwcFamily<Epilogue, Dst>::type;

}  // namespace weft::conv
