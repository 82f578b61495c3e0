// The accumulator map of a mainloop: which outputs a thread holds in which registers, as
// thread-value layouts.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/algebra/layout.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::gemm {

using layouts::Ints;
using layouts::LayoutOf;
using layouts::Nest;

// What an epilogue asks of a map (epilogue_math.hpp): a thread holds kPixels rows i, and in each of
// them kGroups groups g of kChannels adjacent columns j.
template <class Mma>
concept AccumulatorMap = requires(arch::Thread t, const typename Mma::Accumulators& acc) {
  { Mma::kPixels } -> std::convertible_to<int>;
  { Mma::kGroups } -> std::convertible_to<int>;
  { Mma::kChannels } -> std::convertible_to<int>;
  { Mma::Pixel(t, 0) } -> std::same_as<int>;    // row i in the threadblock tile
  { Mma::Channel(t, 0) } -> std::same_as<int>;  // the first column of group g in it
  { Mma::Get(acc, 0, 0, 0) } -> std::same_as<typename Mma::Sum>;
};

inline namespace WEFT_BACKEND {

// The map that LayoutT states by layouts of layouts/:
//
//     ThreadRow, ThreadColumn    thread -> its first row, its first column
//     ValueRow                   i -> how many rows further
//     ValueColumn                (j, g) -> how many columns further
//     Register                   (i, (j, g)) -> the number of the accumulator
//
// Accumulators are an array Sum[kFragments][kRegisters] of a thread, numbered in the order of
// memory. An array of std::uint32_t holds two halves in each word, which an epilogue gets as floats.
template <class LayoutT>
struct LayoutMap {
  using Accumulators = typename LayoutT::Accumulators;
  using Register = std::remove_all_extents_t<Accumulators>;
  static constexpr bool kHalves = std::is_same_v<Register, std::uint32_t>;
  using Sum = std::conditional_t<kHalves, float, Register>;
  static constexpr int kPixels = layouts::Size(typename LayoutT::ValueRow());
  static constexpr int kChannels = layouts::Size<0>(typename LayoutT::ValueColumn());
  static constexpr int kGroups = layouts::Size<1>(typename LayoutT::ValueColumn());

  // The bits of a lane's number that ThreadColumn ignores: lanes that differ in these alone hold
  // the same columns.
  static constexpr int kSharingLanes = [] {
    int lanes = 0;
    for (int bit = 1; bit < 32; bit *= 2) {
      if (typename LayoutT::ThreadColumn()(bit) == 0) lanes |= bit;
    }
    return lanes;
  }();

  WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
    return typename LayoutT::ThreadRow()(t.tid()) + typename LayoutT::ValueRow()(i);
  }
  WEFT_DEVICE static int Channel(arch::Thread t, int g) {
    return typename LayoutT::ThreadColumn()(t.tid()) + typename LayoutT::ValueColumn()(0, g);
  }
  WEFT_DEVICE static Sum Get(const Accumulators& acc, int i, int g, int j) {
    const int r = typename LayoutT::Register()(i, layouts::MakeTuple(j, g));
    if constexpr (kHalves) {
      constexpr int kRegisters = 2 * sizeof(acc[0]) / sizeof(Register);
      const std::uint32_t word = acc[r / kRegisters][r % kRegisters / 2];
      return Half::FromBits(static_cast<std::uint16_t>(word >> (16 * (r % 2)))).ToFloat();
    } else {
      constexpr int kRegisters = sizeof(acc[0]) / sizeof(Register);
      return acc[r / kRegisters][r % kRegisters];
    }
  }
  // The accumulator that Get returns, as a reference to write through; not of halves.
  WEFT_DEVICE static Sum& At(Accumulators& acc, int i, int g, int j) {
    constexpr int kRegisters = sizeof(acc[0]) / sizeof(Sum);
    const int r = typename LayoutT::Register()(i, layouts::MakeTuple(j, g));
    return acc[r / kRegisters][r % kRegisters];
  }
};

}  // namespace WEFT_BACKEND

}  // namespace weft::gemm
