// The flag --backend of the programs.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/buffer.hpp"

namespace examples {

using weft::Backend;

struct BackendChoice {
  Backend backend = Backend::kCpu;
  std::string why;  // if the program chose: why not the GPU; else empty
};

// `flag`: cpu, cuda, or empty for cuda if this build has it and a GPU is present, else cpu.
// InvalidArgument for another word; FailedPrecondition for cuda where there is none.
inline absl::StatusOr<BackendChoice> ChooseBackend(const std::string& flag) {
  if (flag != "" && flag != "cpu" && flag != "cuda") {
    return absl::InvalidArgumentError(
        absl::StrCat("--backend=", flag, " is unknown; accepted are cpu, cuda"));
  }
  if (flag == "cpu") return BackendChoice{Backend::kCpu, ""};
  const weft::arch::DeviceQuery device = weft::arch::QueryDevice();
  if (device.result.ok()) return BackendChoice{Backend::kCuda, ""};
  if (flag == "cuda") {
    return absl::FailedPreconditionError(absl::StrCat(
        "--backend=cuda: no usable GPU: ", device.result.message, "; use --backend=cpu"));
  }
  return BackendChoice{Backend::kCpu, absl::StrCat("no usable GPU: ", device.result.message)};
}

// Of the arguments of a program that has no other flag; InvalidArgument says how it is used.
inline absl::StatusOr<BackendChoice> ChooseBackend(int argc, char** argv) {
  absl::string_view flag = argc > 1 ? argv[1] : "";
  if (argc > 2 || (argc == 2 && !absl::ConsumePrefix(&flag, "--backend="))) {
    return absl::InvalidArgumentError(absl::StrCat("usage: ", argv[0], " [--backend=cpu|cuda]"));
  }
  return ChooseBackend(std::string(flag));
}

}  // namespace examples
