// What a Network holds: of network.cpp and steps.cpp alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weft/network/network.hpp"
#include "weft/network/operators/tensor_operator.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/network/plan/convolution_constants.hpp"
#include "weft/network/plan/convolution_policy.hpp"
#include "weft/rtc/bottleneck.hpp"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/gpu/kernels.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::network {

// A convolution that is ready to run.
struct Convolution {
  rtc::Operator op;
  conv::ConvPlan plan;
  ConvolutionConstants constants;
  rtc::Values values;
  std::string tile;
};

// The same of a bottleneck.
struct Block {
  rtc::Bottleneck op;
  conv::BottleneckPlan plan;
  BlockConstants constants;
  rtc::Values values;  // of the third convolution
  std::string tile;
};

// What runs a step.
using StepKernel = std::variant<Convolution, Block, TensorOperator>;

// The tile of a step; null if it has none.
inline const std::string* TileOf(const StepKernel& step) {
  if (const auto* convolution = std::get_if<Convolution>(&step)) return &convolution->tile;
  const auto* block = std::get_if<Block>(&step);
  return block == nullptr ? nullptr : &block->tile;
}

// Operators by the texts of their policies, each compiled once. Thread-safe.
template <class OperatorT>
class OperatorsOf {
 public:
  using Compile = absl::StatusOr<OperatorT> (*)(std::string_view source, const rtc::Options&);
  OperatorsOf(Compile compile, rtc::Options options)
      : compile_(compile), options_(std::move(options)) {}

  absl::StatusOr<OperatorT> Get(const ConvolutionPolicy& policy) {
    Entry* entry = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      entry = &entries_[policy.text];
    }
    const std::lock_guard<std::mutex> lock(entry->mutex);
    if (!entry->op.has_value()) {
      absl::StatusOr<OperatorT> op = CompileInto(policy, options_.archive);
      if (!op.ok()) return op.status();  // the next call tries again
      entry->op = *std::move(op);
    }
    return *entry->op;
  }

  // Compiles anew, into an archive.
  absl::StatusOr<OperatorT> CompileInto(const ConvolutionPolicy& policy,
                                        const std::shared_ptr<rtc::Archive>& archive) const {
    rtc::Options options = options_;
    options.values = policy.values;
    options.archive = archive;
    return compile_(policy.text, options);
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::optional<OperatorT> op;
  };

  const Compile compile_;
  const rtc::Options options_;
  std::mutex mutex_;  // of entries_, which stay where they are
  std::map<std::string, Entry> entries_;
};

// Those of a network's convolutions and bottlenecks.
struct Operators {
  OperatorsOf<rtc::Operator> convolutions;
  OperatorsOf<rtc::Bottleneck> bottlenecks;

  explicit Operators(rtc::Options options)
      : convolutions(&rtc::Compile, Named(options, "NetworkConvolution")),
        bottlenecks(&rtc::CompileBottleneck, Named(options, "NetworkBottleneck")) {}

 private:
  static rtc::Options Named(rtc::Options options, const char* policy) {
    options.policy = policy;
    return options;
  }
};

// What convolutions read besides tensors, which networks that differ by their tiles alone share.
struct Constants {
  std::string bytes;

  rtc::PerContext<int, rtc::DeviceBytes> copies;  // in the memory of GPUs; there is one key, 0

  // The constants in the memory of the current GPU.
  absl::StatusOr<const char*> OnGpu();
};

struct Network::State {
  Graph graph;
  Plan plan;
  bool on_gpu = false, fuse = true;
  Blocks blocks = Blocks::kWhereQuicker;
  std::vector<Format> formats;  // NetworkOptions::formats
  arch::DeviceLimits gpu;  // that it is planned for; of a network on the CPU as it is by default
  std::string note;        // about the file that it is of; or empty
  std::shared_ptr<const rtc::Archive> file;  // code that was compiled before; or null
  std::vector<StepKernel> steps;             // as plan.steps
  std::shared_ptr<Constants> constants = std::make_shared<Constants>();
  std::shared_ptr<Operators> operators;  // of the network and of those with other tiles

  absl::Status AddSteps(const NetworkOptions& options);
  // What runs a step with a tile: a convolution or a bottleneck, whose constants are those of `like`, or are added if that is null.
  absl::StatusOr<StepKernel> MakeStep(const Step& step, const std::string& tile,
                                      const StepKernel* like);
  // The error of tiles whose first name is that of no step with a tile.
  absl::Status NoConvolution(const Tiles& tiles) const;
  // What the network runs on.
  Machine GetMachine() const;
  // Adds the code of all kernels, of which Create may have left some to the first run.
  absl::Status CompileInto(const std::shared_ptr<rtc::Archive>& archive) const;
  absl::Status CheckArguments(const Arguments& args, bool gpu) const;
  // The addresses of a plan's tensors in a run.
  std::vector<char*> AddressesOf(const Arguments& args) const;
};

}  // namespace weft::network
