// Table behind Scale, against rounding, limits and a look-up written out; and what is refused of its address.
#include "weft/epilogues/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/check/argument_checks.hpp"

namespace weft::epilogues {
namespace {

template <class Type>
std::vector<Type> Values() {
  std::vector<Type> values(Table<Type>::kValues);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Type>(i * 37 + 11);
  return values;
}

template <class Type>
void CompareAll() {
  const std::vector<Type> values = Values<Type>();
  const Table<Type> table = {values.data()};
  int wrong = 0;
  // Sixteenths, of which every eighth lies halfway between two integers.
  for (int i = -16 * 300; i <= 16 * 300; ++i) {
    const float t = static_cast<float>(i) / 16.0f;
    const int step = std::clamp(static_cast<int>(std::nearbyint(t)), -256, 255);
    wrong += table(t) != static_cast<float>(values[static_cast<std::size_t>(step + 256)]);
  }
  EXPECT_EQ(wrong, 0);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(table(1e30f), static_cast<float>(values[511]));
  EXPECT_EQ(table(kInfinity), static_cast<float>(values[511]));
  EXPECT_EQ(table(-kInfinity), static_cast<float>(values[0]));
  EXPECT_EQ(table(std::numeric_limits<float>::quiet_NaN()), static_cast<float>(values[0]));
}

TEST(Table, LooksUpWhatIsRounded) {
  CompareAll<std::uint8_t>();
  CompareAll<std::int8_t>();
}

// A convolution to int8 with zero point -3, whose integers become bytes by a table.
TEST(Table, TakesTheFirstQuantisationIn) {
  const auto of_byte = [](int q) { return static_cast<std::uint8_t>(q * q / 64 + 5); };
  std::vector<std::uint8_t> values;
  for (int i = -256; i < 256; ++i) values.push_back(of_byte(std::clamp(i - 3, -128, 127)));
  Chain<SumBias, Scale, Table<>, ClampTo<std::uint8_t>> chain;
  chain.Get<Table<>>().table = values.data();
  StageInputs in;
  in.alpha = 0.125f;
  for (int sum = -3000; sum <= 3000; ++sum) {
    in.accumulator = sum;
    const int q = static_cast<int>(std::nearbyint(static_cast<float>(sum) / 8.0f)) - 3;
    ASSERT_EQ(chain(in, OutputCoord{}), of_byte(std::clamp(q, -128, 127))) << sum;
  }
}

TEST(Table, AddressIsChecked) {
  using E = Chain<Scale, Table<std::int8_t>, ClampTo<std::int8_t>>;
  const std::vector<std::int8_t> values = Values<std::int8_t>();
  constexpr gemm::EpilogueFacts kFacts = gemm::EpilogueFactsOf<E>();
  E epilogue;
  gemm::OutputRun run;
  std::vector<std::int8_t> dst(64);
  const gemm::TensorArgument output = {.field = "dst", .address = dst.data(), .line_bytes = 64};
  const auto says = [&](const std::int8_t* table) {
    epilogue.Get<Table<std::int8_t>>().table = table;
    gemm::DescribeEpilogue(epilogue, &run);
    return gemm::CheckArguments("conv", {}, output, gemm::EpilogueArgumentsOf(kFacts, run, 64, {}));
  };
  EXPECT_TRUE(says(values.data()).ok());
  EXPECT_EQ(says(nullptr).message(),
            "conv: args.epilogue's table is null; give the address of 512 values, "
            "args.epilogue.Get<Table<T>>().table");
  EXPECT_EQ(says(dst.data() + 1).message(),
            "conv: args.dst overlaps args.epilogue's table; blocks would read what others have "
            "written, so give dst memory of its own");
}

}  // namespace
}  // namespace weft::epilogues
