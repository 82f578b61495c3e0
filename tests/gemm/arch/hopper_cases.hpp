// The primitives of sm_90 against plain definitions, on the back end at hand: copies of TMA,
// mbarriers, matrix stores, clusters, dependent launches. Products are in wgmma_cases.hpp.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/gemm/arch/copy_cases.hpp"
#include "tests/gemm/arch/expect_output.hpp"
#include "tests/gemm/arch/hopper_kernels.hpp"
#include "tests/gemm/arch/noise.hpp"
#include "tests/gemm/arch/run_hopper.hpp"

namespace weft::arch::testing {
namespace {

// --- TMA, against the definition by coordinates
// --------------------------------------------

// The byte that the tensor has at the coordinates `at` (byte `byte` of the row), 0 outside.
uint8_t TensorByte(const TensorMapSpec& s, const uint8_t* base, const int64_t (&at)[5],
                   int64_t byte) {
  int64_t offset = byte;
  for (int i = 0; i < s.rank; ++i) {
    const bool dense = i == 0 && !s.interleave32;
    const int64_t coord = dense ? at[0] + byte / s.element_bytes : at[i];
    if (coord < 0 || coord >= int64_t{s.dim[i]}) return 0;
    if (dense) {
      offset += at[0] * s.element_bytes;
    } else {
      offset += at[i] * (i == 0 ? 32 : static_cast<int64_t>(s.stride[i - 1]));
    }
  }
  return base[offset];
}

// Coordinates of row `row`: for im2col by counting the positions of the traversal.
void RowCoordinates(const CopyCase& c, int64_t row, int64_t (&at)[5]) {
  const TensorMapSpec& s = c.spec;
  for (int i = 0; i < 5; ++i) at[i] = c.coord[i];
  if (s.kind == TensorMapSpec::Kind::kTiled) {
    for (int i = s.interleave32 ? 0 : 1; i < s.rank; ++i) {
      const int extent = (s.box[i] + s.step[i] - 1) / s.step[i];
      at[i] += row % extent * s.step[i];
      row /= extent;
    }
    return;
  }
  const int first = s.interleave32 ? 0 : 1;
  int64_t number = row, scale = 1;
  // The first position's number within its image, then that of `row` positions later.
  for (int i = 0; i < s.SpatialDims(); ++i) {
    const int d = first + i;
    const int64_t extent = (int64_t{s.dim[d]} - 1 + s.upper[i] - s.lower[i]) / s.step[d] + 1;
    number += (c.coord[d] - s.lower[i]) / s.step[d] * scale;
    scale *= extent;
  }
  for (int i = 0; i < s.SpatialDims(); ++i) {
    const int d = first + i;
    const int64_t extent = (int64_t{s.dim[d]} - 1 + s.upper[i] - s.lower[i]) / s.step[d] + 1;
    at[d] = s.lower[i] + number % extent * s.step[d] + c.offset[i];
    number /= extent;
  }
  at[s.rank - 1] += number;
}

std::vector<uint32_t> ExpectedCopy(const CopyCase& c, const std::vector<uint32_t>& tensor) {
  std::vector<uint32_t> words(kCopyWords);
  for (int i = 0; i < kCopyWords; ++i) {
    words[i] = TmaCopyKernel<CopyKind::kBulk, 1>::Before(i);
  }
  auto* bytes = reinterpret_cast<uint8_t*>(words.data());
  const auto* source = reinterpret_cast<const uint8_t*>(tensor.data());
  if (c.kind == CopyKind::kBulk) {
    std::memcpy(bytes + c.target, source + c.source_offset, c.bulk_bytes);
    return words;
  }
  const int64_t row_bytes = c.spec.RowBytes();
  const int period = static_cast<int>(c.spec.swizzle) / 16;  // lines until the pattern repeats
  for (int64_t row = 0; row < c.spec.Rows(); ++row) {
    int64_t at[5];
    RowCoordinates(c, row, at);
    for (int64_t byte = 0; byte < row_bytes; ++byte) {
      const int64_t linear = c.target + row * row_bytes + byte;
      const int64_t line = linear / 128, chunk = linear % 128 / 16;
      const int64_t swizzled = period == 0 ? chunk : chunk ^ line % period;
      bytes[line * 128 + swizzled * 16 + linear % 16] = TensorByte(c.spec, source, at, byte);
    }
  }
  return words;
}

TEST(Tma, LoadsWhatTheMapSays) {
  if (const char* why = CannotRun({.min = 90})) GTEST_SKIP() << why;
  for (const CopyCase& c : CopyCases()) {
    SCOPED_TRACE(c.name);
    const std::vector<uint32_t> tensor = Noise(21).Words(kTensorWords);
    const std::vector<uint32_t> expected = ExpectedCopy(c, tensor);
    for (const std::vector<uint32_t>& out : RunCopy(c, tensor)) EXPECT_EQ(out, expected);
  }
}

TEST(Tma, SpecificationsAreCheckedByName) {
  TensorMapSpec good = CopyCases()[1].spec;
  alignas(128) static char memory[128];
  good.base = memory;
  ASSERT_EQ(TensorMapFault(good), nullptr);
  const auto fault = [&](auto change) {
    TensorMapSpec spec = good;
    change(spec);
    const char* text = TensorMapFault(spec);
    return std::string(text != nullptr ? text : "");
  };
  using Spec = TensorMapSpec&;
  EXPECT_NE(fault([](Spec s) { s.rank = 6; }).find("rank is 1 to 5"), std::string::npos);
  EXPECT_NE(fault([](Spec s) { s.base = memory + 4; }).find("base is aligned"), std::string::npos);
  EXPECT_NE(fault([](Spec s) { s.stride[0] = 24; }).find("strides are"), std::string::npos);
  EXPECT_NE(fault([](Spec s) { s.box[1] = 257; }).find("1 to 256"), std::string::npos);
  EXPECT_NE(fault([](Spec s) { s.box[0] = 8; }).find("multiple of 16 bytes"), std::string::npos);
  EXPECT_NE(fault([](Spec s) { s.swizzle = SwizzleSpan::k128; }).find("as wide as the swizzle"),
            std::string::npos);
  EXPECT_NE(fault([](Spec s) { s.step[1] = 9; }).find("steps are 1 to 8"), std::string::npos);
}

// --- mbarriers, matrix stores
// ----------------------------------------------------------------------

TEST(Mbarrier, ARingHandsWordsOver) {
  const std::vector<uint32_t> in = Noise(22).Words(MbarRingKernel::kRounds * 32);
  std::vector<uint32_t> expected = in;
  for (uint32_t& word : expected) word *= 5;
  ExpectOutput<MbarRingKernel>(in, expected);
}

TEST(Mbarrier, CpAsyncArrives) {
  const std::vector<uint32_t> in = Noise(23).Words(32 * 4);
  std::vector<uint32_t> expected(32 * 4);
  for (int l = 0; l < 32; ++l) std::memcpy(&expected[4 * l], &in[4 * (31 - l)], 16);
  ExpectOutput<CpAsyncArriveKernel>(in, expected);
}

template <int kMatrices, bool kTransStore, bool kTransLoad>
void TestStMatrix() {
  using Kernel = StMatrixKernel<kMatrices, kTransStore, kTransLoad>;
  const std::vector<uint32_t> in = Noise(24).Words(32 * 4);
  uint16_t matrix[4][8][8];  // as the lanes hold it: pairs of a row, or of a column if transposed
  for (int i = 0; i < kMatrices; ++i) {
    for (int row = 0; row < 8; ++row) {
      for (int column = 0; column < 8; ++column) {
        const int r = kTransStore ? column : row, c = kTransStore ? row : column;
        const uint32_t word = in[4 * (4 * r + c / 2) + i];
        matrix[i][row][column] = static_cast<uint16_t>(word >> c % 2 * 16);
      }
    }
  }
  std::vector<uint32_t> expected(128 + 32 * kMatrices, 0);
  for (int lane = 0; lane < 8 * kMatrices; ++lane) {
    std::memcpy(&expected[4 * Kernel::Row(lane)], matrix[lane / 8][lane % 8], 16);
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < kMatrices; ++i) {
      uint32_t word = 0;
      for (int e = 0; e < 2; ++e) {
        const int r = lane / 4, c = lane % 4 * 2 + e;
        word |= uint32_t{kTransLoad ? matrix[i][c][r] : matrix[i][r][c]} << 16 * e;
      }
      expected[128 + lane * kMatrices + i] = word;
    }
  }
  ExpectOutput<Kernel>(in, expected);
}

TEST(StMatrix, IsTheReverseOfLdMatrix) {
  TestStMatrix<1, false, false>();
  TestStMatrix<2, false, true>();
  TestStMatrix<4, false, false>();
  TestStMatrix<1, true, true>();
  TestStMatrix<2, true, false>();
  TestStMatrix<4, true, false>();
  TestStMatrix<4, true, true>();
}

// --- Clusters, registers, dependent launch
// -----------------------------------------------------------

TEST(Cluster, NeighboursReadWriteAndArrive) {
  for (const int size : {1, 2, 4, 8}) {
    SCOPED_TRACE(size);
    std::vector<uint32_t> expected;
    for (int block = 0; block < 16; ++block) {
      for (int lane = 0; lane < 32; ++lane) {
        const int rank = block % size, left = (rank + size - 1) % size;
        const uint32_t own = ClusterKernel::Own(left, lane);
        expected.insert(expected.end(),
                        {own * 3, own * 7, own + 3, static_cast<uint32_t>(rank * 16 + size)});
      }
    }
    ExpectOutput<ClusterKernel>(
        {16}, {0}, expected,
        [](const uint32_t*, uint32_t* out) { return ClusterKernel::Params{out}; },
        {.cluster = {size}});
  }
}

TEST(Cluster, TmaCrossesBlocks) {
  constexpr int kCluster = 4;
  std::vector<uint32_t> expected;
  for (int block = 0; block < 8; ++block) {
    for (int lane = 0; lane < 32; ++lane) {
      const uint32_t own = 100 * ((block + kCluster - 1) % kCluster) + lane;
      expected.insert(expected.end(), {own, own * 3, own * 5, own * 7});
    }
  }
  ExpectOutput<PeerCopyKernel>(
      {8}, {0}, expected,
      [](const uint32_t*, uint32_t* out) { return PeerCopyKernel::Params{out}; },
      {.cluster = {kCluster}});
}

TEST(Cluster, StoresArriveAtABarrier) {
  constexpr int kCluster = SendKernel::kRanks;
  std::vector<uint32_t> expected;
  for (uint32_t block = 0; block < 8; ++block) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t all = 100 * (0 + 1 + 2 + 3) + kCluster * lane;
      const uint32_t sum = all - (100 * (block % kCluster) + lane);
      expected.insert(expected.end(), {sum, sum * 3, sum * 5, sum * 7});
    }
  }
  ExpectOutput<SendKernel>({8}, {0}, expected,
                           [](const uint32_t*, uint32_t* out) { return SendKernel::Params{out}; },
                           {.cluster = {kCluster}});
}

TEST(Registers, MoveBetweenWarpgroups) {
  const std::vector<uint32_t> in = Noise(25).Words(12);
  std::vector<uint32_t> expected = in;
  for (uint32_t& word : expected) word *= 2;
  ExpectOutput<RegistersKernel>(in, expected);
}

TEST(DependentLaunch, AChainAddsUp) {
  constexpr int kBlocks = 64, kWords = kBlocks * 64, kLinks = 20;
  std::vector<uint32_t> in = Noise(26).Words(2 * kWords);
  std::vector<uint32_t> expected(in.begin(), in.begin() + kWords);
  for (int i = 0; i < kWords; ++i) expected[i] += kLinks * in[kWords + i];
  ExpectChain(in, expected, kWords, kBlocks, kLinks);
}

}  // namespace
}  // namespace weft::arch::testing
