#pragma once
#include <cstdint>
#include <string>
#include "weft/gemm/launch/launch.hpp"
#include "weft/network/graph/graph.hpp"
namespace weft::network {
struct TensorProblem {
  Kind kind = Kind::kConvert;
  TensorType src{}, other{}, dst{};
  Window window{};
  bool count_padding = false;
  std::int64_t first_channel = 0;
  std::int64_t factor_h = 1, factor_w = 1;
  std::string table{};
};
class TensorOperator {
 public:
  struct Arguments {
    const void* src = nullptr;
    const void* other = nullptr;
    void* dst = nullptr;
  };
  static absl::StatusOr<TensorOperator> Create(const TensorProblem& problem);
  absl::Status Run(const Arguments& args, Stream stream,
                   const gemm::LaunchOptions& options = {}) const;
  absl::Status RunOnCpu(const Arguments& args, const gemm::CpuOptions& options =
                                                   gemm::CpuOptions::FromEnvironment()) const;
  std::string Describe() const;
};
}  // namespace weft::network
