// What a twin is to the program that loads it. A twin is the shared object that g++ makes of a policy
// given as text: the same kernels as on a GPU, for the CPU. Its one symbol, weft_twin, is a TwinTable.
// Both sides include this header, and nothing of Abseil.
#pragma once

#include <cstdint>

#include "weft/conv/ready_made.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"
#include "weft/gemm/check/output_run.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/rtc/cpu/executor_table.hpp"
#include "weft/rtc/policy/policy_record.hpp"

namespace weft::rtc {

struct TwinTable {
  const void* data = nullptr;  // the PolicyData
  std::int64_t data_bytes = 0;
  void (*set_executor)(const ExecutorTable& executor) = nullptr;
  bool (*run)(const gemm::Launch&, const arch::CpuOptions&, arch::CpuReport*) = nullptr;
  // The prologue's own function, and gemm::DescribeEpilogue of these bytes: of the policy's own epilogue and, behind that, of those of
  // an operator's other convolutions.
  std::int64_t (*filters)(const prologues::BatchExtents&) = nullptr;
  void (*describe_epilogue[1 + kOtherParts])(const void* epilogue, gemm::OutputRun* run) = {};
};

namespace internal {

template <class Epilogue>
void DescribeEpilogue(const void* bytes, gemm::OutputRun* run) {
  gemm::DescribeEpilogue(*static_cast<const Epilogue*>(bytes), run);
}

template <class PolicyT>
bool RunOnCpu(const gemm::Launch& launch, const arch::CpuOptions& options,
              arch::CpuReport* report) {
  return gemm::StartKernel<PolicyT>(
      launch, [&]<class Kernel>(const typename Kernel::Params& params,
                                const arch::LaunchAttributes& attributes) {
        *report = arch::LaunchOnCpu<Kernel>(launch.grid, params, options, attributes);
      });
}

}  // namespace internal

// The table of a policy, for what is written behind its text. Own: the policy of the convolution whose epilogue makes the output,
// PolicyT itself where it is of one; Others: those of the other convolutions.
template <class PolicyT, class Own, class... Others, class Data>
constexpr TwinTable TwinOf(const Data* data, void (*set_executor)(const ExecutorTable&)) {
  TwinTable t;
  t.data = data;
  t.data_bytes = sizeof(Data);
  t.set_executor = set_executor;
  t.run = &internal::RunOnCpu<PolicyT>;
  t.filters = [](const prologues::BatchExtents& extents) -> std::int64_t {
    return Own::Prologue::Filters(extents);
  };
  int i = 0;
  t.describe_epilogue[i++] = &internal::DescribeEpilogue<typename Own::Epilogue>;
  ((t.describe_epilogue[i++] = &internal::DescribeEpilogue<typename Others::Epilogue>), ...);
  return t;
}

}  // namespace weft::rtc
