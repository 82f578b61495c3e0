#include "weft/rtc/cache/cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "weft/rtc/cache/digest.hpp"

namespace weft::rtc {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
 protected:
  CacheTest() : folder_(testing::TempDir() + "weft_cache_" + std::to_string(getpid())) {}
  ~CacheTest() override { fs::remove_all(folder_); }

  static std::string Key(std::string_view of) { return Digest({&of, 1}); }
  fs::path File(const std::string& key) const { return fs::path(folder_) / (key + ".weft"); }

  const std::string folder_;
};

TEST_F(CacheTest, Sha256IsThatOfTheStandard) {
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_F(CacheTest, PartsThatAreDividedElsewhereHaveAnotherDigest) {
  const std::string_view one[] = {"ab", "c"}, other[] = {"a", "bc"};
  EXPECT_NE(Digest(one), Digest(other));
}

TEST_F(CacheTest, KeepsWhatWasWritten) {
  const Cache cache({.folder = folder_});
  const std::string value("a\0b", 3);
  EXPECT_EQ(cache.Read(Key("k")), std::nullopt);
  ASSERT_TRUE(cache.Write(Key("k"), value).ok());
  EXPECT_EQ(cache.Read(Key("k")), value);
  EXPECT_EQ(cache.Read(Key("other")), std::nullopt);
}

TEST_F(CacheTest, ADamagedEntryIsRemoved) {
  const Cache cache({.folder = folder_});
  const std::string key = Key("k");
  ASSERT_TRUE(cache.Write(key, std::string(1000, 'x')).ok());
  const auto size = fs::file_size(File(key));
  for (const std::uintmax_t at : {std::uintmax_t{0}, std::uintmax_t{20}, size - 1}) {
    ASSERT_TRUE(cache.Write(key, std::string(1000, 'x')).ok());
    std::fstream file(File(key), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at)).put('!');
    file.close();
    EXPECT_EQ(cache.Read(key), std::nullopt) << at;
    EXPECT_FALSE(fs::exists(File(key))) << at;
  }
  for (const std::uintmax_t left : {std::uintmax_t{0}, std::uintmax_t{40}, size - 1}) {
    ASSERT_TRUE(cache.Write(key, std::string(1000, 'x')).ok());
    fs::resize_file(File(key), left);
    EXPECT_EQ(cache.Read(key), std::nullopt) << left;
  }
}

TEST_F(CacheTest, AnEntryUnderAnotherNameIsDamaged) {
  const Cache cache({.folder = folder_});
  ASSERT_TRUE(cache.Write(Key("k"), "value").ok());
  fs::rename(File(Key("k")), File(Key("other")));
  EXPECT_EQ(cache.Read(Key("other")), std::nullopt);
}

TEST_F(CacheTest, ProcessesShareAFolder) {
  const Cache cache({.folder = folder_});
  const std::string key = Key("k"), value(300000, 'v');
  pid_t children[4];
  for (pid_t& child : children) {
    child = fork();
    if (child == 0) {
      bool good = true;
      for (int i = 0; i < 40; ++i) {
        good = good && cache.Write(key, value).ok();
        good = good && cache.Read(key) == value;
      }
      _exit(good ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(cache.Read(key), value);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(CacheTest, TheOldestEntriesGoFirst) {
  const Cache cache({.folder = folder_, .most_bytes = 3500});
  for (int i = 0; i < 3; ++i) {
    const std::string key = Key(std::to_string(i));
    ASSERT_TRUE(cache.Write(key, std::string(1000, 'x')).ok());
    fs::last_write_time(File(key), fs::file_time_type::clock::now() - std::chrono::hours(9 - i));
  }
  EXPECT_NE(cache.Read(Key("0")), std::nullopt);  // which makes it the newest
  ASSERT_TRUE(cache.Write(Key("3"), std::string(1000, 'x')).ok());
  EXPECT_EQ(cache.Read(Key("1")), std::nullopt);
  for (const char* left : {"0", "2", "3"}) EXPECT_NE(cache.Read(Key(left)), std::nullopt) << left;
}

// A folder that others use, too: what has another kind of name is not the cache's.
TEST_F(CacheTest, FilesOfOthersStay) {
  const Cache cache({.folder = folder_, .most_bytes = 0});
  fs::create_directories(folder_);
  for (const char* name : {"film.part", "cloth.weft", "notes"}) {
    std::ofstream(fs::path(folder_) / name) << "x";
    fs::last_write_time(fs::path(folder_) / name,
                        fs::file_time_type::clock::now() - std::chrono::hours(9));
  }
  ASSERT_TRUE(cache.Write(Key("0"), "value").ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(folder_) << "a file";
  const Cache cache({.folder = folder_});
  EXPECT_EQ(cache.Read(Key("k")), std::nullopt);
  const absl::Status s = cache.Write(Key("k"), "value");
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), testing::HasSubstr("cache folder " + folder_));
}

}  // namespace
}  // namespace weft::rtc
