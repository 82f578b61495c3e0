// The routing of a CondConv as a kernel of one's own: the mean of each channel of an image, a
// linear layer, a sigmoid. One source for both back ends; routing.cu launches it on the GPU.
#pragma once

#include <cmath>
#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"
#include "weft/layouts/formats.hpp"

struct RoutingParams {
  static constexpr int kMostChannels = 256;
  weft::TensorExtents extents;       // of src; at most kMostChannels channels
  const std::int8_t* src = nullptr;  // NCxHWx<4>
  const float* weights = nullptr;    // [experts][C]
  int experts = 0;                   // at most 128
  float* routing = nullptr;          // [N][experts]
};

inline namespace WEFT_BACKEND {

// One block an image.
struct RoutingKernel {
  using Params = RoutingParams;
  static constexpr int kThreads = 128;
  static constexpr weft::arch::Requires kRequires{.min = 75};
  struct SharedStorage {
    float mean[RoutingParams::kMostChannels];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, weft::arch::Thread t) const {
    const int n = t.block_x();
    const auto channels = static_cast<int>(p.extents.c);
    for (int c = t.tid(); c < channels; c += kThreads) {
      std::int32_t sum = 0;
      for (std::int64_t h = 0; h < p.extents.h; ++h) {
        for (std::int64_t w = 0; w < p.extents.w; ++w) {
          sum += t.LoadGlobal(p.src + weft::NCxHWx<4>::Offset(p.extents, n, c, h, w));
        }
      }
      const auto pixels = static_cast<float>(p.extents.h * p.extents.w);
      t.StoreShared(&shared.mean[c], static_cast<float>(sum) / pixels);
    }
    t.SyncThreads();
    if (t.tid() >= p.experts) return;
    float score = 0.0f;
    for (int c = 0; c < channels; ++c) {
      score += t.LoadGlobal(p.weights + t.tid() * channels + c) * t.LoadShared(&shared.mean[c]);
    }
    t.StoreGlobal(p.routing + n * p.experts + t.tid(), 1.0f / (1.0f + expf(-score)));
  }
};

}  // namespace WEFT_BACKEND

// Enqueues it; defined where there is CUDA.
weft::arch::LaunchResult LaunchRouting(const RoutingParams& params, weft::Stream stream);
