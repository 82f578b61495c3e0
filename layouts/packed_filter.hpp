// Filters that are known to be packed.
//
// Handing an unpacked filter to a kernel that expects a packed one gives wrong numbers and no
// error, the most common mistake with blocked formats. Here the packed filter is a type of its own,
// and only PackFilter, PackFilters and PackDepthwiseFilter make one, and conv::CondConv
// of others.
//
// A prologue (prologues/README.md) other than SharedFilter has a bank of filters. Which filter of
// it belongs to which output is the prologue's business, so the bank of one prologue is of another
// type than that of the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/formats.hpp"
#include "weft/layouts/packing.hpp"

namespace weft {

namespace prologues {
struct SharedFilter;  // prologues/prologues.hpp; here they only tell types apart
struct Depthwise;
}  // namespace prologues
namespace conv {
template <class PrologueP>
class CondConv;  // conv/condconv.hpp, whose kernels make packed filters of packed ones
}  // namespace conv

template <FilterFormat Format, class Type, class Prologue>
class PackedFilterBuffer;

namespace internal {
template <class Prologue>
inline constexpr bool kIsDepthwise = std::is_same_v<Prologue, prologues::Depthwise>;
}

// A packed filter somewhere in memory, or a bank of them one after the other: a pointer that knows
// its format, its prologue, the extents of one filter and how many there are. Does not own. A
// default-constructed one refers to nothing and is refused by every operator.
template <FilterFormat Format, class Type = std::int8_t, class PrologueT = prologues::SharedFilter>
class PackedFilter {
 public:
  using Prologue = PrologueT;
  PackedFilter() = default;

  template <class OtherType>
  PackedFilter(const OtherType*) {  // NOLINT(runtime/explicit): the sentence is the point
    static_assert(
        sizeof(OtherType) == 0,
        "weft: this filter is not packed; call weft::PackFilter<Format>(extents, values), "
        "or weft::PackFilters<Prologue, Format>(extents, count, values) for a bank, and "
        "pass its view() or, after a copy to the GPU, its At(device_pointer)");
  }

  template <FilterFormat OtherFormat, class OtherType, class OtherPrologue>
  PackedFilter(  // NOLINT(runtime/explicit): likewise
      const PackedFilter<OtherFormat, OtherType, OtherPrologue>&) {
    constexpr bool kSamePrologue = std::is_same_v<Prologue, OtherPrologue>;
    constexpr bool kShared = std::is_same_v<OtherPrologue, prologues::SharedFilter>;
    constexpr bool kDepthwise = internal::kIsDepthwise<Prologue>;
    static_assert(kSamePrologue || !kDepthwise,
                  "weft: this filter is not packed for a depthwise operator; call "
                  "weft::PackDepthwiseFilter(extents, values)");
    static_assert(kSamePrologue || kDepthwise || !kShared,
                  "weft: this is one filter, and the operator's prologue chooses from a bank of "
                  "them; pack it with weft::PackFilters<Prologue, Format>(extents, count, values)");
    static_assert(kSamePrologue || kDepthwise || kShared,
                  "weft: this bank of filters was packed for another prologue than the operator's; "
                  "pack it with weft::PackFilters<Prologue, Format>(extents, count, values), or "
                  "with weft::PackFilter for SharedFilter");
    static_assert(!kSamePrologue || sizeof(OtherType) == 0,
                  "weft: this filter is packed for another format (or element type) than the "
                  "policy's FilterLayout; call weft::PackFilter<FilterLayout>(extents, values)");
  }

  template <FilterFormat OtherFormat, class OtherType, class OtherPrologue>
  PackedFilter(  // NOLINT(runtime/explicit): likewise
      const PackedFilterBuffer<OtherFormat, OtherType, OtherPrologue>&) {
    static_assert(sizeof(OtherType) == 0,
                  "weft: args.filter is a PackedFilter, not the buffer that owns it; pass its "
                  "view() or, after a copy to the GPU, its At(device_pointer)");
  }

  // What holds the elements: Type, or for PackedInt4 bytes of two.
  using Stored = internal::Stored<Format, Type>;
  // The first filter; the others follow, each of Format::Size(extents()) elements.
  const Stored* data() const { return data_; }
  // Of all filters together.
  std::int64_t bytes() const {
    return internal::BytesOf<Format, Type>(count_ * Format::Size(extents_));
  }
  // Of one filter.
  const FilterExtents& extents() const { return extents_; }
  // Filters in the bank; 1 for SharedFilter.
  std::int64_t count() const { return count_; }
  // A number made of the values, the same wherever copies of them lie and in whichever format; 0: nobody
  // knows them, as of filters that kernels make. It tells what was made of other weights.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  friend class PackedFilterBuffer<Format, Type, Prologue>;
  template <class PrologueP>
  friend class conv::CondConv;
  PackedFilter(const FilterExtents& extents, std::int64_t count, const Stored* data,
               std::uint64_t fingerprint = 0)
      : extents_(extents), count_(count), data_(data), fingerprint_(fingerprint) {}

  FilterExtents extents_;
  std::int64_t count_ = 0;
  const Stored* data_ = nullptr;
  std::uint64_t fingerprint_ = 0;
};

// Owns a packed filter or a bank of them in host memory, 64-byte aligned.
template <FilterFormat Format, class Type = std::int8_t, class Prologue = prologues::SharedFilter>
class PackedFilterBuffer {
 public:
  using Stored = internal::Stored<Format, Type>;
  // The packed elements, count() times Format::Size(extents()) of them; bytes() is what to copy to
  // a GPU.
  const Stored* data() const { return data_.get(); }
  std::int64_t size() const { return count_ * Format::Size(extents_); }
  std::int64_t bytes() const { return internal::BytesOf<Format, Type>(size()); }
  // Of one filter.
  const FilterExtents& extents() const { return extents_; }
  // Filters in the bank; 1 for SharedFilter.
  std::int64_t count() const { return count_; }

  // The value at (k, c, r, s) of filter i < count().
  Type Value(std::int64_t i, std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) const {
    const std::int64_t offset = i * Format::Size(extents_) + Format::Offset(extents_, k, c, r, s);
    return internal::GetElement<Format, Type>(data(), offset);
  }

  // The filters in host memory, for RunOnCpu. Valid as long as this buffer.
  PackedFilter<Format, Type, Prologue> view() const { return At(data_.get()); }

  // The copy of these bytes that the caller made at `memory` (a GPU address, 16-byte aligned).
  PackedFilter<Format, Type, Prologue> At(const void* memory) const {
    return {extents_, count_, static_cast<const Stored*>(memory), fingerprint_};
  }

  // PackedFilter's.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  template <class PrologueP, FilterFormat To, FilterFormat From, class OtherType>
  friend absl::StatusOr<PackedFilterBuffer<To, OtherType, PrologueP>> PackFilters(
      const FilterExtents& extents, std::int64_t count, absl::Span<const OtherType> values);
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(Stored* p) const { ::operator delete(p, std::align_val_t{kAlignment}); }
  };

  // `size` zeros, or null if there is no memory for them.
  static Stored* Zeros(std::int64_t size) {
    std::int64_t bytes;
    if (__builtin_mul_overflow(size, std::int64_t{sizeof(Type)}, &bytes)) return nullptr;
    bytes = internal::BytesOf<Format, Type>(size);
    void* memory =
        ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{kAlignment}, std::nothrow);
    if (memory != nullptr) std::memset(memory, 0, static_cast<std::size_t>(bytes));
    return static_cast<Stored*>(memory);
  }

  // data() is null if there is no memory.
  PackedFilterBuffer(const FilterExtents& extents, std::int64_t count)
      : extents_(extents), count_(count), data_(Zeros(size())) {}

  FilterExtents extents_;
  std::int64_t count_ = 0;
  std::uint64_t fingerprint_ = 0;
  std::unique_ptr<Stored[], Free> data_;
};

// `values`, `count` filters of the given extents one after the other, each in format From, packed
// into a bank for `Prologue` whose filters have format To. Banks of the ready-made prologues are in
// the order of prologues/prologues.hpp: [N][K][C][R][S] for PerSample, [P][Q][K][C][R][S] for
// LocalFilter, [blocks of a column][blocks of a row][K][C][R][S] for LocalBlock, and
// [G][K/G][C/G][R][S] for Grouped, with FilterExtents{K/G, C/G, R, S}. The bank of a CondConv is
// [E][K][C][R][S], for Experts.
// InvalidArgument as for ConvertFilter, and if count is not positive (for SharedFilter: not 1);
// OutOfRange if To is a PackedInt4 and a value is below -8 or above 7; ResourceExhausted if there is
// not enough memory.
template <class Prologue, FilterFormat To, FilterFormat From = KCRS, class Type>
[[gnu::visibility("hidden")]] absl::StatusOr<PackedFilterBuffer<To, Type, Prologue>> PackFilters(
    const FilterExtents& extents, std::int64_t count, absl::Span<const Type> values) {
  constexpr bool kShared = std::is_same_v<Prologue, prologues::SharedFilter>;
  if (absl::Status s = internal::CheckBank(extents, count, kShared); !s.ok()) return s;
  const std::int64_t from = From::Size(extents), to = To::Size(extents);
  if (absl::Status s = internal::CheckSize(From::kName, count, from, values.size()); !s.ok()) {
    return s;
  }
  PackedFilterBuffer<To, Type, Prologue> packed(extents, count);
  if (packed.data() == nullptr)
    return internal::NoMemory(To::kName, packed.size(), internal::kElementBits<To, Type>);
  for (std::int64_t i = 0; i < count; ++i) {
    absl::Status s = internal::ConvertFilterInto<From, To>(
        extents, values.data() + i * from,
        packed.data_.get() + i * to / internal::kStoredElements<To>);
    if (!s.ok()) return s;
  }
  packed.fingerprint_ = internal::Fingerprint<From>(extents, count, values);
  return packed;
}

template <class Prologue, FilterFormat To, FilterFormat From = KCRS, class Type>
[[gnu::visibility("hidden")]] absl::StatusOr<PackedFilterBuffer<To, Type, Prologue>> PackFilters(
    const FilterExtents& extents, std::int64_t count, const std::vector<Type>& values) {
  return PackFilters<Prologue, To, From, Type>(extents, count, absl::MakeConstSpan(values));
}

// The one filter of SharedFilter, packed into format To (KCRS -> CxRSKx<4> and so on). Errors as
// above.
template <FilterFormat To, FilterFormat From = KCRS, class Type>
inline absl::StatusOr<PackedFilterBuffer<To, Type>> PackFilter(const FilterExtents& extents,
                                                               absl::Span<const Type> values) {
  return PackFilters<prologues::SharedFilter, To, From, Type>(extents, 1, values);
}

template <FilterFormat To, FilterFormat From = KCRS, class Type>
inline absl::StatusOr<PackedFilterBuffer<To, Type>> PackFilter(const FilterExtents& extents,
                                                               const std::vector<Type>& values) {
  return PackFilter<To, From, Type>(extents, absl::MakeConstSpan(values));
}

// The filter of a depthwise convolution: extents are {K, 1, R, S}, one filter of R x S for each of K
// output channels, in PyTorch's order [K][1][R][S] unless said otherwise. Errors as above, and
// InvalidArgument if extents.c is not 1.
template <FilterFormat From = KCRS, class Type>
inline absl::StatusOr<PackedFilterBuffer<KRSx4x4, Type, prologues::Depthwise>> PackDepthwiseFilter(
    const FilterExtents& extents, absl::Span<const Type> values) {
  if (absl::Status s = internal::CheckDepthwise(extents); !s.ok()) return s;
  return PackFilters<prologues::Depthwise, KRSx4x4, From, Type>(extents, 1, values);
}

template <FilterFormat From = KCRS, class Type>
inline absl::StatusOr<PackedFilterBuffer<KRSx4x4, Type, prologues::Depthwise>> PackDepthwiseFilter(
    const FilterExtents& extents, const std::vector<Type>& values) {
  return PackDepthwiseFilter<From, Type>(extents, absl::MakeConstSpan(values));
}

}  // namespace weft
