// A bare functor.
// EXPECT: static assertion failed: weft: Epilogue is a weft::epilogues::Chain<stages...>
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue = weft::epilogues::Relu;
};

const bool kUsed = Use<Mine>();
