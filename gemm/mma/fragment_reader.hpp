// Readers: how the threads of a product load one operand from shared memory into the registers of
// an atom (mma_atom.hpp). A Places type (fragment_places.hpp) says where each word lies.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mma/fragment_places.hpp"
#include "weft/layouts/algebra/swizzle.hpp"
#include "weft/layouts/register_tensor.hpp"

namespace weft::gemm {

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
  WEFT_DEVICE static void LoadWords(arch::Thread t, std::uint32_t address, Word (&words)[1]) {
    t.LdMatrixX1(words, address);
  }
  WEFT_DEVICE static void LoadWords(arch::Thread t, std::uint32_t address, Word (&words)[2]) {
    t.LdMatrixX2(words, address);
  }
  WEFT_DEVICE static void LoadWords(arch::Thread t, std::uint32_t address, Word (&words)[4]) {
    t.LdMatrixX4(words, address);
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
