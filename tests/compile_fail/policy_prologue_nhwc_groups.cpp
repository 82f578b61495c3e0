// Groups over NHWC, which no mainloop serves.
// EXPECT: static assertion failed: weft: .*[Pp]rologue.*NHWC
#include "tests/conv/prologue_policies.hpp"
#include "weft/conv/convolution.hpp"

using Mine = weft::conv::NhwcPrologue<weft::prologues::Grouped, weft::NHWC, 64, 64, 16, 4>;

auto op = weft::conv::Convolution<Mine>::Create({});
