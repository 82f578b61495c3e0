#include "weft/rtc/values.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::rtc {
namespace {

// Puts the value where a member of this type is, if that can hold it.
template <class Type>
bool Put(double value, unsigned char* to) {
  Type number;
  if constexpr (std::is_integral_v<Type>) {
    const bool whole = value == std::floor(value);
    if (!whole || value < static_cast<double>((std::numeric_limits<Type>::min)()) ||
        value > static_cast<double>((std::numeric_limits<Type>::max)())) {
      return false;
    }
    // Of int64 the greatest double is one too many.
    if (sizeof(Type) == 8 && value >= 9223372036854775808.0) return false;
    number = static_cast<Type>(value);
  } else if constexpr (std::is_floating_point_v<Type>) {
    if (std::isfinite(value) &&
        std::fabs(value) > static_cast<double>((std::numeric_limits<Type>::max)())) {
      return false;
    }
    number = static_cast<Type>(value);
  } else {  // Half or Bfloat16
    float single = 0.0f;
    if (!Put<float>(value, reinterpret_cast<unsigned char*>(&single))) return false;
    number = Type::FromFloat(single);
    if (std::isfinite(single) && !std::isfinite(number.ToFloat())) return false;
  }
  std::memcpy(to, &number, sizeof number);
  return true;
}

template <class Type>
double Take(const unsigned char* from) {
  Type number;
  std::memcpy(&number, from, sizeof number);
  if constexpr (std::is_arithmetic_v<Type>) {
    return static_cast<double>(number);
  } else {
    return static_cast<double>(number.ToFloat());
  }
}

// Calls visit.operator()<Type>() for the type of numbers that the letter stands for (LetterOf).
template <class Visit>
auto OfLetter(char letter, const Visit& visit) {
  switch (letter) {
    case 'b':
      return visit.template operator()<std::int8_t>();
    case 'B':
      return visit.template operator()<std::uint8_t>();
    case 'i':
      return visit.template operator()<std::int32_t>();
    case 'u':
      return visit.template operator()<std::uint32_t>();
    case 'q':
      return visit.template operator()<std::int64_t>();
    case 'f':
      return visit.template operator()<float>();
    case 'd':
      return visit.template operator()<double>();
    case 'o':
      return visit.template operator()<bool>();
    case 'e':
      return visit.template operator()<Half>();
    default:
      return visit.template operator()<Bfloat16>();
  }
}

absl::Status NotA(const std::string& name, const ValueRecord& value, const char* wanted) {
  const char* const kind = value.letter == 'p'   ? "an address; give it by SetAddress"
                           : value.letter == '?' ? "of a type that cannot be set by name"
                           : value.count != 1    ? "an array, which cannot be set by name"
                                                 : "a number; give it by Set";
  return absl::InvalidArgumentError(absl::StrCat("rtc: ", name, " is not ", wanted, " but ", kind));
}

}  // namespace

Values::Values(Policy policy) : policy_(std::move(policy)) {
  for (int i = 0; i < kParts; ++i) {
    const std::string_view part = policy_.part(static_cast<Part>(i));
    parts_[i].resize((part.size() + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    std::memcpy(parts_[i].data(), part.data(), part.size());
  }
}

std::vector<std::string> Values::names() const {
  std::vector<std::string> names;
  for (const ValueRecord& value : policy_.values()) {
    if (value.owners > 0) names.emplace_back(value.name);
  }
  return names;
}

absl::StatusOr<const ValueRecord*> Values::Find(std::string_view name) const {
  for (const ValueRecord& value : policy_.values()) {
    if (std::string_view(value.name) != name || value.owners == 0) continue;
    if (value.owners == 1) return &value;
    return absl::InvalidArgumentError(absl::StrCat(
        "rtc: ", value.owners, " functors of the policy have a member ", std::string(name),
        "; name one with its functor, as Functor.", std::string(name), ", in options.values"));
  }
  const std::vector<std::string> known = names();
  return absl::InvalidArgumentError(absl::StrCat(
      "rtc: no functor of the policy has a member ", std::string(name), " that can be set; ",
      known.empty() ? "there is none, unless options.values names it"
                    : absl::StrCat("there are ", absl::StrJoin(known, ", "))));
}

unsigned char* Values::At(const ValueRecord& value) {
  return reinterpret_cast<unsigned char*>(parts_[static_cast<int>(value.part)].data()) +
         value.offset;
}

absl::Status Values::Set(std::string_view name, double number) {
  const absl::StatusOr<const ValueRecord*> value = Find(name);
  if (!value.ok()) return value.status();
  const ValueRecord& v = **value;
  if (v.letter == 'p' || v.letter == '?' || v.count != 1) return NotA(v.name, v, "a number");
  if (!OfLetter(v.letter, [&]<class Type>() { return Put<Type>(number, At(v)); })) {
    return absl::OutOfRangeError(
        absl::StrCat("rtc: ", v.name, "=", number,
                     " is no value that its type can hold; give an integer to an "
                     "integer, in its range"));
  }
  return absl::OkStatus();
}

absl::Status Values::SetAddress(std::string_view name, const void* address) {
  const absl::StatusOr<const ValueRecord*> value = Find(name);
  if (!value.ok()) return value.status();
  const ValueRecord& v = **value;
  if (v.letter != 'p' || v.count != 1) return NotA(v.name, v, "an address");
  std::memcpy(At(v), &address, sizeof address);
  return absl::OkStatus();
}

absl::StatusOr<double> Values::Get(std::string_view name) const {
  const absl::StatusOr<const ValueRecord*> value = Find(name);
  if (!value.ok()) return value.status();
  const ValueRecord& v = **value;
  if (v.letter == 'p' || v.letter == '?' || v.count != 1) return NotA(v.name, v, "a number");
  const auto* at = static_cast<const unsigned char*>(bytes(v.part)) + v.offset;
  return OfLetter(v.letter, [&]<class Type>() { return Take<Type>(at); });
}

}  // namespace weft::rtc
