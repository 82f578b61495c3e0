// The tensor formats of layouts/formats.hpp as nested layouts.
//
// An activation's layout takes (n, c, h, w), a filter's (k, c, r, s); channels of a blocked format
// are the nested mode (x, C/x), so a plain channel number works as well as (c % x, c / x):
//   NCxHWx<x>  (N, (x, C/x), H, W) : (C/x*H*W*x, (1, H*W*x), W*x, x)        C rounded up to x
//   CxRSKx<x>  (K, (x, C/x), R, S) : (x, (1, R*S*K*x), S*K*x, K*x)          C and K rounded up to x
// and NHWC, NCHW, KRSC and KCRS are the compact layouts in their order. Numbers are int64 but for
// the interleave and unit strides, which are static.
#pragma once

#include <cstdint>

#include "weft/layouts/algebra/layout.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::layouts {

// The layout of an activation of extents e in format Format. Its channel mode covers the padding:
// Size<1> is Format::PaddedC(e.c), and Size(layout) is Format::Size(e).
template <TensorFormat Format>
constexpr auto FormatLayout(const TensorExtents& e) {
  if constexpr (Format::kInterleave > 1) {
    constexpr Int<Format::kInterleave> x{};
    const std::int64_t blocks = CeilDiv(e.c, x);
    return MakeLayout(
        MakeTuple(e.n, MakeTuple(x, blocks), e.h, e.w),
        MakeTuple(blocks * e.h * e.w * x, MakeTuple(Int<1>{}, e.h * e.w * x), e.w * x, x));
  } else if constexpr (Format::kChannelRun == 0) {
    return MakeLayout(MakeTuple(e.n, e.c, e.h, e.w), Order<3, 0, 2, 1>{});
  } else {
    static_assert(Format::kChannelRun == 1, "layouts: FormatLayout knows NCxHWx<x>, NHWC and NCHW");
    return MakeLayout(MakeTuple(e.n, e.c, e.h, e.w), RowMajor{});
  }
}

namespace detail {

template <class Format>
struct FilterLayout;

template <int kX>
struct FilterLayout<CxRSKx<kX>> {
  static constexpr auto Make(const FilterExtents& e) {
    constexpr Int<kX> x{};
    const std::int64_t k = CxRSKx<kX>::PaddedK(e.k);
    return MakeLayout(MakeTuple(k, MakeTuple(x, CeilDiv(e.c, x)), e.r, e.s),
                      MakeTuple(x, MakeTuple(Int<1>{}, e.r * e.s * k * x), e.s * k * x, k * x));
  }
};
template <>
struct FilterLayout<KRSC> {
  static constexpr auto Make(const FilterExtents& e) {
    return MakeLayout(MakeTuple(e.k, e.c, e.r, e.s), Order<3, 0, 2, 1>{});
  }
};
template <>
struct FilterLayout<KCRS> {
  static constexpr auto Make(const FilterExtents& e) {
    return MakeLayout(MakeTuple(e.k, e.c, e.r, e.s), RowMajor{});
  }
};

}  // namespace detail

// The layout of a filter of extents e in format Format, the padding of K and C included.
template <FilterFormat Format>
constexpr auto FormatLayout(const FilterExtents& e) {
  return detail::FilterLayout<Format>::Make(e);
}

}  // namespace weft::layouts
