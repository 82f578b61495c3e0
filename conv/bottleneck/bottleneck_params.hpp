// What a BottleneckKernel is launched with, and where its parts lie in shared memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/policy/bottleneck_policy.hpp"
#include "weft/conv/problem/bottleneck_problem.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::conv {

// The convolutions of a bottleneck.
enum class BottleneckPartName : std::int32_t { kFirst, kSecond, kProjection, kThird };
inline constexpr int kBottleneckParts = 4;

// The numbers of a config.
struct BottleneckShape {
  static constexpr int kColumns = BottleneckConfig::kColumns, kPitch = kColumns + 2;
  static constexpr int kMiddle = static_cast<int>(BottleneckProblem::kMiddle);
  static constexpr int kMostColumns = 16;  // tiles in a row, each of which has a view of x
  static constexpr int kMostRounds = 4;    // 128 channels of y each, where y takes the place of x
  static constexpr int kFilterBlock = 64 * 32;  // bytes of 64 output by 32 input channels
  static constexpr int kValueBytes = 16;  // of a channel: scale, bias, and what follows of them

  int rows, warpgroups;

  // Pixels of a tile's patch; as many as are multiplied; bytes of 32 channels of a patch.
  constexpr int patch_pixels() const { return kPitch * (rows + 2); }
  constexpr int multiplied() const { return (patch_pixels() + 15) / 16 * 16; }
  constexpr int plane_bytes() const { return multiplied() * 32; }
  // Pixels of a tile, and bytes of 32 channels of it.
  constexpr int pixels() const { return kColumns * rows; }
  constexpr int tile_plane_bytes() const { return pixels() * 32; }
  constexpr int middle_bytes() const { return 2 * plane_bytes(); }
  // Where parts lie that every launch has: barriers, the filter of the 3x3 convolution, what is between
  // the convolutions. Other parts follow it.
  static constexpr int kSecondFilter = 1024;
  // Words behind the barriers, one for each part, that are not 0 if it is not quick (bottleneck_quick.hpp).
  using SlowWord = std::uint64_t;
  static constexpr int kSlowWords = kSecondFilter - kBottleneckParts * int{sizeof(SlowWord)};
  static constexpr int kMiddles = kSecondFilter + 18 * kFilterBlock;
  constexpr int end() const { return kMiddles + warpgroups * middle_bytes(); }
};

// Where other parts lie, in bytes from the beginning of shared memory.
struct BottleneckSpace {
  std::int32_t first_filter = 0, third_filter = 0, projection_filter = 0;
  std::int32_t values = 0;   // scales and biases of the channels of all parts
  std::int32_t outputs = 0;  // y of the warpgroups, where it does not take the place of x
  std::int32_t patches = 0, patch_bytes = 0;
  std::int32_t all = 0;
};

struct BottleneckTiling {
  gemm::FastDivmod columns, rows;  // tiles of an image
  std::int32_t tiles = 0;          // of all images
  std::int32_t h = 0, w = 0;
  std::int32_t source_blocks = 0;  // of 32 channels of x
  std::int32_t chunks = 0;         // of 64 channels of y
  std::int32_t patches = 0;        // in shared memory
  std::uint32_t padding = 0;       // a byte of t1 in each of a word's four
  std::int32_t early = 0;          // filters may be loaded while earlier kernels run
  BottleneckSpace at;
};

// Tiles are no rows of a product: where they lie in y is a tensor map's business.
struct BottleneckRows : gemm::RowsTraits {
  static constexpr bool kPaddingIsFilled = true;
};

template <class Epilogue>
using BottleneckOutput = gemm::OutputParams<Epilogue, BottleneckRows>;

// In the place of a projection where there is none.
struct NoBottleneckOutput {
  std::int32_t k = 0;
};

struct BottleneckMaps {
  arch::TensorMap x[BottleneckShape::kMostColumns];
  arch::TensorMap first_filter, second_filter, third_filter, projection_filter;
  arch::TensorMap y;
};

// Policies that differ only in their config share this type.
template <class First, class Second, class Projection, class Third>
struct BottleneckParams {
  BottleneckMaps maps;
  BottleneckTiling tiling;
  BottleneckOutput<First> first;
  BottleneckOutput<Second> second;
  typename std::conditional_t<std::is_void_v<Projection>, std::type_identity<NoBottleneckOutput>,
                              std::type_identity<BottleneckOutput<Projection>>>::type projection;
  BottleneckOutput<Third> third;
};
template <class PolicyT>
using BottleneckParamsOf =
    BottleneckParams<typename PolicyT::FirstEpilogue, typename PolicyT::SecondEpilogue,
                     typename PolicyT::Projection, typename PolicyT::Epilogue>;

}  // namespace weft::conv
