// Compiles a policy that is given as text for a GPU, by NVRTC. No GPU is needed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/cache.hpp"
#include "weft/rtc/cubin_image.hpp"

namespace weft::rtc {

struct CompileOptions {
  std::string policy;           // the name of the type that the source defines
  int compute_capability = 90;  // 75, 80, 86, 89, 90, ...; of 90 with the instructions of sm_90a
  // The kernels that are compiled, by their numbers; each takes about 1 s of a CPU. All of them if
  // there are none here.
  std::vector<int> kernels;
};

// A compiled policy.
struct Cubin {
  std::string bytes;  // for cuModuleLoadData
  // The names of the kernels in it, by their numbers; empty where one was not compiled, or is none.
  std::vector<std::string> entries;
  OwnedImage image;
  bool from_cache = false;
};

// The source has weft/conv/ready_made.hpp included before its first line. InvalidArgument, with what
// the compiler says, by the lines of the source, if it does not compile, defines no policy of that
// name, or a functor of the policy is not constexpr; NotFound if there is no NVRTC.
// cache: where compiled policies are kept; null: nowhere.
absl::StatusOr<Cubin> CompileCubin(std::string_view source, const CompileOptions& options,
                                   const Cache* cache = nullptr);

// The same without kernels, in half a second of a CPU.
absl::StatusOr<OwnedImage> CompileImage(std::string_view source, const CompileOptions& options,
                                        const Cache* cache = nullptr);

}  // namespace weft::rtc
