// The plain convolution that every kernel is compared with, exactly.
//
// Written to be obviously right and nothing else: planar tensors (NCHW, KCRS), seven loops, int64
// sums, and the numerics contract of epilogues/README.md line by line. It shares no code with the
// kernels nor with prologues/: which filter of a bank belongs to an output is a plain function.
// Header-only and constexpr, so that the same lines also run as a GPU kernel where a CPU would take
// minutes (reference_gpu.cu).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/element/float16.hpp"

// The reference is plain loops of one thread over whole tensors. Instrumented, it would take most of a
// sanitizer's time, which is meant for the kernels.
#if defined(__SANITIZE_ADDRESS__)
#define WEFT_REFERENCE_LOOPS __attribute__((no_sanitize("address", "undefined")))
#elif defined(__SANITIZE_THREAD__)
#define WEFT_REFERENCE_LOOPS __attribute__((no_sanitize("thread")))
#else
#define WEFT_REFERENCE_LOOPS
#endif

namespace weft::reference {

// Which filter of a bank output pixel (n, p, q) uses in channel group `group`: the ordinary
// convolution has one.
struct OneFilter {
  constexpr std::int64_t operator()(std::int64_t /*n*/, std::int64_t /*p*/, std::int64_t /*q*/,
                                    std::int64_t /*group*/) const {
    return 0;
  }
};

// The filters of all groups one after the other: with one group OneFilter.
struct FilterOfGroup {
  constexpr std::int64_t operator()(std::int64_t /*n*/, std::int64_t /*p*/, std::int64_t /*q*/,
                                    std::int64_t group) const {
    return group;
  }
};

// The exact sum of products behind output (n, k, p, q). src is NCHW. filter is the one that this
// output uses: the channels of its group, [K / groups][C / groups][R][S]. Values stand for what they
// are less their zero point, and what lies outside the image for 0.
template <class Source, class Filter>
WEFT_REFERENCE_LOOPS constexpr std::int64_t Accumulate(const conv::Problem& problem,
                                                       const Source* src, const Filter* filter,
                                                       std::int64_t n, std::int64_t k,
                                                       std::int64_t p, std::int64_t q,
                                                       std::int64_t source_zero_point = 0,
                                                       std::int64_t filter_zero_point = 0) {
  const std::int64_t group_k = problem.k / problem.groups;  // output channels of a group
  const std::int64_t group_c = problem.c / problem.groups;  // input channels of a group
  const std::int64_t first_c = k / group_k * group_c;       // where this output's begin
  std::int64_t sum = 0;
  for (std::int64_t c = 0; c < group_c; ++c) {
    for (std::int64_t r = 0; r < problem.r; ++r) {
      const std::int64_t h = p * problem.stride_h - problem.pad_top + r * problem.dilation_h;
      if (h < 0 || h >= problem.h) continue;
      for (std::int64_t s = 0; s < problem.s; ++s) {
        const std::int64_t w = q * problem.stride_w - problem.pad_left + s * problem.dilation_w;
        if (w < 0 || w >= problem.w) continue;
        const bool flip = problem.mode == conv::Mode::kConvolution;
        const std::int64_t fr = flip ? problem.r - 1 - r : r;
        const std::int64_t fs = flip ? problem.s - 1 - s : s;
        const std::int64_t x = src[((n * problem.c + first_c + c) * problem.h + h) * problem.w + w];
        const std::int64_t f =
            filter[((k % group_k * group_c + c) * problem.r + fr) * problem.s + fs];
        sum += (x - source_zero_point) * (f - filter_zero_point);
      }
    }
  }
  return sum;
}

// The run-time values of an epilogue. Pointers are null where the epilogue has no such stage.
struct EpilogueData {
  float alpha = 1.0f;
  const float* channel_alpha = nullptr;  // K; replaces alpha
  float beta = 1.0f;
  const float* bias = nullptr;               // K
  const std::int32_t* bias_int32 = nullptr;  // K
  const std::int32_t* sum_bias = nullptr;    // K; added to the sum, modulo 2^32
  float gamma = 1.0f;
  const std::int8_t* residual = nullptr;  // NKPQ planar
  const float* float_residual = nullptr;  // the same of another type, its values as floats
  const float* late_residual = nullptr;   // the same, but added after the activation
  float output_scale = 0.0f;              // of a step; 0: the values are in steps
  float zero_point = 0.0f;
};

struct NoActivation {
  constexpr float operator()(float x) const { return x; }
};
struct ReluActivation {
  constexpr float operator()(float x) const { return x < 0.0f ? 0.0f : x; }
};
struct HSwishActivation {
  constexpr float operator()(float x) const {
    const float sixth = 1.0f / 6.0f;
    float gate = __builtin_fmaf(x, sixth, 0.5f);
    if (!(gate > 0.0f)) gate = 0.0f;
    if (gate > 1.0f) gate = 1.0f;
    return x * gate;
  }
};

// The value before conversion: DESIGN's contract, one rounding a line. `index` is the output's
// planar index.
template <class Activation>
constexpr float Value(std::int64_t accumulator, std::int64_t k, std::int64_t index,
                      const EpilogueData& e, const Activation& activation) {
  float t = 0.0f;
  if (e.residual != nullptr) t = e.gamma * static_cast<float>(e.residual[index]);
  if (e.float_residual != nullptr) t = e.gamma * e.float_residual[index];
  const float alpha = e.channel_alpha != nullptr ? e.channel_alpha[k] : e.alpha;
  t = __builtin_fmaf(alpha, static_cast<float>(accumulator), t);
  if (e.bias != nullptr) t = __builtin_fmaf(e.beta, e.bias[k], t);
  if (e.bias_int32 != nullptr) {
    t = __builtin_fmaf(e.beta, static_cast<float>(e.bias_int32[k]), t);
  }
  if constexpr (std::is_invocable_v<const Activation&, float, std::int64_t>) {
    t = activation(t, k);
  } else {
    t = activation(t);
  }
  if (e.late_residual != nullptr) t = __builtin_fmaf(e.gamma, e.late_residual[index], t);
  if (e.output_scale != 0.0f) {
    const float inverse = 1.0f / e.output_scale;
    t = t * inverse;
  }
  return t;
}

// Where a value halfway between two integers goes.
enum class Ties { kEven, kAway, kUp };

// Conversion to an 8-bit type: zero point, clamp, round.
template <class T>
constexpr T Quantize(float t, float zero_point, int low, int high, Ties ties = Ties::kEven) {
  t = t + zero_point;
  if (!(t == t)) t = 0.0f;  // NaN
  if (!(t > static_cast<float>(low))) return static_cast<T>(low);
  if (!(t < static_cast<float>(high))) return static_cast<T>(high);
  const int floor = static_cast<int>(t) - (t < static_cast<float>(static_cast<int>(t)) ? 1 : 0);
  const float above = t - static_cast<float>(floor);  // exact: |t| < 256
  if (above < 0.5f) return static_cast<T>(floor);
  if (above > 0.5f) return static_cast<T>(floor + 1);
  if (ties == Ties::kUp) return static_cast<T>(floor + 1);
  if (ties == Ties::kAway) return static_cast<T>(floor >= 0 ? floor + 1 : floor);
  return static_cast<T>(floor % 2 == 0 ? floor : floor + 1);
}

// The bits of the 16-bit float nearest to t, halves to the even one: kMantissa explicit bits, least
// exponent kLeast.
template <int kMantissa, int kLeast>
constexpr std::uint16_t Narrow(float t) {
  constexpr int kExponents = 15 - kMantissa;
  constexpr unsigned kInfinity = ((1u << kExponents) - 1u) << kMantissa;
  if (t != t) return 0x7fff;
  const unsigned sign = __builtin_signbit(t) ? 0x8000u : 0u;
  double magnitude = t < 0.0f ? -static_cast<double>(t) : static_cast<double>(t);
  if (magnitude > 1e300) return static_cast<std::uint16_t>(sign | kInfinity);
  int exponent = kLeast;  // of the binade that the value is in, or of the least
  double unit = 1.0;      // 2^exponent
  for (int i = 0; i < -kLeast; ++i) unit /= 2.0;
  while (magnitude >= 2.0 * unit) unit *= 2.0, ++exponent;
  const double steps = magnitude / unit * (1 << kMantissa);
  auto whole = static_cast<unsigned>(steps);
  const double above = steps - whole;
  if (above > 0.5 || (above == 0.5 && whole % 2 == 1)) ++whole;
  // The implicit bit counts one binade up.
  const unsigned bits = (static_cast<unsigned>(exponent - kLeast) << kMantissa) + whole;
  return static_cast<std::uint16_t>(sign | (bits < kInfinity ? bits : kInfinity));
}

// The nearest int32, halves to the even one.
constexpr std::int32_t Whole(float t) {
  if (t != t) return 0;
  if (t >= 2147483648.0f) return 2147483647;
  if (t <= -2147483648.0f) return -2147483647 - 1;
  const auto floor =
      static_cast<std::int64_t>(t) - (t < static_cast<float>(static_cast<std::int64_t>(t)) ? 1 : 0);
  const double above = static_cast<double>(t) - static_cast<double>(floor);
  const bool up = above > 0.5 || (above == 0.5 && floor % 2 != 0);
  return static_cast<std::int32_t>(floor + (up ? 1 : 0));
}

// Of 8 bits: the least and the greatest output, and the rounding. Of int32: whether it is the sum or
// the value.
template <class T>
struct OutputRange {
  int low = 0;
  int high = 0;
  Ties ties = Ties::kEven;
  bool is_value = false;
};
inline constexpr OutputRange<std::int8_t> kInt8{-128, 127};
inline constexpr OutputRange<std::uint8_t> kUint8{0, 255};
inline constexpr OutputRange<float> kFloat{};
inline constexpr OutputRange<std::int32_t> kRawInt32{};

// A sum's output: output channel k, planar index `index`.
template <class T, class Activation>
constexpr T Converted(std::int64_t accumulator, std::int64_t k, std::int64_t index,
                      const EpilogueData& e, const Activation& activation, OutputRange<T> range) {
  if (e.sum_bias != nullptr) accumulator = static_cast<std::int32_t>(accumulator + e.sum_bias[k]);
  if constexpr (sizeof(T) == 1) {
    return Quantize<T>(Value(accumulator, k, index, e, activation), e.zero_point, range.low,
                       range.high, range.ties);
  } else if constexpr (std::is_same_v<T, Half>) {
    return Half::FromBits(Narrow<10, -14>(Value(accumulator, k, index, e, activation)));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return Bfloat16::FromBits(Narrow<7, -126>(Value(accumulator, k, index, e, activation)));
  } else if constexpr (static_cast<T>(0.5f) == static_cast<T>(0)) {
    if (range.is_value) return Whole(Value(accumulator, k, index, e, activation));
    return static_cast<T>(accumulator);
  } else {
    return Value(accumulator, k, index, e, activation);
  }
}

// One output element. `filters` are those of the bank one after the other, KCRS; `which` says which
// one an output uses.
template <class T, class Activation, class Which = OneFilter>
constexpr T Output(const conv::Problem& problem, const std::int8_t* src, const std::int8_t* filters,
                   const EpilogueData& e, const Activation& activation, OutputRange<T> range,
                   std::int64_t index, const Which& which = {}) {
  const std::int64_t q = index % problem.q();
  const std::int64_t p = index / problem.q() % problem.p();
  const std::int64_t k = index / (problem.q() * problem.p()) % problem.k;
  const std::int64_t n = index / (problem.q() * problem.p() * problem.k);
  const std::int64_t group = k / (problem.k / problem.groups);
  const std::int64_t filter_size =
      problem.k / problem.groups * (problem.c / problem.groups) * problem.r * problem.s;
  const std::int8_t* filter = filters + which(n, p, q, group) * filter_size;
  return Converted(Accumulate(problem, src, filter, n, k, p, q), k, index, e, activation, range);
}

// The filters of a CondConv, [N][K][C][R][S], from `count` experts [E][K][C][R][S], routing weights
// [N][E] and scales [E][K] or null (docs/condconv.md). One rounding a line.
inline std::vector<std::int8_t> MixExperts(const conv::Problem& problem, std::int64_t count,
                                           const std::int8_t* experts, const float* routing,
                                           const float* expert_scale) {
  const std::int64_t row = problem.c * problem.r * problem.s, filter = problem.k * row;
  std::vector<std::int8_t> mixed;
  for (std::int64_t n = 0; n < problem.n; ++n) {
    for (std::int64_t i = 0; i < filter; ++i) {
      float sum = 0.0f;
      for (std::int64_t e = 0; e < count; ++e) {
        float value = static_cast<float>(experts[e * filter + i]);
        if (expert_scale != nullptr) value = expert_scale[e * problem.k + i / row] * value;
        sum = __builtin_fmaf(routing[n * count + e], value, sum);
      }
      mixed.push_back(Quantize<std::int8_t>(sum, 0.0f, -128, 127));
    }
  }
  return mixed;
}

// The whole convolution, NCHW. `threads` 0: one per core.
template <class T, class Activation, class Which = OneFilter>
std::vector<T> Convolve(const conv::Problem& problem, const std::int8_t* src,
                        const std::int8_t* filters, const EpilogueData& e,
                        const Activation& activation, OutputRange<T> range, int threads = 1,
                        const Which& which = {}) {
  const std::int64_t size = problem.n * problem.k * problem.p() * problem.q();
  std::vector<T> dst(size);
  if (threads == 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto fill = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      dst[i] = Output(problem, src, filters, e, activation, range, i, which);
    }
  };
  std::vector<std::thread> workers;
  for (int i = 1; i < threads; ++i) {
    workers.emplace_back(fill, size * i / threads, size * (i + 1) / threads);
  }
  fill(0, size / threads);
  for (std::thread& worker : workers) worker.join();
  return dst;
}

// The greatest of each window of size x size pixels, `step` apart, of planes of p x q; pixels outside are in none.
template <class T>
std::vector<T> MaxPool(const std::vector<T>& planes, std::int64_t p, std::int64_t q,
                       std::int64_t size, std::int64_t step, std::int64_t padding) {
  std::vector<T> pooled;
  for (std::size_t plane = 0; plane < planes.size(); plane += static_cast<std::size_t>(p * q)) {
    for (std::int64_t y = -padding; y + size <= p + padding; y += step) {
      for (std::int64_t x = -padding; x + size <= q + padding; x += step) {
        T greatest = std::numeric_limits<T>::lowest();
        for (std::int64_t i = 0; i < size * size; ++i) {
          const std::int64_t row = y + i / size, column = x + i % size;
          if (row < 0 || row >= p || column < 0 || column >= q) continue;
          greatest = std::max(greatest, planes[plane + static_cast<std::size_t>(row * q + column)]);
        }
        pooled.push_back(greatest);
      }
    }
  }
  return pooled;
}

}  // namespace weft::reference
