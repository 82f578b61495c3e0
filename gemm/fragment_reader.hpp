// How the threads of a product read one operand from shared memory into the registers of an atom.
//
// Places say where: a static layout ((lane, groups of threads), (element, register, fragment),
// step of k) -> offset of an element, before the swizzle: an operand's layout in shared memory
// composed with the thread-value layout of a TiledMma (tiled_mma.hpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/register_tensor.hpp"
#include "weft/layouts/swizzle.hpp"

namespace weft::gemm {

namespace internal {

using NoSwizzle = layouts::Swizzle<0, 0, 0>;

// Whether all strides of a layout are multiples of n.
template <layouts::IsLayout L>
constexpr bool StridesAreMultiples(L layout, int n) {
  const auto modes = layouts::detail::FlatModesOf(layout);
  for (std::size_t i = 0; i < modes.kCount; ++i) {
    if (modes.extent[i] != 1 && modes.stride[i] % n != 0) return false;
  }
  return true;
}

// Of whole words.
template <class Places>
struct WordPlaces {
  using Value = decltype(layouts::Get<1>(Places()));
  using Element = decltype(layouts::Get<0>(Value()));
  using Register = decltype(layouts::Get<1>(Value()));
  using Fragment = decltype(layouts::Get<2>(Value()));
  using Lane = decltype(layouts::Get<0, 0>(Places()));
  using Groups = decltype(layouts::Get<0, 1>(Places()));
  using Step = decltype(layouts::Get<2>(Places()));
  static constexpr int kElements = layouts::Size(Element());  // of a word
  static constexpr int kRegisters = layouts::Size(Register());
  static constexpr int kFragments = layouts::Size(Fragment());
  static constexpr int kSteps = layouts::Size(Step());

  // Whether pieces of so many elements, which the threads of `lanes` read, begin at multiples of
  // them.
  template <class Lanes>
  static constexpr bool WholePieces(int elements, Lanes lanes) {
    return StridesAreMultiples(lanes, elements) && StridesAreMultiples(Groups(), elements) &&
           StridesAreMultiples(Register(), elements) && StridesAreMultiples(Fragment(), elements) &&
           StridesAreMultiples(Step(), elements);
  }
  // Word w of fragments in a row, at `step`.
  static constexpr int Of(int w, int step) {
    return Register()(w % kRegisters) + Fragment()(w / kRegisters) + Step()(step);
  }
};

// Whether ldmatrix can read them: 16 bytes of each row lie together, in the order of lanes.
template <class Places, class Sw, int kElementBytes>
constexpr bool FitsLdMatrix() {
  using P = WordPlaces<Places>;
  using Lane = typename P::Lane;
  constexpr int kPiece = 16 / kElementBytes;
  if constexpr (layouts::Size(Lane()) != 32 || P::kElements * kElementBytes != 4) {
    return false;
  } else {
    using Row = decltype(layouts::Coalesce(
        layouts::MakeLayout(typename P::Element(), layouts::Get<0>(Lane()))));
    return std::is_same_v<Row, layouts::Layout<layouts::Int<kPiece>, layouts::Int<1>>> &&
           layouts::Size<0>(Lane()) == 4 && Sw()(kPiece - 1) == kPiece - 1 &&
           P::WholePieces(kPiece, layouts::Get<1>(Lane()));
  }
}

}  // namespace internal

inline namespace WEFT_BACKEND {

// By ldmatrix. Sw: the swizzle of offsets; Offset: of the view, in elements before the swizzle,
// known at compile time (Int) or not. kAligned: the operand begins at a multiple of 128 bytes in
// shared memory, which saves an addition; it always begins at one of 16.
template <class Places, class Sw, int kElementBytes, bool kAligned,
          class Offset = layouts::Int<0>>
class LdMatrixReader {
  using P = internal::WordPlaces<Places>;

 public:
  static constexpr int kRegisters = P::kRegisters, kFragments = P::kFragments, kSteps = P::kSteps;
  // Words of a lane that one ldmatrix brings, and the fragments that these are at least.
  static constexpr int kMatrices = kRegisters * kFragments % 4 == 0   ? 4
                                   : kRegisters * kFragments % 2 == 0 ? 2
                                                                      : 1;
  static constexpr int kAtOnce = kMatrices > kRegisters ? kMatrices / kRegisters : 1;
  using Word = std::uint32_t;

  static_assert(internal::FitsLdMatrix<Places, Sw, kElementBytes>());

  // address: of the operand in shared memory.
  WEFT_DEVICE LdMatrixReader(arch::Thread t, std::uint32_t address, Offset offset = {}) {
    const int lane = Rows()(t.lane() % (8 * kMatrices)) + typename P::Groups()(t.warp());
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

  // Fragments `first` to first + kCount - 1, both multiples of kAtOnce, of a step of k. `further`: bytes from
  // the reader's operand to another of the same layout, a multiple of 128.
  template <int kCount>
  WEFT_DEVICE void Load(arch::Thread t, std::uint32_t further, int step, int first,
                        Word (&fragments)[kCount][kRegisters]) const {
    static_assert(kCount * kRegisters % kMatrices == 0);
    WEFT_UNROLL
    for (int w = 0; w < kCount * kRegisters; w += kMatrices) {
      Word words[kMatrices];
      LoadWords(t, AddressOf(further, P::Of(first * kRegisters + w, step)), words);
      WEFT_UNROLL
      for (int e = 0; e < kMatrices; ++e) {
        fragments[(w + e) / kRegisters][(w + e) % kRegisters] = words[e];
      }
    }
  }

  // One fragment that one ldmatrix brings.
  WEFT_DEVICE void Load(arch::Thread t, std::uint32_t further, int step, int first,
                        Word (&fragment)[kRegisters]) const {
    static_assert(kRegisters == kMatrices);
    LoadWords(t, AddressOf(further, P::Of(first * kRegisters, step)), fragment);
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

  // Lane 8 i + j names row j of matrix i, which becomes word i of all lanes: the first word of lane
  // 4 j's word i.
  using Rows = decltype(layouts::Composition(
      layouts::Coalesce(layouts::MakeLayout(layouts::Get<1>(typename P::Lane()),
                                            typename P::Register(), typename P::Fragment())),
      layouts::Int<8 * kMatrices>()));

  // A swizzle is linear in bits: where offsets x and y have no bits in common, that of their sum is
  // the exclusive or of theirs; and offsets of whole kRepeat it leaves
  // alone. If a lane's part and the words' have nothing in common, the lane's is swizzled once.
  static constexpr int Low(int offset) { return offset & (Sw::kRepeat - 1); }
  static constexpr bool kApart = [] {
    if constexpr (!std::is_same_v<Offset, layouts::Int<0>>) return false;
    int lane_bits = 0, word_bits = 0, swizzled_bits = 0;
    for (int lane = 0; lane < 8 * kMatrices; ++lane) {
      for (int group = 0; group < layouts::Size(typename P::Groups()); ++group) {
        lane_bits |= Low(Rows()(lane) + typename P::Groups()(group));
      }
    }
    for (int w = 0; w < kRegisters * kFragments; w += kMatrices) {
      for (int step = 0; step < kSteps; ++step) {
        word_bits |= Low(P::Of(w, step));
        swizzled_bits |= Sw()(Low(P::Of(w, step))) * kElementBytes;
      }
    }
    return (lane_bits & word_bits) == 0 && swizzled_bits < 128;
  }();

  // Address and lane's part are one number.
  static constexpr bool kOne = kApart && (kAligned || std::is_same_v<Sw, internal::NoSwizzle>);

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

  std::uint32_t lane_;  // kApart: in bytes, swizzled; else in elements
  std::uint32_t address_ = 0;
};

// Word by word, or element by element where those of a word are apart.
template <class Places, class Sw, class Element, class WordT, class Offset = layouts::Int<0>>
class WordReader {
  using P = internal::WordPlaces<Places>;

 public:
  static constexpr int kRegisters = P::kRegisters, kFragments = P::kFragments, kSteps = P::kSteps;
  static constexpr int kAtOnce = 1;
  using Word = WordT;

  WEFT_DEVICE WordReader(arch::Thread t, const Element* data, Offset offset = {})
      : data_(data),
        at_(decltype(layouts::Get<0>(Places()))()(t.tid()) + static_cast<int>(offset)) {}

  template <int kCount>
  WEFT_DEVICE void Load(arch::Thread t, std::uint32_t, int step, int first,
                        Word (&fragments)[kCount][kRegisters]) const {
    WEFT_UNROLL
    for (int w = 0; w < kCount * kRegisters; ++w) {
      const int from = at_ + P::Of(first * kRegisters + w, step);
      Word& word = fragments[w / kRegisters][w % kRegisters];
      if constexpr (kWhole) {
        word = t.LoadShared(reinterpret_cast<const Word*>(data_ + Sw()(from)));
      } else {
        Element elements[P::kElements];
        WEFT_UNROLL
        for (int e = 0; e < P::kElements; ++e) {
          elements[e] = t.LoadShared(data_ + Sw()(from + typename P::Element()(e)));
        }
        memcpy(&word, elements, sizeof(word));
      }
    }
  }

 private:
  static constexpr bool kWhole = [] {
    using Lane = typename P::Lane;
    using Adjacent = layouts::Layout<layouts::Int<P::kElements>, layouts::Int<1>>;
    if (P::kElements == 1) return true;
    return std::is_same_v<decltype(layouts::Coalesce(typename P::Element())), Adjacent> &&
           Sw()(P::kElements - 1) == P::kElements - 1 && P::WholePieces(P::kElements, Lane());
  }();

  const Element* data_;
  std::int32_t at_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
