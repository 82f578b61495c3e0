// The iterator (operand.hpp) over operands in which an element's address is the sum of an offset of
// its row and an offset of its k, as in a matrix.
#pragma once

#include <cstdint>

#include "weft/gemm/operand/operand.hpp"

namespace weft::gemm {

// A row of the operand: where it begins, in bytes from the operand's first element, and whether the
// operand has such a row.
struct RowPlace {
  std::int64_t offset = 0;
  bool inside = false;
};

inline namespace WEFT_BACKEND {

// Spec says what the operand is:
//     using Params = ...;
//     static constexpr bool kKMajor;   // k runs along memory: the pieces of a row are adjacent
//     static constexpr bool kWhole;    // no ragged k: a row is a multiple of a piece
//     static constexpr bool kRegular;  // neighbouring rows are RowBytes(p) apart everywhere
//     static constexpr std::int64_t RowBytes(const Params&);
//     static constexpr std::int64_t StepBytes(const Params&);  // !kKMajor: to the next outer piece
//     // The range of k, in bytes if kKMajor, else in outer pieces. First is 0 or less; what lies
//     // before 0 is loaded as zeros.
//     static constexpr std::int32_t First(const Params&), End(const Params&);
//     template <class Tile>
//     static const void* Data(const Params&, const Tile&);
//     template <class Tile>
//     static RowPlace Row(const Params&, const Tile&, std::int32_t row);  // of the tile's operand
template <class Shape, class Spec>
class AffineIterator {
  static constexpr int kBytes = Shape::kBytes;
  // A thread keeps one address for all its rows where they are equally far apart.
  static constexpr bool kOne = Spec::kRegular && Shape::kRegular;
  static constexpr int kAddresses = kOne ? 1 : Shape::kRows;

 public:
  using Params = typename Spec::Params;
  static constexpr bool kWhole = Spec::kWhole;

  template <class Tile>
  WEFT_DEVICE AffineIterator(arch::Thread t, const Params& p, const Tile& tile)
      : p_(p), step_(Spec::kKMajor ? 0 : Spec::StepBytes(p)) {
    const int outer = Shape::Outer(t, 0), inner = Shape::Inner(t);
    std::int64_t offset;  // bytes from the start of a row to the thread's first piece
    if constexpr (Spec::kKMajor) {
      k_ = Spec::First(p) + (outer * Shape::kInner + inner) * kBytes;
      offset = k_;
    } else {
      k_ = Spec::First(p) + outer;
      offset = k_ * Spec::StepBytes(p) + inner * kBytes;
    }
    const auto data = reinterpret_cast<std::uintptr_t>(Spec::Data(p, tile));
    WEFT_UNROLL
    for (int i = 0; i < Shape::kRows; ++i) {
      const int row = Shape::Rows::Source(Shape::Row(t, i)) * Shape::kPieceRows;
      const RowPlace place =
          Spec::Row(p, tile, Shape::Rows::Index(tile) * (Shape::kExtent * Shape::kPieceRows) + row);
      if (i < kAddresses) {
        source_[i] = data + static_cast<std::uintptr_t>(place.offset + offset);
      }
      end_[i] = place.inside ? Spec::End(p) : 0;
    }
    SetLeft();
  }

  WEFT_DEVICE const void* Source(int i) const {
    if constexpr (kOne) {
      return reinterpret_cast<const void*>(
          source_[0] + static_cast<std::uintptr_t>(i * (Shape::kLanes * Shape::kPieceRows) *
                                                   Spec::RowBytes(p_)));
    } else {
      return reinterpret_cast<const void*>(source_[i]);
    }
  }

  WEFT_DEVICE int Bytes(int i) const {
    // The comparison is unsigned, so that a k below 0 is outside as well.
    const bool inside = static_cast<std::uint32_t>(k_) < static_cast<std::uint32_t>(end_[i]);
    return inside ? (kWhole ? kBytes : left_) : 0;
  }

  // The first channel of the thread's pieces, for operands in channel blocks.
  WEFT_DEVICE std::int32_t Channel(arch::Thread t) const {
    return Spec::kKMajor ? k_ : k_ * Spec::kUnitBytes + Shape::Inner(t) * kBytes;
  }

  WEFT_DEVICE void Advance() { Advance(Shape::kStep); }
  WEFT_DEVICE void Advance(int steps) {
    const int pieces = steps * (Spec::kKMajor ? Shape::kInner * kBytes : 1);
    k_ += pieces;
    WEFT_UNROLL
    for (int i = 0; i < kAddresses; ++i) {
      source_[i] += static_cast<std::uintptr_t>(Spec::kKMajor ? pieces : pieces * step_);
    }
    SetLeft();
  }

 private:
  WEFT_DEVICE void SetLeft() {
    const std::int32_t left = Spec::End(p_) - k_;
    if constexpr (!kWhole) left_ = left < kBytes ? left : kBytes;
  }

  const Params& p_;
  std::int64_t step_;  // bytes from an outer piece to the next if MN-major, else 0
  std::int32_t k_;
  std::int32_t end_[Shape::kRows];  // the end of k in each row; 0 where there is no such row
  std::int32_t left_ = 0;           // with ragged k: bytes of the piece that are the operand's
  std::uintptr_t source_[kAddresses] = {};  // g++ does not see that all are set
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
