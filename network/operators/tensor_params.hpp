// What the kernels of this folder are launched with.
#pragma once

#include <cstdint>

#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/network/operators/tensor_view.hpp"

namespace weft::network {

// Stands in the place of a policy for the back ends (gemm/launch/launch.hpp): its kernels are all of this folder.
struct TensorKernels {};

// What a kernel does. Each has a number in the KernelList, by which it takes tensors of which each group of channels is one
// access; those up to kGlobalAverage have another one, by which they take every tensor.
enum class TensorKernel : std::int8_t {
  kTable,
  kCopy,
  kResize,
  kAdd,
  kMultiply,
  kQuantize,
  kDequantize,
  kMaxPool,
  kAveragePool,
  kGlobalAverage,
  kQuantizeImage,  // kQuantize of an image in planes to pixels
  // Of square windows: their extent, and their stride.
  kMaxPool2By2,      // 2
  kMaxPool3By3,      // 2
  kMaxPool5By5,      // 1
  kAveragePool2By2,  // 2
};
inline constexpr int kWideTensorKernels = 15, kTensorKernels = kWideTensorKernels + 10;

constexpr int NumberOf(TensorKernel kernel, bool wide) {
  if (wide) return static_cast<int>(kernel);
  using enum TensorKernel;
  if (kernel == kQuantizeImage) kernel = kQuantize;
  if (kernel == kAveragePool2By2) kernel = kAveragePool;
  if (kernel > kGlobalAverage) kernel = kMaxPool;
  return kWideTensorKernels + static_cast<int>(kernel);
}

// Of the kernels kTable to kDequantize and kQuantizeImage, each element of whose output is made of one of the source.
struct PointwiseParams {
  TensorView src, other, dst;
  Units units;
  Channels channels;
  ByteNumbers from_src, from_other;
  ByteResult to_dst;
  float ratio =
      1.0f;  // kAdd: a step of src in steps of dst; kMultiply: a step of both; kDequantize: the scale
  float other_ratio = 1.0f;  // kAdd: a step of other in steps of dst
  // kQuantize: what floats are limited to before they are divided by the scale, and the scale.
  float least = 0.0f, most = 0.0f;
  Divisor scale;
  float constant = 0.0f;                // kAdd, kMultiply: what is added last
  gemm::FastDivmod factor_h, factor_w;  // kResize: how many pixels one pixel becomes
  std::int32_t src_w = 0;
  std::uint32_t table[64] = {};  // kTable: what byte 4i + j becomes is byte j of word i
};

// Of kMaxPool and kAveragePool.
struct PoolParams {
  TensorView src, dst;
  Units units;
  Channels channels;
  std::int32_t src_h = 0, src_w = 0;
  std::int32_t window_h = 1, window_w = 1, stride_h = 1, stride_w = 1;
  std::int32_t pad_top = 0, pad_left = 0, dilation_h = 1, dilation_w = 1;
  std::uint32_t neutral = 0;  // four bytes that change no result
  ByteNumbers from_src;       // base has the zero point
  ByteResult to_dst;
  float src_scale = 1.0f;   // kAveragePool
  Divisor dst_scale;        // kAveragePool
  float zero_point = 0.0f;  // kAveragePool: of dst
  // kAveragePool: the pixels that a sum is divided by; 0: those inside the source.
  Divisor taken;
};

// Of kGlobalAverage.
inline constexpr int kMostLogParts = 8;
struct GlobalAverageParams {
  TensorView src, dst;
  Units units;
  Channels channels;
  std::int32_t pixels = 0;     // of the source
  std::int32_t log_parts = 0;  // 1 << log_parts threads share the pixels of a group of channels
  std::uint32_t flip = 0;
  std::int32_t subtract = 0;  // from a sum of bytes, for that of the integers less the zero point
  float ratio = 1.0f;
  ByteResult to_dst;
};

}  // namespace weft::network
