// What TMA does to memory on the CPU. Inline, to be compiled with the kernel's flags.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weft/gemm/arch/cpu/executor/cpu_engines.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct Tma {
  using Work = cpu::CopyWork;

  // Reads the ends of every row in global memory, so that a source or target out of bounds is reported
  // where the copy is issued. The bytes that will be read or written there.
  static int64_t Touch(const Work& work) {
    int64_t bytes = 0;
    ForEachRow(work, [&](int64_t, const char* row, int64_t begin, int64_t end) {
      if (begin >= end) return;
      bytes += end - begin;
      (void)*static_cast<const volatile char*>(row + begin);
      (void)*static_cast<const volatile char*>(row + end - 1);
    });
    return bytes;
  }

  // Writes the rows of a box to the tensor, out of the engines' image of shared memory.
  static void WriteOut(const Work& work) {
    const auto row_bytes = work.spec.RowBytes();
    ForEachTiledRow(work, [&](int64_t row, const char* target, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto at =
            cpu::kSharedWindow + work.target + static_cast<uint32_t>(row * row_bytes + i);
        const_cast<char*>(target)[i] =
            work.async[SwizzledAddress(work.spec.swizzle, at) - cpu::kSharedWindow];
      }
    });
  }

  static void Poison(const Work& work) {
    constexpr uint32_t kGarbage = 0x5AA5D00Du;
    for (uint32_t i = 0; i < work.bytes; i += sizeof(Chunk)) {
      const uint32_t word = kGarbage * (i / 16 + 1);
      Store(work, i, {{word, word ^ 1, word ^ 2, word ^ 3}});
    }
  }

  static void Perform(const Work& work) {
    if (work.is_value) {
      Chunk chunk;
      for (int i = 0; i < 4; ++i) chunk.words[i] = static_cast<uint32_t>(work.coordinate[i]);
      return Store(work, 0, chunk);
    }
    const auto row_bytes = static_cast<int64_t>(RowBytes(work));
    ForEachRow(work, [&](int64_t row, const char* source, int64_t begin, int64_t end) {
      for (int64_t i = 0; i < row_bytes; i += sizeof(Chunk)) {
        Chunk chunk{};
        if (begin <= i && i + static_cast<int64_t>(sizeof(Chunk)) <= end) {
          chunk = *reinterpret_cast<const Chunk*>(source + i);
        } else {
          auto* bytes = reinterpret_cast<unsigned char*>(chunk.words);
          for (int64_t k = (std::max)(begin, i); k < (std::min)(end, i + 16); ++k) {
            bytes[k - i] = static_cast<unsigned char>(source[k]);
          }
        }
        Store(work, static_cast<uint32_t>(row * row_bytes + i), chunk);
      }
    });
  }

 private:
  struct alignas(16) Chunk {
    uint32_t words[4];
  };

  static uint32_t RowBytes(const Work& work) {
    return work.source != nullptr ? work.bytes : static_cast<uint32_t>(work.spec.RowBytes());
  }

  // Byte `index` of the copy, a multiple of 16, lands where the swizzle says, in both images.
  static void Store(const Work& work, uint32_t index, const Chunk& chunk) {
    const bool swizzled = work.source == nullptr && !work.is_value;
    const SwizzleSpan swizzle = swizzled ? work.spec.swizzle : SwizzleSpan::kNone;
    const uint32_t address = cpu::kSharedWindow + work.target + index;
    const uint32_t offset = SwizzledAddress(swizzle, address) - cpu::kSharedWindow;
    *reinterpret_cast<Chunk*>(work.generic + offset) = chunk;
    *reinterpret_cast<Chunk*>(work.async + offset) = chunk;
  }

  // visit(number of the row, where it would begin, the part of its bytes that exists).
  template <class Visit>
  static void ForEachRow(const Work& work, Visit visit) {
    if (work.source != nullptr) {
      visit(0, work.source, 0, work.bytes);
    } else if (work.spec.kind == TensorMapSpec::Kind::kTiled) {
      ForEachTiledRow(work, visit);
    } else {
      ForEachPixel(work, visit);
    }
  }

  // Where a coordinate lies, in bytes from the base.
  static int64_t Stride(const TensorMapSpec& spec, int dim) {
    if (dim == 0) return spec.interleave32 ? 32 : spec.element_bytes;
    return static_cast<int64_t>(spec.stride[dim - 1]);
  }

  template <class Visit>
  static void VisitAt(const TensorMapSpec& spec, int64_t row, const int64_t (&at)[5], Visit visit) {
    const auto* base = static_cast<const char*>(spec.base);
    const int64_t row_bytes = spec.RowBytes();
    for (int i = spec.interleave32 ? 0 : 1; i < spec.rank; ++i) {
      if (at[i] < 0 || at[i] >= int64_t{spec.dim[i]}) {
        visit(row, base, int64_t{0}, int64_t{0});
        return;
      }
    }
    int64_t offset = 0;
    for (int i = 0; i < spec.rank; ++i) offset += at[i] * Stride(spec, i);
    int64_t begin = 0, end = row_bytes;
    if (!spec.interleave32) {
      begin = std::clamp<int64_t>(-at[0] * spec.element_bytes, 0, row_bytes);
      end = std::clamp<int64_t>((int64_t{spec.dim[0]} - at[0]) * spec.element_bytes, 0, row_bytes);
    }
    visit(row, base + offset, begin, end);
  }

  template <class Visit>
  static void ForEachTiledRow(const Work& work, Visit visit) {
    const TensorMapSpec& spec = work.spec;
    const int first = spec.interleave32 ? 0 : 1;
    const int64_t rows = spec.Rows();
    for (int64_t row = 0; row < rows; ++row) {
      int64_t at[5] = {work.coordinate[0]};
      int64_t rest = row;
      for (int i = first; i < spec.rank; ++i) {
        const int64_t extent = (spec.box[i] + spec.step[i] - 1) / spec.step[i];
        at[i] = work.coordinate[i] + rest % extent * spec.step[i];
        rest /= extent;
      }
      VisitAt(spec, row, at, visit);
    }
  }

  template <class Visit>
  static void ForEachPixel(const Work& work, Visit visit) {
    const TensorMapSpec& spec = work.spec;
    const int first = spec.FirstSpatialDim();
    const int image = spec.rank - 1;
    int64_t position[5];
    for (int i = 0; i < 5; ++i) position[i] = work.coordinate[i];
    for (int64_t row = 0; row < spec.pixels; ++row) {
      int64_t at[5];
      for (int i = 0; i < 5; ++i) at[i] = position[i];
      for (int i = 0; i < spec.SpatialDims(); ++i) at[first + i] += work.offset[i];
      VisitAt(spec, row, at, visit);
      int i = 0;
      for (; i < spec.SpatialDims(); ++i) {
        const int dim = first + i;
        position[dim] += spec.step[dim];
        if (position[dim] <= int64_t{spec.dim[dim]} - 1 + spec.upper[i]) break;
        position[dim] = spec.lower[i];
      }
      if (i == spec.SpatialDims()) ++position[image];
    }
  }
};

// What the tensor cores read.
struct TensorCoreOperands {
  static void Gather(const cpu::WgmmaWork& work, const char* async, int first_row, uint32_t* a,
                     uint32_t* b) {
    constexpr int kRowsOfA = 16;
    if (work.a_registers == nullptr) {
      GatherOne(work.a, work.a_mn_major, async, first_row, kRowsOfA, a);
    }
    GatherOne(work.b, work.b_mn_major, async, 0, work.n, b);
  }

 private:
  static void GatherOne(uint64_t descriptor, bool mn_major, const char* async, int first_row,
                        int rows, uint32_t* out) {
    struct alignas(16) Chunk {
      uint32_t words[4];
    };
    constexpr int kWords = 8;
    const WgmmaLayout layout = WgmmaLayoutOf(descriptor);
    const uint32_t start = WgmmaStart(descriptor);
    const char* window = async - cpu::kSharedWindow;
    for (int r = 0; r < rows; ++r) {
      if (mn_major) {
        for (int w = 0; w < kWords; ++w) {
          uint32_t word = 0;
          for (int half = 0; half < 2; ++half) {
            const uint32_t address =
                WgmmaMnMajorAddress(start, layout, first_row + r, 2 * w + half);
            word |= uint32_t{*reinterpret_cast<const uint16_t*>(window + address)} << 16 * half;
          }
          out[w * rows + r] = word;
        }
        continue;
      }
      for (int half = 0; half < 2; ++half) {
        const uint32_t address = WgmmaKMajorAddress(start, layout, first_row + r, 16 * half);
        const Chunk chunk = *reinterpret_cast<const Chunk*>(window + address);
        for (int w = 0; w < 4; ++w) out[(4 * half + w) * rows + r] = chunk.words[w];
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
