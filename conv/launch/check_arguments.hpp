// What is checked of a run before it is launched, for operators that are more than one convolution.
// conv/launch/start.hpp has the check of a convolution.
#pragma once

#include "weft/conv/launch/image.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/check/argument_checks.hpp"

namespace weft::conv {

// The epilogue's part of a run whose destination has the extents dst. The result refers to image and
// run.
gemm::EpilogueArguments ConvEpilogueArguments(const PolicyImage& image, const Problem& problem,
                                              const TensorExtents& dst, const gemm::OutputRun& run);

// The source of a run that reads problem.src().
gemm::TensorArgument SourceArgument(const ConvFacts& facts, const Problem& problem,
                                    const gemm::GivenTensor& src);

// The destination itself.
gemm::TensorArgument DstArgument(const PolicyImage& image, const TensorExtents& dst,
                                 const gemm::GivenTensor& given);

}  // namespace weft::conv
