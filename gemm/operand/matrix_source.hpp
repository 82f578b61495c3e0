// Matrix operands in global memory, as the iterators of operands see them.
#pragma once

#include <cstdint>

#include "weft/gemm/operand/affine_iterator.hpp"
#include "weft/gemm/policy/load_functor.hpp"
#include "weft/gemm/policy/matrix_params.hpp"

namespace weft::gemm {

// A tile that knows its product of a batch; the tile of a Block's product (block_operand.hpp) does
// not.
template <class Tile>
concept TileOfProduct = requires(const Tile& tile) { tile.product; };

// Where the matrix of a tile's product begins, in elements from p.data.
template <class Tile>
constexpr std::int64_t ProductOffset(const MatrixParams& p, const Tile& tile) {
  if constexpr (TileOfProduct<Tile>) {
    return tile.product * p.step;
  } else {
    return 0;
  }
}

// A matrix as the Spec of AffineIterator. kBits: bits of an element. Kind: its MatrixKind.
template <int kBits, class Kind>
struct MatrixSource {
  using Params = MatrixParams;
  static constexpr bool kKMajor = Kind::kKMajor, kRegular = true;
  // Pieces of an MN-major matrix run along rows, which are whole accesses.
  static constexpr bool kWhole = !kKMajor || Kind::kWhole;
  static constexpr int kUnit = kKMajor ? kBits : 8;  // bits of a unit of First and End
  static constexpr std::int64_t StepBytes(const Params& p) {
    return BytesOfElements<kBits>(p.pitch);
  }
  static constexpr std::int64_t RowBytes(const Params& p) {
    return kKMajor ? BytesOfElements<kBits>(p.pitch) : kBits / 8;
  }
  static constexpr std::int32_t End(const Params& p) { return BytesOfElements<kUnit>(p.k); }
  static constexpr std::int32_t First(const Params& p) { return BytesOfElements<kUnit>(p.first_k); }
  template <class Tile>
  static constexpr const void* Data(const Params& p, const Tile& tile) {
    return static_cast<const std::uint8_t*>(p.data) +
           BytesOfElements<kBits>(ProductOffset(p, tile));
  }
  template <class Tile>
  static constexpr RowPlace Row(const Params& p, const Tile& tile, std::int32_t row) {
    if constexpr (Kind::kShared && kKMajor) {
      return {(tile.first_row + row) * RowBytes(p), row < tile.rows};
    } else {
      return {row * RowBytes(p), row < p.extent};
    }
  }
};

}  // namespace weft::gemm
