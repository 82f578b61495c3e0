// Division of a non-negative 32-bit integer by a divisor fixed at launch, as one multiplication and
// one shift.
//
// Granlund and Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994,
// figure 4.1 with N = 32: with l = ceil(log2 d) and m = floor(2^32 (2^l - d) / d) + 1,
// n / d = (mulhi(m, n) + n) >> l. The sum fits 32 bits for n < 2^31.
#pragma once

#include <cstdint>

#include "weft/layouts/base/compiler.hpp"

namespace weft::gemm {

class FastDivmod {
 public:
  constexpr FastDivmod() = default;

  // divisor in [1, 2^31 - 1].
  explicit constexpr FastDivmod(std::int32_t divisor) : divisor_(divisor) {
    while ((std::int64_t{1} << shift_) < divisor) ++shift_;
    const std::uint64_t d = static_cast<std::uint64_t>(divisor);
    multiplier_ = static_cast<std::uint32_t>((((std::uint64_t{1} << shift_) - d) << 32) / d + 1);
  }

  constexpr std::int32_t divisor() const { return divisor_; }

  // n in [0, 2^31 - 1].
  constexpr std::int32_t Divide(std::int32_t n) const {
    const std::uint32_t u = static_cast<std::uint32_t>(n);
    const std::uint32_t high =
        static_cast<std::uint32_t>((static_cast<std::uint64_t>(multiplier_) * u) >> 32);
    return static_cast<std::int32_t>((high + u) >> shift_);
  }

  // Returns n / divisor and stores n % divisor.
  constexpr std::int32_t Divmod(std::int32_t n, std::int32_t& remainder) const {
    const std::int32_t quotient = Divide(n);
    remainder = n - quotient * divisor_;
    return quotient;
  }

 private:
  std::int32_t divisor_ = 1;
  std::uint32_t multiplier_ = 1;
  int shift_ = 0;
};

}  // namespace weft::gemm
