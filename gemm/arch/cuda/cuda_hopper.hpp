// What is new in sm_90, as PTX: mbarriers, warpgroup products, proxies, dependent launch; TMA is in
// cuda_tma.hpp, clusters are in cuda_cluster.hpp. Base of Thread.
//
// Operations of sm_90a (wgmma, setmaxnreg) need a kernel whose kRequires is {.min = 90, .exact =
// true}; the others .min = 90. Shared memory is named by 32-bit addresses (Thread::SharedAddress).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <nv/target>
#include <type_traits>

#include "weft/gemm/arch/cuda/cuda_cluster.hpp"
#include "weft/gemm/arch/cuda/cuda_tma.hpp"
#include "weft/gemm/arch/cuda/cuda_wgmma.hpp"
#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct HopperThread : ClusterThread, TmaThread {
  // --- mbarriers: 8 bytes of shared memory, aligned to 8 -----------------------------------------
  //
  // A phase ends when `count` arrivals have been made and all bytes that they announced have come;
  // then the next begins. Phases have numbers from 0.

  // By one thread, once; then FenceMbarInit by the same, then a barrier for all that will use it.
  WEFT_DEVICE static void MbarInit(uint32_t bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
  }
  // Makes the caller's MbarInits known to the engines and to the cluster.
  WEFT_DEVICE static void FenceMbarInit() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }

  WEFT_DEVICE static void MbarArrive(uint32_t bar) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(bar)
                 : "memory");
  }
  // Arrives and announces `bytes` (up to 2^20 - 1 in a phase) that copies will load.
  WEFT_DEVICE static void MbarArriveTx(uint32_t bar, int bytes) {
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(
            bar),
        "r"(bytes)
        : "memory");
  }
  // Returns when the latest phase whose number has this parity (0 or 1) has ended; a new barrier
  // counts as one whose phase of parity 1 has. Who waits for each phase in turn can tell them
  // apart.
  WEFT_DEVICE static void MbarWait(uint32_t bar, int parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra ready;\n"
        "bra again;\n"
        "ready:\n}" ::"r"(bar),
        "r"(parity)
        : "memory");
  }
  // Says that by the thread's next wait a phase more of the barrier will have ended, for which it does not
  // wait, and that other barriers see to that. For the CPU's checks; here it does nothing.
  WEFT_DEVICE static void MbarPassed(uint32_t /*bar*/) {}
  // MbarArrive at a barrier of the cluster (MapToRank).
  WEFT_DEVICE static void MbarArriveRemote(uint32_t bar) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar)
                 : "memory");
  }
  // The same, for who has only read: it orders no stores before it, and so waits for none.
  WEFT_DEVICE static void MbarFreeRemote(uint32_t bar) {
    asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar)
                 : "memory");
  }
  // Arrives when the thread's CpAsyncs so far have landed.
  WEFT_DEVICE static void CpAsyncMbarArrive(uint32_t bar) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
  }

  // --- Proxies -----------------------------------------------------------------------------------

  // What was written to shared memory by ordinary stores before it (the thread's own, or others'
  // that it has synchronised with) is seen by products and copies issued after it. Bytes that
  // reached shared memory by TMA need none.
  WEFT_DEVICE static void FenceProxyAsync() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }

  // --- Warpgroup products: by all four warps of a warpgroup (wgmma.hpp describes operands, sums)
  // --
  //
  //   WgmmaFence(); WgmmaS8<N>(d, a, b); ...; WgmmaCommit(); WgmmaWait<0>(); KeepInPlace(d);
  //
  // d is in flight from the first product to the WgmmaWait that covers the last one: nobody may
  // touch it, and it stays where it is. The operands must stay in shared memory as long.

  // d += a * b for signed bytes, k = 32; with accumulate = false d = a * b.
  template <int kN>
  WEFT_DEVICE static void WgmmaS8(int32_t (&d)[kN / 2], uint64_t a, uint64_t b,
                                  bool accumulate = true) {
    WgmmaInstruction<WgmmaType::kS8, kN>::Issue(d, a, b, accumulate);
  }
  // The same with unsigned bytes of b.
  template <int kN>
  WEFT_DEVICE static void WgmmaS8U8(int32_t (&d)[kN / 2], uint64_t a, uint64_t b,
                                    bool accumulate = true) {
    WgmmaInstruction<WgmmaType::kS8U8, kN>::Issue(d, a, b, accumulate);
  }
  // 16-bit floats, k = 16; each operand may be MN-major.
  template <int kN, bool kAMnMajor = false, bool kBMnMajor = false>
  WEFT_DEVICE static void WgmmaF16(float (&d)[kN / 2], uint64_t a, uint64_t b,
                                   bool accumulate = true) {
    WgmmaInstruction<WgmmaType::kF16, kN>::template Issue<kAMnMajor, kBMnMajor>(d, a, b,
                                                                                accumulate);
  }
  template <int kN, bool kAMnMajor = false, bool kBMnMajor = false>
  WEFT_DEVICE static void WgmmaBf16(float (&d)[kN / 2], uint64_t a, uint64_t b,
                                    bool accumulate = true) {
    WgmmaInstruction<WgmmaType::kBf16, kN>::template Issue<kAMnMajor, kBMnMajor>(d, a, b,
                                                                                 accumulate);
  }
  // k = 8.
  template <int kN>
  WEFT_DEVICE static void WgmmaTf32(float (&d)[kN / 2], uint64_t a, uint64_t b,
                                    bool accumulate = true) {
    WgmmaInstruction<WgmmaType::kTf32, kN>::Issue(d, a, b, accumulate);
  }
  // 8-bit floats, k = 32.
  template <int kN>
  WEFT_DEVICE static void WgmmaE4m3(float (&d)[kN / 2], uint64_t a, uint64_t b,
                                    bool accumulate = true) {
    WgmmaInstruction<WgmmaType::kE4m3, kN>::Issue(d, a, b, accumulate);
  }
  template <int kN>
  WEFT_DEVICE static void WgmmaE5m2(float (&d)[kN / 2], uint64_t a, uint64_t b,
                                    bool accumulate = true) {
    WgmmaInstruction<WgmmaType::kE5m2, kN>::Issue(d, a, b, accumulate);
  }

  // The same with the 64 x K of a in registers: of each warp its 16 rows, as mma has them
  // (fragments.hpp). The program leaves a as it is until WgmmaWait, and after a change of it comes a
  // WgmmaFence, too.
  template <int kN>
  WEFT_DEVICE static void WgmmaS8(int32_t (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b,
                                  bool accumulate = true) {
    WgmmaRsInstruction<WgmmaType::kS8, kN>::Issue(d, a, b, accumulate);
  }
  template <int kN>
  WEFT_DEVICE static void WgmmaS8U8(int32_t (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b,
                                    bool accumulate = true) {
    WgmmaRsInstruction<WgmmaType::kS8U8, kN>::Issue(d, a, b, accumulate);
  }
  template <int kN>
  WEFT_DEVICE static void WgmmaTf32(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b,
                                    bool accumulate = true) {
    WgmmaRsInstruction<WgmmaType::kTf32, kN>::Issue(d, a, b, accumulate);
  }
  template <int kN, bool kBMnMajor = false>
  WEFT_DEVICE static void WgmmaF16(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b,
                                   bool accumulate = true) {
    WgmmaRsInstruction<WgmmaType::kF16, kN>::template Issue<kBMnMajor>(d, a, b, accumulate);
  }
  template <int kN, bool kBMnMajor = false>
  WEFT_DEVICE static void WgmmaBf16(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b,
                                    bool accumulate = true) {
    WgmmaRsInstruction<WgmmaType::kBf16, kN>::template Issue<kBMnMajor>(d, a, b, accumulate);
  }

  // Before the first product onto sums that the program has touched.
  WEFT_DEVICE static void WgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
  // The products since the last one are a group.
  WEFT_DEVICE static void WgmmaCommit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  // Until at most kN (0 to 7) groups are in flight.
  template <int kN>
  WEFT_DEVICE static void WgmmaWait() {
    static_assert(kN >= 0 && kN <= 7);
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kN) : "memory");
  }
  // For the compiler, which does not know that products write late: sums are not read before this.
  // After WgmmaWait, and before the first product. Of constants, operand a's registers: they are made
  // before this, and stay until it.
  template <class Value, int kCount>
  WEFT_DEVICE static void KeepInPlace(Value (&d)[kCount]) {
    WEFT_UNROLL
    for (int i = 0; i < kCount; ++i) KeepRegister(d[i]);
  }

  // The registers of each thread of the warpgroup become more (when others have given some up) or
  // fewer; a multiple of 8 from 24 to 256.
  template <int kRegisters>
  WEFT_DEVICE static void SetMaxRegInc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
  }
  template <int kRegisters>
  WEFT_DEVICE static void SetMaxRegDec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
  }

  // --- Matrix stores: the reverse of LdMatrix ----------------------------------------------------

  // Lane 8i + j gives the address of row j of matrix i; kMatrices = 1, 2 or 4.
  template <int kMatrices>
  WEFT_DEVICE static void StMatrix(uint32_t addr, const uint32_t (&r)[kMatrices]) {
    Store(addr, r);
  }
  // Of transposed matrices: r[i] are two b16 of one column.
  template <int kMatrices>
  WEFT_DEVICE static void StMatrixTrans(uint32_t addr, const uint32_t (&r)[kMatrices]) {
    StoreTrans(addr, r);
  }

  // --- One lane for all
  // ----------------------------------------------------------------------------

  // True in one lane of a warp that is whole.
  WEFT_DEVICE static bool ElectOne() {
    uint32_t one;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xFFFFFFFF; selp.b32 %0, 1, 0, p; }" : "=r"(one));
    return one != 0;
  }
  // Lane 0's value, known to the compiler to be the same in the whole warp.
  WEFT_DEVICE static int WarpUniform(int v) { return __shfl_sync(~0u, v, 0); }

  // --- Programmatic dependent launch (LaunchAttributes::dependent)
  // ---------------------------------

  // Until the kernels before this one in the stream have ended and what they wrote is visible.
  // Returns at once in an ordinary launch. Any kernel may call these two: code for older GPUs holds
  // nothing of them, and LaunchOnCuda then launches it the ordinary way.
  WEFT_DEVICE static void WaitForEarlierGrids() {
    NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("griddepcontrol.wait;" :: : "memory");))
  }
  // The next kernel of the stream may start when all blocks have said so, or returned.
  WEFT_DEVICE static void LetLaterGridsStart() {
    NV_IF_TARGET(NV_PROVIDES_SM_90,
                 (asm volatile("griddepcontrol.launch_dependents;" :: : "memory");))
  }

 private:
  WEFT_DEVICE static void KeepRegister(float& x) { asm volatile("" : "+f"(x)::"memory"); }
  WEFT_DEVICE static void KeepRegister(int32_t& x) { asm volatile("" : "+r"(x)::"memory"); }
  WEFT_DEVICE static void KeepRegister(uint32_t& x) { asm volatile("" : "+r"(x)::"memory"); }
  WEFT_DEVICE static void KeepRegister(const uint32_t& x) { asm volatile("" ::"r"(x) : "memory"); }

  WEFT_DEVICE static void Store(uint32_t addr, const uint32_t (&r)[1]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(addr), "r"(r[0])
                 : "memory");
  }
  WEFT_DEVICE static void Store(uint32_t addr, const uint32_t (&r)[2]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(addr), "r"(r[0]),
                 "r"(r[1])
                 : "memory");
  }
  WEFT_DEVICE static void Store(uint32_t addr, const uint32_t (&r)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(addr),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
  }

  WEFT_DEVICE static void StoreTrans(uint32_t addr, const uint32_t (&r)[1]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(addr), "r"(r[0])
                 : "memory");
  }
  WEFT_DEVICE static void StoreTrans(uint32_t addr, const uint32_t (&r)[2]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(addr),
                 "r"(r[0]), "r"(r[1])
                 : "memory");
  }
  WEFT_DEVICE static void StoreTrans(uint32_t addr, const uint32_t (&r)[4]) {
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(addr),
        "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
        : "memory");
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
