#include "weft/layouts/packing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <string>

namespace weft::internal {
namespace {

absl::Status NotPositive(const char* field, std::int64_t value) {
  return absl::InvalidArgumentError(
      absl::StrCat("layouts: extents.", field, "=", value, " is not positive; give 1 or more"));
}

// Whether the product of the extents, the first two rounded up to the largest interleave, and of
// `size` is a number that offsets can have.
bool Fits(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t size = 1) {
  constexpr std::int64_t kLargestInterleave =
      *std::max_element(std::begin(kBlocks), std::end(kBlocks));
  for (const std::int64_t padding : {a, b}) {
    std::int64_t padded;
    if (__builtin_add_overflow(padding, kLargestInterleave - 1, &padded)) return false;
    if (__builtin_mul_overflow(size, padded, &size)) return false;
  }
  return !__builtin_mul_overflow(size, c, &size) && !__builtin_mul_overflow(size, d, &size);
}

}  // namespace

absl::Status CheckExtents(const TensorExtents& e) {
  if (e.n < 1) return NotPositive("n", e.n);
  if (e.c < 1) return NotPositive("c", e.c);
  if (e.h < 1) return NotPositive("h", e.h);
  if (e.w < 1) return NotPositive("w", e.w);
  if (!Fits(e.n, e.c, e.h, e.w)) {
    return absl::InvalidArgumentError(
        absl::StrCat("layouts: extents n=", e.n, " c=", e.c, " h=", e.h, " w=", e.w,
                     " have more elements than a 64-bit offset reaches; give smaller extents"));
  }
  return absl::OkStatus();
}

absl::Status CheckExtents(const FilterExtents& e) {
  if (e.k < 1) return NotPositive("k", e.k);
  if (e.c < 1) return NotPositive("c", e.c);
  if (e.r < 1) return NotPositive("r", e.r);
  if (e.s < 1) return NotPositive("s", e.s);
  if (!Fits(e.k, e.c, e.r, e.s)) {
    return absl::InvalidArgumentError(
        absl::StrCat("layouts: extents k=", e.k, " c=", e.c, " r=", e.r, " s=", e.s,
                     " have more elements than a 64-bit offset reaches; give smaller extents"));
  }
  return absl::OkStatus();
}

absl::Status CheckBank(const FilterExtents& e, std::int64_t count, bool shared) {
  if (absl::Status s = CheckExtents(e); !s.ok()) return s;
  if (shared && count != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("layouts: count=", count,
                     " filters for the prologue SharedFilter, which has 1; name the operator's "
                     "prologue in PackFilters<Prologue, Format>"));
  }
  if (count < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("layouts: count=", count, " is not positive; give 1 filter or more"));
  }
  if (!Fits(e.k, e.c, e.r, e.s, count)) {
    return absl::InvalidArgumentError(
        absl::StrCat("layouts: count=", count, " filters of k=", e.k, " c=", e.c, " r=", e.r,
                     " s=", e.s, " have more elements than a 64-bit offset reaches; give fewer"));
  }
  return absl::OkStatus();
}

absl::Status CheckDepthwise(const FilterExtents& e) {
  if (e.c == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "layouts: extents.c=", e.c, " of a depthwise filter is not 1, the input channels ",
      "that an output channel sees; give {K, 1, R, S}"));
}

absl::Status CheckSize(const char* format, std::int64_t count, std::int64_t one, std::size_t have) {
  if (static_cast<std::int64_t>(have) == count * one) return absl::OkStatus();
  const std::string elements =
      count == 1 ? absl::StrCat("the elements of ", format)
                 : absl::StrCat("the elements of ", count, " filters in ", format);
  return absl::InvalidArgumentError(absl::StrCat("layouts: source.size()=", have, " is not ",
                                                 count * one, ", ", elements,
                                                 " with these extents"));
}

absl::Status NoInt4(const char* format, int value, const char* letters,
                    const std::array<std::int64_t, 4>& at) {
  std::string place;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&place, " ", std::string(1, letters[i]), "=", at[i]);
  return absl::OutOfRangeError(
      absl::StrCat("layouts: the value ", value, " at", place, " has more than the 4 bits of ",
                   format, "; quantise to -8 to 7 (of uint8, 0 to 15), or take a format of bytes"));
}

bool HasMemory(std::size_t count, std::size_t bytes) {
  std::size_t size;
  if (__builtin_mul_overflow(count, bytes, &size)) return false;
  void* volatile memory =
      ::operator new(size, std::nothrow);  // volatile: a compiler may leave such a pair out
  ::operator delete(memory);
  return memory != nullptr;
}

absl::Status NoMemory(const char* format, std::int64_t size, std::size_t element_bits) {
  return absl::ResourceExhaustedError(
      absl::StrCat("layouts: ", format, " has ", size, " elements of ",
                   element_bits % 8 == 0 ? element_bits / 8 : element_bits,
                   element_bits % 8 == 0 ? " bytes" : " bits",
                   " with these extents, more than there is memory for; give smaller extents "
                   "or another format"));
}

}  // namespace weft::internal
