#include "weft/rtc/cache/archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "weft/rtc/cache/digest.hpp"

namespace weft::rtc {
namespace {

using testing::HasSubstr;

std::string Key(std::string_view of) {
  return Digest({&of, 1});
}

std::string Written() {
  Archive archive;
  archive.Add(Key("a"), std::string("one\0two", 7));
  archive.Add(Key("b"), std::string(1000, 'x'));
  archive.Add(Key("c"), "");
  return archive.Bytes();
}

TEST(ArchiveTest, WhatIsWrittenIsReadAgain) {
  const auto read = Archive::FromBytes(Written());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)->Bytes(), Written());
  Archive over(*read);
  EXPECT_EQ(over.Find(Key("a")), std::string("one\0two", 7));
  EXPECT_EQ(over.Find(Key("c")), "");
  EXPECT_EQ(over.Find(Key("d")), std::nullopt);
}

// An archive over another one has what was asked for.
TEST(ArchiveTest, KeepsWhatItWasAskedFor) {
  Archive over(*Archive::FromBytes(Written()));
  EXPECT_TRUE(over.IsEmpty());
  Archive above(std::make_shared<Archive>(*Archive::FromBytes(Written())));
  EXPECT_EQ(above.Find(Key("b")), std::string(1000, 'x'));
  over.Find(Key("b"));
  over.Add(Key("d"), "new");
  Archive both;
  both.AddAll(over);
  const auto read = Archive::FromBytes(both.Bytes());
  ASSERT_TRUE(read.ok()) << read.status();
  Archive at(*read);
  EXPECT_EQ(at.Find(Key("a")), std::nullopt);
  EXPECT_EQ(at.Find(Key("b")), std::string(1000, 'x'));
  EXPECT_EQ(at.Find(Key("d")), "new");
}

TEST(ArchiveTest, RefusesEveryTruncation) {
  const std::string bytes = Written();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const auto read = Archive::FromBytes(std::string_view(bytes).substr(0, size));
    if (read.ok()) {  // whole entries are left, and no other value is
      EXPECT_EQ((*read)->Bytes(), bytes.substr(0, size)) << size;
    } else {
      EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(read.status().message()), HasSubstr("entry ")) << size;
    }
  }
}

TEST(ArchiveTest, RefusesEveryOtherByte) {
  const std::string bytes = Written();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 0x21);
    EXPECT_FALSE(Archive::FromBytes(other).ok()) << at;
  }
}

}  // namespace
}  // namespace weft::rtc
