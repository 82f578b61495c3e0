#include "weft/rtc/cache/digest.hpp"

#include <cpuid.h>
#include <immintrin.h>

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

constexpr void AddBlock(const unsigned char* block, std::array<Word, 8>* state) {
  Word w[64] = {};
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

// The processor's own instructions are used where it has them, so that these lines run where no test does.
constexpr Word FirstWordOfAbc() {
  unsigned char block[64] = {'a', 'b', 'c', 0x80};
  block[63] = 24;
  std::array<Word, 8> state = kConstants.start;
  AddBlock(block, &state);
  return state[0];
}
static_assert(FirstWordOfAbc() == 0xba7816bf);

// The same with the instructions that the processor has for it, since files of models are long.
[[gnu::target("sha,sse4.1")]] void AddBlocksByProcessor(const unsigned char* data,
                                                        std::size_t count,
                                                        std::array<Word, 8>* state) {
  const auto words = [](Word a, Word b, Word c, Word d) {
    return _mm_set_epi32(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c),
                         static_cast<int>(d));
  };
  std::array<Word, 8>& s = *state;
  __m128i abef = words(s[0], s[1], s[4], s[5]), cdgh = words(s[2], s[3], s[6], s[7]);
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  for (; count > 0; --count, data += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];  // the next 16 words of the schedule
    for (int i = 0; i < 4; ++i) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 16 * i)),
                              big_endian);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {  // four rounds each
      const __m128i round =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(&kConstants.round[4 * i]));
      const __m128i sum = _mm_add_epi32(w[i % 4], round);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      const __m128i last = w[(i + 3) % 4];
      const __m128i between = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
      w[i % 4] = _mm_sha256msg2_epu32(
          _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]), between), last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  Word out[8];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), abef);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 4), cdgh);
  s = {out[3], out[2], out[7], out[6], out[1], out[0], out[5], out[4]};
}

bool ProcessorHasSha() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool sse41 = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0;
  return sse41 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

void AddBlocks(const unsigned char* data, std::size_t count, std::array<Word, 8>* state) {
  static const bool has_sha = ProcessorHasSha();
  if (has_sha) return AddBlocksByProcessor(data, count, state);
  for (std::size_t i = 0; i < count; ++i) AddBlock(data + 64 * i, state);
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  std::array<Word, 8> state = kConstants.start;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::size_t whole = bytes.size() / 64 * 64;
  AddBlocks(data, whole / 64, &state);
  std::string tail(bytes.substr(whole));
  tail += '\x80';
  while (tail.size() % 64 != 56) tail += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) {
    tail += static_cast<char>(std::uint64_t{8} * bytes.size() >> shift);
  }
  AddBlocks(reinterpret_cast<const unsigned char*>(tail.data()), tail.size() / 64, &state);
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
