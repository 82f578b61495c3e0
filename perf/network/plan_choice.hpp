// Which of cuDNN's plans a layer gets: the fastest that agrees with us. Only with WEFT_HAVE_CUDNN.
#pragma once

#if WEFT_HAVE_CUDNN

#include <cstdint>
#include <map>

#include "perf/network/bench.hpp"
#include "perf/network/cudnn_chain.hpp"
#include "perf/network/timing.hpp"

namespace weft::perf {

class PlanChooser {
 public:
  // `scratch`, on the GPU, holds any tensor of our chain. All arguments outlive the chooser.
  PlanChooser(const OurChain& ours, CudnnChain* cudnn, const ChainTimer& timer,
              std::int8_t* scratch, const NetworkOptions& options, NetworkRow* row)
      : ours_(ours),
        cudnn_(*cudnn),
        timer_(timer),
        scratch_(scratch),
        options_(options),
        row_(*row) {}

  // Builds a plan for every layer and notes it in the row. Names the layer that has none.
  absl::Status ChooseAll();

 private:
  // Builds a plan, runs it on what our layer read, and compares with our output.
  absl::StatusOr<Differences> Try(int layer, int plan);
  absl::Status Choose(int layer);

  const OurChain& ours_;
  CudnnChain& cudnn_;
  const ChainTimer& timer_;
  std::int8_t* scratch_;
  const NetworkOptions& options_;
  NetworkRow& row_;
  std::map<int, int> plans_;  // of the first layer of each shape
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDNN
