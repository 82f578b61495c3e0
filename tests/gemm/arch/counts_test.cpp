// What the executor counts of a kernel: bank conflicts of shared memory and sectors of global memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/gemm/arch/harness.hpp"

namespace weft::arch::testing {
namespace {

struct alignas(16) Vec4 {
  uint32_t word[4];
};

// Rows of 64 bytes, four 16-byte chunks each, read by ldmatrix: rows two apart share their banks.
template <bool kSwizzled>
struct LdMatrixConflictKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    uint32_t* out;
  };
  struct SharedStorage {
    Vec4 chunk[32][4];
  };
  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    for (int c = 0; c < 4; ++c) shared.chunk[t.lane()][c] = {};
    t.SyncWarp();
    for (int c = 0; c < 4; ++c) {
      const int where = kSwizzled ? c ^ (t.lane() >> 1 & 3) : c;
      uint32_t r[4];
      t.LdMatrixX4(r, t.SharedAddress(&shared.chunk[t.lane()][where]));
      p.out[t.lane()] = r[0];
    }
  }
};

template <class Kernel>
CpuStats Stats() {
  std::vector<uint32_t> out(Kernel::kThreads);
  const CpuReport report = LaunchOnCpu<Kernel>({1}, {out.data()});
  EXPECT_EQ(report.error, "");
  return report.stats;
}

TEST(BankConflicts, OfLdMatrix) {
  const CpuStats swizzled = Stats<LdMatrixConflictKernel<true>>();
  EXPECT_EQ(swizzled.ldmatrix_phases, 16);
  EXPECT_EQ(swizzled.ldmatrix_wavefronts, 16);  // 1.00 a phase
  const CpuStats plain = Stats<LdMatrixConflictKernel<false>>();
  EXPECT_EQ(plain.ldmatrix_phases, 16);
  EXPECT_EQ(plain.ldmatrix_wavefronts, 64);  // 4.00 a phase
}

// Three executions of one load, lane l reading element (l * kStride) % kModulo.
template <class T, int kStride, int kModulo>
struct StrideKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    uint32_t* out;
  };
  struct SharedStorage {
    T value[31 * kStride + 1];
  };
  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    uint32_t sum = 0;
    for (int i = 0; i < 3; ++i) {
      const T value = t.LoadShared(&shared.value[t.lane() * kStride % kModulo]);
      sum += *reinterpret_cast<const unsigned char*>(&value);
    }
    p.out[t.tid()] = sum;
  }
};

template <class T, int kStride, int kModulo = 1 << 30>
void ExpectWavefronts(int phases, int wavefronts) {
  const CpuStats stats = Stats<StrideKernel<T, kStride, kModulo>>();
  constexpr int kTimes = 2 * 3;  // two warps, three executions each
  EXPECT_EQ(stats.shared_phases, kTimes * phases) << sizeof(T) << " bytes, stride " << kStride;
  EXPECT_EQ(stats.shared_wavefronts, kTimes * wavefronts) << sizeof(T) << ", " << kStride;
}

TEST(BankConflicts, OfLoadsAndStores) {
  ExpectWavefronts<uint32_t, 1>(1, 1);
  ExpectWavefronts<uint32_t, 2>(1, 2);
  ExpectWavefronts<uint32_t, 3>(1, 1);
  ExpectWavefronts<uint32_t, 8>(1, 8);
  ExpectWavefronts<uint32_t, 32>(1, 32);
  ExpectWavefronts<uint32_t, 0>(1, 1);      // all lanes want the same word
  ExpectWavefronts<uint32_t, 8, 32>(1, 1);  // four words, each wanted by eight lanes
  ExpectWavefronts<uint8_t, 1>(1, 1);       // four lanes to a word
  ExpectWavefronts<uint64_t, 1>(2, 2);
  ExpectWavefronts<Vec4, 1>(4, 4);
  ExpectWavefronts<Vec4, 2>(4, 8);
  ExpectWavefronts<Vec4, 8>(4, 32);
}

// --- Global memory -------------------------------------------------------------------------------

// Each of 64 lanes loads a word, kStride words from its neighbour's, and copies the 16 bytes at
// the beginning, of which the first 8 exist; 2 blocks.
template <int kStride>
struct TrafficKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 80};
  struct Params {
    const uint32_t* in;
    uint32_t* out;
  };
  struct SharedStorage {
    Vec4 value[kThreads];
  };
  void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    t.CpAsync(t.SharedAddress(&shared.value[t.tid()]), p.in, 8);
    t.CpAsyncCommit();
    t.CpAsyncWait<0>();
    t.StoreGlobal(p.out + t.block_x() * kThreads + t.tid(), t.LoadGlobal(p.in + t.tid() * kStride));
  }
};

template <int kStride>
void ExpectTraffic(int sectors_of_a_load) {
  struct alignas(128) Line {
    uint32_t words[32];
  };
  std::vector<Line> in(2 * kStride), out(4);
  const CpuReport report =
      LaunchOnCpu<TrafficKernel<kStride>>({2}, {in.data()->words, out.data()->words});
  ASSERT_EQ(report.error, "");
  const auto& [loads, stores] = std::tie(report.stats.global_loads, report.stats.global_stores);
  EXPECT_EQ(loads.bytes, 2 * 64 * (4 + 8));
  EXPECT_EQ(loads.sampled_bytes, 64 * (4 + 8));
  EXPECT_EQ(loads.sampled_sectors, 2 * (sectors_of_a_load + 1));  // two warps
  EXPECT_EQ(stores.bytes, 2 * 64 * 4);
  EXPECT_EQ(stores.sampled_sectors, 2 * 4);
  EXPECT_EQ(stores.MovedBytes(), 2 * 64 * 4);
  EXPECT_EQ(report.stats.bulk_bytes, 0);
}

TEST(GlobalTraffic, IsCounted) {
  ExpectTraffic<1>(4);
  ExpectTraffic<8>(32);
  ExpectTraffic<2>(8);
}

}  // namespace
}  // namespace weft::arch::testing
