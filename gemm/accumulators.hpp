// Which outputs a thread holds: the accumulator map of a mainloop, from thread-value layouts.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/float16.hpp"
#include "weft/layouts/layout.hpp"

namespace weft::gemm {

using layouts::Ints;
using layouts::LayoutOf;
using layouts::Nest;

// What an epilogue asks (epilogue_math.hpp): a thread holds kPixels rows i, and of each kGroups
// groups g of kChannels adjacent columns j.
template <class M>
concept AccumulatorMap = requires(arch::Thread t, const typename M::Accumulators& acc) {
  { M::kPixels } -> std::convertible_to<int>;
  { M::kGroups } -> std::convertible_to<int>;
  { M::kChannels } -> std::convertible_to<int>;
  { M::Pixel(t, 0) } -> std::same_as<int>;    // row i, within the threadblock tile
  { M::Channel(t, 0) } -> std::same_as<int>;  // the first column of group g, likewise
  { M::Get(acc, 0, 0, 0) } -> std::same_as<typename M::Sum>;
};

inline namespace WEFT_BACKEND {

// L states, as layouts of layouts/:
//     ThreadRow, ThreadColumn    thread -> its first row, its first column
//     ValueRow                   i -> how many rows further
//     ValueColumn                (j, g) -> how many columns further
//     Register                   (i, (j, g)) -> the number of the register that holds the sum
// Sum[kFragments][kRegisters] are a thread's accumulators, numbered through.
template <class L>
struct LayoutMap {
  using Accumulators = typename L::Accumulators;
  using Sum = std::remove_all_extents_t<Accumulators>;
  static constexpr int kPixels = layouts::Size(typename L::ValueRow());
  static constexpr int kChannels = layouts::Size<0>(typename L::ValueColumn());
  static constexpr int kGroups = layouts::Size<1>(typename L::ValueColumn());

  // The bits of a lane's number that its columns do not depend on.
  static constexpr int kSharingLanes = [] {
    int lanes = 0;
    for (int bit = 1; bit < 32; bit *= 2) {
      if (typename L::ThreadColumn()(bit) == 0) lanes |= bit;
    }
    return lanes;
  }();

  WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
    return typename L::ThreadRow()(t.tid()) + typename L::ValueRow()(i);
  }
  WEFT_DEVICE static int Channel(arch::Thread t, int g) {
    return typename L::ThreadColumn()(t.tid()) + typename L::ValueColumn()(0, g);
  }
  WEFT_DEVICE static Sum Get(const Accumulators& acc, int i, int g, int j) {
    constexpr int kRegisters = sizeof(acc[0]) / sizeof(Sum);
    const int r = typename L::Register()(i, layouts::MakeTuple(j, g));
    return acc[r / kRegisters][r % kRegisters];
  }
  // The same, to be changed.
  WEFT_DEVICE static Sum& At(Accumulators& acc, int i, int g, int j) {
    constexpr int kRegisters = sizeof(acc[0]) / sizeof(Sum);
    const int r = typename L::Register()(i, layouts::MakeTuple(j, g));
    return acc[r / kRegisters][r % kRegisters];
  }
};

// The same for sums that are halves, two to a word of L::Accumulators; an epilogue finds floats.
template <class L>
struct HalfSumMap : LayoutMap<L> {
  using Sum = float;
  WEFT_DEVICE static float Get(const typename L::Accumulators& acc, int i, int g, int j) {
    constexpr int kSums = 2 * sizeof(acc[0]) / sizeof(std::uint32_t);
    const int r = typename L::Register()(i, layouts::MakeTuple(j, g));
    const std::uint32_t word = acc[r / kSums][r % kSums / 2];
    return Half{static_cast<std::uint16_t>(word >> (16 * (r % 2)))}.ToFloat();
  }
};

}  // namespace WEFT_BACKEND

}  // namespace weft::gemm
