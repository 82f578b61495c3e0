// Copies of TMA, as PTX: by one thread; the bytes have come when the mbarrier's phase has ended.
// Base of Thread. There is an instruction for each number of dimensions.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct TmaThread {
  // `bytes` and both addresses are multiples of 16.
  WEFT_DEVICE static void BulkLoad(uint32_t dst, const void* src, uint32_t bytes, uint32_t bar) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(dst),
        "l"(src), "r"(bytes), "r"(bar)
        : "memory");
  }

  // From the block's shared memory at `src` to the cluster's (MapToRank) at `dst`, with a barrier
  // of the block that receives. The sender's bytes were fenced by FenceProxyAsync, and it does not
  // return before they have come.
  WEFT_DEVICE static void BulkCopyRemote(uint32_t dst, uint32_t src, uint32_t bytes, uint32_t bar) {
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(dst),
        "r"(src), "r"(bytes), "r"(bar)
        : "memory");
  }

  // The box at `coord` (dimension 0 first), TensorMapSpec::Bytes() of it, to dst, a multiple of
  // 128. Without interleave, coord[0] is a multiple of 16 bytes.
  template <int kRank>
  WEFT_DEVICE static void TmaLoad(uint32_t dst, const TensorMap& map, uint32_t bar,
                                  const int32_t (&coord)[kRank]) {
    static_assert(kRank >= 1 && kRank <= 5);
    Load(dst, map, bar, coord);
  }

  // The im2col traversal from `coord`, read at `offset` (per spatial dimension, W first).
  template <int kRank>
  WEFT_DEVICE static void TmaLoadIm2col(uint32_t dst, const TensorMap& map, uint32_t bar,
                                        const int32_t (&coord)[kRank],
                                        const uint16_t (&offset)[kRank - 2]) {
    static_assert(kRank >= 3 && kRank <= 5);
    LoadIm2col(dst, map, bar, coord, offset);
  }

  // The box at `coord` of the tensor becomes what shared memory holds at src, a multiple of 128; what
  // of the box lies outside the tensor is left out. The bytes were fenced by FenceProxyAsync. The
  // thread's stores since its last TmaStoreCommit are a group; src may be written again when
  // TmaStoreWaitRead has waited for its group, and TmaStoreWait waits until it is in memory. A thread
  // does not return before its last group has been read.
  WEFT_DEVICE static void TmaStore(const TensorMap& map, uint32_t src, const int32_t (&coord)[4]) {
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], "
        "[%1];" ::"l"(&map),
        "r"(src), "r"(coord[0]), "r"(coord[1]), "r"(coord[2]), "r"(coord[3])
        : "memory");
  }
  WEFT_DEVICE static void TmaStoreCommit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  // Until at most kN groups are still to be read, or to be written.
  template <int kN>
  WEFT_DEVICE static void TmaStoreWaitRead() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kN) : "memory");
  }
  template <int kN>
  WEFT_DEVICE static void TmaStoreWait() {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kN) : "memory");
  }

  // Asks the L2 for what TmaLoad and TmaLoadIm2col would load. Reads nothing: an earlier kernel may
  // still be writing there.
  template <int kRank>
  WEFT_DEVICE static void TmaPrefetch(const TensorMap& map, const int32_t (&coord)[kRank]) {
    static_assert(kRank == 2 || kRank == 3);
    Prefetch(map, coord);
  }
  WEFT_DEVICE static void TmaPrefetchIm2col(const TensorMap& map, const int32_t (&coord)[4],
                                            const uint16_t (&offset)[2]) {
    asm volatile(
        "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%0, {%1, %2, %3, %4}], {%5, %6};" ::"l"(
            &map),
        "r"(coord[0]), "r"(coord[1]), "r"(coord[2]), "r"(coord[3]), "h"(offset[0]), "h"(offset[1])
        : "memory");
  }

  // So that the first copy need not wait for the map itself.
  WEFT_DEVICE static void PrefetchTensorMap(const TensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
  }

  // By a thread that is about to use a map in global memory, written before the kernel began, where it has
  // not fenced the same one already: TMA then sees what memory holds, not what it once read
  // at the address.
  WEFT_DEVICE static void FenceTensorMap(const TensorMap& map) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(&map) : "memory");
  }

 private:
  WEFT_DEVICE static void Load(uint32_t dst, const TensorMap& map, uint32_t bar,
                               const int32_t (&coord)[1]) {
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3}], [%2];" ::"r"(dst),
        "l"(&map), "r"(bar), "r"(coord[0])
        : "memory");
  }
  WEFT_DEVICE static void Load(uint32_t dst, const TensorMap& map, uint32_t bar,
                               const int32_t (&coord)[2]) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %4}], [%2];" ::"r"(dst),
        "l"(&map), "r"(bar), "r"(coord[0]), "r"(coord[1])
        : "memory");
  }
  WEFT_DEVICE static void Load(uint32_t dst, const TensorMap& map, uint32_t bar,
                               const int32_t (&coord)[3]) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %4, %5}], [%2];" ::"r"(dst),
        "l"(&map), "r"(bar), "r"(coord[0]), "r"(coord[1]), "r"(coord[2])
        : "memory");
  }
  WEFT_DEVICE static void Load(uint32_t dst, const TensorMap& map, uint32_t bar,
                               const int32_t (&coord)[4]) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %4, %5, %6}], [%2];" ::"r"(dst),
        "l"(&map), "r"(bar), "r"(coord[0]), "r"(coord[1]), "r"(coord[2]), "r"(coord[3])
        : "memory");
  }
  WEFT_DEVICE static void Load(uint32_t dst, const TensorMap& map, uint32_t bar,
                               const int32_t (&coord)[5]) {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(dst),
        "l"(&map), "r"(bar), "r"(coord[0]), "r"(coord[1]), "r"(coord[2]), "r"(coord[3]),
        "r"(coord[4])
        : "memory");
  }

  WEFT_DEVICE static void LoadIm2col(uint32_t dst, const TensorMap& map, uint32_t bar,
                                     const int32_t (&coord)[3], const uint16_t (&offset)[1]) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2], {%6};" ::"r"(dst),
        "l"(&map), "r"(bar), "r"(coord[0]), "r"(coord[1]), "r"(coord[2]), "h"(offset[0])
        : "memory");
  }
  WEFT_DEVICE static void LoadIm2col(uint32_t dst, const TensorMap& map, uint32_t bar,
                                     const int32_t (&coord)[4], const uint16_t (&offset)[2]) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(dst),
        "l"(&map), "r"(bar), "r"(coord[0]), "r"(coord[1]), "r"(coord[2]), "r"(coord[3]),
        "h"(offset[0]), "h"(offset[1])
        : "memory");
  }
  WEFT_DEVICE static void LoadIm2col(uint32_t dst, const TensorMap& map, uint32_t bar,
                                     const int32_t (&coord)[5], const uint16_t (&offset)[3]) {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(dst),
        "l"(&map), "r"(bar), "r"(coord[0]), "r"(coord[1]), "r"(coord[2]), "r"(coord[3]),
        "r"(coord[4]), "h"(offset[0]), "h"(offset[1]), "h"(offset[2])
        : "memory");
  }

  WEFT_DEVICE static void Prefetch(const TensorMap& map, const int32_t (&coord)[2]) {
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
                 "r"(coord[0]), "r"(coord[1])
                 : "memory");
  }
  WEFT_DEVICE static void Prefetch(const TensorMap& map, const int32_t (&coord)[3]) {
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(&map),
                 "r"(coord[0]), "r"(coord[1]), "r"(coord[2])
                 : "memory");
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
