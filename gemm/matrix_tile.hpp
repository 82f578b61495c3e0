// Operand tiles of matrices whose k runs along memory: A row-major (m x k), B column-major (k x n).
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/simt_mainloop.hpp"
#include "weft/gemm/simt_shared_layout.hpp"

namespace weft::gemm {

// One operand: `extent` lines (rows of A, columns of B) of k int8 elements, `pitch` elements from
// the start of one line to the next.
struct MatrixParams {
  const std::int8_t* data = nullptr;
  std::int64_t pitch = 0;
  std::int32_t extent = 0;
  std::int32_t k = 0;
};

inline namespace WEFT_BACKEND {

// kExtent: lines of the threadblock tile. kAlignment: 4 or 16 bytes, to which data and pitch are
// aligned. kIsA: lines go to the positions that the mainloop reads A at.
template <class G, int kExtent, int kAlignment, bool kIsA>
class MatrixTile {
  static_assert(kAlignment == 4 || kAlignment == 16);
  static constexpr int kVector = kAlignment / 4;  // packets of one access
  static constexpr int kAccesses = G::kPackets / kVector;
  static constexpr int kTotal = kExtent * kAccesses;
  static constexpr int kShare = CeilDiv(kTotal, G::kThreads);
  static_assert(G::kPackets % kVector == 0,
                "weft: config.alignment.src is wider than config.threadblock.k elements");
  using Vector = PacketVector<kVector>;

 public:
  struct Fragment {
    Vector vector[kShare];
  };

  WEFT_DEVICE MatrixTile(arch::Thread t, const MatrixParams& params, int tile)
      : p_(params), first_line_(tile * kExtent), k_(0) {
    (void)t;
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      const int index = t.tid() + i * G::kThreads;
      const std::int32_t line = first_line_ + index % kExtent;
      const std::int32_t k = k_ + index / kExtent * kAlignment;
      const bool inside = index < kTotal && line < p_.extent && k < p_.k;
      // A line's pitch reaches past k to the next multiple of kAlignment, so whole vectors are
      // there; what lies beyond k is not the matrix's.
      f.vector[i] =
          t.LoadGlobalOr0(reinterpret_cast<const Vector*>(p_.data + line * p_.pitch + k), inside);
      WEFT_UNROLL
      for (int e = 0; e < kVector; ++e) Mask(f.vector[i].packet[e], p_.k - (k + 4 * e));
    }
    k_ += G::kBlockK;
  }

  // Lanes of a warp hold neighbouring lines, so their words go to distinct banks.
  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f,
                         std::uint32_t (*shared)[kExtent]) const {
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      const int index = t.tid() + i * G::kThreads;
      if (kTotal % G::kThreads != 0 && index >= kTotal) break;
      const int line = index % kExtent, row = index / kExtent * kVector;
      const int position = kIsA ? SharedColumnsA<G>::Position(line) : line;
      WEFT_UNROLL
      for (int e = 0; e < kVector; ++e) {
        t.StoreShared(&shared[row + e][position], f.vector[i].packet[e]);
      }
    }
  }

 private:
  // Zeros the bytes of a packet from `valid` on.
  WEFT_DEVICE static void Mask(std::uint32_t& packet, std::int32_t valid) {
    if (valid < 4) packet &= valid <= 0 ? 0u : (1u << (8 * valid)) - 1u;
  }

  const MatrixParams& p_;
  std::int32_t first_line_;
  std::int32_t k_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
