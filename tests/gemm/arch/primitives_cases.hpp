// Every primitive of arch::Thread against its plain definition. Compiled by g++ the kernels run on
// the CPU executor, under every schedule; compiled by nvcc on the GPU. The tests are the same.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/gemm/arch/noise.hpp"
#include "tests/gemm/arch/primitive_kernels.hpp"
#include "weft/gemm/arch/fragments.hpp"
#include "weft/layouts/float16.hpp"

#if defined(WEFT_CUDA_BACKEND)
#include "weft/gemm/arch/cuda_launch.cuh"
#include "weft/gemm/arch/device.hpp"
#else
#include "tests/gemm/arch/harness.hpp"
#endif

namespace weft::arch::testing {
namespace {

constexpr uint32_t kUntouched = 0xC0FFEE11u;

// Where the output differs, for all ways of running: of `how`, with what `error` there was.
inline void ExpectSame(const std::vector<uint32_t>& out, const std::vector<uint32_t>& expected,
                       const char* error, const std::string& how) {
  EXPECT_STREQ(error, "") << how;
  EXPECT_EQ(out, expected) << how;
}

#if defined(WEFT_CUDA_BACKEND)

// Memory of the GPU that holds a copy of some words.
class DeviceWords {
 public:
  explicit DeviceWords(const std::vector<uint32_t>& words) : bytes_(words.size() * 4) {
    EXPECT_EQ(cudaMalloc(&words_, bytes_), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(words_, words.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~DeviceWords() { (void)cudaFree(words_); }
  DeviceWords(const DeviceWords&) = delete;
  DeviceWords& operator=(const DeviceWords&) = delete;

  uint32_t* get() const { return words_; }
  void CopyTo(std::vector<uint32_t>* words) const {
    EXPECT_EQ(cudaMemcpy(words->data(), words_, bytes_, cudaMemcpyDeviceToHost), cudaSuccess);
  }

 private:
  uint32_t* words_ = nullptr;
  size_t bytes_;
};

// Runs the kernel on the GPU. make_params(in, out) gives its parameters.
template <class Kernel, class MakeParams>
void ExpectOutput(Dim3 grid, const std::vector<uint32_t>& in, const std::vector<uint32_t>& expected,
                  MakeParams make_params) {
  const DeviceQuery query = QueryDevice();
  ASSERT_TRUE(query.result.ok()) << query.result.message;
  if (query.limits.compute_capability < Kernel::kMinComputeCapability) {
    GTEST_SKIP() << "needs compute capability " << Kernel::kMinComputeCapability;
  }
  std::vector<uint32_t> out(expected.size(), kUntouched);
  const DeviceWords device_in(in);
  const DeviceWords device_out(out);
  const LaunchResult result =
      LaunchOnCuda<Kernel>(grid, make_params(device_in.get(), device_out.get()), nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  device_out.CopyTo(&out);
  ExpectSame(out, expected, result.message, "on the GPU");
}

#else

// Runs the kernel in every way the executor knows. make_params(in, out) gives its parameters.
template <class Kernel, class MakeParams>
void ExpectOutput(Dim3 grid, const std::vector<uint32_t>& in, const std::vector<uint32_t>& expected,
                  MakeParams make_params) {
  for (const CpuOptions& options : AllSchedules()) {
    std::vector<uint32_t> out(expected.size(), kUntouched);
    const CpuReport report = LaunchOnCpu<Kernel>(grid, make_params(in.data(), out.data()), options);
    ExpectSame(out, expected, report.error.c_str(), ::testing::PrintToString(options));
  }
}

#endif

// For the kernels that take words and give words, in one block.
template <class Kernel>
void ExpectOutput(const std::vector<uint32_t>& in, const std::vector<uint32_t>& expected) {
  ExpectOutput<Kernel>({1, 1, 1}, in, expected, [](const uint32_t* src, uint32_t* dst) {
    return WordParams{src, dst};
  });
}

int32_t SignedByte(uint32_t word, int k) {
  return static_cast<int8_t>(static_cast<uint8_t>(word >> 8 * k));
}

TEST(Index, ThreadAndBlockInAThreeDimensionalGrid) {
  constexpr Dim3 kGrid{3, 2, 4};
  std::vector<uint32_t> expected;
  for (uint32_t z = 0; z < 4; ++z) {
    for (uint32_t y = 0; y < 2; ++y) {
      for (uint32_t x = 0; x < 3; ++x) {
        for (uint32_t tid = 0; tid < 96; ++tid) {
          expected.push_back(1u << 31 | x | y << 4 | z << 8 | tid % 32 << 12 | tid / 32 << 20);
        }
      }
    }
  }
  ExpectOutput<IndexKernel>(kGrid, {0}, expected, [&](const uint32_t*, uint32_t* out) {
    return IndexKernel::Params{out, kGrid.x, kGrid.y};
  });
}

TEST(Barrier, BlockWideAndNamed) {
  const std::vector<uint32_t> in = Noise(1).Words(128);
  std::vector<uint32_t> expected;
  for (int i = 0; i < 128; ++i) expected.push_back(in[127 - i]);
  for (int i = 0; i < 64; ++i) expected.push_back(in[i] * 3);
  ExpectOutput<BarrierKernel>(in, expected);
}

TEST(Exchange, ShufflesBallotsAndHalvesOfAWarp) {
  const std::vector<uint32_t> in = Noise(2).Words(32);
  std::vector<uint32_t> expected(ExchangeKernel::kOutputs * 32);
  uint32_t odd = 0;
  uint32_t upper = 0;
  for (int l = 0; l < 32; ++l) {
    odd |= (in[l] & 1) << l;
    if (l >= 16) upper |= (in[l] >> 1 & 1) << l;
  }
  for (int l = 0; l < 32; ++l) {
    expected[0 * 32 + l] = in[(l * 5 + 3) % 32];
    expected[1 * 32 + l] = in[l ^ 9];
    expected[2 * 32 + l] = 31 - l;
    expected[3 * 32 + l] = static_cast<uint32_t>((uint64_t{in[l ^ 16]} << 32 | (l ^ 16)) >> 16);
    expected[4 * 32 + l] = odd;
    expected[5 * 32 + l] = l < 16 ? in[15 - l] : upper;
    expected[6 * 32 + l] = l < 16 ? in[15 - l] : in[47 - l];
  }
  ExpectOutput<ExchangeKernel>(in, expected);
}

template <int kBytes>
void TestCopies() {
  const std::vector<uint32_t> in = Noise(3).Words(32 * 4);
  std::vector<uint32_t> expected(in.size(), kUntouched);
  for (int l = 0; l < 32; ++l) {
    char bytes[16] = {};
    std::memcpy(bytes, &in[4 * l], CopyKernel<kBytes>::SourceBytes(l));
    std::memcpy(&expected[4 * l], bytes, kBytes);
  }
  ExpectOutput<CopyKernel<kBytes>>(in, expected);
}

TEST(CpAsync, FillsUpWithZeros) {
  TestCopies<4>();
  TestCopies<8>();
  TestCopies<16>();
}

template <int kMatrices>
void TestLdMatrix() {
  using Kernel = LdMatrixKernel<kMatrices>;
  const std::vector<uint32_t> in = Noise(4).Words(32 * 4);
  std::vector<uint32_t> expected(32 * kMatrices);
  for (int l = 0; l < 32; ++l) {
    for (int i = 0; i < kMatrices; ++i) {
      // Two b16 per register: row lane / 4, columns 2 * (lane % 4) and the next.
      const int row = Kernel::Row(8 * i + l / 4);
      expected[l * kMatrices + i] = in[4 * row + l % 4];
    }
  }
  ExpectOutput<Kernel>(in, expected);
}

TEST(LdMatrix, GivesEachLaneItsPairs) {
  TestLdMatrix<1>();
  TestLdMatrix<2>();
  TestLdMatrix<4>();
}

// Where the PTX manual puts elements, byte by byte: the tables must say the same.
TEST(Fragments, AgreeWithTheManual) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int in_group = lane % 4;
    for (int i = 0; i < 16; ++i) {  // a[i] of m16n8k32
      const int row = i < 4 || (i >= 8 && i < 12) ? group : group + 8;
      const int col = in_group * 4 + (i & 3) + (i >= 8 ? 16 : 0);
      const FragmentPlace place = kMmaM16N8K32S8A.place[lane][i / 4];
      EXPECT_EQ(place.row, row);
      EXPECT_EQ(place.word * 4 + i % 4, col);
    }
    for (int i = 0; i < 8; ++i) {  // b[i]: row is k, col is n
      const int row = in_group * 4 + (i & 3) + (i >= 4 ? 16 : 0);
      const FragmentPlace place = kMmaM16N8K32S8B.place[lane][i / 4];
      EXPECT_EQ(place.row, group);
      EXPECT_EQ(place.word * 4 + i % 4, row);
    }
    for (int i = 0; i < 4; ++i) {  // c[i]
      const FragmentPlace place = kMmaM16N8K32S8C.place[lane][i];
      EXPECT_EQ(place.row, i < 2 ? group : group + 8);
      EXPECT_EQ(place.word, in_group * 2 + (i & 1));
    }
    for (int i = 0; i < 4; ++i) {  // a[i] and b[i] of m8n8k16
      EXPECT_EQ(kMmaM8N8K16S8A.place[lane][0].row, group);
      EXPECT_EQ(kMmaM8N8K16S8A.place[lane][0].word * 4 + i, in_group * 4 + i);
      EXPECT_EQ(kMmaM8N8K16S8B.place[lane][0].row, group);
      EXPECT_EQ(kMmaM8N8K16S8B.place[lane][0].word * 4 + i, in_group * 4 + i);
    }
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(kMmaM8N8K16S8C.place[lane][i].row, group);
      EXPECT_EQ(kMmaM8N8K16S8C.place[lane][i].word, in_group * 2 + i);
    }
  }
}

// d = a * b + c, element by element, with each lane's registers laid out as `in` of the kernels.
template <const auto& kA, const auto& kB, const auto& kC>
std::vector<uint32_t> PlainProduct(const std::vector<uint32_t>& in) {
  constexpr int kPerLane = kA.kRegisters + kB.kRegisters + kC.kRegisters;
  constexpr int kDepth = kA.kWords * 4;
  int32_t a[kA.kRows][kDepth];
  int32_t b[kB.kRows][kDepth];
  for (int lane = 0; lane < 32; ++lane) {
    const uint32_t* registers = &in[kPerLane * lane];
    for (int r = 0; r < kA.kRegisters; ++r) {
      const FragmentPlace place = kA.place[lane][r];
      for (int k = 0; k < 4; ++k) a[place.row][place.word * 4 + k] = SignedByte(registers[r], k);
    }
    for (int r = 0; r < kB.kRegisters; ++r) {
      const FragmentPlace place = kB.place[lane][r];
      for (int k = 0; k < 4; ++k) {
        b[place.row][place.word * 4 + k] = SignedByte(registers[kA.kRegisters + r], k);
      }
    }
  }
  std::vector<uint32_t> out;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < kC.kRegisters; ++r) {
      const FragmentPlace place = kC.place[lane][r];
      uint32_t sum = in[kPerLane * lane + kA.kRegisters + kB.kRegisters + r];  // may wrap around
      for (int k = 0; k < kDepth; ++k) {
        sum += static_cast<uint32_t>(a[place.row][k] * b[place.word][k]);
      }
      out.push_back(sum);
    }
  }
  return out;
}

TEST(Mma, M16N8K32) {
  std::vector<uint32_t> in = Noise(5).Words(32 * 10);
  const auto product = &PlainProduct<kMmaM16N8K32S8A, kMmaM16N8K32S8B, kMmaM16N8K32S8C>;
  ExpectOutput<MmaM16N8K32Kernel>(in, product(in));
  for (int i = 0; i < 32 * 10; ++i) in[i] = i % 10 < 6 ? 0x80808080u : 0x7FFFFFFFu;  // extremes
  ExpectOutput<MmaM16N8K32Kernel>(in, product(in));
}

TEST(Mma, M8N8K16) {
  std::vector<uint32_t> in = Noise(6).Words(32 * 4);
  const auto product = &PlainProduct<kMmaM8N8K16S8A, kMmaM8N8K16S8B, kMmaM8N8K16S8C>;
  ExpectOutput<MmaM8N8K16Kernel>(in, product(in));
  for (int i = 0; i < 32 * 4; ++i) in[i] = i % 4 < 2 ? 0x80808080u : 0x7FFFFFFFu;
  ExpectOutput<MmaM8N8K16Kernel>(in, product(in));
}

// Integers that both formats hold, and sums that float holds: exact in any order.
template <class Element, bool kBf16>
void TestSixteenBitMma() {
  const std::vector<uint32_t> noise = Noise(9).Words(32 * 10);
  std::vector<uint32_t> in(noise.size());
  int a[16][16], b[8][16];
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 10; ++r) {
      const uint32_t random = noise[10 * lane + r];
      uint32_t& word = in[10 * lane + r];
      if (r >= 6) {
        word = static_cast<uint32_t>(static_cast<int32_t>(random) >> 16);
        continue;
      }
      for (int half = 0; half < 2; ++half) {
        const int value = SignedByte(random, half);
        word |= uint32_t{Element::FromFloat(static_cast<float>(value)).bits} << 16 * half;
        const FragmentPlace place =
            r < 4 ? kMmaM16N8K16A.place[lane][r] : kMmaM16N8K16B.place[lane][r - 4];
        (r < 4 ? a : b)[place.row][place.word * 2 + half] = value;
      }
    }
  }
  std::vector<uint32_t> expected;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r) {
      const FragmentPlace place = kMmaM16N8K16C.place[lane][r];
      auto sum = static_cast<int32_t>(in[10 * lane + 6 + r]);
      for (int k = 0; k < 16; ++k) sum += a[place.row][k] * b[place.word][k];
      expected.push_back(static_cast<uint32_t>(sum));
    }
  }
  ExpectOutput<MmaM16N8K16Kernel<kBf16>>(in, expected);
}

TEST(Mma, M16N8K16) {
  TestSixteenBitMma<Half, false>();
  TestSixteenBitMma<Bfloat16, true>();
}

// Where the PTX manual puts the 16-bit elements.
TEST(Fragments, SixteenBitAgreesWithTheManual) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int in_group = lane % 4;
    for (int i = 0; i < 8; ++i) {  // a[i]
      const int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
      const int col = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      EXPECT_EQ(kMmaM16N8K16A.place[lane][i / 2].row, row);
      EXPECT_EQ(kMmaM16N8K16A.place[lane][i / 2].word * 2 + i % 2, col);
    }
    for (int i = 0; i < 4; ++i) {  // b[i], c[i]
      EXPECT_EQ(kMmaM16N8K16B.place[lane][i / 2].row, group);
      EXPECT_EQ(kMmaM16N8K16B.place[lane][i / 2].word * 2 + i % 2,
                in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0));
      EXPECT_EQ(kMmaM16N8K16C.place[lane][i].row, i < 2 ? group : group + 8);
      EXPECT_EQ(kMmaM16N8K16C.place[lane][i].word, in_group * 2 + (i & 1));
    }
  }
}

// A product with a rounding of its own would give zeros.
template <class T>
void TestFma() {
  const std::vector<uint32_t> in = Noise(10).Words(32 * 6);
  std::vector<uint32_t> expected;
  for (int l = 0; l < 32; ++l) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        expected.push_back(in[6 * l + i] % 4 * (in[6 * l + 2 + j] % 4));
      }
    }
  }
  ExpectOutput<FmaKernel<T>>(in, expected);
}

TEST(Fma, RoundsOnce) {
  TestFma<float>();
  TestFma<double>();
}

TEST(SharedStores, ByAddressWithBytesPermuted) {
  const std::vector<uint32_t> in = Noise(11).Words(32 * 8);
  std::vector<uint32_t> expected = in;
  const auto byte = [](uint32_t w, int i) { return w >> 8 * i & 0xff; };
  for (int l = 0; l < 32; ++l) {
    const uint32_t a = in[8 * l + 6], b = in[8 * l + 7];
    expected[8 * l + 6] = byte(a, 1) | byte(b, 1) << 8 | byte(a, 3) << 16 | byte(b, 3) << 24;
    expected[8 * l + 7] = byte(b, 2) | byte(a, 2) << 8 | byte(b, 0) << 16 | byte(a, 0) << 24;
  }
  ExpectOutput<StoreAtKernel>(in, expected);
}

template <int kM, int kN>
void TestDots() {
  for (const bool extremes : {false, true}) {
    std::vector<uint32_t> in = Noise(7).Words(32 * (kM + kN));
    if (extremes) in.assign(in.size(), 0x80808080u);
    std::vector<uint32_t> expected;
    for (int l = 0; l < 32; ++l) {
      const uint32_t* a = &in[(kM + kN) * l];
      const uint32_t* b = a + kM;
      const auto dot = [&](int i, int j) {
        int32_t sum = 0;
        for (int k = 0; k < 4; ++k) sum += SignedByte(a[i], k) * SignedByte(b[j], k);
        return sum;
      };
      for (int i = 0; i < kM; ++i) {
        for (int j = 0; j < kN; ++j) {
          const int32_t again = i == 0 && j == 0 ? dot(kM - 1, kN - 1) : 0;
          expected.push_back(static_cast<uint32_t>(i * kN + j + dot(i, j) + again));
        }
      }
    }
    ExpectOutput<DotKernel<kM, kN>>(in, expected);
  }
}

TEST(Dp4a, OuterProductsOfAnyShape) {
  TestDots<1, 1>();
  TestDots<2, 3>();
  TestDots<3, 4>();
  TestDots<8, 8>();
  TestDots<4, 15>();
  TestDots<17, 16>();
}

template <class T>
void TestMemory() {
  using Kernel = MemoryKernel<T>;
  constexpr int kWords = Kernel::kThreads * sizeof(T) / 4;
  const std::vector<uint32_t> in = Noise(8).Words(kWords);
  std::vector<uint32_t> expected(2 * kWords);
  std::memcpy(&expected[kWords], in.data(), kWords * 4);
  for (size_t i = 0; i < Kernel::kThreads; i += 2) {  // odd elements stay zero
    std::memcpy(reinterpret_cast<char*>(expected.data()) + i * sizeof(T),
                reinterpret_cast<const char*>(in.data()) + i * sizeof(T), sizeof(T));
  }
  ExpectOutput<Kernel>({1, 1, 1}, in, expected, [](const uint32_t* src, uint32_t* dst) {
    return typename Kernel::Params{reinterpret_cast<const T*>(src), reinterpret_cast<T*>(dst)};
  });
}

TEST(Memory, LoadsAndStoresOfEverySize) {
  TestMemory<uint8_t>();
  TestMemory<uint16_t>();
  TestMemory<float>();
  TestMemory<Word2>();
  TestMemory<Word4>();
}

}  // namespace
}  // namespace weft::arch::testing
