// Copies between tensor formats, on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <type_traits>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/formats.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft {
namespace internal {

// InvalidArgument naming the first extent that is not positive, or all if they are too large
// together.
absl::Status CheckExtents(const TensorExtents& e);
absl::Status CheckExtents(const FilterExtents& e);

// InvalidArgument if the extents are not fine, if count is not positive (of the one filter of a
// SharedFilter: not 1), or if `count` of them are too large together.
absl::Status CheckBank(const FilterExtents& e, std::int64_t count, bool shared);

// InvalidArgument if the extents are not those of a depthwise filter.
absl::Status CheckDepthwise(const FilterExtents& e);

// InvalidArgument if `have` elements are not `count` times `one`, the elements of `format`.
absl::Status CheckSize(const char* format, std::int64_t count, std::int64_t one, std::size_t have);

// OutOfRange: the value at coordinates `at`, of one letter each, is none that `format` has.
absl::Status NoInt4(const char* format, int value, const char* letters,
                    const std::array<std::int64_t, 4>& at);

absl::Status NoMemory(const char* format, std::int64_t size, std::size_t element_bits);

// Whether there is memory for `count` elements of `bytes` bytes each at this moment.
bool HasMemory(std::size_t count, std::size_t bytes);

// Gives the vector `size` zeros. False if there is no memory for them, also where a program is compiled with
// -fno-exceptions.
template <class Type>
inline bool Resize(std::int64_t size, std::vector<Type>* values) {
  const auto count = static_cast<std::size_t>(size);
#if defined(__cpp_exceptions)
  try {
    values->resize(count);
  } catch (const std::exception&) {  // bad_alloc, or length_error
    return false;
  }
#else
  if (count > values->max_size() || !HasMemory(count, sizeof(Type))) return false;
  values->resize(count);
#endif
  return true;
}

// `size` zeros, the elements of `format`. ResourceExhausted where there is no memory for them: a
// blocked format may be a thousand times as large as a planar one.
template <class Type>
inline absl::StatusOr<std::vector<Type>> Zeros(const char* format, std::int64_t size) {
  std::vector<Type> zeros;
  if (!Resize(size, &zeros)) return NoMemory(format, size, 8 * sizeof(Type));
  return zeros;
}

// PackedFilter::fingerprint of `count` filters in format From: of the values that are not 0 and their places.
template <FilterFormat From, class Type>
inline std::uint64_t Fingerprint(const FilterExtents& e, std::int64_t count,
                                 absl::Span<const Type> values) {
  const auto mix = [](std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
  };
  const std::int64_t one = From::Size(e);
  std::uint64_t sum = 1, place = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t k = 0; k < e.k; ++k) {
      for (std::int64_t c = 0; c < e.c; ++c) {
        for (std::int64_t r = 0; r < e.r; ++r) {
          for (std::int64_t s = 0; s < e.s; ++s, ++place) {
            const Type value =
                values[static_cast<std::size_t>(i * one + From::Offset(e, k, c, r, s))];
            if (value == Type{}) continue;
            std::uint64_t bits = 0;
            static_assert(sizeof(Type) <= sizeof(bits));
            std::memcpy(&bits, &value, sizeof(Type));
            sum += mix(mix(place + 1) ^ bits);
          }
        }
      }
    }
  }
  return sum == 0 ? 1 : sum;
}

// The filter at `source` in format From, rewritten to `result`, To::Size(e) zeros, in format To.
// OutOfRange where To has no such value.
template <FilterFormat From, FilterFormat To, class Type>
inline absl::Status ConvertFilterInto(const FilterExtents& e, const Type* source,
                                      Stored<To, Type>* result) {
  static_assert(!kIsInt4<From>, "weft: packed filters of int4 are not converted further");
  for (std::int64_t k = 0; k < e.k; ++k) {
    for (std::int64_t c = 0; c < e.c; ++c) {
      for (std::int64_t r = 0; r < e.r; ++r) {
        for (std::int64_t s = 0; s < e.s; ++s) {
          const Type value = source[From::Offset(e, k, c, r, s)];
          if constexpr (kIsInt4<To>) {
            static_assert(std::is_same_v<Type, std::int8_t>,
                          "weft: PackedInt4 packs values of std::int8_t, from -8 to 7");
            if (!FitsInt4(value)) return NoInt4(To::kName, value, "kcrs", {k, c, r, s});
            SetInt4<To>(result, To::Offset(e, k, c, r, s), value);
          } else {
            result[To::Offset(e, k, c, r, s)] = value;
          }
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace internal

// `source`, an activation of extents `e` in format From, rewritten in format To. Surplus channels
// of To are zero; those of From are not read, whatever they hold. InvalidArgument if an extent is
// not positive or source.size() is not From::Size(e); ResourceExhausted if there is no memory for
// To. A vector or span of PairedInt4 has half as many elements, Type is int8 or uint8 there, and a value
// that is none of 4 bits is OutOfRange.
template <TensorFormat From, TensorFormat To, class Type>
inline absl::StatusOr<std::vector<Type>> ConvertTensor(const TensorExtents& e,
                                                       absl::Span<const Type> source) {
  if (absl::Status s = internal::CheckExtents(e); !s.ok()) return s;
  static_assert((!kIsInt4<From> && !kIsInt4<To>) || sizeof(Type) == 1,
                "weft: elements of PairedInt4 are std::int8_t or std::uint8_t");
  const std::int64_t size = internal::StoredSize<From>(From::Size(e));
  if (absl::Status s = internal::CheckSize(From::kName, 1, size, source.size()); !s.ok()) {
    return s;
  }
  absl::StatusOr<std::vector<Type>> zeros =
      internal::Zeros<Type>(To::kName, internal::StoredSize<To>(To::Size(e)));
  if (!zeros.ok()) return zeros;
  std::vector<Type>& result = *zeros;
  for (std::int64_t n = 0; n < e.n; ++n) {
    for (std::int64_t c = 0; c < e.c; ++c) {
      for (std::int64_t h = 0; h < e.h; ++h) {
        for (std::int64_t w = 0; w < e.w; ++w) {
          const std::int64_t from = From::Offset(e, n, c, h, w), to = To::Offset(e, n, c, h, w);
          const Type value = internal::GetElement<From, Type>(source.data(), from);
          if constexpr (kIsInt4<To>) {
            if (!internal::FitsInt4(value)) {
              return internal::NoInt4(To::kName, value, "nchw", {n, c, h, w});
            }
            internal::SetInt4<To>(result.data(), to, value);
          } else {
            result[to] = value;
          }
        }
      }
    }
  }
  return zeros;
}

// The same for a filter.
template <FilterFormat From, FilterFormat To, class Type>
inline absl::StatusOr<std::vector<Type>> ConvertFilter(const FilterExtents& e,
                                                       absl::Span<const Type> source) {
  static_assert(!kIsInt4<To>, "weft: filters of int4 are packed by weft::PackFilter<Format>");
  if (absl::Status s = internal::CheckExtents(e); !s.ok()) return s;
  if (absl::Status s = internal::CheckSize(From::kName, 1, From::Size(e), source.size()); !s.ok()) {
    return s;
  }
  absl::StatusOr<std::vector<Type>> result = internal::Zeros<Type>(To::kName, To::Size(e));
  if (!result.ok()) return result;
  absl::Status s = internal::ConvertFilterInto<From, To>(e, source.data(), result->data());
  if (!s.ok()) return s;
  return result;
}

template <TensorFormat From, TensorFormat To, class Type>
inline absl::StatusOr<std::vector<Type>> ConvertTensor(const TensorExtents& e,
                                                       const std::vector<Type>& source) {
  return ConvertTensor<From, To, Type>(e, absl::MakeConstSpan(source));
}

template <FilterFormat From, FilterFormat To, class Type>
inline absl::StatusOr<std::vector<Type>> ConvertFilter(const FilterExtents& e,
                                                       const std::vector<Type>& source) {
  return ConvertFilter<From, To, Type>(e, absl::MakeConstSpan(source));
}

}  // namespace weft
