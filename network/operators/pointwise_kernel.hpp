// PointwiseKernel: each element of the output is made of one element of the source, or of one of each of two.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/network/operators/tensor_access.hpp"
#include "weft/network/operators/tensor_params.hpp"

namespace weft::network {
inline namespace WEFT_BACKEND {

// The table of kTable, once for each bank of shared memory, so that no two lanes of a warp want different words of one
// bank: word i of lane l's copy is word[32 * i + l].
struct TableCopies {
  std::uint32_t word[64 * 32];
};
struct NoTable {};

template <TensorKernel kDoes, bool kWide>
struct PointwiseKernel {
  using Params = PointwiseParams;
  using SharedStorage = std::conditional_t<kDoes == TensorKernel::kTable, TableCopies, NoTable>;
  using SrcQuad = std::conditional_t<kDoes == TensorKernel::kQuantize, FloatQuad, std::uint32_t>;
  using DstQuad = std::conditional_t<kDoes == TensorKernel::kDequantize, FloatQuad, std::uint32_t>;
  static constexpr bool kOther = kDoes == TensorKernel::kAdd || kDoes == TensorKernel::kMultiply;
  static constexpr bool kFloats = !std::is_same_v<SrcQuad, DstQuad>;

  static constexpr int kThreads = 256;
  static constexpr int kMinBlocksPerSm = 4;
  // Groups of 16 channels that a thread makes: all are loaded before one is stored.
  static constexpr int kUnits = !kWide || kFloats ? 1 : kOther ? 2 : 4;
  static constexpr std::int32_t kBlockUnits = kThreads * kUnits;  // groups that a block makes
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    t.LetLaterGridsStart();
    if constexpr (kDoes == TensorKernel::kTable) {
      for (int i = t.tid(); i < 64 * 32; i += kThreads) {
        t.StoreShared(&shared.word[i], p.table[i / 32]);
      }
      t.SyncThreads();
    }
    t.WaitForEarlierGrids();
    Place at[kUnits];
    bool exists[kUnits];
    Sixteen<SrcQuad> x[kUnits];
    Bytes y[kOther ? kUnits : 1];
    WEFT_UNROLL
    for (int u = 0; u < kUnits; ++u) {
      const std::int32_t unit = (t.block_x() * kUnits + u) * kThreads + t.tid();
      exists[u] = unit < p.units.count;
      if (!exists[u]) continue;
      at[u] = p.units.At(unit);
      const std::int32_t c = at[u].c - p.channels.begin;
      if (c >= p.channels.count) continue;
      x[u] = LoadChannels<kWide, SrcQuad>(t, p.src, Source(p, at[u]), c);
      if constexpr (kOther) y[u] = LoadChannels<kWide>(t, p.other, at[u], c);
    }
    WEFT_UNROLL
    for (int u = 0; u < kUnits; ++u) {
      if (!exists[u]) continue;
      const std::int32_t kept = p.channels.count - (at[u].c - p.channels.begin);
      Sixteen<DstQuad> made{};
      if (kept > 0) made = Made(p, shared, t, x[u], y[kOther ? u : 0]);
      if constexpr (!kWide) KeepFirst(made, kept);
      StoreChannels<kWide>(t, p.dst, at[u], p.channels, made);
    }
  }

 private:
  // The place of the source that the output at a place is made of.
  WEFT_DEVICE static Place Source(const Params& p, Place at) {
    if constexpr (kDoes == TensorKernel::kResize) {
      std::int32_t w = 0;
      const std::int32_t h = p.dst_w.Divmod(at.pixel, w);
      at.pixel = p.factor_h.Divide(h) * p.src_w + p.factor_w.Divide(w);
    }
    return at;
  }

  WEFT_DEVICE static Sixteen<DstQuad> Made(const Params& p, const SharedStorage& shared,
                                           arch::Thread t, const Sixteen<SrcQuad>& x,
                                           const Bytes& y) {
    Sixteen<DstQuad> made{};
    if constexpr (kDoes == TensorKernel::kCopy || kDoes == TensorKernel::kResize) {
      made = x;
    } else {
      WEFT_UNROLL
      for (int i = 0; i < 4; ++i) {
        if constexpr (kDoes == TensorKernel::kDequantize) {
          const std::uint32_t word = x.quad[i] ^ p.from_src.flip;
          WEFT_UNROLL
          for (int j = 0; j < 4; ++j) {
            made.quad[i].lane[j] = epilogues::Mul(FloatOf(t, word, j, p.from_src.base), p.ratio);
          }
        } else if constexpr (kDoes == TensorKernel::kQuantize) {
          float steps[4];
          WEFT_UNROLL
          for (int j = 0; j < 4; ++j) steps[j] = x.quad[i].lane[j] / p.ratio;
          made.quad[i] = BytesOf(t, steps, p.to_dst);
        } else if constexpr (kDoes == TensorKernel::kTable) {
          made.quad[i] = Looked(shared, t, x.quad[i]);
        } else {
          made.quad[i] = Combined(p, t, x.quad[i] ^ p.from_src.flip, y.quad[i] ^ p.from_other.flip);
        }
      }
    }
    return made;
  }

  // Four bytes of the table. Selectors name a byte by their lowest two bits, where both words are the same; only the lowest
  // byte of what they select is used.
  WEFT_DEVICE static std::uint32_t Looked(const SharedStorage& shared, arch::Thread t,
                                          std::uint32_t word) {
    if constexpr (kDoes == TensorKernel::kTable) {
      const std::uint32_t* const mine = shared.word + t.lane();
      std::uint32_t found[4];
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t byte = word >> 8 * j;
        const std::uint32_t four = t.LoadShared(mine + (byte & 0xfcu) * 8);
        found[j] = t.BytePermute(four, four, byte);
      }
      const std::uint32_t low = t.BytePermute(found[0], found[1], 0x0040u);
      const std::uint32_t high = t.BytePermute(found[2], found[3], 0x0040u);
      return t.BytePermute(low, high, 0x5410u);
    } else {
      return word;
    }
  }

  WEFT_DEVICE static std::uint32_t Combined(const Params& p, arch::Thread t, std::uint32_t x,
                                            std::uint32_t y) {
    using namespace epilogues;  // NOLINT: the numerics contract, as every epilogue has it
    float steps[4];
    WEFT_UNROLL
    for (int j = 0; j < 4; ++j) {
      const float a = FloatOf(t, x, j, p.from_src.base), b = FloatOf(t, y, j, p.from_other.base);
      if constexpr (kDoes == TensorKernel::kAdd) {
        steps[j] = Fma(a, p.ratio, Fma(b, p.other_ratio, p.constant));
      } else {
        steps[j] = Add(Mul(p.ratio, Mul(a, b)), p.constant);  // a * b is exact
      }
    }
    return BytesOf(t, steps, p.to_dst);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::network
