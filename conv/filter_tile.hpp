// Operand B of the implicit GEMM: a shared filter packed as CxRSKx<4>, which is a row-major matrix
// of packets with one row for each (c / 4, r, s) and one column for each output channel.
#pragma once

#include <cstdint>

#include "weft/conv/params.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/simt_mainloop.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

template <class G>
class SharedFilterTile {
  using Vector = gemm::PacketVector<4>;
  static constexpr int kRowVectors = G::kBlockN / 4;
  static constexpr int kVectors = G::kPackets * kRowVectors;
  static constexpr int kShare = gemm::CeilDiv(kVectors, G::kThreads);  // vectors of one thread

 public:
  struct Fragment {
    Vector vector[kShare];
  };

  WEFT_DEVICE SharedFilterTile(arch::Thread t, const FilterParams& params, int tile_n)
      : p_(params) {
    const auto* filter = static_cast<const std::uint32_t*>(p_.filter);
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      const int index = t.tid() + i * G::kThreads;
      const int column = tile_n * G::kBlockN + index % kRowVectors * 4;
      row_[i] = index / kRowVectors;
      // Threads without a vector and columns past the filter never load.
      if (index >= kVectors || column >= p_.padded_k) row_[i] = kNever;
      source_[i] = filter + static_cast<std::int64_t>(index / kRowVectors) * p_.padded_k + column;
    }
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      f.vector[i] =
          t.LoadGlobalOr0(reinterpret_cast<const Vector*>(source_[i]), row_[i] < p_.packets);
      row_[i] = row_[i] == kNever ? kNever : row_[i] + G::kPackets;
      source_[i] += static_cast<std::int64_t>(G::kPackets) * p_.padded_k;
    }
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f,
                         std::uint32_t (*shared)[G::kBlockN]) const {
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      const int index = t.tid() + i * G::kThreads;
      if (kVectors % G::kThreads == 0 || index < kVectors) {
        t.StoreShared(
            reinterpret_cast<Vector*>(&shared[index / kRowVectors][index % kRowVectors * 4]),
            f.vector[i]);
      }
    }
  }

 private:
  static constexpr std::int32_t kNever = 0x7fffffff;

  const FilterParams& p_;
  const std::uint32_t* source_[kShare];
  std::int32_t row_[kShare];
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
