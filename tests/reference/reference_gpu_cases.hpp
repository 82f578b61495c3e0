// The reference as a kernel against the reference as a function: compiled by g++ the kernel runs on
// the CPU, compiled by nvcc on the GPU.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "perf/support/random.hpp"
#include "tests/operator_memory.hpp"
#include "tests/reference/reference_gpu.hpp"

#if defined(WEFT_CPU_BACKEND)
#include "weft/gemm/arch/cpu_launch.hpp"
#endif

namespace weft::reference {

template <class Activation>
void ExpectKernelMatches(const conv::Problem& problem, const Activation& activation) {
  const auto src = perf::RandomInt8s(problem.n * problem.c * problem.h * problem.w, 1);
  const auto filter = perf::RandomInt8s(problem.k * problem.c * problem.r * problem.s, 2);
  const auto scale = perf::RandomFloats(problem.k, 3, 0.0005f, 0.002f);
  const auto bias = perf::RandomFloats(problem.k, 4, -20.0f, 20.0f);
  EpilogueData epilogue;
  epilogue.channel_alpha = scale.data();
  epilogue.bias = bias.data();
  const std::vector<std::int8_t> want =
      Convolve(problem, src.data(), filter.data(), epilogue, activation, kInt8);

  const OperatorMemory<std::int8_t> src_memory(src), filter_memory(filter);
  const OperatorMemory<float> scale_memory(scale), bias_memory(bias);
  const OperatorMemory<std::int8_t> dst_memory(std::vector<std::int8_t>(want.size(), 0x77));
  ConvolveParams<Activation> params;
  params.problem = problem;
  params.src = src_memory.get();
  params.filter = filter_memory.get();
  params.epilogue.channel_alpha = scale_memory.get();
  params.epilogue.bias = bias_memory.get();
  params.activation = activation;
  params.dst = dst_memory.get();
#if defined(WEFT_CUDA_BACKEND)
  const arch::LaunchResult result = ConvolveOnGpu(params, nullptr);
  ASSERT_TRUE(result.ok()) << result.message;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  const auto report =
      arch::LaunchOnCpu<ConvolveKernel<Activation> >({ConvolveBlocks(params), 1, 1}, params);
  ASSERT_TRUE(report.ok()) << report.error;
#endif
  EXPECT_EQ(dst_memory.Read(), want);
}

TEST(ReferenceKernel, EqualsTheReference) {
  conv::Problem p = conv::SquareProblem(2, 5, 9, 7, 3, 1, 2);
  ExpectKernelMatches(p, ReluActivation());
  p.pad_left = 2;
  p.dilation_h = 2;
  p.mode = conv::Mode::kConvolution;
  ExpectKernelMatches(p, HSwishActivation());
  ExpectKernelMatches(conv::SquareProblem(3, 16, 8, 12, 1, 0, 1), NoActivation());
}

}  // namespace weft::reference
