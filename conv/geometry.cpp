#include "weft/conv/geometry.hpp"

#include <cinttypes>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft::conv {
namespace {

using Wide = __int128;  // products of two 64-bit extents do not overflow here

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();
// Padded rows and columns stay below this, so that the kernel's sentinel row is far from all taps.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 30;
// Tiles may reach past the last pixel by less than one threadblock.
constexpr std::int64_t kMaxPixels = kInt32Max - 1024;
// Leaves room for a layout's zero channels and for bytes instead of elements.
constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 1024;
// (-128) * (-128), the largest product of two int8 values.
constexpr std::int64_t kLargestProduct = 128 * 128;

absl::Status NotPositive(const char* field, std::int64_t value) {
  return absl::InvalidArgumentError(
      absl::StrCat("conv: ", field, "=", value, " is not positive; give 1 or more"));
}

absl::Status TooLarge(const char* what, Wide value, std::int64_t limit, const char* remedy) {
  const double shown = static_cast<double>(value);
  return absl::OutOfRangeError(
      absl::StrFormat("conv: %s=%.0f exceeds %d; %s", what, shown, limit, remedy));
}

struct Field {
  const char* name;
  std::int64_t value;
};

}  // namespace

absl::Status CheckProblem(const Problem& p) {
  const Field positive[] = {{"n", p.n},
                            {"h", p.h},
                            {"w", p.w},
                            {"c", p.c},
                            {"k", p.k},
                            {"r", p.r},
                            {"s", p.s},
                            {"stride_h", p.stride_h},
                            {"stride_w", p.stride_w},
                            {"dilation_h", p.dilation_h},
                            {"dilation_w", p.dilation_w}};
  for (const Field& field : positive) {
    if (field.value < 1) return NotPositive(field.name, field.value);
    if (field.value > kMaxExtent) {
      return TooLarge(field.name, field.value, kMaxExtent, "no extent may be larger");
    }
  }
  const Field pads[] = {{"pad_top", p.pad_top},
                        {"pad_left", p.pad_left},
                        {"pad_bottom", p.pad_bottom},
                        {"pad_right", p.pad_right}};
  for (const Field& field : pads) {
    if (field.value < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("conv: ", field.name, "=", field.value, " is negative; give 0 or more"));
    }
    if (field.value > kMaxExtent) {
      return TooLarge(field.name, field.value, kMaxExtent, "no padding may be larger");
    }
  }
  const std::int64_t padded_h = p.h + p.pad_top + p.pad_bottom;
  const std::int64_t padded_w = p.w + p.pad_left + p.pad_right;
  if (padded_h > kMaxExtent) {
    return TooLarge("h+pad_top+pad_bottom", padded_h, kMaxExtent, "use a smaller image");
  }
  if (padded_w > kMaxExtent) {
    return TooLarge("w+pad_left+pad_right", padded_w, kMaxExtent, "use a smaller image");
  }
  const Wide reach_h = Wide{p.r - 1} * p.dilation_h + 1;
  const Wide reach_w = Wide{p.s - 1} * p.dilation_w + 1;
  if (reach_h > padded_h) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "conv: r=%d with dilation_h=%d spans %.0f rows, more than h+pad_top+pad_bottom=%d; use a "
        "smaller filter or dilation, or more padding",
        p.r, p.dilation_h, static_cast<double>(reach_h), padded_h));
  }
  if (reach_w > padded_w) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "conv: s=%d with dilation_w=%d spans %.0f columns, more than w+pad_left+pad_right=%d; use "
        "a smaller filter or dilation, or more padding",
        p.s, p.dilation_w, static_cast<double>(reach_w), padded_w));
  }
  const Wide products = Wide{p.c} * p.r * p.s;
  if (products * kLargestProduct > kInt32Max) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "conv: c*r*s=%.0f products of two int8 values can overflow the int32 accumulator; at most "
        "%d are accepted, so split the channels over several convolutions",
        static_cast<double>(products), kInt32Max / kLargestProduct));
  }
  const Wide pixels = Wide{p.n} * p.p() * p.q();
  if (pixels > kMaxPixels) {
    return TooLarge("n*p*q", pixels, kMaxPixels, "split the batch");
  }
  const Wide src_elements = Wide{p.n} * p.c * p.h * p.w;
  if (src_elements > kMaxElements) {
    return TooLarge("n*c*h*w", src_elements, kMaxElements, "split the batch");
  }
  if (pixels * p.k > kMaxElements) {
    return TooLarge("n*k*p*q", pixels * p.k, kMaxElements, "split the batch");
  }
  return absl::OkStatus();
}

absl::StatusOr<Geometry> MakeGeometry(const Problem& p, const PolicyFacts& facts) {
  if (absl::Status s = CheckProblem(p); !s.ok()) return s;
  const Config& config = facts.config;

  if (facts.dst_channel_run == 0 && p.k * facts.dst_element_bytes % config.alignment.dst != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: k=", p.k, " is not a multiple of ", config.alignment.dst / facts.dst_element_bytes,
        ", the channels of one ", config.alignment.dst, "-byte store to ", facts.dst_layout,
        "; pad K, lower config.alignment.dst, or use DstLayout NCxHWx<4>, which pads by itself"));
  }
  if (facts.nhwc && p.c % facts.packet_channels != 0 && facts.packet_channels == 4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: c=", p.c, " is not a multiple of 4, the channels of the narrowest load ",
        "from NHWC; pad C to ", RoundUp(p.c, 4), " with zeros, in src and filter, or ",
        "use SrcLayout NCxHWx<32> or NCxHWx<4>, which pad by themselves"));
  }
  if (facts.nhwc && p.c % facts.packet_channels != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: c=", p.c, " is not a multiple of ", facts.packet_channels,
                     ", the channels of one ", config.alignment.src,
                     "-byte load from NHWC; pad C, lower config.alignment.src (16, 8 or 4), "
                     "or use SrcLayout NCxHWx<32> or NCxHWx<4>, which pad by themselves"));
  }
  Geometry g;
  g.problem = p;
  g.pointwise = p.r == 1 && p.s == 1 && p.pad_top == 0 && p.pad_left == 0 && p.pad_bottom == 0 &&
                p.pad_right == 0;

  const std::int64_t x = facts.packet_channels;
  const std::int64_t planes = gemm::CeilDiv(p.c, x);
  const std::int64_t slice_packets = config.threadblock.k / x;
  const std::int64_t plane = p.h * p.w;
  const std::int64_t taps = p.r * p.s;
  const std::int64_t packets = planes * taps;
  // An im2col walk indexes within one image, with a tile's overshoot and the padding's reach.
  const std::int64_t overshoot = (config.stages + 1) * slice_packets / taps + 2;
  const Wide padded_plane =
      Wide{p.h + p.pad_top + p.pad_bottom + 1} * (p.w + p.pad_left + p.pad_right);
  const Wide reach = facts.nhwc ? padded_plane * (planes + overshoot)
                                : Wide{planes + overshoot} * plane + padded_plane;
  if (!g.pointwise && reach > kInt32Max) {
    return TooLarge("packets of one image with its padding", reach, kInt32Max,
                    "split the image or its channels");
  }
  if (plane > kInt32Max) return TooLarge("h*w", plane, kInt32Max, "split the image");

  const std::int64_t pixels = p.n * p.p() * p.q();
  g.padded_k = static_cast<std::int32_t>(RoundUp(p.k, facts.dst_interleave));
  g.slices = static_cast<std::int32_t>(gemm::CeilDiv(packets, slice_packets));
  const std::int64_t tiles_m = gemm::CeilDiv(pixels, std::int64_t{config.threadblock.m});
  const std::int64_t tiles_n =
      gemm::CeilDiv(std::int64_t{g.padded_k}, std::int64_t{config.threadblock.n});
  if (tiles_m * tiles_n > kInt32Max) {
    return TooLarge("blocks", tiles_m * tiles_n, kInt32Max, "use a larger threadblock tile");
  }
  g.tiles_m = static_cast<std::int32_t>(tiles_m);
  g.tiles_n = static_cast<std::int32_t>(tiles_n);

  ActivationParams& a = g.activation;
  const bool flip = p.mode == Mode::kConvolution;
  a.image_packets = planes * plane;
  a.pixels = static_cast<std::int32_t>(pixels);
  a.packets = static_cast<std::int32_t>(packets);
  a.channel_packets = static_cast<std::int32_t>(planes);
  a.image_pixels = gemm::FastDivmod(static_cast<std::int32_t>(p.p() * p.q()));
  a.row_pixels = gemm::FastDivmod(static_cast<std::int32_t>(p.q()));
  a.taps = gemm::FastDivmod(static_cast<std::int32_t>(taps));
  a.tap_columns = gemm::FastDivmod(static_cast<std::int32_t>(p.s));
  a.pixel_packets = gemm::FastDivmod(static_cast<std::int32_t>(planes));
  a.h = static_cast<std::int32_t>(p.h);
  a.w = static_cast<std::int32_t>(p.w);
  a.r = static_cast<std::int32_t>(p.r);
  a.s = static_cast<std::int32_t>(p.s);
  a.plane = static_cast<std::int32_t>(plane);
  a.stride_h = static_cast<std::int32_t>(p.stride_h);
  a.stride_w = static_cast<std::int32_t>(p.stride_w);
  // A flipped filter is walked from its last tap: start there and step backwards.
  a.base_h = static_cast<std::int32_t>(-p.pad_top + (flip ? (p.r - 1) * p.dilation_h : 0));
  a.base_w = static_cast<std::int32_t>(-p.pad_left + (flip ? (p.s - 1) * p.dilation_w : 0));
  a.step_h = static_cast<std::int32_t>(flip ? -p.dilation_h : p.dilation_h);
  a.step_w = static_cast<std::int32_t>(flip ? -p.dilation_w : p.dilation_w);

  for (int tap = 0; tap < taps && taps <= ActivationParams::kTableTaps; ++tap) {
    const auto offset = [&](std::int64_t i) {
      return i / p.s * a.step_h * p.w + i % p.s * a.step_w;
    };
    const std::int64_t next = tap + 1 < taps ? offset(tap + 1) : plane;
    a.next_tap[tap] = static_cast<std::int32_t>(next - offset(tap));
  }

  g.filter.packets = a.packets;
  g.filter.padded_k = static_cast<std::int32_t>(RoundUp(p.k, facts.filter_multiple));
  return g;
}

absl::Status CheckDevice(const PolicyFacts& facts, const arch::DeviceLimits& device) {
  if (!facts.hardware.Fits(device.compute_capability)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "conv: config.mainloop needs compute capability ", facts.hardware.min / 10, ".",
        facts.hardware.min % 10, facts.hardware.exact ? " and no other" : "", ", this GPU has ",
        device.compute_capability / 10, ".", device.compute_capability % 10,
        "; run on the CPU or choose an older mainloop"));
  }
  if (facts.shared_bytes > device.shared_memory_per_block) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "conv: config.threadblock needs ", facts.shared_bytes,
        " bytes of shared memory, one block "
        "of this GPU has ",
        device.shared_memory_per_block, "; use a smaller threadblock tile or fewer stages"));
  }
  return absl::OkStatus();
}

absl::Status CheckPointer(const char* field, const void* pointer, int alignment) {
  if (pointer == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: args.", field, " is null; give the tensor's address"));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address % alignment != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("conv: args.%s=%p is not %d-byte aligned; allocate it with that alignment",
                        field, pointer, alignment));
  }
  return absl::OkStatus();
}

absl::Status CheckFilter(const Problem& p, const FilterExtents& packed, const void* data) {
  if (data == nullptr) {
    return absl::InvalidArgumentError(
        "conv: args.filter is not packed; call weft::PackFilter and pass its view(), or "
        "At(device_pointer) after a copy to the GPU");
  }
  if (packed != p.filter()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "conv: args.filter was packed for k=%d c=%d r=%d s=%d, this operator has k=%d c=%d r=%d "
        "s=%d; pack the filter that belongs to the problem",
        packed.k, packed.c, packed.r, packed.s, p.k, p.c, p.r, p.s));
  }
  return absl::OkStatus();
}

std::string DescribeGeometry(const Geometry& g, const PolicyFacts& facts) {
  const Config& c = facts.config;
  const std::string thread =
      c.mainloop == gemm::Mainloop::kSimt
          ? absl::StrFormat("thread %dx%d", c.thread.m, c.thread.n)
          : absl::StrFormat("instruction %dx%dx%d, %d stages", c.instruction.m, c.instruction.n,
                            c.instruction.k, c.stages);
  return absl::StrFormat(
      "%s %dx%dx%d warp %dx%d %s, %s, %d x %d blocks of %d threads, %d bytes shared, %s -> %s",
      gemm::MainloopName(c.mainloop), c.threadblock.m, c.threadblock.n, c.threadblock.k, c.warp.m,
      c.warp.n, thread, g.pointwise ? "pointwise" : "im2col", g.tiles_m, g.tiles_n, facts.threads,
      facts.shared_bytes, facts.src_layout, facts.dst_layout);
}

}  // namespace weft::conv
