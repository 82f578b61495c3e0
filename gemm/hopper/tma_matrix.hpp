// Operands of matrix products that TMA loads: the iterator of their TmaOperand (tma_operand.hpp).
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/gemm/hopper/tma_operand.hpp"
#include "weft/gemm/hopper/wgmma_sm90.hpp"
#include "weft/gemm/ring/tma_producer.hpp"

namespace weft::gemm {

// How TMA loads a k tile of a tile's rows of A (columns of B): as `copies` boxes of lines of 128
// bytes, with the 128-byte swizzle. The tensor map's third dimension counts the matrices of a
// batch. A box of a K-major operand holds 128 bytes of k of all rows that exist (LoadedRows); a box
// of an MN-major operand holds 128 bytes of rows for all k of the k tile.
struct MatrixCopies {
  static constexpr int kLineBytes = 128;
  std::int32_t copies = 0;
  std::int32_t copy_bytes = 0;
  std::int32_t stage_k = 0;  // k of a k tile; in elements, as all coordinates
  std::int32_t line = 0;     // elements of a line
  std::int32_t step = 0;     // matrices from one product to the next: 1, or 0 if all share one
};

struct TmaMatrixParams : MatrixCopies {
  arch::TensorMap map;
};

// Bytes in shared memory, at most, of a k tile of `rows` rows and stage_k elements of k. lines:
// whether the operand is K-major.
constexpr int MatrixKTileBytes(int rows, int stage_k, int element_bytes, bool lines) {
  constexpr int kLine = TmaMatrixParams::kLineBytes;
  const int along = (lines ? stage_k : rows) * element_bytes, across = lines ? rows : stage_k;
  return CeilDiv(along, kLine) * kLine * across;
}

inline namespace WEFT_BACKEND {

// The iterator of a TmaOperand over a matrix. kRows: rows of a tile. Rows: which of the tile's m and
// n counts them (share.hpp). Kind: its MatrixKind, in which kWhole has no meaning.
template <class Rows, int kRows, class Kind>
class TmaMatrixIterator {
 public:
  using Params = TmaMatrixParams;
  template <class Tile>
  WEFT_DEVICE TmaMatrixIterator(const Params& p, const Tile& tile)
      : p_(p), first_(Rows::Index(tile) * kRows), product_(tile.product * p.step) {
    if constexpr (Kind::kShared) first_ += tile.first_row;
  }

  WEFT_DEVICE void Seek(int) {}
  WEFT_DEVICE int Count(int) const { return p_.copies; }

  template <class Load>
  WEFT_DEVICE void ForEachCopy(int k_tile, CopyShare share, const Load& load) const {
    const std::int32_t k = k_tile * p_.stage_k;
    WEFT_NO_UNROLL
    for (int i = share.begin; i < p_.copies && i < share.end; ++i) {
      const std::int32_t step = i * p_.line;
      const std::int32_t lines[3] = {k + step, first_, product_};
      const std::int32_t across[3] = {first_ + step, k, product_};
      load(i, Kind::kKMajor ? lines : across);
    }
  }

 private:
  const Params& p_;
  std::int32_t first_, product_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
