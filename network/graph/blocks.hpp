// A choice that the caller has who makes a network (NetworkOptions::blocks); an engine keeps it with each plan.
#pragma once

#include <cstdint>

namespace weft::network {

// Which bottlenecks are one kernel, and which first layers pool their own output, among those that one kernel can run: on GPUs of
// compute capability 9.0 and on the CPU.
enum class Blocks : std::int8_t {
  kWhereQuicker,  // on such GPUs, where a model of times expects the one kernel to be quicker than several
  kAlways,  // all of them, also on the CPU, where one kernel is slower; results have the same bits
  kNever,
};

}  // namespace weft::network
