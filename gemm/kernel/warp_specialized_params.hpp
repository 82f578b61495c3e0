// What the kernels of wgmma_sm90 are launched with. The host makes it, with the same bytes for both
// back ends.
#pragma once

#include <cstdint>

#include "weft/gemm/hopper/wgmma_plan.hpp"
#include "weft/gemm/ring/ring_stages.hpp"

namespace weft::gemm {

// ScheduleT: the scheduler's Params; OperandA, OperandB: those of the operands; OutputT: an
// OutputParams.
template <class ScheduleT, class OperandA, class OperandB, class OutputT>
struct WarpSpecializedParams {
  // What all threads read first stands side by side, in few cache lines: a kernel's parameters are
  // in no cache when it starts.
  MbarRingParams ring;
  std::int32_t k_tiles = 0;
  std::int32_t tiles = 0;
  // K tiles of operand B that are fetched before earlier kernels of the stream have ended, since
  // these do not write it.
  std::int32_t early = 0;
  ScheduleT schedule;
  OperandA a;
  OperandB b;
  OutputT output;
  WgmmaPlan plan;
};

}  // namespace weft::gemm
