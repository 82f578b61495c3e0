#include "weft/rtc/gpu/kernels.hpp"

#include "absl/strings/str_cat.h"

namespace weft::rtc {

absl::StatusOr<LoadedKernels::Found> LoadedKernels::Get(int kernel, Archive* archive,
                                                        const Maker& make) {
  const auto load = [&](const absl::StatusOr<Cubin>& cubin) -> absl::StatusOr<LoadedKernel> {
    if (!cubin.ok()) return cubin.status();
    return Load(cubin->code, cubin->entry, cubin->threads, cubin->shared_bytes);
  };
  const absl::StatusOr<const Found*> found =
      loaded_.Get(kernel, [&](const arch::DeviceLimits& device) -> absl::StatusOr<Found> {
        const absl::StatusOr<Cubin> cubin = make(kernel, device, archive);
        absl::StatusOr<LoadedKernel> loaded = load(cubin);
        if (!loaded.ok() && cubin.ok() && archive != nullptr) {
          const absl::StatusOr<Cubin> anew = make(kernel, device, nullptr);
          if (!anew.ok()) {
            return absl::Status(
                loaded.status().code(),
                absl::StrCat(loaded.status().message(), "; and it cannot be compiled anew: ",
                             std::string(anew.status().message())));
          }
          loaded = load(anew);
        }
        if (!loaded.ok()) return loaded.status();
        return Found(*std::move(loaded), device);
      });
  if (!found.ok()) return found.status();
  return **found;
}

namespace {

// The text of one kernel. That the compilers agree about what a launch passes is checked where it is compiled.
std::string TextOf(const char* include, const std::string& kernel, const KernelRecord& record) {
  return absl::StrCat("#include \"weft/gemm/arch/cuda_entry.cuh\"\n#include \"", include,
                      "\"\nusing WeftKernel = ", kernel,
                      ";\nstatic_assert(WeftKernel::kThreads == ", record.threads,
                      " && sizeof(WeftKernel::SharedStorage) == ", record.shared_bytes,
                      " && sizeof(WeftKernel::Params) == ", record.params_bytes, ");\n");
}

}  // namespace

struct Kernels::State {
  explicit State(Options of) : options(std::move(of)) {}

  const Options options;
  LoadedKernels loaded;

  absl::StatusOr<LoadedKernels::Cubin> Make(int kernel, int compute_capability,
                                            Archive* archive) const {
    const Kept kept(options.cache.has_value() ? &*options.cache : nullptr, archive);
    if (kernel < 0 || kernel >= static_cast<int>(options.records.size()) ||
        options.records[static_cast<std::size_t>(kernel)].threads == 0) {
      return absl::InternalError(absl::StrCat("rtc: ", options.list, " has no kernel ", kernel));
    }
    const KernelRecord& record = options.records[static_cast<std::size_t>(kernel)];
    const std::string name =
        absl::StrCat("weft::gemm::OperatorKernel<", options.list, ", ", kernel, ">");
    // The kernel is Weft's: that it does not compile is no fault of a caller's.
    const auto error = [&](const std::string& messages) {
      return absl::InternalError(
          absl::StrCat("rtc: ", name, " does not compile; please report it: ", messages));
    };
    const absl::StatusOr<Code> code =
        Code::Compile({.text = TextOf(options.include, name, record),
                       .file = options.list,
                       .kernels = {absl::StrCat("weft::arch::Entry<", name, ">")},
                       .variable = {},
                       .error = error},
                      compute_capability, kept);
    if (!code.ok()) return code.status();
    absl::StatusOr<std::string> cubin = code->Link(code->names()[0], kept);
    if (absl::IsInvalidArgument(cubin.status()))
      return error(std::string(cubin.status().message()));
    if (!cubin.ok()) return cubin.status();
    return LoadedKernels::Cubin{*std::move(cubin), code->names()[0], record.threads,
                                record.shared_bytes};
  }

  absl::StatusOr<LoadedKernels::Found> Get(int kernel, Archive* archive) {
    return loaded.Get(kernel, archive,
                      [this](int number, const arch::DeviceLimits& device, Archive* in) {
                        return Make(number, device.compute_capability, in);
                      });
  }
};

Kernels::Kernels(Options options) : state_(std::make_shared<State>(std::move(options))) {}

absl::Status Kernels::Compile(int kernel, int compute_capability, Archive* archive) const {
  return state_->Make(kernel, compute_capability, archive).status();
}

absl::Status Kernels::Prepare(int kernel, Archive* archive) const {
  return state_->Get(kernel, archive).status();
}

absl::Status Kernels::Run(const gemm::Launch& launch, Stream stream,
                          const gemm::LaunchOptions& options, Archive* archive) const {
  const absl::StatusOr<LoadedKernels::Found> loaded = state_->Get(launch.kernel, archive);
  if (!loaded.ok()) return loaded.status();
  const auto& [code, device] = *loaded;
  arch::LaunchAttributes attributes = launch.attributes;
  attributes.dependent = options.dependent && device.compute_capability >= 90 &&
                         state_->options.records[static_cast<std::size_t>(launch.kernel)].dependent;
  return Enqueue(code, launch.grid, launch.params, attributes, stream);
}

}  // namespace weft::rtc
