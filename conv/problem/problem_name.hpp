// Names of convolutions' problems, for files and logs: n16c64h92w160k32r3s1p1.
#pragma once

#include <string>

#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// A problem in one word. Equal problems have equal names:
//
//     n<N> c<C> h<H> w<W> k<K> r<R> s<stride> p<padding> [d<dilation>] [g<groups>] [flipped]
//
// without the spaces. Where the two directions differ, both are written, rows first: r3x5, s1x2,
// d1x2, and p1x2x1x2 for top, left, bottom, right. Dilation 1, 1 group and cross-correlation are
// left out.
std::string ProblemName(const Problem& problem);

// The problem called `name`. InvalidArgument says which part is wrong and what would be accepted.
// Numbers have at most 12 digits; CheckProblem says whether they describe a convolution.
absl::StatusOr<Problem> ParseProblemName(const std::string& name);

// The same for the notation of layer lists and programs (perf/layers/README.md). Without `n` the
// batch is 1; *has_batch, if it is not null, tells whether there was one. Without `p` the padding
// is half the filter, rounded down.
absl::StatusOr<Problem> ParseLayerName(const std::string& name, bool* has_batch = nullptr);
// The name that ParseLayerName reads. It omits the padding where that is what ParseLayerName
// assumes.
std::string LayerName(const Problem& problem, bool with_batch);

}  // namespace weft::conv
