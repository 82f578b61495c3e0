// Block<Desc>: a matrix product inside a kernel of the user's own, computed by all threads of a
// block, on both back ends. Desc is a struct of a dozen lines (block_config.hpp).
// docs/block_gemm.md tells how to write a kernel with it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/epilogues/numerics.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/block/block_accumulators.hpp"
#include "weft/gemm/block/block_chain.hpp"
#include "weft/gemm/block/block_config.hpp"
#include "weft/gemm/block/block_operand.hpp"
#include "weft/gemm/block/block_result.hpp"
#include "weft/gemm/block/block_wgmma.hpp"
#include "weft/gemm/mainloop/mma_sm80.hpp"
#include "weft/gemm/mainloop/simt.hpp"
#include "weft/gemm/mainloop/simt_async.hpp"

namespace weft::gemm {

inline namespace WEFT_BACKEND {

// Every function is called by whole warps that have not diverged; threads from kThreads on may call
// it too, and do nothing. WaitForCopies and MultiplyGlobal contain barriers of the whole block, so
// that every thread of it must call them. All other barriers are the caller's.
template <class Description>
struct Block {
  using Desc = Description;
  using Policy = BlockPolicy<Description>;
  static constexpr bool kWgmma = CheckedBlock<Description>::kWgmma;
  using ElementA = typename Description::ElementA;
  using ElementB = typename Description::ElementB;
  using ElementC = typename Description::ElementC;
  using Sum = typename Description::Sum;
  static constexpr bool kKMajorA = std::is_same_v<typename Description::LayoutA, layouts::RowMajor>;
  static constexpr bool kKMajorB =
      std::is_same_v<typename Description::LayoutB, layouts::ColumnMajor>;
  using Mainloop = std::conditional_t<
      kWgmma, BlockWgmmaMainloop<Policy>,
      std::conditional_t<
          CheckedBlock<Description>::kMma, MmaSm80Mainloop<Policy, MmaMatrices>,
          std::conditional_t<CheckedBlock<Description>::kAsync,
                             SimtAsyncMainloop<Policy, kKMajorA, kKMajorB>, SimtMainloop<Policy>>>>;
  static constexpr int kM = Description::config.shape.m, kN = Description::config.shape.n,
                       kK = Description::config.shape.k;
  static constexpr int kThreads = Policy::kThreads;  // a kernel's block has at least so many
  static constexpr int kSuggestedThreads = SuggestedThreads<Description>();
  static constexpr arch::Requires kRequires = Mainloop::kRequires;

  using OperandA = BlockOperand<Description, Mainloop, RowsOfA>;
  using OperandB = BlockOperand<Description, Mainloop, typename Mainloop::ColumnsOfB>;
  using ResultC = BlockResult<Description>;
  static constexpr bool kRowMajorC = ResultC::kRowMajor;
  static_assert(OperandA::kBytes + OperandB::kBytes <= arch::kMaxSharedBytes,
                "weft: A and B of a block's product need more than 227 KB of shared memory, the "
                "most any GPU gives one block; make config.shape.k smaller and multiply in steps");

  // --- Shared memory. The storage types are raw bytes that are never constructed. A view maps
  // (row, column) of the padded extents to an element; that of B is (n, k), as B's columns lie like
  // A's rows.

  using SharedA = typename OperandA::Storage;
  using SharedB = typename OperandB::Storage;
  using SharedC = typename ResultC::Storage;
  using ViewOfA = typename OperandA::View;  // (m, k)
  using ViewOfB = typename OperandB::View;  // (n, k)
  using ViewOfC = typename ResultC::View;   // (m, n)
  struct SharedStorage {
    SharedA a;
    SharedB b;
  };
  WEFT_DEVICE static ViewOfA ViewA(SharedA& a) { return OperandA::ViewOf(a); }
  WEFT_DEVICE static ViewOfB ViewB(SharedB& b) { return OperandB::ViewOf(b); }
  WEFT_DEVICE static ViewOfC ViewC(SharedC& c) { return ResultC::ViewOf(c); }

  // --- Copies. If a matrix is larger than the operand, its first rows and columns are taken; if it
  // is smaller, zeros are stored for the missing k. Missing rows of A (columns of B) are zeros too
  // if the operand is K-major; if it is MN-major, loads are whole accesses, and what the last one
  // has past the end may be anything. Elements are adjacent along LayoutA (LayoutB, LayoutC);
  // address and pitch are multiples of config.alignment bytes. All of the pitch of an MN-major
  // operand must be readable.

  // Starts to load A, m x k, or B, k x n; call WaitForCopies before it is read. If `from` has
  // another element type than the operand, load(element) converts, and loads are one element at a
  // time.
  template <class Type, class Load = internal::NoConversion>
  WEFT_DEVICE static void CopyA(arch::Thread t, const layouts::Matrix<Type>& from,
                                const ViewOfA& to, const Load& load = {}) {
    OperandA::template Copy<std::remove_const_t<Type>>(t, from, to, load);
  }
  template <class Type, class Load = internal::NoConversion>
  WEFT_DEVICE static void CopyB(arch::Thread t, const layouts::Matrix<Type>& from,
                                const ViewOfB& to, const Load& load = {}) {
    OperandB::template Copy<std::remove_const_t<Type>>(t, from.Transposed(), to, load);
  }
  // A barrier after which all threads see the results of all copies that any thread of the block
  // has started. (A kernel that wants later copies to stay in flight calls t.CpAsyncCommit and
  // t.CpAsyncWait itself.)
  WEFT_DEVICE static void WaitForCopies(arch::Thread t) {
    if constexpr (kRequires.min >= 80) {
      t.CpAsyncCommit();
      t.template CpAsyncWait<0>();
    }
    t.SyncThreads();
  }

  // These copy C between global and shared memory. A thread's copies are complete when they return;
  // they contain no barrier.
  WEFT_DEVICE static void LoadC(arch::Thread t, const layouts::Matrix<const ElementC>& from,
                                const ViewOfC& to) {
    ResultC::Load(t, from, to);
  }
  WEFT_DEVICE static void StoreC(arch::Thread t, const ViewOfC& from,
                                 const layouts::Matrix<ElementC>& to) {
    ResultC::Store(t, from, to);
  }

  // --- Products.

  using Accumulators = BlockAccumulators<Mainloop, kM, kN, Description::config.whole_rows>;

  // Computes acc += A B.
  template <class MatrixA, class MatrixB>
  WEFT_DEVICE static void Multiply(arch::Thread t, const MatrixA& a, const MatrixB& b,
                                   Accumulators& acc) {
    static_assert(std::is_same_v<MatrixA, ViewOfA> && std::is_same_v<MatrixB, ViewOfB>,
                  "weft: Multiply takes views of the layouts that the block suggests: "
                  "ViewA(shared.a) and ViewB(shared.b)");
    if (!Accumulators::IsActive(t)) return;
    Mainloop::MultiplyStages(t, reinterpret_cast<const std::uint8_t*>(a.data()),
                             reinterpret_cast<const std::uint8_t*>(b.data()), OperandA::kKTiles,
                             acc.registers);
  }

  // Returns A B, in registers.
  template <class MatrixA, class MatrixB>
  WEFT_DEVICE static Accumulators Multiply(arch::Thread t, const MatrixA& a, const MatrixB& b) {
    Accumulators acc;
    Multiply(t, a, b, acc);
    return acc;
  }

  // Computes acc += A B for matrices in global memory, m x k and k x n. k tiles of config.shape.k
  // or less are loaded into the stages of the mainloop's pipeline while others are multiplied. k is
  // a.cols, which is 1 to 2^31 - 1025 bytes of elements; b.rows is not read, and must be the same.
  // Alignment and padding of the matrices are as for CopyA and CopyB. The block has exactly as many
  // threads as hold accumulators, and all of them call it. It ends without a barrier: the caller
  // needs one before the stages are used again.
  using SharedStages = typename Mainloop::Pipeline::Stages;
  WEFT_DEVICE static void MultiplyGlobal(arch::Thread t, SharedStages& stages,
                                         const layouts::Matrix<const ElementA>& a,
                                         const layouts::Matrix<const ElementB>& b,
                                         Accumulators& acc) {
    static_assert(kThreads == Accumulators::kThreads && Description::config.alignment >= 4,
                  "weft: MultiplyGlobal takes a product whose threads all have work, and a "
                  "config.alignment of 4 bytes or more");
    const auto k = static_cast<std::int32_t>(a.cols);
    const MatrixParams params_a =
        OperandA::ParamsOf(a, static_cast<std::int32_t>(a.rows < kM ? a.rows : kM), k);
    const MatrixParams params_b =
        OperandB::ParamsOf(b.Transposed(), static_cast<std::int32_t>(b.cols < kN ? b.cols : kN), k);
    typename OperandA::Loader operand_a(t, params_a, typename OperandA::Origin());
    typename OperandB::Loader operand_b(t, params_b, typename OperandB::Origin());
    Mainloop::Pipeline::Run(t, stages, operand_a, operand_b, CeilDiv(k, Mainloop::kBlockK),
                            acc.registers);
  }

  // Computes C = alpha A B + beta C in shared memory; each thread changes its own elements. The
  // arithmetic is that of Sum, or of float where C is float. int32 wraps around. In floating point
  // t = beta c (0 for beta = 0, when C is not read), then fma(alpha, sum, t), or MulAdd for complex
  // numbers, then one rounding to ElementC. c is any view (row, column) -> ElementC&.
  using Scale = std::conditional_t<std::is_same_v<ElementC, float>, float, Sum>;
  template <class MatrixA, class MatrixB, class MatrixC>
  WEFT_DEVICE static void Multiply(arch::Thread t, Scale alpha, const MatrixA& a, const MatrixB& b,
                                   Scale beta, const MatrixC& c) {
    Accumulators acc = Multiply(t, a, b);
    acc.ForEach(t, [&](Sum sum, const BlockPlace& at) {
      ElementC& element = c(at.row, at.column);
      Scale old{0};
      if (beta != Scale{0}) old = internal::ToSum<Scale>(t.LoadShared(&element));
      const Scale value = Scaled(alpha, static_cast<Scale>(sum), beta, old);
      t.StoreShared(&element, internal::ConvertSum<ElementC>(value));
    });
  }

  // --- Chains: the accumulators of an earlier product of this thread block become operand A,
  // without shared memory.

  struct NoRegistersA {};
  using RegistersA =
      std::conditional_t<CheckedBlock<Description>::kMma,
                         BlockRegistersA<Mainloop, ElementA, OperandA::kKTiles, kK>, NoRegistersA>;

  // Makes operand A from accumulators. First is the earlier product's Block; convert(sum) is an
  // ElementA.
  template <class First, class Convert>
  WEFT_DEVICE static RegistersA FromAccumulators(arch::Thread t,
                                                 const typename First::Accumulators& acc,
                                                 const Convert& convert) {
    static_assert(
        CheckedBlock<Description>::kMma &&
            Description::config.mainloop == First::Desc::config.mainloop,
        "weft: sums become operand A in registers with config.mainloop = kMmaSm80, or kWgmmaSm90, "
        "in both products; others go through shared memory: acc.StoreShared(t, ViewA(a))");
    static_assert(sizeof(ElementA) == sizeof(typename First::ElementA),
                  "weft: sums become operand A in registers if the elements of both products have "
                  "one size; others go through shared memory: acc.StoreShared(t, ViewA(a))");
    static_assert(First::kM == kM && First::kN == kK,
                  "weft: the sums of the first product, m x n, are operand A of the second: its m "
                  "and k");
    static_assert(
        Mainloop::kWarpsN == 1 && First::Mainloop::kWarpsN == 1 &&
            Mainloop::kWarpM == First::Mainloop::kWarpM,
        "weft: both products of a chain have config.whole_rows = true and the same number "
        "of threads");
    if (!Accumulators::IsActive(t)) return {};
    return RegistersA::From(t, acc, convert);
  }

  // Computes acc += A B.
  template <class MatrixB>
  WEFT_DEVICE static void Multiply(arch::Thread t, const RegistersA& a, const MatrixB& b,
                                   Accumulators& acc) {
    static_assert(std::is_same_v<MatrixB, ViewOfB>,
                  "weft: Multiply takes a view of the layout that the block suggests: "
                  "ViewB(shared.b)");
    if (!Accumulators::IsActive(t)) return;
    Mainloop::MultiplyStages(t, a.k_tile, reinterpret_cast<const std::uint8_t*>(b.data()),
                             acc.registers);
  }

 private:
  static constexpr Scale Scaled(Scale alpha, Scale sum, Scale beta, Scale old) {
    if constexpr (std::is_same_v<Scale, float>) {
      return epilogues::Fma(alpha, sum, epilogues::Mul(beta, old));
    } else if constexpr (std::is_same_v<Scale, double>) {
      return __builtin_fma(alpha, sum, __builtin_fma(beta, old, -0.0));
    } else if constexpr (kIsComplex<Scale>) {
      return MulAdd(alpha, sum, MulAdd(beta, old, Scale{}));
    } else {
      return static_cast<Scale>(static_cast<std::uint32_t>(alpha) *
                                    static_cast<std::uint32_t>(sum) +
                                static_cast<std::uint32_t>(beta) * static_cast<std::uint32_t>(old));
    }
  }
};

template <class Description>
  requires(!CheckedBlockTiles<Description>::kOk)
struct Block<Description> : Block<typename internal::InPlaceOf<Description>::type> {};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
