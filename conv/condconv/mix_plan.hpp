// Plans the launch of a conv::MixKernel for a problem and a number of experts.
#pragma once

#include <cstdint>
#include <string>

#include "weft/conv/condconv/mix_kernel.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv {

// Where a packed filter has its output channels: word i, of 4 bytes, belongs to channel i /
// channel_words % channels.
struct MixFormat {
  const char* name = "";
  std::int64_t bytes = 0;  // bytes of one filter
  std::int64_t channel_words = 1, channels = 1;
};

template <FilterFormat Format>
constexpr MixFormat MixFormatOf(const FilterExtents& e) {
  MixFormat f = {.name = Format::kName, .bytes = Format::Size(e)};
  if constexpr (Format::kInterleave > 1) {
    f.channel_words = Format::kInterleave / 4;
    f.channels = Format::PaddedK(e.k);
  } else {
    f.channel_words = e.c * e.r * e.s / 4;
    f.channels = e.k;
  }
  return f;
}

// All of a launch but the addresses.
struct MixPlan {
  MixParams params;
  int kernel = 0;  // an index of gemm::KernelList<MixFilters>
  int vector_bytes = 0;
  arch::Dim3 grid;

  std::int64_t workspace_bytes() const { return params.images * params.filter_bytes; }
};

// InvalidArgument if `experts` is not 1 to kMostExperts; OutOfRange where a filter, or all of them
// together, have more bytes than indices reach. An operator must have been created for the problem.
// How many images share a block is chosen for a GPU of `multiprocessors`; any GPU can run it.
absl::StatusOr<MixPlan> PlanMixing(const Problem& problem, const MixFormat& format,
                                   std::int64_t experts, int multiprocessors = 132);

// A description in one line: how many experts are mixed, by which kernel.
std::string DescribeMixing(const MixPlan& plan);

}  // namespace weft::conv
