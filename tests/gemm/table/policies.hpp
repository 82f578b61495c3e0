// The words of operators.def. A policy is Of<Element, layouts, epilogue, tile>: layouts are those of A, B and C, R row-major
// and C column-major; an epilogue is one of those below; tiles are those of tests/gemm/policies.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tests/gemm/policies.hpp"

namespace weft::gemm::table {

struct RCR {
  using A = RowMajor;
  using B = ColumnMajor;
  using C = RowMajor;
};
struct RCC : RCR {
  using C = ColumnMajor;
};
struct RRR : RCR {
  using B = RowMajor;
};
struct RRC : RRR {
  using C = ColumnMajor;
};
struct CCR : RCR {
  using A = ColumnMajor;
};
struct CCC : CCR {
  using C = ColumnMajor;
};
struct CRR : CCR {
  using B = RowMajor;
};
struct CRC : CRR {
  using C = ColumnMajor;
};

// The sums as they are; scaled and added to C, in the sums' own type.
struct Sums {};
struct Update {};
struct Scaled {};
using ToInt8 = Chain<Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
using ToUint8 = Chain<Scale, Bias<>, Relu, ClampTo<std::uint8_t>>;
using AddedInt8 = Chain<Residual<std::int8_t>, Scale, Bias<>, ClampTo<std::int8_t>>;
using ToFloats = Chain<Residual<float>, Scale, Bias<>, Relu, ToFloat>;
using ToHalf = Chain<Scale, Bias<>, Relu, RoundTo<Half>>;
using ToBfloat16 = Chain<Scale, RoundTo<Bfloat16>>;
using AddedHalf = Chain<Residual<Half>, Scale, RoundTo<Half>>;
using BiasedSums = Chain<epilogues::SumBias, epilogues::ToAccumulator>;
using SumBiasToInt8 = Chain<epilogues::SumBias, Scale, Relu, ClampTo<std::int8_t>>;
using ReluOnSteps = epilogues::BiasActivation<Relu>;
using PRelu = epilogues::BiasPRelu<>;

// Where it is, in seven bits.
struct Place {
  constexpr float operator()(float, const epilogues::OutputCoord& at) const {
    return static_cast<float>((at.n * 29 + at.q * 5 + at.k + 64 * at.p) % 128);
  }
};
using Places = Chain<Scale, Place, ClampTo<std::int8_t>>;

template <class Epilogue, class SumType>
struct EpilogueOf {
  using type = Epilogue;
};
template <class SumType>
struct EpilogueOf<Sums, SumType> {
  using type = Chain<ToSums<SumType>>;
};
template <class SumType>
struct EpilogueOf<Update, SumType> {
  using type = Chain<Residual<SumType>, Scale, ToSums<SumType>>;
};
template <class SumType>
struct EpilogueOf<Scaled, SumType> {
  using type = Chain<Scale, ToSums<SumType>>;
};

template <class ElementT, class LayoutsT, class EpilogueT, class TileT>
struct Of {
  using Element = ElementT;
  using LayoutA = typename LayoutsT::A;
  using LayoutB = typename LayoutsT::B;
  using LayoutC = typename LayoutsT::C;
  using Epilogue = typename EpilogueOf<EpilogueT, typename SumOf<ElementT>::type>::type;
  static constexpr auto config = TileT::config;
};

// With sums that are halves, and with load functors.
template <class PolicyT>
struct SummedInHalf : PolicyT {
  using Sum = Half;
};
template <class LoadT, class PolicyT>
struct LoadingA : PolicyT {
  using LoadA = LoadT;
};
template <class LoadT, class PolicyT>
struct LoadingB : PolicyT {
  using LoadB = LoadT;
};
// An upcast to the policy's own elements.
template <class From, class PolicyT>
using UpcastA = LoadingA<Upcast<typename PolicyT::Element, From>, PolicyT>;
template <class From, class PolicyT>
using UpcastB = LoadingB<Upcast<typename PolicyT::Element, From>, PolicyT>;

// A zero point: not 0 where memory is.
template <class Element, class From>
struct LessZero {
  using Source = From;
  float zero = 0.0f;
  constexpr Element operator()(typename internal::LoadSource<From>::Value x) const {
    return Element::FromFloat(static_cast<float>(x) - zero);
  }
};

// Tiles that no other test has.
template <int src, int dst>
struct DoubleTile {  // 2 x 1 warps, several fragments each way
  static constexpr auto config = MmaSm80Config({64, 32, 16}, {32, 32, 16}, 3, {src, dst});
};
template <int src, int dst>
struct DoubleWideTile {  // more threads than rows of A, one group of k to a k tile, 4 stages
  static constexpr auto config = MmaSm80Config({32, 128, 8}, {16, 32, 8}, 4, {src, dst});
};
template <int src, int dst>
struct DoubleSlicedTile {  // two warps, each with two of the four steps of a k tile
  static constexpr auto config = MmaSm80Config({16, 32, 32}, {16, 32, 16}, 3, {src, dst});
};
template <int src, int dst>
struct ComplexMmaTile {
  static constexpr auto config = MmaSm80Config({32, 64, 8}, {32, 32, 8}, 3, {src, dst});
};
struct ComplexSlicedMmaTile {  // two warps, each with one of the two steps of a k tile
  static constexpr auto config = MmaSm80Config({16, 32, 16}, {16, 32, 8}, 3, 16);
};
struct ComplexFmaTile {
  static constexpr auto config = SimtConfig({64, 32, 8}, {32, 16, 8}, {4, 4, 1}, Alignment{16, 16});
};
struct HalfLargeTile {
  static constexpr auto config = kMmaHalf128x128;
};
// 64 x 64 sums to a warp, which floats have no registers for beside transposing loads.
struct HalfSumWarpTile {
  static constexpr auto config = MmaSm80Config({128, 128, 32}, {64, 64, 32}, 3, {16, 4});
};
struct Dp4aTile128x128 {
  static constexpr auto config =
      SimtConfig({128, 128, 32}, {64, 32, 32}, {8, 8, 4}, Alignment{16, 16});
};

}  // namespace weft::gemm::table
