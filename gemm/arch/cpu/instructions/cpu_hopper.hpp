// What is new in sm_90, on the CPU: mbarriers, TMA, warpgroup products, proxies, clusters.
// README.md says what each operation means there and which mistakes it catches; the comments of
// cuda_hopper.hpp, whose signatures these are, say what it is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/cpu/executor/cpu_engines.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_cluster.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_tma.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct HopperThread : ClusterThread {
  // --- mbarriers -------------------------------------------------------------------------------

  void MbarInit(uint32_t bar, int count, Location at = Location::current()) const {
    RequireEngines(at);
    uint64_t* word = MbarWord(bar, at);
    *word = cpu::MbarInit(self, bar - cpu::kSharedWindow, *word, count, at);
  }
  void FenceMbarInit() const { cpu::FenceMbarInit(self); }

  void MbarArrive(uint32_t bar, Location at = Location::current()) const {
    cpu::MbarArrive(self, Mbar(bar, at), 0, at);
  }
  void MbarArriveTx(uint32_t bar, int bytes, Location at = Location::current()) const {
    if (bytes < 0) cpu::Fail(self, at, "mbarrier: a negative number of bytes is expected");
    cpu::MbarArrive(self, Mbar(bar, at), bytes, at);
  }
  void MbarWait(uint32_t bar, int parity, Location at = Location::current()) const {
    cpu::MbarWait(self, Mbar(bar, at), parity, at);
  }
  void MbarPassed(uint32_t bar, Location at = Location::current()) const {
    cpu::MbarPassed(self, Mbar(bar, at), at);
  }
  void MbarArriveRemote(uint32_t bar, Location at = Location::current()) const {
    const cpu::Peer peer = cpu::FindPeer(self, bar, 8, at);
    cpu::MbarArrive(self, {peer.block, peer.offset, WordAt(peer.generic + peer.offset)}, 0, at);
  }
  void MbarFreeRemote(uint32_t bar, Location at = Location::current()) const {
    MbarArriveRemote(bar, at);
  }
  void CpAsyncMbarArrive(uint32_t bar, Location at = Location::current()) const {
    const auto finish = [](cpu::CopyQueue& queue) { queue.Wait(0); };
    cpu::IssueCpAsyncArrive(self, Mbar(bar, at), finish, at);
  }

  // --- TMA -----------------------------------------------------------------------------

  void BulkLoad(uint32_t dst, const void* src, uint32_t bytes, uint32_t bar,
                Location at = Location::current()) const {
    if (dst % 16 != 0 || reinterpret_cast<uintptr_t>(src) % 16 != 0 || bytes % 16 != 0 ||
        bytes == 0) {
      cpu::Fail(self, at, "BulkLoad: both addresses and the size are multiples of 16, not 0");
    }
    cpu::CopyWork work = NewWork(dst, bytes, at);
    work.source = static_cast<const char*>(src);
    Issue(work, src, bytes, bar, at);
  }

  void BulkCopyRemote(uint32_t dst, uint32_t src, uint32_t bytes, uint32_t bar,
                      Location at = Location::current()) const {
    RequireEngines(at);
    if (dst % 16 != 0 || src % 16 != 0 || bytes % 16 != 0 || bytes == 0) {
      cpu::Fail(self, at, "BulkCopyRemote: addresses and size are multiples of 16, not 0");
    }
    cpu::CopyWork work{};
    work.source = self->async_base + OffsetInWindow(src, bytes, at);
    work.bytes = bytes;
    IssueRemote(work, dst, bar, at);
  }

  template <int kRank>
  void TmaLoad(uint32_t dst, const TensorMap& map, uint32_t bar, const int32_t (&coord)[kRank],
               Location at = Location::current()) const {
    static_assert(kRank >= 1 && kRank <= 5);
    cpu::CopyWork work{};
    work.spec = SpecOf(map, TensorMapSpec::Kind::kTiled, kRank, at);
    for (int i = 0; i < kRank; ++i) work.coordinate[i] = coord[i];
    IssueTensor(work, dst, bar, at);
  }

  template <int kRank>
  void TmaLoadIm2col(uint32_t dst, const TensorMap& map, uint32_t bar,
                     const int32_t (&coord)[kRank], const uint16_t (&offset)[kRank - 2],
                     Location at = Location::current()) const {
    static_assert(kRank >= 3 && kRank <= 5);
    cpu::CopyWork work{};
    work.spec = SpecOf(map, TensorMapSpec::Kind::kIm2col, kRank, at);
    for (int i = 0; i < kRank; ++i) work.coordinate[i] = coord[i];
    const int most = kRank == 3 ? 65535 : kRank == 4 ? 255 : 31;
    for (int i = 0; i < kRank - 2; ++i) {
      work.offset[i] = offset[i];
      if (offset[i] > most) {
        cpu::Fail(self, at, "TmaLoadIm2col: an offset is at most 65535, 255 or 31 (rank 3, 4, 5)");
      }
    }
    IssueTensor(work, dst, bar, at);
  }

  void TmaStore(const TensorMap& map, uint32_t src, const int32_t (&coord)[4],
                Location at = Location::current()) const {
    if (src % 128 != 0) cpu::Fail(self, at, "TmaStore: the source is not aligned to 128 bytes");
    cpu::CopyWork work{};
    work.spec = SpecOf(map, TensorMapSpec::Kind::kTiled, 4, at);
    for (int i = 0; i < 4; ++i) work.coordinate[i] = coord[i];
    Place(&work, src, static_cast<size_t>(work.spec.Bytes()), at);
    work.perform = &Tma::WriteOut;
    CheckDependency(work.spec.base, 1, /*is_store=*/true, at);
    self->stored_bytes += Tma::Touch(work);
    cpu::IssueStore(self, work, at);
  }
  void TmaStoreCommit() const { cpu::CommitStores(self); }
  template <int kN>
  void TmaStoreWaitRead() const {
    cpu::WaitForStores(self, kN);
  }
  template <int kN>
  void TmaStoreWait() const {
    cpu::WaitForStores(self, kN);
  }

  // Hints, of which only the map is checked.
  template <int kRank>
  void TmaPrefetch(const TensorMap& map, const int32_t (&)[kRank],
                   Location at = Location::current()) const {
    SpecOf(map, TensorMapSpec::Kind::kTiled, kRank, at);
  }
  void TmaPrefetchIm2col(const TensorMap& map, const int32_t (&)[4], const uint16_t (&)[2],
                         Location at = Location::current()) const {
    SpecOf(map, TensorMapSpec::Kind::kIm2col, 4, at);
  }
  static void PrefetchTensorMap(const TensorMap&) {}
  static void FenceTensorMap(const TensorMap&) {}

  // --- Proxies ---------------------------------------------------------------------------------

  void FenceProxyAsync() const {
    if (self->async == nullptr) return;
    if (self->preemptive) cpu::Preempt(self);
    Publish(&self->unfenced);
    // Of all lanes, also of those that this one has not synchronised with: no race, as it need not
    // publish them, and ThreadSanitizer does not see it.
    cpu::PublishHandedOver(self);
    cpu::FenceMbarInit(self);
  }

  // --- Warpgroup products ----------------------------------------------------------------------

  template <int kN>
  void WgmmaS8(int32_t (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate = true,
               Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kS8, a, b, false, false, accumulate, at);
  }
  template <int kN>
  void WgmmaS8U8(int32_t (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate = true,
                 Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kS8U8, a, b, false, false, accumulate, at);
  }
  template <int kN, bool kAMnMajor = false, bool kBMnMajor = false>
  void WgmmaF16(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate = true,
                Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kF16, a, b, kAMnMajor, kBMnMajor, accumulate, at);
  }
  template <int kN, bool kAMnMajor = false, bool kBMnMajor = false>
  void WgmmaBf16(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate = true,
                 Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kBf16, a, b, kAMnMajor, kBMnMajor, accumulate, at);
  }
  template <int kN>
  void WgmmaTf32(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate = true,
                 Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kTf32, a, b, false, false, accumulate, at);
  }
  template <int kN>
  void WgmmaE4m3(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate = true,
                 Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kE4m3, a, b, false, false, accumulate, at);
  }
  template <int kN>
  void WgmmaE5m2(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate = true,
                 Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kE5m2, a, b, false, false, accumulate, at);
  }

  template <int kN>
  void WgmmaS8(int32_t (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b, bool accumulate = true,
               Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kS8, 0, b, false, false, accumulate, at, a);
  }
  template <int kN>
  void WgmmaS8U8(int32_t (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b, bool accumulate = true,
                 Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kS8U8, 0, b, false, false, accumulate, at, a);
  }
  template <int kN>
  void WgmmaTf32(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b, bool accumulate = true,
                 Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kTf32, 0, b, false, false, accumulate, at, a);
  }
  template <int kN, bool kBMnMajor = false>
  void WgmmaF16(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b, bool accumulate = true,
                Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kF16, 0, b, false, kBMnMajor, accumulate, at, a);
  }
  template <int kN, bool kBMnMajor = false>
  void WgmmaBf16(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b, bool accumulate = true,
                 Location at = Location::current()) const {
    Product<kN>(d, WgmmaType::kBf16, 0, b, false, kBMnMajor, accumulate, at, a);
  }

  void WgmmaFence(Location at = Location::current()) const { cpu::WgmmaFence(self, at); }
  void WgmmaCommit(Location at = Location::current()) const { cpu::WgmmaCommit(self, at); }
  template <int kN>
  void WgmmaWait(Location at = Location::current()) const {
    static_assert(kN >= 0 && kN <= 7);
    cpu::WgmmaWait(self, kN, at);
  }
  // For the compiler of the other back end.
  template <class Value, int kCount>
  static void KeepInPlace(Value (&)[kCount]) {}

  template <int kRegisters>
  void SetMaxRegInc(Location at = Location::current()) const {
    SetMaxReg<kRegisters>(true, at);
  }
  template <int kRegisters>
  void SetMaxRegDec(Location at = Location::current()) const {
    SetMaxReg<kRegisters>(false, at);
  }

  // --- Matrix stores ---------------------------------------------------------------------------

  template <int kMatrices>
  void StMatrix(uint32_t addr, const uint32_t (&r)[kMatrices],
                Location at = Location::current()) const {
    Store<kMatrices>(addr, r, false, at);
  }
  template <int kMatrices>
  void StMatrixTrans(uint32_t addr, const uint32_t (&r)[kMatrices],
                     Location at = Location::current()) const {
    Store<kMatrices>(addr, r, true, at);
  }

  // --- One lane for all --------------------------------------------------------------------------

  bool ElectOne(Location at = Location::current()) const {
    return (cpu::Elect(self, at) >> self->lane & 1) != 0;
  }
  int WarpUniform(int v, Location at = Location::current()) const {
    return static_cast<int>(cpu::Shuffle(self, ~0u, static_cast<uint32_t>(v), 0, at));
  }

  // --- Programmatic dependent launch -------------------------------------------------------------

  void WaitForEarlierGrids() const { cpu::WaitForEarlierGrids(self); }
  static void LetLaterGridsStart() {}

 private:
  uint64_t* MbarWord(uint32_t bar, Location at) const {
    if (self->preemptive) cpu::Preempt(self);
    if (bar % 8 != 0) cpu::Fail(self, at, "mbarrier: misaligned shared address");
    return reinterpret_cast<uint64_t*>(SharedPointer(bar, 8, at));
  }
  cpu::MbarPlace Mbar(uint32_t bar, Location at) const {
    RequireEngines(at);
    const uint64_t word = *MbarWord(bar, at);
    return {self->block, bar - cpu::kSharedWindow, word};
  }

  cpu::CopyWork NewWork(uint32_t dst, size_t bytes, Location at) const {
    RequireEngines(at);
    cpu::CopyWork work{};
    Place(&work, dst, bytes, at);
    return work;
  }
  void Place(cpu::CopyWork* work, uint32_t dst, size_t bytes, Location at) const {
    work->target = OffsetInWindow(dst, bytes, at);
    work->bytes = static_cast<uint32_t>(bytes);
    work->generic = self->shared_base;
    work->async = self->async_base;
    work->poison = &Tma::Poison;
    work->perform = &Tma::Perform;
  }

  TensorMapSpec SpecOf(const TensorMap& map, TensorMapSpec::Kind kind, int rank,
                       Location at) const {
    RequireEngines(at);
    uint32_t tag = 0;
    std::memcpy(&tag, map.bytes + sizeof(map.bytes) - 4, 4);
    if (tag != kCpuTensorMapTag) {
      cpu::Fail(self, at, "tensor map: CpuTensorMap has not made these bytes");
    }
    TensorMapSpec spec;
    std::memcpy(static_cast<void*>(&spec), map.bytes, sizeof(spec));
    if (const char* fault = TensorMapFault(spec)) cpu::Fail(self, at, fault);
    if (spec.kind != kind || spec.rank != rank) {
      cpu::Fail(self, at, "tensor map: made for another kind of copy or another rank");
    }
    return spec;
  }

  void IssueTensor(cpu::CopyWork& work, uint32_t dst, uint32_t bar, Location at) const {
    if (dst % 128 != 0) cpu::Fail(self, at, "TmaLoad: the target is not aligned to 128 bytes");
    const TensorMapSpec& spec = work.spec;
    if (!spec.interleave32 && int64_t{work.coordinate[0]} * spec.element_bytes % 16 != 0) {
      cpu::Fail(self, at,
                "TmaLoad: the box does not start at a multiple of 16 bytes of dimension 0 (an "
                "illegal instruction on the GPU)");
    }
    Place(&work, dst, static_cast<size_t>(spec.Bytes()), at);
    Issue(work, spec.base, 1, bar, at);
  }

  void Issue(const cpu::CopyWork& work, const void* src, size_t bytes, uint32_t bar,
             Location at) const {
    const cpu::MbarPlace barrier = Mbar(bar, at);
    CheckDependency(src, bytes, /*is_store=*/false, at);
    self->bulk_bytes += Tma::Touch(work);
    cpu::IssueCopy(self, barrier, work, at);
  }

  void Publish(std::vector<cpu::SharedRange>* ranges) const {
    for (const cpu::SharedRange range : *ranges) {
      const char* from = self->shared_base + range.offset;
      char* to = self->async_base + range.offset;
      if (range.bytes == 16) {
        CopyWord<Bytes16>(from, to);
      } else if (range.bytes == 8) {
        CopyWord<uint64_t>(from, to);
      } else if (range.bytes == 4) {
        CopyWord<uint32_t>(from, to);
      } else {
        for (uint32_t i = 0; i < range.bytes; ++i) to[i] = from[i];
      }
    }
    ranges->clear();
  }
  struct alignas(16) Bytes16 {
    uint32_t words[4];
  };
  template <class Value>
  static void CopyWord(const char* from, char* to) {
    *reinterpret_cast<Value*>(to) = *reinterpret_cast<const Value*>(from);
  }

  template <int kN>
  void Product(void* d, WgmmaType type, uint64_t a, uint64_t b, bool a_mn_major, bool b_mn_major,
               bool accumulate, Location at, const uint32_t* a_registers = nullptr) const {
    static_assert(IsWgmmaN(kN), "wgmma: N is 8, 16, 24, 32 or a multiple of 16 up to 256");
    RequireEngines(at);
    cpu::Wgmma(self, d,
               {.type = type,
                .n = kN,
                .a = a,
                .b = b,
                .a_registers = a_registers,
                .a_mn_major = a_mn_major,
                .b_mn_major = b_mn_major,
                .accumulate = accumulate,
                .gather = &TensorCoreOperands::Gather},
               at);
  }

  template <int kRegisters>
  void SetMaxReg(bool increase, Location at) const {
    static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0,
                  "setmaxnreg: a multiple of 8 from 24 to 256");
    RequireEngines(at);
    cpu::SetMaxReg(self, kRegisters, increase, at);
  }

  template <int kMatrices>
  void Store(uint32_t addr, const uint32_t* r, bool transposed, Location at) const {
    static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
    if (self->preemptive) cpu::Preempt(self);
    Bytes16 row{};
    cpu::StMatrix(self, r, kMatrices, transposed, row.words, addr, at);
    if (self->lane >= 8 * kMatrices) return;
    if (addr % sizeof(row) != 0) cpu::Fail(self, at, "stmatrix: misaligned shared address");
    *reinterpret_cast<Bytes16*>(SharedPointer(addr, sizeof(row), at)) = row;
    NoteWrite(addr - cpu::kSharedWindow, sizeof(row));
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
