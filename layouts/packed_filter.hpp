// Filters that are known to be packed.
//
// Handing an unpacked filter to a kernel that expects a packed one gives wrong numbers and no
// error, the most common mistake with blocked formats. Here the packed filter is a type of its own,
// and only PackFilter makes one.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weft/layouts/formats.hpp"
#include "weft/layouts/packing.hpp"

namespace weft {

template <FilterFormat Format, class T>
class PackedFilterBuffer;

// A packed filter somewhere in memory: a pointer that knows its format and extents. Does not own.
// A default-constructed one refers to nothing and is refused by every operator.
template <FilterFormat Format, class T = std::int8_t>
class PackedFilter {
 public:
  PackedFilter() = default;

  template <class U>
  PackedFilter(const U*) {  // NOLINT(runtime/explicit): the sentence is the point
    static_assert(sizeof(U) == 0,
                  "weft: this filter is not packed; call weft::PackFilter<Format>(extents, values) "
                  "and pass its view() or, after a copy to the GPU, its At(device_pointer)");
  }

  template <class Other, class U>
  requires(!std::is_same_v<PackedFilter<Other, U>, PackedFilter>)
      PackedFilter(const PackedFilter<Other, U>&) {  // NOLINT(runtime/explicit)
    static_assert(sizeof(U) == 0,
                  "weft: this filter is packed for another format (or element type) than the "
                  "policy's FilterLayout; call weft::PackFilter<FilterLayout>(extents, values)");
  }

  template <class Other, class U>
  PackedFilter(const PackedFilterBuffer<Other, U>&) {  // NOLINT(runtime/explicit)
    static_assert(sizeof(U) == 0,
                  "weft: args.filter is a PackedFilter, not the buffer that owns it; pass its "
                  "view() or, after a copy to the GPU, its At(device_pointer)");
  }

  const T* data() const { return data_; }
  const FilterExtents& extents() const { return extents_; }

 private:
  friend class PackedFilterBuffer<Format, T>;
  PackedFilter(const FilterExtents& extents, const T* data) : extents_(extents), data_(data) {}

  FilterExtents extents_;
  const T* data_ = nullptr;
};

// Owns a packed filter in host memory, 64-byte aligned.
template <FilterFormat Format, class T = std::int8_t>
class PackedFilterBuffer {
 public:
  // The packed elements, Format::Size(extents()) of them; bytes() is what to copy to a GPU.
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return Format::Size(extents_); }
  std::int64_t bytes() const { return size() * static_cast<std::int64_t>(sizeof(T)); }
  const FilterExtents& extents() const { return extents_; }

  // The filter in host memory, for RunOnCpu. Valid as long as this buffer.
  PackedFilter<Format, T> view() const { return {extents_, data_.get()}; }

  // The copy of this filter's bytes that the caller made at `memory` (a GPU address, 16-byte
  // aligned).
  PackedFilter<Format, T> At(const void* memory) const {
    return {extents_, static_cast<const T*>(memory)};
  }

 private:
  template <FilterFormat To, FilterFormat From, class U>
  friend absl::StatusOr<PackedFilterBuffer<To, U>> PackFilter(const FilterExtents& extents,
                                                              absl::Span<const U> values);
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(T* p) const { ::operator delete (p, std::align_val_t{kAlignment}); }
  };

  // Holds null if there is no memory.
  PackedFilterBuffer(const FilterExtents& extents, absl::Span<const T> packed)
      : extents_(extents),
        data_(static_cast<T*>(::operator new (packed.size() * sizeof(T),
                                              std::align_val_t{kAlignment}, std::nothrow))) {
    if (data_) std::memcpy(data_.get(), packed.data(), packed.size() * sizeof(T));
  }

  FilterExtents extents_;
  std::unique_ptr<T[], Free> data_;
};

// `values`, a filter of the given extents in format From, packed into format To (KCRS -> CxRSKx<4>
// and so on). InvalidArgument and ResourceExhausted as for ConvertFilter.
template <FilterFormat To, FilterFormat From = KCRS, class T>
absl::StatusOr<PackedFilterBuffer<To, T>> PackFilter(const FilterExtents& extents,
                                                     absl::Span<const T> values) {
  auto packed = ConvertFilter<From, To, T>(extents, values);
  if (!packed.ok()) return packed.status();
  PackedFilterBuffer<To, T> buffer(extents, *packed);
  if (buffer.data() == nullptr) {
    return internal::NoMemory(To::kName, To::Size(extents), sizeof(T));
  }
  return buffer;
}

template <FilterFormat To, FilterFormat From = KCRS, class T>
absl::StatusOr<PackedFilterBuffer<To, T>> PackFilter(const FilterExtents& extents,
                                                     const std::vector<T>& values) {
  return PackFilter<To, From, T>(extents, absl::MakeConstSpan(values));
}

}  // namespace weft
