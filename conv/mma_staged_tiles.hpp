// Operand tiles of the implicit GEMM for the mma_sm75 mainloop: NCxHWx<32> pixels and CxRSKx<32>
// filters, 32-byte packets brought through registers, two threads to a packet.
#pragma once

#include <cstdint>

#include "weft/conv/cursor.hpp"
#include "weft/conv/mma_tiles.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Half a packet, one access.
struct alignas(16) HalfPacket {
  std::uint32_t word[4];
};

// The half packets of one slice that a thread holds on their way to shared memory.
template <class G, int kExtent>
struct StagedPackets {
  using Share = PacketShare<G, kExtent>;
  HalfPacket half[Share::kCount][Share::kRows];

  WEFT_DEVICE void Store(arch::Thread t, std::uint8_t* shared) const {
    WEFT_UNROLL
    for (int k = 0; k < Share::kCount; ++k) {
      const int packet = Share::First(t) + k * Share::kStep;
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) {
        const std::uint32_t target = Share::Target(t, packet, Share::Row(t, i));
        t.StoreShared(reinterpret_cast<HalfPacket*>(shared + target), half[k][i]);
      }
    }
  }
};

template <class G, template <int, int> class Cursor>
class MmaStagedActivationTile {
  using Share = PacketShare<G, G::kBlockM>;

 public:
  using Fragment = StagedPackets<G, G::kBlockM>;

  WEFT_DEVICE MmaStagedActivationTile(arch::Thread t, const ActivationParams& params, int tile_m)
      : src_(static_cast<const HalfPacket*>(params.src) + Share::Piece(t)),
        cursor_(params, RowList<Share, G::kBlockM>(t, tile_m).row, Share::First(t)) {}

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    WEFT_UNROLL
    for (int k = 0; k < Share::kCount; ++k) {
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) {
        f.half[k][i] = t.LoadGlobalOr0(src_ + cursor_.Offset(i) * 2, cursor_.Inside(i));
      }
      cursor_.Advance();
    }
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f, std::uint8_t* shared) const {
    f.Store(t, shared);
  }

 private:
  const HalfPacket* src_;
  Cursor<Share::kRows, Share::kStep> cursor_;
};

template <class G>
class MmaStagedFilterTile {
  using Share = PacketShare<G, G::kBlockN>;

 public:
  using Fragment = StagedPackets<G, G::kBlockN>;

  // A thread's rows are rows of shared memory, so that neighbours store side by side.
  WEFT_DEVICE MmaStagedFilterTile(arch::Thread t, const FilterParams& params, int tile_n)
      : p_(params), packet_(Share::First(t)) {
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) {
      const int k = tile_n * G::kBlockN + gemm::RowChannel(Share::Row(t, i));
      inside_[i] = k < p_.padded_k;
      source_[i] = static_cast<const HalfPacket*>(p_.filter) + Share::Piece(t) +
                   (static_cast<std::int64_t>(packet_) * p_.padded_k + k) * 2;
    }
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    WEFT_UNROLL
    for (int k = 0; k < Share::kCount; ++k) {
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) {
        f.half[k][i] = t.LoadGlobalOr0(source_[i], inside_[i] && packet_ < p_.packets);
        source_[i] += static_cast<std::int64_t>(Share::kStep) * p_.padded_k * 2;
      }
      packet_ += Share::kStep;
    }
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f, std::uint8_t* shared) const {
    f.Store(t, shared);
  }

 private:
  const FilterParams& p_;
  std::int32_t packet_;
  const HalfPacket* source_[Share::kRows];
  bool inside_[Share::kRows];
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
