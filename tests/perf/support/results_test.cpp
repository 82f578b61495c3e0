#include "perf/support/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::perf {
namespace {

using testing::HasSubstr;

const Json kEnvironment = {{"commit", "abc"}, {"settings", "quick"}, {"tiles", "all"}};

// Three jobs, of which the first and the last are in a file; the last has a count there.
Results Planned() {
  Results results;
  results.Add({{"family", "S8"}, {"layer", "gemm_s8_64"}});
  results.Add({{"family", "S8"}, {"layer", "gemm_s8_128"}});
  results.Add({{"family", "S8RowRow"}, {"layer", "gemm_s8_64"}});
  ResultFile file;
  file.jobs = {{0, Json::object()}, {2, {{"count", 3}}}};
  results.AddFile(file);
  return results;
}
Json Row(const Results& results, int job, const char* kernel, const char* status = "ok") {
  Json row = results.identity(job);
  row.update({{"kernel", kernel}, {"status", status}});
  return row;
}

TEST(Results, LineOnTheScreen) {
  EXPECT_EQ(RowLine({{"layer", "c4h8w8k8r1s1"},
                     {"batch", 16},
                     {"kernel", "b"},
                     {"ours_us", 10.5},
                     {"ours_p10_us", 9},
                     {"peer", "a"},
                     {"ratio", 2},
                     {"status", "ok"}}),
            "c4h8w8k8r1s1  16  b  ours_us 10.5  ratio 2  ok");
}

TEST(Results, AFileHasTheRowsOfItsJobs) {
  Results results = Planned();
  const ResultFile& file = results.files()[0];
  EXPECT_EQ(results.NotRun(file), 2);
  EXPECT_TRUE(results.RowsOf(file).empty());
  results.Put(0, {Row(results, 0, "a"), Row(results, 0, "b")});
  results.Put(1, Json::array({Row(results, 1, "a")}));
  results.Put(2, Json::array({Row(results, 2, "none", "failed: not run: no time")}));
  EXPECT_EQ(results.NotRun(file), 1);
  EXPECT_FALSE(results.Fine());
  EXPECT_EQ(results.RowsOf(file).size(), 2u);
  results.Put(2, Json::array({Row(results, 2, "a", "ok; no peer")}));
  ASSERT_EQ(results.RowsOf(file).size(), 3u);
  EXPECT_FALSE(results.RowsOf(file)[1].contains("count"));
  EXPECT_EQ(results.RowsOf(file)[2]["count"], 3);
  EXPECT_TRUE(results.Fine());
  results.Put(2, Json::array());  // nothing takes it
  EXPECT_EQ(results.NotRun(file), 0);
  EXPECT_TRUE(results.Fine());
  results.Put(2, Json::array({Row(results, 2, "a", "mismatch")}));
  EXPECT_EQ(results.NotRun(file), 0);
  EXPECT_FALSE(results.Fine());
}

TEST(Results, IsEmptyWithoutAnythingToMeasure) {
  EXPECT_TRUE(Results().Empty());
  Results results = Planned();
  EXPECT_FALSE(results.Empty());
  for (int job = 0; job < results.count(); ++job) results.Put(job, Json::array());  // left out
  EXPECT_TRUE(results.Empty());
  results.Put(1, {Row(results, 1, "a")});
  EXPECT_FALSE(results.Empty());
}

TEST(Results, AnEarlierFileIsContinued) {
  Results first = Planned();
  first.Put(0, Json::array({Row(first, 0, "a", "mismatch")}));
  first.Put(2, {Row(first, 2, "a"), Row(first, 2, "b", "failed: x")});
  const std::string text = ResultText(kEnvironment, Json::object(), first.RowsOf(first.files()[0]));
  Results second = Planned();
  ASSERT_TRUE(second.TakeOver(second.files()[0], text, kEnvironment).ok());
  EXPECT_EQ(second.rows()[0], Json::array({Row(first, 0, "a", "mismatch")}));  // wrong is wrong
  EXPECT_TRUE(second.rows()[1].is_null());                                     // of another file
  EXPECT_TRUE(second.rows()[2].is_null());                                     // failed
}

TEST(Results, AFileOfSomethingElseIsNot) {
  Results results = Planned();
  const ResultFile& file = results.files()[0];
  for (const char* field : {"commit", "settings", "tiles"}) {
    Json other = kEnvironment;
    other[field] = "y";
    EXPECT_THAT(
        std::string(
            results.TakeOver(file, ResultText(other, Json::object(), Json::array()), kEnvironment)
                .message()),
        HasSubstr(std::string("is of ") + field + " 'y', this run of '"));
  }
  EXPECT_FALSE(results.TakeOver(file, "{", kEnvironment).ok());
  EXPECT_FALSE(results.TakeOver(file, "[]", kEnvironment).ok());
}

}  // namespace
}  // namespace weft::perf
