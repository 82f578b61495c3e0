// Products written with TiledMma and TiledCopy, one for each way that these have.
#pragma once

#include <cstdint>

#include "weft/gemm/mma/mma_shared.hpp"
#include "weft/gemm/tiled_copy.hpp"
#include "weft/gemm/tiled_mma.hpp"

namespace weft::gemm {

using layouts::Int;

template <class T, class B, class Sum>
struct TiledParams {
  const T* a;        // m x k
  const B* b;        // n x k
  const Sum* start;  // m x n, what the sums begin with
  Sum* c;            // likewise, compact
  int m, n, k;
  int pitch;  // of the lines of a and b
};

// (row, k, stage), with `Stage` elements to a stage.
template <class L, int kStage>
struct WithStages {
  using Type = decltype(layouts::Append(L(), LayoutOf<Int<2>, Int<kStage>>()));
};
template <class Sw, class O, class L, int kStage>
struct WithStages<layouts::ComposedLayout<Sw, O, L>, kStage> {
  using Type = layouts::ComposedLayout<Sw, O, typename WithStages<L, kStage>::Type>;
};

inline namespace WEFT_BACKEND {

// Case: Mma, Order of A and B in memory, Access of copies into shared memory, kDepth, SharedA and
// SharedB (row, k) -> element, kBytesC of an access to c, kHold: A goes to registers first, kStages:
// k tiles take turns in two stages.
template <class Case>
struct TiledKernel {
  using Mma = typename Case::Mma;
  using T = typename Mma::Element;
  using B = typename Mma::ElementB;
  using Sum = typename Mma::Sum;
  static constexpr int kM = Mma::kM, kN = Mma::kN, kDepth = Case::kDepth;
  static constexpr int kThreads = Mma::kThreads;
  static constexpr arch::Requires kRequires = {
      .min = Case::Access::kAsync ? 80 : Mma::Atom::kRequires.min};
  using CopyA =
      TileCopy<typename Case::Access, T, Ints<kM, kDepth>, typename Case::Order, kThreads>;
  using CopyB =
      TileCopy<typename Case::Access, B, Ints<kN, kDepth>, typename Case::Order, kThreads>;
  using LoadC = TiledCopy<GlobalToRegisters<Case::kBytesC>, typename Mma::LayoutC>;
  using StoreC = TiledCopy<RegistersToShared<sizeof(Sum)>, typename Mma::LayoutC>;
  using WriteC =
      TileCopy<SharedToGlobal<Case::kBytesC>, Sum, Ints<kM, kN>, layouts::RowMajor, kThreads>;
  static constexpr int kStages = Case::kStages;
  static constexpr int kSizeA = layouts::Cosize(typename Case::SharedA());
  static constexpr int kSizeB = layouts::Cosize(typename Case::SharedB());

  using Params = TiledParams<T, B, Sum>;
  struct SharedStorage {
    alignas(128) std::uint8_t a[2 * kSizeA * sizeof(T)];
    alignas(128) std::uint8_t b[2 * kSizeB * sizeof(B)];
    alignas(128) Sum c[kM * kN];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, arch::Thread t) const {
    using layouts::_;
    using layouts::CoordinateTensor;
    using layouts::LocalTile;
    using layouts::MakeTensorView;
    using layouts::MakeTuple;
    const auto view = [&](auto* data, int rows) {
      if constexpr (std::is_same_v<typename Case::Order, layouts::RowMajor>) {
        return MakeTensorView(
            data, layouts::MakeLayout(MakeTuple(rows, p.k), MakeTuple(p.pitch, Int<1>())));
      } else {
        return MakeTensorView(
            data, layouts::MakeLayout(MakeTuple(rows, p.k), MakeTuple(Int<1>(), p.pitch)));
      }
    };
    const int i = t.block_x(), j = t.block_y();
    const auto tiles_a = [&](auto matrix) {
      return LocalTile(matrix, Ints<kM, kDepth>(), MakeTuple(i, layouts::Underscore()));
    };
    const auto tiles_b = [&](auto matrix) {
      return LocalTile(matrix, Ints<kN, kDepth>(), MakeTuple(j, layouts::Underscore()));
    };
    const auto a = tiles_a(view(p.a, p.m));
    const auto b = tiles_b(view(p.b, p.n));
    const auto where_a = tiles_a(CoordinateTensor(p.m, p.k));
    const auto where_b = tiles_b(CoordinateTensor(p.n, p.k));
    const auto compact = [&](auto* data) {
      return LocalTile(
          MakeTensorView(data, layouts::MakeLayout(MakeTuple(p.m, p.n), layouts::RowMajor())),
          Ints<kM, kN>(), MakeTuple(i, j));
    };
    const auto where_c = LocalTile(CoordinateTensor(p.m, p.n), Ints<kM, kN>(), MakeTuple(i, j));
    const auto stages_a = MakeTensorView(
        reinterpret_cast<T*>(s.a), typename WithStages<typename Case::SharedA, kSizeA>::Type());
    const auto stages_b = MakeTensorView(
        reinterpret_cast<B*>(s.b), typename WithStages<typename Case::SharedB, kSizeB>::Type());

    auto sums = Mma::MakeFragmentC();
    Copy(t, LoadC(), compact(p.start), sums, where_c);
    for (int k_tile = 0; k_tile * kDepth < p.k; ++k_tile) {
      const layouts::Underscore all;
      const auto run = [&](const auto& shared_a, const auto& shared_b) {
        Copy(t, CopyA(), a(all, all, k_tile), shared_a, where_a(all, all, k_tile));
        Copy(t, CopyB(), b(all, all, k_tile), shared_b, where_b(all, all, k_tile));
        if constexpr (Case::Access::kAsync) {
          t.CpAsyncCommit();
          t.template CpAsyncWait<0>();
        }
        t.SyncThreads();
        if constexpr (Case::kHold) {
          Mma::Multiply(t, Mma::LoadA(t, shared_a), Mma::LoadB(t, shared_b), sums);
        } else {
          Mma::Multiply(t, shared_a, shared_b, sums);
        }
      };
      if constexpr (kStages == 2) {
        run(stages_a(all, all, k_tile % 2), stages_b(all, all, k_tile % 2));
      } else {
        run(stages_a(all, all, Int<0>()), stages_b(all, all, Int<0>()));
        t.SyncThreads();
      }
    }

    // What an epilogue does with coordinates.
    const auto own = Mma::PartitionC(t, where_c);
    WEFT_UNROLL
    for (int v = 0; v < layouts::Size(sums); ++v) {
      sums[v] += static_cast<Sum>(3 * own[v].row - own[v].column);
    }
    const auto shared_c =
        MakeTensorView(&s.c[0], layouts::MakeLayout(Ints<kM, kN>(), layouts::RowMajor()));
    Copy(t, StoreC(), sums, shared_c);
    t.SyncThreads();
    Copy(t, WriteC(), shared_c, compact(p.c), where_c);
  }
};

// The elements of each thread of views of A and B: a (kM, k), b (kN, k), out [thread][value] of both.
template <class M, int kDepth>
struct PartitionKernel {
  struct Params {
    const std::int32_t *a, *b;
    std::int32_t* out;
  };
  struct SharedStorage {};
  static constexpr int kThreads = M::kThreads;
  static constexpr arch::Requires kRequires = {.min = 75};
  static constexpr int kSizeA = layouts::Size<1>(typename M::LayoutA()) * (kDepth / M::kStepK);
  static constexpr int kSizeB = layouts::Size<1>(typename M::LayoutB()) * (kDepth / M::kStepK);

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    const auto view = [](const std::int32_t* data, auto rows) {
      return layouts::MakeTensorView(
          data, layouts::MakeLayout(layouts::MakeTuple(rows, Int<kDepth>()), layouts::RowMajor()));
    };
    const auto own_a = M::PartitionA(t, view(p.a, Int<M::kM>()));
    const auto own_b = M::PartitionB(t, view(p.b, Int<M::kN>()));
    std::int32_t* const out = p.out + t.tid() * (kSizeA + kSizeB);
    for (int v = 0; v < kSizeA; ++v) t.StoreGlobal(out + v, own_a[v]);
    for (int v = 0; v < kSizeB; ++v) t.StoreGlobal(out + kSizeA + v, own_b[v]);
  }
};

}  // namespace WEFT_BACKEND

// K-major rows with some room between them.
template <int kRows, int kK, int kPitch>
using PaddedKMajor = LayoutOf<Ints<kRows, kK>, Ints<kPitch, 1>>;

struct S8Tiles {  // a page of the library's own mainloop: swizzled lines, ldmatrix, cp.async
  using Mma = TiledMma<MmaSm80Atom<std::int8_t>, Ints<64, 64>, Ints<2, 2>, 4>;
  using Order = layouts::RowMajor;
  using Access = CpAsync<16>;
  static constexpr int kDepth = 64, kBytesC = 4, kStages = 2;
  static constexpr bool kHold = false;
  using SharedA = Mma::SharedA<64>;
  using SharedB = Mma::SharedB<64>;
};
struct U8Tiles {  // lines with room between them, bytes one by one, three warps
  using Mma = TiledMma<MmaSm80Atom<std::uint8_t>, Ints<48, 32>, Ints<3, 1>, 8>;
  using Order = layouts::RowMajor;
  using Access = GlobalToShared<1>;
  static constexpr int kDepth = 96, kBytesC = 4, kStages = 1;
  static constexpr bool kHold = true;
  using SharedA = PaddedKMajor<48, 96, 112>;
  using SharedB = PaddedKMajor<32, 96, 112>;
};
struct HalfTiles {
  using Mma = TiledMma<MmaSm80Atom<Half>, Ints<32, 64>, Ints<1, 2>>;
  using Order = layouts::RowMajor;
  using Access = CpAsync<4>;
  static constexpr int kDepth = 64, kBytesC = 8, kStages = 1;
  static constexpr bool kHold = false;
  using SharedA = Mma::SharedA<64>;
  using SharedB = Mma::SharedB<64>;
};
struct Bfloat16Tiles {  // k across memory, in shared memory too: no ldmatrix
  using Mma = TiledMma<MmaSm80Atom<Bfloat16>, Ints<16, 16>, Ints<1, 2>>;
  using Order = layouts::ColumnMajor;
  using Access = GlobalToShared<2>;
  static constexpr int kDepth = 16, kBytesC = 4, kStages = 2;
  static constexpr bool kHold = false;
  using SharedA = LayoutOf<Ints<16, 16>, Ints<1, 18>>;
  using SharedB = SharedA;
};
struct DoubleTiles {
  using Mma = TiledMma<MmaSm80Atom<double>, Ints<32, 32>, Ints<1, 2>>;
  using Order = layouts::RowMajor;
  using Access = CpAsync<8>;
  static constexpr int kDepth = 16, kBytesC = 16, kStages = 2;
  static constexpr bool kHold = false;
  using SharedA = Mma::SharedA<16>;
  using SharedB = Mma::SharedB<16>;
};
struct S8OldTiles {  // m8n8k16
  using Mma = TiledMma<MmaSm75Atom<std::int8_t>, Ints<16, 64>, Ints<2, 1>, 8>;
  using Order = layouts::RowMajor;
  using Access = GlobalToShared<4>;
  static constexpr int kDepth = 32, kBytesC = 4, kStages = 1;
  static constexpr bool kHold = true;
  using SharedA = Mma::SharedA<32>;
  using SharedB = Mma::SharedB<32>;
};
struct Dp4aTiles {
  using Mma = TiledMma<Dp4aAtom<std::uint8_t>, Ints<32, 32>, Ints<8, 8>>;
  using Order = layouts::RowMajor;
  using Access = GlobalToShared<4>;
  static constexpr int kDepth = 32, kBytesC = 4, kStages = 1;
  static constexpr bool kHold = false;
  using SharedA = PaddedKMajor<32, 32, 36>;
  using SharedB = PaddedKMajor<32, 32, 36>;
};
struct FloatTiles {
  using Mma = TiledMma<FmaAtom<float>, Ints<32, 32>, Ints<8, 4>>;
  using Order = layouts::ColumnMajor;
  using Access = GlobalToShared<4>;
  static constexpr int kDepth = 8, kBytesC = 16, kStages = 2;
  static constexpr bool kHold = false;
  using SharedA = LayoutOf<Ints<32, 8>, Ints<1, 32>>;
  using SharedB = LayoutOf<Ints<32, 8>, Ints<1, 32>>;
};

}  // namespace weft::gemm
