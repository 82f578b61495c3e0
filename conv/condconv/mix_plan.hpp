// From a problem and a number of experts to the launch of conv::MixKernel.
#pragma once

#include <cstdint>
#include <string>

#include "weft/conv/condconv/mix_kernel.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv {

// Where a packed filter has its output channels: word i, of 4 bytes, belongs to channel
// i / channel_words % channels.
struct MixFormat {
  const char* name = "";
  std::int64_t bytes = 0;  // of a filter
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

// The launch, addresses aside.
struct MixPlan {
  MixParams params;
  int kernel = 0;  // of gemm::KernelList<MixFilters>
  int vector_bytes = 0;
  arch::Dim3 grid;

  std::int64_t workspace_bytes() const { return params.images * params.filter_bytes; }
};

// InvalidArgument if `experts` is not 1 to kMostExperts; OutOfRange where a filter, or all of them,
// have more bytes than indices reach. The problem is one for which an operator was created. Which
// images share a block is chosen for a GPU of so many multiprocessors; any runs it.
absl::StatusOr<MixPlan> PlanMixing(const Problem& problem, const MixFormat& format,
                                   std::int64_t experts, int multiprocessors = 132);

// What is mixed, and where to; addresses and sizes in bytes.
struct MixArguments {
  gemm::TensorArgument experts, routing, expert_scale, workspace, dst;
  // What the convolution reads besides; not looked at where the address is null.
  gemm::TensorArgument src, bias, channel_alpha, residual;
  std::int64_t count = 0;  // experts of the bank
};

// InvalidArgument for another number of experts, for addresses that are null or misaligned, and for
// overlaps of the workspace, or of dst, with what else is read. ResourceExhausted if the workspace
// is too small.
absl::Status CheckMixArguments(const MixPlan& plan, const MixArguments& args);

// One line: how many experts are mixed, by what.
std::string DescribeMixing(const MixPlan& plan);

}  // namespace weft::conv
