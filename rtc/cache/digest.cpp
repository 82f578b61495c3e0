#include "weft/rtc/cache/digest.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace weft::rtc {
namespace {

using Word = std::uint32_t;

constexpr bool IsPrime(int n) {
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

// The first 32 bits of the fraction of the square or the cube root of n: the largest number whose
// power, over 2^(32 * kPower), is not above n.
template <int kPower>
constexpr Word FractionOfRoot(int n) {
  using Wide = unsigned __int128;
  Wide root = 0;
  for (int bit = 36; bit >= 0; --bit) {
    const Wide next = root | Wide{1} << bit;
    // A cube of 37 bits has 111; with n it stays below 2^128.
    Wide power = next;
    for (int i = 1; i < kPower; ++i) power *= next;
    if (power <= static_cast<Wide>(n) << (32 * kPower)) root = next;
  }
  return static_cast<Word>(root);
}

struct Constants {
  std::array<Word, 8> start = {};
  std::array<Word, 64> round = {};
};

constexpr Constants MakeConstants() {
  Constants made;
  int count = 0;
  for (int n = 2; count < 64; ++n) {
    if (!IsPrime(n)) continue;
    if (count < 8) made.start[count] = FractionOfRoot<2>(n);
    made.round[count++] = FractionOfRoot<3>(n);
  }
  return made;
}
constexpr Constants kConstants = MakeConstants();
static_assert(kConstants.start[0] == 0x6a09e667 && kConstants.round[63] == 0xc67178f2);

void AddBlock(const unsigned char* block, std::array<Word, 8>* state) {
  Word w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = Word{block[4 * i]} << 24 | Word{block[4 * i + 1]} << 16 | Word{block[4 * i + 2]} << 8 |
           Word{block[4 * i + 3]};
  }
  for (int i = 16; i < 64; ++i) {
    const Word a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  std::array<Word, 8> s = *state;
  for (int i = 0; i < 64; ++i) {
    const Word sum1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    const Word choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const Word first = s[7] + sum1 + choice + kConstants.round[i] + w[i];
    const Word sum0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    const Word majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    s = {first + sum0 + majority, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
  }
  for (int i = 0; i < 8; ++i) (*state)[i] += s[i];
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  std::array<Word, 8> state = kConstants.start;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::size_t whole = bytes.size() / 64 * 64;
  for (std::size_t at = 0; at < whole; at += 64) AddBlock(data + at, &state);
  std::string tail(bytes.substr(whole));
  tail += '\x80';
  while (tail.size() % 64 != 56) tail += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) {
    tail += static_cast<char>(std::uint64_t{8} * bytes.size() >> shift);
  }
  for (std::size_t at = 0; at < tail.size(); at += 64) {
    AddBlock(reinterpret_cast<const unsigned char*>(tail.data()) + at, &state);
  }
  std::string text;
  for (const Word word : state) absl::StrAppend(&text, absl::Hex(word, absl::kZeroPad8));
  return text;
}

std::string Digest(absl::Span<const std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) {
    absl::StrAppend(&all, part.size(), ":", std::string(part));
  }
  return Sha256(all);
}

}  // namespace weft::rtc
