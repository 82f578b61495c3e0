// No output stage.
// EXPECT: static assertion failed: weft: an epilogue Chain has exactly one output stage
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::Relu>;
};

const bool kUsed = Use<Mine>();
