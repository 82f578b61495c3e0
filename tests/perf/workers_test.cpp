#include "perf/support/workers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

namespace weft::perf {
namespace {

constexpr int kJobs = 6;

struct Board {
  volatile int beats = 0;
  volatile int job = 0;
  volatile int done[kJobs] = {};  // 1: by a child, 2: given up by the parent
};

struct Fixture {
  std::shared_ptr<Board> board = MakeShared<Board>();
  std::vector<std::string> deaths;
  Workers workers;

  // Works off the jobs; `harm(job)` comes before each.
  explicit Fixture(const std::function<void(int)>& harm) {
    Board* b = board.get();
    workers.first_open = [b] {
      for (int i = 0; i < kJobs; ++i) {
        if (!b->done[i]) return i;
      }
      return -1;
    };
    workers.work = [b, harm](int first) {
      for (int i = first; i < kJobs; ++i) {
        b->job = i;
        b->beats = b->beats + 1;
        harm(i);
        b->done[i] = 1;
      }
      return 0;
    };
    workers.died = [this, b](const std::string& how) {
      deaths.push_back(how);
      b->done[b->job] = 2;
      return true;
    };
    workers.beats = &b->beats;
  }
};

TEST(Workers, AllWorkIsDone) {
  Fixture f([](int) {});
  EXPECT_TRUE(RunWorkers(f.workers));
  EXPECT_TRUE(f.deaths.empty());
  for (int i = 0; i < kJobs; ++i) EXPECT_EQ(f.board->done[i], 1);
}

TEST(Workers, ACrashCostsOnePieceOfWork) {
  Fixture f([](int job) {
    if (job == 2) raise(SIGKILL);
    if (job == 4) _exit(7);
  });
  EXPECT_TRUE(RunWorkers(f.workers));
  EXPECT_EQ(f.deaths, (std::vector<std::string>{"signal 9", "exit 7"}));
  for (int i = 0; i < kJobs; ++i) EXPECT_EQ(f.board->done[i], i == 2 || i == 4 ? 2 : 1);
}

TEST(Workers, ASilentChildIsEnded) {
  Fixture f([](int job) {
    while (job == 5) pause();
  });
  f.workers.stuck_ms = 300;
  EXPECT_TRUE(RunWorkers(f.workers));
  EXPECT_EQ(f.deaths, (std::vector<std::string>{"silent for 0.3 s"}));
}

TEST(Workers, TheParentCanGiveUp) {
  Fixture f([](int) { _exit(3); });
  int calls = 0;
  f.workers.died = [&calls](const std::string&) { return ++calls < 2; };
  EXPECT_FALSE(RunWorkers(f.workers));
  EXPECT_EQ(calls, 2);
}

TEST(Workers, AChildThatDoesNothingIsNotStartedForEver) {
  Fixture f([](int) {});
  f.workers.work = [](int) { return 0; };
  f.workers.died = [](const std::string&) { return true; };
  EXPECT_FALSE(RunWorkers(f.workers));
}

}  // namespace
}  // namespace weft::perf
