// Ready-made families of matrix products. Dispatch chooses a tile for the problem, so that a
// program can start with one line:
//
//     using Op = weft::gemm::Dispatch<weft::gemm::S8GemmFamily<weft::epilogues::BiasRelu<>>>;
//
// They run on the CPU as they are, and on the GPU if CMake's weft_add_gemm_family() compiles their
// kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/policy/family.hpp"
#include "weft/gemm/tile/tile_table.hpp"

namespace weft::gemm {

namespace internal {

// Bytes of one store to C: one element if C is column-major or `most` is less, else at most `most`
// and 16.
template <class Output, class LayoutCT>
constexpr int StoreBytes(int most) {
  constexpr int kOne = sizeof(Output);
  return std::is_same_v<LayoutCT, layouts::ColumnMajor> || most < kOne ? kOne
         : most < 16                                                   ? most
                                                                       : 16;
}

// A warp whose k is left out takes all of the block's.
constexpr int WarpK(const TileShape& block, const TileShape& warp) {
  return warp.k == 0 ? block.k : warp.k;
}

}  // namespace internal

// Sizes of tiles that serve any element type; each makes the config of a type. Tiles are structs with
// one of them as kSizes: those of the table, in product_tiles, and those of a program.
//     struct MyTile {
//       static constexpr MmaSizes kSizes = {.block = {128, 64, 64}, .warp = {64, 32, 64}, .stages = 4};
//     };

// Of mma_sm80; k is in bytes. Loads take 16 bytes, and stores are the widest (two elements of tf32
// and doubles).
struct MmaSizes {
  TileShape block;
  TileShape warp;  // without .k: block.k; below it, several warps share each k tile (sliced k)
  int stages = 3;
  // For matrices whose alignment wide accesses do not fit: loads of 4 bytes (one element of 8 or
  // 16), and stores of one element.
  bool narrow = false;

  template <class Element, class Output, class LayoutCT>
  constexpr MmaSm80Config Config() const {
    constexpr int kElementBytes = sizeof(Element);
    const int run = kElementBytes >= 4 ? 2 : warp.n == 16 ? 4 : 8;
    const int most = narrow ? 0 : run * static_cast<int>(sizeof(Output));
    constexpr int kLeast = kElementBytes > 4 ? kElementBytes : 4;
    return MmaSm80Config(
        {block.m, block.n, block.k / kElementBytes},
        {warp.m, warp.n, internal::WarpK(block, warp) / kElementBytes}, stages,
        Alignment{narrow ? kLeast : 16, internal::StoreBytes<Output, LayoutCT>(most)});
  }
};

// Of mma_sm75, for GPUs before sm_80; members as of MmaSizes.
struct Sm75Sizes {
  TileShape block, warp;
  bool narrow = false;

  template <class Element, class Output, class LayoutCT>
  constexpr MmaSm75Config Config() const {
    constexpr int kElementBytes = sizeof(Element);
    const int most = narrow ? 0 : 8 * static_cast<int>(sizeof(Output));
    return WithSrcAlignment(
        MmaSm75Config({block.m, block.n, block.k / kElementBytes},
                      {warp.m, warp.n, internal::WarpK(block, warp) / kElementBytes},
                      internal::StoreBytes<Output, LayoutCT>(most)),
        narrow ? 4 : 16);
  }
};

// Of wgmma_sm90; k is in bytes.
struct WgmmaSizes {
  TileShape block, warp;
  int blocks_per_sm = 1;
  int cluster_split_k = 1;
  bool ping_pong = false;  // two consumer warpgroups, each with a tile of `block`

  template <class Element, class Output, class LayoutCT>
  constexpr WgmmaSm90Config Config() const {
    constexpr int kElementBytes = sizeof(Element);
    const WgmmaSm90Config config = WithClusterSplitK(
        WgmmaSm90Config({block.m, block.n, block.k / kElementBytes},
                        {warp.m, warp.n, internal::WarpK(block, warp) / kElementBytes},
                        blocks_per_sm, internal::StoreBytes<Output, LayoutCT>(16)),
        cluster_split_k);
    return ping_pong ? WithPingPong(config) : config;
  }
};

// Of simt: fma, or with thread.k = 4 dp4a. k is in elements. One stage is loaded while the other is
// multiplied, thread.k elements at a time.
struct SimtSizes {
  TileShape block, warp, thread;

  template <class Element, class Output, class LayoutCT>
  constexpr SimtConfig Config() const {
    const int load = thread.k * static_cast<int>(sizeof(Element));
    return SimtConfig(block, warp, thread, Alignment{load, sizeof(Output)});
  }
};

// Of simt_async: fma, with a ring of stages that cp.async loads by 16 bytes. k is in elements. A
// store takes the adjacent accumulators of a thread, at most 16 bytes. warp.k as of MmaSizes.
struct SimtAsyncSizes {
  TileShape block, warp, thread;
  int stages = 3;

  template <class Element, class Output, class LayoutCT>
  constexpr SimtAsyncConfig Config() const {
    constexpr int kMost = 16 / static_cast<int>(sizeof(Element)) * static_cast<int>(sizeof(Output));
    return SimtAsyncConfig(block, warp, thread, stages,
                           Alignment{16, internal::StoreBytes<Output, LayoutCT>(kMost)});
  }
};

// The tiles of the table, as types.
namespace product_tiles {

#define WEFT_PRODUCT_TILE(families, name, ...)  \
  struct name {                                 \
    static constexpr auto kSizes = __VA_ARGS__; \
  };
#include "weft/gemm/product_tiles.def"

}  // namespace product_tiles

// The layouts of a product's matrices A, B and C.
template <class LayoutAT, class LayoutBT, class LayoutCT>
struct ProductLayouts {
  using LayoutA = LayoutAT;
  using LayoutB = LayoutBT;
  using LayoutC = LayoutCT;
};
// The most common ones, with a name of their own for those who read the names of kernels: A and C
// are row-major, B is column-major.
struct RowByColumn : ProductLayouts<layouts::RowMajor, layouts::ColumnMajor, layouts::RowMajor> {};

namespace internal {

template <class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
struct NamedLayouts {
  using type = ProductLayouts<LayoutAT, LayoutBT, LayoutCT>;
};
template <>
struct NamedLayouts<layouts::RowMajor, layouts::ColumnMajor, layouts::RowMajor> {
  using type = RowByColumn;
};

}  // namespace internal

// Layouts: those of A, B and C; the last ones may be left out where they are RowByColumn's.
template <class... Layouts>
using LayoutsOf = typename internal::NamedLayouts<Layouts...>::type;

// A tile of products: a struct with sizes as kSizes.
template <class TileT>
concept ProductTile = requires { TileT::kSizes; };

// The policy of a product with tile TileT.
template <class ElementT, class EpilogueT, class TileT, class LayoutsT = RowByColumn>
struct TiledGemm {
  static_assert(ProductTile<TileT>,
                "weft: a tile of products is a struct with `static constexpr MmaSizes kSizes` (or "
                "WgmmaSizes, Sm75Sizes, SimtSizes), such as gemm::product_tiles::Mma128x128");
  using Element = ElementT;
  using LayoutA = typename LayoutsT::LayoutA;
  using LayoutB = typename LayoutsT::LayoutB;
  using LayoutC = typename LayoutsT::LayoutC;
  using Epilogue = EpilogueT;
  [[gnu::visibility("hidden")]] static constexpr auto config =
      TileT::kSizes.template Config<ElementT, typename EpilogueT::Output, LayoutC>();
};

// The same policy with load functors, or NoLoad.
template <class PolicyT, class LoadAT, class LoadBT>
struct LoadedGemm : PolicyT {
  using LoadA = LoadAT;
  using LoadB = LoadBT;
};

// The same policy with accumulators that are halves.
template <class PolicyT>
struct HalfSumGemm : PolicyT {
  using Sum = Half;
};

namespace internal {

// The parts of families, bits of a column of gemm/product_tiles.def: a family has the tiles with
// one of its bits.
namespace product_families {

inline constexpr unsigned kNarrow = 1 << 0;  // all types but floats and doubles; also:
inline constexpr unsigned kNarrowBytes = 1 << 1, kNarrowHalves = 1 << 2;
inline constexpr unsigned kSm75 = 1 << 3;   // bytes and halves
inline constexpr unsigned kLarge = 1 << 4;  // A and B K-major, or tf32
inline constexpr unsigned kMma = 1 << 5;
inline constexpr unsigned kWgmma =
    1 << 6;  // A and B K-major, or 16-bit floats; tf32 and bytes in other layouts:
inline constexpr unsigned kTransposed = 1 << 7, kTransposedBytes = 1 << 8;
inline constexpr unsigned kSliced = 1 << 9;     // not 16-bit floats that are not K-major
inline constexpr unsigned kHalfSums = 1 << 10;  // HalfSumGemmFamily
inline constexpr unsigned kMixed = 1 << 11;     // MixedGemmFamily; also where A is the narrow one:
inline constexpr unsigned kMixedA = 1 << 12;
inline constexpr unsigned kUpcastA = 1 << 13, kUpcastB = 1 << 14;  // on Hopper
inline constexpr unsigned kFloat = 1 << 15, kDouble = 1 << 16;
inline constexpr unsigned kComplexFloat = 1 << 17, kComplexDouble = 1 << 18;
inline constexpr unsigned kComplexSliced = 1 << 19;  // complex doubles without a residual

using Table = TileTable<NoRow
#define WEFT_PRODUCT_TILE(families, name, ...) , TableRow<product_tiles::name, families>
#define WEFT_PRODUCT_TILE_AGAIN(families, name) , TableRow<product_tiles::name, families>
#include "weft/gemm/product_tiles.def"
                        >;

}  // namespace product_families

// The family of the tiles that have one of the bits kParts.
template <class ElementT, class Epilogue, class LayoutsT, class List>
struct TiledGemms;
template <class ElementT, class Epilogue, class LayoutsT, class... Tiles>
struct TiledGemms<ElementT, Epilogue, LayoutsT, TileList<Tiles...>> {
  using type = Family<TiledGemm<ElementT, Epilogue, Tiles, LayoutsT>...>;
};
template <unsigned kParts, class ElementT, class Epilogue, class LayoutsT>
using ProductsOf =
    typename TiledGemms<ElementT, Epilogue, LayoutsT,
                        typename RowsWith<product_families::Table, kParts>::type>::type;

template <class ElementT, class LayoutsT>
struct GemmParts {
  static constexpr bool kBothKMajor =
      std::is_same_v<typename LayoutsT::LayoutA, layouts::RowMajor> &&
      std::is_same_v<typename LayoutsT::LayoutB, layouts::ColumnMajor>;
  static constexpr bool kTf32 = std::is_same_v<ElementT, Tf32>;
  static constexpr unsigned Parts() {
    using namespace product_families;  // NOLINT(build/namespaces)
    unsigned parts = kNarrow | kMma;
    if (kByte<ElementT>) parts |= kNarrowBytes | kSm75;
    if (std::is_same_v<ElementT, Half>) parts |= kNarrowHalves | kSm75;
    if (kBothKMajor || kTf32) parts |= kLarge;
    if (kBothKMajor || !kFloat16<ElementT>) parts |= kSliced;
    return parts | (kBothKMajor || kFloat16<ElementT> ? kWgmma
                    : kTf32                           ? kTransposed
                                                      : kTransposedBytes);
  }
};
template <class ElementT, class Epilogue, class LayoutsT>
using GemmFamily = ProductsOf<GemmParts<ElementT, LayoutsT>::Parts(), ElementT, Epilogue, LayoutsT>;

// Products of an operand of 16-bit floats and a narrower one that is upcast to them.
template <class ElementA, class ElementB, class Epilogue, class LayoutsT>
struct MixedFamily {
  static_assert(kFloat16<ElementA> != kFloat16<ElementB>,
                "weft: MixedGemmFamily<A, B> takes weft::Half or weft::Bfloat16 and one narrower "
                "type; two of the same are HalfGemmFamily");
  static constexpr bool kNarrowA = kFloat16<ElementB>;
  using Element = std::conditional_t<kNarrowA, ElementB, ElementA>;
  using FromA = std::conditional_t<kNarrowA, Upcast<Element, ElementA>, NoLoad>;
  using FromB = std::conditional_t<kNarrowA, NoLoad, Upcast<Element, ElementB>>;
  template <class PolicyT>
  using Loaded = LoadedGemm<PolicyT, FromA, FromB>;
  static constexpr unsigned Parts() {
    using namespace product_families;  // NOLINT(build/namespaces)
    return kMixed | (kNarrowA ? kMixedA : 0) |
           (kUpcastsInRegisters<FromB>   ? kUpcastB
            : kUpcastsInRegisters<FromA> ? kUpcastA
                                         : 0);
  }
  using All = EachWith<Loaded, ProductsOf<Parts(), Element, Epilogue, LayoutsT>>;
};

// The parts of a family of complex numbers.
template <class ElementT, class Epilogue>
constexpr unsigned ComplexParts() {
  using namespace product_families;  // NOLINT(build/namespaces)
  if (std::is_same_v<ElementT, Complex<float>>) return kComplexFloat;
  return kComplexDouble | (Epilogue::kHasResidual ? 0 : kComplexSliced);
}

}  // namespace internal

// The families that Dispatch chooses from. The first policy of each takes any lda, ldb and n that
// fit 4-byte loads, so that its errors say what no policy accepts; the others need lda and ldb that
// are multiples of 16 bytes, and for a row-major C rows that consist of whole stores.
//
// Layouts are those of A, B and C, in this order; where they are left out, row-major, column-major
// and row-major.
//
// int8, on any GPU from sm_75 (docs/tiles.md has the number of policies of each family). Epilogue
// may end in ClampTo<std::int8_t>, ToFloat, ToSums<std::int32_t> and whatever else
// gemm/policy/gemm_policy.hpp says.
template <class Epilogue = epilogues::BiasRelu<>, class... Layouts>
using S8GemmFamily = internal::GemmFamily<std::int8_t, Epilogue, LayoutsOf<Layouts...>>;

// The same for uint8 A and int8 B.
template <class Epilogue = epilogues::BiasRelu<>, class... Layouts>
using U8GemmFamily = internal::GemmFamily<std::uint8_t, Epilogue, LayoutsOf<Layouts...>>;

// 16-bit floats with accumulators of float, on any GPU from sm_75 (halves) or sm_80 (bfloat16).
// Epilogue may end in RoundTo<Half>, RoundTo<Bfloat16>, ToFloat, ToSums<float> and others.
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class... Layouts>
using HalfGemmFamily = internal::GemmFamily<Half, Epilogue, LayoutsOf<Layouts...>>;

template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Bfloat16>>,
          class... Layouts>
using Bfloat16GemmFamily = internal::GemmFamily<Bfloat16, Epilogue, LayoutsOf<Layouts...>>;

// Halves with accumulators that are halves too, which some GPUs multiply at twice the rate. An
// accumulator has 11 significant bits and a magnitude of at most 65504, which suits a short k or
// small values. For any GPU from sm_80; the policies for Hopper keep accumulators of float
// (gemm/tile/config.hpp).
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class... Layouts>
using HalfSumGemmFamily =
    EachWith<HalfSumGemm, internal::ProductsOf<internal::product_families::kHalfSums, Half,
                                               Epilogue, LayoutsOf<Layouts...>>>;

// Products of 16-bit floats of which one operand is std::int8_t, std::uint8_t, Int4, Float8E4m3 or
// Float8E5m2 in memory and is upcast (gemm/policy/load_functor.hpp): MixedGemmFamily<Half, Int4>
// multiplies A of halves by B of int4, MixedGemmFamily<std::int8_t, Bfloat16> A of int8 by B of
// bfloat16. Accumulators are float. For any GPU from sm_80; with std::int8_t or Int4 the last
// policies are for Hopper, and need lda and ldb that are multiples of 16 bytes. Scales of columns
// belong to the epilogue.
template <class ElementA, class ElementB,
          class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class... Layouts>
using MixedGemmFamily =
    typename internal::MixedFamily<ElementA, ElementB, Epilogue, LayoutsOf<Layouts...>>::All;

// float, with one fma for each k, on any GPU from sm_75 (the first policy) or sm_80 (the others).
// Epilogue as for HalfGemmFamily.
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::ToFloat>,
          class... Layouts>
using FloatGemmFamily = internal::ProductsOf<internal::product_families::kFloat, float, Epilogue,
                                             LayoutsOf<Layouts...>>;

// double: one policy uses fma, on any GPU from sm_75; the others use tensor cores, from sm_80.
// Epilogue is Chain<[Residual<double>,] [Scale,] ToSums<double>>.
template <class Epilogue = epilogues::Chain<epilogues::ToSums<double>>, class... Layouts>
using DoubleGemmFamily = internal::ProductsOf<internal::product_families::kDouble, double, Epilogue,
                                              LayoutsOf<Layouts...>>;

// Complex<float> or Complex<double>. The first policy uses fma, on any GPU from sm_75, and takes
// any lda, ldb and ldc. The others are for GPUs from sm_80; for double they use tensor cores,
// except two with sliced k. Epilogue is Chain<[Residual<ElementT>,] [Scale,] ToSums<ElementT>>;
// alpha and gamma are ElementTs.
template <class ElementT, class Epilogue = epilogues::Chain<epilogues::ToSums<ElementT>>,
          class... Layouts>
using ComplexGemmFamily = internal::ProductsOf<internal::ComplexParts<ElementT, Epilogue>(),
                                               ElementT, Epilogue, LayoutsOf<Layouts...>>;

// 8-bit floats, on any GPU from sm_89. Accumulators have about 14 significant bits
// (arch/isa/wgmma.hpp). Epilogue as for HalfGemmFamily.
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class... Layouts>
using E4m3GemmFamily = internal::GemmFamily<Float8E4m3, Epilogue, LayoutsOf<Layouts...>>;
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class... Layouts>
using E5m2GemmFamily = internal::GemmFamily<Float8E5m2, Epilogue, LayoutsOf<Layouts...>>;

// tf32: floats of which the tensor cores read the upper 19 bits, on any GPU from sm_80.
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::ToFloat>,
          class... Layouts>
using Tf32GemmFamily = internal::GemmFamily<Tf32, Epilogue, LayoutsOf<Layouts...>>;

}  // namespace weft::gemm
