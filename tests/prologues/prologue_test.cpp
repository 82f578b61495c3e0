// The batches and filters of prologues, against tables written by hand.
#include "weft/prologues/prologues.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace weft::prologues {
namespace {

// A user's own: each image picks its filter from a bank.
struct FromBank {
  static constexpr Depends kDepends{.image = true};
  static constexpr const char* kName = "FromBank";
  const std::int32_t* index = nullptr;
  constexpr std::int64_t Filter(const BatchCoord& at) const { return index[at.n]; }
  static constexpr std::int64_t Filters(const BatchExtents&) { return 0; }
};

// Another: a filter for each image and channel group.
struct GroupedPerSample {
  static constexpr Depends kDepends{.image = true, .group = true};
  static constexpr const char* kName = "GroupedPerSample";
  constexpr std::int64_t Filter(const BatchCoord& at) const { return at.index; }
  static constexpr std::int64_t Filters(const BatchExtents& e) { return e.Count(); }
};

template <class T>
constexpr bool kAccepted = Prologue<T> && CheckedPrologue<T>::kValid;
static_assert(kAccepted<SharedFilter> && kAccepted<PerSample> && kAccepted<LocalFilter>);
static_assert(kAccepted<LocalBlock<2, 3>> && kAccepted<Grouped>);
static_assert(kAccepted<FromBank> && kAccepted<GroupedPerSample>);

// What once passed for a prologue and was read by nothing.
struct TagOnly {
  static constexpr bool kIsPrologue = true;
  static constexpr bool kConstantOverTile = false;
  static constexpr const char* kName = "TagOnly";
};
struct NoFilter {
  static constexpr Depends kDepends{.image = true};
  static constexpr const char* kName = "NoFilter";
  static constexpr std::int64_t Filters(const BatchExtents& e) { return e.Count(); }
};
struct NoFilters {
  static constexpr Depends kDepends{.image = true};
  static constexpr const char* kName = "NoFilters";
  constexpr std::int64_t Filter(const BatchCoord& at) const { return at.n; }
};
struct NoDepends : SharedFilter {
  static constexpr bool kDepends = false;
};
struct NoName : SharedFilter {
  static constexpr int kName = 1;
};
struct FloatFilter : SharedFilter {
  constexpr float Filter(const BatchCoord&) const { return 0.0f; }
};
struct NotBytes : SharedFilter {
  std::string text;
};
struct NoDefault : SharedFilter {
  explicit constexpr NoDefault(int) {}
};
static_assert(!Prologue<TagOnly> && !Prologue<NoFilter> && !Prologue<NoFilters>);
static_assert(!Prologue<NoDepends> && !Prologue<NoName> && !Prologue<FloatFilter>);
static_assert(!Prologue<NotBytes> && !Prologue<NoDefault> && !Prologue<int>);

// 3 images, 5 x 8 output pixels, 4 groups.
constexpr BatchExtents Batches(const Depends& depends) {
  return BatchOf(depends, 3, 5, 8, 4);
}

TEST(Prologue, BatchesAreTheCoordinatesTheFilterDependsOn) {
  EXPECT_EQ(Batches(SharedFilter::kDepends), (BatchExtents{}));
  EXPECT_EQ(Batches(PerSample::kDepends), (BatchExtents{.n = 3}));
  EXPECT_EQ(Batches(LocalFilter::kDepends), (BatchExtents{.p = 5, .q = 8}));
  EXPECT_EQ(Batches(Grouped::kDepends), (BatchExtents{.g = 4}));
  EXPECT_EQ(Batches(GroupedPerSample::kDepends), (BatchExtents{.n = 3, .g = 4}));
  EXPECT_EQ(Batches({.image = true, .block_h = 1, .block_w = 1, .group = true}),
            (BatchExtents{3, 5, 8, 4}));
}

TEST(Prologue, BlocksAreCutOffAtTheEdge) {
  EXPECT_EQ(Batches(LocalBlock<1, 1>::kDepends), Batches(LocalFilter::kDepends));
  EXPECT_EQ(Batches(LocalBlock<2, 4>::kDepends), (BatchExtents{.p = 3, .q = 2}));
  EXPECT_EQ(Batches(LocalBlock<5, 3>::kDepends), (BatchExtents{.p = 1, .q = 3}));
  EXPECT_EQ(Batches(LocalBlock<6, 9>::kDepends), (BatchExtents{}));
}

TEST(Prologue, BanksHoldAFilterForEachBatch) {
  EXPECT_EQ(SharedFilter::Filters(Batches(SharedFilter::kDepends)), 1);
  EXPECT_EQ(PerSample::Filters(Batches(PerSample::kDepends)), 3);
  EXPECT_EQ(LocalFilter::Filters(Batches(LocalFilter::kDepends)), 40);
  EXPECT_EQ((LocalBlock<2, 3>::Filters(Batches(LocalBlock<2, 3>::kDepends))), 9);
  EXPECT_EQ(Grouped::Filters(Batches(Grouped::kDepends)), 4);
  EXPECT_EQ(FromBank::Filters(Batches(FromBank::kDepends)), 0);
}

// Counts that a 32-bit product would lose.
TEST(Prologue, CountsAre64Bit) {
  EXPECT_EQ(BatchOf(LocalFilter::kDepends, 1, 100000, 100000, 1).Count(), 10'000'000'000);
}

TEST(Prologue, FiltersOfBatches) {
  const BatchCoord at{.n = 2, .p = 1, .q = 3, .g = 1, .index = 71};
  EXPECT_EQ(SharedFilter().Filter(at), 0);
  EXPECT_EQ(PerSample().Filter(at), 71);
  EXPECT_EQ(LocalFilter().Filter(at), 71);
  EXPECT_EQ((LocalBlock<2, 2>().Filter(at)), 71);
  EXPECT_EQ(Grouped().Filter(at), 71);
  const std::int32_t index[] = {4, 0, 9};
  EXPECT_EQ(FromBank{index}.Filter(at), 9);
}

TEST(Prologue, Names) {
  EXPECT_STREQ(SharedFilter::kName, "SharedFilter");
  EXPECT_STREQ(PerSample::kName, "PerSample");
  EXPECT_STREQ(LocalFilter::kName, "LocalFilter");
  EXPECT_STREQ(Grouped::kName, "Grouped");
  EXPECT_STREQ((LocalBlock<2, 3>::kName), "LocalBlock<2, 3>");
  EXPECT_STREQ((LocalBlock<16, 100>::kName), "LocalBlock<16, 100>");
  EXPECT_STREQ((LocalBlock<2147483647, 1000000000>::kName), "LocalBlock<2147483647, 1000000000>");
}

}  // namespace
}  // namespace weft::prologues
