#include "tests/conv/zero_point_copied_cases.hpp"
