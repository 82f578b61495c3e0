// Tensor maps: how TMA goes through a tensor in global memory.
//
// A TensorMapSpec says it in plain numbers. Two functions make a TensorMap of it, the 128 bytes a
// kernel gets in its Params: EncodeTensorMap for the GPU (what the driver makes of the numbers) and
// CpuTensorMap for the CPU executor (the numbers themselves).
//
// A copy is a sequence of rows, dense in shared memory, of RowBytes() each:
//   tiled       the box at some coordinates. Row = dimension 0 of the box; the other dimensions
//               follow, the lowest fastest. `step[i]` takes every step[i]-th element only, so that
//               dimension i leaves ceil(box[i] / step[i]) of them.
//   im2col      `pixels` pixels, row = `channels` channels of one. Dimensions: channels, then the
//               spatial ones (W, H, ...), then images. The traversal begins at the given coordinates,
//               goes on by step[i] along W, from the limit dim - 1 + upper back to lower and one
//               step along H, and so on into the next image. What is read is the pixel at the
//               traversal's position plus the offsets that the instruction gives.
//   interleave  for NC32HW32 (NCxHWx<32> of bytes): dimensions are W, H, slices of 32 channels,
//               images. Dimension 0 counts pixels of 32 bytes and a row is one pixel.
// Elements outside the tensor are zeros. In shared memory the 16-byte chunk number c of each
// 128-byte line is swizzled: line number modulo 2, 4 or 8 (of the absolute address) is xored to c.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/gemm/arch/isa/launch_result.hpp"

namespace weft::arch {

// In bytes: the width of the rows that a swizzle is made for, which is also the pitch of the rows
// of a matrix that wgmma reads with it.
enum class SwizzleSpan : std::uint8_t { kNone = 0, k32 = 32, k64 = 64, k128 = 128 };

// Where the byte at the shared address `linear` is when the lines are swizzled.
constexpr std::uint32_t SwizzledAddress(SwizzleSpan span, std::uint32_t linear) {
  const auto chunks = static_cast<std::uint32_t>(span) / 16;  // 0, 2, 4 or 8
  return chunks == 0 ? linear : linear ^ (linear >> 7 & (chunks - 1)) << 4;
}

struct TensorMapSpec {
  enum class Kind : std::uint8_t { kTiled, kIm2col };

  const void* base = nullptr;    // 16-byte aligned, 32 with interleave
  std::uint64_t stride[4] = {};  // of dimensions 1 to rank - 1, in bytes, multiples of 16 (32)
  std::uint32_t dim[5] = {};     // extents; of dimension 0 in elements (pixels if interleaved)
  Kind kind = Kind::kTiled;
  std::uint8_t rank = 0;           // 1 to 5; interleave and im2col from 3
  std::uint8_t element_bytes = 0;  // 1, 2 or 4; there is no default
  bool interleave32 = false;
  SwizzleSpan swizzle = SwizzleSpan::kNone;
  std::uint16_t box[5] = {};                // tiled: 1 to 256
  std::uint16_t step[5] = {1, 1, 1, 1, 1};  // 1 to 8
  std::int16_t lower[3] = {};  // im2col, per spatial dimension: where the traversal begins and
  std::int16_t upper[3] = {};  //   (relative to the last element) ends
  std::uint16_t channels = 0;  // im2col: of a pixel, 1 to 256; 32 with interleave
  std::uint16_t pixels = 0;    // im2col: of a copy, 1 to 1024

  // The number of spatial dimensions of an im2col traversal and the first of them.
  constexpr int SpatialDims() const { return rank - 2; }
  constexpr int FirstSpatialDim() const { return interleave32 ? 0 : 1; }

  constexpr std::int64_t RowBytes() const {
    if (interleave32) return 32;
    return std::int64_t{kind == Kind::kTiled ? box[0] : channels} * element_bytes;
  }
  constexpr std::int64_t Rows() const {
    if (kind == Kind::kIm2col) return pixels;
    std::int64_t rows = 1;
    for (int i = interleave32 ? 0 : 1; i < rank; ++i) rows *= (box[i] + step[i] - 1) / step[i];
    return rows;
  }
  // What a copy writes to shared memory and reports to its mbarrier, zeros included.
  constexpr std::int64_t Bytes() const { return Rows() * RowBytes(); }
};
static_assert(sizeof(TensorMapSpec) <= 120);

// Null if the specification is legal, otherwise a sentence that names the rule.
const char* TensorMapFault(const TensorMapSpec& spec);

// What kernels are given, as a member of their Params (which live in constant memory).
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

// For kernels on the current GPU. The driver is reached through the CUDA runtime. Fails with
// TensorMapFault's sentence, or the driver's code.
LaunchResult EncodeTensorMap(const TensorMapSpec& spec, TensorMap* map);

// For kernels on the CPU executor, which refuses an illegal specification where it is used.
inline constexpr std::uint32_t kCpuTensorMapTag = 0x54454E53u;
inline TensorMap CpuTensorMap(const TensorMapSpec& spec) {
  TensorMap map{};
  std::memcpy(map.bytes, &spec, sizeof(spec));
  std::memcpy(map.bytes + sizeof(map.bytes) - 4, &kCpuTensorMapTag, 4);
  return map;
}
inline LaunchResult MakeCpuTensorMap(const TensorMapSpec& spec, TensorMap* map) {
  *map = CpuTensorMap(spec);
  return {};
}

}  // namespace weft::arch
