// The epilogues of a bottleneck's convolutions: scales and biases of channels in shared memory, and
// from sums to bytes.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/conv/bottleneck/bottleneck_quick.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/epilogue_math.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

struct NothingAdded {
  WEFT_DEVICE float operator()(int) const { return 0.0f; }
};

// One part's epilogue. A thread has channels c and c + 1 of pixels 2 i and 2 i + 1 of every eight:
// the pair of channels is a 16-bit element of stmatrix, of which it stores (ldmatrix loads) two.
template <class EpilogueT>
struct BottleneckMath {
  using Epilogue = EpilogueT;
  using Output = BottleneckOutput<Epilogue>;
  struct Stored : gemm::StorePolicyTraits {
    using DstLayout = NCxHWx<32>;
    using Epilogue = EpilogueT;
    static constexpr bool kDependentLaunch = true;
    static constexpr gemm::MmaSm80Config config = gemm::WithDstAlignment(kMma64x64, 4);
  };
  using Math = gemm::EpilogueMath<Stored, Output, 1>;
  using Channels = typename Math::Channels;
  using Byte = typename Epilogue::Output;

  // The quick way of this epilogue, if it has one.
  using Way = Quick<Epilogue>;

  struct alignas(16) Value {
    float alpha;
    typename Epilogue::BiasValue bias;
    std::int32_t quick_bias, limit;  // QuickValue's
  };
  static_assert(sizeof(Value) == BottleneckShape::kValueBytes);
  // What a thread keeps of its two channels.
  struct Pair {
    Channels of[2];
    QuickValue quick[2];
  };

  // `lanes` threads, of which this is number `lane`, put the values of all channels at an address, and
  // say at `slow`, 16 bits for each of their warps, if a channel has numbers that the quick way does not
  // take. kSteps: the quick way is that of QuantizeSteps.
  template <bool kSteps>
  WEFT_DEVICE static void Fill(arch::Thread t, const Output& p, int lane, int lanes,
                               std::uint32_t to, std::uint32_t slow) {
    bool is_quick = TakesAll<kSteps>(p);
    WEFT_NO_UNROLL
    for (int k = lane; k < p.k; k += lanes) {
      Channels c;
      Math::Load(t, p, k, p.k, c);
      QuickValue quick;
      if constexpr (Way::kExists) {
        quick.alpha = c.alpha[0], quick.bias = c.bias[0];
        if constexpr (kSteps) {
          is_quick = is_quick && Way::TakesSteps(ZeroPoint(p), &quick);
        } else {
          is_quick = is_quick && Way::TakesBytes(&quick);
        }
      }
      t.StoreSharedAt(to + static_cast<std::uint32_t>(k * BottleneckShape::kValueBytes),
                      Value{c.alpha[0], c.bias[0], quick.bias, quick.limit});
    }
    const bool is_slow = t.Ballot(!is_quick) != 0;
    if (is_slow && t.lane() == 0) {
      t.StoreSharedAt(slow + static_cast<std::uint32_t>(lane / 32 * 2), std::uint16_t{1});
    }
  }

  // The values of two channels.
  WEFT_DEVICE static void Read(arch::Thread t, std::uint32_t from, int k, Pair& pair) {
    WEFT_UNROLL
    for (int i = 0; i < 2; ++i) {
      const Value value = t.LoadSharedAt<Value>(
          from + static_cast<std::uint32_t>((k + i) * BottleneckShape::kValueBytes));
      Channels& c = pair.of[i];
      c.k = k + i, c.count = 1;
      c.alpha[0] = value.alpha;
      c.bias[0] = value.bias;
      if constexpr (Way::kExists) pair.quick[i] = {value.alpha, value.quick_bias, value.limit};
    }
  }

  // The bytes of the four sums of pixels 8 j and up. residual(v): what is added to the v-th.
  template <bool kShift, int kSums, class Residual = NothingAdded>
  WEFT_DEVICE static std::uint32_t Pack(arch::Thread t, const Output& p, const Pair& pair,
                                        const std::int32_t (&sums)[kSums], int j,
                                        const Residual& residual = {}) {
    float values[4];
    Byte bytes[4];
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) {
      const auto in = Math::InputsOf(p, pair.of[v % 2], 0, residual(v), sums[Sum(j, v)]);
      if constexpr (Epilogue::OutputStage::kSaturates) {
        values[v] = p.epilogue.template Unrounded<kShift>(in, {});
      } else {
        bytes[v] = p.epilogue(in, {});
      }
    }
    std::uint32_t word = 0;
    if constexpr (Epilogue::OutputStage::kSaturates) {
      word = t.template PackSaturated<Byte, Epilogue::kEndsInActivation>(values);
    } else {
      memcpy(&word, bytes, sizeof(word));
    }
    return word;
  }

  // The same of a quick kBytes.
  template <int kSums>
  WEFT_DEVICE static std::uint32_t PackQuickBytes(arch::Thread t, const Pair& pair,
                                                  const std::int32_t (&sums)[kSums], int j) {
    float values[4];
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) {
      values[v] = Way::ByteOf(sums[Sum(j, v)], pair.quick[v % 2]);
    }
    const std::uint32_t word = t.template PackSaturated<std::uint8_t, false>(values);
    return Way::Steps::kLeast == 0.0f ? word : word ^ 0x80808080u;
  }
  // Of a quick kBytes as what is added to another chain: integers times kAddedUnit.
  static constexpr float kAddedUnit = Way::Steps::kLeast == 0.0f ? Way::Steps::kUnit : 1.0f;
  WEFT_DEVICE static float QuickAdded(const Output& p, const Pair& pair, std::int32_t sum, int v) {
    const float units = Way::UnitsOf({p.zero_point}, sum, pair.quick[v % 2]);
    return Way::Steps::kLeast == 0.0f ? units : Way::Steps::FromUnits(units);
  }
  // Of a quick kSteps. scaled_residual(v): the residual, gamma times which is `gamma` times that.
  template <int kSums, class Residual>
  WEFT_DEVICE static std::uint32_t PackQuickSteps(arch::Thread t, const Output& p, const Pair& pair,
                                                  const std::int32_t (&sums)[kSums], int j,
                                                  float gamma, const Residual& scaled_residual) {
    using Add = typename Epilogue::ResidualStage;
    using Steps = typename Way::Steps;
    float values[4];
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) {
      const float units =
          Way::UnitsOf(p.epilogue.template Get<Steps>(), sums[Sum(j, v)], pair.quick[v % 2]);
      values[v] = p.epilogue.template Get<Add>().template SumOfUnits<Steps>(units, gamma,
                                                                            scaled_residual(v));
    }
    return t.template PackSaturated<Byte, Epilogue::kEndsInActivation>(values);
  }

  // Calls pack.operator()<kShift>(): the zero point of a part is mostly 0, which saves an addition.
  template <class Convert>
  WEFT_DEVICE static void WithShift(const Output& p, const Convert& convert) {
    if constexpr (!Epilogue::OutputStage::kSaturates) {
      convert.template operator()<true>();
    } else if (p.zero_point == 0.0f) {
      convert.template operator()<false>();
    } else {
      convert.template operator()<true>();
    }
  }
  // Whether the zero point is added where both ways would be too much code: not where a QuantizedAdd
  // has it.
  static constexpr bool kShifts = !Epilogue::kAddsQuantized;

  // The sum of value v of pixels 8 j and up: channels alternate.
  static constexpr int Sum(int j, int v) { return 4 * j + v % 2 * 2 + v / 2; }

 private:
  // The zero point of the integers that QuantizeSteps makes, or would make.
  WEFT_DEVICE static float ZeroPoint(const Output& p) {
    if constexpr (Way::kChain == QuickChain::kSteps) {
      return p.epilogue.template Get<typename Way::Steps>().zero_point;
    } else {
      return p.zero_point;
    }
  }
  template <bool kSteps>
  WEFT_DEVICE static bool TakesAll(const Output& p) {
    if constexpr (!Way::kExists) {
      return false;
    } else if constexpr (kSteps) {
      return Way::TakesSteps(ZeroPoint(p)) && p.gamma <= 1e30f && p.gamma >= -1e30f;
    } else {
      return Way::TakesBytes(p.zero_point);
    }
  }
};

// Calls use(matrices, first) for groups of 4 matrices of eight pixels each, and what is left.
template <int kMatrices, class Use>
WEFT_DEVICE void ForEachMatrices(const Use& use) {
  constexpr int kFours = kMatrices / 4 * 4;
  WEFT_UNROLL
  for (int i = 0; i < kFours; i += 4) use(std::integral_constant<int, 4>(), i);
  if constexpr (kMatrices % 4 >= 2) use(std::integral_constant<int, 2>(), kFours);
  if constexpr (kMatrices % 2 == 1) use(std::integral_constant<int, 1>(), kMatrices - 1);
}

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
