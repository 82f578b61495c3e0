#include "tests/conv/table/problems/tensors.hpp"

#include "tests/reference/reference.hpp"

namespace weft::conv::table {

WEFT_REFERENCE_LOOPS std::vector<std::int64_t> ExactSums(const Problem& problem,
                                                         const std::vector<std::int16_t>& src,
                                                         const std::vector<std::int8_t>& filters,
                                                         const FilterOf& which) {
  const std::int64_t filter_size = KCRS::Size(problem.filter());
  const std::int64_t p = problem.p(), q = problem.q(), group_k = problem.k / problem.groups;
  std::vector<std::int64_t> sums;
  for (std::int64_t n = 0; n < problem.n; ++n) {
    for (std::int64_t k = 0; k < problem.k; ++k) {
      for (std::int64_t i = 0; i < p * q; ++i) {
        const std::int8_t* filter =
            filters.data() + which(n, i / q, i % q, k / group_k) * filter_size;
        sums.push_back(reference::Accumulate(problem, src.data(), filter, n, k, i / q, i % q));
      }
    }
  }
  return sums;
}

}  // namespace weft::conv::table
