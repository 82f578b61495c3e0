// Twins and the cache: each is compiled once, and again where its entry was damaged.
#include "weft/rtc/cpu/twin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace weft::rtc {
namespace {

namespace fs = std::filesystem;

constexpr char kSource[] = "struct Op : weft::conv::S8Conv4<> {};";

class TwinTest : public testing::Test {
 protected:
  TwinTest() : folder_(testing::TempDir() + "weft_twin_" + std::to_string(getpid())) {}
  ~TwinTest() override { fs::remove_all(folder_); }

  absl::StatusOr<Twin> Compile(const std::string& source) const {
    const Cache cache({.folder = folder_});
    return Twin::Compile(source, {.policy = "Op"}, &cache);
  }

  const std::string folder_;
};

TEST_F(TwinTest, IsKept) {
  const absl::StatusOr<Twin> made = Compile(kSource);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_FALSE(made->from_cache());
  EXPECT_TRUE(made->cache_status().ok());
  const absl::StatusOr<Twin> kept = Compile(kSource);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_TRUE(kept->from_cache());
  EXPECT_TRUE(kept->policy().IsSame(made->policy()));

  ASSERT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  const fs::path entry = fs::directory_iterator(folder_)->path();
  std::fstream(entry, std::ios::in | std::ios::out).seekp(5000).put('!').flush();
  const absl::StatusOr<Twin> again = Compile(kSource);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(again->from_cache());
}

// What an archive has is loaded without a compiler; what does not load is made anew by one.
TEST_F(TwinTest, AnArchiveNeedsNoCompiler) {
  Archive written;
  const auto made = Twin::Compile(kSource, {.policy = "Op"}, {nullptr, &written});
  ASSERT_TRUE(made.ok()) << made.status();
  const TwinOptions without = {.policy = "Op", .compiler = "no_compiler_of_this_name"};
  Archive archive(*Archive::FromBytes(written.Bytes()));
  const auto found = Twin::Compile(kSource, without, {nullptr, &archive});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->policy().IsSame(made->policy()));
  EXPECT_EQ(archive.Bytes(), written.Bytes());
  const auto other =
      Twin::Compile("struct Op : weft::conv::S8Conv32<> {};", without, {nullptr, &archive});
  EXPECT_EQ(other.status().code(), absl::StatusCode::kNotFound) << other.status();

  Archive broken;
  const std::string bytes = written.Bytes();
  broken.Add(bytes.substr(0, 64), "no shared object");
  EXPECT_EQ(Twin::Compile(kSource, without, {nullptr, &broken}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Twin::Compile(kSource, {.policy = "Op"}, {nullptr, &broken}).ok());
  EXPECT_EQ(broken.Bytes().size(), bytes.size());
}

TEST_F(TwinTest, AFolderThatCannotBeWrittenIsNoError) {
  std::ofstream(folder_) << "a file";
  const absl::StatusOr<Twin> made = Compile(kSource);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->cache_status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(TwinTest, TwoThreadsAtOnce) {
  absl::Status status[2];
  std::thread threads[2];
  for (int i = 0; i < 2; ++i) {
    threads[i] = std::thread([&, i] { status[i] = Compile(kSource).status(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(status[0].ok() && status[1].ok()) << status[0] << status[1];
}

}  // namespace
}  // namespace weft::rtc
