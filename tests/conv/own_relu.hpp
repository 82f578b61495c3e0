// An epilogue for tests of what Dispatch chooses.
#pragma once

#include <cstdint>

#include "weft/epilogues/chain.hpp"

namespace weft::conv {

// As BiasRelu, but without GPU code in weft::weft, which would narrow the choice to what has some.
using OwnRelu = epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Identity,
                                 epilogues::Relu, epilogues::ClampTo<std::int8_t>>;

}  // namespace weft::conv
