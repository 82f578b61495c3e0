// PointwiseKernel: each element of the output is made of one element of the source, or of one of each of two.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/network/operators/tensor_access.hpp"
#include "weft/network/operators/tensor_params.hpp"

namespace weft::network {
inline namespace WEFT_BACKEND {

// The table of kTable: byte b of lane l is at 256 * b + 4 * l, so that one permutation makes an address, and no two lanes of
// a warp want different words of one bank. The other half of each row is not used.
struct TableRows {
  std::uint32_t word[256][64];
};
struct NoTable {};

// Four floats in steps of dst, rounded before the zero point is added.
template <bool kWide>
WEFT_DEVICE std::uint32_t Quantized(const PointwiseParams& p, arch::Thread t, const float (&x)[4]) {
  float steps[4];
  WEFT_UNROLL
  for (int i = 0; i < 4; ++i) {
    if constexpr (kWide) {
      steps[i] = Quotient<kWide>(epilogues::Limit(x[i], p.least, p.most), p.scale);
    } else {
      steps[i] = Limited(Quotient<kWide>(x[i], p.scale), p.to_dst);
    }
  }
  return RoundedBytes(t, steps, p.to_dst);
}

template <TensorKernel kDoes, bool kWide>
struct PointwiseKernel {
  using Params = PointwiseParams;
  static constexpr bool kLooks = kDoes == TensorKernel::kTable;
  static constexpr bool kOther = kDoes == TensorKernel::kAdd || kDoes == TensorKernel::kMultiply;
  static constexpr bool kFromFloats = kDoes == TensorKernel::kQuantize;
  static constexpr bool kFloats = kFromFloats || kDoes == TensorKernel::kDequantize;
  // Channels of a thread: as many as one access has of the larger elements.
  static constexpr int kQuads = kWide && kFloats ? 1 : 4;
  using SharedStorage = std::conditional_t<kLooks, TableRows, NoTable>;
  using Src = Group<std::conditional_t<kFromFloats, FloatQuad, std::uint32_t>, kQuads>;
  using Dst = Group<std::conditional_t<kFloats && !kFromFloats, FloatQuad, std::uint32_t>, kQuads>;
  using SrcQuad = std::remove_cvref_t<decltype(Src{}.quad[0])>;
  using DstQuad = std::remove_cvref_t<decltype(Dst{}.quad[0])>;

  static constexpr int kThreads = kLooks ? 512 : 256;
  static constexpr int kMinBlocksPerSm = kLooks || kDoes == TensorKernel::kMultiply ? 3 : 4;
  static constexpr int kMinBlocksPerSmBefore90 = 1;
  // Rows that a thread makes: all are loaded before one is stored.
  static constexpr Share kShare = {.channels = 4 * kQuads, .rows = kWide ? 4 : 1};
  static constexpr int kRows = kShare.rows;
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    t.LetLaterGridsStart();
    t.WaitForEarlierGrids();
    const std::int32_t unit = t.block_x() * kThreads + t.tid();
    const Place at = p.units.At(unit < p.units.count ? unit : 0);
    const std::int32_t c = at.c - p.channels.begin, kept = p.channels.count - c;
    bool has[kRows];
    WEFT_UNROLL
    for (int i = 0; i < kRows; ++i) has[i] = unit < p.units.count && p.units.Has(at, i);
    Src x[kRows];
    Bytes y[kRows];
    // Of a product with one pixel for all a thread loads that once.
    const bool once = kDoes == TensorKernel::kMultiply && p.other.pixel == 0;
    if constexpr (kWide) {
      Load(p, t, at, c, has, kept > 0, x);
      if constexpr (kOther) {
        const std::uint8_t* from = AddressOf<const std::uint8_t>(p.other, at, c);
        WEFT_UNROLL
        for (int i = 0; i < kRows; ++i, from += p.units.Step(p.other)) {
          y[i] = t.LoadGlobalCoherentOr0(reinterpret_cast<const Bytes*>(from),
                                         has[i] && kept > 0 && !(once && i > 0));
        }
      }
    } else if (has[0] && kept > 0) {
      x[0] = LoadChannels<SrcQuad>(t, p.src, Source(p, at, 0), c);
      if constexpr (kOther) y[0] = LoadChannels(t, p.other, at, c);
    }
    if constexpr (kLooks) FillTable(p, shared, t);
    const auto store = [&]<class Byte>() {
      LaneOf<DstQuad>* to = AddressOf<LaneOf<DstQuad>>(p.dst, at, at.c);
      Factors other;
      WEFT_UNROLL
      for (int i = 0; i < kRows; ++i, to += p.units.Step(p.dst)) {
        if (!has[i]) continue;
        Dst made{};
        if (kept > 0) {
          if constexpr (kOther) {
            if (i == 0 || !once) other = FactorsOf(p, t, y[i]);
          }
          made = Made<Byte>(p, shared, t, x[i], other);
        }
        if constexpr (kWide) {
          t.StoreGlobal(reinterpret_cast<Dst*>(to), made);
        } else {
          KeepFirst(made, kept);
          StoreChannels(t, p.dst, at, p.channels, made);
        }
      }
    };
    if constexpr (kOther) {
      VisitByte(p.to_dst, store);
    } else {
      store.template operator()<std::uint8_t>();  // of any byte
    }
  }

 private:
  // Numbers of `other`, and of kMultiply what a product with FloatAbove is too much.
  struct Factors {
    float number[kGroup], above[kGroup];
  };

  // The place of the source that row i of the output at a place is made of.
  WEFT_DEVICE static Place Source(const Params& p, Place at, int i) {
    if constexpr (kDoes == TensorKernel::kResize) {
      at.pixel = p.factor_h.Divide(at.h + i) * p.src_w + p.factor_w.Divide(at.w);
    }
    return at;
  }

  WEFT_DEVICE static void Load(const Params& p, arch::Thread t, const Place& at, std::int32_t c,
                               const bool (&has)[kRows], bool any, Src (&x)[kRows]) {
    using Lane = const LaneOf<SrcQuad>;
    Lane* from = AddressOf<Lane>(p.src, Source(p, at, 0), c);
    WEFT_UNROLL
    for (int i = 0; i < kRows; ++i, from += p.units.Step(p.src)) {
      if constexpr (kDoes == TensorKernel::kResize) {
        from = AddressOf<Lane>(p.src, Source(p, at, i), c);
      }
      x[i] = t.LoadGlobalCoherentOr0(reinterpret_cast<const Src*>(from), has[i] && any);
    }
  }

  template <class Byte>
  WEFT_DEVICE static Dst Made(const Params& p, const SharedStorage& shared, arch::Thread t,
                              const Src& x, const Factors& other) {
    Dst made{};
    if constexpr (kDoes == TensorKernel::kCopy || kDoes == TensorKernel::kResize) {
      made = x;
    } else {
      WEFT_UNROLL
      for (int i = 0; i < kQuads; ++i) {
        if constexpr (kDoes == TensorKernel::kDequantize) {
          const std::uint32_t word = x.quad[i] ^ p.from_src.flip;
          WEFT_UNROLL
          for (int j = 0; j < 4; ++j) {
            made.quad[i].lane[j] = epilogues::Mul(FloatOf(t, word, j, p.from_src.base), p.ratio);
          }
        } else if constexpr (kFromFloats) {
          made.quad[i] = Quantized<kWide>(p, t, x.quad[i].lane);
        } else if constexpr (kLooks) {
          made.quad[i] = Looked(shared, t, x.quad[i]);
        } else {
          float steps[4];
          WEFT_UNROLL
          for (int j = 0; j < 4; ++j) {
            steps[j] = Combined(p, t, x.quad[i] ^ p.from_src.flip, j, other.number[4 * i + j],
                                other.above[4 * i + j]);
          }
          made.quad[i] = t.template PackSaturated<Byte, false>(steps);
        }
      }
    }
    return made;
  }

  WEFT_DEVICE static void FillTable(const Params& p, SharedStorage& shared, arch::Thread t) {
    const int row = t.tid() / 2;
    const std::uint32_t byte = p.table[row / 4] >> 8 * (row % 4) & 0xff;
    const Bytes four = {byte, byte, byte, byte};
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int column = (4 * (t.tid() % 2) + i + row) % 8;  // not the banks of a neighbour
      t.StoreShared(reinterpret_cast<Bytes*>(&shared.word[row][4 * column]), four);
    }
    t.SyncThreads();
  }

  // Four bytes of the table.
  WEFT_DEVICE static std::uint32_t Looked(const SharedStorage& shared, arch::Thread t,
                                          std::uint32_t word) {
    const auto lane = static_cast<std::uint32_t>(t.lane()) * 4;
    std::uint32_t found[4];
    WEFT_UNROLL
    for (int j = 0; j < 4; ++j) {
      // Byte 0 is the lane's, byte 1 that of the word, and the others are zeros of `lane`.
      const std::uint32_t offset =
          t.BytePermute(lane, word, 0x1100u | static_cast<std::uint32_t>(j + 4) << 4);
      found[j] = t.LoadShared(reinterpret_cast<const std::uint32_t*>(
          reinterpret_cast<const char*>(shared.word) + offset));
    }
    const std::uint32_t low = t.BytePermute(found[0], found[1], 0x0040u);
    const std::uint32_t high = t.BytePermute(found[2], found[3], 0x0040u);
    return t.BytePermute(low, high, 0x5410u);
  }

  WEFT_DEVICE static Factors FactorsOf(const Params& p, arch::Thread t, const Bytes& x) {
    Factors made;
    WEFT_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      const std::uint32_t word = x.quad[i / 4] ^ p.from_other.flip;
      made.number[i] = FloatOf(t, word, i % 4, p.from_other.base);
      if constexpr (kDoes == TensorKernel::kMultiply) {
        made.above[i] = epilogues::Mul(made.number[i], -p.from_src.base);
      }
    }
    return made;
  }

  // Byte j of a word of the source and a number of `other`, in steps of dst.
  WEFT_DEVICE static float Combined(const Params& p, arch::Thread t, std::uint32_t x, int j,
                                    float other, float above) {
    using namespace epilogues;  // NOLINT: the numerics contract, as every epilogue has it
    if constexpr (kDoes == TensorKernel::kAdd) {
      const float number = FloatOf(t, x, j, p.from_src.base);
      return Fma(number, p.ratio, Fma(other, p.other_ratio, p.constant));
    } else {
      // Both factors have at most 8 bits and the base 16, so that nothing is rounded.
      const float product = Fma(FloatAbove(t, x, j), other, above);
      return Add(Mul(p.ratio, product), p.constant);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::network
