// Work on several streams, which a graph that it is captured in has as branches.
#pragma once

#include "absl/status/status.h"
#include "perf/support/cuda.hpp"
#include "perf/support/status.hpp"

namespace weft::perf {

class Branches {
 public:
  static constexpr int kCount = 8;

  absl::Status Init() {
    WEFT_TRY(fork_.Init());
    for (Branch& branch : branches_) {
      WEFT_TRY(branch.stream.Init());
      WEFT_TRY(branch.done.Init());
    }
    return absl::OkStatus();
  }

  // Calls each(i, stream) for 0 <= i < count: one after the other on `stream`, or in branches from it, of which call i is
  // in branch i % kCount.
  template <class Each>
  absl::Status Run(bool branched, cudaStream_t stream, int count, const Each& each) const {
    if (branched) {
      for (const Branch& to : branches_) WEFT_TRY(fork_.Order(stream, to.stream.get()));
    }
    for (int i = 0; i < count; ++i) {
      WEFT_TRY(each(i, branched ? branches_[i % kCount].stream.get() : stream));
    }
    if (branched) {
      for (const Branch& from : branches_) WEFT_TRY(from.done.Order(from.stream.get(), stream));
    }
    return absl::OkStatus();
  }

 private:
  struct Branch {
    CudaStream stream;
    CudaEvent done;
  };
  Branch branches_[kCount];
  CudaEvent fork_;
};

}  // namespace weft::perf
