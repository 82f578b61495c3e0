// Three kernels of a user's own around gemm::Block (block_gemm/): attention, nearest centres and
// inverses of small matrices. They run on the GPU, or on the CPU where there is none or with
// --backend=cpu, and are compared with plain loops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

#include "examples/block_gemm/launch.hpp"
#include "examples/support/backend.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"
#include "weft/gemm/buffer.hpp"

namespace {

using weft::Backend;
using weft::Buffer;
using weft::Half;

template <class Kernel>
void Launch(weft::arch::Dim3 grid, const typename Kernel::Params& params, Backend backend) {
  std::string why;
  if (backend == Backend::kCuda) {
#if WEFT_HAVE_CUDA
    why = LaunchOnGpu(grid, params).message;
#endif
  } else {
    why = weft::arch::LaunchOnCpu<Kernel>(grid, params).error;
  }
  if (why.empty()) return;
  std::cerr << "block_gemm: " << why << "\n";
  std::exit(1);
}

// Numbers from -1 to 1, the same on every machine.
std::vector<float> Numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> v(count);
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 16) * 0x1p-15f - 1.0f;
  }
  return v;
}
std::vector<Half> Halves(std::size_t count, std::uint32_t seed) {
  std::vector<Half> v;
  for (const float x : Numbers(count, seed)) v.push_back(Half::FromFloat(x));
  return v;
}

// The largest difference from the softmax in double precision.
template <Mainloop kMainloop>
double Attention(Backend backend) {
  constexpr int kHeads = 3, kQueries = 100, kKeys = 90;
  const auto q = Halves(kHeads * kQueries * 64, 1), k = Halves(kHeads * kKeys * 64, 2),
             v = Halves(kHeads * kKeys * 64, 3);
  const auto on_q = Buffer<Half>::CopyOf(q, backend).value();
  const auto on_k = Buffer<Half>::CopyOf(k, backend).value();
  const auto on_v = Buffer<Half>::CopyOf(v, backend).value();
  auto o = Buffer<float>::Zeros(q.size(), backend).value();
  Launch<AttentionKernel<kMainloop>>(
      {(kQueries + 63) / 64, kHeads},
      {on_q.data(), on_k.data(), on_v.data(), o.data(), kQueries, kKeys, 0.125f}, backend);
  const std::vector<float> got = o.Read().value();
  double worst = 0;
  for (int row = 0; row < kHeads * kQueries; ++row) {
    const Half* const keys = &k[row / kQueries * kKeys * 64];
    const Half* const values = &v[row / kQueries * kKeys * 64];
    std::vector<double> weight(kKeys);
    double total = 0;
    for (int key = 0; key < kKeys; ++key) {
      double dot = 0;
      for (int i = 0; i < 64; ++i) dot += q[row * 64 + i].ToFloat() * keys[key * 64 + i].ToFloat();
      total += weight[key] = std::exp(0.125 * dot);
    }
    for (int i = 0; i < 64; ++i) {
      double sum = 0;
      for (int key = 0; key < kKeys; ++key) sum += weight[key] * values[key * 64 + i].ToFloat();
      worst = std::max(worst, std::abs(got[row * 64 + i] - sum / total));
    }
  }
  return worst;
}

// How many points got another centre than the nearest.
int Nearest(Backend backend) {
  constexpr int kPoints = 150, kCentres = 200;
  const auto bytes = [](int count, std::uint32_t seed) {
    std::vector<std::int8_t> v;
    for (const float x : Numbers(count * 64, seed)) v.push_back(std::int8_t(127.0f * x));
    return v;
  };
  const std::vector<std::int8_t> points = bytes(kPoints, 4), centres = bytes(kCentres, 5);
  std::vector<std::int32_t> norms(kCentres);
  for (int i = 0; i < kCentres * 64; ++i) norms[i / 64] += centres[i] * centres[i];
  const auto on_points = Buffer<std::int8_t>::CopyOf(points, backend).value();
  const auto on_centres = Buffer<std::int8_t>::CopyOf(centres, backend).value();
  const auto on_norms = Buffer<std::int32_t>::CopyOf(norms, backend).value();
  auto nearest =
      Buffer<std::int32_t>::CopyOf(std::vector<std::int32_t>(kPoints, -1), backend).value();
  Launch<NearestKernel>(
      {(kPoints + 63) / 64},
      {on_points.data(), on_centres.data(), on_norms.data(), nearest.data(), kPoints, kCentres},
      backend);
  const std::vector<std::int32_t> got = nearest.Read().value();
  int different = 0;
  for (int point = 0; point < kPoints; ++point) {
    int best = 0, best_distance = INT32_MAX;
    for (int centre = 0; centre < kCentres; ++centre) {
      int distance = 0;
      for (int i = 0; i < 64; ++i) {
        const int d = points[point * 64 + i] - centres[centre * 64 + i];
        distance += d * d;
      }
      if (distance < best_distance) best = centre, best_distance = distance;
    }
    different += got[point] != best;
  }
  return different;
}

// The largest element of I - A X.
double Newton(Backend backend) {
  constexpr int kMatrices = 20, kSize = 24;
  std::vector<float> a = Numbers(kMatrices * kSize * kSize, 6), x(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool is_diagonal = i / kSize % kSize == i % kSize;
    a[i] = 0.03f * a[i] + (is_diagonal ? 1.0f : 0.0f);
    x[i] = is_diagonal ? 1.0f : 0.0f;
  }
  const auto on_a = Buffer<float>::CopyOf(a, backend).value();
  const auto on_guess = Buffer<float>::CopyOf(x, backend).value();
  auto on_x = Buffer<float>::CopyOf(x, backend).value();
  Launch<NewtonKernel>({kMatrices}, {on_a.data(), on_guess.data(), on_x.data(), 6}, backend);
  const std::vector<float> got = on_x.Read().value();
  double worst = 0;
  for (int i = 0; i < kMatrices * kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      double sum = i % kSize == j ? -1 : 0;
      for (int k = 0; k < kSize; ++k) {
        sum += double{a[i * kSize + k]} * got[(i / kSize * kSize + k) * kSize + j];
      }
      worst = std::max(worst, std::abs(sum));
    }
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const auto choice = examples::ChooseBackend(argc, argv);
  if (!choice.ok()) return std::cerr << choice.status() << "\n", 1;
  const Backend backend = choice->backend;
  const double attention = Attention<Mainloop::kMmaSm80>(backend), newton = Newton(backend);
  const bool has_wgmma =
      backend == Backend::kCpu || AttentionKernel<Mainloop::kWgmmaSm90>::kRequires.Fits(
                                      weft::arch::QueryDevice().limits.compute_capability);
  const double by_wgmma = has_wgmma ? Attention<Mainloop::kWgmmaSm90>(backend) : attention;
  const int nearest = Nearest(backend);
  std::cout << "on the " << (backend == Backend::kCuda ? "GPU" : "CPU") << ": attention is off by "
            << attention;
  if (has_wgmma) std::cout << " (by wgmma " << by_wgmma << ")";
  std::cout << ", " << nearest << " points have a wrong centre, I - A X is " << newton << "\n";
  // Weights are rounded to 11 bits, and their sum of at most 1 is that of values up to 1.
  const bool good = attention > 0 && attention < 0x1p-11 && by_wgmma > 0 && by_wgmma < 0x1p-11 &&
                    nearest == 0 && newton < 1e-6;
  std::cout << (good ? "all as they should be\n" : "WRONG\n");
  return good ? 0 : 1;
}
