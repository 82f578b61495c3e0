// The policies of rtc_bench as types: cases.def has them.
#pragma once

#include <cstdint>

#include "perf/bench/tiles.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf::rtc_cases {

using namespace conv;  // as in the text
using namespace epilogues;

#define TEXT(...) __VA_ARGS__
#define CASE(name, layer, ...) struct name : __VA_ARGS__;
#include "perf/rtc_bench/cases.def"

using Operators = gemm::JoinFamilies<
#define CASE(name, ...) gemm::Family<name>,
#include "perf/rtc_bench/cases.def"
    gemm::Family<>>;

}  // namespace weft::perf::rtc_cases
