#include "weft/network/engine/gpus.hpp"

#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "weft/gemm/choose/tile_model.hpp"

namespace weft::network {
namespace {

struct NamedGpu {
  const char* name;  // in small letters
  arch::DeviceLimits limits;
};

// As data sheets and the CUDA C++ Programming Guide have them.
arch::DeviceLimits Limits(int compute_capability, int sm_count, int shared_kb_of_block,
                          int shared_kb_of_sm, int threads, std::int64_t l2_mb) {
  return {.compute_capability = compute_capability,
          .sm_count = sm_count,
          .shared_memory_per_block = shared_kb_of_block * 1024,
          .shared_memory_per_sm = shared_kb_of_sm * 1024,
          .registers_per_sm = 65536,
          .max_threads_per_sm = threads,
          .l2_bytes = l2_mb << 20};
}

// The first one of an architecture stands for it.
const NamedGpu* Gpus(std::size_t* count) {
  static const NamedGpu gpus[] = {
      {"t4", Limits(75, 40, 64, 64, 1024, 4)},
      {"a100", Limits(80, 108, 163, 164, 2048, 40)},
      {"a10", Limits(86, 72, 99, 100, 1536, 6)},
      {"rtx3090", Limits(86, 82, 99, 100, 1536, 6)},
      {"l40s", Limits(89, 142, 99, 100, 1536, 96)},
      {"l4", Limits(89, 58, 99, 100, 1536, 48)},
      {"rtx4090", Limits(89, 128, 99, 100, 1536, 72)},
      {"h200", gemm::GpuFacts().limits},
      {"h100", Limits(90, 132, 227, 228, 2048, 50)},
  };
  *count = std::size(gpus);
  return gpus;
}

}  // namespace

absl::StatusOr<arch::DeviceLimits> GpuNamed(std::string_view name) {
  std::string wanted = absl::AsciiStrToLower({name.data(), name.size()});
  std::string architecture = wanted.rfind("sm_", 0) == 0 ? wanted.substr(3) : wanted;
  if (architecture == "90a") architecture = "90";
  std::size_t count = 0;
  const NamedGpu* const gpus = Gpus(&count);
  std::string known;
  for (std::size_t i = 0; i < count; ++i) {
    const NamedGpu& gpu = gpus[i];
    if (wanted == gpu.name || architecture == absl::StrCat(gpu.limits.compute_capability)) {
      return gpu.limits;
    }
    absl::StrAppend(&known, i == 0 ? "" : ", ", gpu.name, " (sm_", gpu.limits.compute_capability,
                    ")");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("network: the GPU \"", wanted, "\" is not known by name; give one of ", known,
                   ", or its architecture, or in C++ the limits that arch::QueryDevice has"));
}

}  // namespace weft::network
