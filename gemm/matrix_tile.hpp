// Operand tiles of matrices for the simt mainloop.
//
// kExtent: lines (rows of A, columns of B) of the threadblock tile. kAlignment: 4, 8 or 16 bytes,
// to which data and pitch are aligned. kIsA: lines go to the positions that the mainloop reads A
// at.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/gemm_params.hpp"
#include "weft/gemm/simt_mainloop.hpp"
#include "weft/gemm/simt_shared_layout.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// How a block's threads walk over kLines x kSteps units, lines first: thread t takes unit t, then
// every kThreads-th. Its line and step are the thread's first plus constants, so that one pointer
// does for all.
template <int kThreads, int kLines, int kSteps>
struct UnitShare {
  static_assert(kThreads % kLines == 0 || kLines % kThreads == 0,
                "weft: the threads of a GEMM block and the rows (columns) of its tile must divide "
                "one another");
  static constexpr int kTotal = kLines * kSteps;
  static constexpr int kCount = CeilDiv(kTotal, kThreads);
  // All units of a thread are of one line.
  static constexpr bool kOneLine = kThreads % kLines == 0;
  static constexpr int LineStep(int i) { return i * kThreads % kLines; }
  static constexpr int DepthStep(int i) { return i * kThreads / kLines; }

  WEFT_DEVICE static int Line(arch::Thread t) { return t.tid() % kLines; }
  WEFT_DEVICE static int Depth(arch::Thread t) { return t.tid() / kLines; }
  // Whether thread t has an i-th unit.
  WEFT_DEVICE static bool Has(arch::Thread t, int i) {
    return kTotal % kThreads == 0 || t.tid() + i * kThreads < kTotal;
  }
};

// k runs along memory.
template <class G, class Atom, int kExtent, int kAlignment, bool kIsA>
class LineTile {
  using Packet = typename Atom::Packet;
  static constexpr int kPacketBytes = sizeof(Packet);
  static constexpr int kElementBytes = kPacketBytes / Atom::kElements;
  static_assert(kAlignment >= kPacketBytes && kAlignment <= 16);
  static constexpr int kVector = kAlignment / kPacketBytes;  // packets of one access
  using Share = UnitShare<G::kThreads, kExtent, G::kPackets / kVector>;
  static constexpr int kShare = Share::kCount;
  static_assert(G::kPackets % kVector == 0,
                "weft: config.alignment.src is wider than config.threadblock.k elements");
  using Vector = PacketVector<kVector, Packet>;

 public:
  struct Fragment {
    Vector vector[kShare];
  };

  WEFT_DEVICE LineTile(arch::Thread t, const MatrixParams& params, int tile)
      : p_(params),
        line_(tile * kExtent + Share::Line(t)),
        left_(p_.k - FirstK(t)),
        source_(static_cast<const std::uint8_t*>(p_.data) +
                (line_ * p_.pitch + FirstK(t)) * kElementBytes) {
    if (Share::kOneLine && line_ >= p_.extent) left_ = 0;
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      const std::int32_t left = left_ - Share::DepthStep(i) * (kVector * Atom::kElements);
      const bool inside = Share::Has(t, i) && left > 0 &&
                          (Share::kOneLine || line_ + Share::LineStep(i) < p_.extent);
      // A line's pitch reaches past k to the next multiple of kAlignment, so whole vectors are
      // there; what lies beyond k is not the matrix's.
      const std::uint8_t* source = source_ + Share::DepthStep(i) * kAlignment +
                                   Share::LineStep(i) * p_.pitch * kElementBytes;
      f.vector[i] = t.LoadGlobalOr0(reinterpret_cast<const Vector*>(source), inside);
      WEFT_UNROLL
      for (int e = 0; e < kVector; ++e) {
        Mask(f.vector[i].packet[e], left - Atom::kElements * e);
      }
    }
    left_ -= G::kBlockK;
    source_ += G::kBlockK * kElementBytes;
  }

  // Lanes of a warp hold neighbouring lines, so their packets go to distinct banks.
  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f, Packet (*shared)[kExtent]) const {
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      if (!Share::Has(t, i)) break;
      const int line = Share::Line(t) + Share::LineStep(i);
      const int row = (Share::Depth(t) + Share::DepthStep(i)) * kVector;
      const int position = kIsA ? SharedColumnsA<G>::Position(line) : line;
      WEFT_UNROLL
      for (int e = 0; e < kVector; ++e) {
        t.StoreShared(&shared[row + e][position], f.vector[i].packet[e]);
      }
    }
  }

 private:
  WEFT_DEVICE static int FirstK(arch::Thread t) {
    return Share::Depth(t) * (kVector * Atom::kElements);
  }

  // Zeros the elements of a packet from `valid` on.
  WEFT_DEVICE static void Mask(Packet& packet, std::int32_t valid) {
    if constexpr (Atom::kElements == 1) {
      if (valid <= 0) packet = 0;
    } else {
      if (valid < 4) packet &= valid <= 0 ? 0u : (1u << (8 * valid)) - 1u;
    }
  }

  const MatrixParams& p_;
  std::int32_t line_;
  std::int32_t left_;  // elements of k from source_ to the end; 0 for a line outside
  const std::uint8_t* source_;
};

// The lines run along memory, the k are `pitch` apart. A unit is one packet of k of kLines lines:
// of int8 the four lines of a word, transposed in registers; of wider types one access.
template <class G, class Atom, int kExtent, int kAlignment, bool kIsA>
class CrossTile {
  using Packet = typename Atom::Packet;
  static constexpr int kDepth = Atom::kElements;
  static constexpr int kElementBytes = sizeof(Packet) / kDepth;
  static_assert(kAlignment >= static_cast<int>(sizeof(Packet)) && kAlignment <= 16);
  static constexpr int kLines = kDepth == 4 ? 4 : kAlignment / kElementBytes;
  using Share = UnitShare<G::kThreads, kExtent / kLines, G::kPackets>;
  static constexpr int kShare = Share::kCount;
  static_assert(kExtent % kLines == 0);
  using Vector = PacketVector<kLines * kElementBytes / static_cast<int>(sizeof(Packet)), Packet>;

 public:
  struct Fragment {
    Vector vector[kShare][kDepth];  // for each k
  };

  WEFT_DEVICE CrossTile(arch::Thread t, const MatrixParams& params, int tile)
      : p_(params),
        line_(tile * kExtent + Share::Line(t) * kLines),
        left_(p_.k - Share::Depth(t) * kDepth),
        source_(static_cast<const std::uint8_t*>(p_.data) +
                (Share::Depth(t) * kDepth * p_.pitch + line_) * kElementBytes) {
    if (Share::kOneLine && line_ >= p_.extent) left_ = 0;
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    const std::int64_t pitch = p_.pitch * kElementBytes;
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      const bool inside =
          Share::Has(t, i) && (Share::kOneLine || line_ + Share::LineStep(i) * kLines < p_.extent);
      WEFT_UNROLL
      for (int j = 0; j < kDepth; ++j) {
        const int k = Share::DepthStep(i) * kDepth + j;
        const std::uint8_t* source =
            source_ + k * pitch + Share::LineStep(i) * kLines * kElementBytes;
        f.vector[i][j] =
            t.LoadGlobalOr0(reinterpret_cast<const Vector*>(source), inside && k < left_);
      }
    }
    left_ -= G::kBlockK;
    source_ += G::kBlockK * pitch;
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f, Packet (*shared)[kExtent]) const {
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      if (!Share::Has(t, i)) break;
      const int line = (Share::Line(t) + Share::LineStep(i)) * kLines;
      const int row = Share::Depth(t) + Share::DepthStep(i);
      PacketVector<kLines, Packet> packets;
      if constexpr (kDepth == 4) {
        Transpose(t, f.vector[i], packets);
      } else {
        packets = f.vector[i][0];
      }
      if constexpr (kIsA) {
        WEFT_UNROLL
        for (int e = 0; e < kLines; ++e) {
          t.StoreShared(&shared[row][SharedColumnsA<G>::Position(line + e)], packets.packet[e]);
        }
      } else {
        t.StoreShared(reinterpret_cast<PacketVector<kLines, Packet>*>(&shared[row][line]), packets);
      }
    }
  }

 private:
  // packets[e]: byte e of each word in turn.
  WEFT_DEVICE static void Transpose(arch::Thread t, const Vector (&word)[kDepth],
                                    PacketVector<kLines, Packet>& packets) {
    const Packet w0 = word[0].packet[0], w1 = word[1].packet[0];
    const Packet w2 = word[2].packet[0], w3 = word[3].packet[0];
    const Packet low01 = t.BytePermute(w0, w1, 0x5140), low23 = t.BytePermute(w2, w3, 0x5140);
    const Packet high01 = t.BytePermute(w0, w1, 0x7362), high23 = t.BytePermute(w2, w3, 0x7362);
    packets.packet[0] = t.BytePermute(low01, low23, 0x5410);
    packets.packet[1] = t.BytePermute(low01, low23, 0x7632);
    packets.packet[2] = t.BytePermute(high01, high23, 0x5410);
    packets.packet[3] = t.BytePermute(high01, high23, 0x7632);
  }

  const MatrixParams& p_;
  std::int32_t line_;
  std::int32_t left_;  // elements of k from source_ to the end; 0 for lines outside
  const std::uint8_t* source_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
