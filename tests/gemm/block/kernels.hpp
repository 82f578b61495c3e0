// Products of tests/gemm/block/mma_cases.hpp, and the kernels of tests/gemm/block/checks.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/block.hpp"

namespace weft::gemm {

using layouts::ColumnMajor;
using layouts::RowMajor;

template <class A, class B, class C, class SumT, class OrderA, class OrderB, class OrderC>
struct MixedTypes : BlockTypes<A, OrderA, OrderB, OrderC> {
  using ElementB = B;
  using ElementC = C;
  using Sum = SumT;
};

// Extents that are no multiples of anything; three warps.
struct S8Ragged : BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {45, 40, 81}, .mainloop = Mainloop::kMmaSm80, .threads = 96, .alignment = 16};
};
struct S8MnMajor : MixedTypes<std::int8_t, std::int8_t, float, std::int32_t, ColumnMajor, RowMajor,
                              ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {64, 72, 256}, .mainloop = Mainloop::kMmaSm80, .threads = 0, .alignment = 4};
};
// Work for one warp of four.
struct U8Small : BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  using ElementA = std::uint8_t;
  static constexpr BlockConfig config{
      .shape = {16, 16, 32}, .mainloop = Mainloop::kMmaSm80, .threads = 128, .alignment = 4};
};
struct S8Simt : BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {24, 20, 36}, .mainloop = Mainloop::kSimt, .threads = 64, .alignment = 4};
};
struct U8SimtMnMajor : MixedTypes<std::uint8_t, std::int8_t, float, std::int32_t, ColumnMajor,
                                  RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {64, 16, 128}, .mainloop = Mainloop::kSimt, .threads = 128, .alignment = 16};
};
// Addresses of any element.
struct HalfRagged : MixedTypes<Half, Half, Bfloat16, float, RowMajor, RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {33, 17, 50}, .mainloop = Mainloop::kMmaSm80, .threads = 64, .alignment = 2};
};
struct HalfRows : MixedTypes<Half, Half, Half, float, RowMajor, ColumnMajor, RowMajor> {
  static constexpr BlockConfig config{.shape = {64, 48, 64},
                                      .mainloop = Mainloop::kMmaSm80,
                                      .threads = 128,
                                      .alignment = 16,
                                      .whole_rows = true};
};
struct Bfloat16MnMajor : BlockTypes<Bfloat16, ColumnMajor, RowMajor> {
  static constexpr BlockConfig config{
      .shape = {128, 64, 96}, .mainloop = Mainloop::kMmaSm80, .threads = 256, .alignment = 8};
};
struct FloatSmall : BlockTypes<float, RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {16, 16, 16}, .mainloop = Mainloop::kSimt, .threads = 32, .alignment = 16};
};
struct FloatRows : BlockTypes<float, ColumnMajor, RowMajor> {
  static constexpr BlockConfig config{.shape = {64, 60, 40},
                                      .mainloop = Mainloop::kSimt,
                                      .threads = 128,
                                      .alignment = 16,
                                      .whole_rows = true};
};
struct FloatRagged : BlockTypes<float, RowMajor, RowMajor> {
  static constexpr BlockConfig config{
      .shape = {30, 50, 23}, .mainloop = Mainloop::kSimt, .threads = 96, .alignment = 4};
};
// By simt_async, in k tiles of 8 of k and (doubles) of 16: less than a vector of anything, and a
// warp with nothing to do; the suggested 8 x 8 sums of a thread; 4 x 12 of them in whole rows.
struct FloatAsyncTiny : BlockTypes<float, RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {3, 2, 5}, .mainloop = Mainloop::kSimtAsync, .threads = 64, .alignment = 4};
};
struct FloatAsyncSquare : BlockTypes<float, RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {64, 64, 24}, .mainloop = Mainloop::kSimtAsync, .threads = 0, .alignment = 16};
};
struct FloatAsyncRows : BlockTypes<float, ColumnMajor, RowMajor> {
  static constexpr BlockConfig config{.shape = {30, 46, 23},
                                      .mainloop = Mainloop::kSimtAsync,
                                      .threads = 32,
                                      .alignment = 16,
                                      .whole_rows = true};
};
struct DoubleAsync : BlockTypes<double, RowMajor, RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {45, 40, 31}, .mainloop = Mainloop::kSimtAsync, .threads = 0, .alignment = 8};
};
struct DoubleSquare : BlockTypes<double, ColumnMajor, ColumnMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {24, 24, 24}, .mainloop = Mainloop::kSimt, .threads = 64, .alignment = 8};
};

template <class D>
struct BlockFormsParams {
  layouts::Matrix<typename D::ElementA> a;
  layouts::Matrix<typename D::ElementB> b;
  layouts::Matrix<typename D::ElementC> c;
  typename D::Sum* sums;     // A B, m x n, row-major; beyond the matrices of zeros
  typename D::Sum* twice;    // 2 A B
  typename D::Sum* largest;  // of each row; with whole_rows only
  std::int32_t* owner;       // m x n: the thread
  std::int32_t* count;       // of each thread: its sums
  typename D::Sum alpha, beta;
};

// One product of a matrix of each thread's: a chain of two, D = convert(A B) C.
template <class First_, class Second_>
struct BlockChain {
  using First = First_;
  using Second = Second_;
};
template <class Element>
struct ChainConvert {
  template <class Sum>
  constexpr Element operator()(Sum sum) const {
    if constexpr (std::is_same_v<Element, Half>) {
      return Half::FromFloat(sum * 0x1p-8f);
    } else {
      return static_cast<Element>(sum >> 9);
    }
  }
};
// 39 columns: fewer than the tiles of either product have, with whatever lies beside them.
struct HalfFirst : BlockTypes<Half, RowMajor, RowMajor> {
  static constexpr BlockConfig config{.shape = {64, 39, 28},
                                      .mainloop = Mainloop::kMmaSm80,
                                      .threads = 64,
                                      .alignment = 16,
                                      .whole_rows = true};
};
struct HalfSecond : BlockTypes<Half, RowMajor, RowMajor> {
  static constexpr BlockConfig config{.shape = {64, 24, 39},
                                      .mainloop = Mainloop::kMmaSm80,
                                      .threads = 64,
                                      .alignment = 16,
                                      .whole_rows = true};
};
using HalfChain = BlockChain<HalfFirst, HalfSecond>;
struct ByteFirst : BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{.shape = {32, 40, 32},
                                      .mainloop = Mainloop::kMmaSm80,
                                      .threads = 64,
                                      .alignment = 16,
                                      .whole_rows = true};
};
struct ByteSecond : BlockTypes<std::int8_t, RowMajor, RowMajor> {
  static constexpr BlockConfig config{.shape = {32, 48, 40},
                                      .mainloop = Mainloop::kMmaSm80,
                                      .threads = 64,
                                      .alignment = 16,
                                      .whole_rows = true};
};
using ByteChain = BlockChain<ByteFirst, ByteSecond>;

template <class Chain>
struct BlockChainParams {
  using Element = typename Chain::First::ElementA;
  layouts::Matrix<Element> a, b, c;
  typename Chain::Second::Sum *by_registers, *by_shared;
};

inline namespace WEFT_BACKEND {

// Every form of a product, in a block of one more warp than it wants.
template <class D>
struct BlockFormsKernel {
  using B = Block<D>;
  using Sum = typename D::Sum;
  using Params = BlockFormsParams<D>;
  static constexpr int kThreads = B::kThreads + 32;
  static constexpr arch::Requires kRequires = B::kRequires;
  struct SharedStorage {
    typename B::SharedStorage operands;
    typename B::SharedC c;
  };
  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    const auto a = B::ViewA(shared.operands.a);
    const auto b = B::ViewB(shared.operands.b);
    const auto c = B::ViewC(shared.c);
    B::CopyA(t, p.a, a);
    B::CopyB(t, p.b, b);
    B::LoadC(t, p.c, c);
    B::WaitForCopies(t);
    const auto all = [](auto* data) { return layouts::MakeMatrix(data, B::kM, B::kN, RowMajor{}); };
    const auto acc = B::Multiply(t, a, b);
    acc.StoreGlobal(t, all(p.sums));
    if constexpr (D::config.whole_rows) {
      const auto largest = acc.ReduceRows(
          t, static_cast<Sum>(-1e9),
          [&](Sum x, const BlockPlace& at) {
            return at.column < p.b.cols ? x : static_cast<Sum>(-1e9);
          },
          [](Sum x, Sum y) { return x > y ? x : y; });
      acc.ForEachRow(t, [&](int row, int own) { t.StoreGlobal(p.largest + row, largest[own]); });
    }
    int count = 0;
    acc.ForEach(t, [&](Sum, const BlockPlace& at) {
      t.StoreGlobal(&all(p.owner)(at.row, at.column), t.tid());
      ++count;
    });
    t.StoreGlobal(p.count + t.tid(), count);
    typename B::Accumulators again;  // of what this thread has written
    again.LoadGlobal(t, all(p.sums));
    B::Multiply(t, a, b, again);
    constexpr int kVector = B::kN % 4 == 0 && acc.kRun % 4 == 0 && sizeof(Sum) == 4 ? 4
                            : B::kN % 2 == 0                                        ? 2
                                                                                    : 1;
    again.template StoreGlobal<kVector>(t, all(p.twice));
    // Out of C and back.
    constexpr int kPitch = B::ResultC::kPitch;
    const layouts::Matrix<typename D::ElementC> there{
        c.data(), p.c.rows, p.c.cols, B::kRowMajorC ? kPitch : 1, B::kRowMajorC ? 1 : kPitch};
    auto moved = acc;
    moved.LoadShared(t, there);
    moved.StoreShared(t, there);
    using Scale = typename B::Scale;
    B::Multiply(t, static_cast<Scale>(p.alpha), a, b, static_cast<Scale>(p.beta), c);
    t.SyncThreads();
    B::StoreC(t, c, p.c);
  }
};

// Operand A of halves of a column-major matrix of bytes, as it lies in shared memory.
template <class D>
struct BlockLoadKernel {
  using B = Block<D>;
  struct Params {
    layouts::Matrix<std::int8_t> a;
    float* out;  // m x k, row-major
  };
  using SharedStorage = typename B::SharedA;
  static constexpr int kThreads = B::kThreads + 32;
  static constexpr arch::Requires kRequires = B::kRequires;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    const auto a = B::ViewA(shared);
    B::CopyA(t, p.a, a, [](std::int8_t x) { return Half::FromFloat(0.5f * x); });
    B::WaitForCopies(t);
    for (int i = t.tid(); i < B::kM * B::kK; i += kThreads) {
      t.StoreGlobal(p.out + i, t.LoadShared(&a(i / B::kK, i % B::kK)).ToFloat());
    }
  }
};

// A product of any k, which the mainloop's pipeline loads.
template <class D>
struct BlockLongKernel {
  using B = Block<D>;
  struct Params {
    layouts::Matrix<typename D::ElementA> a;
    layouts::Matrix<typename D::ElementB> b;
    typename D::Sum* sums;  // m x n, row-major
  };
  using SharedStorage = typename B::SharedStages;
  static constexpr int kThreads = B::kThreads;
  static constexpr arch::Requires kRequires = B::kRequires;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    typename B::Accumulators acc;
    acc.Fill(5);
    B::MultiplyGlobal(t, shared, p.a, p.b, acc);
    acc.StoreGlobal(t, layouts::MakeMatrix(p.sums, p.a.rows, p.b.cols, RowMajor{}));
  }
};

template <class Chain>
struct BlockChainKernel {
  using First = Block<typename Chain::First>;
  using Second = Block<typename Chain::Second>;
  using Element = typename First::ElementA;
  using Params = BlockChainParams<Chain>;
  static constexpr int kThreads = First::kThreads;
  static constexpr arch::Requires kRequires = First::kRequires;
  struct SharedStorage {
    typename First::SharedStorage first;
    typename Second::SharedStorage second;
  };
  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    const auto c = Second::ViewB(shared.second.b);
    const auto between = Second::ViewA(shared.second.a);
    First::CopyA(t, p.a, First::ViewA(shared.first.a));
    First::CopyB(t, p.b, First::ViewB(shared.first.b));
    Second::CopyB(t, p.c, c);
    // What the sums do not fill is to be zeros.
    Second::CopyA(t, p.a.Block(0, 0, 0, 0), between);
    First::WaitForCopies(t);
    auto acc = First::Multiply(t, First::ViewA(shared.first.a), First::ViewB(shared.first.b));
    const ChainConvert<Element> convert;
    typename Second::Accumulators result;
    Second::Multiply(t, Second::template FromAccumulators<First>(t, acc, convert), c, result);
    const auto all = [](auto* data) {
      return layouts::MakeMatrix(data, Second::kM, Second::kN, RowMajor{});
    };
    result.StoreGlobal(t, all(p.by_registers));
    acc.ForEach(t, [&](auto& sum, const BlockPlace& at) {
      t.StoreShared(&between(at.row, at.column), convert(sum));
    });
    t.SyncThreads();
    Second::Multiply(t, between, c).StoreGlobal(t, all(p.by_shared));
  }
};

// C = alpha A B + beta C with C in shared memory, one block.
struct ComplexProduct : BlockTypes<Complex<float>, RowMajor, ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {9, 12, 7}, .mainloop = Mainloop::kSimt, .threads = 32, .alignment = 8};
};
struct BlockComplexKernel {
  using Product = Block<ComplexProduct>;
  struct Params {
    const Complex<float>*a, *b;
    Complex<float>* c;
    Complex<float> alpha, beta;
  };
  struct SharedStorage {
    typename Product::SharedA a;
    typename Product::SharedB b;
    typename Product::SharedC c;
  };
  static constexpr int kThreads = Product::kThreads;
  static constexpr arch::Requires kRequires = Product::kRequires;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, arch::Thread t) const {
    const auto a = Product::ViewA(s.a);
    const auto b = Product::ViewB(s.b);
    const auto c = Product::ViewC(s.c);
    Product::CopyA(t, layouts::MakeMatrix(p.a, 9, 7, RowMajor{}), a);
    Product::CopyB(t, layouts::MakeMatrix(p.b, 7, 12, ColumnMajor{}), b);
    Product::LoadC(t, layouts::MakeMatrix<const Complex<float>>(p.c, 9, 12, RowMajor{}), c);
    Product::WaitForCopies(t);
    Product::Multiply(t, p.alpha, a, b, p.beta, c);
    t.SyncThreads();
    Product::StoreC(t, c, layouts::MakeMatrix(p.c, 9, 12, RowMajor{}));
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
