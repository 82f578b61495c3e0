#include "tests/conv/zero_point_wgmma_cases.hpp"
