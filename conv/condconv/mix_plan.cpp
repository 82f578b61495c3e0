#include "weft/conv/condconv/mix_plan.hpp"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/conv/problem/problem_checks.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::conv {
namespace {

using gemm::Int32;
using gemm::kInt32Max;
using internal::Wide;

constexpr int kThreads = MixKernel<8, 2>::kThreads;

// How many of n images share a block. Each of a block's four warps has a scheduler, so the clocks
// are the instructions of one warp: 400 to convert the experts to float and 77 for each image (8
// experts, counted in SASS). A block that is alone takes about 1500 and 137 with its waits.
std::int64_t GroupOf(std::int64_t n, std::int64_t vector_blocks, std::int64_t multiprocessors) {
  constexpr std::int64_t kMostGroups = 512;
  std::int64_t best = n;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t groups = 1; groups <= std::min(n, kMostGroups); ++groups) {
    const std::int64_t group = gemm::CeilDiv(n, groups);
    const double images = static_cast<double>(group);
    const std::int64_t blocks = vector_blocks * gemm::CeilDiv(n, group);
    const double together = static_cast<double>(gemm::CeilDiv(blocks, multiprocessors));
    const double clocks = std::max(together * (77.0 * images + 400.0), 137.0 * images + 1500.0);
    if (clocks < least) best = group, least = clocks;
  }
  return best;
}

}  // namespace

absl::StatusOr<MixPlan> PlanMixing(const Problem& p, const MixFormat& f, std::int64_t experts,
                                   int multiprocessors) {
  if (experts < 1 || experts > kMostExperts) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: experts=", experts, " is not 1 to ", kMostExperts,
                     ", what a thread has registers for; ",
                     experts < 1 ? "give the number of filters in the bank"
                                 : "mix with fewer experts, or write the filters of a PerSample "
                                   "operator by a kernel of your own"));
  }
  if (p.IsEmpty()) {
    MixPlan nothing;
    nothing.params.count = Int32(experts);
    return nothing;
  }
  constexpr std::int64_t kMostWords = kInt32Max - 4 * kThreads;
  if (f.bytes / 4 > kMostWords) {
    return internal::TooLarge("bytes of one filter", f.bytes, 4 * kMostWords, "split K");
  }
  MixPlan plan;
  // The first kernel that has registers for the experts and whose vectors divide a filter's bytes:
  // in KRSC these are a multiple of 4 only.
  for (int i = 0; i < gemm::KernelList<MixFilters>::kCount && plan.vector_bytes == 0; ++i) {
    gemm::VisitKernel<MixFilters>(i, [&]<class Kernel>() {
      static_assert(Kernel::kThreads == kThreads && Kernel::kMost <= kMostExperts);
      if (Kernel::kMost < experts || f.bytes % Kernel::kVectorBytes != 0) return;
      plan.kernel = i;
      plan.vector_bytes = Kernel::kVectorBytes;
    });
  }
  const std::int64_t vectors = f.bytes / plan.vector_bytes;
  const std::int64_t vector_blocks = gemm::CeilDiv(vectors, std::int64_t{kThreads});
  const std::int64_t group = GroupOf(p.n, vector_blocks, multiprocessors);
  const Wide all = Wide{vector_blocks} * gemm::CeilDiv(p.n, group);
  if (all > kInt32Max) {
    return internal::TooLarge("blocks that mix filters", all, kInt32Max, "split the batch");
  }
  plan.grid = {static_cast<int>(all), 1, 1};
  MixParams& params = plan.params;
  params.filter_bytes = f.bytes;
  params.vectors = Int32(vectors);
  params.images = Int32(p.n);
  params.group = Int32(group);
  params.count = Int32(experts);
  params.k = Int32(p.k);
  params.channel_words = gemm::FastDivmod(Int32(f.channel_words));
  params.channels = gemm::FastDivmod(Int32(f.channels));
  params.vector_blocks = gemm::FastDivmod(Int32(vector_blocks));
  return plan;
}

std::string DescribeMixing(const MixPlan& plan) {
  return absl::StrFormat(
      "%d experts mixed by %d blocks of %d threads, %d bytes of a filter and %d images each, into "
      "a workspace of %d bytes",
      plan.params.count, plan.grid.x, kThreads, plan.vector_bytes * kThreads, plan.params.group,
      plan.workspace_bytes());
}

}  // namespace weft::conv
