// TmaOperand: an operand that TMA loads into the stages of an MbarRing
// (gemm/ring/tma_producer.hpp), over an iterator that says which copies make up a k tile:
//
//     struct Iterator {
//       struct Params { arch::TensorMap map; std::int32_t copy_bytes; ... };  // made on the host
//       template <class Tile>
//       WEFT_DEVICE Iterator(const Params& p, const Tile& tile);
//       WEFT_DEVICE void Seek(int k_tile);  // goes to k tile `k_tile`, from k tile 0
//       WEFT_DEVICE int Count(int k_tile) const;  // how many times copy_bytes a k tile has
//       // Calls load(i, coordinates), or load(i, coordinates, offsets) of an im2col map, for each
//       // copy i of k_tile that `share` has, and goes on to the next k tile. The copy goes i times
//       // copy_bytes behind the k tile's beginning.
//       template <class Load>
//       WEFT_DEVICE void ForEachCopy(int k_tile, CopyShare share, const Load& load);
//     };
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/gemm/ring/tma_producer.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class Iterator>
class TmaOperand : public OperandTraits {
 public:
  static constexpr bool kHasTensorMap = true;
  using Params = typename Iterator::Params;

  template <class Tile>
  WEFT_DEVICE TmaOperand(const Params& p, const Tile& tile) : p_(p), iterator_(p, tile) {}

  // Goes on to `k_tile`, which the next Copy then loads; a new operand stands at k tile 0.
  WEFT_DEVICE void Seek(int k_tile) { iterator_.Seek(k_tile); }

  WEFT_DEVICE int Bytes(int k_tile, CopyShare share = {}) const {
    return share.Count(iterator_.Count(k_tile)) * p_.copy_bytes;
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to, std::uint32_t bar, int k_tile,
                        CopyShare share = {}) {
    iterator_.ForEachCopy(k_tile, share, [&](int i, const auto& at, const auto&... offsets) {
      const std::uint32_t copy = to + static_cast<std::uint32_t>(i * p_.copy_bytes);
      if constexpr (sizeof...(offsets) == 0) {
        t.TmaLoad(copy, p_.map, bar, at);
      } else {
        t.TmaLoadIm2col(copy, p_.map, bar, at, offsets...);
      }
    });
  }

  // Has TMA load what Copy would, but only into the L2.
  WEFT_DEVICE void Prefetch(arch::Thread t, int k_tile, CopyShare share) {
    iterator_.ForEachCopy(k_tile, share, [&](int, const auto& at, const auto&... offsets) {
      if constexpr (sizeof...(offsets) == 0) {
        t.TmaPrefetch(p_.map, at);
      } else {
        t.TmaPrefetchIm2col(p_.map, at, offsets...);
      }
    });
  }

 private:
  const Params& p_;
  Iterator iterator_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
