// Places: where each word of an operand lies in shared memory, as an offset in elements before the
// swizzle that is the sum of
//     OfLane(lane), OfGroup(group of threads)
//     Of(w, step)     word w, register w % kRegisters of fragment w / kRegisters, at a step of k
// kModes are the extents and strides of the modes of which lane, group, w and step consist.
#pragma once

#include "weft/layouts/algebra/swizzle.hpp"
#include "weft/layouts/register_tensor.hpp"

namespace weft::gemm {

namespace internal {

using NoSwizzle = layouts::Swizzle<0, 0, 0>;

// The Places of a static layout ((lane, groups), (element of a word, register, fragment), step) ->
// offset, which is a view's layout composed with the thread-value layout of a TiledMma
// (tiled_mma.hpp).
template <class LayoutT>
struct ViewPlaces {
  using Value = decltype(layouts::Get<1>(LayoutT()));
  using Element = decltype(layouts::Get<0>(Value()));
  using Register = decltype(layouts::Get<1>(Value()));
  using Fragment = decltype(layouts::Get<2>(Value()));
  using Lane = decltype(layouts::Get<0, 0>(LayoutT()));
  using Groups = decltype(layouts::Get<0, 1>(LayoutT()));
  using Step = decltype(layouts::Get<2>(LayoutT()));
  static constexpr int kLanes = layouts::Size(Lane());
  static constexpr int kElements = layouts::Size(Element());  // elements of a word
  static constexpr int kRegisters = layouts::Size(Register());
  static constexpr int kFragments = layouts::Size(Fragment());
  static constexpr int kSteps = layouts::Size(Step());
  static constexpr auto kModes = layouts::detail::FlatModesOf(LayoutT());

  static constexpr int OfLane(int lane) { return Lane()(lane); }
  static constexpr int OfGroup(int group) { return Groups()(group); }
  static constexpr int OfElement(int e) { return Element()(e); }
  static constexpr int Of(int w, int step) {
    return Register()(w % kRegisters) + Fragment()(w / kRegisters) + Step()(step);
  }
};

// The Places of a mainloop's stage, whose layout Unswizzled (mma_shared.hpp) is (row, byte of k) ->
// byte. OperandT is an atom's operand (OperandAOf, OperandBOf in mma_tile.hpp). The rows of a group
// of threads begin at Groups::Row(group), and its k is part Groups::Part(group) of Groups::kParts.
// It has the members of ViewPlaces, but computed with numbers instead of types, which compile
// faster: a program has many mainloops.
template <class OperandT, class Unswizzled, class Groups, int kFragmentsOf>
struct StagePlaces {
  using Tv = typename OperandT::Tv;
  static constexpr int kAtomRows = OperandT::kRows, kWords = OperandT::kWords;
  static constexpr int kWordBytes = OperandT::kWordBytes;
  using Row = decltype(layouts::Composition(
      layouts::LayoutOf<layouts::Ints<kAtomRows, kWords>, layouts::Ints<1, 0>>(), Tv()));
  using Word = decltype(layouts::Composition(
      layouts::LayoutOf<layouts::Ints<kAtomRows, kWords>, layouts::Ints<0, 1>>(), Tv()));
  static constexpr int kLanes = 32, kElements = kWordBytes, kRegisters = layouts::Size<1>(Tv());
  static constexpr int kFragments = kFragmentsOf;
  static constexpr int kSteps =
      layouts::Size<1>(Unswizzled()) / (kWords * kWordBytes * Groups::kParts);

  static constexpr int OfLane(int lane) {
    return Unswizzled()(Row()(lane, 0), kWordBytes * Word()(lane, 0));
  }
  static constexpr int OfGroup(int group) {
    return Unswizzled()(Groups::Row(group), Groups::Part(group) * (kSteps * kWords * kWordBytes));
  }
  static constexpr int OfElement(int e) { return e; }
  static constexpr int Of(int w, int step) {
    const int r = w % kRegisters;
    return Unswizzled()(Row()(0, r) + w / kRegisters * kAtomRows, kWordBytes * Word()(0, r)) +
           Unswizzled()(0, step * (kWords * kWordBytes));
  }

  struct Modes {
    static constexpr int kMost = 24;
    int kCount = 0;
    int extent[kMost] = {}, stride[kMost] = {};
    constexpr void Add(int place) { extent[kCount] = 2, stride[kCount++] = place; }
  };
  // One mode of extent 2 for each bit of an index.
  static constexpr Modes kModes = [] {
    Modes modes;
    for (int bit = 1; bit < kElements; bit *= 2) modes.Add(bit);
    for (int bit = 1; bit < kLanes; bit *= 2) modes.Add(OfLane(bit));
    for (int bit = 1; bit < Groups::kCount; bit *= 2) modes.Add(OfGroup(bit));
    for (int bit = 1; bit < kRegisters * kFragments; bit *= 2) modes.Add(Of(bit, 0));
    for (int bit = 1; bit < kSteps; bit *= 2) modes.Add(Of(0, bit));
    return modes;
  }();
};

// Whether the words of the first `threads` lanes always form one piece of adjacent memory, in
// order, that begins at a multiple of its size.
template <class Places>
constexpr bool HasPieces(int threads) {
  const int piece = threads * Places::kElements;
  int inside = 1;  // how many elements are less than a piece apart
  for (int i = 0; i < static_cast<int>(Places::kModes.kCount); ++i) {
    if (Places::kModes.stride[i] % piece != 0) inside *= static_cast<int>(Places::kModes.extent[i]);
  }
  bool in_order = inside == piece;
  for (int e = 0; e < Places::kElements; ++e) in_order = in_order && Places::OfElement(e) == e;
  for (int lane = 0; lane < threads; ++lane) {
    in_order = in_order && Places::OfLane(lane) == lane * Places::kElements;
  }
  return in_order;
}

// Whether ldmatrix can read the operand: 16 bytes of each row are adjacent, in the order of lanes.
template <class Places, class Sw, int kElementBytes>
constexpr bool FitsLdMatrix() {
  constexpr int kPiece = 16 / kElementBytes;
  if constexpr (Places::kLanes != 32 || Places::kElements * kElementBytes != 4) {
    return false;
  } else {
    return Sw()(kPiece - 1) == kPiece - 1 && HasPieces<Places>(4);
  }
}

}  // namespace internal

}  // namespace weft::gemm
