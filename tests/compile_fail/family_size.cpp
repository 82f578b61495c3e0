// weft_add_family() told another number of policies than there are.
// EXPECT: static assertion failed: weft: weft_add_family\(\) was told another number of policies
#include "weft/conv/ready_made.hpp"

using Second = weft::conv::PolicyOf<weft::conv::S8Conv4Family<>, 7, 1>;
Second policy;
