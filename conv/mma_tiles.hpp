// Operand tiles of the implicit GEMM for the mma mainloops: NCxHWx<32> pixels and CxRSKx<32>
// filters, 32-byte packets brought by cp.async, two threads to a packet.
#pragma once

#include <cstdint>

#include "weft/conv/cursor.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mma_geometry.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Which packets of a k slice a thread brings halves of: kRows rows, and of each kCount packet
// indices that are kStep apart. Neighbouring threads take the halves of one packet, then
// neighbouring rows, so that a warp reads 512 adjacent bytes of a row of pixels.
template <class G, int kExtent>
struct PacketShare {
  static constexpr int kPairs = G::kThreads / 2;
  static constexpr int kRows = kExtent > kPairs ? kExtent / kPairs : 1;
  static constexpr int kStep = kPairs > kExtent ? kPairs / kExtent : 1;
  static constexpr int kCount = G::kPackets / kStep;

  WEFT_DEVICE static int Half(arch::Thread t) { return t.tid() % 2; }
  WEFT_DEVICE static int Row(arch::Thread t, int i) {
    return kRows == 1 ? t.tid() / 2 % kExtent : t.tid() / 2 + i * kPairs;
  }
  WEFT_DEVICE static int First(arch::Thread t) { return kRows == 1 ? t.tid() / 2 / kExtent : 0; }
};

template <class G, template <int, int> class Cursor>
class MmaActivationTile {
  using Share = PacketShare<G, G::kBlockM>;

 public:
  WEFT_DEVICE MmaActivationTile(arch::Thread t, const ActivationParams& params, int tile_m)
      : src_(static_cast<const std::uint8_t*>(params.src) + Share::Half(t) * 16),
        cursor_(params, Pixels(t, tile_m).m, Share::First(t)) {}

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared) {
    WEFT_UNROLL
    for (int k = 0; k < Share::kCount; ++k) {
      const int packet = Share::First(t) + k * Share::kStep;
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) {
        const bool inside = cursor_.Inside(i);
        const std::uint8_t* source = inside ? src_ + cursor_.Offset(i) * 32 : src_;
        t.template CpAsync<16>(shared + packet * (G::kBlockM * 32) +
                                   gemm::PacketOffset(Share::Row(t, i), Share::Half(t)),
                               source, inside ? 16 : 0);
      }
      cursor_.Advance();
    }
  }

 private:
  struct PixelList {
    std::int32_t m[Share::kRows];
  };
  WEFT_DEVICE static PixelList Pixels(arch::Thread t, int tile_m) {
    PixelList list;
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) list.m[i] = tile_m * G::kBlockM + Share::Row(t, i);
    return list;
  }

  const std::uint8_t* src_;
  Cursor<Share::kRows, Share::kStep> cursor_;
};

template <class G>
class MmaFilterTile {
  using Share = PacketShare<G, G::kBlockN>;

 public:
  WEFT_DEVICE MmaFilterTile(arch::Thread t, const FilterParams& params, int tile_n)
      : p_(params), packet_(Share::First(t)) {
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) {
      const int k = tile_n * G::kBlockN + Share::Row(t, i);
      inside_[i] = k < p_.padded_k;
      source_[i] = static_cast<const std::uint8_t*>(p_.filter) + Share::Half(t) * 16 +
                   (inside_[i] ? (static_cast<std::int64_t>(packet_) * p_.padded_k + k) * 32 : 0);
    }
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared) {
    WEFT_UNROLL
    for (int k = 0; k < Share::kCount; ++k) {
      const int packet = Share::First(t) + k * Share::kStep;
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) {
        const bool inside = inside_[i] && packet_ < p_.packets;
        const int row = gemm::ChannelRow(Share::Row(t, i));
        t.template CpAsync<16>(
            shared + packet * (G::kBlockN * 32) + gemm::PacketOffset(row, Share::Half(t)),
            inside ? source_[i] : static_cast<const std::uint8_t*>(p_.filter), inside ? 16 : 0);
        source_[i] += static_cast<std::int64_t>(Share::kStep) * p_.padded_k * 32;
      }
      packet_ += Share::kStep;
    }
  }

 private:
  const FilterParams& p_;
  std::int32_t packet_;
  const std::uint8_t* source_[Share::kRows];
  bool inside_[Share::kRows];
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
