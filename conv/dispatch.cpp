#include "weft/conv/dispatch.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "weft/conv/depthwise_pointwise.hpp"

namespace weft::conv {

std::string AccessNote(const Problem& problem, const ConvFacts& facts,
                       const std::vector<Candidate>& candidates, int) {
  int widest_src = 0, widest_dst = 0;
  for (const Candidate& c : candidates) {
    // Padding does not help where the machine is refused.
    if (!c.status.ok() && !absl::IsInvalidArgument(c.status)) continue;
    widest_src = std::max(widest_src, c.facts.config.alignment.src);
    widest_dst = std::max(widest_dst, c.facts.config.alignment.dst);
  }
  const int src = facts.config.alignment.src, dst = facts.config.alignment.dst;
  const int dst_channels = 8 * widest_dst / facts.store.element_bits;
  std::string note;
  if (src < widest_src && problem.c % widest_src != 0) {
    absl::StrAppend(&note, "c=", problem.c, " is not a multiple of ", widest_src, ": ", src,
                    "-byte loads, pad C to ", RoundUp(problem.c, widest_src), " for ", widest_src,
                    "-byte ones; ");
  }
  const bool ragged = facts.output.channel_run == 0;  // blocked layouts pad K by themselves
  if (ragged && dst < widest_dst && problem.k % dst_channels != 0) {
    absl::StrAppend(&note, "k=", problem.k, " is not a multiple of ", dst_channels, ": ", dst,
                    "-byte stores, pad K to ", RoundUp(problem.k, dst_channels), " for ",
                    widest_dst, "-byte ones; ");
  }
  return note;
}

}  // namespace weft::conv

namespace weft::gemm::internal {

WEFT_CHOOSE(, conv::ConvolutionPlanner)
WEFT_CHOOSE(, conv::DepthwisePointwisePlanner)

}  // namespace weft::gemm::internal
