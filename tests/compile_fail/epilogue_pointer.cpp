// The control: functors that read through pointers, which are null by default, are constexpr all through; one whose
// members are const is copied all the same.
// EXPECT_SUCCESS
#include "tests/compile_fail/policy_base.hpp"

struct RowScale {
  const float* scale = nullptr;
  constexpr float operator()(float x, const weft::epilogues::OutputCoord& at) const {
    return x * scale[at.q];
  }
};
struct Table {
  float factor = 0.0f;
  const std::int32_t* index = nullptr;
  const float* value = nullptr;
  constexpr float operator()(float x) const { return factor * x * value[index[0]]; }
};
// No aggregate, so it says itself with what it can be tried.
class Hidden {
 public:
  constexpr Hidden() = default;
  constexpr explicit Hidden(const float* scale) : scale_(scale) {}
  static constexpr float kOne = 1.0f;
  static constexpr Hidden Sample() { return Hidden(&kOne); }
  constexpr float operator()(float x) const { return x * *scale_; }

 private:
  const float* scale_ = nullptr;
};
struct Constant {
  const float zero = 0.0f;
  constexpr float operator()(float x) const { return x > zero ? x : zero; }
};
struct Mine : Base {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, RowScale, Table, Hidden, Constant,
                                          weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
auto run = op->RunOnCpu({});
