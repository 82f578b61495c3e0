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
  static_assert(kExtent % kPass == 0 && G::kBlockK % kLanesK == 0,
                "weft: for an operand along whose lines k runs, config.threadblock.k must be a "
                "multiple of 8, and its m (n) of an eighth of the threads");

 public:
  static constexpr int kPitch = kExtent + 16 / kBytes;

  WEFT_DEVICE AsyncLineTile(arch::Thread t, const MatrixParams& p, int tile)
      : data_(p.data),
        depth_(t.tid() % kLanesK),
        shared_((depth_ * kPitch + t.tid() / kLanesK) * kBytes) {
    const std::int32_t line = tile * kExtent + t.tid() / kLanesK;
    WEFT_UNROLL
    for (int i = 0; i < kPasses; ++i) {
      const std::int32_t next = line + i * kPass;
      source_[i] = static_cast<const std::uint8_t*>(p.data) +
                   ((next < p.extent ? next : p.extent - 1) * p.pitch + depth_) * kBytes;
    }
  }

  // The first slice: `steps` steps of k and zeros, to the buffer at `shared`.
  WEFT_DEVICE void CopyFirst(arch::Thread t, std::uint32_t shared, int steps) {
    Copy<true>(t, shared, steps);
  }
  // The next slice.
  WEFT_DEVICE void CopyNext(arch::Thread t, std::uint32_t shared) {
    Copy<false>(t, shared, G::kBlockK);
  }

 private:
  template <bool kFirst>
  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared, int steps) {
    WEFT_UNROLL
    for (int i = 0; i < kPasses; ++i) {
      WEFT_UNROLL
      for (int k = 0; k < G::kBlockK; k += kLanesK) {
        const bool inside = !kFirst || depth_ + k < steps;
        t.template CpAsync<kBytes>(shared + shared_ + (k * kPitch + i * kPass) * kBytes,
                                   inside ? source_[i] + k * kBytes : data_, inside ? kBytes : 0);
      }
      source_[i] += steps * kBytes;
    }
  }

  const void* data_;
  int depth_;
  std::uint32_t shared_;
  const std::uint8_t* source_[kPasses];  // the next slice of each line
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
      source_[i] = static_cast<const std::uint8_t*>(p.data) +
                   (depth_ * p.pitch + (next < last ? next : last)) * kBytes;
    }
  }

  WEFT_DEVICE void CopyFirst(arch::Thread t, std::uint32_t shared, int first) {
    Copy<true>(t, shared, first);
  }
  WEFT_DEVICE void CopyNext(arch::Thread t, std::uint32_t shared) {
    Copy<false>(t, shared, G::kBlockK);
  }

 private:
  template <bool kFirst>
  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared, int steps) {
    const std::int64_t pitch = p_.pitch * kBytes;
    WEFT_UNROLL
    for (int i = 0; i < kRowCopies; ++i) {
      WEFT_UNROLL
      for (int k = 0; k < G::kBlockK; k += kDepthStep) {
        const bool inside = !kFirst || depth_ + k < steps;
        t.template CpAsync<kAlignment>(
            shared + shared_ + (k * kPitch + i * G::kThreads * kVector) * kBytes,
            inside ? source_[i] + k * pitch : p_.data, inside ? kAlignment : 0);
      }
      source_[i] += steps * pitch;
    }
  }

  const MatrixParams& p_;
  int depth_;
  std::uint32_t shared_;
  const std::uint8_t* source_[kRowCopies];
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
