#include "perf/support/json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace weft::perf {
namespace {

TEST(Json, ObjectsAndArrays) {
  JsonWriter json;
  json.BeginObject();
  json.Field("name", std::string("a \"b\"\\\n"));
  json.Key("rows");
  json.BeginArray();
  json.BeginObject(true);
  json.Field("x", 1);
  json.Field("y", 2.5);
  json.Key("z");
  json.BeginArray();
  json.Integer(-1);
  json.EndArray();
  json.EndObject();
  json.BeginObject(true);
  json.EndObject();
  json.EndArray();
  json.Key("empty");
  json.BeginArray();
  json.EndArray();
  json.EndObject();
  EXPECT_EQ(json.text(),
            "{\n  \"name\": \"a \\\"b\\\"\\\\\\u000a\",\n  \"rows\": [\n"
            "    {\"x\": 1, \"y\": 2.5, \"z\": [-1]},\n    {}\n  ],\n  \"empty\": []\n}\n");
}

TEST(Json, Numbers) {
  const auto text = [](double value, int digits) {
    JsonWriter json;
    json.Number(value, digits);
    return json.text();
  };
  EXPECT_EQ(text(1.0, 3), "1");
  EXPECT_EQ(text(100.0, 0), "100");
  EXPECT_EQ(text(-0.12345, 3), "-0.123");
  EXPECT_EQ(text(2.50, 2), "2.5");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity(), 3), "null");
}

}  // namespace
}  // namespace weft::perf
