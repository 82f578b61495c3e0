// What a prologue is: which coordinates of the output the filter depends on.
//
// A convolution is a matrix product of pixels (rows) and output channels (columns). One product has
// one filter, so the coordinates that the filter depends on cannot be rows of one product: they
// enumerate a batch of products, and the other coordinates stay rows. A prologue names those
// coordinates and says which filter of a bank each batch uses:
//
//     struct FromBank {  // each image picks its filter
//       static constexpr weft::prologues::Depends kDepends{.image = true};
//       static constexpr const char* kName = "FromBank";
//       const std::int32_t* index = nullptr;  // N of them
//       constexpr std::int64_t Filter(const weft::prologues::BatchCoord& at) const {
//         return index[at.n];
//       }
//       static constexpr std::int64_t Filters(const weft::prologues::BatchExtents&) { return 0; }
//     };
//
// The ready-made prologues are in prologues/prologues.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/layouts/base/compiler.hpp"

namespace weft::prologues {

// The coordinates of the output that a filter depends on.
struct Depends {
  // The extent of a block that has the whole output's rows or columns, whatever their number:
  // {.block_h = 1, .block_w = Depends::kWhole} depends on the output row alone.
  static constexpr int kWhole = 0x7fffffff;

  bool image = false;  // n
  // The block of block_h x block_w output pixels that the pixel is in: both 0 if the filter does
  // not depend on the pixel, 1 x 1 if each pixel has a filter of its own. A block larger than the
  // output is cut to its size.
  int block_h = 0, block_w = 0;
  bool group = false;  // the channel group, one of problem.groups

  // Whether the block extents make sense: both positive, or both 0.
  constexpr bool IsValid() const {
    return (block_h > 0 && block_w > 0) || (block_h == 0 && block_w == 0);
  }
  constexpr bool OnPixel() const { return block_h > 0; }
};

// The number of batches along each coordinate; 1 along those that the filter does not depend on.
struct BatchExtents {
  std::int64_t n = 1;  // images
  std::int64_t p = 1;  // rows of blocks
  std::int64_t q = 1;  // blocks in a row
  std::int64_t g = 1;  // channel groups

  constexpr std::int64_t Count() const { return n * p * q * g; }

  friend constexpr bool operator==(const BatchExtents&, const BatchExtents&) = default;
};

// One batch. p and q count blocks; the coordinates that the filter does not depend on are 0.
struct BatchCoord {
  std::int32_t n = 0, p = 0, q = 0, g = 0;
  std::int64_t index = 0;  // ((n * P' + p) * Q' + q) * G + g, of the BatchExtents
};

// The batches of a convolution with n images, P x Q output pixels and `groups` channel groups. The
// last block of a row or column may be cut off by the image's edge.
constexpr BatchExtents BatchOf(const Depends& depends, std::int64_t n, std::int64_t out_h,
                               std::int64_t out_w, std::int64_t groups) {
  BatchExtents e;
  if (depends.image) e.n = n;
  if (depends.OnPixel()) {
    e.p = (out_h + depends.block_h - 1) / depends.block_h;
    e.q = (out_w + depends.block_w - 1) / depends.block_w;
  }
  if (depends.group) e.g = groups;
  return e;
}

namespace internal {

template <class Type>
concept HasPrologueMembers =
    requires(const Type& prologue, const BatchCoord& at, const BatchExtents& extents) {
      requires std::same_as<decltype(Type::kDepends), const Depends>;
      requires std::convertible_to<decltype(Type::kName), const char*>;
      { prologue.Filter(at) } -> std::integral;
      { Type::Filters(extents) } -> std::integral;
    };

// Filter and Filters give a constant only if they are constexpr. A prologue with members may read
// memory that exists only at run time, so Filter is tried only for prologues without members.
template <class Type>
concept ConstantFilters =
    requires { typename std::integral_constant<std::int64_t, Type::Filters(BatchExtents{})>; };
template <class Type>
concept ConstantFilter = !std::is_empty_v<Type> || requires {
  typename std::integral_constant<std::int64_t, Type{}.Filter(BatchCoord{})>;
};

}  // namespace internal

// kDepends: the coordinates. kName: for messages. Filter: which filter of the bank the batch uses,
// in [0, filters of the bank). Filters: how many filters the bank must hold; 0 means any number,
// because the user's own indices say which are used. Members that are not static are run-time
// values: an operator takes them as args.prologue and the kernel gets a copy, so pointers among
// them are GPU addresses for Run.
template <class Type>
concept Prologue = internal::HasPrologueMembers<Type> && std::is_trivially_copyable_v<Type> &&
                   std::default_initializable<Type>;

// Instantiating this type checks a prologue; each failure is one sentence.
template <class Type>
struct CheckedPrologue {
  static_assert(internal::HasPrologueMembers<Type>,
                "weft: a prologue needs `static constexpr weft::prologues::Depends kDepends`, "
                "`static constexpr const char* kName`, `constexpr std::int64_t Filter(const "
                "BatchCoord&) const` and `static constexpr std::int64_t Filters(const "
                "BatchExtents&)`; at least one is missing (see prologues/README.md)");
  static constexpr bool kValid = false;
};

template <class Type>
  requires(internal::HasPrologueMembers<Type>)
struct CheckedPrologue<Type> {
  static_assert(Type::kDepends.IsValid(),
                "weft: kDepends.block_h and block_w of a prologue are both positive, or both 0 if "
                "the filter does not depend on the pixel");
  static_assert(std::is_trivially_copyable_v<Type> && std::default_initializable<Type>,
                "weft: a prologue is copied to the GPU as bytes, so its members are numbers and "
                "pointers with defaults: it must be trivially copyable and default-constructible");
  static_assert(
      internal::ConstantFilters<Type>,
      "weft: Filters of a prologue must be constexpr, and defined for every BatchExtents");
  static_assert(internal::ConstantFilter<Type>,
                "weft: Filter of a prologue must be constexpr, or nvcc would compile it for the "
                "CPU only");
  static constexpr bool kValid = true;
};

}  // namespace weft::prologues
