// The epilogues of a bottleneck's convolutions: scales and biases of channels in shared memory, and
// from sums to bytes.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/epilogue_math.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

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

  struct alignas(8) Value {
    float alpha;
    typename Epilogue::BiasValue bias;
  };
  struct alignas(16) Pair {
    Value of[2];
  };
  static_assert(sizeof(Value) == BottleneckShape::kValueBytes);

  // `lanes` threads, of which this is number `lane`, put the values of all channels at an address.
  WEFT_DEVICE static void Fill(arch::Thread t, const Output& p, int lane, int lanes,
                               std::uint32_t to) {
    WEFT_NO_UNROLL
    for (int k = lane; k < p.k; k += lanes) {
      Channels c;
      Math::Load(t, p, k, p.k, c);
      t.StoreSharedAt(to + static_cast<std::uint32_t>(k * BottleneckShape::kValueBytes),
                      Value{c.alpha[0], c.bias[0]});
    }
  }

  // The values of two channels.
  WEFT_DEVICE static void Read(arch::Thread t, std::uint32_t from, int k, Channels (&c)[2]) {
    const Pair pair =
        t.LoadSharedAt<Pair>(from + static_cast<std::uint32_t>(k * BottleneckShape::kValueBytes));
    WEFT_UNROLL
    for (int i = 0; i < 2; ++i) {
      c[i].k = k + i, c[i].count = 1;
      c[i].alpha[0] = pair.of[i].alpha;
      c[i].bias[0] = pair.of[i].bias;
    }
  }

  // The bytes of the four sums of pixels 8 j and up. residual: theirs.
  template <bool kShift, int kSums>
  WEFT_DEVICE static std::uint32_t Pack(arch::Thread t, const Output& p, const Channels (&c)[2],
                                        const std::int32_t (&sums)[kSums], int j,
                                        std::uint32_t residual = 0) {
    float values[4];
    Byte bytes[4];
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) {
      float other = 0.0f;
      if constexpr (Epilogue::kHasResidual) {
        other = t.ByteToFloat<typename Epilogue::ResidualElement>(residual, v);
      }
      const auto in = Math::InputsOf(p, c[v % 2], 0, other, sums[4 * j + v % 2 * 2 + v / 2]);
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
