// The sums of a product by plain loops: the part of the table of products that knows no policy.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/gemm/check/gemm_checks.hpp"

namespace weft::gemm::table {

// What a sum is, of the values that gemm/policy/gemm_policy.hpp promises: exact (integers, and integers that a float sums
// without rounding), one fma of floats, doubles or complex numbers for each k in ascending order, or float sums of
// 16 products each that are rounded to a half.
enum class Arithmetic { kExact, kFloat, kDouble, kHalf, kComplexFloat, kComplexDouble };

// How a policy's matrices lie in memory, and how it adds up.
struct Facts {
  bool a_k_major = true, b_k_major = true, row_major_c = true;
  Arithmetic arithmetic = Arithmetic::kExact;
  int k_tile = 1, part = 1;  // of k; each part of the k tiles is added up by itself
  // What a product and each partial sum may be off by, in parts of it, where operands are no integers; 0: results are
  // defined to the bit.
  double step = 0.0;
  bool small_values = false;  // sums have few bits, or a short range
};

// The numbers that an operand's elements stand for, at the places that they have in memory.
struct Numbers {
  std::vector<double> re, im;  // im: of complex numbers
};

struct Sum {
  double re = 0.0, im = 0.0;
  double exact = 0.0;  // of real numbers, without rounding
  double magnitude =
      0.0;  // the sum of the products' magnitudes: bounds of rounding are parts of it
};

// Those of rows `begin` to `end` of product `product` of a batch, row by row, n to a row.
std::vector<Sum> SumsOf(const Facts& facts, const GemmProblem& p, const Numbers& a,
                        const Numbers& b, std::int64_t product, std::int64_t begin,
                        std::int64_t end);

}  // namespace weft::gemm::table
