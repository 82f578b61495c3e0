// Operand tiles of matrices for the simt mainloop with cp.async.
//
// A tile copies slices of kBlockK steps of k into shared memory [k][line] (lines: rows of A,
// columns of B). The first slice is the short one, zero-filled, if k is not a multiple of kBlockK:
// no later copy then has to look where k ends. Lines past the matrix get another line's values,
// which nobody stores.
//
// kExtent: lines of the threadblock tile.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/gemm_params.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// k runs along memory: one element a copy, transposed on the way. Eight lanes bring adjacent k of a
// line, so that global memory is read in whole sectors of 32 bytes, and four lines go side by side;
// rows of shared memory are padded by 16 bytes, which sends those 32 elements to distinct banks.
template <class G, class Element, int kExtent>
class AsyncLineTile {
  static constexpr int kBytes = sizeof(Element);
  static constexpr int kLanesK = 8;
  static constexpr int kPass = G::kThreads / kLanesK;  // lines that the block's threads bring
  static constexpr int kPasses = kExtent / kPass;
  static constexpr int kRowCopies = G::kBlockK / kLanesK;  // of a thread, of one line
  static_assert(kExtent % kPass == 0 && G::kBlockK % kLanesK == 0,
                "weft: for an operand along whose lines k runs, config.threadblock.k must be a "
                "multiple of 8, and its m (n) of an eighth of the threads");

 public:
  static constexpr int kPitch = kExtent + 16 / kBytes;
  static constexpr int kCopies = kPasses * kRowCopies;

  WEFT_DEVICE AsyncLineTile(arch::Thread t, const MatrixParams& p, int tile)
      : depth_(t.tid() % kLanesK), shared_((depth_ * kPitch + t.tid() / kLanesK) * kBytes) {
    const std::int32_t line = tile * kExtent + t.tid() / kLanesK;
    WEFT_UNROLL
    for (int i = 0; i < kPasses; ++i) {
      const std::int32_t next = line + i * kPass;
      line_[i] = static_cast<const std::uint8_t*>(p.data) +
                 ((next < p.extent ? next : p.extent - 1) * p.pitch + depth_) * kBytes;
    }
  }

  // Copy number i < kCopies of a slice to the buffer at `shared`. The slice has `steps` steps of k
  // inside the matrix.
  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared, int steps, int i) {
    const int line = i / kRowCopies, k = i % kRowCopies * kLanesK;
    t.template CpAsync<kBytes>(shared + shared_ + (k * kPitch + line * kPass) * kBytes,
                               line_[line] + (offset_ + k * kBytes),
                               depth_ + k < steps ? kBytes : 0);
  }
  // To the next slice.
  WEFT_DEVICE void Advance(int steps) { offset_ += steps * kBytes; }

 private:
  int depth_;
  std::uint32_t shared_;
  const std::uint8_t* line_[kPasses];
  std::int64_t offset_ = 0;  // from these to the slice, in bytes
};

// Lines run along memory, as they do in shared memory: kAlignment bytes a copy,
// to which data and pitch are aligned.
template <class G, class Element, int kExtent, int kAlignment>
class AsyncCrossTile {
  static constexpr int kBytes = sizeof(Element);
  static constexpr int kVector = kAlignment / kBytes;  // lines of one copy
  static constexpr int kRow = kExtent / kVector;       // copies of one step of k
  static_assert(kExtent % kVector == 0 && (kRow % G::kThreads == 0 || G::kThreads % kRow == 0) &&
                    kRow * G::kBlockK % G::kThreads == 0,
                "weft: for an operand whose lines run along memory, the threads of a block and the "
                "copies of one step of k (config.threadblock.m or n elements in pieces of "
                "config.alignment.src bytes) must divide one another, and the threads must divide "
                "the copies of config.threadblock.k steps");
  static constexpr int kRowCopies = CeilDiv(kRow, G::kThreads);  // of a thread, of one step of k
  static constexpr int kDepthStep = CeilDiv(G::kThreads, kRow);

 public:
  static constexpr int kPitch = kExtent;
  static constexpr int kCopies = kRow * G::kBlockK / G::kThreads;

  WEFT_DEVICE AsyncCrossTile(arch::Thread t, const MatrixParams& p, int tile)
      : p_(p),
        depth_(t.tid() / kRow),
        shared_((depth_ * kPitch + t.tid() % kRow * kVector) * kBytes) {
    // The pitch reaches past the last line to the next multiple of kAlignment, so whole vectors are
    // there.
    const std::int32_t last = (p.extent - 1) / kVector * kVector;
    const std::int32_t line = tile * kExtent + t.tid() % kRow * kVector;
    WEFT_UNROLL
    for (int i = 0; i < kRowCopies; ++i) {
      const std::int32_t next = line + i * G::kThreads * kVector;
      line_[i] = static_cast<const std::uint8_t*>(p.data) +
                 (depth_ * p.pitch + (next < last ? next : last)) * kBytes;
    }
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared, int steps, int i) {
    const int line = i % kRowCopies, k = i / kRowCopies * kDepthStep;
    t.template CpAsync<kAlignment>(
        shared + shared_ + (k * kPitch + line * G::kThreads * kVector) * kBytes,
        line_[line] + (offset_ + k * (p_.pitch * kBytes)), depth_ + k < steps ? kAlignment : 0);
  }
  WEFT_DEVICE void Advance(int steps) { offset_ += steps * (p_.pitch * kBytes); }

 private:
  const MatrixParams& p_;
  int depth_;
  std::uint32_t shared_;
  const std::uint8_t* line_[kRowCopies];
  std::int64_t offset_ = 0;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
