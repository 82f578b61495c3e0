// Packing: round trips between any two formats, zeros in the padding, refusals by name.
#include "weft/layouts/packing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/layouts/packed_filter.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;
using Rng = std::mt19937;

std::int64_t Uniform(Rng& rng, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(rng);
}

// Values without a zero, so that padding can be told from data.
std::vector<std::int8_t> NonZero(Rng& rng, std::int64_t size) {
  std::vector<std::int8_t> values(size);
  for (auto& v : values) v = static_cast<std::int8_t>(Uniform(rng, 1, 127));
  return values;
}

template <class From, class To>
void CheckTensor(Rng& rng, const TensorExtents& e) {
  SCOPED_TRACE(std::string(From::kName) + " -> " + To::kName + " n=" + std::to_string(e.n) + " c=" +
               std::to_string(e.c) + " h=" + std::to_string(e.h) + " w=" + std::to_string(e.w));
  // Garbage in the padding of the source must not matter.
  const auto source = NonZero(rng, From::Size(e));
  const auto there = ConvertTensor<From, To, std::int8_t>(e, source);
  ASSERT_TRUE(there.ok()) << there.status();
  ASSERT_EQ(static_cast<std::int64_t>(there->size()), To::Size(e));
  std::set<std::int64_t> data;
  for (std::int64_t n = 0; n < e.n; ++n) {
    for (std::int64_t c = 0; c < e.c; ++c) {
      for (std::int64_t h = 0; h < e.h; ++h) {
        for (std::int64_t w = 0; w < e.w; ++w) {
          const std::int64_t offset = To::Offset(e, n, c, h, w);
          ASSERT_TRUE(data.insert(offset).second) << "two elements at offset " << offset;
          ASSERT_EQ((*there)[offset], source[From::Offset(e, n, c, h, w)]);
        }
      }
    }
  }
  for (std::int64_t offset = 0; offset < To::Size(e); ++offset) {
    if (data.count(offset) == 0) {
      ASSERT_EQ((*there)[offset], 0) << "padding at " << offset;
    }
  }
  // There and back: the source with its padding set to zero, which a second round trip keeps.
  const auto back = ConvertTensor<To, From, std::int8_t>(e, *there);
  ASSERT_TRUE(back.ok());
  const auto cleaned = ConvertTensor<From, From, std::int8_t>(e, source);
  ASSERT_EQ(*back, *cleaned);
}

template <class From, class To>
void CheckFilter(Rng& rng, const FilterExtents& e) {
  SCOPED_TRACE(std::string(From::kName) + " -> " + To::kName + " k=" + std::to_string(e.k) + " c=" +
               std::to_string(e.c) + " r=" + std::to_string(e.r) + " s=" + std::to_string(e.s));
  const auto source = NonZero(rng, From::Size(e));
  const auto there = ConvertFilter<From, To, std::int8_t>(e, source);
  ASSERT_TRUE(there.ok()) << there.status();
  ASSERT_EQ(static_cast<std::int64_t>(there->size()), To::Size(e));
  std::set<std::int64_t> data;
  for (std::int64_t k = 0; k < e.k; ++k) {
    for (std::int64_t c = 0; c < e.c; ++c) {
      for (std::int64_t r = 0; r < e.r; ++r) {
        for (std::int64_t s = 0; s < e.s; ++s) {
          const std::int64_t offset = To::Offset(e, k, c, r, s);
          ASSERT_TRUE(data.insert(offset).second) << "two elements at offset " << offset;
          ASSERT_EQ((*there)[offset], source[From::Offset(e, k, c, r, s)]);
        }
      }
    }
  }
  for (std::int64_t offset = 0; offset < To::Size(e); ++offset) {
    if (data.count(offset) == 0) {
      ASSERT_EQ((*there)[offset], 0) << "padding at " << offset;
    }
  }
  const auto back = ConvertFilter<To, From, std::int8_t>(e, *there);
  ASSERT_TRUE(back.ok());
  const auto cleaned = ConvertFilter<From, From, std::int8_t>(e, source);
  ASSERT_EQ(*back, *cleaned);
}

template <class... Formats, class Check>
void ForEachPair(Check check) {
  const auto from = [&]<class From>() { (check.template operator()<From, Formats>(), ...); };
  (from.template operator()<Formats>(), ...);
}

TEST(ConvertTensor, KeepsEveryElementBetweenAnyTwoFormats) {
  for (int seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const TensorExtents e = {Uniform(rng, 1, 3), Uniform(rng, 1, 70), Uniform(rng, 1, 5),
                             Uniform(rng, 1, 5)};
    ForEachPair<NCxHWx<4>, NCxHWx<32>, NCxHWx<64>, NHWC, NCHW>(
        [&]<class From, class To>() { CheckTensor<From, To>(rng, e); });
    if (HasFailure()) return;
  }
}

TEST(ConvertFilter, KeepsEveryElementBetweenAnyTwoFormats) {
  for (int seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const FilterExtents e = {Uniform(rng, 1, 40), Uniform(rng, 1, 70), Uniform(rng, 1, 3),
                             Uniform(rng, 1, 3)};
    ForEachPair<CxRSKx<4>, CxRSKx<32>, CxRSKx<64>, KRSC, KCRS, KRSx4x4>(
        [&]<class From, class To>() { CheckFilter<From, To>(rng, e); });
    if (HasFailure()) return;
  }
}

// By hand: 1 image, 5 channels, 1 x 2 pixels; channel c of pixel w holds 10 * c + w + 1.
TEST(ConvertTensor, AHandWorkedCase) {
  const TensorExtents e = {.n = 1, .c = 5, .h = 1, .w = 2};
  const std::vector<int> planar = {1, 2, 11, 12, 21, 22, 31, 32, 41, 42};
  const auto blocked = ConvertTensor<NCHW, NCxHWx<4>, int>(e, planar);
  ASSERT_TRUE(blocked.ok());
  EXPECT_EQ(*blocked, (std::vector<int>{1, 11, 21, 31, 2, 12, 22, 32, 41, 0, 0, 0, 42, 0, 0, 0}));
  const auto last = ConvertTensor<NCxHWx<4>, NHWC, int>(e, *blocked);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(*last, (std::vector<int>{1, 11, 21, 31, 41, 2, 12, 22, 32, 42}));
}

TEST(ConvertTensor, RefusesWrongExtentsAndSizesByName) {
  const std::vector<std::int8_t> values(10);
  const auto negative = ConvertTensor<NCHW, NHWC, std::int8_t>({1, -5, 1, 2}, values);
  ASSERT_FALSE(negative.ok());
  EXPECT_EQ(negative.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(negative.status().message()), HasSubstr("c=-5"));
  const auto zero = ConvertTensor<NCHW, NHWC, std::int8_t>({1, 5, 1, 0}, values);
  ASSERT_FALSE(zero.ok());
  EXPECT_THAT(std::string(zero.status().message()), HasSubstr("w=0"));
  const auto wrong = ConvertTensor<NCxHWx<4>, NHWC, std::int8_t>({1, 5, 1, 2}, values);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("source.size()=10 is not 16"));
}

// Extents whose product passes 2^63 must not wrap around to a size that happens to fit.
TEST(ConvertTensor, RefusesExtentsThatOverflow) {
  const std::vector<std::int8_t> values;
  const std::int64_t big = std::int64_t{1} << 32;
  const auto wrapped = ConvertTensor<NCHW, NHWC, std::int8_t>({big, big, big, big}, values);
  ASSERT_FALSE(wrapped.ok());
  EXPECT_THAT(std::string(wrapped.status().message()), HasSubstr("n=4294967296"));
  const auto filter = ConvertFilter<KCRS, KRSC, std::int8_t>({big, big, big, big}, values);
  ASSERT_FALSE(filter.ok());
  EXPECT_THAT(std::string(filter.status().message()), HasSubstr("k=4294967296"));
}

// A vector of 2^62 words cannot be, and one of 2^45 bytes is more than a machine has; under
// AddressSanitizer asking for that much ends the program.
TEST(PackFilter, RefusesWhatMemoryCannotHold) {
  const std::int32_t word = 0;
  const FilterExtents huge = {
      .k = 1, .c = 1, .r = std::int64_t{1} << 26, .s = std::int64_t{1} << 24};
  const auto no_vector =
      PackFilter<CxRSKx<64>>(huge, absl::MakeConstSpan(&word, std::size_t{1} << 50));
  ASSERT_FALSE(no_vector.ok());
  EXPECT_EQ(no_vector.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(no_vector.status().message()),
              HasSubstr("layouts: CxRSKx<64> has 4611686018427387904 elements of 4 bytes with "
                        "these extents, more than there is memory for"));
#if !defined(__SANITIZE_ADDRESS__)
  const std::int8_t byte = 0;
  const FilterExtents large = {
      .k = 1, .c = 1, .r = std::int64_t{1} << 20, .s = std::int64_t{1} << 20};
  const auto no_memory =
      PackFilter<CxRSKx<32>>(large, absl::MakeConstSpan(&byte, std::size_t{1} << 40));
  EXPECT_EQ(no_memory.status().code(), absl::StatusCode::kResourceExhausted) << no_memory.status();
#endif
}

TEST(PackFilter, PacksAlignsAndKnowsItsExtents) {
  const FilterExtents e = {.k = 10, .c = 3, .r = 3, .s = 3};
  Rng rng(1);
  const auto values = NonZero(rng, KCRS::Size(e));
  const auto packed = PackFilter<CxRSKx<4>>(e, absl::MakeConstSpan(values));
  ASSERT_TRUE(packed.ok()) << packed.status();
  EXPECT_EQ(packed->size(), 4 * 9 * 12);
  EXPECT_EQ(packed->bytes(), packed->size());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packed->data()) % 64, 0u);
  EXPECT_TRUE(packed->extents() == e);
  const auto plain = ConvertFilter<KCRS, CxRSKx<4>, std::int8_t>(e, values);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(std::vector<std::int8_t>(packed->data(), packed->data() + packed->size()), *plain);
  EXPECT_EQ(packed->view().data(), packed->data());
  EXPECT_TRUE(packed->view().extents() == e);
  const auto short_of = PackFilter<CxRSKx<4>>(e, absl::MakeConstSpan(values).subspan(1));
  ASSERT_FALSE(short_of.ok());
  EXPECT_THAT(std::string(short_of.status().message()), HasSubstr("KCRS"));
}

TEST(Packing, BadExtentsAndSizes) {
  const std::vector<std::int8_t> values(10);
  const auto wrong_size =
      PackFilter<CxRSKx<4>, KCRS, std::int8_t>(FilterExtents{2, 3, 3, 3}, values);
  EXPECT_EQ(wrong_size.status().message(),
            "layouts: source.size()=10 is not 54, the elements of KCRS with these extents");
  const auto zero = PackFilter<CxRSKx<4>, KCRS, std::int8_t>(FilterExtents{2, 0, 3, 3}, values);
  EXPECT_EQ(zero.status().message(), "layouts: extents.c=0 is not positive; give 1 or more");
  const auto tensor = ConvertTensor<NCHW, NHWC, std::int8_t>({1, 2, -3, 4}, values);
  EXPECT_EQ(tensor.status().message(), "layouts: extents.h=-3 is not positive; give 1 or more");
}

}  // namespace
}  // namespace weft
