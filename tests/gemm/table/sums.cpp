#include "tests/gemm/table/sums.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "tests/reference/reference.hpp"
#include "weft/layouts/element/complex.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::gemm::table {
namespace {

// What one output is made of: the places of its first elements, and the steps from one k to the next.
struct Line {
  std::int64_t a, a_step, b, b_step;
};

// One fma for each k of a part of the k tiles, and the parts added up in their order.
template <class T>
WEFT_REFERENCE_LOOPS void Ordered(const Facts& facts, std::int64_t count, const Numbers& a,
                                  const Numbers& b, const Line& at, Sum* sum) {
  T total{};
  for (int first = 0; first < facts.k_tile; first += facts.part) {
    T part{};
    for (std::int64_t begin = first; begin < count; begin += facts.k_tile) {
      for (std::int64_t k = begin; k < std::min(count, begin + facts.part); ++k) {
        const std::int64_t i = at.a + k * at.a_step, j = at.b + k * at.b_step;
        if constexpr (kIsComplex<T>) {
          using Real = decltype(T{}.re);
          const T x(static_cast<Real>(a.re[i]), static_cast<Real>(a.im[i]));
          const T y(static_cast<Real>(b.re[j]), static_cast<Real>(b.im[j]));
          part = MulAdd(x, y, part);
          sum->magnitude += std::abs(std::complex<double>(a.re[i], a.im[i])) *
                            std::abs(std::complex<double>(b.re[j], b.im[j]));
        } else {
          part = std::fma(static_cast<T>(a.re[i]), static_cast<T>(b.re[j]), part);
          sum->magnitude += std::abs(a.re[i] * b.re[j]);
        }
      }
    }
    if (first == 0) {
      total = part;
    } else {
      total += part;
    }
  }
  if constexpr (kIsComplex<T>) {
    sum->re = total.re, sum->im = total.im;
  } else {
    sum->re = total;
  }
}

WEFT_REFERENCE_LOOPS void Exact(std::int64_t count, const Numbers& a, const Numbers& b,
                                const Line& at, Sum* sum) {
  for (std::int64_t k = 0; k < count; ++k) {
    const double product = a.re[at.a + k * at.a_step] * b.re[at.b + k * at.b_step];
    sum->exact += product, sum->magnitude += std::abs(product);
  }
  sum->re = sum->exact;
}

WEFT_REFERENCE_LOOPS void RoundedToHalf(std::int64_t count, const Numbers& a, const Numbers& b,
                                        const Line& at, Sum* sum) {
  Half half;
  for (std::int64_t begin = 0; begin < count; begin += 16) {
    float part = half.ToFloat();
    for (std::int64_t k = begin; k < std::min(count, begin + 16); ++k) {
      part += static_cast<float>(a.re[at.a + k * at.a_step]) *
              static_cast<float>(b.re[at.b + k * at.b_step]);
    }
    half = Half::FromFloat(part);
  }
  Exact(count, a, b, at, sum);
  sum->re = half.ToFloat();
}

}  // namespace

std::vector<Sum> SumsOf(const Facts& facts, const GemmProblem& p, const Numbers& a,
                        const Numbers& b, std::int64_t product, std::int64_t begin,
                        std::int64_t end) {
  std::vector<Sum> sums;
  for (std::int64_t i = begin; i < end; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      const Line at = {.a = product * p.stride_a + (facts.a_k_major ? i * p.lda : i),
                       .a_step = facts.a_k_major ? 1 : p.lda,
                       .b = product * p.stride_b + (facts.b_k_major ? j * p.ldb : j),
                       .b_step = facts.b_k_major ? 1 : p.ldb};
      Sum& sum = sums.emplace_back();
      switch (facts.arithmetic) {
        case Arithmetic::kExact:
          Exact(p.k, a, b, at, &sum);
          break;
        case Arithmetic::kFloat:
          Ordered<float>(facts, p.k, a, b, at, &sum);
          break;
        case Arithmetic::kDouble:
          Ordered<double>(facts, p.k, a, b, at, &sum);
          break;
        case Arithmetic::kHalf:
          RoundedToHalf(p.k, a, b, at, &sum);
          break;
        case Arithmetic::kComplexFloat:
          Ordered<Complex<float>>(facts, p.k, a, b, at, &sum);
          break;
        case Arithmetic::kComplexDouble:
          Ordered<Complex<double>>(facts, p.k, a, b, at, &sum);
          break;
      }
    }
  }
  return sums;
}

}  // namespace weft::gemm::table
