#include "perf/gemm_bench/products.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::perf {
namespace {

using testing::HasSubstr;

const Json kEnvironment = {{"commit", "abc"}, {"device", "H200"}, {"tiles", "all"}};

Products Planned() {
  Products products;
  products.Plan("S8", {{"layer", "gemm_s8_64"}, {"kernel", "none"}});
  products.Plan("S8", {{"layer", "gemm_s8_128"}, {"kernel", "none"}});
  products.Plan("S8RowRow", {{"layer", "gemm_s8_64"}, {"kernel", "none"}});
  return products;
}
Json Row(const char* family, const char* layer, const char* kernel, const char* status = "ok") {
  return {{"layer", layer}, {"kernel", kernel}, {"family", family}, {"status", status}};
}

TEST(Products, WhatIsOpenSaysSo) {
  Products products = Planned();
  EXPECT_EQ(products.open(), 3);
  products.Put("S8", "gemm_s8_64", {Row("S8", "gemm_s8_64", "a"), Row("S8", "gemm_s8_64", "b")});
  EXPECT_FALSE(products.IsOpen("S8", "gemm_s8_64"));
  EXPECT_TRUE(products.IsOpen("S8RowRow", "gemm_s8_64"));
  EXPECT_FALSE(products.IsOpen("U8", "gemm_s8_64"));  // not planned
  const std::vector<Json> rows = products.Rows();
  ASSERT_EQ(rows.size(), 4);
  EXPECT_EQ(rows[1]["kernel"], "b");
  EXPECT_EQ(rows[2]["layer"], "gemm_s8_128");
  EXPECT_EQ(rows[2]["status"], "not run: no time was left");
  products.Put("S8", "gemm_s8_128", {});  // no tile takes it
  EXPECT_EQ(products.Rows().size(), 3);
  EXPECT_EQ(products.open(), 1);
}

TEST(Products, AnEarlierFileIsContinued) {
  Products first = Planned();
  first.Put("S8", "gemm_s8_64", {Row("S8", "gemm_s8_64", "a", "mismatch")});
  first.Put("S8RowRow", "gemm_s8_64",
            {Row("S8RowRow", "gemm_s8_64", "a"), Row("S8RowRow", "gemm_s8_64", "b", "failed: x")});
  const std::string text = ResultText(kEnvironment, Json::object(), first.Rows());
  Products second = Planned();
  ASSERT_TRUE(second.Resume(text, kEnvironment).ok());
  EXPECT_FALSE(second.IsOpen("S8", "gemm_s8_64"));       // wrong is wrong
  EXPECT_TRUE(second.IsOpen("S8", "gemm_s8_128"));       // not run
  EXPECT_TRUE(second.IsOpen("S8RowRow", "gemm_s8_64"));  // failed
  EXPECT_EQ(second.Rows()[0]["status"], "mismatch");
}

TEST(Products, AFileOfSomethingElseIsNot) {
  for (const char* field : {"commit", "device", "tiles"}) {
    Json other = kEnvironment;
    other[field] = "y";
    Products products = Planned();
    EXPECT_THAT(
        std::string(
            products.Resume(ResultText(other, Json::object(), products.Rows()), kEnvironment)
                .message()),
        HasSubstr(std::string("is of ") + field + " 'y', this run of '"));
  }
  Products products = Planned();
  EXPECT_FALSE(products.Resume("{", kEnvironment).ok());
  EXPECT_FALSE(products.Resume("[]", kEnvironment).ok());
}

}  // namespace
}  // namespace weft::perf
