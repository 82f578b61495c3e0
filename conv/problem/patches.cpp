#include "weft/conv/problem/patches.hpp"

namespace weft::conv {

std::optional<Problem> PatchColumns(const Problem& p) {
  if (p.s == 1 || p.stride_w != p.s || p.w % p.s != 0 || p.IsEmpty()) return std::nullopt;
  if (p.pad_left != 0 || p.pad_right != 0 || p.pad_top != 0 || p.pad_bottom != 0) {
    return std::nullopt;
  }
  if (p.dilation_w != 1 || p.groups != 1 || p.mode != Mode::kCrossCorrelation) return std::nullopt;
  Problem columns = p;
  columns.w /= p.s;
  columns.c *= p.s;
  columns.s = columns.stride_w = 1;
  return columns;
}

std::optional<Problem> PatchImages(const Problem& p) {
  if (p.stride_h != p.r || p.h % p.r != 0 || p.IsEmpty()) return std::nullopt;
  if (p.pad_top != 0 || p.pad_bottom != 0 || (p.r > 1 && p.dilation_h != 1)) return std::nullopt;
  Problem rows = p;
  rows.n *= p.p();
  rows.h = p.r;
  rows.stride_h = 1;
  return rows;
}

}  // namespace weft::conv
