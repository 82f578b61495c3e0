// Operators under the schedules of the executor.
#pragma once

#include <initializer_list>

#include "tests/conv/harness.hpp"

namespace weft::conv {

// Every schedule, each with `seeds` seeds and with copies as `copies` says.
template <class P, class Activation = reference::ReluActivation>
void RunSchedules(const Problem& problem, int seeds = 4,
                  std::initializer_list<arch::Copies> copies = {arch::Copies::kDeferred}) {
  for (const arch::Schedule schedule : {arch::Schedule::kForward, arch::Schedule::kReverse,
                                        arch::Schedule::kPriority, arch::Schedule::kRandom}) {
    for (const arch::Copies each : copies) {
      for (int seed = 1; seed <= seeds; ++seed) {
        RunOptions options;
        options.cpu.schedule = schedule;
        options.cpu.copies = each;
        options.cpu.seed = static_cast<std::uint64_t>(seed);
        options.cpu.workers = 1 + seed % 2;
        ExpectMatchesReference<P>(problem, Activation(), options);
      }
    }
  }
}

}  // namespace weft::conv
