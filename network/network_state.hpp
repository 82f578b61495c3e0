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

// Convolutions' operators by the texts of their policies, each compiled once. Thread-safe.
class Operators {
 public:
  explicit Operators(rtc::Options options) : options_(std::move(options)) {}

  absl::StatusOr<rtc::Operator> Get(const ConvolutionPolicy& policy) {
    Entry* entry = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      entry = &entries_[policy.text];
    }
    const std::lock_guard<std::mutex> lock(entry->mutex);
    if (!entry->op.has_value()) {
      rtc::Options options = options_;
      options.values = policy.values;
      absl::StatusOr<rtc::Operator> op = rtc::Compile(policy.text, options);
      if (!op.ok()) return op.status();  // the next call tries again
      entry->op = *std::move(op);
    }
    return *entry->op;
  }

  const rtc::Options& options() const { return options_; }

 private:
  struct Entry {
    std::mutex mutex;
    std::optional<rtc::Operator> op;
  };

  const rtc::Options options_;
  std::mutex mutex_;  // of entries_, which stay where they are
  std::map<std::string, Entry> entries_;
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
  std::vector<Format> formats;  // NetworkOptions::formats
  arch::DeviceLimits gpu;  // that it is planned for; of a network on the CPU as it is by default
  std::string note;        // about the file that it is of; or empty
  std::shared_ptr<const rtc::Archive> file;  // code that was compiled before; or null
  std::vector<std::variant<Convolution, TensorOperator>> steps;  // as plan.steps
  std::shared_ptr<Constants> constants = std::make_shared<Constants>();
  std::shared_ptr<Operators>
      operators;  // of the network's convolutions and of those with other tiles

  absl::Status AddSteps(const NetworkOptions& options);
  // The error of tiles whose first name is that of no convolution.
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
