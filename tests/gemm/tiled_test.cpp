// TiledMma and TiledCopy on the CPU executor, and what does not need a kernel: the layouts of atoms
// against what a GPU computed, bank conflicts.
#include "tests/gemm/tiled_cases.hpp"

#include <array>
#include <bit>
#include <string>

#include "tests/gemm/arch/golden_file.hpp"

namespace weft::gemm {
namespace {

#if !defined(__SANITIZE_ADDRESS__)  // layouts have no memory

// The number in byte, half or word `e` of a word.
template <class Element>
double ElementOf(std::uint32_t word, int e) {
  const std::uint32_t bits = word >> 8 * sizeof(Element) * e;
  if constexpr (std::is_same_v<Element, std::int8_t>) {
    return static_cast<std::int8_t>(bits & 0xFF);
  } else if constexpr (std::is_same_v<Element, Tf32>) {
    return Tf32{std::bit_cast<float>(bits)}.ToFloat();
  } else {
    return Element::FromBits(static_cast<decltype(Element::bits)>(bits)).ToFloat();
  }
}

// The golden file's words of each lane are those of A, of B and of C; its output is A B + C of a GPU.
// With the thread-value layouts of the atom's tile a plain product gives the same.
template <class Atom>
void ExpectGolden(const std::string& name) {
  using Mma = TiledMma<Atom, Ints<Atom::kM, Atom::kN>, Ints<1, 1>>;
  using Element = typename Atom::Element;
  using Sum = typename Atom::Sum;
  constexpr int kA = Mma::kRegistersA, kB = Mma::kRegistersB, kPerWord = Mma::kPerWord;
  constexpr int kC = layouts::Size<1>(typename Mma::LayoutC());
  constexpr int kPerLane = kA + kB + kC;
  const arch::testing::GoldenFile golden =
      arch::testing::ReadGolden(arch::testing::GoldenPath(arch::testing::GoldenFolder(), name));
  ASSERT_FALSE(golden.in.empty()) << name;
  const int rounds = static_cast<int>(golden.in.size()) / (32 * kPerLane);
  ASSERT_EQ(golden.out.size(), static_cast<std::size_t>(rounds * 32 * kC));
  constexpr typename Mma::LayoutA layout_a;
  constexpr typename Mma::LayoutB layout_b;
  constexpr typename Mma::LayoutC layout_c;
  const auto sum_of = [](std::uint32_t word) {  // of floats too, which are integers
    return static_cast<std::int32_t>(word);
  };
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> a(Atom::kM * Atom::kK, 1e9), b(Atom::kN * Atom::kK, 1e9);
    std::vector<double> c(Atom::kM * Atom::kN, 1e99), d(c);
    for (int lane = 0; lane < 32; ++lane) {
      const std::uint32_t* in = &golden.in[(round * 32 + lane) * kPerLane];
      for (int v = 0; v < kA * kPerWord; ++v) {
        a.at(layout_a(lane, v)) = ElementOf<Element>(in[v / kPerWord], v % kPerWord);
      }
      for (int v = 0; v < kB * kPerWord; ++v) {
        b.at(layout_b(lane, v)) = ElementOf<Element>(in[kA + v / kPerWord], v % kPerWord);
      }
      for (int v = 0; v < kC; ++v) {
        c.at(layout_c(lane, v)) = sum_of(in[kA + kB + v]);
        d.at(layout_c(lane, v)) = sum_of(golden.out[(round * 32 + lane) * kC + v]);
      }
    }
    int different = 0;
    for (int i = 0; i < Atom::kM; ++i) {
      for (int j = 0; j < Atom::kN; ++j) {
        double sum = c[i + Atom::kM * j];
        for (int k = 0; k < Atom::kK; ++k) sum += a[i + Atom::kM * k] * b[j + Atom::kN * k];
        if constexpr (std::is_same_v<Sum, std::int32_t>) {  // wraps around
          sum =
              static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(sum)));
        }
        different += sum != d[i + Atom::kM * j];
      }
    }
    EXPECT_EQ(different, 0) << name << ", round " << round;
  }
}

TEST(TiledLayouts, OfAtomsAreThoseOfTheGpu) {
  ExpectGolden<MmaSm80Atom<std::int8_t>>("mma_m16n8k32_s8");
  ExpectGolden<MmaSm75Atom<std::int8_t>>("mma_m8n8k16_s8");
  ExpectGolden<MmaSm80Atom<Half>>("mma_m16n8k16_f16");
  ExpectGolden<MmaSm80Atom<Bfloat16>>("mma_m16n8k16_bf16");
  ExpectGolden<MmaSm80Atom<Tf32>>("mma_m16n8k8_tf32");
  ExpectGolden<MmaSm80Atom<Float8E4m3>>("mma_m16n8k32_e4m3");
  ExpectGolden<MmaSm80Atom<Float8E5m2>>("mma_m16n8k32_e5m2");
  ExpectGolden<MmaSm75Atom<Half>>("mma_m16n8k8_f16");
}

// A's, B's and C's elements go to exactly one (A: one of each group along n) thread and value; the
// mainloop's map (accumulators.hpp) and LayoutC are one.
template <class Mma>
void ExpectPartition() {
  const auto count = [](auto layout, int size, int times) {
    std::vector<int> seen(size);
    for (int t = 0; t < layouts::Size<0>(layout); ++t) {
      for (int v = 0; v < layouts::Size<1>(layout); ++v) ++seen.at(layout(t, v));
    }
    EXPECT_EQ(seen, std::vector<int>(size, times));
  };
  count(typename Mma::LayoutA(), Mma::kM * Mma::kStepK, Mma::kGroupsN);
  count(typename Mma::LayoutB(), Mma::kN * Mma::kStepK, Mma::kGroupsM);
  count(typename Mma::LayoutC(), Mma::kM * Mma::kN, 1);
  using L = typename Mma::MapLayouts;
  constexpr int kRun = Mma::Map::kChannels, kGroups = Mma::Map::kGroups;
  for (int t = 0; t < Mma::kThreads; ++t) {
    for (int v = 0; v < layouts::Size<1>(typename Mma::LayoutC()); ++v) {
      const int i = v / (kRun * kGroups), g = v / kRun % kGroups, j = v % kRun;
      const int row = typename L::ThreadRow()(t) + typename L::ValueRow()(i);
      const int column = typename L::ThreadColumn()(t) + typename L::ValueColumn()(j, g);
      ASSERT_EQ(typename Mma::LayoutC()(t, v), row + Mma::kM * column);
      ASSERT_EQ(typename Mma::FragmentC::Layout()(v),
                typename L::Register()(i, layouts::MakeTuple(j, g)));
    }
  }
}

TEST(TiledLayouts, PartitionTheTile) {
  ExpectPartition<S8Tiles::Mma>();
  ExpectPartition<U8Tiles::Mma>();
  ExpectPartition<HalfTiles::Mma>();
  ExpectPartition<DoubleTiles::Mma>();
  ExpectPartition<S8OldTiles::Mma>();
  ExpectPartition<TiledMma<MmaSm75Atom<Half>, Ints<32, 64>, Ints<1, 2>, 8>>();
  ExpectPartition<TiledMma<MmaSm80Atom<Tf32>, Ints<32, 16>, Ints<2, 1>>>();
  ExpectPartition<TiledMma<MmaSm80HalfSumAtom, Ints<32, 64>, Ints<1, 2>, 4>>();
  ExpectPartition<Dp4aTiles::Mma>();
}

#endif

// The swizzled lines, copied and read.
TEST(TiledLayouts, HaveNoBankConflicts) {
  using Kernel = TiledKernel<S8Tiles>;
  const std::vector<std::int8_t> x(64 * 128, 1);
  const std::vector<std::int32_t> start(64 * 64);
  const OperatorMemory<std::int8_t> a(x);
  const OperatorMemory<std::int32_t> from(start), c(start);
  const arch::CpuReport report =
      arch::LaunchOnCpu<Kernel>({1}, {a.get(), a.get(), from.get(), c.get(), 64, 64, 128, 128});
  ASSERT_EQ(report.error, "");
  EXPECT_GT(report.stats.ldmatrix_phases, 0);
  EXPECT_EQ(report.stats.ldmatrix_wavefronts, report.stats.ldmatrix_phases);
}

}  // namespace
}  // namespace weft::gemm
