// Operand tiles of matrices for the mma mainloops.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/gemm_params.hpp"
#include "weft/gemm/mma_geometry.hpp"
#include "weft/gemm/simt_mainloop.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// k runs along memory: cp.async brings halves of packets as they are, to LineMajor places.
//
// kExtent: lines (rows of A, columns of B) of the threadblock tile. kAlignment: 4, 8 or 16 bytes,
// to which data and pitch are aligned. kWhole: a line's k elements are a multiple of kAlignment
// bytes, so that no access is cut. kRun: of ChannelRow, for B. Neighbouring threads take
// neighbouring pieces of a line.
template <class G, int kExtent, int kAlignment, int kElementBytes, bool kIsA, int kRun, bool kWhole>
class MmaLineTile {
  static_assert(kAlignment == 4 || kAlignment == 8 || kAlignment == 16);
  static constexpr int kTotal = kExtent * G::kPackets * 2;
  static constexpr int kShare = CeilDiv(kTotal, G::kThreads);
  static constexpr int kSliceBytes = G::kPackets * 32;
  using Layout = LineMajor<kExtent, G::kPackets>;
  static constexpr int kPieces = 2 * G::kPackets;  // of 16 bytes, of one line
  static_assert(kTotal < G::kThreads || G::kThreads % kPieces == 0,
                "weft: the threads of a GEMM block must be a multiple of the 16-byte pieces of "
                "config.threadblock.k");

  // A thread's accesses have the same place in k, and their lines are kLineStep apart; for B that
  // holds for whole groups of 32, within which RowChannel permutes. One address serves such a
  // share.
  static constexpr int kLineStep = G::kThreads / kPieces;
  static constexpr int kLists = kIsA || kLineStep % 32 == 0 ? 1 : kShare;

  struct Place {
    int half, packet, row;
  };
  WEFT_DEVICE static Place At(int index) {
    return {index % 2, index / 2 % G::kPackets, index / kPieces};
  }

 public:
  WEFT_DEVICE MmaLineTile(arch::Thread t, const MatrixParams& p, int tile)
      : extent_(p.extent), step_(kLineStep * p.pitch * kElementBytes) {
    WEFT_UNROLL
    for (int i = 0; i < kLists; ++i) {
      const Place at = At(t.tid() + i * G::kThreads);
      const int offset = at.packet * 32 + at.half * 16;
      line_[i] = tile * kExtent + (kIsA ? at.row : RowChannel<kRun>(at.row));
      source_[i] = reinterpret_cast<std::uintptr_t>(p.data) + offset +
                   static_cast<std::uintptr_t>(line_[i] * p.pitch * kElementBytes);
    }
    const Place first = At(t.tid());
    left_ = p.k * kElementBytes - (first.packet * 32 + first.half * 16);
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared) {
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      const int index = t.tid() + i * G::kThreads;
      if (kTotal % G::kThreads != 0 && index >= kTotal) break;
      const Place at = At(index);
      const std::uint32_t to = shared + Layout::Offset(at.row, at.packet, at.half);
      const bool inside = kLists == 1 ? line_[0] < extent_ - i * kLineStep : line_[i] < extent_;
      const std::uintptr_t source =
          kLists == 1 ? source_[0] + static_cast<std::uintptr_t>(i * step_) : source_[i];
      WEFT_UNROLL
      for (int e = 0; e < 16; e += kAlignment) {
        t.template CpAsync<kAlignment>(to + e, reinterpret_cast<const void*>(source + e),
                                       inside ? Bytes(left_ - e) : 0);
      }
    }
    WEFT_UNROLL
    for (int i = 0; i < kLists; ++i) source_[i] += kSliceBytes;
    left_ -= kSliceBytes;
  }

 private:
  // Bytes of an access that are the matrix's. What lies between k and the pitch is not, and becomes
  // zeros.
  static constexpr int Bytes(int left) {
    if (kWhole) return left > 0 ? kAlignment : 0;
    return left < 0 ? 0 : left < kAlignment ? left : kAlignment;
  }

  std::int32_t extent_;
  std::int64_t step_;  // from a line to the next one of a regular share
  std::int32_t line_[kLists];
  std::uintptr_t source_[kLists];
  std::int32_t left_;  // bytes from source_ to the end of the line
};

// k does not run along memory: words of several lines are transposed in registers. Copy stores the
// slice that the call before (at first the constructor) has loaded, and loads the next one, so that
// the loads have a slice's arithmetic to arrive in.
//
// A unit is kLines lines (the elements of a word) by 8 bytes of k. Neighbouring threads take the
// four units of a packet, then neighbouring lines: 32 bytes of memory for each k.
template <class G, int kExtent, int kElementBytes, bool kIsA, int kRun>
class MmaCrossTile {
  static_assert(kElementBytes == 1 || kElementBytes == 2);
  using Layout = LineMajor<kExtent, G::kPackets>;
  static constexpr int kLines = 4 / kElementBytes;
  static constexpr int kDepth = 8 / kElementBytes;  // of a unit, in k
  static constexpr int kGroups = kExtent / kLines;
  static constexpr int kTotal = kGroups * 4 * G::kPackets;
  static constexpr int kShare = CeilDiv(kTotal, G::kThreads);

  // Where a thread's first unit lies. The i-th is as many groups and packets further for all.
  WEFT_DEVICE static int Octet(arch::Thread t) { return t.tid() % 4; }
  WEFT_DEVICE static int Group(arch::Thread t) { return t.tid() / 4 % kGroups; }
  WEFT_DEVICE static int Packet(arch::Thread t) { return t.tid() / (4 * kGroups); }
  static_assert(G::kThreads % (4 * kGroups) == 0 || 4 * kGroups % G::kThreads == 0,
                "weft: the threads of a GEMM block and the rows (columns) of its tile must divide "
                "one another");
  static constexpr int GroupStep(int i) { return i * G::kThreads / 4 % kGroups; }
  static constexpr int PacketStep(int i) { return i * G::kThreads / (4 * kGroups); }
  WEFT_DEVICE static bool Has(arch::Thread t, int i) {
    return kTotal % G::kThreads == 0 || t.tid() + i * G::kThreads < kTotal;
  }

 public:
  WEFT_DEVICE MmaCrossTile(arch::Thread t, const MatrixParams& p, int tile)
      : p_(p),
        line_(tile * kExtent + Group(t) * kLines),
        k_((Packet(t) * 4 + Octet(t)) * kDepth),
        source_(static_cast<const std::uint8_t*>(p_.data) +
                (k_ * p_.pitch + line_) * kElementBytes) {
    Load(t);
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared) {
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      if (!Has(t, i)) break;
      const int packet = Packet(t) + PacketStep(i);
      PacketVector<2> line[kLines];
      Transpose(t, word_[i], line);
      WEFT_UNROLL
      for (int e = 0; e < kLines; ++e) {
        const int n = (Group(t) + GroupStep(i)) * kLines + e;
        const int row = kIsA ? n : ChannelRow<kRun>(n);
        t.StoreSharedAt(shared + Layout::Offset(row, packet, Octet(t) / 2) + Octet(t) % 2 * 8,
                        line[e]);
      }
    }
    Load(t);
  }

 private:
  WEFT_DEVICE void Load(arch::Thread t) {
    const std::int64_t pitch = p_.pitch * kElementBytes;
    WEFT_UNROLL
    for (int i = 0; i < kShare; ++i) {
      const bool inside = Has(t, i) && line_ + GroupStep(i) * kLines < p_.extent;
      WEFT_UNROLL
      for (int j = 0; j < kDepth; ++j) {
        const int k = PacketStep(i) * 4 * kDepth + j;
        const std::uint8_t* source = source_ + k * pitch + GroupStep(i) * 4;
        word_[i][j] = t.LoadGlobalOr0(reinterpret_cast<const std::uint32_t*>(source),
                                      inside && k_ + k < p_.k);
      }
    }
    k_ += kSliceK;
    source_ += kSliceK * pitch;
  }

  // line[e]: element e of each word in turn.
  WEFT_DEVICE static void Transpose(arch::Thread t, const std::uint32_t (&word)[kDepth],
                                    PacketVector<2> (&line)[kLines]) {
    WEFT_UNROLL
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t* w = word + half * (kDepth / 2);
      if constexpr (kElementBytes == 2) {
        line[0].packet[half] = t.BytePermute(w[0], w[1], 0x5410);
        line[1].packet[half] = t.BytePermute(w[0], w[1], 0x7632);
      } else {
        // Pairs of k, of lines 0 and 1 and of lines 2 and 3.
        const std::uint32_t low01 = t.BytePermute(w[0], w[1], 0x5140);
        const std::uint32_t low23 = t.BytePermute(w[2], w[3], 0x5140);
        const std::uint32_t high01 = t.BytePermute(w[0], w[1], 0x7362);
        const std::uint32_t high23 = t.BytePermute(w[2], w[3], 0x7362);
        line[0].packet[half] = t.BytePermute(low01, low23, 0x5410);
        line[1].packet[half] = t.BytePermute(low01, low23, 0x7632);
        line[2].packet[half] = t.BytePermute(high01, high23, 0x5410);
        line[3].packet[half] = t.BytePermute(high01, high23, 0x7632);
      }
    }
  }

  static constexpr int kSliceK = G::kPackets * 4 * kDepth;

  const MatrixParams& p_;
  std::int32_t line_;
  std::int32_t k_;
  const std::uint8_t* source_;  // element (line_, k_)
  std::uint32_t word_[kShare][kDepth];
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
