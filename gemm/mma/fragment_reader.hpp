// Readers: how the threads of a product load one operand from shared memory into the registers of
// an atom (mma_atom.hpp).
//
// A Places type says where each word lies, as an offset in elements before the swizzle that is the
// sum of
//     OfLane(lane), OfGroup(group of threads)
//     Of(w, step)     word w, register w % kRegisters of fragment w / kRegisters, at a step of k
// kModes are the extents and strides of the modes of which lane, group, w and step consist.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
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

// The Places of a mainloop's stage, whose layout Lines (mma_shared.hpp) is (row, byte of k) ->
// byte. OperandT is an atom's operand (OperandAOf, OperandBOf in mma_tile.hpp). The rows of a group
// of threads begin at Groups::Row(group), and its k is part Groups::Part(group) of Groups::kParts.
// It has the members of ViewPlaces, but computed with numbers instead of types, which compile
// faster: a program has many mainloops.
template <class OperandT, class Lines, class Groups, int kFragmentsOf>
struct LinePlaces {
  using Tv = typename OperandT::Tv;
  static constexpr int kAtomRows = OperandT::kRows, kWords = OperandT::kWords;
  static constexpr int kWordBytes = OperandT::kWordBytes;
  using Row = decltype(layouts::Composition(
      layouts::LayoutOf<layouts::Ints<kAtomRows, kWords>, layouts::Ints<1, 0>>(), Tv()));
  using Word = decltype(layouts::Composition(
      layouts::LayoutOf<layouts::Ints<kAtomRows, kWords>, layouts::Ints<0, 1>>(), Tv()));
  static constexpr int kLanes = 32, kElements = kWordBytes, kRegisters = layouts::Size<1>(Tv());
  static constexpr int kFragments = kFragmentsOf;
  static constexpr int kSteps = layouts::Size<1>(Lines()) / (kWords * kWordBytes * Groups::kParts);

  static constexpr int OfLane(int lane) {
    return Lines()(Row()(lane, 0), kWordBytes * Word()(lane, 0));
  }
  static constexpr int OfGroup(int group) {
    return Lines()(Groups::Row(group), Groups::Part(group) * (kSteps * kWords * kWordBytes));
  }
  static constexpr int OfElement(int e) { return e; }
  static constexpr int Of(int w, int step) {
    const int r = w % kRegisters;
    return Lines()(Row()(0, r) + w / kRegisters * kAtomRows, kWordBytes * Word()(0, r)) +
           Lines()(0, step * (kWords * kWordBytes));
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

// An operand in shared memory, as readers see it: of ElementT, at offsets that SwizzleT swizzles,
// from a multiple of kAlignment_ bytes on.
template <class ElementT, class SwizzleT, int kAlignment_ = 16>
struct Stored {
  using Element = ElementT;
  using Swizzle = SwizzleT;
  static constexpr int kAlignment = kAlignment_;
};

inline namespace WEFT_BACKEND {

// Reads fragments by ldmatrix. StoredT: a Stored. Offset is where the view begins, in elements
// before the swizzle, known at compile time (Int) or not. Where the swizzled offsets of the
// operand's words stay below its alignment, address and lane share one register.
template <class Places, class StoredT, class Offset = layouts::Int<0>>
class LdMatrixReader {
  using Sw = typename StoredT::Swizzle;
  static constexpr int kElementBytes = sizeof(typename StoredT::Element);
  static constexpr int kAlignment = StoredT::kAlignment;

 public:
  static constexpr int kRegisters = Places::kRegisters, kFragments = Places::kFragments,
                       kSteps = Places::kSteps;
  // The words per lane that one ldmatrix loads, and how many fragments a Load takes at least.
  static constexpr int kMatrices = kRegisters * kFragments % 4 == 0   ? 4
                                   : kRegisters * kFragments % 2 == 0 ? 2
                                                                      : 1;
  static constexpr int kAtOnce = kMatrices > kRegisters ? kMatrices / kRegisters : 1;
  using Word = std::uint32_t;

  static_assert(internal::FitsLdMatrix<Places, Sw, kElementBytes>());

  // address: where the operand begins in shared memory.
  WEFT_DEVICE LdMatrixReader(arch::Thread t, std::uint32_t address, Offset offset = {}) {
    const int lane = LanePlace(t.lane() % (8 * kMatrices)) + Places::OfGroup(t.warp());
    if constexpr (kApart) {
      lane_ = static_cast<std::uint32_t>(Sw()(lane) * kElementBytes);
    } else {
      lane_ = static_cast<std::uint32_t>(lane + static_cast<int>(offset));
    }
    if constexpr (kOne) {
      lane_ += address;
    } else {
      address_ = address;
    }
  }

  // Loads fragments `first` to first + kCount - 1 of a step of k; first and kCount are multiples of
  // kAtOnce. `further`: bytes from the reader's operand to another of the same layout, for example
  // in another stage, a multiple of kAlignment.
  template <int kCount>
  WEFT_DEVICE void Load(arch::Thread t, std::uint32_t further, int step, int first,
                        Word (&fragments)[kCount][kRegisters]) const {
    static_assert(kCount * kRegisters % kMatrices == 0);
    WEFT_UNROLL
    for (int w = 0; w < kCount * kRegisters; w += kMatrices) {
      Word words[kMatrices];
      LoadWords(t, AddressOf(further, Places::Of(first * kRegisters + w, step)), words);
      WEFT_UNROLL
      for (int e = 0; e < kMatrices; ++e) {
        fragments[(w + e) / kRegisters][(w + e) % kRegisters] = words[e];
      }
    }
  }

  // Loads one fragment, by one ldmatrix.
  WEFT_DEVICE void Load(arch::Thread t, std::uint32_t further, int step, int first,
                        Word (&fragment)[kRegisters]) const {
    static_assert(kRegisters == kMatrices);
    LoadWords(t, AddressOf(further, Places::Of(first * kRegisters, step)), fragment);
  }

 private:
  WEFT_DEVICE static void LoadWords(arch::Thread t, std::uint32_t address,
                                    Word (&words)[kMatrices]) {
    if constexpr (kMatrices == 4) {
      t.LdMatrixX4(words, address);
    } else if constexpr (kMatrices == 2) {
      t.LdMatrixX2(words, address);
    } else {
      t.LdMatrixX1(words, address);
    }
  }

  // Lane 8 i + j gives ldmatrix the address of row j of matrix i. Matrix i becomes word i of all
  // lanes, and its row j begins with word i of lane 4 j.
  static constexpr int PlaceOf(int lane) {
    return Places::OfLane(lane % 8 * 4) + Places::Of(lane / 8, 0);
  }
  // PlaceOf for any lane, from bit kBit of its number on: successive bits whose places double take
  // one multiplication together.
  template <int kBit = 1>
  static constexpr int LanePlace(int lane) {
    constexpr int kEnd = [] {
      int end = 2 * kBit;
      while (end < 8 * kMatrices && PlaceOf(end) == end / kBit * PlaceOf(kBit)) end *= 2;
      return end;
    }();
    const int part = lane / kBit % (kEnd / kBit) * PlaceOf(kBit);
    if constexpr (kEnd < 8 * kMatrices) {
      return part + LanePlace<kEnd>(lane);
    } else {
      return part;
    }
  }

  // A swizzle is linear in bits: where offsets x and y have no bits in common, Sw(x + y) is Sw(x)
  // xor Sw(y); and multiples of kRepeat it leaves alone. So if no two modes of the places have bits
  // in common below kRepeat, the lane's part is swizzled once, in the constructor. kBits: the bits
  // that the modes use, or -1 if some of them overlap.
  static constexpr int Low(int offset) { return offset & (Sw::kRepeat - 1); }
  static constexpr int kBits = [] {
    int all = 0;
    for (int i = 0; i < static_cast<int>(Places::kModes.kCount); ++i) {
      const int stride = Low(static_cast<int>(Places::kModes.stride[i]));
      if (stride == 0 || Places::kModes.extent[i] == 1) continue;
      int bits = stride;
      for (int n = 2; n < Places::kModes.extent[i]; n *= 2) bits |= bits << 1;
      bits = Low(bits);
      if ((stride & (stride - 1)) != 0 || (all & bits) != 0) return -1;
      all |= bits;
    }
    return all;
  }();
  static constexpr bool kApart = kBits >= 0 && std::is_same_v<Offset, layouts::Int<0>>;
  // Whether address and lane's part are one number: no word's swizzled bits reach beyond the
  // alignment.
  static constexpr bool kOne = kApart && [] {
    int word_bits = 0;
    for (int w = 0; w < kRegisters * kFragments; w += kMatrices) word_bits |= Low(Places::Of(w, 0));
    for (int step = 0; step < kSteps; ++step) word_bits |= Low(Places::Of(0, step));
    int swizzled = 0;
    for (int bit = 1; bit < Sw::kRepeat; bit *= 2) {
      if (word_bits & bit) swizzled |= Sw()(bit) * kElementBytes;
    }
    return swizzled < kAlignment;
  }();

  WEFT_DEVICE std::uint32_t AddressOf(std::uint32_t further, int word) const {
    if constexpr (kApart) {
      const int low = Low(word);
      const auto swizzled = static_cast<std::uint32_t>(Sw()(low) * kElementBytes);
      const auto plain = static_cast<std::uint32_t>((word - low) * kElementBytes);
      if constexpr (kOne) {
        return ((lane_ + further) ^ swizzled) + plain;
      } else {
        return (lane_ ^ swizzled) + (address_ + further + plain);
      }
    } else {
      return address_ + further +
             static_cast<std::uint32_t>(Sw()(static_cast<int>(lane_) + word) * kElementBytes);
    }
  }

  std::uint32_t lane_;  // the lane's part: with kApart swizzled and in bytes; else in elements
  std::uint32_t address_ = 0;
};

// Reads fragments by ordinary loads: word by word, or element by element where the elements of a
// word are not adjacent. `further` is as in LdMatrixReader, but in elements.
template <class Places, class StoredT, class WordT, class Offset = layouts::Int<0>>
class WordReader {
  using Sw = typename StoredT::Swizzle;
  using Element = typename StoredT::Element;

 public:
  static constexpr int kRegisters = Places::kRegisters, kFragments = Places::kFragments,
                       kSteps = Places::kSteps;
  static constexpr int kAtOnce = 1;
  using Word = WordT;

  WEFT_DEVICE WordReader(arch::Thread t, const Element* data, Offset offset = {})
      : data_(data),
        at_(Places::OfLane(t.tid() % Places::kLanes) + Places::OfGroup(t.tid() / Places::kLanes) +
            static_cast<int>(offset)) {}

  template <int kCount>
  WEFT_DEVICE void Load(arch::Thread t, std::uint32_t further, int step, int first,
                        Word (&fragments)[kCount][kRegisters]) const {
    WEFT_UNROLL
    for (int e = 0; e < kCount; ++e) Load(t, further, step, first + e, fragments[e]);
  }
  WEFT_DEVICE void Load(arch::Thread t, std::uint32_t further, int step, int first,
                        Word (&fragment)[kRegisters]) const {
    const Element* const data = data_ + further;
    WEFT_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      const int from = at_ + Places::Of(first * kRegisters + r, step);
      if constexpr (kWhole) {
        fragment[r] = t.LoadShared(reinterpret_cast<const Word*>(data + Sw()(from)));
      } else {
        Element elements[Places::kElements];
        WEFT_UNROLL
        for (int e = 0; e < Places::kElements; ++e) {
          elements[e] = t.LoadShared(data + Sw()(from + Places::OfElement(e)));
        }
        memcpy(&fragment[r], elements, sizeof(fragment[r]));
      }
    }
  }

 private:
  static constexpr bool kWhole = [] {
    return Sw()(Places::kElements - 1) == Places::kElements - 1 && internal::HasPieces<Places>(1);
  }();

  const Element* data_;
  std::int32_t at_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
