#include "perf/support/schedule.hpp"

namespace weft::perf {

absl::Status Interleave(int count, int rounds, double budget_us,
                        const std::function<absl::StatusOr<double>(int)>& sample) {
  double spent = 0.0;
  for (int round = 0; round < rounds; ++round) {
    if (round >= kLeastRounds && spent > budget_us) break;
    for (int i = 0; i < count; ++i) {
      const absl::StatusOr<double> took = sample(i);
      if (!took.ok()) return took.status();
      spent += *took;
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::perf
