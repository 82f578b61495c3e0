// The kernels of this folder, by number.
#pragma once

#include <type_traits>

#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/network/operators/global_average_kernel.hpp"
#include "weft/network/operators/image_kernel.hpp"
#include "weft/network/operators/pointwise_kernel.hpp"
#include "weft/network/operators/pool_kernel.hpp"
#include "weft/network/operators/tensor_params.hpp"

namespace weft::network {
inline namespace WEFT_BACKEND {

template <TensorKernel kDoes, bool kWide>
struct TensorKernelOf : std::type_identity<PointwiseKernel<kDoes, kWide>> {};
template <>
struct TensorKernelOf<TensorKernel::kQuantizeImage, false>
    : std::type_identity<PointwiseKernel<TensorKernel::kQuantize, false>> {};
template <>
struct TensorKernelOf<TensorKernel::kQuantizeImage, true>
    : std::type_identity<QuantizeImageKernel> {};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kMaxPool, kWide>
    : std::type_identity<PoolKernel<Greatest, kWide>> {};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kAveragePool, kWide>
    : std::type_identity<PoolKernel<Average, kWide>> {};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kGlobalAverage, kWide>
    : std::type_identity<GlobalAverageKernel<kWide>> {};

}  // namespace WEFT_BACKEND
}  // namespace weft::network

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <>
struct KernelList<network::TensorKernels> {
  static constexpr int kCount = 2 * network::kTensorKernels;
  template <int i>
  static constexpr bool kExists = true;
  template <int i>
  using Kernel = typename network::TensorKernelOf<network::TensorKernel{i / 2}, i % 2 == 1>::type;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
