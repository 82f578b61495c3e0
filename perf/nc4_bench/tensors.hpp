// The tensors of one layer on the GPU. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/nc4_bench/family.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/device_data.hpp"
#include "weft/conv/problem.hpp"
#include "weft/layouts/packed_filter.hpp"

namespace weft::perf {

// Several sets of source, filter (in both packings) and destination, so many that going round them
// leaves nothing of use in the L2; set 0 is the one whose result is checked.
class Tensors {
 public:
  static absl::StatusOr<Tensors> Create(const conv::Problem& problem, std::int64_t l2_bytes,
                                        Stream stream);

  int sets() const { return sets_; }
  float alpha() const { return alpha_; }
  RunArguments Arguments(int set) const;           // scale per channel
  RunArguments PerTensorArguments(int set) const;  // one scale
  const std::int8_t* PeerFilter(int set) const {
    return peer_filter_.as<std::int8_t>() + set * filter_stride_;
  }

  // Fills the destination of set 0 with a byte that ReLU never gives, and waits.
  absl::Status Poison() const;
  // Differences between the destination of set 0 and the reference, every element.
  absl::StatusOr<Differences> Check(Stream stream) const;
  // A second destination of one set.
  std::int8_t* scratch() const { return scratch_.as<std::int8_t>(); }

 private:
  explicit Tensors(PackedFilterBuffer<CxRSKx<4>, std::int8_t> packed)
      : packed_(std::move(packed)) {}

  conv::Problem problem_;
  PackedFilterBuffer<CxRSKx<4>, std::int8_t> packed_;
  int sets_ = 0;
  std::int64_t src_stride_ = 0, filter_stride_ = 0, dst_stride_ = 0;  // bytes
  DeviceBuffer src_, filter_, peer_filter_, dst_, scratch_;
  DeviceBuffer channel_alpha_, bias_;
  DeviceBuffer expected_;  // planar
  float alpha_ = 1.0f;
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
