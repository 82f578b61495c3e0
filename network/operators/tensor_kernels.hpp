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
// The kernel of a window, and that of any where accesses are not wide.
template <bool kWide, bool kMax, class Window>
using PoolOrWindow = std::conditional<kWide, Window, PoolKernel<kMax, false>>;

template <>
struct TensorKernelOf<TensorKernel::kQuantizeImage, false>
    : std::type_identity<PointwiseKernel<TensorKernel::kQuantize, false>> {};
template <>
struct TensorKernelOf<TensorKernel::kQuantizeImage, true>
    : std::type_identity<QuantizeImageKernel> {};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kMaxPool, kWide> : std::type_identity<PoolKernel<true, kWide>> {
};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kAveragePool, kWide>
    : std::type_identity<PoolKernel<false, kWide>> {};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kMaxPool2By2, kWide>
    : PoolOrWindow<kWide, true, WindowPoolKernel<true, 2, 2, 2, 1>> {};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kMaxPool3By3, kWide>
    : PoolOrWindow<kWide, true, WindowPoolKernel<true, 3, 2, 2, 1>> {};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kMaxPool5By5, kWide>
    : PoolOrWindow<kWide, true, WindowPoolKernel<true, 5, 1, 4, 2>> {};
template <bool kWide>
struct TensorKernelOf<TensorKernel::kAveragePool2By2, kWide>
    : PoolOrWindow<kWide, false, WindowPoolKernel<false, 2, 2, 2, 1>> {};
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
