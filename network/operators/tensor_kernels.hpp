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
template <bool kWide>
struct TensorKernelOf<TensorKernel::kMaxPool, kWide> : std::type_identity<PoolKernel<true, kWide>> {
};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kAveragePool, kWide>
    : std::type_identity<PoolKernel<false, kWide>> {};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kGlobalAverage, kWide>
    : std::type_identity<GlobalAverageKernel<kWide>> {};
template <>
struct TensorKernelOf<TensorKernel::kQuantizeImage, true>
    : std::type_identity<QuantizeImageKernel> {};
template <>
struct TensorKernelOf<TensorKernel::kMaxPool2By2, true>
    : std::type_identity<WindowPoolKernel<true, 2, 2, 2, 1>> {};
template <>
struct TensorKernelOf<TensorKernel::kMaxPool3By3, true>
    : std::type_identity<WindowPoolKernel<true, 3, 2, 2, 1>> {};
template <>
struct TensorKernelOf<TensorKernel::kMaxPool5By5, true>
    : std::type_identity<WindowPoolKernel<true, 5, 1, 4, 2>> {};
template <>
struct TensorKernelOf<TensorKernel::kAveragePool2By2, true>
    : std::type_identity<WindowPoolKernel<false, 2, 2, 2, 1>> {};

}  // namespace WEFT_BACKEND
}  // namespace weft::network

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <>
struct KernelList<network::TensorKernels> {
  static constexpr int kCount = network::kTensorKernels, kWide = network::kWideTensorKernels;
  template <int i>
  static constexpr bool kExists = true;
  template <int i>
  using Kernel = typename network::TensorKernelOf<network::TensorKernel{i < kWide ? i : i - kWide},
                                                  (i < kWide)>::type;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
