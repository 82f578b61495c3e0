// NVRTC and nvJitLink, NVIDIA's compiler and linker as shared libraries, loaded when they are needed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

// What NVRTC makes of a text: code that Link optimises and translates.
struct LinkInput {
  std::string code;
  std::vector<std::string> names;  // of what the expressions name, as the linker knows them
};

// Both libraries. They are looked for once for a program: NVRTC is the file that $WEFT_NVRTC names, or
// else one that the program has loaded (Python's torch brings one), or the loader finds, or a
// CUDA toolkit in $CUDA_HOME or /usr/local has. nvJitLink lies beside it or is found in the same way.
class Nvrtc {
 public:
  // NotFound, with what was tried, if there is none; FailedPrecondition if it is older than 12.0,
  // or nvJitLink older than 12.3.
  static absl::StatusOr<const Nvrtc*> Get();

  // Such as "NVRTC 13.0 of /usr/local/cuda/lib64/libnvrtc.so.13".
  const std::string& version() const { return version_; }

  // FailedPrecondition, with the newest one, if it has no code for GPUs of this compute capability.
  absl::Status CheckArchitecture(int compute_capability) const;

  // Compiles `source`, which is shown as `file`. headers: paths and texts of what it may include.
  // expressions: names of kernels that are wanted. InvalidArgument, with the compiler's messages.
  absl::StatusOr<LinkInput> Compile(const std::string& source, const char* file,
                                    const std::vector<std::pair<const char*, const char*>>& headers,
                                    const std::vector<std::string>& options,
                                    const std::vector<std::string>& expressions) const;

  // The cubin of that code. options: as nvJitLink knows them. InvalidArgument, with its messages.
  absl::StatusOr<std::string> Link(std::string_view code,
                                   const std::vector<std::string>& options) const;

 private:
  Nvrtc(void* nvrtc, void* linker) : nvrtc_(nvrtc), linker_(linker) {}
  static absl::StatusOr<Nvrtc> Load();

  void* nvrtc_;
  void* linker_;
  std::string version_;
};

}  // namespace weft::rtc
