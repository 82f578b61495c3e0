// What a user writes to define a matrix product: a policy struct.
//
//     struct MyGemm {
//       using Element = std::int8_t;                   // of A and B (of A alone: std::uint8_t)
//       using LayoutA = weft::layouts::RowMajor;       // m x k; each RowMajor or ColumnMajor
//       using LayoutB = weft::layouts::ColumnMajor;    // k x n
//       using LayoutC = weft::layouts::RowMajor;       // m x n
//       using Epilogue = weft::epilogues::BiasRelu<>;  // bias and scale per column n
//       static constexpr auto config = weft::gemm::kMma128x128;
//     };
//
//     Element         sums    config                        result
//     std::int8_t     int32   SimtConfig, MmaSm75Config,    exact
//                             MmaSm80Config,
//                             WgmmaSm90Config
//     std::uint8_t    int32   the same                      exact; B is of std::int8_t
//     float, double   same    SimtConfig, SimtAsyncConfig   one fma for each k, ascending
//     double          same    MmaSm80Config                 rounded while summing, as the GPU does
//     Complex<float>, same    SimtConfig, SimtAsyncConfig   one weft::MulAdd for each k, ascending
//     Complex<double>
//     Complex<double> same    MmaSm80Config                 rounded while summing, as the GPU does
//     Half, Bfloat16  float   MmaSm80Config,                rounded while summing, as the GPU does
//                             WgmmaSm90Config; of Half
//                             also MmaSm75Config
//     Half            Half    MmaSm80Config,                the same; `using Sum = weft::Half`
//                             WgmmaSm90Config
//     Float8E4m3,     float   MmaSm80Config (from sm_89     the same, with sums of about 14 bits
//     Float8E5m2              on), WgmmaSm90Config
//     Tf32            float   MmaSm80Config,                the same; A and B are floats, of which
//                             WgmmaSm90Config               the upper 19 bits are read
//
// Operands may hold 8- or 4-bit elements in memory that a load functor turns into Elements before
// they are multiplied: `using LoadB = ...` or LoadA, gemm/policy/load_functor.hpp. MmaSm80Config
// takes functors of A, B or both, WgmmaSm90Config one of them.
//
// The wgmma instruction takes 8-bit and tf32 operands K-major only, so wgmma_sm90 transposes those
// that are MN-major in shared memory (gemm/hopper/transposed_matrices.hpp); its k tiles are then
// 128 bytes of k.
//
// This header is all that a file of policies needs; it includes neither Abseil nor CUDA.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/policy/load_functor.hpp"
#include "weft/gemm/policy/matrix_params.hpp"
#include "weft/gemm/tile/config.hpp"
#include "weft/layouts/element/complex.hpp"
#include "weft/layouts/element/element_traits.hpp"
#include "weft/layouts/element/float8.hpp"
#include "weft/layouts/element/tf32.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::gemm {

template <class Element>
inline constexpr bool kFloat16 = std::is_same_v<Element, Half> || std::is_same_v<Element, Bfloat16>;
// The floating-point types, besides those of 16 bits, that only tensor cores multiply.
template <class Element>
inline constexpr bool kTensorFloat =
    std::is_same_v<Element, Float8E4m3> || std::is_same_v<Element, Float8E5m2> ||
    std::is_same_v<Element, Tf32>;

template <class Element>
inline constexpr bool kByte =
    std::is_same_v<Element, std::int8_t> || std::is_same_v<Element, std::uint8_t>;

// The type that A and B have in memory without a load functor: Tf32 is stored as float.
template <class Element>
using StoredElement = typename ElementTraits<Element>::InMemory;
// The type of B's elements: tensor cores multiply unsigned bytes of A by signed bytes of B.
template <class Element>
using ElementOfB = typename ElementTraits<Element>::OfB;

// The type that products of Elements are summed in; void for types that are not multiplied.
template <class Element>
struct SumOf {
  using type = typename ElementTraits<Element>::Sum;
};

// Whether A is K-major, and whether B is.
template <class PolicyT>
inline constexpr bool kKMajorA = std::is_same_v<typename PolicyT::LayoutA, layouts::RowMajor>;
template <class PolicyT>
inline constexpr bool kKMajorB = std::is_same_v<typename PolicyT::LayoutB, layouts::ColumnMajor>;
// Whether wgmma_sm90 transposes an operand in shared memory: one that is MN-major and whose
// elements are not of 16 bits (gemm/hopper/transposed_matrices.hpp).
template <class PolicyT>
inline constexpr bool kTransposed =
    !kFloat16<typename PolicyT::Element> && !(kKMajorA<PolicyT> && kKMajorB<PolicyT>);

// Operand A (kIsA) or B in memory. OperandElement: its type, for Int4 the byte that two elements
// share. kOperandBits: the bits of an element. kOperandAccess: the elements of one access, of which
// leading dimensions and strides are multiples. Without a load functor an access is
// config.alignment.src bytes. With one it has as many elements as that of an operand without one,
// but 4 bytes where the operand is MN-major, and 16 bytes for wgmma_sm90, which loads it by TMA.
template <class Element, class Load>
using OperandElement = typename internal::StoredOfLoad<StoredElement<Element>, Load>::Stored;
template <class PolicyT, bool kIsA>
inline constexpr int kOperandBits =
    internal::StoredOfLoad<StoredElement<typename PolicyT::Element>, LoadOf<PolicyT, kIsA>>::kBits;
template <class PolicyT, bool kIsA>
inline constexpr int kOperandAccess =
    !kLoads<LoadOf<PolicyT, kIsA>>
        ? PolicyT::config.alignment.src / static_cast<int>(sizeof(typename PolicyT::Element))
    : std::remove_cvref_t<decltype(PolicyT::config)>::kMainloop == Mainloop::kWgmmaSm90
        ? 128 / kOperandBits<PolicyT, kIsA>
    : !(kIsA ? kKMajorA<PolicyT> : kKMajorB<PolicyT>)
        ? 32 / kOperandBits<PolicyT, kIsA>
        : PolicyT::config.alignment.src / static_cast<int>(sizeof(typename PolicyT::Element));

namespace internal {

template <class Layout>
inline constexpr bool kIsMatrixLayout =
    std::is_same_v<Layout, layouts::RowMajor> || std::is_same_v<Layout, layouts::ColumnMajor>;

// Whether an epilogue's residual has C's layout, or there is none (Stage is void).
template <class Stage>
inline constexpr bool kResidualOfMatrix =
    std::is_same_v<typename Stage::Layout, epilogues::SameAsDst>;
template <>
inline constexpr bool kResidualOfMatrix<void> = true;

}  // namespace internal

// The products of PolicyT in groups, as in a mixture of experts: the m rows of A and C are sorted
// by group, and group g multiplies its rows by the g-th of problem.batch matrices B. The kernel
// reads how many rows each group has when it runs, from GemmArguments::group_offsets. A is
// row-major. A WgmmaSm90Config must have neither cluster split-K nor ping-pong.
template <class PolicyT>
struct Grouped : PolicyT {};
template <class PolicyT>
inline constexpr bool kGrouped = false;
template <class PolicyT>
inline constexpr bool kGrouped<Grouped<PolicyT>> = true;

// The products of PolicyT as a list, in one launch: each has its own m, n, k, leading dimensions,
// matrices, bias and scales (gemm/gemm_list.hpp). A WgmmaSm90Config must have neither cluster
// split-K nor ping-pong.
template <class PolicyT>
struct Listed : PolicyT {
  static_assert(!kGrouped<PolicyT>, "weft: Listed takes a policy of products, not a Grouped one");
};
template <class PolicyT>
inline constexpr bool kListed = false;
template <class PolicyT>
inline constexpr bool kListed<Listed<PolicyT>> = true;

template <class PolicyT>
concept MatrixPolicy = requires {
  typename PolicyT::LayoutA;
  typename PolicyT::LayoutB;
  typename PolicyT::LayoutC;
};

// The members that a GEMM policy must have. CheckedGemmPolicy names each one that is missing in one
// sentence.
template <class PolicyT>
concept HasGemmMembers = MatrixPolicy<PolicyT> && requires {
  typename PolicyT::Element;
  typename PolicyT::Epilogue;
  PolicyT::config;
};

namespace internal {

// What of a policy is right, each with all before it: nothing behind a mistake can be checked.
template <class PolicyT>
concept HasGemmConfig =
    HasGemmMembers<PolicyT> && Config<std::remove_cvref_t<decltype(PolicyT::config)>>;
template <class PolicyT>
concept HasGemmElement =
    HasGemmConfig<PolicyT> && !std::is_void_v<typename SumOf<typename PolicyT::Element>::type>;
template <class PolicyT>
concept HasGemmChain =
    HasGemmElement<PolicyT> && epilogues::IsChain<typename PolicyT::Epilogue>::value;
// A Chain that is wrong has said so itself.
template <class PolicyT>
concept HasSoundGemmChain = HasGemmChain<PolicyT> && PolicyT::Epilogue::kValid;

}  // namespace internal

// Instantiating this checks a GEMM policy; where kValid is false, what follows is a RefusedOperator
// (gemm/check/refused.hpp); the mainloop checks what the config's numbers must
// fulfil.
template <class PolicyT>
struct CheckedGemmPolicy {
  static_assert(
      requires { typename PolicyT::Element; },
      "weft: this GEMM policy has no type Element, such as std::int8_t or weft::Half");
  static_assert(
      requires { typename PolicyT::LayoutA; },
      "weft: this GEMM policy has no type LayoutA: weft::layouts::RowMajor or ColumnMajor");
  static_assert(
      requires { typename PolicyT::LayoutB; },
      "weft: this GEMM policy has no type LayoutB: weft::layouts::RowMajor or ColumnMajor");
  static_assert(
      requires { typename PolicyT::LayoutC; },
      "weft: this GEMM policy has no type LayoutC: weft::layouts::RowMajor or ColumnMajor");
  static_assert(
      requires { typename PolicyT::Epilogue; },
      "weft: this GEMM policy has no type Epilogue: a weft::epilogues::Chain<stages...>");
  static_assert(
      requires { PolicyT::config; },
      "weft: this GEMM policy has no `static constexpr auto config`, such as "
      "weft::gemm::kMma128x128");
  static_assert(!HasGemmMembers<PolicyT> || internal::HasGemmConfig<PolicyT>,
                "weft: a GEMM policy needs `static constexpr auto config`, a SimtConfig, "
                "SimtAsyncConfig, MmaSm75Config, MmaSm80Config or WgmmaSm90Config such as "
                "weft::gemm::kMma128x128");
  static_assert(!internal::HasGemmConfig<PolicyT> || internal::HasGemmElement<PolicyT>,
                "weft: a GEMM multiplies Element = std::int8_t, std::uint8_t, weft::Half, "
                "weft::Bfloat16, weft::Float8E4m3, weft::Float8E5m2, weft::Tf32, float, double, "
                "weft::Complex<float> or weft::Complex<double>");
  static_assert(!internal::HasGemmElement<PolicyT> || internal::HasGemmChain<PolicyT>,
                "weft: Epilogue is a weft::epilogues::Chain<stages...>");
  static constexpr bool kValid = false;
};

template <class PolicyT>
  requires(internal::HasSoundGemmChain<PolicyT>)
struct CheckedGemmPolicy<PolicyT> {
  using Element = typename PolicyT::Element;
  using Epilogue = typename PolicyT::Epilogue;
  using Sum = typename SumOf<Element>::type;
  static constexpr Mainloop kMainloop = std::remove_cvref_t<decltype(PolicyT::config)>::kMainloop;
  static constexpr bool kSimt = kMainloop == Mainloop::kSimt || kMainloop == Mainloop::kSimtAsync;
  static constexpr bool kFma = std::is_same_v<Element, float> || kOwnArithmetic<Element>;
  static constexpr bool kMmaDouble =
      std::is_same_v<Element, double> || std::is_same_v<Element, Complex<double>>;
  static constexpr bool kWgmma = kMainloop == Mainloop::kWgmmaSm90;
  static constexpr bool kMmaSm75 = kMainloop == Mainloop::kMmaSm75;
  // Whether the mainloop multiplies such elements, one condition for each sentence below.
  static constexpr bool kMmaSm75Element =
      !kMmaSm75 || kByte<Element> || std::is_same_v<Element, Half>;
  static constexpr bool kTensorFloatElement =
      !kTensorFloat<Element> || kWgmma || kMainloop == Mainloop::kMmaSm80;
  static constexpr bool kSimtElement = !kSimt || !kFloat16<Element>;  // these have no simt tile
  static constexpr bool kSimtAsyncElement = kMainloop != Mainloop::kSimtAsync || kFma;
  static constexpr bool kTensorCoreElement = kSimt || !kFma || (kMmaDouble && !kWgmma);
  static_assert(kMmaSm75Element,
                "weft: the mma_sm75 GEMM multiplies Element = std::int8_t, std::uint8_t or "
                "weft::Half, which tensor cores of sm_75 have");
  static_assert(kTensorFloatElement,
                "weft: a GEMM of weft::Float8E4m3, weft::Float8E5m2 or weft::Tf32 takes an "
                "MmaSm80Config or a WgmmaSm90Config");
  static_assert(CheckedLoad<LoadOf<PolicyT, true>, Element>::kValid &&
                CheckedLoad<LoadOf<PolicyT, false>, ElementOfB<Element>>::kValid);
  // wgmma_sm90 upcasts A in shared memory (gemm/hopper/upcast_matrix.hpp) or B in registers
  // (gemm/hopper/register_fragments.hpp), not both.
  static constexpr bool kWgmmaUpcastsA =
      kWgmma && kUpcastsInRegisters<LoadOf<PolicyT, true>> && !kLoads<LoadOf<PolicyT, false>>;
  static constexpr bool kWgmmaUpcastsB =
      kWgmma && !kLoads<LoadOf<PolicyT, true>> && kUpcastsInRegisters<LoadOf<PolicyT, false>>;
  static_assert((!kLoads<LoadOf<PolicyT, true>> && !kLoads<LoadOf<PolicyT, false>>) ||
                    kMainloop == Mainloop::kMmaSm80 || kWgmmaUpcastsA || kWgmmaUpcastsB,
                "weft: a GEMM with LoadA or LoadB takes an MmaSm80Config: elements change in "
                "registers, through which other mainloops' operands do not pass, but for a "
                "WgmmaSm90Config with one of them, Upcast<Half or Bfloat16, std::int8_t or Int4>");
  static_assert(
      kHalfSums<PolicyT>
          ? std::is_same_v<Element, Half> && (kMainloop == Mainloop::kMmaSm80 || kWgmma)
          : kNamesNoOtherSum<PolicyT, Sum>,
      "weft: Sum of a GEMM, where a policy has it, is weft::Half, of Element = weft::Half and an "
      "MmaSm80Config or WgmmaSm90Config, or the type that its Elements are summed in anyway");
  static_assert(
      kNamesNoOtherB<PolicyT, ElementOfB<Element>>,
      "weft: B of a GEMM has the elements that its Element is multiplied by: the same, or "
      "std::int8_t for std::uint8_t; leave ElementB out, or take a load functor LoadB");
  static_assert(!kWgmma || PolicyT::config.alignment.src == 16,
                "weft: config.alignment.src of wgmma_sm90 is 16");
  static_assert(
      kSimtElement,
      "weft: the simt GEMM multiplies Element = std::int8_t, std::uint8_t, float, double or "
      "weft::Complex; 16-bit floats take the mma_sm80 mainloop");
  static_assert(kSimtAsyncElement,
                "weft: the simt_async GEMM multiplies Element = float, double or weft::Complex");
  static_assert(kTensorCoreElement,
                "weft: tensor-core GEMMs multiply Element = std::int8_t, std::uint8_t, weft::Half, "
                "weft::Bfloat16 or, by mma_sm80, double or weft::Complex<double>; float and "
                "weft::Complex<float> take the simt mainloop, floats that may be read in part are "
                "weft::Tf32");
  static_assert(internal::kIsMatrixLayout<typename PolicyT::LayoutA> &&
                    internal::kIsMatrixLayout<typename PolicyT::LayoutB> &&
                    internal::kIsMatrixLayout<typename PolicyT::LayoutC>,
                "weft: LayoutA, LayoutB and LayoutC of a GEMM are weft::layouts::RowMajor or "
                "weft::layouts::ColumnMajor");
  static_assert(
      !kGrouped<PolicyT> || kKMajorA<PolicyT>,
      "weft: a Grouped GEMM takes a row-major A: its groups are rows, which begin anywhere");
  static_assert(
      internal::kResidualOfMatrix<typename Epilogue::ResidualStage>,
      "weft: the residual of a GEMM has C's layout: Residual<T>, without a tensor format");
  static_assert(!Epilogue::kHasCopy && !Epilogue::kHasRange && !Epilogue::kHasSums &&
                    !Epilogue::kHasPool,
                "weft: Copy, ChannelRange and ImageSums are stages of convolutions, of which a "
                "matrix product is one with R = S = 1, and MaxPool is one of a first layer");
  static_assert(!Epilogue::kZeroPoints,
                "weft: SourceZeroPoint and FilterZeroPoint are stages of convolutions, of which a "
                "matrix product is one with R = S = 1");
  static_assert(
      !kOwnArithmetic<Sum> || Epilogue::OutputStage::kOnlySums,
      "weft: the epilogue of a GEMM of doubles or complex numbers ends in ToSums of their "
      "type, with Scale and Residual of it before: other stages compute in float");
  static_assert((PolicyT::config.alignment.src == 4 || PolicyT::config.alignment.src == 8 ||
                 PolicyT::config.alignment.src == 16) &&
                    PolicyT::config.alignment.src >= static_cast<int>(sizeof(Element)),
                "weft: config.alignment.src of a GEMM is 4, 8 or 16 bytes, at least one element");
  static_assert(PolicyT::config.alignment.dst %
                            static_cast<int>(sizeof(typename Epilogue::Output)) ==
                        0 &&
                    (std::is_same_v<typename PolicyT::LayoutC, layouts::RowMajor> ||
                     PolicyT::config.alignment.dst == sizeof(typename Epilogue::Output)),
                "weft: config.alignment.dst must be whole elements, and one element for a "
                "column-major C");
  static constexpr bool kValid = kMmaSm75Element && kTensorFloatElement && kSimtElement &&
                                 kSimtAsyncElement && kTensorCoreElement;
};

}  // namespace weft::gemm
