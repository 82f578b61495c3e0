// Running the kernels of sm_90 that need more than words on the back end at hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/gemm/arch/copy_cases.hpp"
#include "tests/gemm/arch/expect_output.hpp"
#include "tests/gemm/arch/wgmma_kernels.hpp"

namespace weft::arch::testing {
namespace {

#if defined(WEFT_CUDA_BACKEND)

// Null if the GPU at hand can run kernels with these requirements, otherwise why not.
inline const char* CannotRun(Requires needed) {
  const DeviceQuery query = QueryDevice();
  if (!query.result.ok()) return query.result.message;
  return needed.Fits(query.limits.compute_capability) ? nullptr : "another compute capability";
}

#else

inline const char* CannotRun(Requires) {
  return nullptr;
}

#endif

#if defined(WEFT_CUDA_BACKEND)

struct CpuWay {};  // there is one way on the GPU
inline std::vector<CpuWay> FewWays() {
  return {{}};
}
inline std::vector<CpuWay> AllWays() {
  return {{}};
}

inline bool MakeMap(const TensorMapSpec& spec, TensorMap* map) {
  const LaunchResult result = EncodeTensorMap(spec, map);
  EXPECT_TRUE(result.ok()) << result.message << ", code " << result.cuda_error;
  return result.ok();
}

#else

using CpuWay = CpuOptions;
inline std::vector<CpuWay> AllWays() {
  return AllSchedules();
}

inline bool MakeMap(const TensorMapSpec& spec, TensorMap* map) {
  const char* fault = TensorMapFault(spec);
  EXPECT_STREQ(fault != nullptr ? fault : "", "");
  *map = CpuTensorMap(spec);
  return fault == nullptr;
}

// A few ways that differ in what happens late: for kernels too large to run in all.
inline std::vector<CpuOptions> FewWays() {
  return {{.schedule = Schedule::kForward},
          {.copies = Copies::kEager},
          {.schedule = Schedule::kReverse},
          {.schedule = Schedule::kPriority, .seed = 3},
          {.schedule = Schedule::kRandom, .seed = 5}};
}

#endif

// The outputs of the kernel for `params` made by make(in on the device, out on the device), in each
// way of running it.
template <class Kernel, class Make>
std::vector<std::vector<uint32_t>> RunWays(const std::vector<uint32_t>& in, int out_words,
                                           Make make, Dim3 grid = {1},
                                           const std::vector<CpuWay>& ways = FewWays()) {
  std::vector<std::vector<uint32_t>> outs;
  (void)ways;
  std::vector<uint32_t> out(out_words, kUntouched);
#if defined(WEFT_CUDA_BACKEND)
  const DeviceWords device_in(in);
  const DeviceWords device_out(out);
  typename Kernel::Params params{};
  EXPECT_TRUE(make(device_in.get(), device_out.get(), &params));
  const LaunchResult result = LaunchOnCuda<Kernel>(grid, params, nullptr);
  EXPECT_STREQ(result.message, "");
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  device_out.CopyTo(&out);
  outs.push_back(out);
#else
  // Tensor maps want their base aligned.
  std::vector<uint32_t> memory(in.size() + 32);
  uint32_t* aligned = memory.data();
  while (reinterpret_cast<uintptr_t>(aligned) % 128 != 0) ++aligned;
  std::memcpy(aligned, in.data(), in.size() * 4);
  for (const CpuOptions& options : ways) {
    out.assign(out_words, kUntouched);
    typename Kernel::Params params{};
    EXPECT_TRUE(make(aligned, out.data(), &params));
    EXPECT_EQ(LaunchOnCpu<Kernel>(grid, params, options).error, "")
        << ::testing::PrintToString(options);
    outs.push_back(out);
  }
#endif
  return outs;
}

template <CopyKind kKind, int kRank>
std::vector<std::vector<uint32_t>> RunCopyOf(const CopyCase& c,
                                             const std::vector<uint32_t>& tensor) {
  using Kernel = TmaCopyKernel<kKind, kRank>;
  return RunWays<Kernel>(tensor, kCopyWords,
                         [&](const uint32_t* in, uint32_t* out, CopyParams* params) {
                           std::memcpy(params->coord, c.coord, sizeof(c.coord));
                           std::memcpy(params->offset, c.offset, sizeof(c.offset));
                           params->target = c.target;
                           params->out = out;
                           params->source = reinterpret_cast<const char*>(in) + c.source_offset;
                           params->bytes = c.bulk_bytes;
                           if (kKind == CopyKind::kBulk) return true;
                           TensorMapSpec spec = c.spec;
                           spec.base = in;
                           params->bytes = static_cast<uint32_t>(spec.Bytes());
                           return MakeMap(spec, &params->map);
                         });
}

// What shared memory holds after the copy.
inline std::vector<std::vector<uint32_t>> RunCopy(const CopyCase& c,
                                                  const std::vector<uint32_t>& tensor) {
  if (c.kind == CopyKind::kBulk) return RunCopyOf<CopyKind::kBulk, 1>(c, tensor);
  const bool tiled = c.kind == CopyKind::kTiled;
  switch (c.spec.rank) {
    case 1:
      return RunCopyOf<CopyKind::kTiled, 1>(c, tensor);
    case 2:
      return RunCopyOf<CopyKind::kTiled, 2>(c, tensor);
    case 3:
      return tiled ? RunCopyOf<CopyKind::kTiled, 3>(c, tensor)
                   : RunCopyOf<CopyKind::kIm2col, 3>(c, tensor);
    case 4:
      return tiled ? RunCopyOf<CopyKind::kTiled, 4>(c, tensor)
                   : RunCopyOf<CopyKind::kIm2col, 4>(c, tensor);
    default:
      return tiled ? RunCopyOf<CopyKind::kTiled, 5>(c, tensor)
                   : RunCopyOf<CopyKind::kIm2col, 5>(c, tensor);
  }
}

// The registers after the products, `params` without its pointers.
template <class Kernel>
std::vector<std::vector<uint32_t>> RunProducts(const WgmmaParams& params,
                                               const std::vector<uint32_t>& arena, int n) {
  return RunWays<Kernel>(arena, 128 * n / 2,
                         [&](const uint32_t* in, uint32_t* out, WgmmaParams* p) {
                           *p = params;
                           p->arena = in;
                           p->out = out;
                           p->words = static_cast<uint32_t>(arena.size());
                           return true;
                         });
}

// in: kWords to start from, then kWords to be added by each of `links` dependent launches.
inline void ExpectChain(const std::vector<uint32_t>& in, const std::vector<uint32_t>& expected,
                        int words, int blocks, int links) {
#if defined(WEFT_CUDA_BACKEND)
  const DeviceWords memory(in);
  uint32_t* const from = memory.get();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  for (int i = 0; i < links; ++i) {
    const LaunchResult result = LaunchOnCuda<DependentKernel>({blocks}, {from, from + words, from},
                                                              stream, {.dependent = true});
    EXPECT_STREQ(result.message, "");
  }
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  (void)cudaStreamDestroy(stream);
  std::vector<uint32_t> out(in.size());
  memory.CopyTo(&out);
  out.resize(words);
  EXPECT_EQ(out, expected);
#else
  for (const CpuOptions& options : FewWays()) {
    std::vector<uint32_t> memory = in;
    LaunchAttributes attributes{.dependent = true};
    attributes.constant[0] = {memory.data() + words, static_cast<size_t>(words) * 4};
    for (int i = 0; i < links; ++i) {
      const CpuReport report = LaunchOnCpu<DependentKernel>(
          {blocks}, {memory.data(), memory.data() + words, memory.data()}, options, attributes);
      EXPECT_EQ(report.error, "");
    }
    memory.resize(words);
    EXPECT_EQ(memory, expected);
  }
#endif
}

}  // namespace
}  // namespace weft::arch::testing
