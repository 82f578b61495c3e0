// A choice that who makes a network has, and files of plans keep.
#pragma once

#include <cstdint>

namespace weft::network {

// Which bottlenecks are one kernel, and which first layers pool their own output, among those that a kernel can run.
enum class Blocks : std::int8_t {
  kWhereQuicker,  // on GPUs that it is made for, where it takes less time than the convolutions by themselves
  kAlways,  // also on the CPU, where it is slower, and has the same results
  kNever,
};

}  // namespace weft::network
