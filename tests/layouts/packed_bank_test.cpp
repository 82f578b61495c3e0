// Banks of filters: what lies where, types that cannot be confused, refusals by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/layouts/packed_filter.hpp"
#include "weft/prologues/prologues.hpp"

#if defined(__SANITIZE_ADDRESS__)
// Memory that there is not is a result here, not the end of the program.
extern "C" const char* __asan_default_options();  // NOLINT: the sanitizer's name
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

namespace weft {
namespace {

using prologues::Grouped;
using prologues::LocalBlock;
using prologues::LocalFilter;
using prologues::PerSample;
using prologues::SharedFilter;
using testing::HasSubstr;

std::vector<std::int8_t> Values(std::int64_t size) {
  std::mt19937 engine(5);
  std::vector<std::int8_t> values(size);
  for (auto& v : values) v = static_cast<std::int8_t>(1 + engine() % 127);
  return values;
}

std::string Message(const absl::Status& s, absl::StatusCode code) {
  EXPECT_EQ(s.code(), code) << s;
  return std::string(s.message());
}

template <class Prologue, class Format>
void ExpectBank(const FilterExtents& e, std::int64_t count) {
  SCOPED_TRACE(std::string(Prologue::kName) + " " + Format::kName);
  const std::int64_t one = e.k * e.c * e.r * e.s;
  const std::vector<std::int8_t> values = Values(count * one);
  const auto bank = PackFilters<Prologue, Format>(e, count, values);
  ASSERT_TRUE(bank.ok()) << bank.status();
  EXPECT_EQ(bank->count(), count);
  EXPECT_TRUE(bank->extents() == e);
  EXPECT_EQ(bank->size(), count * Format::Size(e));
  EXPECT_EQ(bank->bytes(), bank->size());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bank->data()) % 64, 0u);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto filter = PackFilter<Format>(e, absl::MakeConstSpan(values).subspan(i * one, one));
    ASSERT_TRUE(filter.ok()) << filter.status();
    const std::int8_t* packed = bank->data() + i * Format::Size(e);
    EXPECT_EQ(std::vector<std::int8_t>(packed, packed + Format::Size(e)),
              std::vector<std::int8_t>(filter->data(), filter->data() + filter->size()))
        << "filter " << i;
  }
  const auto view = bank->view();
  EXPECT_EQ(view.data(), bank->data());
  EXPECT_EQ(view.count(), count);
  EXPECT_TRUE(view.extents() == e);
  const auto copy = bank->At(values.data());
  EXPECT_EQ(copy.data(), values.data());
  EXPECT_EQ(copy.count(), count);
  EXPECT_TRUE(copy.extents() == e);
}

TEST(PackFilters, IsPackFilterOneAfterTheOther) {
  const FilterExtents e{.k = 5, .c = 7, .r = 3, .s = 2};
  ExpectBank<PerSample, CxRSKx<4>>(e, 3);
  ExpectBank<PerSample, CxRSKx<32>>(e, 2);
  ExpectBank<PerSample, KRSC>(e, 4);
  ExpectBank<LocalFilter, CxRSKx<4>>(e, 12);
  ExpectBank<LocalBlock<2, 2>, CxRSKx<32>>(e, 6);
  ExpectBank<Grouped, CxRSKx<4>>(e, 2);
  ExpectBank<SharedFilter, CxRSKx<4>>(e, 1);
}

// By hand: PyTorch's grouped filter [K][C/G][R][S] = [4][1][1][1] of 2 groups: group 0 has channels
// 0 and 1, group 1 has 2 and 3.
TEST(PackFilters, GroupedTakesPyTorchsFilter) {
  const std::vector<std::int8_t> values = {1, 2, 3, 4};
  const auto bank = PackFilters<Grouped, CxRSKx<4>>({.k = 2, .c = 1, .r = 1, .s = 1}, 2, values);
  ASSERT_TRUE(bank.ok()) << bank.status();
  EXPECT_EQ(std::vector<std::int8_t>(bank->data(), bank->data() + bank->size()),
            (std::vector<std::int8_t>{1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                      3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

// Between any two filter formats, and elements of other types.
TEST(PackFilters, TakesOtherFormatsAndTypes) {
  const FilterExtents e{.k = 2, .c = 1, .r = 1, .s = 2};
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};  // [2][K][R][S][C]
  const auto bank = PackFilters<PerSample, KCRS, KRSC>(e, 2, values);
  ASSERT_TRUE(bank.ok()) << bank.status();
  EXPECT_EQ(bank->bytes(), 32);
  EXPECT_EQ(std::vector<float>(bank->data(), bank->data() + bank->size()), values);
}

TEST(PackFilters, TypesKeepPrologueFormatAndElementApart) {
  using Bank = PackedFilter<CxRSKx<4>, std::int8_t, PerSample>;
  static_assert(!std::is_same_v<Bank, PackedFilter<CxRSKx<4>>>);
  static_assert(!std::is_same_v<Bank, PackedFilter<CxRSKx<4>, std::int8_t, LocalFilter>>);
  static_assert(!std::is_same_v<PackedFilter<CxRSKx<4>, std::int8_t, LocalFilter>,
                                PackedFilter<CxRSKx<4>, std::int8_t, LocalBlock<1, 1>>>);
  static_assert(
      std::is_same_v<PackedFilter<CxRSKx<4>>, PackedFilter<CxRSKx<4>, std::int8_t, SharedFilter>>);
  const Bank nothing;
  EXPECT_EQ(nothing.data(), nullptr);
  EXPECT_EQ(nothing.count(), 0);
}

TEST(PackFilters, RefusesWrongCountsByName) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const FilterExtents e{.k = 2, .c = 3, .r = 1, .s = 1};
  const std::vector<std::int8_t> values(12);
  EXPECT_EQ(Message(PackFilters<PerSample, CxRSKx<4>>(e, 0, values).status(), kInvalid),
            "layouts: count=0 is not positive; give 1 filter or more");
  EXPECT_EQ(Message(PackFilters<PerSample, CxRSKx<4>>(e, -2, values).status(), kInvalid),
            "layouts: count=-2 is not positive; give 1 filter or more");
  EXPECT_EQ(Message(PackFilters<PerSample, CxRSKx<4>>(e, 3, values).status(), kInvalid),
            "layouts: source.size()=12 is not 18, the elements of 3 filters in KCRS with these "
            "extents");
  EXPECT_EQ(Message(PackFilters<SharedFilter, CxRSKx<4>>(e, 2, values).status(), kInvalid),
            "layouts: count=2 filters for the prologue SharedFilter, which has 1; name the "
            "operator's prologue in PackFilters<Prologue, Format>");
  EXPECT_EQ(Message(PackFilters<PerSample, CxRSKx<4>>({2, 0, 1, 1}, 2, values).status(), kInvalid),
            "layouts: extents.c=0 is not positive; give 1 or more");
}

// Numbers that must not wrap around to a size that happens to fit.
TEST(PackFilters, RefusesCountsThatOverflow) {
  const FilterExtents e{.k = 1, .c = 1, .r = 1, .s = 1};
  const std::int64_t count = std::int64_t{1} << 60;
  EXPECT_THAT(
      Message(PackFilters<PerSample, CxRSKx<4>>(e, count, std::vector<std::int8_t>()).status(),
              absl::StatusCode::kInvalidArgument),
      HasSubstr("layouts: count=1152921504606846976 filters of k=1 c=1 r=1 s=1 have more "
                "elements than a 64-bit offset reaches; give fewer"));
}

// Every word of four equal bytes and every word of one, against the values of its halves.
TEST(PackedInt4, WordsExpandToTheirHalves) {
  const auto value = [](int half) {
    return static_cast<std::uint8_t>(half < 8 ? half : half - 16);
  };
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    for (int at = 0; at < 32; at += 8) {
      EXPECT_EQ(LowerInt4(byte << at), std::uint32_t{value(byte % 16)} << at);
      EXPECT_EQ(UpperInt4(byte << at), std::uint32_t{value(byte / 16)} << at);
    }
    EXPECT_EQ(LowerInt4(byte * 0x01010101u), value(byte % 16) * 0x01010101u);
    EXPECT_EQ(UpperInt4(byte * 0x01010101u), value(byte / 16) * 0x01010101u);
    EXPECT_EQ(LowerInt4Times16(byte * 0x01010101u), byte % 16 * 0x10101010u);
    EXPECT_EQ(UpperInt4Times16(byte * 0x01010101u), byte / 16 * 0x10101010u);
  }
}

// Element 32 b + i of the order that `number` gives is in byte 16 b + i % 16, in the upper half from
// i = 16 on; all else is zero.
template <class Format, class Number>
void ExpectBlocks(const FilterExtents& e, std::int64_t elements, const Number& number) {
  using Int4 = PackedInt4<Format>;
  SCOPED_TRACE(Int4::kName);
  constexpr std::int64_t kCount = 3;
  std::vector<std::int8_t> values = Values(kCount * KCRS::Size(e));
  for (std::int8_t& v : values) v = static_cast<std::int8_t>(v % 16 - 8);
  const auto bank = PackFilters<PerSample, Int4>(e, kCount, values);
  ASSERT_TRUE(bank.ok()) << bank.status();
  ASSERT_EQ(bank->size(), kCount * elements);
  ASSERT_EQ(bank->bytes(), kCount * elements / 2);
  EXPECT_EQ(bank->view().bytes(), bank->bytes());
  EXPECT_EQ(bank->At(values.data()).data(), reinterpret_cast<std::uint8_t*>(values.data()));
  std::vector<std::uint8_t> want(kCount * elements / 2);
  for (std::int64_t i = 0; i < kCount * KCRS::Size(e); ++i) {
    const std::int64_t s = i % e.s, r = i / e.s % e.r, c = i / (e.s * e.r) % e.c;
    const std::int64_t k = i / (e.s * e.r * e.c) % e.k, filter = i / KCRS::Size(e);
    EXPECT_EQ(bank->Value(filter, k, c, r, s), values[i]);
    const std::int64_t n = filter * elements + number(k, c, r, s);
    want[n / 32 * 16 + n % 16] |=
        static_cast<std::uint8_t>((values[i] & 15) * (n % 32 < 16 ? 1 : 16));
  }
  EXPECT_EQ(std::vector<std::uint8_t>(bank->data(), bank->data() + bank->bytes()), want);
}

TEST(PackedInt4, BlocksOfEveryFormat) {
  const FilterExtents e{.k = 11, .c = 37, .r = 2, .s = 3};
  ExpectBlocks<CxRSKx<4>>(e, 40 * 6 * 16, [](auto k, auto c, auto r, auto s) {
    return (c / 4 * 6 + r * 3 + s) * 64 + k * 4 + c % 4;
  });
  ExpectBlocks<CxRSKx<32>>(e, 64 * 6 * 32, [](auto k, auto c, auto r, auto s) {
    return (c / 32 * 6 + r * 3 + s) * 1024 + k * 32 + c % 32;
  });
  ExpectBlocks<KRSC>(e, 11 * 224,
                     [](auto k, auto c, auto r, auto s) { return k * 224 + (r * 3 + s) * 37 + c; });
}

TEST(PackedInt4, RefusesOtherValuesByName) {
  const FilterExtents e{.k = 2, .c = 3, .r = 2, .s = 2};
  for (const int value : {-128, -9, 8, 127}) {
    std::vector<std::int8_t> values(24, 7);
    values[12 + 4 + 2] = static_cast<std::int8_t>(value);
    const auto sentence = [&](const char* format) {
      return absl::StrCat("layouts: the value ", value,
                          " at k=1 c=1 r=1 s=0 has more than the 4 bits of ", format,
                          "; quantise to -8 to 7 (of uint8, 0 to 15), or take a format of bytes");
    };
    constexpr auto kRange = absl::StatusCode::kOutOfRange;
    EXPECT_EQ(Message(PackFilter<PackedInt4<CxRSKx<4>>>(e, values).status(), kRange),
              sentence("PackedInt4<CxRSKx<4>>"));
    EXPECT_EQ(Message(PackFilter<PackedInt4<KRSC>>(e, values).status(), kRange),
              sentence("PackedInt4<KRSC>"));
  }
  EXPECT_EQ(Message(PackFilter<PackedInt4<KRSC>>(e, std::vector<std::int8_t>(23)).status(),
                    absl::StatusCode::kInvalidArgument),
            "layouts: source.size()=23 is not 24, the elements of KCRS with these extents");
}

TEST(PairedInt4, ChannelsInPairs) {
  using Bytes = std::vector<std::uint8_t>;
  const auto convert = []<class Format, class T>(std::type_identity<Format>, const TensorExtents& e,
                                                 const std::vector<T>& planar) {
    const auto there = ConvertTensor<NCHW, PairedInt4<Format>>(e, planar);
    EXPECT_TRUE(there.ok()) << there.status();
    const auto back = ConvertTensor<PairedInt4<Format>, NCHW>(e, *there);
    EXPECT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, planar);
    return Bytes(there->begin(), there->end());
  };
  // Two pixels of five channels.
  const TensorExtents e{.n = 1, .c = 5, .h = 1, .w = 2};
  const std::vector<std::int8_t> s4 = {-8, 7, -1, 1, 2, 3, 4, 5, 6, -7};
  EXPECT_EQ(convert(std::type_identity<NCxHWx<4>>(), e, s4),
            (Bytes{0xf8, 0x42, 0x17, 0x53, 0x06, 0, 0x09, 0}));
  EXPECT_EQ(convert(std::type_identity<NHWC>(), e, s4), (Bytes{0xf8, 0x42, 0x76, 0x31, 0x95}));
  const std::vector<std::uint8_t> u4 = {8, 15, 0, 1, 2};
  EXPECT_EQ(convert(std::type_identity<NHWC>(), {.n = 5, .c = 1, .h = 1, .w = 1}, u4),
            (Bytes{0xf8, 0x10, 0x02}));
  EXPECT_EQ(convert(std::type_identity<NCxHWx<64>>(), {.n = 1, .c = 5, .h = 1, .w = 1}, u4).size(),
            32u);
}

TEST(PairedInt4, RefusesOtherValuesAndSizesByName) {
  const TensorExtents e{.n = 2, .c = 2, .h = 1, .w = 3};
  std::vector<std::uint8_t> values(12, 15);
  values[6 + 3 + 2] = 16;
  EXPECT_EQ(
      Message(ConvertTensor<NCHW, PairedInt4<NHWC>>(e, values).status(),
              absl::StatusCode::kOutOfRange),
      "layouts: the value 16 at n=1 c=1 h=0 w=2 has more than the 4 bits of PairedInt4<NHWC>; "
      "quantise to -8 to 7 (of uint8, 0 to 15), or take a format of bytes");
  EXPECT_EQ(
      Message(ConvertTensor<PairedInt4<NHWC>, NCHW>(e, values).status(),
              absl::StatusCode::kInvalidArgument),
      "layouts: source.size()=12 is not 6, the elements of PairedInt4<NHWC> with these extents");
}

// A source that says it is larger than any memory: its bytes are never looked at.
TEST(PackFilters, MemoryThatThereIsNotIsAStatus) {
  const std::int8_t byte = 0;
  const std::int64_t rows = std::int64_t{1} << 50;
  const absl::Span<const std::int8_t> huge(&byte, rows);
  const FilterExtents e{.k = 1, .c = 1, .r = rows, .s = 1};
  constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
  const char* message =
      "layouts: CxRSKx<4> has 18014398509481984 elements of 1 bytes with these extents, more than "
      "there is memory for; give smaller extents or another format";
  EXPECT_EQ(Message(PackFilter<CxRSKx<4>>(e, huge).status(), kExhausted), message);
  EXPECT_EQ(Message(PackFilters<PerSample, CxRSKx<4>>(e, 1, huge).status(), kExhausted), message);
  EXPECT_EQ(Message(PackFilter<PackedInt4<CxRSKx<4>>>(e, huge).status(), kExhausted),
            "layouts: PackedInt4<CxRSKx<4>> has 36028797018963968 elements of 4 bits with these "
            "extents, more than there is memory for; give smaller extents or another format");
#if !defined(__SANITIZE_ADDRESS__)  // which ends the program where std::bad_alloc would be thrown
  EXPECT_EQ(Message(ConvertFilter<KCRS, CxRSKx<4>>(e, huge).status(), kExhausted), message);
  EXPECT_EQ(Message(ConvertTensor<NCHW, NCxHWx<4>>({1, 1, rows, 1}, huge).status(), kExhausted),
            "layouts: NCxHWx<4> has 4503599627370496 elements of 1 bytes with these extents, more "
            "than there is memory for; give smaller extents or another format");
#endif
}

}  // namespace
}  // namespace weft
