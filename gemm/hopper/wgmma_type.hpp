// Which type of wgmma multiplies elements of a C++ type, of products and convolutions alike.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/wgmma.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/element/float8.hpp"
#include "weft/layouts/element/tf32.hpp"

namespace weft::gemm {

// An element that wgmma does not multiply has none: a use of it does not compile.
template <class Element>
struct WgmmaTypeOf;
template <>
struct WgmmaTypeOf<std::int8_t> : std::integral_constant<arch::WgmmaType, arch::WgmmaType::kS8> {};
template <>  // wgmma's first operand is B
struct WgmmaTypeOf<std::uint8_t> : std::integral_constant<arch::WgmmaType, arch::WgmmaType::kS8U8> {
};
template <>
struct WgmmaTypeOf<Half> : std::integral_constant<arch::WgmmaType, arch::WgmmaType::kF16> {};
template <>
struct WgmmaTypeOf<Bfloat16> : std::integral_constant<arch::WgmmaType, arch::WgmmaType::kBf16> {};
template <>
struct WgmmaTypeOf<Float8E4m3> : std::integral_constant<arch::WgmmaType, arch::WgmmaType::kE4m3> {};
template <>
struct WgmmaTypeOf<Float8E5m2> : std::integral_constant<arch::WgmmaType, arch::WgmmaType::kE5m2> {};
template <>
struct WgmmaTypeOf<Tf32> : std::integral_constant<arch::WgmmaType, arch::WgmmaType::kTf32> {};

}  // namespace weft::gemm
