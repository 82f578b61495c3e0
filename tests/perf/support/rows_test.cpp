// Rows in child processes, and what becomes of crashes.
#include "perf/support/rows.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace weft::perf {
namespace {

struct Fixture {
  RowRun run;
  std::vector<Json> received, done;

  // Measures `count` rows; `harm(row, skip, about)` may crash; false: the GPU was lost.
  Fixture(
      int count, std::function<bool(int, const std::set<std::string>&, const RowRun::About&)> harm =
                     [](int, const auto&, const auto&) { return true; }) {
    run.count = count;
    run.measure = [harm](int row, const std::set<std::string>& skip, const RowRun::About& about,
                         const RowRun::Send& send, bool* alive) -> Json {
      send({{"choice", row}});
      *alive = harm(row, skip, about);
      return {{"row", row}, {"skipped", skip.size()}};
    };
    run.receive = [this](const Json& line) { received.push_back(line); };
    run.done = [this](int, const Json& row) { done.push_back(row); };
    run.may_skip = [](const std::string& step) { return step.rfind("peer/", 0) == 0; };
    run.failed = [](int row, const std::string& why) -> Json {
      return {{"row", row}, {"failed", why}};
    };
  }
};

TEST(Rows, AreMeasuredInOrder) {
  for (const bool isolated : {false, true}) {
    Fixture f(3);
    f.run.isolated = isolated;
    const auto rows = f.run.Run();
    ASSERT_TRUE(rows.ok()) << rows.status();
    ASSERT_EQ(rows->size(), 3u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ((*rows)[i]["row"], i);
    EXPECT_EQ(f.done, *rows);
    EXPECT_EQ(f.received.size(), 3u);
    EXPECT_EQ(f.received[2], Json({{"choice", 2}}));
  }
}

TEST(Rows, KeptRowsAreNotMeasured) {
  Fixture f(3);
  f.run.kept = {{{"row", 0}, {"earlier", true}}, nullptr};
  const auto rows = f.run.Run();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE((*rows)[0].contains("earlier"));
  EXPECT_EQ(f.done, std::vector<Json>({(*rows)[1], (*rows)[2]}));
  f.run.kept = *rows;  // nothing is open: no child is started
  f.run.start = [] { return absl::UnavailableError("no GPU"); };
  EXPECT_EQ(*f.run.Run(), *rows);
}

TEST(Rows, AVariantThatCrashesIsLeftOut) {
  Fixture f(3, [](int row, const auto& skip, const auto& about) {
    about("peer/plan 7");
    if (row == 1 && !skip.contains("peer/plan 7")) raise(SIGKILL);
    return true;
  });
  const auto rows = f.run.Run();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0]["skipped"], 0);
  EXPECT_EQ((*rows)[1]["skipped"], 1);
  EXPECT_EQ((*rows)[2]["skipped"], 0);
}

TEST(Rows, ACrashOfOursFailsTheRow) {
  Fixture f(3, [](int row, const auto&, const auto& about) {
    about("ours/tile");
    if (row == 1) _exit(7);
    return true;
  });
  const auto rows = f.run.Run();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[1]["failed"], "exit 7 in ours/tile");
  EXPECT_EQ((*rows)[2]["row"], 2);
}

TEST(Rows, AGpuLostToAPeerIsACrash) {
  Fixture f(2, [](int row, const auto& skip, const auto& about) {
    about("peer/plan");
    return row != 0 || skip.contains("peer/plan");
  });
  const auto rows = f.run.Run();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0]["skipped"], 1);
  EXPECT_EQ((*rows)[1]["skipped"], 0);
}

TEST(Rows, AGpuLostToOursIsAResult) {
  Fixture f(2, [](int, const auto&, const auto& about) {
    about("ours");
    return false;
  });
  const auto rows = f.run.Run();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[1]["row"], 1);
}

TEST(Rows, ASilentChildIsEnded) {
  Fixture f(1, [](int, const auto&, const auto&) {
    for (;;) pause();
    return true;
  });
  f.run.stuck_ms = 300;
  const auto rows = f.run.Run();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0]["failed"], "silent for 0.3 s in starting");
}

TEST(Rows, EndlessCrashesGiveTheRowUp) {
  Fixture f(1, [](int, const auto& skip, const auto& about) {
    about("peer/" + std::to_string(skip.size()));
    std::abort();
    return true;
  });
  f.run.most_skips = 3;
  const auto rows = f.run.Run();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0]["failed"], "signal 6 in peer/3");
}

TEST(Rows, WithoutAGpuTheRunEnds) {
  for (const bool isolated : {false, true}) {
    Fixture f(2);
    f.run.isolated = isolated;
    f.run.start = [] { return absl::UnavailableError("no GPU"); };
    const auto rows = f.run.Run();
    EXPECT_TRUE(absl::IsUnavailable(rows.status())) << rows.status();
    EXPECT_TRUE(f.done.empty());
  }
}

TEST(Rows, NoneIsStartedAfterTheTimeIsUp) {
  Fixture f(2);
  f.run.stop_after_s = -1.0;
  const auto rows = f.run.Run();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[1]["failed"], "not run: --stop_after_s was reached");
}

}  // namespace
}  // namespace weft::perf
