// The two operator definitions of docs/porting.md, as Weft policies. The comments beside the
// numbers give the positional parameters that they come from.
#pragma once

#include "weft/conv/policy.hpp"

namespace weft::conv {

// conv + bias + ReLU + clamp over NCxHWx<32>, tensor cores of sm_75.
struct PortedNc32 {
  using Element = std::int8_t;      // element of src and of filter
  using SrcLayout = NCxHWx<32>;     // layout of src: TensorNCxHWx<32>
  using FilterLayout = CxRSKx<32>;  // layout of filter: TensorCxRSKx<32>
  using DstLayout = NCxHWx<32>;     // layout of dst: TensorNCxHWx<32>
  using Prologue = prologues::SharedFilter;
  using Epilogue =  // the epilogue operator: bias, ReLU, clamp
      epilogues::Chain<epilogues::Scale, epilogues::Bias<std::int32_t>, epilogues::Relu,
                       epilogues::ClampTo<std::int8_t>>;
  static constexpr auto config = MmaSm75Config(  // OpClassTensorOp, Sm75; GemmShape<8, 8, 16>
      {64, 32, 64},                              // GemmShape<32, 64, 64>, m and n exchanged
      {16, 32, 64},                              // GemmShape<32, 16, 64>, likewise
      16);                                       // bytes of a store; the source's are 16
};

// conv + bias + HSwish over NCxHWx<4>, stored as NCxHWx<32>, dp4a.
struct PortedNc4ToNc32 {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  using DstLayout = NCxHWx<32>;
  using Prologue = prologues::SharedFilter;
  using Epilogue =  // the epilogue operator: bias, HSwish, clamp
      epilogues::Chain<epilogues::Scale, epilogues::Bias<std::int32_t>, epilogues::HSwish,
                       epilogues::OutputScale, epilogues::ClampTo<std::int8_t>>;
  static constexpr auto config = SimtConfig(  // OpClassSimt, Sm61; GemmShape<1, 1, 4>
      {128, 64, 32},                          // GemmShape<64, 128, 32>, m and n exchanged
      {32, 64, 32},                           // GemmShape<64, 32, 32>, likewise
      {8, 8, 4},                              // one thread's sums; k of an instruction
      8);                                     // bytes of a store; the source's are 4
};

// The same with stores of 16 bytes: 16 adjacent channels in one thread.
struct PortedNc4ToNc32Wide : PortedNc4ToNc32 {
  static constexpr auto config = SimtConfig({128, 64, 32}, {32, 64, 32}, {4, 16, 4}, 16);
};

}  // namespace weft::conv
