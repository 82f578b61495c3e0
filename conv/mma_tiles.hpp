// Operand tiles of the implicit GEMM for the mma mainloops: NCxHWx<32> pixels and CxRSKx<32>
// filters, 32-byte packets brought by cp.async, two threads to a packet.
#pragma once

#include <cstdint>

#include "weft/conv/packet_cursor.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mma_geometry.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Which pieces (kBytes each) of the 32-byte packets of a k slice a thread brings: kRows rows, and
// of each kCount packets that are kStep apart. Neighbouring threads take the pieces of one packet,
// then neighbouring rows, so that a warp reads adjacent bytes.
template <class G, int kExtent, int kBytes = 16>
struct PacketShare {
  static constexpr int kPieces = 32 / kBytes;
  static constexpr int kGroups = G::kThreads / kPieces;  // threads that take the same piece
  static constexpr int kRows = kExtent > kGroups ? kExtent / kGroups : 1;
  static constexpr int kStep = kGroups > kExtent ? kGroups / kExtent : 1;
  static constexpr int kCount = G::kPackets / kStep;
  static_assert(
      kRows * kGroups == kExtent || kStep * kExtent == kGroups,
      "weft: the threads that take one piece of a packet and the tile's extent must divide "
      "one another");
  static_assert(G::kPackets % kStep == 0,
                "weft: config.threadblock has too many threads for its k extent");

  WEFT_DEVICE static int Piece(arch::Thread t) { return t.tid() % kPieces; }
  WEFT_DEVICE static int Row(arch::Thread t, int i) {
    return kRows == 1 ? t.tid() / kPieces % kExtent : t.tid() / kPieces + i * kGroups;
  }
  WEFT_DEVICE static int First(arch::Thread t) {
    return kStep == 1 ? 0 : t.tid() / kPieces / kExtent;
  }
  // Where the thread's piece of row `row` of packet `packet` goes.
  WEFT_DEVICE static std::uint32_t Target(arch::Thread t, int packet, int row) {
    const int byte = Piece(t) * kBytes;
    return packet * (kExtent * 32) + gemm::PacketOffset(row, byte / 16) + byte % 16;
  }
};

// The thread's rows of tile `tile`.
template <class Share, int kExtent>
struct RowList {
  std::int32_t row[Share::kRows];

  WEFT_DEVICE RowList(arch::Thread t, int tile) {
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) row[i] = tile * kExtent + Share::Row(t, i);
  }
};

// Cursor: TapCursor or PlaneCursor (conv/packet_cursor.hpp).
template <class G, template <class> class Cursor>
class MmaActivationTile {
  using Share = PacketShare<G, G::kBlockM>;

 public:
  WEFT_DEVICE MmaActivationTile(arch::Thread t, const ActivationParams& params, int tile_m)
      : cursor_(params, static_cast<const std::uint8_t*>(params.src) + Share::Piece(t) * 16,
                tile_m * G::kBlockM + Share::Row(t, 0), Share::First(t)) {}

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared) {
    WEFT_UNROLL
    for (int k = 0; k < Share::kCount; ++k) {
      const int packet = Share::First(t) + k * Share::kStep;
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) {
        t.template CpAsync<16>(shared + Share::Target(t, packet, Share::Row(t, i)),
                               cursor_.Source(i), cursor_.Inside(i) ? 16 : 0);
      }
      cursor_.Advance();
    }
  }

 private:
  Cursor<Share> cursor_;
};

template <class G>
class MmaFilterTile {
  using Share = PacketShare<G, G::kBlockN>;

 public:
  WEFT_DEVICE MmaFilterTile(arch::Thread t, const FilterParams& params, int tile_n)
      : packet_(Share::First(t)),
        bytes_(static_cast<std::int64_t>(params.padded_k) * (32 * Share::kStep)) {
    const std::int32_t k = tile_n * G::kBlockN + Share::Row(t, 0);
    source_ = reinterpret_cast<std::uintptr_t>(params.filter) + Share::Piece(t) * 16 +
              (static_cast<std::int64_t>(packet_) * params.padded_k + k) * 32;
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) {
      end_[i] = k + i * Share::kGroups < params.padded_k ? params.packets : 0;
    }
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared) {
    WEFT_UNROLL
    for (int k = 0; k < Share::kCount; ++k) {
      const int packet = Share::First(t) + k * Share::kStep;
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) {
        const int row = gemm::ChannelRow<G::kRun>(Share::Row(t, i));
        t.template CpAsync<16>(shared + Share::Target(t, packet, row),
                               reinterpret_cast<const void*>(source_ + i * (Share::kGroups * 32)),
                               packet_ < end_[i] ? 16 : 0);
      }
      source_ += static_cast<std::uintptr_t>(bytes_);
      packet_ += Share::kStep;
    }
  }

 private:
  std::int32_t packet_;
  std::int64_t bytes_;              // to the thread's next packet
  std::uintptr_t source_;           // of the first row; the others are kGroups packets apart
  std::int32_t end_[Share::kRows];  // packets of the row, 0 where there is none
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
