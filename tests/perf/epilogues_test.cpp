#include "perf/support/epilogues.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::perf {
namespace {

TEST(Epilogues, EveryNameIsRead) {
  for (const std::string& name : EpilogueNames()) {
    const absl::StatusOr<Epilogue> epilogue = ParseEpilogue(name);
    ASSERT_TRUE(epilogue.ok()) << name;
    EXPECT_EQ(EpilogueName(*epilogue), name);
  }
  EXPECT_EQ(*ParseEpilogue("bias_relu"), Epilogue::kBiasRelu);
  EXPECT_EQ(*ParseEpilogue("residual"), Epilogue::kResidual);
  EXPECT_EQ(*ParseEpilogue("hswish"), Epilogue::kHSwish);
}

TEST(Epilogues, SaysWhatThereIs) {
  EXPECT_EQ(ParseEpilogue("relu").status().message(),
            "epilogue 'relu' does not exist; there are bias_relu, residual, hswish");
  EXPECT_FALSE(ParseEpilogue("").ok());
}

TEST(Epilogues, TextSaysWhatIsComputed) {
  EXPECT_THAT(EpilogueText(Epilogue::kResidual), testing::HasSubstr("residual, ReLU"));
  EXPECT_THAT(EpilogueText(Epilogue::kHSwish), testing::HasSubstr("hard swish"));
}

}  // namespace
}  // namespace weft::perf
