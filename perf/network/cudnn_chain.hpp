// The same network on cuDNN: NHWC int8, one graph of the graph API a layer with everything fused.
// Only with WEFT_HAVE_CUDNN.
#pragma once

#if WEFT_HAVE_CUDNN

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/network/chain.hpp"
#include "perf/network/cudnn_quantize.hpp"
#include "perf/peers/convert.hpp"
#include "perf/peers/cudnn_graph.hpp"
#include "perf/support/cuda.hpp"

namespace weft::perf {

class CudnnChain {
 public:
  // Tensors and filters of its own; scales and biases are ours'. Its inputs are copies of ours.
  // `ours` outlives the chain.
  static absl::StatusOr<std::unique_ptr<CudnnChain>> Create(const OurChain& ours, Stream stream);

  // Copies what our chain's tensors hold into all of this chain's, so that each layer can be run
  // and compared alone.
  absl::Status CopyTensors(Stream stream);
  // One of them.
  absl::Status CopyTensor(int tensor, Stream stream);

  // Layers of one shape share plans: the first layer of each layer's shape.
  int SameAs(int layer) const { return layers_[layer].same_as; }

  // Asks cuDNN for the plans of a shape and compiles them, on options.build_threads threads.
  // `layer` is the first of its shape.
  absl::Status Prepare(int layer, const PeerOptions& options);
  int variants(int layer) const;
  const std::string& VariantName(int layer, int variant) const;
  // Makes a variant ready for a layer. Unimplemented if cuDNN refuses it.
  absl::Status Build(int layer, int variant);
  absl::Status Run(int layer, Stream stream);

  // The layer's output as our chain has it: blocked by 32 channels.
  absl::Status Output(int layer, std::int8_t* dst, Stream stream) const;
  absl::Status Poison(int layer, Stream stream);

  // Layers from `first` on with what was built last for each.
  absl::Status Enqueue(int first, Stream stream);

 private:
  // A way to say a layer: its operands may have more channels, zeros, or be half. If the result is
  // half as well (graph.half), the scales are part of the filter, and a second graph makes int8 of
  // it.
  struct Form {
    internal::GraphForm graph;
    std::int64_t channels = 0;
    Element operand = Element::kInt8;
    std::string name;
  };
  struct Plan {
    std::string name;
    int form = 0;
    internal::Descriptor config, plan;
    int handle = 0;
    bool tried = false;
  };
  struct Operands {  // of one form
    const void* src = nullptr;
    const void* filter = nullptr;
    DeviceBuffer own_src, own_filter;
    DeviceBuffer half_bias, half_dst;
    std::optional<CudnnQuantize> quantize;
  };
  struct Layer {
    int same_as = 0;
    std::vector<Form> forms;
    std::vector<Operands> operands;  // of each form, once needed
    // Of the first layer of a shape only.
    std::vector<internal::ConvolutionGraph> graphs;
    std::deque<Plan> plans;
    // Built.
    const Plan* built = nullptr;
    internal::Descriptor pack;
  };

  explicit CudnnChain(const OurChain& ours) : ours_(ours) {}
  absl::Status Init(Stream stream);
  std::vector<Form> FormsOf(int layer) const;
  PeerProblem ProblemOf(int layer, const Form& form) const;
  absl::Status MakeOperands(int layer, int form, Stream stream);
  absl::Status MakeHalfResult(int layer, Operands* operands);
  void Finish(Plan& plan, int handle);

  const OurChain& ours_;
  const CudnnApi* api_ = nullptr;
  std::vector<cudnnHandle_t> handles_;
  std::vector<DeviceBuffer> tensors_;  // NHWC
  std::vector<Layer> layers_;
  DeviceBuffer workspace_;  // layers run one after the other
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDNN
