// A product of int8 in a kernel of one's own, written with tiled copies and a tiled mma
// (tiled_mma/product.hpp). It runs on the GPU, or on the CPU where there is none or with
// --backend=cpu, and is compared with plain loops.
#include <array>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "examples/support/backend.hpp"
#include "examples/tiled_mma/launch.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"
#include "weft/gemm/buffer.hpp"

namespace {

using weft::Backend;
using weft::Buffer;

std::vector<std::int8_t> Numbers(int count, std::uint32_t seed) {
  std::vector<std::int8_t> v(count);
  for (std::int8_t& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<std::int8_t>(seed >> 24);
  }
  return v;
}

// How many elements of an m x n product are wrong, or -1.
int Wrong(int m, int n, int k, Backend backend) {
  const int pitch = (k + 15) / 16 * 16;
  const std::vector<std::int8_t> a = Numbers(m * pitch, 1), b = Numbers(n * pitch, 2);
  const auto on_a = Buffer<std::int8_t>::CopyOf(a, backend).value();
  const auto on_b = Buffer<std::int8_t>::CopyOf(b, backend).value();
  auto on_c = Buffer<std::int32_t>::CopyOf(std::vector<std::int32_t>(m * n, -1), backend).value();
  const ProductParams params{on_a.data(), on_b.data(), on_c.data(), m, n, k, pitch};
  const weft::arch::Dim3 grid{(m + 63) / 64, (n + 63) / 64};
  std::string why;
  if (backend == Backend::kCuda) {
#if WEFT_HAVE_CUDA
    why = LaunchOnGpu(grid, params).message;
#endif
  } else {
    why = weft::arch::LaunchOnCpu<ProductKernel>(grid, params).error;
  }
  if (!why.empty()) {
    std::cerr << "tiled_mma: " << why << "\n";
    return -1;
  }
  const std::vector<std::int32_t> c = on_c.Read().value();
  int wrong = 0;
  for (int i = 0; i < m * n; ++i) {
    std::int32_t sum = 0;
    for (int l = 0; l < k; ++l) sum += a[i / n * pitch + l] * b[i % n * pitch + l];
    wrong += c[i] != sum;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const auto choice = examples::ChooseBackend(argc, argv);
  if (!choice.ok()) return std::cerr << choice.status() << "\n", 1;
  const Backend backend = choice->backend;
  int wrong = 0;
  for (const auto& [m, n, k] : {std::array{1, 1, 1}, std::array{200, 100, 300}}) {
    const int here = Wrong(m, n, k, backend);
    if (here < 0) return 1;
    std::cout << m << " x " << n << " x " << k << ": " << here << " of " << m * n
              << " elements are wrong\n";
    wrong += here;
  }
  std::cout << (wrong == 0 ? "all as they should be\n" : "WRONG\n");
  return wrong == 0 ? 0 : 1;
}
